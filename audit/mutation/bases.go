package mutation

import (
	"math"

	"nero/data/tensor"
	"nero/internal/elementary"
	"nero/model/onnx"
	"nero/model/onnx/onnxpb"
)

// plant says what is broken. The zero plant breaks nothing.
type plant struct {
	// one weight of the second layer differs
	kernel bool
	// one output channel has a lopsided kernel
	channel bool
	// the picture has an even side, so the strided grid is off the centre
	stride bool
	// a position table after the first layer
	table bool
	// zero padding where the group needs it to go around
	zeros bool
	// a kernel that is its own turn and not its own mirror image
	chiral bool
	// the picture or the points are moved before anything else
	shifted bool
	// the output is transposed
	transpose bool
	// sums are rounded to float16 on the way
	half bool
	// normalisation by the statistics of the batch
	training bool
	// values are dropped at random
	dropout bool
	// the output is constant
	dead bool
	// the place in the batch is added
	leak bool
	// a root of a negative number for some orientations
	nan bool
	// a fast ripple, small in value and large in slope
	ripple bool
	// a bump of this width in degrees at one orientation; 0 for none
	bump float64
	// one axis counts more than the other
	metric bool
	// points are weighted by their place in the list
	order bool
	// a componentwise nonlinearity on vectors
	relu bool
	// the output is multiplied by this; 0 for 1
	scale float64
	// and this is added
	offset float64
	// weights of one element of the group convolution differ
	tie bool
	// heights over the plane xy count, with this factor
	height float64
	// distances from the origin count
	origin float64
	// volumes count, which know the hand
	hand float64
	// an axial vector in place of a polar one, or beside it if hand is set
	axial float64
	// the polar axis of irreps is z, not y
	polar bool
	// the other parity
	typed bool
	// pairs that are farther apart count nothing
	cutoff float64
	// forces of a head of their own, off by this in the exponent
	head float64
	// a running state along the rows
	running bool
	// the share that a state keeps from frame to frame
	keep float64
}

// side of the pictures; even when the plant is about strides.
const side = 15

func (p plant) side() int {
	if p.stride {
		return side + 1
	}
	return side
}

// finish applies the plants that act on the output, y of shape [N, k].
func (n *net) finish(p plant, y string, k int) string {
	if p.dead {
		y = n.op("dead", "Add", []string{n.op("zero", "Mul", []string{y, n.number(0)}), n.floats(n.normal(k, 1), k)})
	}
	if p.leak {
		one := n.op("ones", "Add", []string{n.op("nothing", "Mul", []string{y, n.number(0)}), n.number(0.02)})
		y = n.op("leak", "Add",
			[]string{y, n.op("position", "CumSum", []string{one, n.b.Const(tensor.FromInt64([]int64{0}))})})
	}
	if p.scale != 0 {
		y = n.op("scaled", "Mul", []string{y, n.number(p.scale)})
	}
	if p.offset != 0 {
		y = n.op("offset", "Add", []string{y, n.number(p.offset)})
	}
	return y
}

// flat are the numbers of the input, [N, size].
func (n *net) flat(x string) string { return n.op("flat", "Flatten", []string{x}) }

// project is <w, x> with seeded w of unit size, [N, 1].
func (n *net) project(name, x string, size int) string {
	return n.op(name, "MatMul", []string{n.flat(x), n.floats(n.normal(size, 1/math.Sqrt(float64(size))), size, 1)})
}

