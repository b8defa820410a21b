package vjp_test

import (
	"math"
	"testing"

	"nero/data/tensor"
	"nero/model/onnx"
	"nero/model/onnx/onnxpb"
	"nero/model/onnx/vjp"
)

// differenced holds the gradient of <ones, y> by x, both evaluated in float64, against central differences.
func differenced(t *testing.T, m *onnx.Model, shape ...int) {
	t.Helper()
	r, err := vjp.Build(m, shapesOf(t, m), vjp.Request{Wrt: []string{"x"}})
	if err != nil {
		t.Fatal(err)
	}
	n := tensor.Count(shape)
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(math.Sin(float64(3*i+1))) / 2
	}
	raw, err := m.Edit().Bytes()
	if err != nil {
		t.Fatal(err)
	}
	name := m.Signature().Outputs[0].Name
	value := func() (sum float64, count int) {
		y := exactly(t, raw, map[string]tensor.Tensor{"x": tensor.FromFloat32(x, shape...)})[name]
		for _, v := range y {
			sum += v
		}
		return sum, len(y)
	}
	_, count := value()
	out := shapesOf(t, m)[name]
	ones := make([]float32, count)
	for i := range ones {
		ones[i] = 1
	}
	out = append([]int{shape[0]}, out[1:]...)
	got := exactly(t, encoded(t, r.Model), map[string]tensor.Tensor{
		"x": tensor.FromFloat32(x, shape...), r.Cotangent: tensor.FromFloat32(ones, out...),
	})[r.Gradients[0]]
	want := make([]float64, n)
	const h = 1.0 / 256 // exact in float32
	for i := range x {
		at := x[i]
		x[i] = at + h
		up, _ := value()
		up64 := float64(x[i])
		x[i] = at - h
		down, _ := value()
		want[i], x[i] = (up-down)/(up64-float64(x[i])), at
	}
	if d := distance(t, got, want); !(d < 1e-4) {
		t.Errorf("the gradient is %.1e from central differences", d)
	}
}

// Windows that run over the padded end are counted as the engine counts them.
func TestAveragePoolOverTheEnd(t *testing.T) {
	for _, counted := range []int64{0, 1} {
		for _, x := range []struct{ kernel, stride, pad int64 }{{3, 2, 1}, {2, 2, 0}, {3, 3, 1}, {4, 3, 2}} {
			b := onnx.NewBuilder(17)
			b.Input("x", tensor.Float32, "N", 2, 6, 7)
			p := b.Op("AveragePool", []string{"x"}, onnx.AttrInts("kernel_shape", x.kernel, x.kernel),
				onnx.AttrInts("strides", x.stride, x.stride), onnx.AttrInts("pads", x.pad, x.pad, x.pad, x.pad),
				onnx.AttrInt("ceil_mode", 1), onnx.AttrInt("count_include_pad", counted))
			b.Output(b.Op("Mul", []string{p, p}), tensor.Float32, "N", 2, "H", "W")
			m, err := b.Model()
			if err != nil {
				t.Fatal(err)
			}
			differenced(t, m, 2, 2, 6, 7)
		}
	}
}

// A local response norm as exporters write it: mean of squares over channels, whose axis an If squeezes where it has
// one element, and a power.
func TestExportedLocalResponseNorm(t *testing.T) {
	b := onnx.NewBuilder(17)
	x := b.Input("x", tensor.Float32, "N", 5, 3, 4)
	sq := b.Op("Unsqueeze", []string{b.Op("Mul", []string{x, x}), b.Ints(1)})
	sq = b.Op("Pad", []string{sq, b.Ints(0, 0, 1, 0, 0, 0, 0, 1, 0, 0)})
	mean := b.Op("AveragePool", []string{sq}, onnx.AttrInts("kernel_shape", 3, 1, 1), onnx.AttrInts("strides", 1, 1, 1))
	length := b.Op("Gather", []string{b.Op("Shape", []string{mean}), b.Const(tensor.FromInt64([]int64{1}))},
		onnx.AttrInt("axis", 0))
	is := b.Op("Equal", []string{length, b.Const(tensor.FromInt64([]int64{1}))})
	branch := func(name string, nodes ...*onnxpb.NodeProto) *onnxpb.AttributeProto {
		last := nodes[len(nodes)-1].GetOutput()[0]
		return &onnxpb.AttributeProto{
			Name: &name, Type: onnxpb.AttributeProto_GRAPH.Enum(),
			G: &onnxpb.GraphProto{
				Name: &name, Node: nodes, Output: []*onnxpb.ValueInfoProto{{Name: &last}},
			},
		}
	}
	node := func(op, out string, in ...string) *onnxpb.NodeProto {
		return &onnxpb.NodeProto{OpType: &op, Input: in, Output: []string{out}}
	}
	axes := b.Ints(1)
	div := b.Op("If", []string{is},
		branch("then_branch", node("Identity", "inner", mean), node("Squeeze", "squeezed", "inner", axes)),
		branch("else_branch", node("Identity", "kept", mean)))
	div = b.Op("Mul", []string{div, b.Const(tensor.FromFloat32([]float32{0.3}))})
	div = b.Op("Add", []string{div, b.Const(tensor.FromFloat32([]float32{1}))})
	div = b.Op("Pow", []string{div, b.Const(tensor.FromFloat32([]float32{0.75}))})
	b.Output(b.Op("Div", []string{x, div}), tensor.Float32, "N", 5, 3, 4)
	m, err := b.Model()
	if err != nil {
		t.Fatal(err)
	}
	differenced(t, m, 2, 5, 3, 4)
}
