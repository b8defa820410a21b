package layers_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"nero/audit"
	"nero/audit/audittest"
	"nero/audit/check/layers"
	"nero/data/space"
	"nero/data/tensor"
	"nero/model/decode"
	"nero/model/onnx"
	"nero/symmetry/action"
	"nero/symmetry/feature"
	"nero/symmetry/group"
)

// blamed checks that a faulty network is blamed on one layer, with a clue, and that its twin is not.
func blamed(t *testing.T, faulty, clean audittest.Fixture, layer string, clue audit.ClueName) (*audit.Result,
	*layers.Result,
) {
	t.Helper()
	c, r := look(t, faulty)
	if len(c.Findings) != 1 || c.Findings[0].Category != audit.Layer || c.Findings[0].Location != layer ||
		len(c.Findings[0].Evidence) == 0 ||
		len(c.Findings[0].Remedies) == 0 || c.Findings[0].Worst.Index < 0 ||
		!strings.Contains(c.Findings[0].Message, "the symmetry is first lost in") {
		t.Errorf("findings %+v, want one about %s", c.Findings, layer)
	}
	if clue != "" && !slices.ContainsFunc(c.Clues,
		func(q audit.Clue) bool { return q.Name == clue && q.Holds && q.Location == layer }) {
		t.Errorf("clues %+v, want %s", c.Clues, clue)
	}
	if t.Failed() {
		show(t, r)
	}
	silent(t, clean)
	return c, r
}

// silent checks that nothing is found in a clean network.
func silent(t *testing.T, clean audittest.Fixture) {
	t.Helper()
	d, q := look(t, clean)
	if len(d.Findings) > 0 || q.First >= 0 || slices.ContainsFunc(d.Clues, func(c audit.Clue) bool { return c.Holds }) {
		show(t, q)
		t.Errorf("%s: findings %+v, clues %+v", clean.Subject.Name, d.Findings, d.Clues)
	}
}

// A pooling whose windows do not lie about the centre.
func TestPooling(t *testing.T) {
	g := parse(t, "C4")
	build := func(pads ...int64) *onnx.Model {
		n := newNet(6).conv("conv1", 4).op("relu1", "Relu")
		n.x = n.name("max", n.b.Op("MaxPool", []string{n.x}, onnx.AttrInts("kernel_shape", 3, 3),
			onnx.AttrInts("strides", 3, 3), onnx.AttrInts("pads", pads...)))
		n.h = side / 3
		return n.head("head", 3).model(t, 3)
	}
	blamed(t, audittest.Fixture{Subject: subject(t, "lopsided", g, build(1, 1, 0, 0), vector, action.Trivial{G: g})},
		audittest.Fixture{Subject: subject(t, "centred", g, build(0, 0, 0, 0), vector, action.Trivial{G: g})}, "max",
		audit.CluePooling)
}

// A batch normalisation whose scales differ among the orientations of a field.
func TestNormalisation(t *testing.T) {
	g := parse(t, "C4")
	build := func(uneven float64) *onnx.Model {
		n := newNet(6)
		var w []float64
		base := []float64{1, 0.3, -0.5, 0.2, -1, 0.7, 0.1, -0.4, 0.6}
		for k := range 4 {
			w = append(w, turned(k, base)...)
		}
		n.x = n.name("lift",
			n.b.Op("Conv", []string{n.x, n.stored([]int{4, 1, 3, 3}, func(i int) float64 { return w[i] })},
				onnx.AttrInts("pads", 1, 1, 1, 1)))
		per := func(a, b float64) string {
			return n.stored([]int{4}, func(i int) float64 { return a + b*float64(i) })
		}
		n.x = n.name("norm",
			n.b.Op("BatchNormalization", []string{n.x, per(1.2, uneven), per(0.1, 0), per(0.3, 0), per(0.8, 0)}))
		n.c = 4
		n.op("relu", "Relu").op("pool", "GlobalAveragePool").op("flatten", "Flatten")
		n.x = n.name("sum", n.b.Op("ReduceMean", []string{n.x}, onnx.AttrInts("axes", 1), onnx.AttrInt("keepdims", 1)))
		return n.model(t, 1)
	}
	_, r := blamed(t, audittest.Fixture{Subject: subject(t, "uneven", g, build(0.2), vector, action.Trivial{G: g})},
		audittest.Fixture{Subject: subject(t, "even", g, build(0), vector, action.Trivial{G: g})}, "norm",
		audit.ClueNormalisation)
	if w := row(t, r, "flatten"); w.Rep != "regular 4×1×1, every 12 px, 1 field" {
		t.Errorf("after the pooling the values move as %q", w.Rep)
	}
}

