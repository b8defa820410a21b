package gradient_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"nero/audit"
	"nero/audit/audittest"
	"nero/audit/check/gradient"
	"nero/audit/check/lattice"
	"nero/data/dataset"
	"nero/data/space"
	"nero/data/tensor"
	"nero/model/decode"
	"nero/model/engine"
	"nero/model/engine/choose"
	"nero/model/engine/choose/choosetest"
	"nero/model/interior"
	"nero/model/onnx"
	"nero/model/oracle"
	"nero/symmetry/action"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
	"nero/symmetry/orbit"
)

// anEngine is the engine that this machine has, opened once.
var anEngine = sync.OnceValues(func() (choose.Choice, error) {
	return choose.Open(context.Background(), choose.Request{Kind: choose.Auto}, choosetest.Host())
})

func inside(tb testing.TB, b *onnx.Builder, codec func(onnx.Signature) (decode.Codec, error)) *interior.Model {
	tb.Helper()
	e, err := anEngine()
	if err != nil {
		tb.Fatal(err)
	}
	m, err := b.Model()
	if err != nil {
		tb.Fatal(err)
	}
	c, err := codec(m.Signature())
	if err != nil {
		tb.Fatal(err)
	}
	x, err := interior.New(m, c, func(ctx context.Context, b []byte) (engine.Session, error) {
		return e.Open(ctx, b, engine.Options{Threads: 1})
	}, interior.Options{Body: "test"})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := x.Close(); err != nil {
			tb.Error(err)
		}
	})
	return x
}

// double is the same model in float64.
func double(tb testing.TB, x *interior.Model) *interior.Model {
	tb.Helper()
	e := oracle.Engine(oracle.Options{})
	d, err := interior.New(x.ONNX(), x.Codec(), func(ctx context.Context, b []byte) (engine.Session, error) {
		return e.Open(ctx, b, engine.Options{})
	}, interior.Options{Body: "float64", Double: true})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := d.Close(); err != nil {
			tb.Error(err)
		}
	})
	return d
}

func vectors(output string) func(s onnx.Signature) (decode.Codec, error) {
	return func(s onnx.Signature) (decode.Codec, error) {
		return decode.NewTensors(s, decode.OutputSpec{Space: space.KindTensor, Name: output})
	}
}

func subject(name string, m *interior.Model, plan *orbit.Plan, n int,
	sample func(int) (dataset.Sample, error),
) *audit.Subject {
	return &audit.Subject{Name: name, Predictor: m, Interior: m, Plan: plan, N: n, Sample: sample, Seed: 1}
}

func floats(v ...float32) tensor.Tensor { return tensor.FromFloat32(v) }

// radius is f(x) = ‖x‖² + size·sin(frequency·w·x).
func radius(tb testing.TB, size, frequency float32) *interior.Model {
	tb.Helper()
	b := onnx.NewBuilder(17)
	x := b.Input("x", tensor.Float32, "N", 2)
	y := b.Op("ReduceSum", []string{b.Op("Mul", []string{x, x}), b.Ints(1)}, onnx.AttrInt("keepdims", 1))
	wx := b.Op("MatMul", []string{x, b.Const(tensor.FromFloat32([]float32{frequency, 0.3 * frequency}, 2, 1))})
	y = b.Op("Add", []string{y, b.Op("Mul", []string{b.Op("Sin", []string{wx}), b.Const(floats(size))})})
	b.Output(y, tensor.Float32, "N", 1)
	return inside(tb, b, vectors(""))
}

func plane(tb testing.TB, name string) (group.Group, action.Action) {
	tb.Helper()
	g, err := catalog.Parse(name)
	if err != nil {
		tb.Fatal(err)
	}
	return g, audittest.Plane(tb, g)
}

