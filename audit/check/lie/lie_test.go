package lie_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"nero/audit"
	"nero/audit/audittest"
	"nero/audit/check/lie"
	"nero/data/dataset"
	"nero/data/space"
	"nero/data/tensor"
	"nero/model/decode"
	"nero/model/engine"
	"nero/model/engine/choose"
	"nero/model/engine/choose/choosetest"
	"nero/model/interior"
	"nero/model/onnx"
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

func vectors(s onnx.Signature) (decode.Codec, error) {
	return decode.NewTensors(s, decode.OutputSpec{Space: space.KindTensor})
}

func subject(name string, m *interior.Model, plan *orbit.Plan, n int,
	sample func(int) (dataset.Sample, error),
) *audit.Subject {
	return &audit.Subject{Name: name, Predictor: m, Interior: m, Plan: plan, N: n, Sample: sample, Seed: 1}
}

func plane(tb testing.TB, name string) (group.Group, action.Action) {
	tb.Helper()
	g, err := catalog.Parse(name)
	if err != nil {
		tb.Fatal(err)
	}
	return g, audittest.Plane(tb, g)
}

// form is f(x) = q·‖x‖² + w·x.
func form(tb testing.TB, q float32, w ...float32) *interior.Model {
	tb.Helper()
	b := onnx.NewBuilder(17)
	x := b.Input("x", tensor.Float32, "N", 2)
	r := b.Op("ReduceSum", []string{b.Op("Mul", []string{x, x}), b.Ints(1)}, onnx.AttrInt("keepdims", 1))
	r = b.Op("Mul", []string{r, b.Const(tensor.FromFloat32([]float32{q}))})
	b.Output(b.Op("Add", []string{r, b.Op("MatMul", []string{x, b.Const(tensor.FromFloat32(w, 2, 1))})}),
		tensor.Float32, "N", 1)
	return inside(tb, b, vectors)
}

func resultOf(tb testing.TB, r *audit.Report) *audit.Result {
	tb.Helper()
	for _, x := range r.Results {
		if x.Check == lie.Check {
			return x
		}
	}
	tb.Fatal("no result")
	return nil
}

// run audits and returns the measures by name.
func run(tb testing.TB, s *audit.Subject) (*audit.Result, map[string]audit.Evidence) {
	tb.Helper()
	r := resultOf(tb, audittest.Audit(tb,
		audittest.Fixture{Subject: s, Options: audit.Options{Params: map[string]float64{"lie.samples": 1e4}}},
		lie.Check))
	if r.Status != audit.Tested {
		tb.Fatalf("%s: %s: %s", s.Name, r.Status, r.Reason)
	}
	out := map[string]audit.Evidence{}
	for _, e := range r.Measures {
		out[e.Name] = e
	}
	return r, out
}

// cell is a number of the table of generators.
func cell(tb testing.TB, r *audit.Result, row int, column string) float64 {
	tb.Helper()
	for _, e := range r.Exhibits {
		if e.Table == nil {
			continue
		}
		for i, c := range e.Table.Columns {
			if c.Name == column {
				return e.Table.Rows[row][i].Value
			}
		}
	}
	tb.Fatalf("no column %q", column)
	return 0
}

// Worked example 3 of the local error: f(x) = w·x on the plane under rotations, declared invariant, has LEE = ‖w‖² per
// rad² for standard normal x. With the sample at hand it is the mean of (w·Xx)² exactly.
func TestLinearFunction(t *testing.T) {
	g, in := plane(t, "SO(2)")
	plan := audittest.Plan(t, in, action.Trivial{G: g}, audittest.Angles(5)...)
	const n = 400
	w := [2]float64{0.6, -1.1}
	var want, mean, square float64
	sample := audittest.Vectors(n, 4)
	for i := range n {
		s, err := sample(i)
		if err != nil {
			t.Fatal(err)
		}
		x := s.Value.Numbers()
		l := w[1]*x[0] - w[0]*x[1]
		f := w[0]*x[0] + w[1]*x[1]
		want, mean, square = want+l*l/n, mean+f/n, square+f*f/n
	}
	want /= square - mean*mean
	for _, open := range []bool{true, false} {
		s := subject("linear", form(t, 0, float32(w[0]), float32(w[1])), plan, n, sample)
		if !open {
			s.Interior = nil
		}
		r, got := run(t, s)
		e := got["LEE/s² along rotation"]
		tol := 1e-5
		if !open {
			tol = 1e-3
		}
		if d := math.Abs(e.Value/want - 1); !(d < tol) || e.Unit != "1/rad²" {
			t.Errorf("LEE/s² = %g %s, want %g", e.Value, e.Unit, want)
		}
		// ‖w‖² over s², which is ‖w‖² as well for these x.
		if !(e.Lo < 1 && 1 < e.Hi) {
			t.Errorf("LEE/s² in [%g, %g], want 1 between", e.Lo, e.Hi)
		}
		if total := got["LEE/s² over an orthonormal basis (the generators are orthonormal)"]; total.Value != e.Value {
			t.Errorf("total %g of the one generator with %g", total.Value, e.Value)
		}
		if apart := cell(t, r, 0, "apart"); open != (apart < 1e-3) {
			t.Errorf("forward mode and central differences are %g apart", apart)
		}
		if spread := cell(t, r, 0, "spread"); !(spread < 1e-2) {
			t.Errorf("neighbouring steps are %g apart", spread)
		}
		i := slices.IndexFunc(r.Exhibits, func(e audit.Exhibit) bool { return e.Name == "steps-rotation" })
		if i < 0 || len(r.Exhibits[i].Curve.Series[0].X) != 12 {
			t.Error("no curve of the steps")
		}
	}
}