// A ReLU on the components of a vector field, whose signs change when it turns.
func TestNonlinearity(t *testing.T) {
	g := parse(t, "C4")
	build := func(op string) *onnx.Model {
		n := newNet(6)
		w := []float64{-1, 0, 1, -2, 0, 2, -1, 0, 1, -1, -2, -1, 0, 0, 0, 1, 2, 1}
		n.x = n.name("gradient",
			n.b.Op("Conv", []string{n.x, n.stored([]int{2, 1, 3, 3}, func(i int) float64 { return w[i] })},
				onnx.AttrInts("pads", 1, 1, 1, 1)))
		n.op("act", op)
		n.x = n.name("square", n.b.Op("Mul", []string{n.x, n.x}))
		n.x = n.name("norm", n.b.Op("ReduceSum", []string{n.x, n.b.Ints(1)}, onnx.AttrInt("keepdims", 1)))
		n.c = 1
		return n.conv("conv", 3).op("relu", "Relu").head("head", 2).model(t, 2)
	}
	_, r := blamed(t, audittest.Fixture{Subject: subject(t, "relu", g, build("Relu"), vector, action.Trivial{G: g})},
		audittest.Fixture{Subject: subject(t, "tanh", g, build("Tanh"), vector, action.Trivial{G: g})}, "act",
		audit.ClueNonlinearity)
	if w := row(t, r, "gradient"); w.Rep != "regular 2×12×12, 1 field" {
		t.Errorf("the gradient moves as %q", w.Rep)
	}
}

// attention is a small transformer on patches: embedding by a strided convolution, tokens, one attention block with a
// residual, a mean over the tokens.
func attention(tb testing.TB, positions bool) *onnx.Model {
	tb.Helper()
	n := newNet(8)
	const c, p = 4, 3
	w := make([]float64, 0, c*p*p)
	for range c {
		w = append(w, n.kernel()...)
	}
	n.x = n.name("embed",
		n.b.Op("Conv", []string{n.x, n.stored([]int{c, 1, p, p}, func(i int) float64 { return w[i] / 3 })},
			onnx.AttrInts("strides", p, p)))
	const tokens = (side / p) * (side / p)
	n.x = n.name("flat", n.b.Op("Reshape", []string{n.x, n.b.Ints(0, c, tokens)}))
	n.x = n.name("tokens", n.b.Op("Transpose", []string{n.x}, onnx.AttrInts("perm", 0, 2, 1)))
	if positions {
		n.x = n.name("positions",
			n.b.Op("Add", []string{
				n.x,
				n.stored([]int{1, tokens, c}, func(i int) float64 { return 0.3 * math.Sin(float64(i)) }),
			}))
	}
	project := func(name string) string {
		return n.name(name, n.b.Op("MatMul",
			[]string{n.x, n.stored([]int{c, c}, func(int) float64 { return n.r.NormFloat64() / 2 })}))
	}
	q, k, v := project("q"), project("k"), project("v")
	kt := n.name("kt", n.b.Op("Transpose", []string{k}, onnx.AttrInts("perm", 0, 2, 1)))
	a := n.name("scores", n.b.Op("MatMul", []string{q, kt}))
	a = n.name("weights", n.b.Op("Softmax", []string{a}, onnx.AttrInt("axis", -1)))
	a = n.name("mix", n.b.Op("MatMul", []string{a, v}))
	n.x = n.name("residual", n.b.Op("Add", []string{n.x, a}))
	n.x = n.name("mean", n.b.Op("ReduceMean", []string{n.x}, onnx.AttrInts("axes", 1), onnx.AttrInt("keepdims", 0)))
	n.x = n.name("head",
		n.b.Op("Gemm", []string{n.x, n.stored([]int{c, 2}, func(int) float64 { return n.r.NormFloat64() })}))
	return n.model(tb, 2)
}

