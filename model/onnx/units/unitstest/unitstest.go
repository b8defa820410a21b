// Package unitstest makes small networks whose units are known, to test what looks for them.
package unitstest

import (
	"encoding/binary"
	"math"
	"math/rand/v2"

	"nero/data/tensor"
	"nero/internal/elementary"
	"nero/model/onnx"
	"nero/model/onnx/onnxpb"
)

// Net builds a network with random weights.
type Net struct {
	*onnx.Builder

	r *rand.Rand
}

// New begins a network.
func New(seed uint64) *Net {
	return &Net{onnx.NewBuilder(17), rand.New(rand.NewPCG(seed, 1))}
}

// Random stores normal numbers of a deviation around a mean.
func (n *Net) Random(mean, deviation float64, shape ...int) string {
	x := make([]float32, tensor.Count(shape))
	for i := range x {
		x[i] = float32(mean + float64(deviation*elementary.Normal(n.r)))
	}
	return n.Const(tensor.FromFloat32(x, shape...))
}

// Dense is a layer of weights with a bias, on the last axis.
func (n *Net) Dense(x string, in, out int) string {
	return n.Op("Gemm", []string{x, n.Random(0, 1/math.Sqrt(float64(in)), out, in), n.Random(0, 0.3, out)},
		onnx.AttrInt("transB", 1))
}

// Linear is a layer of weights without a bias, on the last axis.
func (n *Net) Linear(x string, in, out int) string {
	return n.Op("MatMul", []string{x, n.Random(0, 1/math.Sqrt(float64(in)), in, out)})
}

// Conv is a convolution of 3×3 with a bias, with zeros around.
func (n *Net) Conv(x string, in, out, groups int) string {
	return n.Op("Conv", []string{
		x, n.Random(0, 1/math.Sqrt(float64(9*in/groups)), out, in/groups, 3, 3), n.Random(0, 0.3, out),
	}, onnx.AttrInts("kernel_shape", 3, 3), onnx.AttrInts("pads", 1, 1, 1, 1), onnx.AttrInt("group", int64(groups)))
}

// Act is an operator on single numbers.
func (n *Net) Act(op, x string) string { return n.Op(op, []string{x}) }

// Done is the network with an answer of so many numbers.
func (n *Net) Done(y string, out ...any) *onnx.Model {
	n.Output(y, tensor.Float32, out...)
	m, err := n.Model()
	if err != nil {
		panic(err)
	}
	return m
}

// MLP has two hidden layers, of 7 and 5 units, after each of which an operator stands.
func MLP(seed uint64, act string) *onnx.Model {
	n := New(seed)
	x := n.Input("x", tensor.Float32, "N", 4)
	h := n.Act(act, n.Dense(x, 4, 7))
	h = n.Act(act, n.Dense(h, 7, 5))
	return n.Done(n.Dense(h, 5, 3), "N", 3)
}

// CNN has a convolution of 6 channels with a batch norm, one of 8 and a dense layer that reads their places one by one.
func CNN(seed uint64) *onnx.Model {
	n := New(seed)
	x := n.Input("x", tensor.Float32, "N", 2, 8, 8)
	h := n.Act("Relu", n.stored(n.Conv(x, 2, 6, 1), 6))
	h = n.Op("MaxPool", []string{h}, onnx.AttrInts("kernel_shape", 2, 2), onnx.AttrInts("strides", 2, 2))
	h = n.Act("LeakyRelu", n.Conv(h, 6, 8, 1))
	h = n.Op("Flatten", []string{h}, onnx.AttrInt("axis", 1))
	return n.Done(n.Dense(h, 8*4*4, 3), "N", 3)
}

// stored is a batch norm with stored statistics whose variances are numbers of the file.
func (n *Net) stored(x string, channels int) string {
	v := make([]float32, channels)
	for i := range v {
		v[i] = float32(0.5 + n.r.Float64())
	}
	return n.Op("BatchNormalization", []string{
		x, n.Random(1, 0.2, channels), n.Random(0, 0.2, channels), n.Random(0, 0.2, channels),
		n.Const(tensor.FromFloat32(v, channels)),
	})
}

// Residual has a stream of 6 channels to which two blocks add, with 4 and 5 channels inside.
func Residual(seed uint64) *onnx.Model {
	n := New(seed)
	x := n.Input("x", tensor.Float32, "N", 2, 6, 6)
	h := n.Act("Relu", n.stored(n.Conv(x, 2, 6, 1), 6))
	for _, inside := range []int{4, 5} {
		b := n.Act("Relu", n.stored(n.Conv(h, 6, inside, 1), inside))
		b = n.stored(n.Conv(b, inside, 6, 1), 6)
		h = n.Act("Relu", n.Op("Add", []string{b, h}))
	}
	h = n.Op("Flatten", []string{n.Op("GlobalAveragePool", []string{h})})
	return n.Done(n.Dense(h, 6, 3), "N", 3)
}

