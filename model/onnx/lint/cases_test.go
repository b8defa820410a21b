package lint_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"nero/data/tensor"
	"nero/model/onnx"
	"nero/model/onnx/facts"
	"nero/model/onnx/lint"
	"nero/model/onnx/onnxpb"
)

const size = 8 // of the pictures of the cases

// table is a stored tensor of one entry for every place, made by f.
func table(b *onnx.Builder, f func(y, x int) float32, shape ...int) string {
	v := make([]float32, size*size)
	for y := range size {
		for x := range size {
			v[y*size+x] = f(y, x)
		}
	}
	return b.Const(tensor.FromFloat32(v, shape...))
}

// fold is the distance from the middle, counted from 1: the same at both ends.
func fold(y int) int { return max(2*y-size+1, size-1-2*y) }

// flip turns an axis around.
func flip(b *onnx.Builder, x string, axis int64) string {
	return b.Op("Slice", []string{x, b.Ints(-1), b.Ints(-1 << 40), b.Ints(axis), b.Ints(-1)})
}

func swap(b *onnx.Builder, x string) string {
	return b.Op("Transpose", []string{x}, onnx.AttrInts("perm", 0, 1, 3, 2))
}

// quarters are the four quarter turns of a map.
func quarters(b *onnx.Builder, x string) []string {
	return []string{x, flip(b, swap(b, x), 2), flip(b, flip(b, x, 2), 3), flip(b, swap(b, x), 3)}
}

// roll shifts a map cyclically by n along an axis, as exporters write it.
func roll(b *onnx.Builder, x string, axis, n int64) string {
	head := b.Op("Slice", []string{x, b.Ints(-n), b.Ints(1 << 40), b.Ints(axis)})
	tail := b.Op("Slice", []string{x, b.Ints(0), b.Ints(-n), b.Ints(axis)})
	return b.Op("Concat", []string{head, tail}, onnx.AttrInt("axis", axis))
}

func mean(b *onnx.Builder, x string) string {
	return b.Op("GlobalAveragePool", []string{b.Op("LeakyRelu", []string{x})})
}

// scale are the scales of a Resize.
func scale(b *onnx.Builder, s float32) string {
	return b.Const(tensor.FromFloat32([]float32{1, 1, s, s}, 4))
}

func random(b *onnx.Builder, r *rand.Rand, shape ...int) string {
	t := vector(r, tensor.Count(shape))
	t.Shape = shape
	return b.Const(t)
}

// regular are weights that turn features of C4 into features of C4: channel 4i+k of the output reads channel 4j+l of
// the input by the filter of (i, j, k-l), turned k times.
func regular(r *rand.Rand, out, in, k int, lifting bool) tensor.Tensor {
	from := 4 * in
	if lifting {
		from = in
	}
	w := make([]float32, 4*out*from*k*k)
	for i := range out {
		for c := range from {
			base := make([]float32, k*k)
			for p := range base {
				base[p] = float32(r.NormFloat64())
			}
			for n := range 4 {
				to := c
				if !lifting {
					to = c/4*4 + (c+n)%4
				}
				for p, v := range base {
					y, x := turn(lint.Element(n), p/k, p%k, k)
					w[(((4*i+n)*from+to)*k+y)*k+x] = v
				}
			}
		}
	}
	return tensor.FromFloat32(w, 4*out, from, k, k)
}

// bias repeats a number for the four channels of a feature.
func bias(r *rand.Rand, n int) tensor.Tensor {
	v := make([]float32, 4*n)
	for i := range n {
		f := float32(r.NormFloat64())
		copy(v[4*i:], []float32{f, f, f, f})
	}
	return tensor.FromFloat32(v, 4*n)
}

const (
	c4 = lint.Subgroup(1<<lint.Identity | 1<<lint.Turn90 | 1<<lint.HalfTurn | 1<<lint.Turn270)
	x  = lint.Subgroup(1<<lint.Identity | 1<<lint.MirrorX)
)