// scores is the picture classifier: convolution, pooling, convolution, mean over the picture, dense layer. Odd kernels
// that have all symmetries of the square and a strided grid on the centre: invariant under D4.
func scores(p plant) (*onnx.Model, error) {
	n := newNet(11)
	s := p.side()
	x := n.b.Input("x", tensor.Float32, "N", 1, s, s)
	h := x
	if p.shifted {
		zero := n.number(0)
		h = n.op("cut", "Slice", []string{h, n.b.Ints(0, 0), n.b.Ints(int64(s-1), int64(s-1)), n.b.Ints(2, 3)})
		h = n.op("push", "Pad",
			[]string{h, n.b.Ints(0, 0, 1, 1, 0, 0, 0, 0), n.op("scalar", "Squeeze", []string{zero})})
	}
	w := n.kernels(4, 1, 3, true)
	h = n.conv("conv1", h, w, 4, 1, 3, 1)
	if p.table {
		h = n.op("table", "Add", []string{h, n.floats(n.normal(s*s, 0.3), 1, 1, s, s)})
	}
	if p.training {
		h = n.batchNorm("norm", h)
	}
	h = n.op("relu1", "Relu", []string{h})
	if p.dropout {
		keep := n.op("keep", "Cast",
			[]string{n.op("more", "Greater",
				[]string{n.op("random", "RandomUniformLike", []string{h}), n.number(0.1)})},
			onnx.AttrInt("to", int64(onnxpb.TensorProto_FLOAT)))
		h = n.op("dropout", "Mul", []string{h, keep})
	}
	h = n.op("pool", "AveragePool", []string{h}, onnx.AttrInts("kernel_shape", 3, 3), onnx.AttrInts("strides", 2, 2),
		onnx.AttrInts("pads", 1, 1, 1, 1), onnx.AttrInt("count_include_pad", 1))
	w = n.kernels(6, 4, 3, true)
	if p.kernel {
		for c := range 6 {
			w[c*4*9+9+1] += 0.3 // one weight of the kernel from channel 1 to every channel
		}
	}
	h = n.conv("conv2", h, w, 6, 4, 3, 1)
	h = n.op("relu2", "Relu", []string{h})
	if p.chiral {
		h = n.conv("conv3", h, n.kernels(6, 6, 5, false), 6, 6, 5, 2)
		h = n.op("relu3", "Relu", []string{h})
	}
	if p.half {
		h = n.op("rows", "ReduceSum", []string{h, n.b.Ints(3)}, onnx.AttrInt("keepdims", 1))
		h = n.op("half", "Cast", []string{h}, onnx.AttrInt("to", int64(onnxpb.TensorProto_FLOAT16)))
		h = n.op("full", "Cast", []string{h}, onnx.AttrInt("to", int64(onnxpb.TensorProto_FLOAT)))
		h = n.op("columns", "ReduceSum", []string{h, n.b.Ints(2)}, onnx.AttrInt("keepdims", 1))
	} else {
		h = n.op("mean", "GlobalAveragePool", []string{h})
	}
	y := n.dense("dense", n.op("vector", "Flatten", []string{n.op("gain", "Mul", []string{h, n.number(8)})}), 6, 5)
	if p.nan {
		y = n.root(y, x, s*s, 0.25)
	}
	if p.ripple {
		y = n.ripple(y, x, s*s)
	}
	return n.model(n.finish(p, y, 5), 5)
}

// root adds nothing, through the root of a projection and a constant, which is negative for some orientations of some
// inputs.
func (n *net) root(y, x string, size int, above float64) string {
	q := n.op("root", "Sqrt",
		[]string{n.op("above", "Add", []string{n.project("projection", x, size), n.number(above)})})
	return n.op("guard", "Add", []string{y, n.op("none", "Mul", []string{q, n.number(0)})})
}

// ripple adds 1e-6·sin(3e5·<w, x>): less than any threshold, with a slope of 0.3.
func (n *net) ripple(y, x string, size int) string {
	q := n.op("fast", "Sin", []string{n.op("many", "Mul", []string{n.project("projection", x, size), n.number(3e5)})})
	return n.op("ripple", "Add", []string{y, n.op("small", "Mul", []string{q, n.number(1e-6)})})
}