// A term of size 1e-6 and frequency 1e4 is below what outputs show and changes the slope by 1e-2. The closed form of
// the error: the gradient is 2x + 1e-2·w·cos(1e4·w·x), whose second part has the root mean square 1e-2·‖w‖/√2 and does
// not turn with x.
func TestBreakOfTheGradientOnly(t *testing.T) {
	for _, name := range []string{"C4", "SO(2)"} {
		g, in := plane(t, name)
		var elements []group.Element
		if name == "SO(2)" {
			elements = audittest.Angles(7)
		}
		plan := audittest.Plan(t, in, action.Trivial{G: g}, elements...)
		faulty := subject("hidden ripple", radius(t, 1e-6, 1e4), plan, 80, audittest.Vectors(80, 3))
		clean := subject("radius", radius(t, 0, 1e4), plan, 80, audittest.Vectors(80, 3))
		want := []audittest.Want{{
			Category: audit.Gradient,
			Message:  "gradients change by .* times their size .*: the outputs hide a break",
		}}
		if name == "SO(2)" {
			want = append(want, want[0]) // the quarter turns that the audit adds, and the angles of the plan
		}
		audittest.Run(t, gradient.Check, audittest.Fixture{Subject: faulty, Want: want},
			audittest.Fixture{Subject: clean})

		r := audittest.Audit(t, audittest.Fixture{Subject: faulty}, gradient.Check, lattice.Check)
		for _, s := range r.Sets() {
			if s.Exact && s.Verdict != audit.Passed {
				t.Errorf("%s: the forward pass is judged %s: %s", name, s.Verdict, s.Reason)
			}
		}
		got := clues(r)
		if !got[audit.ClueGradient] || !got[audit.ClueForwardHolds] {
			t.Errorf("%s: clues %v", name, got)
		}
		faulty.Reference = double(t, faulty.Interior)
		for _, f := range resultOf(t, audittest.Audit(t, audittest.Fixture{Subject: faulty}, gradient.Check)).Findings {
			i := slices.IndexFunc(f.Evidence, func(e audit.Evidence) bool { return e.Name == "worst pairs in float64" })
			if i < 0 || !(math.Abs(f.Evidence[i].Value-f.Evidence[i].Limit) < 0.5*f.Evidence[i].Limit) {
				t.Errorf("%s: float64 has another opinion: %v", name, f.Evidence)
			}
		}
		for _, e := range resultOf(t, r).Measures {
			if strings.HasPrefix(e.Name, "derivatives, largest error on exact") {
				// Largest of three differences of two ripples of amplitude 1e-2·‖w‖ over the RMS of 2‖x‖, which is √8.
				if w := 1e-2 * math.Hypot(1, 0.3) / math.Sqrt(8); !(e.Value > 0.5*w && e.Value < 2.5*w) {
					t.Errorf("error %g, the ripple is %g of the gradient", e.Value, w)
				}
			}
		}
		if got := clues(audittest.Audit(t, audittest.Fixture{Subject: clean},
			gradient.Check)); got[audit.ClueGradient] || !got[audit.ClueForwardHolds] {
			t.Errorf("%s, clean: clues %v", name, got)
		}
	}
}

// clues are those that the check handed in; several of one name hold if one does.
func clues(r *audit.Report) map[audit.ClueName]bool {
	out := map[audit.ClueName]bool{}
	for _, c := range r.Clues() {
		if c.Check == "gradient" {
			out[c.Name] = out[c.Name] || c.Holds
		}
	}
	return out
}

func resultOf(tb testing.TB, r *audit.Report) *audit.Result {
	tb.Helper()
	for _, x := range r.Results {
		if x.Check == gradient.Check {
			return x
		}
	}
	tb.Fatal("no result")
	return nil
}

// turned is an equivariant map of the plane, f(x) = ‖x‖²·x, plus a constant matrix times x that does not turn.
func turned(tb testing.TB, off float32) *interior.Model {
	tb.Helper()
	b := onnx.NewBuilder(17)
	x := b.Input("x", tensor.Float32, "N", 2)
	r := b.Op("ReduceSum", []string{b.Op("Mul", []string{x, x}), b.Ints(1)}, onnx.AttrInt("keepdims", 1))
	y := b.Op("Add", []string{
		b.Op("Mul", []string{r, x}),
		b.Op("MatMul", []string{x, b.Const(tensor.FromFloat32([]float32{off, 0, 0, 0}, 2, 2))}),
	})
	b.Output(y, tensor.Float32, "N", 2)
	return inside(tb, b, vectors(""))
}