// What is predicted for graphs of all sorts, and measured in float64. Kernels are symmetric unless a case says
// otherwise.
func TestCases(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	sym := func(b *onnx.Builder, m, n, k int) string { return b.Const(kernel(r, m, n, k, true)) }
	free := func(b *onnx.Builder, m, n, k int) string { return b.Const(kernel(r, m, n, k, false)) }
	pads := func(p ...int64) *onnxpb.AttributeProto { return onnx.AttrInts("pads", p...) }
	for _, c := range []struct {
		name      string
		build     func(b *onnx.Builder, x string) string
		structure lint.Subgroup
		weights   lint.Subgroup
		cyclic    [2]int
		// part of the reason of a loss
		lost string
		risk string
		// that the weights are decided
		known bool
	}{
		{"a table without symmetry", func(b *onnx.Builder, x string) string {
			return mean(b, b.Op("Add", []string{x, random(b, r, size, size)}))
		}, lint.Trivial, lint.Trivial, [2]int{}, "position table", lint.RiskPositions, true},
		{
			"a table with a mirror", func(b *onnx.Builder, x string) string {
				return mean(b, b.Op("Mul",
					[]string{x, table(b, func(y, x int) float32 { return float32(y*size + fold(x)) }, 1, 1, size,
						size)}))
			}, lint.Subgroup(1<<lint.Identity | 1<<lint.MirrorX), lint.Subgroup(1<<lint.Identity | 1<<lint.MirrorX),
			[2]int{},
			"position table", lint.RiskPositions, true,
		},
		{"a window function", func(b *onnx.Builder, x string) string {
			return mean(b, b.Op("Mul",
				[]string{x, table(b, func(y, x int) float32 { return float32(fold(y) * fold(x)) }, size, size)}))
		}, lint.Whole, lint.Whole, [2]int{}, "table", lint.RiskPositions, true},
		{"coordinates as channels", func(b *onnx.Builder, x string) string {
			y := b.Op("Slice", []string{x, b.Ints(0), b.Ints(1), b.Ints(1)})
			zero := b.Op("Mul", []string{y, b.Const(tensor.FromFloat32([]float32{0}))})
			rows := b.Op("Add", []string{zero, table(b, func(y, _ int) float32 { return float32(y) }, size, size)})
			return mean(b, b.Op("Conv", []string{
				b.Op("Concat", []string{x, rows}, onnx.AttrInt("axis", 1)),
				sym(b, 3, 3, 1),
			}))
		}, x, x, [2]int{0, 1}, "position table", lint.RiskPositions, true},
		{"a flattened map", func(b *onnx.Builder, x string) string {
			return b.Op("Gemm", []string{b.Op("Flatten", []string{x}), random(b, r, 2*size*size, 3)})
		}, lint.Whole, lint.Trivial, [2]int{}, "row of weights", lint.RiskFlatten, true},
		{"a flattened map with weights that have a mirror", func(b *onnx.Builder, x string) string {
			w := make([]float32, 2*size*size*3)
			for i := range w {
				w[i] = float32(r.NormFloat64())
			}
			for i := range w {
				o, p := i%3, i/3
				if q := p%size + 0; q >= size/2 {
					w[i] = w[(p-q+size-1-q)*3+o]
				}
			}
			return b.Op("MatMul",
				[]string{b.Op("Reshape", []string{x, b.Ints(0, -1)}), b.Const(tensor.FromFloat32(w, 2*size*size, 3))})
		}, lint.Whole, x, [2]int{}, "row of weights", lint.RiskFlatten, true},
		{"a roll written as slices", func(b *onnx.Builder, x string) string {
			return mean(b, b.Op("Add", []string{x, roll(b, x, 3, 3)}))
		}, lint.Rectangle, lint.Rectangle, [2]int{1, 1}, "", "", false},
		{"a roll by half the size", func(b *onnx.Builder, x string) string {
			return mean(b, b.Op("Add", []string{x, roll(b, x, 3, size/2)}))
		}, lint.Rectangle, lint.Rectangle, [2]int{1, 1}, "", "", false},
		{"turned copies of the picture", func(b *onnx.Builder, x string) string {
			w, dense := free(b, 4, 2, 3), random(b, r, 4*16, 5)
			var ys []string
			for _, q := range quarters(b, x) {
				y := b.Op("Relu", []string{b.Op("Conv", []string{q, w}, onnx.AttrInts("strides", 2, 2),
					pads(1, 1, 1, 1))})
				ys = append(ys, b.Op("Gemm", []string{b.Op("Flatten", []string{y}), dense}))
			}
			return b.Op("Mean", ys)
		}, lint.Whole, c4, [2]int{}, "", "", false},
		{"turned copies with weights of their own", func(b *onnx.Builder, x string) string {
			var ys []string
			for _, q := range quarters(b, x) {
				ys = append(ys, mean(b, b.Op("Conv", []string{q, free(b, 4, 2, 3)})))
			}
			return b.Op("Mean", ys)
		}, lint.Whole, lint.Trivial, [2]int{}, "", "", false},
		{"a pad that the next window makes up for", func(b *onnx.Builder, x string) string {
			y := b.Op("Pad", []string{x, b.Ints(0, 0, 1, 1, 0, 0, 0, 0)})
			return b.Op("Conv", []string{y, sym(b, 3, 2, 3)}, pads(0, 0, 1, 1))
		}, lint.Whole, lint.Whole, [2]int{}, "", "", false},
		{
			"a pad on one side", func(b *onnx.Builder, x string) string {
				return b.Op("Conv", []string{b.Op("Pad", []string{x, b.Ints(0, 0, 0, 1, 0, 0, 0, 0)}), sym(b, 3, 2, 3)})
			}, lint.Subgroup(1<<lint.Identity | 1<<lint.MirrorY), lint.Subgroup(1<<lint.Identity | 1<<lint.MirrorY),
			[2]int{},
			"pads one side more", "", true,
		},
		{"a crop on one side", func(b *onnx.Builder, x string) string {
			return mean(b, b.Op("Slice", []string{x, b.Ints(1), b.Ints(1 << 40), b.Ints(2)}))
		}, x, x, [2]int{0, 1}, "leaves out more on one side", "", true},
		{"a crop in the middle", func(b *onnx.Builder, x string) string {
			return mean(b, b.Op("Slice", []string{x, b.Ints(1, 1), b.Ints(-1, -1), b.Ints(2, 3)}))
		}, lint.Whole, lint.Whole, [2]int{}, "", "", true},
		{
			"every second pixel", func(b *onnx.Builder, x string) string {
				return b.Op("Slice", []string{x, b.Ints(0, 0), b.Ints(1<<40, 1<<40), b.Ints(2, 3), b.Ints(2, 2)})
			}, lint.Subgroup(1<<lint.Identity | 1<<lint.Transpose), lint.Subgroup(1<<lint.Identity | 1<<lint.Transpose),
			[2]int{2, 2},
			"leaves out more on one side", "", true,
		},
		{"the four phases as channels", func(b *onnx.Builder, x string) string {
			var ys []string
			for _, p := range [][2]int64{{0, 0}, {1, 0}, {0, 1}, {1, 1}} {
				ys = append(ys, b.Op("Slice", []string{
					x, b.Ints(p[0], p[1]), b.Ints(1<<40, 1<<40), b.Ints(2, 3),
					b.Ints(2, 2),
				}))
			}
			w := kernel(r, 3, 2, 1, true)
			v, err := w.Float32s()
			if err != nil {
				t.Fatal(err)
			}
			var same []float32
			for o := range 3 {
				for range 4 {
					same = append(same, v[2*o], v[2*o+1])
				}
			}
			return b.Op("Conv", []string{
				b.Op("Concat", ys, onnx.AttrInt("axis", 1)),
				b.Const(tensor.FromFloat32(same, 3, 8, 1, 1)),
			})
		}, lint.Whole, lint.Whole, [2]int{2, 2}, "", "", false},
		{"blocks to channels", func(b *onnx.Builder, x string) string {
			return mean(b, b.Op("SpaceToDepth", []string{x}, onnx.AttrInt("blocksize", 2)))
		}, lint.Trivial, lint.Trivial, [2]int{2, 2}, "trades blocks of pixels", "", false},
		{"an oblong window", func(b *onnx.Builder, x string) string {
			return mean(b, b.Op("MaxPool", []string{x}, onnx.AttrInts("kernel_shape", 1, 3), pads(0, 1, 0, 1)))
		}, lint.Rectangle, lint.Rectangle, [2]int{1, 0}, "treats rows and columns differently", "", true},
		{"two oblong windows", func(b *onnx.Builder, x string) string {
			y := b.Op("MaxPool", []string{x}, onnx.AttrInts("kernel_shape", 1, 3), pads(0, 1, 0, 1))
			return mean(b, b.Op("MaxPool", []string{y}, onnx.AttrInts("kernel_shape", 3, 1), pads(1, 0, 1, 0)))
		}, lint.Whole, lint.Whole, [2]int{}, "", "", false},
		{"a mean over rows", func(b *onnx.Builder, x string) string {
			return b.Op("ReduceMax", []string{b.Op("ReduceMean", []string{x}, onnx.AttrInts("axes", 2))},
				onnx.AttrInts("axes", 3))
		}, lint.Rectangle, lint.Rectangle, [2]int{1, 1}, "", "", false},
		{"nearest to an odd factor", func(b *onnx.Builder, x string) string {
			return b.Op("Resize", []string{x, "", scale(b, 3)}, onnx.AttrString("mode", "nearest"))
		}, lint.Whole, lint.Whole, [2]int{1, 1}, "", "", true},
		{
			"nearest with asymmetric coordinates", func(b *onnx.Builder, x string) string {
				return b.Op("Resize", []string{x, "", scale(b, 0.625)}, onnx.AttrString("mode", "nearest"),
					onnx.AttrString("coordinate_transformation_mode", "asymmetric"),
					onnx.AttrString("nearest_mode", "floor"))
			}, lint.Subgroup(1<<lint.Identity | 1<<lint.Transpose), lint.Subgroup(1<<lint.Identity | 1<<lint.Transpose),
			[2]int{},
			"asymmetric coordinates", lint.RiskResize, true,
		},
		{"linear with corners aligned", func(b *onnx.Builder, x string) string {
			return b.Op("Resize", []string{x, "", scale(b, 0.625)}, onnx.AttrString("mode", "linear"),
				onnx.AttrString("coordinate_transformation_mode", "align_corners"))
		}, lint.Whole, lint.Whole, [2]int{}, "", "", true},
		{
			"linear with asymmetric coordinates", func(b *onnx.Builder, x string) string {
				return b.Op("Resize", []string{x, "", scale(b, 2)}, onnx.AttrString("mode", "linear"),
					onnx.AttrString("coordinate_transformation_mode", "asymmetric"))
			}, lint.Subgroup(1<<lint.Identity | 1<<lint.Transpose), lint.Subgroup(1<<lint.Identity | 1<<lint.Transpose),
			[2]int{},
			"asymmetric coordinates", "", true,
		},
		{"cubic", func(b *onnx.Builder, x string) string {
			return b.Op("Resize", []string{x, "", scale(b, 2)}, onnx.AttrString("mode", "cubic"))
		}, lint.Whole, lint.Whole, [2]int{}, "", "", true},
		{
			"output padding", func(b *onnx.Builder, x string) string {
				return b.Op("ConvTranspose", []string{x, sym(b, 2, 3, 3)}, onnx.AttrInts("strides", 2, 2),
					pads(1, 1, 1, 1),
					onnx.AttrInts("output_padding", 1, 1))
			}, lint.Subgroup(1<<lint.Identity | 1<<lint.Transpose), lint.Subgroup(1<<lint.Identity | 1<<lint.Transpose),
			[2]int{},
			"output padding", "", true,
		},
		{
			"a running sum", func(b *onnx.Builder, x string) string {
				return mean(b, b.Op("CumSum", []string{x, b.Const(tensor.FromInt64([]int64{3}))}))
			}, lint.Subgroup(1<<lint.Identity | 1<<lint.MirrorY), lint.Subgroup(1<<lint.Identity | 1<<lint.MirrorY),
			[2]int{1, 0},
			"sums up from one end", "", true,
		},
		{
			"the place of the maximum", func(b *onnx.Builder, x string) string {
				y := b.Op("ReduceMax", []string{x}, onnx.AttrInts("axes", 1, 2), onnx.AttrInt("keepdims", 0))
				return b.Op("Cast", []string{b.Op("ArgMax", []string{y}, onnx.AttrInt("axis", 1))},
					onnx.AttrInt("to", int64(tensor.Float32)))
			}, lint.Subgroup(1<<lint.Identity | 1<<lint.MirrorY), lint.Subgroup(1<<lint.Identity | 1<<lint.MirrorY),
			[2]int{1, 0},
			"answers with a place", lint.RiskTies, true,
		},
		{"attention over places", func(b *onnx.Builder, x string) string {
			tokens := b.Op("Transpose", []string{b.Op("Reshape", []string{x, b.Ints(0, 2, -1)})},
				onnx.AttrInts("perm", 0, 2, 1))
			q, k, v := b.Op("MatMul", []string{tokens, random(b, r, 2, 4)}),
				b.Op("MatMul", []string{tokens, random(b, r, 2, 4)}),
				b.Op("MatMul", []string{tokens, random(b, r, 2, 4)})
			a := b.Op("Softmax",
				[]string{b.Op("MatMul", []string{q, b.Op("Transpose", []string{k}, onnx.AttrInts("perm", 0, 2, 1))})},
				onnx.AttrInt("axis", 2))
			y := b.Op("Transpose", []string{b.Op("MatMul", []string{a, v})}, onnx.AttrInts("perm", 0, 2, 1))
			return b.Op("Reshape", []string{y, b.Ints(0, 4, size, size)})
		}, lint.Whole, lint.Whole, [2]int{1, 1}, "", "", true},
		{"attention with a table of places", func(b *onnx.Builder, x string) string {
			tokens := b.Op("Transpose", []string{b.Op("Reshape", []string{x, b.Ints(0, 2, -1)})},
				onnx.AttrInts("perm", 0, 2, 1))
			tokens = b.Op("Add", []string{tokens, random(b, r, 1, size*size, 2)})
			k := b.Op("MatMul", []string{tokens, random(b, r, 2, 4)})
			a := b.Op("Softmax",
				[]string{b.Op("MatMul",
					[]string{tokens, b.Op("Transpose", []string{b.Op("MatMul", []string{tokens, random(b, r, 2, 2)})},
						onnx.AttrInts("perm", 0, 2, 1))})}, onnx.AttrInt("axis", 2))
			return b.Op("ReduceMean", []string{b.Op("MatMul", []string{a, k})}, onnx.AttrInts("axes", 1))
		}, lint.Trivial, lint.Trivial, [2]int{}, "position table", lint.RiskPositions, true},
		{"a group convolution, pooled", func(b *onnx.Builder, x string) string {
			y := b.Op("Relu", []string{b.Op("Conv",
				[]string{x, b.Const(regular(r, 3, 2, 3, true)), b.Const(bias(r, 3))}, pads(1, 1, 1, 1))})
			y = b.Op("Relu", []string{b.Op("Conv",
				[]string{y, b.Const(regular(r, 2, 3, 3, false)), b.Const(bias(r, 2))})})
			y = b.Op("ReduceMax", []string{b.Op("Reshape", []string{y, b.Ints(0, 2, 4, 6, 6)})},
				onnx.AttrInts("axes", 2), onnx.AttrInt("keepdims", 0))
			return b.Op("Gemm", []string{
				b.Op("Flatten", []string{b.Op("GlobalAveragePool", []string{y})}),
				random(b, r, 2, 5),
			})
		}, lint.Whole, c4, [2]int{}, "kernel of output channel", "", true},
		{"a group convolution, not pooled over the group", func(b *onnx.Builder, x string) string {
			y := b.Op("Relu", []string{b.Op("Conv",
				[]string{x, b.Const(regular(r, 3, 2, 3, true)), b.Const(bias(r, 3))}, pads(1, 1, 1, 1))})
			return b.Op("GlobalAveragePool", []string{y})
		}, lint.Whole, lint.Trivial, [2]int{}, "permutation of its channels", "", true},
		{"a group convolution with one wrong bias", func(b *onnx.Builder, x string) string {
			wrong := bias(r, 3)
			v, err := wrong.Float32s()
			if err != nil {
				t.Fatal(err)
			}
			v[2] += 1
			y := b.Op("Relu", []string{b.Op("Conv", []string{x, b.Const(regular(r, 3, 2, 3, true)), b.Const(wrong)},
				pads(1, 1, 1, 1))})
			return mean(b, b.Op("ReduceSum", []string{y, b.Ints(1)}))
		}, lint.Whole, lint.Trivial, [2]int{}, "kernel of output channel", "", true},
		{"channels weighted by a squeeze", func(b *onnx.Builder, x string) string {
			y := b.Op("Conv", []string{x, sym(b, 4, 2, 3)}, pads(1, 1, 1, 1))
			g := b.Op("Sigmoid",
				[]string{b.Op("Conv", []string{b.Op("GlobalAveragePool", []string{y}), sym(b, 4, 4, 1)})})
			return b.Op("Mul", []string{y, g})
		}, lint.Whole, lint.Whole, [2]int{}, "", "", true},
		{"channel by channel", func(b *onnx.Builder, x string) string {
			return b.Op("Conv", []string{x, sym(b, 4, 1, 3)}, onnx.AttrInt("group", 2), pads(1, 1, 1, 1))
		}, lint.Whole, lint.Whole, [2]int{}, "", "", true},
		{"pixels out of channels", func(b *onnx.Builder, x string) string {
			return b.Op("DepthToSpace", []string{b.Op("Conv", []string{x, sym(b, 4, 2, 3)}, pads(1, 1, 1, 1))},
				onnx.AttrInt("blocksize", 2))
		}, lint.Whole, lint.Trivial, [2]int{}, "pixels of a block", "", true},
		{"pixels out of channels that turn", func(b *onnx.Builder, x string) string {
			y := b.Op("Conv", []string{x, b.Const(regular(r, 1, 2, 3, true))}, pads(1, 1, 1, 1))
			y = b.Op("Gather", []string{y, b.Ints(0, 3, 1, 2)}, onnx.AttrInt("axis", 1))
			return b.Op("DepthToSpace", []string{y}, onnx.AttrInt("blocksize", 2), onnx.AttrString("mode", "CRD"))
		}, lint.Whole, c4, [2]int{}, "kernel of output channel", "", true},
		{"normalizations", func(b *onnx.Builder, x string) string {
			y := b.Op("InstanceNormalization", []string{x, random(b, r, 2), random(b, r, 2)})
			y = b.Op("LayerNormalization", []string{
				b.Op("Transpose", []string{y}, onnx.AttrInts("perm", 0, 2, 3, 1)),
				random(b, r, 2), random(b, r, 2),
			})
			y = b.Op("Transpose", []string{y}, onnx.AttrInts("perm", 0, 3, 1, 2))
			return b.Op("BatchNormalization", []string{
				y, random(b, r, 2), random(b, r, 2), random(b, r, 2),
				b.Const(tensor.FromFloat32([]float32{1, 2}, 2)),
			})
		}, lint.Whole, lint.Whole, [2]int{1, 1}, "", "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := onnx.NewBuilder(17)
			m := finish(t, b, c.build(b, b.Input("x", tensor.Float32, "N", 2, size, size)))
			p := predictModel(t, m, lint.Options{})
			got := elements(t, m, 2, size, 1)
			if !p.StructureKnown || p.Structure != c.structure {
				t.Errorf("structure: %v %v, want %v", p.Structure.Names(), p.Unknown, c.structure.Names())
			}
			if c.known && !p.WeightsKnown {
				t.Errorf("the weights are not decided: %v", p.Unknown)
			}
			decided := p.Weights
			for _, e := range p.Undecided {
				decided |= 1 << e
			}
			if p.Weights|got != got || decided|got != decided || p.WeightsKnown && p.Weights != got || p.WeightsKnown &&
				p.Weights != c.weights {
				t.Errorf("weights: %v, undecided %v, measured %v, want %v", p.Weights.Names(), p.Undecided, got.Names(),
					c.weights.Names())
			}
			if !p.Shifts.CyclicKnown || c.cyclic != p.Shifts.Cyclic {
				t.Errorf("cyclic shifts: %v, want %v", p.Shifts, c.cyclic)
			}
			if !slices.ContainsFunc(p.Losses, func(l lint.Loss) bool { return strings.Contains(l.Reason, c.lost) }) &&
				c.lost != "" {
				t.Errorf("no loss says %q: %v", c.lost, p.Losses)
			}
			if c.risk != "" && !slices.ContainsFunc(p.Risks, func(x lint.Risk) bool { return x.Kind == c.risk }) {
				t.Errorf("no risk %s: %v", c.risk, p.Risks)
			}
		})
	}
}

