package weights

import (
	"slices"
	"testing"

	"nero/data/tensor"
	"nero/model/onnx"
	"nero/model/onnx/units/unitstest"
)

// ordered puts the places of an axis of a tensor into another order, and multiplies them by factors; nil leaves either.
func ordered(shape []int, axis int, val []float64, to []int, by []float64) {
	inner := tensor.Count(shape[axis+1:])
	was := slices.Clone(val)
	for i := range val {
		u := i / inner % shape[axis]
		if to != nil {
			val[i] = was[i+(to[u]-u)*inner]
		}
		if by != nil {
			val[i] *= by[u]
		}
	}
}

// inverted are one over each factor.
func inverted(by []float64) []float64 {
	out := make([]float64, len(by))
	for i, v := range by {
		out[i] = 1 / v
	}
	return out
}

// Orders of six units, of six in pairs of two, and of twelve; factors and signs of six.
var (
	six    = []int{3, 5, 0, 1, 4, 2}
	pairs  = []int{3, 2, 4, 5, 1, 0}
	scales = []float64{3, 0.7, 1, 11, 0.3, 5}
	signs  = []float64{1, -1, -1, 1, 1, -1}
)

// formula is a network with a twin that is exactly the same function, by a formula for each stored tensor in the order
// of the graph: nothing of what looks for twins is used.
type formula struct {
	build func() *onnx.Model
	move  func(k int, shape []int, val []float64)
}