// batchNorm is a batch normalisation in training form, written out: the mean and the variance of the batch at hand.
// Engines for inference refuse the operator itself in that form, exporters write it like this.
func (n *net) batchNorm(name, h string) string {
	axes := onnx.AttrInts("axes", 0, 2, 3)
	mean := n.op(name+"-mean", "ReduceMean", []string{h}, axes)
	d := n.op(name+"-center", "Sub", []string{h, mean})
	v := n.op(name+"-variance", "ReduceMean", []string{n.op(name+"-square", "Mul", []string{d, d})}, axes)
	sd := n.op(name+"-deviation", "Sqrt", []string{n.op(name+"-epsilon", "Add", []string{v, n.number(1e-5)})})
	return n.op(name, "Div", []string{d, sd})
}

// picture is the model from pictures to pictures, two convolutions with symmetric kernels: equivariant under D4.
func picture(p plant) (*onnx.Model, error) {
	n := newNet(12)
	s := side
	x := n.b.Input("x", tensor.Float32, "N", 1, s, s)
	h := n.conv("conv1", x, n.kernels(4, 1, 3, true), 4, 1, 3, 1)
	if p.table {
		h = n.op("table", "Add", []string{h, n.floats(n.normal(s*s, 0.3), 1, 1, s, s)})
	}
	if p.training {
		h = n.batchNorm("norm", h)
	}
	h = n.op("relu1", "Relu", []string{h})
	w := n.kernels(3, 4, 3, true)
	if p.kernel {
		for c := range 3 {
			w[c*4*9+9+1] += 0.3
		}
	}
	if p.channel {
		w[2*4*9+9+1] += 0.6
	}
	y := n.conv("conv2", h, w, 3, 4, 3, 1)
	if p.chiral {
		y = n.conv("conv3", n.op("relu2", "Relu", []string{y}), n.kernels(3, 3, 5, false), 3, 3, 5, 2)
	}
	if p.transpose {
		y = n.op("transpose", "Transpose", []string{y}, onnx.AttrInts("perm", 0, 1, 3, 2))
	}
	return n.model(n.finish(p, y, 1), 3, s, s)
}

// rolledSide is that of the pictures whose borders are joined.
const rolledSide = 12

// rolled is the model from pictures to pictures whose borders are joined: equivariant under cyclic shifts, with generic
// kernels.
func rolled(p plant) (*onnx.Model, error) {
	n := newNet(13)
	const s = rolledSide
	x := n.b.Input("x", tensor.Float32, "N", 1, s, s)
	layer := func(name, h string, out, in int) string {
		w := n.normal(out*in*9, 0.5)
		if p.zeros {
			return n.conv(name, h, w, out, in, 3, 1)
		}
		return n.conv(name, n.around(name+"-around", h, 1, s), w, out, in, 3, 0)
	}
	h := n.op("relu1", "Relu", []string{layer("conv1", x, 4, 1)})
	if p.table {
		h = n.op("table", "Add", []string{h, n.floats(n.normal(s*s, 0.3), 1, 1, s, s)})
	}
	if p.stride {
		h = n.op("pool", "MaxPool", []string{h}, onnx.AttrInts("kernel_shape", 2, 2), onnx.AttrInts("strides", 2, 2))
		h = n.op("enlarge", "Resize", []string{h, "", n.floats([]float32{1, 1, 2, 2}, 4)},
			onnx.AttrString("mode", "nearest"), onnx.AttrString("coordinate_transformation_mode", "asymmetric"),
			onnx.AttrString("nearest_mode", "floor"))
	}
	return n.model(n.finish(p, layer("conv2", h, 2, 4), 1), 2, s, s)
}