// Mobile has a stream of 6 channels behind a ReLU to which three blocks add: one that widens it to 8 and looks at each
// channel by itself, one that looks at each channel of the stream by itself, and one that looks at groups of 2.
func Mobile(seed uint64) *onnx.Model {
	n := New(seed)
	x := n.Input("x", tensor.Float32, "N", 2, 6, 6)
	h := n.Act("Relu", n.stored(n.Conv(x, 2, 6, 1), 6))
	b := n.Op("Clip", []string{
		n.stored(n.Conv(h, 6, 8, 1), 8), n.Const(tensor.FromFloat32([]float32{0})),
		n.Const(tensor.FromFloat32([]float32{6})),
	})
	b = n.Act("Relu", n.stored(n.Conv(b, 8, 8, 8), 8))
	h = n.Op("Add", []string{h, n.stored(n.Conv(b, 8, 6, 1), 6)})
	h = n.Act("Relu", n.Op("Add", []string{n.stored(n.Conv(h, 6, 6, 6), 6), h}))
	h = n.Act("Relu", n.Op("Add", []string{h, n.Conv(h, 6, 6, 3)}))
	h = n.Op("Flatten", []string{n.Op("GlobalAveragePool", []string{h})})
	return n.Done(n.Dense(h, 6, 3), "N", 3)
}

// Shared takes the input and its squares through the same two layers, of 6 and 5 units, the second of which follows
// itself, and reads the difference, of which the larger half counts.
func Shared(seed uint64) *onnx.Model {
	n := New(seed)
	x := n.Input("x", tensor.Float32, "N", 4)
	w, b := n.Random(0, 0.5, 6, 4), n.Random(0, 0.3, 6)
	u, c := n.Random(0, 0.5, 5, 6), n.Random(0, 0.3, 5)
	v, d := n.Random(0, 0.5, 5, 5), n.Random(0, 0.3, 5)
	dense := func(x, w, b string) string { return n.Op("Gemm", []string{x, w, b}, onnx.AttrInt("transB", 1)) }
	var all []string
	for _, in := range []string{x, n.Op("Mul", []string{x, x})} {
		h := n.Act("Relu", dense(n.Act("Relu", dense(in, w, b)), u, c))
		for range 2 {
			h = n.Act("LeakyRelu", dense(h, v, d))
		}
		all = append(all, h)
	}
	h := n.Op("Sub", all)
	h = n.Op("Max", []string{n.Dense(h, 5, 7), n.Dense(h, 5, 7), n.Const(tensor.FromFloat32([]float32{0}))})
	return n.Done(n.Dense(h, 7, 3), "N", 3)
}

// Attention is a transformer of one block: 3 heads of 4, a stream of 12, 5 tokens, layer norms before each part.
func Attention(seed uint64) *onnx.Model {
	const tokens, heads, each, width, hidden = 5, 3, 4, 12, 7
	n := New(seed)
	x := n.Input("x", tensor.Float32, "N", tokens, 6)
	h := n.Linear(x, 6, width)
	h = n.Op("Add", []string{h, n.Random(0, 0.3, tokens, width)})
	z := n.layer(h, width)
	head := func() string {
		y := n.Op("Add", []string{n.Linear(z, width, width), n.Random(0, 0.3, width)})
		y = n.Op("Reshape", []string{y, n.Ints(0, 0, heads, each)})
		return n.Op("Transpose", []string{y}, onnx.AttrInts("perm", 0, 2, 1, 3))
	}
	q, k, v := head(), head(), head()
	a := n.Op("MatMul", []string{q, n.Op("Transpose", []string{k}, onnx.AttrInts("perm", 0, 1, 3, 2))})
	a = n.Op("Softmax", []string{n.Op("Mul", []string{a, n.Const(tensor.FromFloat32([]float32{0.5}))})},
		onnx.AttrInt("axis", -1))
	y := n.Op("Transpose", []string{n.Op("MatMul", []string{a, v})}, onnx.AttrInts("perm", 0, 2, 1, 3))
	y = n.Op("Reshape", []string{y, n.Ints(0, 0, width)})
	h = n.Op("Add", []string{h, n.Linear(y, width, width)})
	z = n.Act("Sigmoid", n.Linear(n.layer(h, width), width, hidden))
	h = n.Op("Add", []string{h, n.Linear(z, hidden, width)})
	h = n.Op("ReduceMean", []string{n.layer(h, width)}, onnx.AttrInts("axes", 1), onnx.AttrInt("keepdims", 0))
	return n.Done(n.Dense(h, width, 3), "N", 3)
}

// layer is a layer norm.
func (n *Net) layer(x string, width int) string {
	return n.Op("LayerNormalization", []string{x, n.Random(1, 0.2, width), n.Random(0, 0.2, width)},
		onnx.AttrInt("axis", -1))
}

// RMS has a stream of 6 numbers that passes norms without a scale alone, so that it may be turned.
func RMS(seed uint64) *onnx.Model {
	n := New(seed)
	x := n.Input("x", tensor.Float32, "N", 4)
	h := n.Linear(x, 4, 6)
	for range 2 {
		s := n.Op("ReduceMean", []string{n.Op("Mul", []string{h, h})}, onnx.AttrInts("axes", -1))
		s = n.Op("Sqrt", []string{n.Op("Add", []string{s, n.Const(tensor.FromFloat32([]float32{1e-6}))})})
		b := n.Act("Relu", n.Linear(n.Op("Div", []string{h, s}), 6, 5))
		h = n.Op("Add", []string{h, n.Linear(b, 5, 6)})
	}
	return n.Done(n.Linear(h, 6, 3), "N", 3)
}