// The cotangent of an equivariant output turns with it. Declared invariant, the same model must fail.
func TestEquivariantOutput(t *testing.T) {
	g, in := plane(t, "SO(2)")
	plan := audittest.Plan(t, in, in, audittest.Angles(8)...)
	want := audittest.Want{Category: audit.Gradient, Message: "gradients change by"}
	audittest.Run(t, gradient.Check,
		audittest.Fixture{
			Subject: subject("one axis", turned(t, 0.1), plan, 20, audittest.Vectors(20, 1)),
			Want:    []audittest.Want{want, want},
		},
		audittest.Fixture{Subject: subject("turned", turned(t, 0), plan, 20, audittest.Vectors(20, 1))})
	wrong := audittest.Plan(t, in, action.Trivial{G: g}, audittest.Angles(8)...)
	r := audittest.Audit(t,
		audittest.Fixture{Subject: subject("not invariant", turned(t, 0), wrong, 20, audittest.Vectors(20, 1))},
		gradient.Check)
	if len(resultOf(t, r).Findings) != 2 {
		t.Errorf("findings %v", resultOf(t, r).Findings)
	}
}

// pooled is a picture model that is invariant to quarter turns and mirrors: a symmetric convolution, maxima of 2 x 2,
// rectifier, mean of squares. skew makes the filter asymmetric.
func pooled(tb testing.TB, skew float32) *interior.Model {
	tb.Helper()
	b := onnx.NewBuilder(17)
	x := b.Input("x", tensor.Float32, "N", 1, 16, 16)
	k := []float32{1, 2, 1, 2, -3 + skew, 2 + skew, 1, 2, 1}
	for i := range k {
		k[i] /= 10
	}
	h := b.Op("Conv", []string{x, b.Const(tensor.FromFloat32(k, 1, 1, 3, 3))}, onnx.AttrInts("pads", 1, 1, 1, 1))
	h = b.Op("MaxPool", []string{h}, onnx.AttrInts("kernel_shape", 2, 2), onnx.AttrInts("strides", 2, 2))
	h = b.Op("Relu", []string{h})
	y := b.Op("ReduceMean", []string{b.Op("Mul", []string{h, h})}, onnx.AttrInts("axes", 2, 3),
		onnx.AttrInt("keepdims", 0))
	b.Output(y, tensor.Float32, "N", 1)
	return inside(tb, b, func(s onnx.Signature) (decode.Codec, error) {
		return decode.New(s, decode.InputSpec{Sample: []int{1, 16, 16}, Scale: 255},
			decode.OutputSpec{Space: space.KindTensor})
	})
}

func pictures(tb testing.TB, name string, kernel action.Kernel) action.Action {
	tb.Helper()
	g, err := catalog.Parse(name)
	if err != nil {
		tb.Fatal(err)
	}
	a, err := action.NewImage(g, space.Spec{Kind: space.KindImage, Shape: []int{1, 16, 16}},
		action.Options{Kernel: kernel})
	if err != nil {
		tb.Fatal(err)
	}
	return a
}