// lifted is a group convolution over C4: the lifting layer turns one kernel four times, the second layer turns and
// exchanges channels, then the mean over the picture and the turns. Its features are regular representations.
func lifted(p plant) (*onnx.Model, error) {
	n := newNet(14)
	const s, fields = side, 3
	x := n.b.Input("x", tensor.Float32, "N", 1, s, s)
	var w []float32
	for range fields {
		k := n.normal(9, 0.6)
		for range 4 {
			w = append(w, k...)
			k = turn(k, 3)
		}
	}
	h := n.op("relu1", "Relu", []string{n.convPlain("lift", x, w, 4*fields, 1, 3, 1)})
	// Channel (field a, turn i) of the output reads channel (b, j) of the input with the kernel k[a][b][j-i] turned i
	// times.
	w = make([]float32, 4*fields*4*fields*9)
	for a := range fields {
		for b := range fields {
			for d := range 4 {
				k := n.normal(9, 0.3)
				for i := range 4 {
					copy(w[(((a*4+i)*4*fields)+(b*4+(i+d)%4))*9:], k)
					k = turn(k, 3)
				}
			}
		}
	}
	if p.tie {
		w[(((1*4+2)*4*fields)+5)*9+1] += 0.5
	}
	h = n.op("relu2", "Relu", []string{n.convPlain("group", h, w, 4*fields, 4*fields, 3, 1)})
	h = n.op("mean", "GlobalAveragePool", []string{h})
	h = n.op("fields", "Reshape", []string{h, n.b.Ints(-1, fields, 4)})
	h = n.op("turns", "ReduceMean", []string{h}, onnx.AttrInts("axes", 2), onnx.AttrInt("keepdims", 0))
	return n.model(n.finish(p, n.dense("dense", h, fields, 4), 4), 4)
}

// convPlain is a convolution without a bias.
func (n *net) convPlain(name, x string, w []float32, out, in, s, pad int) string {
	q := int64(pad)
	return n.op(name, "Conv", []string{x, n.floats(w, out, in, s, s)},
		onnx.AttrInts("kernel_shape", int64(s), int64(s)), onnx.AttrInts("pads", q, q, q, q))
}

// points of the sets, each with two coordinates.
const points = 8

// set is the model of a set of points in the plane: all inner products, a pointwise function of them, their mean over
// the set, a dense layer. Invariant under O(2) about the origin and under every permutation of the points.
func set(p plant) (*onnx.Model, error) {
	n := newNet(15)
	x := n.b.Input("x", tensor.Float32, "N", 2*points)
	q := n.op("points", "Reshape", []string{x, n.b.Ints(-1, points, 2)})
	if p.shifted {
		q = n.op("moved", "Add", []string{q, n.floats([]float32{0.4, -0.3}, 1, 1, 2)})
	}
	other := q
	if p.metric {
		other = n.op("metric", "MatMul", []string{q, n.floats([]float32{1, 0, 0, 1.2}, 2, 2)})
	}
	if p.relu {
		other = n.op("componentwise", "Relu", []string{q})
		q = other
	}
	gram := n.op("products", "MatMul",
		[]string{q, n.op("turned", "Transpose", []string{other}, onnx.AttrInts("perm", 0, 2, 1))})
	if p.chiral {
		// The area between two points changes its sign under mirrors and not under turns.
		j := n.op("quarter", "MatMul", []string{q, n.floats([]float32{0, 1, -1, 0}, 2, 2)})
		area := n.op("areas", "MatMul",
			[]string{j, n.op("other", "Transpose", []string{q}, onnx.AttrInts("perm", 0, 2, 1))})
		first := n.op("after", "Mul", []string{area, n.floats(upper(points), 1, points, points)})
		gram = n.op("chiral", "Add", []string{gram, first})
	}
	h := n.op("bounded", "Tanh", []string{gram})
	if p.order {
		w := make([]float32, points*points)
		for i := range w {
			w[i] = float32(1 + float64(0.1*float64(i%points)))
		}
		h = n.op("order", "Mul", []string{h, n.floats(w, 1, points, points)})
	}
	// Three means over all pairs: of the numbers, their squares and their cubes.
	var means []string
	power := h
	for i, name := range []string{"mean1", "mean2", "mean3"} {
		if i > 0 {
			power = n.op("power"+string(rune('1'+i)), "Mul", []string{power, h})
		}
		means = append(means, n.op(name, "ReduceMean", []string{power}, onnx.AttrInts("axes", 1, 2),
			onnx.AttrInt("keepdims", 0)))
	}
	col := make([]string, len(means))
	for i, m := range means {
		col[i] = n.op("column"+string(rune('1'+i)), "Unsqueeze", []string{m, n.b.Ints(1)})
	}
	h = n.op("features", "Concat", col, onnx.AttrInt("axis", 1))
	y := n.dense("dense", h, 3, 4)
	if p.nan {
		y = n.root(y, x, 2*points, 1.5)
	}
	if p.ripple {
		y = n.ripple(y, x, 2*points)
	}
	if p.bump > 0 {
		y = n.bump(y, q, p.bump)
	}
	return n.model(n.finish(p, y, 4), 4)
}