// Tokens move with their patches, attention weights with pairs of them; a table of positions is where that ends.
func TestAttention(t *testing.T) {
	g := parse(t, "D4")
	_, r := blamed(t, audittest.Fixture{Subject: subject(t, "positions", g, attention(t, true), vector,
		action.Trivial{G: g})},
		audittest.Fixture{Subject: subject(t, "none", g, attention(t, false), vector, action.Trivial{G: g})},
		"positions", "")
	for name, want := range map[string]string{
		"embed": "spatial 4×4×4, every 3 px", "tokens": "spatial 4×4×4, every 3 px",
		"positions": "spatial 4×4×4, every 3 px", "q": "spatial 4×4×4, every 3 px",
		"weights": "spatial 1×4×4×4×4, every 3 px", "mix": "spatial 4×4×4, every 3 px", "mean": "trivial 4",
	} {
		if w := row(t, r, name); w.Rep != want {
			t.Errorf("%s moves as %q (%s), want %q", name, w.Rep, w.Origin, want)
		}
	}
	if !(math.Abs(r.Flows[0].Sum-1) < 1e-9) {
		t.Errorf("along the group the shares add to %g: %s", r.Flows[0].Sum, r.NoFlows)
	}
	if w := r.Rows[r.First]; !(math.Abs(w.Share.Value-1) < 1e-9) {
		t.Errorf("the share of the positions is %g", w.Share.Value)
	}
}

// Cyclic shifts: convolutions about a torus hold, a stride does not, unless the shift is a whole number of its steps.
func TestShifts(t *testing.T) {
	g := parse(t, "Roll(12,12)")
	build := func(stride int64) *onnx.Model {
		n := newNet(6)
		wrap := func() { // one row and column around the border
			cut := func(axis, from, to int64) string {
				return n.b.Op("Slice", []string{n.x, n.b.Ints(from), n.b.Ints(to), n.b.Ints(axis)})
			}
			for _, axis := range []int64{2, 3} {
				n.x = n.b.Op("Concat", []string{cut(axis, -1, math.MaxInt32), n.x, cut(axis, 0, 1)},
					onnx.AttrInt("axis", axis))
			}
		}
		conv := func(name string, out int, stride int64) {
			wrap()
			c := n.c
			n.x = n.name(name, n.b.Op("Conv",
				[]string{n.x, n.stored([]int{out, c, 3, 3}, func(int) float64 { return n.r.NormFloat64() / 3 })},
				onnx.AttrInts("strides", stride, stride)))
			n.c = out
		}
		conv("conv1", 3, 1)
		n.op("relu1", "Relu")
		conv("conv2", 4, stride)
		n.op("relu2", "Relu")
		n.h = side / int(stride)
		return n.head("head", 2).model(t, 2)
	}
	// All 144 shifts are in the plan; four of them are taken.
	f := audittest.Fixture{Subject: subject(t, "strided", g, build(2), vector, action.Trivial{G: g})}
	f.Options.Params = map[string]float64{"layers.elements": 5}
	_, r := blamed(t, f, audittest.Fixture{Subject: subject(t, "plain", g, build(1), vector, action.Trivial{G: g})},
		"conv2", audit.CluePooling)
	if len(r.Flows) != 2 || !(math.Abs(r.Flows[0].Sum-1) < 1e-9) {
		t.Errorf("derivatives: %+v, %s", r.Flows, r.NoFlows)
	}
}

// Vectors between dense layers of a model whose output moves are explained by nothing: their layers are untestable, and
// the next one is measured together with them.
func TestUntestable(t *testing.T) {
	g := parse(t, "C4")
	n := newNet(6).conv("conv1", 1).op("flatten", "Flatten")
	dense := func(name string, from, to int) {
		n.x = n.name(name, n.b.Op("Gemm",
			[]string{n.x, n.stored([]int{from, to}, func(int) float64 { return n.r.NormFloat64() / 10 })}))
	}
	dense("down", side*side, 20)
	n.op("tanh", "Tanh")
	dense("up", 20, side*side)
	n.x = n.name("map", n.b.Op("Reshape", []string{n.x, n.b.Ints(0, 1, side, side)}))
	s := subject(t, "bottleneck", g, n.model(t, 1, side, side), vector, action.Trivial{G: g})
	s.Plan.Out = tensors(t, g, 1, side, side)
	c, r := look(t, audittest.Fixture{Subject: s})
	for _, name := range []string{"down", "tanh"} {
		if w := row(t, r, name); !strings.HasPrefix(w.Status, "untestable: no representation") {
			t.Errorf("%s is %q", name, w.Status)
		}
	}
	if w := r.Rows[r.First]; w.Name != "map" || !(math.Abs(w.Share.Value-1) < 1e-9) ||
		!slices.Equal(w.Together, []string{"down", "tanh", "up"}) {
		show(t, r)
		t.Errorf("the first layer that breaks is %s (%s) with the share %g", w.Name, w.Rep, w.Share.Value)
	}
	if len(c.Findings) != 1 || !(math.Abs(r.Elements.Sum-1) < 1e-9) {
		t.Errorf("findings %v, sum %g", c.Findings, r.Elements.Sum)
	}
}