func formulas() map[string]formula {
	pool := func(n *unitstest.Net, h string, c int) *onnx.Model {
		h = n.Op("Flatten", []string{n.Op("GlobalAveragePool", []string{h})})
		return n.Done(n.Dense(h, c, 3), "N", 3)
	}
	begin := func() (*unitstest.Net, string) {
		n := unitstest.New(1)
		return n, n.Input("x", tensor.Float32, "N", 2, 4, 4)
	}
	vec := func() (*unitstest.Net, string) {
		n := unitstest.New(1)
		return n, n.Input("x", tensor.Float32, "N", 4)
	}
	return map[string]formula{
		"convnext": {func() *onnx.Model {
			n, x := begin()
			h := n.Conv(x, 2, 6, 1)
			h = n.Op("Add", []string{h, n.Conv(h, 6, 6, 6)})
			return pool(n, n.Act("Sigmoid", h), 6)
		}, func(k int, s []int, v []float64) {
			if k < 4 {
				ordered(s, 0, v, six, nil)
			} else if k == 4 {
				ordered(s, 1, v, six, nil)
			}
		}},
		"multiplier": {func() *onnx.Model { // two channels out of each
			n, x := begin()
			h := n.Act("Relu", n.Conv(x, 2, 6, 1))
			h = n.Act("Relu", n.Conv(h, 6, 12, 6))
			return pool(n, h, 12)
		}, func(k int, s []int, v []float64) {
			var all []int
			for _, b := range six {
				all = append(all, 2*b+1, 2*b)
			}
			switch k {
			case 0, 1:
				ordered(s, 0, v, six, nil)
			case 2, 3:
				ordered(s, 0, v, all, nil)
			case 4:
				ordered(s, 1, v, all, nil)
			}
		}},
		"grouped": {func() *onnx.Model { // groups of two in a stream
			n, x := begin()
			h := n.Conv(x, 2, 6, 1)
			h = n.Op("Add", []string{h, n.Conv(h, 6, 6, 3)})
			return pool(n, n.Act("Sigmoid", h), 6)
		}, func(k int, s []int, v []float64) {
			switch k {
			case 0, 1, 3:
				ordered(s, 0, v, pairs, nil)
			case 2:
				ordered(s, 0, v, pairs, nil)
				for o := range 6 { // what each reads of its block
					row := v[o*18 : (o+1)*18]
					was := slices.Clone(row)
					for j := range 2 {
						copy(row[j*9:(j+1)*9], was[pairs[o/2*2+j]%2*9:])
					}
				}
			case 4:
				ordered(s, 1, v, pairs, nil)
			}
		}},
		"relustream": {func() *onnx.Model {
			n, x := vec()
			h := n.Act("Relu", n.Dense(x, 4, 6))
			for range 2 {
				b := n.Dense(n.Act("Relu", n.Dense(h, 6, 5)), 5, 6)
				h = n.Act("Relu", n.Op("Add", []string{h, b}))
			}
			return n.Done(n.Dense(h, 6, 3), "N", 3)
		}, func(k int, s []int, v []float64) {
			switch k {
			case 0, 1, 4, 5, 8, 9:
				ordered(s, 0, v, six, scales)
			case 2, 6, 10:
				ordered(s, 1, v, six, inverted(scales))
			}
		}},
		"tied signs": {func() *onnx.Model { // one weight for two branches
			n, x := vec()
			w, b := n.Random(0, 0.5, 6, 4), n.Random(0, 0.5, 6)
			at := onnx.AttrInt("transB", 1)
			p := n.Act("Tanh", n.Op("Gemm", []string{x, w, b}, at))
			q := n.Act("Tanh", n.Op("Gemm", []string{n.Op("Mul", []string{x, x}), w, b}, at))
			return n.Done(n.Op("Add", []string{n.Dense(p, 6, 3), n.Dense(q, 6, 3)}), "N", 3)
		}, func(k int, s []int, v []float64) {
			switch k {
			case 0, 1:
				ordered(s, 0, v, six, signs)
			case 2, 4:
				ordered(s, 1, v, six, signs)
			}
		}},
		"used twice": {func() *onnx.Model { // a ReLU layer that follows itself
			n, x := vec()
			h := n.Act("Relu", n.Dense(x, 4, 6))
			w, b := n.Random(0, 0.5, 6, 6), n.Random(0, 0.5, 6)
			for range 2 {
				h = n.Act("Relu", n.Op("Gemm", []string{h, w, b}, onnx.AttrInt("transB", 1)))
			}
			return n.Done(n.Dense(h, 6, 3), "N", 3)
		}, func(k int, s []int, v []float64) {
			switch k {
			case 0, 1, 3:
				ordered(s, 0, v, six, scales)
			case 2:
				ordered(s, 0, v, six, scales)
				ordered(s, 1, v, six, inverted(scales))
			case 4:
				ordered(s, 1, v, six, inverted(scales))
			}
		}},
		"siamese": {func() *onnx.Model { // two layers for two branches
			n, x := vec()
			w, b := n.Random(0, 0.5, 6, 4), n.Random(0, 0.5, 6)
			u, c := n.Random(0, 0.5, 6, 6), n.Random(0, 0.5, 6)
			at := onnx.AttrInt("transB", 1)
			var all []string
			for _, in := range []string{x, n.Op("Mul", []string{x, x})} {
				h := n.Act("Relu", n.Op("Gemm", []string{in, w, b}, at))
				all = append(all, n.Act("Relu", n.Op("Gemm", []string{h, u, c}, at)))
			}
			return n.Done(n.Dense(n.Op("Sub", all), 6, 3), "N", 3)
		}, func(k int, s []int, v []float64) {
			switch k {
			case 0, 1, 3:
				ordered(s, 0, v, six, scales)
			case 2:
				ordered(s, 0, v, six, scales)
				ordered(s, 1, v, six, inverted(scales))
			case 4:
				ordered(s, 1, v, six, inverted(scales))
			}
		}},
		"maxout": {func() *onnx.Model {
			n, x := vec()
			h := n.Op("Max", []string{n.Dense(x, 4, 6), n.Dense(x, 4, 6)})
			h = n.Op("Min", []string{n.Dense(h, 6, 6), n.Dense(h, 6, 6)})
			return n.Done(n.Dense(h, 6, 3), "N", 3)
		}, func(k int, s []int, v []float64) {
			switch k {
			case 0, 1, 2, 3, 5, 7:
				ordered(s, 0, v, six, scales)
			case 4, 6:
				ordered(s, 0, v, six, scales)
				ordered(s, 1, v, six, inverted(scales))
			case 8:
				ordered(s, 1, v, six, inverted(scales))
			}
		}},
		"max0": {func() *onnx.Model {
			n, x := vec()
			h := n.Op("Max", []string{n.Dense(x, 4, 6), n.Const(tensor.FromFloat32([]float32{0}))})
			h = n.Op("Clip", []string{n.Dense(h, 6, 6), n.Const(tensor.FromFloat32([]float32{0}))})
			return n.Done(n.Dense(h, 6, 3), "N", 3)
		}, func(k int, s []int, v []float64) {
			switch k {
			case 0, 1, 4:
				ordered(s, 0, v, six, scales)
			case 3:
				ordered(s, 0, v, six, scales)
				ordered(s, 1, v, six, inverted(scales))
			case 6:
				ordered(s, 1, v, six, inverted(scales))
			}
		}},
		"bn epsilon": {func() *onnx.Model {
			n, x := begin()
			v := make([]float32, 6)
			for i := range v {
				v[i] = float32(0.5 + 0.1*float64(i))
			}
			h := n.Op("BatchNormalization", []string{
				n.Conv(x, 2, 6, 1), n.Random(1, 0.2, 6), n.Random(0, 0.2, 6), n.Random(0, 0.2, 6),
				n.Const(tensor.FromFloat32(v, 6)),
			}, onnx.AttrFloat("epsilon", 1e-3))
			return pool(n, n.Act("Relu", h), 6)
		}, func(k int, s []int, v []float64) {
			const eps = 0.001
			switch k {
			case 0, 1, 4:
				ordered(s, 0, v, nil, scales)
			case 5:
				for i, c := range scales {
					v[i] = c*c*(v[i]+eps) - eps
				}
			}
		}},
	}
}

// A twin that a formula plants is the same, up to symmetries; with one number half as large again it is another model,
// and so it is where one number of what reads the units is.
func TestTwinsByFormula(t *testing.T) {
	for name, f := range formulas() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := f.build()
			r := verdict(t, a, edited(t, a, f.move))
			if r.Verdict != SameUpTo || !(r.Aligned.Before > 0.3) {
				t.Error(r.Sentence)
			}
			n, _ := open(t, a)
			last := len(n.Units.Stored()) - 2 // before the bias of the answer
			for _, at := range []int{0, last} {
				r := verdict(t, a, edited(t, a, func(k int, shape []int, val []float64) {
					if f.move(k, shape, val); k == at {
						val[4] *= 1.5
					}
				}))
				if r.Verdict != Different || r.Good() {
					t.Errorf("with another number in tensor %d: %s", at, r.Sentence)
				}
			}
		})
	}
}
