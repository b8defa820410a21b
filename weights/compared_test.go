package weights

import (
	"math"
	"slices"
	"testing"

	"nero/data/tensor"
	"nero/model/onnx"
	"nero/model/onnx/units"
	"nero/model/onnx/units/unitstest"
)

// Weights are no further apart with units paired than they are as stored. One channel is made twenty times smaller, or
// larger, before a batch norm whose variance makes up for it, with what is added to it: no unit moves, and other scales
// would take the weights far away. Another seed is the clean one.
func TestNoFurtherThanAsStored(t *testing.T) {
	a := unitstest.CNN(1)
	small := func(by float64) *onnx.Model {
		n, _ := open(t, a)
		m := n.Units.Norms[0]
		if !m.Stored {
			t.Fatal("no batch norm")
		}
		c := &checker{Network: n}
		chosen := make([]bool, m.Unit[0].Units)
		chosen[2] = true
		now, err := c.scaled(m, chosen, by, true)
		if err != nil {
			t.Fatal(err)
		}
		v, err := now[m.Variance].Float64s(nil)
		if err != nil {
			t.Fatal(err)
		}
		v[2] += m.Epsilon * (by*by - 1)
		if now[m.Variance], err = rounded(tensor.Float32, v, now[m.Variance].Shape); err != nil {
			t.Fatal(err)
		}
		out, err := now.over(n.numbers).Into(a)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	for name, b := range map[string]*onnx.Model{
		"small": small(1.0 / 20), "large": small(20), "seed": unitstest.CNN(2),
	} {
		r := verdict(t, a, b)
		x := r.Aligned
		if !(x.After <= x.Before) {
			t.Errorf("%s: %v as stored and %v paired: %s", name, x.Before, x.After, r.Sentence)
		}
		if (r.Verdict == SameUpTo) != (name != "seed") {
			t.Errorf("%s: %s", name, r.Sentence)
		}
		for _, c := range x.Axes {
			if name != "seed" && (c.Moved != 0 || c.Refined != 0 || !(c.Correlation > 0.99)) {
				t.Errorf("%s: %+v, want the units where they are", name, c)
			}
		}
	}
}

// What the report says of pairs is said of those that were kept: where weights order units otherwise than activations
// did, the correlations are those of that order.
func TestCorrelationOfKeptPairs(t *testing.T) {
	a := unitstest.MLP(1, "Relu")
	n, body := open(t, a)
	twin, _ := open(t, planted(t, n, 5, false))
	x := &aligner{
		a: n, moved: n.numbers, body: body, o: CompareOptions{Workers: 1, Step: func(string) {}},
		axes: map[*units.Class]*AlignedAxis{}, out: &Aligned{},
	}
	for _, second := range []struct {
		of   Numbers
		same bool
	}{{n.numbers, true}, {twin.numbers, false}} {
		for _, cl := range n.Units.Classes {
			if cl.Fixed == "" {
				x.axes[cl] = &AlignedAxis{Units: cl.Units, Blocks: cl.Blocks, Correlation: 7, Unmatched: 9}
			}
		}
		x.moved = second.of
		if err := x.correlate(t.Context()); err != nil {
			t.Fatal(err)
		}
		for cl, axis := range x.axes {
			one := math.Abs(float64(axis.Correlation)-1) < 1e-9 && axis.Unmatched == 0
			if one != second.same || axis.Correlation > 1.1 {
				t.Errorf("%s: %+v, want pairs of the same: %v", cl.Label(), axis, second.same)
			}
		}
	}
}

// A model in which large numbers cancel answers roughly: a twin whose weights are the first's is the same, as far as
// rounding takes its answers. A bias of 30,000 that weights of two signs take away again; the twin has its units
// moved and scaled. With one weight another it is not the same.
func TestRoughTwins(t *testing.T) {
	net := unitstest.New(4)
	x := net.Input("x", tensor.Float32, "N", 4)
	h := net.Act("Relu", net.Op("Gemm", []string{x, net.Random(0, 0.5, 5, 4), net.Random(3e4, 1, 5)},
		onnx.AttrInt("transB", 1)))
	a := net.Done(net.Dense(h, 5, 3), "N", 3)
	n, _ := open(t, a)
	b := planted(t, n, 5, true)
	r := verdict(t, a, b)
	if r.Verdict != SameUpTo || !(r.Aligned.Function.Error > mostError) || !(r.Aligned.Rough > 0) || !r.Good() {
		t.Errorf("%s (rough %v)", r.Sentence, r.Aligned.Rough)
	}
	other := edited(t, b, func(k int, _ []int, val []float64) {
		if k == 1 { // the bias
			val[2] *= 1 + 3e-5
		}
	})
	if r := verdict(t, a, other); r.Verdict == SameUpTo || r.Good() {
		t.Error(r.Sentence)
	}
	// a twin of a model that is not rough is the same without that
	if r := verdict(t, unitstest.MLP(1, "Relu"), unitstest.MLP(1, "Relu")); r.Aligned.Rough != 0 {
		t.Error(r.Aligned.Rough)
	}
}

// A row of a table that no probe asks for tells nothing of whether two functions are the same, whatever is in it; one
// that is asked for does.
func TestRowsThatNoProbeAsksFor(t *testing.T) {
	const rows, wide = 100, 6
	net := unitstest.New(3)
	ids := net.Input("ids", tensor.Int64, "N", 4)
	e := net.Op("Gather", []string{net.Random(0, 1, rows, wide), ids})
	h := net.Op("ReduceMean", []string{e}, onnx.AttrInts("axes", 1), onnx.AttrInt("keepdims", 0))
	h = net.Act("Relu", net.Dense(h, wide, 7))
	a := net.Done(net.Dense(h, 7, 3), "N", 3)
	n, body := open(t, a)
	asked := make([]bool, rows)
	for _, p := range body.Probes {
		ids, err := p[0].Float64s(nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range ids {
			asked[int(i)] = true
		}
	}
	with := func(m *onnx.Model, row int) *onnx.Model {
		return edited(t, m, func(_ int, shape []int, val []float64) {
			if shape[0] == rows {
				for i := range wide {
					val[row*wide+i] *= -10
				}
			}
		})
	}
	r := verdict(t, a, with(a, slices.Index(asked, false)))
	if u := r.Aligned.Unreached; r.Verdict != NotTold || r.Good() || u.Numbers != wide || len(u.Tensors) != 1 {
		t.Errorf("%s: %+v", r.Sentence, u)
	}
	if r := verdict(t, a, with(a, slices.Index(asked, true))); r.Verdict != Different {
		t.Error(r.Sentence)
	}
	if r := verdict(t, a, planted(t, n, 5, true)); r.Verdict != SameUpTo || r.Aligned.Unreached != nil {
		t.Error(r.Sentence)
	}
}

// One function that has its numbers elsewhere is the same function: every number that differs is felt, though all of
// them at once change nothing. Two units are equal, and what reads the one is given to the other, which is no symmetry
// that is looked for.
func TestSameFunctionOtherWeights(t *testing.T) {
	with := func(part float64) *onnx.Model {
		return edited(t, unitstest.MLP(1, "Relu"), func(k int, shape []int, val []float64) {
			switch row := len(val) / shape[0]; k {
			case 2, 3:
				copy(val[row:2*row], val[3*row:4*row])
			case 4:
				for i := 0; i < len(val); i += row {
					given := float64(part * val[i+1])
					val[i+1], val[i+3] = val[i+1]-given, val[i+3]+given
				}
			}
		})
	}
	a := with(0)
	if r := verdict(t, a, with(0.75)); r.Verdict != SameFunction || !r.Good() {
		t.Errorf("%s: %+v", r.Sentence, r.Aligned.Unreached)
	}
	n, _ := open(t, a)
	if r := verdict(t, a, planted(t, n, 5, true)); r.Verdict != SameUpTo {
		t.Error(r.Sentence)
	}
}

// The factor of a unit is that of most of its numbers: one that differs does not spread over the others.
func TestFactorOfMost(t *testing.T) {
	for _, c := range []struct {
		a, b []float64
		want float64
		ok   bool
	}{
		{[]float64{1, 2, 3, 4, 0}, []float64{2, 4, 6, 7, 0}, 0.5, true},
		{[]float64{1, 2, 3, 4}, []float64{2, 4, 7, 9}, 0, false},
		{[]float64{1, 2, 3}, []float64{-1, -2, -3}, 0, false}, // no scale is below 0
		{[]float64{0, 0}, []float64{1, 2}, 0, false},
	} {
		if got, ok := common(c.a, c.b); ok != c.ok || ok && got != c.want {
			t.Errorf("%v and %v: %v, %v", c.a, c.b, got, ok)
		}
	}
}

// A large answer hides none of the others: an output that is half as large again is another one, however small it is
// beside the next, and so are its weights beside those. Moved and scaled, all of them are the same.
func TestSmallBesideLarge(t *testing.T) {
	a := edited(t, unitstest.MLP(1, "Relu"), func(k int, shape []int, val []float64) {
		if k == 4 {
			for i := range val[:len(val)/shape[0]] {
				val[i] *= 1e5
			}
		}
	})
	b := edited(t, a, func(k int, shape []int, val []float64) {
		if row := len(val) / shape[0]; k == 4 {
			for i := row; i < 2*row; i++ {
				val[i] *= 1.5
			}
		}
	})
	r := verdict(t, a, b)
	if u := r.Aligned.Unit; r.Verdict != Different || r.Good() || u == nil || u.Unit != 1 ||
		!(math.Abs(float64(u.Apart)-0.5) < 1e-3) || !has(r, "[:, 1] is ") {
		t.Errorf("%s: %+v", r.Sentence, u)
	}
	n, _ := open(t, a)
	if r := verdict(t, a, planted(t, n, 5, true)); r.Verdict != SameUpTo || r.Aligned.Unit != nil {
		t.Errorf("%s: %+v", r.Sentence, r.Aligned.Unit)
	}
}

// Each output is judged by its own scale, be it an output of the model, a channel, or one number of a table that has
// large ones in its row and in its column. A small one that is 1e-3 off is named; twins in which units are moved and
// scaled are the same.
func TestPartsOfAnswers(t *testing.T) {
	// how large what comes out is, and how far the second number is off
	sized := func(m *onnx.Model, sizes []float32, off float64) *onnx.Model {
		return edited(t, m, func(k int, shape []int, val []float64) {
			for i := range val {
				if u := i / (len(val) / shape[0]); k > 1 {
					if val[i] *= float64(sizes[u]); u == 1 {
						val[i] *= 1 + off
					}
				}
			}
		})
	}
	build := func(sizes []float32, shape []int64, apart bool, off float64) *onnx.Model {
		net := unitstest.New(1)
		x := net.Input("x", tensor.Float32, "N", 4)
		h := net.Act("Relu", net.Dense(x, 4, 7))
		n := len(sizes)
		y := net.Dense(h, 7, n)
		if apart {
			all := net.Ops("Split", 2, []string{y, net.Ints(1, int64(n-1))}, onnx.AttrInt("axis", 1))
			net.Output(all[0], tensor.Float32, "N", 1)
			return sized(net.Done(all[1], "N", n-1), sizes, off)
		}
		y = net.Op("Reshape", []string{y, net.Ints(shape...)})
		dims := []any{"N"}
		for _, d := range shape[1:] {
			dims = append(dims, int(d))
		}
		return sized(net.Done(y, dims...), sizes, off)
	}
	for _, c := range []struct {
		name  string
		sizes []float32
		shape []int64
		apart bool
		at    string
	}{
		{"number", []float32{1e6, 1, 1e6}, []int64{-1, 3}, false, "[:, 1]"},
		{"even", []float32{1, 1, 1}, []int64{-1, 3}, false, ""},
		{"channel", []float32{1e6, 1}, []int64{-1, 2, 1, 1}, false, "[:, 1, :, :]"},
		{"table", []float32{1e6, 1, 1, 1e6}, []int64{-1, 2, 2}, false, "[0, 0, 1]"},
		{"outputs", []float32{1e6, 1, 1}, nil, true, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := build(c.sizes, c.shape, c.apart, 0)
			r := verdict(t, a, build(c.sizes, c.shape, c.apart, 1e-3))
			if r.Verdict != Different || r.Good() || c.at != "" && !has(r, c.at+" is ") ||
				c.apart && r.Aligned.Function.At == "" {
				t.Errorf("%s: %+v", r.Sentence, r.Aligned.Function)
			}
			n, _ := open(t, a)
			if r := verdict(t, a, planted(t, n, 5, true)); r.Verdict != SameUpTo {
				t.Errorf("the twin: %s %+v", r.Sentence, r.Aligned.Function)
			}
		})
	}
}

// Files of the same weights may have a tensor besides that no node reads: that it differs is said.
func TestTensorsThatNoNodeReads(t *testing.T) {
	build := func(of float32) *onnx.Model {
		net := unitstest.New(1)
		y := net.Dense(net.Input("x", tensor.Float32, "N", 4), 4, 3)
		net.Const(tensor.FromFloat32([]float32{of}, 1))
		return net.Done(y, "N", 3)
	}
	a := build(1)
	if r := verdict(t, a, build(2)); r.Verdict != SameUpTo || len(r.Aligned.Unused) != 1 || !has(r, "no node reads") {
		t.Errorf("%s: %v", r.Sentence, r.Aligned.Unused)
	}
	r := verdict(t, a, build(1))
	if r.Verdict != SameUpTo || len(r.Aligned.Unused) != 0 || !has(r, "names or notes alone") {
		t.Errorf("%s: %v", r.Sentence, r.Aligned.Unused)
	}
}