// Inputs that are vectors, not pictures: the squares of the coordinates change places under quarter turns, their sum
// does not.
func TestVectors(t *testing.T) {
	g := parse(t, "C4")
	build := func(a float32) *onnx.Model {
		b := onnx.NewBuilder(17)
		n := &net{b: b, x: b.Input("x", tensor.Float32, "N", 2)}
		n.x = n.name("squares", b.Op("Mul", []string{n.x, n.x}))
		n.x = n.name("weights", b.Op("Mul", []string{n.x, b.Const(tensor.FromFloat32([]float32{1, a}, 1, 2))}))
		n.x = n.name("sum", b.Op("ReduceSum", []string{n.x, b.Ints(1)}, onnx.AttrInt("keepdims", 1)))
		return n.model(t, 1)
	}
	fixture := func(name string, a float32) audittest.Fixture {
		m := build(a)
		s := &audit.Subject{
			Name: name, Plan: audittest.Plan(t, audittest.Plane(t, g), action.Trivial{G: g}), N: 16,
			Sample: audittest.Vectors(16, 7), Seed: 1,
		}
		audittest.Graph(t, s, m, audittest.Tensors(t, m))
		return audittest.Fixture{Subject: s}
	}
	_, r := blamed(t, fixture("ellipse", 2), fixture("circle", 1), "weights", "")
	if w := row(t, r, "squares"); w.Rep != "regular 2, 1 field" {
		t.Errorf("the squares move as %q", w.Rep)
	}
}

// A plan of small turns alone visits no exact element: errors are held against resampling, and what cannot be told from
// it is not blamed.
func TestResampledOnly(t *testing.T) {
	g := parse(t, "SO(2)")
	fixture := func(name string) audittest.Fixture {
		n := newNet(4, "table")
		if name == "table" {
			n.positions("table")
		}
		s := subject(t, name, g, n.op("abs", "Abs").head("head", 2).model(t, 2), vector, action.Trivial{G: g},
			group.Element{10}, group.Element{350})
		s.Sample = audittest.Pictures(16, side, side, 7)
		return audittest.Fixture{Subject: s}
	}
	c, r := blamed(t, fixture("table"), fixture("none"), "table", "")
	if r.Exact || r.Elements == nil || !(math.Abs(r.Elements.Sum-1) < 1e-9) || len(r.Flows) != 1 ||
		c.Findings[0].Set != "resampled" {
		t.Errorf("exact %v, elements %+v, findings %+v", r.Exact, r.Elements, c.Findings)
	}
	if w := row(t, r, "abs"); w.Above || !(w.Floor > 1e-6) {
		t.Errorf("what stands behind the table injects %g, its floor is %g", w.Injected, w.Floor)
	}
}

// Zero padding is no symmetry of shifts: the first convolution that reads beyond the border is blamed, and the remedy
// is another border.
func TestZeroPadding(t *testing.T) {
	g := parse(t, "Roll(12,12)")
	s := subject(t, "zeros", g, plain(3).model(t, 3), vector, action.Trivial{G: g})
	f := audittest.Fixture{Subject: s, Want: []audittest.Want{{Category: audit.Layer, Message: "^conv1 "}}}
	c, r := look(t, f)
	if r.First < 0 || r.Rows[r.First].Name != "conv1" || len(c.Findings) != 1 ||
		!strings.Contains(strings.Join(c.Findings[0].Remedies, " "), "circular") {
		show(t, r)
		t.Errorf("findings %+v", c.Findings)
	}
	// Positions are the first where nothing is padded before them.
	n := newNet(4, "table").positions("table").op("square", "Abs").head("head", 2)
	_, r = look(t, audittest.Fixture{Subject: subject(t, "positions", g, n.model(t, 2), vector, action.Trivial{G: g})})
	if r.First < 0 || r.Rows[r.First].Name != "table" {
		show(t, r)
		t.Error("the table is not found")
	}
}