// Pictures with a blank background lie on the kinks of pooling; a little noise takes them off. Without it the exactly
// invariant model seems to break, were it not that a change of one ulp of the input does as much.
func TestTiesArePassedBy(t *testing.T) {
	in := pictures(t, "D4", action.Bilinear)
	plan := audittest.Plan(t, in, action.Trivial{G: in.Group()})
	flat := func(i int) (dataset.Sample, error) {
		s, err := audittest.Pictures(12, 16, 16, 5)(i)
		img, ok := s.Value.(*space.Image)
		if !ok {
			t.Fatal("no picture")
		}
		for k, v := range img.Pix {
			img.Pix[k] = 3 + math.Round(v/40)
		}
		return s, err
	}
	clean := subject("pooled", pooled(t, 0), plan, 12, flat)
	audittest.Run(t, gradient.Check,
		audittest.Fixture{
			Subject: subject("skewed", pooled(t, 0.5), plan, 12, flat),
			Want:    []audittest.Want{{Category: audit.Gradient, Message: "gradients change by"}},
		},
		audittest.Fixture{Subject: clean})
	r := audittest.Audit(t,
		audittest.Fixture{Subject: clean, Options: audit.Options{Params: map[string]float64{"gradient.dither": 0}}},
		gradient.Check)
	for _, e := range resultOf(t, r).Measures {
		if strings.HasPrefix(e.Name, "derivatives, largest error") && !(e.Value > 0.1) {
			t.Errorf("without noise the error is %g: there are no ties, and this test tests nothing", e.Value)
		}
	}
	if f := resultOf(t, r).Findings; len(f) > 0 {
		t.Errorf("a change of one ulp changes these gradients as much, and yet: %v", f)
	}
	names := map[string]bool{}
	for _, e := range resultOf(t, r).Exhibits {
		names[e.Name] = true
	}
	if !names["elements"] || !names["worst-exact"] {
		t.Errorf("exhibits %v", names)
	}
}

// squares is the mean of squares of a picture, invariant under turns but for what resampling loses; skewed, it weighs
// one half more.
func squares(tb testing.TB, skew float32) *interior.Model {
	tb.Helper()
	b := onnx.NewBuilder(17)
	x := b.Input("x", tensor.Float32, "N", 1, 16, 16)
	w := make([]float32, 256)
	for i := range w {
		w[i] = 1
		if i%16 < 8 {
			w[i] += skew
		}
	}
	h := b.Op("Mul", []string{b.Op("Mul", []string{x, x}), b.Const(tensor.FromFloat32(w, 1, 1, 16, 16))})
	y := b.Op("ReduceMean", []string{h}, onnx.AttrInts("axes", 2, 3), onnx.AttrInt("keepdims", 0))
	b.Output(y, tensor.Float32, "N", 1)
	return inside(tb, b, func(s onnx.Signature) (decode.Codec, error) {
		return decode.New(s, decode.InputSpec{Sample: []int{1, 16, 16}, Scale: 255},
			decode.OutputSpec{Space: space.KindTensor})
	})
}

// Elements that resample are compared along directions, with their own floor.
func TestResampledElements(t *testing.T) {
	in := pictures(t, "SO(2)", action.Spline)
	plan := audittest.Plan(t, in, action.Trivial{G: in.Group()}, group.Element{0}, group.Element{20}, group.Element{50},
		group.Element{200})
	want := audittest.Want{Category: audit.Gradient, Message: "gradients change by"}
	audittest.Run(t, gradient.Check,
		audittest.Fixture{
			Subject: subject("half", squares(t, 1), plan, 20, audittest.Pictures(20, 16, 16, 2)),
			Want:    []audittest.Want{want, want},
		},
		audittest.Fixture{Subject: subject("squares", squares(t, 0), plan, 20, audittest.Pictures(20, 16, 16, 2))})
	r := audittest.Audit(t,
		audittest.Fixture{Subject: subject("squares", squares(t, 0), plan, 20, audittest.Pictures(20, 16, 16, 2))},
		gradient.Check)
	for _, e := range resultOf(t, r).Measures {
		t.Logf("%s: %s", e.Name, audit.Interval{Value: e.Value, Lo: e.Lo, Hi: e.Hi})
	}
}

// filter squares every pixel, after adding skew times its right neighbour.
func filter(tb testing.TB, skew float32) *interior.Model {
	tb.Helper()
	b := onnx.NewBuilder(17)
	x := b.Input("x", tensor.Float32, "N", 1, 16, 16)
	h := b.Op("Conv", []string{x, b.Const(tensor.FromFloat32([]float32{0, 0, 0, 0, 1, skew, 0, 0, 0}, 1, 1, 3, 3))},
		onnx.AttrInts("pads", 1, 1, 1, 1))
	b.Output(b.Op("Mul", []string{h, h}), tensor.Float32, "N", 1, 16, 16)
	return inside(tb, b, func(s onnx.Signature) (decode.Codec, error) {
		return decode.New(s, decode.InputSpec{Sample: []int{1, 16, 16}, Scale: 255},
			decode.OutputSpec{Space: space.KindImage})
	})
}

