package repair

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"nero/audit/document"
	"nero/data/space"
	"nero/data/tensor"
	"nero/model/decode"
	"nero/model/engine"
	"nero/model/onnx"
	"nero/model/onnx/rewrite"
	"nero/model/oracle"
	"nero/symmetry/action"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

// A map that reads some numbers for each that it writes is found out from what it does, and one that is no such map is
// told.
func TestLearn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 24).Draw(t, "n")
		taps := rapid.IntRange(1, 3).Draw(t, "taps")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		want := &transport{taps: taps, shift: make([]float64, n)}
		for j := range n {
			want.shift[j] = float64(r.IntN(3) - 1)
			for range taps {
				want.index, want.weight = append(want.index, int32(r.IntN(n))), append(want.weight, r.NormFloat64())
			}
		}
		got, err := learn(n, rapid.SampledFrom([]int{1, n}).Draw(t, "blocks"),
			func(x []float64) ([]float64, error) { return want.of(x), nil })
		if err != nil {
			t.Fatal(err)
		}
		x := make([]float64, n)
		for k := range x {
			x[k] = r.NormFloat64()
		}
		for j, y := range got.of(x) {
			if !(math.Abs(y-want.of(x)[j]) <= 1e-9) {
				t.Fatalf("number %d: %g, want %g", j, y, want.of(x)[j])
			}
		}
	})
	for name, f := range map[string]func([]float64) []float64{
		"squares": func(x []float64) []float64 { return []float64{x[0] * x[0], x[1]} },
		"largest": func(x []float64) []float64 { return []float64{max(x[0], x[1]), x[1]} },
		"shorter": func(x []float64) []float64 { return x[:1] },
	} {
		if _, err := learn(2, 1, func(x []float64) ([]float64, error) { return f(x), nil }); err == nil {
			t.Errorf("%s: taken for an affine map", name)
		}
	}
}

// What a file does to its input is what the action does to samples, whatever the layout and the scaling of the model.
func TestActionInGraph(t *testing.T) {
	ctx := context.Background()
	square := space.Spec{Name: "x", Kind: space.KindImage, Shape: []int{2, 6, 6}}
	for _, c := range []struct {
		name    string
		g       group.Group
		o       action.Options
		at      []float64
		layout  string
		axes    []any
		opset   int
		mostULP float64 // beside the largest number
		// of the model's input; float32 if it is none
		dtype tensor.DType
	}{
		{"quarter turn", named(t, "C4"), action.Options{}, []float64{90}, "NCHW", []any{"n", 2, 6, 6}, 11, 0, 0},
		{"quarter turn, channels " +
			"last", named(t, "C4"), action.Options{}, []float64{270}, "NHWC", []any{"n", 6, 6, 2}, 13, 0, 0},
		{"mirror", named(t, "D4"), action.Options{}, []float64{90, 1}, "NCHW", []any{"n", 2, 6, 6}, 18, 0, 0},
		{"roll", named(t, "Roll(6,6)"), action.Options{}, []float64{2, 5}, "NCHW", []any{"n", 2, 6, 6}, 13, 0, 0},
		{"turn by 45 degrees", named(t, "C8"), action.Options{}, []float64{45}, "NCHW", []any{"n", 2, 6, 6}, 11, 4, 0},
		{
			"the same, bicubic", named(t, "C8"),
			action.Options{Kernel: action.Bicubic},
			[]float64{45},
			"NHWC",
			[]any{"n", 6, 6, 2},
			18, 8, 0,
		},
		{
			"the same, spline", named(t, "C8"),
			action.Options{Kernel: action.Spline, Border: action.Edge},
			[]float64{135},
			"NCHW",
			[]any{"n", 2, 6, 6},
			13, 16, 0,
		},
		{"bytes", named(t, "C4"), action.Options{}, []float64{90}, "NCHW", []any{"n", 2, 6, 6}, 13, 0, tensor.Uint8},
		{ // what is nearly half between two integers may be rounded to either
			"bytes by 45 degrees", named(t, "C8"),
			action.Options{},
			[]float64{45},
			"NCHW",
			[]any{"n", 2, 6, 6},
			13,
			0x1p23 / 200, tensor.Uint8,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			dtype, in := tensor.Float32, decode.InputSpec{
				Sample: square.Shape, Layout: c.layout, Scale: 4, Mean: []float64{.25, .5}, Std: []float64{.5, 2},
			}
			largest := 9
			if c.dtype != 0 {
				dtype, largest = c.dtype, 256
				in = decode.InputSpec{Sample: square.Shape, Layout: c.layout}
			}
			b := onnx.NewBuilder(c.opset)
			b.Output(b.Op("Identity", []string{b.Input("x", dtype, c.axes...)}), dtype, c.axes...)
			m, err := b.Model()
			if err != nil {
				t.Fatal(err)
			}
			codec, err := decode.New(m.Signature(), in, decode.OutputSpec{Space: space.KindImage})
			if err != nil {
				t.Fatal(err)
			}
			a, err := action.NewImage(c.g, square, c.o)
			if err != nil {
				t.Fatal(err)
			}
			draw := rand.New(rand.NewPCG(7, 0))
			picture := func() *space.Image {
				x := space.NewImage(2, 6, 6)
				for i := range x.Pix {
					x.Pix[i] = float64(draw.IntN(largest))
				}
				return x
			}
			g := group.Element(c.at)
			moves, err := inputs(codec, a, g, picture())
			if err != nil {
				t.Fatal(err)
			}
			w := &wrapper{Shell: rewrite.New(m), opset: c.opset}
			_, ports, err := layout(codec, picture())
			if err != nil {
				t.Fatal(err)
			}
			w.Answer(m.Signature().Outputs[0].Name, w.apply("x", moves["x"], ports[0].Shape[1:], dtype))
			file, err := w.Model()
			if err != nil {
				t.Fatal(err)
			}
			raw, err := file.Bytes()
			if err != nil {
				t.Fatal(err)
			}
			s, err := oracle.Engine(oracle.Options{Round: oracle.Float32}).Open(ctx, raw, engine.Options{Threads: 1})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close() //nolint:errcheck // nothing is lost
			for range 100 {
				x := picture()
				moved, err := a.Apply(g, x)
				if err != nil {
					t.Fatal(err)
				}
				in, err := codec.Encode([]space.Value{x}, nil)
				if err != nil {
					t.Fatal(err)
				}
				out, err := s.Run(ctx, in)
				if err != nil {
					t.Fatal(err)
				}
				want, err := codec.Encode([]space.Value{moved}, nil)
				if err != nil {
					t.Fatal(err)
				}
				p, q := floats(t, out[0].Tensor), floats(t, want[0].Tensor)
				limit := c.mostULP * slices.Max(q) * 0x1p-23
				for i := range p {
					if !(math.Abs(p[i]-q[i]) <= limit) {
						t.Fatalf("number %d: %g in the file, %g by the action: %g apart, at most "+
							"%g", i, p[i], q[i], p[i]-q[i],
							limit)
					}
				}
			}
		})
	}
}