// Groups is a convolution before a group norm of 3 groups of 4, as PyTorch writes one, in which ReLU and a dense layer
// follow.
func Groups(seed uint64) *onnx.Model {
	const groups, channels = 3, 12
	n := New(seed)
	x := n.Input("x", tensor.Float32, "N", 2, 6, 6)
	h := n.Conv(x, 2, channels, 1)
	h = n.Op("Reshape", []string{h, n.Ints(0, groups, -1)})
	ones, zeros := make([]float32, groups), make([]float32, groups)
	for i := range ones {
		ones[i] = 1
	}
	h = n.Op("InstanceNormalization", []string{
		h, n.Const(tensor.FromFloat32(ones, groups)), n.Const(tensor.FromFloat32(zeros, groups)),
	}, onnx.AttrFloat("epsilon", 1e-5))
	h = n.Op("Reshape", []string{h, n.Ints(0, channels, 6, 6)})
	h = n.Op("Add", []string{
		n.Op("Mul", []string{h, n.Random(1, 0.2, channels, 1, 1)}), n.Random(0, 0.2, channels, 1, 1),
	})
	h = n.Op("Flatten", []string{n.Op("GlobalAveragePool", []string{n.Act("Relu", h)})})
	return n.Done(n.Dense(h, channels, 3), "N", 3)
}

// Normed is a layer of weights before a norm: the operator with its attributes and further inputs by their lengths.
func Normed(seed uint64, op string, scale bool, attrs ...*onnxpb.AttributeProto) *onnx.Model {
	n := New(seed)
	x := n.Input("x", tensor.Float32, "N", 2, 5, 5)
	h := n.Conv(x, 2, 8, 1)
	in := []string{h}
	if scale {
		in = append(in, n.Random(1, 0.2, 8), n.Random(0, 0.2, 8))
	}
	if op == "BatchNormalization" {
		h = n.stored(h, 8)
	} else {
		h = n.Op(op, in, attrs...)
	}
	h = n.Op("Flatten", []string{n.Op("GlobalAveragePool", []string{n.Act("Relu", h)})})
	return n.Done(n.Dense(h, 8, 3), "N", 3)
}

// Uneven answers two numbers, the first of which is a million times as large as what the second is of a size.
func Uneven(seed uint64, size float64) *onnx.Model {
	n := New(seed)
	x := n.Input("x", tensor.Float32, "N", 4)
	h := n.Act("Relu", n.Dense(x, 4, 7))
	large := n.Op("MatMul", []string{h, n.Random(0, 1e6, 7, 1)})
	small := n.Op("MatMul", []string{h, n.Random(0, size, 7, 1)})
	return n.Done(n.Op("Concat", []string{large, small}, onnx.AttrInt("axis", 1)), "N", 2)
}

// Double is a network in float64.
func Double(seed uint64) *onnx.Model {
	n := New(seed)
	x := n.Input("x", tensor.Float64, "N", 4)
	wide := func(shape ...int) string {
		t := tensor.New(tensor.Float64, shape...)
		for i := range t.Len() {
			binary.LittleEndian.PutUint64(t.Raw[8*i:], math.Float64bits(elementary.Normal(n.r)))
		}
		return n.Const(t)
	}
	dense := func(x string, in, out int) string {
		return n.Op("Gemm", []string{x, wide(out, in), wide(out)}, onnx.AttrInt("transB", 1))
	}
	n.Output(dense(n.Act("Relu", dense(x, 4, 6)), 6, 3), tensor.Float64, "N", 3)
	m, err := n.Model()
	if err != nil {
		panic(err)
	}
	return m
}

// Quantised is a dense layer whose weights are stored as whole numbers.
func Quantised() *onnx.Model {
	n := New(1)
	x := n.Input("x", tensor.Float32, "N", 4)
	w := tensor.New(tensor.Int8, 4, 6)
	for i := range w.Raw {
		w.Raw[i] = byte(i)
	}
	zero := n.Const(tensor.New(tensor.Int8))
	h := n.Op("DequantizeLinear", []string{n.Const(w), n.Const(tensor.FromFloat32([]float32{0.01})), zero})
	return n.Done(n.Dense(n.Act("Relu", n.Op("MatMul", []string{x, h})), 6, 2), "N", 2)
}

// Bare is a network that stores nothing.
func Bare() *onnx.Model {
	n := New(1)
	x := n.Input("x", tensor.Float32, "N", 4)
	return n.Done(n.Act("Tanh", n.Act("Relu", x)), "N", 4)
}

// Free is a network whose input has an axis of free length, though its weights want 4.
func Free(seed uint64) *onnx.Model {
	n := New(seed)
	x := n.Input("x", tensor.Float32, "N", "L")
	return n.Done(n.Dense(n.Act("Relu", n.Dense(x, 4, 6)), 6, 2), "N", 2)
}