// Pictures in, pictures out: gradients at exact elements, directional derivatives of the whole output at the others.
func TestPictureToPicture(t *testing.T) {
	in := pictures(t, "SO(2)", action.Spline)
	plan := audittest.Plan(t, in, in, group.Element{0}, group.Element{40}, group.Element{110}, group.Element{250})
	want := audittest.Want{Category: audit.Gradient, Message: "gradients change by"}
	clean := subject("filter", filter(t, 0), plan, 20, audittest.Pictures(20, 16, 16, 2))
	audittest.Run(t, gradient.Check,
		audittest.Fixture{
			Subject: subject("skewed", filter(t, 0.5), plan, 20, audittest.Pictures(20, 16, 16, 2)),
			Want:    []audittest.Want{want, want},
		},
		audittest.Fixture{Subject: clean})
	for _, e := range resultOf(t, audittest.Audit(t, audittest.Fixture{Subject: clean}, gradient.Check)).Exhibits {
		if e.Name != "elements" {
			continue
		}
		by := map[string]int{}
		for _, r := range e.Table.Rows {
			by[r[1].Text+" by "+r[2].Text]++
		}
		if len(by) != 2 || by["exact elements by gradient"] != 3 || by["continuous elements by direction"] != 3 {
			t.Errorf("compared %v", by)
		}
	}
}

// charge returns an energy E = ‖x‖² and a force, -2x plus what turns around the origin.
func charge(tb testing.TB, curl float32) *interior.Model {
	tb.Helper()
	b := onnx.NewBuilder(17)
	x := b.Input("x", tensor.Float32, "N", 2)
	e := b.Op("ReduceSum", []string{b.Op("Mul", []string{x, x}), b.Ints(1)}, onnx.AttrInt("keepdims", 1))
	f := b.Op("MatMul", []string{x, b.Const(tensor.FromFloat32([]float32{-2, curl, -curl, -2}, 2, 2))})
	b.Output(e, tensor.Float32, "N", 1)
	b.Output(f, tensor.Float32, "N", 2)
	return inside(tb, b, vectors(""))
}

func TestForce(t *testing.T) {
	g, in := plane(t, "C4")
	plan := audittest.Plan(t, in, action.Trivial{G: g})
	faulty, clean := subject("curl", charge(t, 0.1), plan, 20, audittest.Vectors(20, 1)),
		subject("charge", charge(t, 0), plan, 20, audittest.Vectors(20, 1))
	audittest.Run(t, gradient.Check,
		audittest.Fixture{
			Subject: faulty,
			Want:    []audittest.Want{{Category: audit.Gradient, Message: "is not the negative gradient"}},
		},
		audittest.Fixture{Subject: clean})
	r := audittest.Audit(t, audittest.Fixture{Subject: faulty}, gradient.Check)
	for _, e := range resultOf(t, r).Measures {
		// ‖curl·x‖ over ‖(-2, curl)·x‖.
		if want := 0.1 / math.Hypot(2, 0.1); strings.HasSuffix(e.Name, "relative distance") &&
			!(e.Lo < want && want < e.Hi) {
			t.Errorf("distance %g in [%g, %g], want %g", e.Value, e.Lo, e.Hi, want)
		}
	}
	if !clues(r)[audit.ClueNotConservative] {
		t.Error("no clue")
	}
}

// bowl is f(x) = ‖Wx‖² for a stored W.
func bowl(tb testing.TB, w ...float32) *interior.Model {
	tb.Helper()
	b := onnx.NewBuilder(17)
	x := b.Input("x", tensor.Float32, "N", 2)
	b.Graph().Initializer = append(b.Graph().Initializer, onnx.Stored("w", tensor.FromFloat32(w, 2, len(w)/2)))
	h := b.Op("MatMul", []string{x, "w"})
	b.Output(b.Op("ReduceSum", []string{b.Op("Mul", []string{h, h}), b.Ints(1)}, onnx.AttrInt("keepdims", 1)),
		tensor.Float32, "N", 1)
	return inside(tb, b, vectors(""))
}