// A mask moves as the numbers do from which its labels come.
func TestMask(t *testing.T) {
	g := parse(t, "C4")
	out, err := action.NewMask(g, space.Spec{Kind: space.KindMask, Shape: []int{side, side}}, action.Options{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	build := func(breaks ...string) audittest.Fixture {
		n := newNet(4, breaks...).conv("conv1", 4).op("relu1", "Relu").conv("conv2", 3)
		return audittest.Fixture{Subject: subject(t, "mask", g, n.model(t, 3, side, side),
			decode.OutputSpec{Space: space.KindMask}, out)}
	}
	_, r := blamed(t, build("conv2"), build(), "conv2", audit.ClueConvolution)
	if w := row(t, r, "conv2"); w.Rep != "spatial 3×12×12" || w.Origin != feature.ByUser {
		t.Errorf("the output moves as %q (%s)", w.Rep, w.Origin)
	}
}

// A number for each channel that differs among the turns of a field is no table of positions.
func TestGainOfChannels(t *testing.T) {
	g := parse(t, "C4")
	build := func(uneven float64) *onnx.Model {
		n := newNet(6)
		var w []float64
		base := []float64{1, 0.3, -0.5, 0.2, -1, 0.7, 0.1, -0.4, 0.6}
		for k := range 4 {
			w = append(w, turned(k, base)...)
		}
		n.x = n.name("lift",
			n.b.Op("Conv", []string{n.x, n.stored([]int{4, 1, 3, 3}, func(i int) float64 { return w[i] })},
				onnx.AttrInts("pads", 1, 1, 1, 1)))
		n.x = n.name("gain", n.b.Op("Mul", []string{
			n.x, n.stored([]int{1, 4, 1, 1}, func(i int) float64 { return 1 + uneven*float64(i) }),
		}))
		n.c = 4
		n.op("relu", "Relu").op("pool", "GlobalAveragePool").op("flatten", "Flatten")
		n.x = n.name("sum", n.b.Op("ReduceMean", []string{n.x}, onnx.AttrInts("axes", 1), onnx.AttrInt("keepdims", 1)))
		return n.model(t, 1)
	}
	found, _ := blamed(t, audittest.Fixture{Subject: subject(t, "uneven", g, build(0.2), vector, action.Trivial{G: g})},
		audittest.Fixture{Subject: subject(t, "even", g, build(0), vector, action.Trivial{G: g})}, "gain", "")
	for _, c := range found.Clues {
		if c.Name == audit.CluePositions && c.Holds {
			t.Errorf("a gain of channels is called positions: %s", c.Text)
		}
	}
}

// Every other row and column, taken by two Slices, is a stride: the first of them is the place. Slices that share the
// rows and columns among them leave nothing out.
func TestSubsampling(t *testing.T) {
	g := parse(t, "Roll(12,12)")
	build := func(thin, split bool) *onnx.Model {
		n := newNet(6)
		n.x = n.name("mix", n.b.Op("Conv",
			[]string{n.x, n.stored([]int{3, 1, 1, 1}, func(int) float64 { return n.r.NormFloat64() })}))
		n.c = 3
		n.op("relu1", "Relu")
		every := func(name, x string, axis, from int64) string {
			return n.name(name, n.b.Op("Slice",
				[]string{x, n.b.Ints(from), n.b.Ints(math.MaxInt32), n.b.Ints(axis), n.b.Ints(2)}))
		}
		switch {
		case thin:
			n.x = every("columns", every("rows", n.x, 2, 0), 3, 0)
		case split:
			var all []string
			for i := range int64(2) {
				r := every("rows"+string('0'+rune(i)), n.x, 2, i)
				for j := range int64(2) {
					all = append(all, every("part"+string('0'+rune(2*i+j)), r, 3, j))
				}
			}
			n.x = n.name("stack", n.b.Op("Concat", all, onnx.AttrInt("axis", 2)))
		}
		n.op("relu2", "Abs").op("pool", "GlobalAveragePool").op("flatten", "Flatten")
		return n.model(t, 3)
	}
	fixture := func(name string, thin, split bool) audittest.Fixture {
		f := audittest.Fixture{Subject: subject(t, name, g, build(thin, split), vector, action.Trivial{G: g})}
		f.Options.Params = map[string]float64{"layers.elements": 5}
		return f
	}
	blamed(t, fixture("thinned", true, false), fixture("whole", false, false), "rows", audit.CluePooling)
	silent(t, fixture("shared", false, true))
}