// What nero inspect says of the structure of one layer is what is predicted here. Of several layers it says less: it
// does not see that a later layer makes up for what an earlier one breaks.
func TestInspectAgrees(t *testing.T) {
	words := map[string]string{
		"D2 diagonal": "D2 (diagonals)", "mirror-x": "D1 (left-right)", "mirror-y": "D1 (top-bottom)",
		"transpose": "D1 (main diagonal)", "antitranspose": "D1 (other diagonal)",
	}
	cells := grid()
	r := rand.New(rand.NewPCG(41, 42))
	n := 0
	for n < limit(1000, 40) {
		layers := []cell{cells[r.IntN(len(cells))]}
		size := 6 + r.IntN(7)
		if !fits(layers, size) {
			continue
		}
		b := onnx.NewBuilder(19)
		y, _ := layers[0].add(b, r, b.Input("x", tensor.Float32, "N", 2, size, size), 2, true)
		m := finish(t, b, y)
		f, err := facts.Infer(m, map[string][]int{"x": {1, 2, size, size}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		p, err := lint.Predict(t.Context(), f, lint.Options{})
		if err != nil {
			t.Fatal(err)
		}
		n++
		if out := f.Shapes[y]; out[2] == 1 || layers[0].ceil && layers[0].include {
			continue // a single place; a last window whose divisor does not count what lies beyond the padding
		}
		s := f.Symmetry("")
		want := s.Group
		if w, ok := words[want]; ok {
			want = w
		}
		if s.Group != "" && p.Structure.String() != want {
			t.Errorf("%v on %d: inspect says %s, predicted %s", layers, size, want, p.Structure)
		}
	}
}