// Under half turns (w·x)² is invariant for every w, so its gradient by w is too. Under quarter turns ‖Wx‖² is invariant
// because W = 1 is special: its gradient by W moves, and not along W.
func TestParameters(t *testing.T) {
	for _, c := range []struct {
		group string
		w     []float32
		moves bool
	}{{"C2", []float32{1, 3}, false}, {"C4", []float32{1, 0, 0, 1}, true}} {
		g, in := plane(t, c.group)
		s := subject(c.group, bowl(t, c.w...), audittest.Plan(t, in, action.Trivial{G: g}), 8, audittest.Vectors(8, 2))
		r := resultOf(t, audittest.Audit(t, audittest.Fixture{Subject: s}, gradient.Check))
		got := map[string]float64{}
		for _, e := range r.Measures {
			got[e.Name] = e.Value
		}
		change, along := got["gradients by parameters, largest change along the orbit"],
			got["gradients by parameters, largest change along the parameters themselves"]
		if c.moves != (change > 0.1) || !c.moves && !(change < 1e-5) || !(along < 1e-5) {
			t.Errorf("%s: change %g, along the parameters %g", c.group, change, along)
		}
	}
}

func TestCannotRun(t *testing.T) {
	g, in := plane(t, "C4")
	plan := audittest.Plan(t, in, action.Trivial{G: g})
	closed := subject("closed", radius(t, 0, 1), plan, 10, audittest.Vectors(10, 3))
	closed.Interior = nil

	b := onnx.NewBuilder(17)
	x := b.Input("x", tensor.Float32, "N", 2)
	y := b.Op("ReduceSum", []string{b.Op("Mul", []string{x, x}), b.Ints(1)}, onnx.AttrInt("keepdims", 1))
	y = b.Op("CumSum", []string{y, b.Const(tensor.FromInt64([]int64{1}, 1))})
	b.Output(y, tensor.Float32, "N", 1)
	node := b.Graph().GetNode()[2]
	node.OpType, node.Name = new("Mod"), new("remainder")
	node.Input[1] = b.Const(tensor.FromFloat32([]float32{7}, 1))
	node.Attribute = append(node.Attribute, onnx.AttrInt("fmod", 1))
	unknown := subject("unknown", inside(t, b, vectors("")), plan, 10, audittest.Vectors(10, 3))

	b = onnx.NewBuilder(17)
	x = b.Input("x", tensor.Float32, "N", 1, 16, 16)
	b.Output(b.Op("Concat", []string{x, b.Op("Mul", []string{x, x})}, onnx.AttrInt("axis", 1)), tensor.Float32, "N", 2,
		16, 16)
	mask := inside(t, b, func(s onnx.Signature) (decode.Codec, error) {
		return decode.New(s, decode.InputSpec{Sample: []int{1, 16, 16}}, decode.OutputSpec{Space: space.KindMask})
	})
	pic := pictures(t, "C4", action.Bilinear)
	out, err := action.NewMask(pic.Group(), space.Spec{Kind: space.KindMask, Shape: []int{16, 16}}, action.Options{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	masks := subject("mask", mask, audittest.Plan(t, pic, out), 10, audittest.Noise(10, 16, 16, 1))

	for _, c := range []struct {
		s      *audit.Subject
		status audit.Status
		why    string
	}{
		{closed, audit.NotTested, "not at hand as a graph"},
		{unknown, audit.NotTested, `"remainder" (Mod)`},
		{masks, audit.NotApplicable, "labels"},
	} {
		r := resultOf(t, audittest.Audit(t, audittest.Fixture{Subject: c.s}, gradient.Check))
		if r.Status != c.status || !strings.Contains(r.Reason, c.why) || len(r.Findings) > 0 {
			t.Errorf("%s: %s: %s, %d findings; want %s: %s", c.s.Name, r.Status, r.Reason, len(r.Findings), c.status,
				c.why)
		}
	}
}