// Magnification of f(x) = ‖x‖² has L f = 2‖x‖² per log-factor, with E(2‖x‖²)² / Var ‖x‖² = 32/4 for standard normal x.
func TestUnitsOfScale(t *testing.T) {
	g, in := plane(t, "Scale")
	plan := audittest.Plan(t, in, action.Trivial{G: g}, group.Element{1}, group.Element{1.5}, group.Element{0.8})
	_, got := run(t, subject("square", form(t, 1, 0, 0), plan, 600, audittest.Vectors(600, 9)))
	if e := got["LEE/s² along scale"]; !(e.Lo < 8 && 8 < e.Hi) || e.Unit != "1/log-factor²" {
		t.Errorf("%g in [%g, %g] %s, want 8", e.Value, e.Lo, e.Hi, e.Unit)
	}
}

func TestFaultyAndClean(t *testing.T) {
	g, in := plane(t, "SO(2)")
	plan := audittest.Plan(t, in, action.Trivial{G: g}, audittest.Angles(5)...)
	want := []audittest.Want{{Category: audit.Gradient, Message: `^1° of rotation changes the output by .*1/rad`}}
	audittest.Run(t, lie.Check,
		audittest.Fixture{
			Subject: subject("radius + tilt", form(t, 1, 0.1, 0), plan, 30, audittest.Vectors(30, 1)),
			Want:    want,
		},
		audittest.Fixture{Subject: subject("radius", form(t, 1, 0, 0), plan, 30, audittest.Vectors(30, 1))})

	// An equivariant output moves with the group: the derivative of its action is taken off.
	b := onnx.NewBuilder(17)
	x := b.Input("x", tensor.Float32, "N", 2)
	r := b.Op("ReduceSum", []string{b.Op("Mul", []string{x, x}), b.Ints(1)}, onnx.AttrInt("keepdims", 1))
	b.Output(b.Op("Mul", []string{r, x}), tensor.Float32, "N", 2)
	m := inside(t, b, vectors)
	audittest.Run(t, lie.Check,
		audittest.Fixture{Subject: subject("declared invariant", m, plan, 30, audittest.Vectors(30, 1)), Want: want},
		audittest.Fixture{Subject: subject("turned", m, audittest.Plan(t, in, in, audittest.Angles(5)...), 30,
			audittest.Vectors(30, 1))})
}

func pictures(tb testing.TB, name string, kernel action.Kernel) action.Action {
	tb.Helper()
	g, err := catalog.Parse(name)
	if err != nil {
		tb.Fatal(err)
	}
	a, err := action.NewImage(g, space.Spec{Kind: space.KindImage, Shape: []int{1, 24, 24}},
		action.Options{Kernel: kernel})
	if err != nil {
		tb.Fatal(err)
	}
	return a
}

// weighted is the mean of squares of a picture, weighted by 1 + skew·x/12 with x measured from the centre: under shifts
// by dx pixels its derivative is -skew/12 of the mean of squares to the right.
func weighted(tb testing.TB, skew float64) *interior.Model {
	tb.Helper()
	b := onnx.NewBuilder(17)
	x := b.Input("x", tensor.Float32, "N", 1, 24, 24)
	w := make([]float32, 24*24)
	for i := range w {
		w[i] = float32(1 + skew*(float64(i%24)-11.5)/12)
	}
	h := b.Op("Mul", []string{b.Op("Mul", []string{x, x}), b.Const(tensor.FromFloat32(w, 1, 1, 24, 24))})
	b.Output(b.Op("ReduceMean", []string{h}, onnx.AttrInts("axes", 2, 3), onnx.AttrInt("keepdims", 0)), tensor.Float32,
		"N", 1)
	return inside(tb, b, func(s onnx.Signature) (decode.Codec, error) {
		return decode.New(s, decode.InputSpec{Sample: []int{1, 24, 24}, Scale: 255},
			decode.OutputSpec{Space: space.KindTensor})
	})
}