// upper has ones above the diagonal.
func upper(n int) []float32 {
	w := make([]float32, n*n)
	for i := range n {
		for j := i + 1; j < n; j++ {
			w[i*n+j] = 1
		}
	}
	return w
}

// bump adds a bump of the given width in degrees where the first point stands at 40 degrees.
func (n *net) bump(y, q string, width float64) string {
	first := n.op("first", "Squeeze",
		[]string{n.op("take", "Slice", []string{q, n.b.Ints(0), n.b.Ints(1), n.b.Ints(1)}), n.b.Ints(1)})
	length := n.op("length", "ReduceL2", []string{first}, onnx.AttrInts("axes", 1), onnx.AttrInt("keepdims", 1))
	unit := n.op("unit", "Div", []string{first, length})
	s, c := elementary.Sincos(40 * math.Pi / 180)
	along := n.op("along", "MatMul", []string{unit, n.floats([]float32{float32(c), float32(s)}, 2, 1)})
	half := width / 2 * math.Pi / 180
	k := math.Ln2 / (1 - elementary.Cos(half)) // half of its height at half its width
	e := n.op("steep", "Mul", []string{n.op("under", "Sub", []string{along, n.number(1)}), n.number(k)})
	return n.op("bump", "Add", []string{y, n.op("gauss", "Exp", []string{e})})
}

// field is the model from a set of points to a vector, the mean of the points weighted by a function of their lengths:
// equivariant under O(2).
func field(p plant) (*onnx.Model, error) {
	n := newNet(16)
	x := n.b.Input("x", tensor.Float32, "N", 2*points)
	q := n.op("points", "Reshape", []string{x, n.b.Ints(-1, points, 2)})
	if p.shifted {
		q = n.op("moved", "Add", []string{q, n.floats([]float32{0.4, -0.3}, 1, 1, 2)})
	}
	length := n.op("lengths", "ReduceSumSquare", []string{q}, onnx.AttrInts("axes", 2), onnx.AttrInt("keepdims", 1))
	weight := n.op("weights", "Tanh", []string{n.op("shift", "Add", []string{length, n.number(-0.5)})})
	v := n.op("vectors", "Mul", []string{q, weight})
	if p.relu {
		v = n.op("componentwise", "Relu", []string{v})
	}
	if p.metric {
		v = n.op("metric", "MatMul", []string{v, n.floats([]float32{1, 0, 0, 1.2}, 2, 2)})
	}
	y := n.op("mean", "ReduceMean", []string{v}, onnx.AttrInts("axes", 1), onnx.AttrInt("keepdims", 0))
	if p.transpose {
		y = n.op("swap", "MatMul", []string{y, n.floats([]float32{0, 1, 1, 0}, 2, 2)})
	}
	if p.channel {
		y = n.op("channel", "Mul", []string{y, n.floats([]float32{1, 1.3}, 2)})
	}
	return n.model(n.finish(p, y, 2), 2)
}