func elementsOf(t *testing.T, g group.Group) []group.Element {
	t.Helper()
	f, ok := g.(group.Finite)
	if !ok {
		t.Fatalf("%s is not finite", g.Name())
	}
	return f.Elements()
}

func named(t *testing.T, name string) group.Group {
	t.Helper()
	g, err := catalog.Parse(name)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func floats(t *testing.T, x tensor.Tensor) []float64 {
	t.Helper()
	f, err := x.Float64s(nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"average": "average", "average:of=answers": "average",
		"average:exact=true,of=probabilities": "average:of=probabilities,exact=true",
		"select:score=energy":                 "select:score=energy",
	} {
		if a, err := Parse(text); err != nil || a.String() != want {
			t.Errorf("%s: %s, %v, want %s", text, a, err, want)
		}
	}
	for text, want := range map[string]string{
		"": "want one of", "mean": "want one of average, select", "average:": "", "average:of": "want answers or " +
			"probabilities",
		"select:of=answers": `no option "of"`,
	} {
		_, err := Parse(text)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// Of models that pass, the cheapest that loses no more than allowed is advised; of equally cheap ones that which loses
// least.
func TestRecommend(t *testing.T) {
	bill := func(name, verdict string, cost, lost float64) Bill {
		return Bill{
			Method: name, File: name + ".onnx", Verdict: verdict, Cost: Cost{Measured: document.Number(cost)},
			Lost: &Share{Value: document.Number(lost)}, Right: &Share{Value: 0.9}, Moved: &Share{Value: 0.9},
		}
	}
	on := func(b Bill, lost float64) Bill {
		b.Chosen = &Chosen{Lost: &Share{Value: document.Number(lost)}}
		return b
	}
	single := func(b Bill, verdict string) Bill {
		b.Single = verdict
		return b
	}
	unlabelled := func(name string, agree float64) Bill {
		return Bill{
			Method: name, File: name + ".onnx", Verdict: "PASS", Cost: Cost{Measured: 2},
			Agree: &Share{Value: document.Number(agree)},
		}
	}
	for i, c := range []struct {
		tried []Bill
		want  string
		say   string
	}{
		{[]Bill{bill("a", "PASS", 4, 0), bill("b", "PASS", 2, 0.005)}, "b", "Take b.onnx"},
		{[]Bill{bill("a", "PASS", 4, 0), bill("b", "PASS", 2, 0.5)}, "a", "Take a.onnx"},
		{[]Bill{bill("a", "PASS", 4.1, 0), bill("b", "PASS", 4, 0.005)}, "a", "Take a.onnx"},
		{[]Bill{bill("a", "FAIL", 1, 0), bill("b", "PASS", 2, 0.5)}, "", "The nearest is b.onnx"},
		{[]Bill{bill("a", "FAIL", 1, 0), {Method: "b", Refused: "no"}}, "", "No repaired model passes"},
		{[]Bill{bill("a", "FAIL", 1, 0), bill("b", "NEEDS_ATTENTION", 1, 0)}, "", "b.onnx is not refuted either"},
		{[]Bill{{Method: "a", Refused: "no"}, {Method: "b", Refused: "no"}}, "", "No method fits this model"},
		// Chosen by other samples than those that confirm, which have the last word.
		{[]Bill{on(bill("a", "PASS", 4, 0.005), 0), on(bill("b", "PASS", 4, 0), 0.005)}, "a", "Take a.onnx"},
		{
			[]Bill{on(bill("a", "PASS", 4, 0.5), 0), on(bill("b", "PASS", 4, 0), 0.005)},
			"",
			"None is recommended: a.onnx was chosen, but of the samples that confirm it loses 50 %, more than 1 %",
		},
		{[]Bill{on(bill("a", "PASS", 4, 0), 0.0102)}, "", "The nearest is a.onnx, which loses 1.02 % of them"},
		// Hardly dearer than the cheapest, and not than one that is hardly dearer than that.
		{[]Bill{bill("a", "PASS", 1, 0.009), bill("b", "PASS", 1.12, 0.005), bill("c", "PASS", 1.25, 0)}, "b", ""},
		{[]Bill{bill("c", "PASS", 1.25, 0), bill("b", "PASS", 1.12, 0.005), bill("a", "PASS", 1, 0.009)}, "b", ""},
		// At the batch of the study and at one sample a call.
		{[]Bill{single(bill("a", "PASS", 4, 0), "NEEDS_ATTENTION")}, "", "a.onnx is not refuted either"},
		{[]Bill{single(bill("a", "NEEDS_ATTENTION", 4, 0), "FAIL")}, "", "No repaired model passes"},
		// Nothing was lost: no sign stands before it.
		{[]Bill{bill("a", "PASS", 4, 0)}, "a", "at rest that is 0.0 % (0.0 to 0.0)."},
		// Without labels nothing is known to be as right, unless the classes stay.
		{[]Bill{unlabelled("a", 0.5)}, "", "The cheapest that passes is a.onnx, at 2.0 times the cost; without a " +
			"label"},
		{[]Bill{unlabelled("a", 0.995)}, "a", "Take a.onnx"},
		{[]Bill{{Method: "a", File: "a.onnx", Verdict: "PASS"}}, "", "right answers are counted of classes alone"},
		{[]Bill{single(bill("a", "PASS", 4, 0), "FAIL"), bill("b", "PASS", 8, 0)}, "b", "Take b.onnx"},
	} {
		r := Of{Before: bill("", "FAIL", 1, 0), Tried: c.tried}
		if r.Recommend(0.01); r.Recommended != c.want || !strings.Contains(r.Sentence, c.say) {
			t.Errorf("case %d: %q, %q; want %q, %q", i, r.Recommended, r.Sentence, c.want, c.say)
		}
	}
}

// A bill of answers that are known: two samples, half a turn.
func TestBill(t *testing.T) {
	before := &Answers{Back: [][][]float64{{{1}, {-1}}, {{1}, {0}}}, Class: [][]int{{0, 1}, {1, 1}}}
	b := before.Bill(before, []int{0, 1})
	if got, want := fmt.Sprintf("%.4f %.4f %g %g %g", b.Error, b.Worst, b.Apart, b.Right.Value, b.Moved.Value),
		fmt.Sprintf("%.4f %.4f 0 1 0.75", math.Sqrt(0.5), 1.0); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	after := &Answers{Back: [][][]float64{{{1}, {1}}, {{1}, {1}}}, Class: [][]int{{0, 0}, {0, 0}}}
	if a := after.Bill(before, []int{0, 1}); a.Error != 0 || a.Lost.Value != 0.5 || a.Apart != math.Sqrt2 {
		t.Errorf("after: %+v", a)
	}
	if a := after.Bill(before, []int{0, -1}); a.Right != nil {
		t.Error("shares of labels that nobody knows")
	}
	lone := &Answers{Back: [][][]float64{{{1}}, {{3}}}, Class: [][]int{{0}, {0}}}
	if a := lone.Bill(lone, []int{0}); !math.IsNaN(float64(a.Error)) || !math.IsNaN(float64(a.Worst)) ||
		a.Right.Value != 1 || !(a.Right.Low < 0.1) || a.Lost.Value != 0 || !(a.Lost.High > 0.5) {
		t.Errorf("one sample, which has no spread to measure by: %+v", a)
	}
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		a := &Answers{}
		for range 2 {
			err := a.Add([]space.Value{&space.Scores{Val: []float64{0, 1}}, &space.Scores{Val: []float64{0, x}}})
			if err != nil {
				t.Fatal(err)
			}
		}
		if a.Bad == nil || *a.Bad != [2]int{1, 0} {
			t.Errorf("an answer of %g is first at %v, want sample 1, element 0", x, a.Bad)
		}
		if b := a.Bill(a, []int{1, 1}); !math.IsNaN(float64(b.Error)) || b.Right.Value != 0.5 {
			t.Errorf("an answer of %g has the error %g, and %g are right", x, b.Error, b.Right.Value)
		}
	}
}

// Outputs beside the one that is read say what they say in the model before, whatever their axes.
func TestOthers(t *testing.T) {
	ctx := context.Background()
	b := onnx.NewBuilder(13)
	x := b.Input("x", tensor.Float32, "n", 1, 2, 2)
	ramp := b.Const(tensor.FromFloat32([]float32{1, 2, 3, 4}, 1, 1, 2, 2))
	b.Output(b.Op("Mul", []string{x, ramp}), tensor.Float32, "n", 1, 2, 2)
	b.Output(b.Op("Neg", []string{x}), tensor.Float32, "n", 1, 2, 2)
	for _, alone := range []bool{false, true} {
		if alone {
			b.Output(b.Op("Transpose", []string{x}), tensor.Float32, 2, 2, 1, "n")
			b.Output(b.Op("ReduceMean", []string{x}, onnx.AttrInt("keepdims", 0)), tensor.Float32)
			b.Output(b.Op("Identity", []string{ramp}), tensor.Float32, 1, 1, 2, 2)
		}
		m, err := b.Model()
		if err != nil {
			t.Fatal(err)
		}
		square := space.Spec{Name: "x", Kind: space.KindImage, Shape: []int{1, 2, 2}}
		codec, err := decode.New(m.Signature(), decode.InputSpec{Sample: square.Shape},
			decode.OutputSpec{Space: space.KindImage})
		if err != nil {
			t.Fatal(err)
		}
		g := named(t, "C4")
		a, err := action.NewImage(g, square, action.Options{})
		if err != nil {
			t.Fatal(err)
		}
		made, err := Build(Source{
			Model: m, Codec: codec, Group: g, In: a, Out: a, Sample: space.NewImage(1, 2, 2),
			Answer: space.NewImage(1, 2, 2), Elements: elementsOf(t, g),
		}, Asked{Method: average, Options: map[string]string{}})
		if err != nil {
			t.Fatal(err)
		}
		in := []tensor.Named{{Name: "x", Tensor: tensor.FromFloat32([]float32{1, 2, 3, 4, 5, 6, 7, 9}, 2, 1, 2, 2)}}
		run := func(m *onnx.Model) []tensor.Named {
			raw, err := m.Bytes()
			if err != nil {
				t.Fatal(err)
			}
			s, err := oracle.Engine(oracle.Options{Round: oracle.Float32}).Open(ctx, raw, engine.Options{Threads: 1})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close() //nolint:errcheck // nothing is lost
			out, err := s.Run(ctx, in)
			if err != nil {
				t.Fatal(err)
			}
			return out
		}
		before, after := run(m), run(made)
		if len(after) != len(before) {
			t.Fatalf("%d outputs, want %d", len(after), len(before))
		}
		for i := 1; i < len(before); i++ {
			p, q := after[i], before[i]
			got, want := floats(t, p.Tensor), floats(t, q.Tensor)
			if p.Name != q.Name || !slices.Equal(p.Shape, q.Shape) || !slices.Equal(got, want) {
				t.Errorf("output %s: %v %v, want %v %v", p.Name, p.Shape, got, q.Shape, want)
			}
		}
		if y := floats(t, after[0].Tensor); y[0] != 2.5 || y[3] != 10 { // each number times the mean of the ramp
			t.Errorf("the mean: %v", y)
		}
	}
}