// smooth are pictures of wide bumps, which sampling represents well.
func smooth(i int) (dataset.Sample, error) {
	s, err := audittest.Pictures(30, 24, 24, 6)(i)
	if err != nil {
		return s, err
	}
	img := space.NewImage(1, 24, 24)
	for k := range img.Pix {
		x, y := float64(k%24)-11.5, float64(k/24)-11.5
		cx, cy := 3*math.Sin(float64(7*i)), 3*math.Cos(float64(5*i))
		img.Pix[k] = (100 + 5*float64(i)) * math.Exp(-((x-cx)*(x-cx)+(y-cy)*(y-cy))/(2*2.5*2.5))
	}
	s.Value = img
	return s, nil
}

func TestPictures(t *testing.T) {
	in := pictures(t, "T(2)", action.Bilinear)
	plan := audittest.Plan(t, in, action.Trivial{G: in.Group()}, group.Element{0, 0}, group.Element{1, 0},
		group.Element{0.5, -0.5})
	audittest.Run(t, lie.Check,
		audittest.Fixture{
			Subject: subject("heavier to the right", weighted(t, 1), plan, 30, smooth),
			Want:    []audittest.Want{{Category: audit.Gradient, Message: "^1 px of shift x changes the output by"}},
		},
		audittest.Fixture{Subject: subject("mean of squares", weighted(t, 0), plan, 30, smooth)})
	// In closed form: d/dt Σ (1 + (x+t)/12) u² = Σ u²/12, up to what a spline makes of bumps 2.5 px wide.
	var want, mean, square float64
	for i := range 30 {
		s, err := smooth(i)
		if err != nil {
			t.Fatal(err)
		}
		u := s.Value.Numbers()
		var l, f float64
		for k, v := range u {
			l += v * v / 12
			f += v * v * (1 + (float64(k%24)-11.5)/12)
		}
		want, mean, square = want+l*l/30, mean+f/30, square+f*f/30
	}
	want /= square - mean*mean
	_, got := run(t, subject("heavier to the right", weighted(t, 1), plan, 30, smooth))
	if e := got["LEE/s² along shift x"]; !(math.Abs(e.Value/want-1) < 5e-3) || e.Unit != "1/px²" {
		t.Errorf("LEE/s² = %g %s, want %g", e.Value, e.Unit, want)
	}
}

// The total does not depend on the basis: the Lie algebra of motions by its own generators, and by those of another
// group with the same algebra and other coordinates.
func TestTotalIsFreeOfTheBasis(t *testing.T) {
	m := weighted(t, 1)
	var totals []float64
	for _, name := range []string{"SE(2)", "Affine(rotate, shift x, shift y)", "Affine(shift y, rotate, shift x)"} {
		in := pictures(t, name, action.Bilinear)
		g := in.Group()
		l, ok := g.(group.Lie)
		if !ok {
			t.Fatalf("%s is no Lie group", name)
		}
		plan := audittest.Plan(t, in, action.Trivial{G: g}, g.Identity(), l.Exp([]float64{0.1, 0.2, 0.3}))
		r, got := run(t, subject(name, m, plan, 6, smooth))
		for name, e := range got {
			if strings.Contains(name, "orthonormal basis") {
				totals = append(totals, e.Value)
				if e.Unit != "1/px²" {
					t.Errorf("total in %s", e.Unit)
				}
			}
		}
		if len(r.Exhibits) != 4 {
			t.Errorf("%s: %d exhibits", name, len(r.Exhibits))
		}
	}
	if len(totals) != 3 || !(math.Abs(totals[0]/totals[1]-1) < 1e-4) || !(math.Abs(totals[0]/totals[2]-1) < 1e-4) {
		t.Errorf("totals %v", totals)
	}
}

func TestDoesNotApply(t *testing.T) {
	g, in := plane(t, "C4")
	s := subject("finite", form(t, 1, 0, 0), audittest.Plan(t, in, action.Trivial{G: g}), 10, audittest.Vectors(10, 1))
	r := resultOf(t, audittest.Audit(t, audittest.Fixture{Subject: s}, lie.Check))
	if r.Status != audit.NotApplicable || !strings.Contains(r.Reason, "C4 has no one-parameter subgroups") {
		t.Errorf("%s: %s", r.Status, r.Reason)
	}
}
