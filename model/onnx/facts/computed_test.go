package facts_test

import (
	"math"
	"reflect"
	"testing"

	"nero/data/tensor"
	"nero/model/onnx"
	"nero/model/onnx/facts"
	"nero/model/onnx/onnxpb"
)

// PyTorch writes a Pad whose numbers are computed of stored ones: pairs for the last axis first are put in rows, turned
// around, exchanged with columns, and put in a line.
func TestComputedPads(t *testing.T) {
	b := onnx.NewBuilder(17)
	x := b.Input("x", tensor.Float32, "N", 1, 6, 8)
	zeros := b.Op("ConstantOfShape", []string{b.Ints(4)},
		onnx.AttrTensor("value", &onnxpb.TensorProto{
			DataType: new(int32(7)), Dims: []int64{1}, Int64Data: []int64{0},
		}))
	pairs := b.Op("Reshape", []string{
		b.Op("Concat", []string{b.Ints(0, 1, 2, 3), zeros}, onnx.AttrInt("axis", 0)), b.Ints(-1, 2),
	})
	pairs = b.Op("Slice", []string{pairs, b.Ints(-1), b.Ints(-math.MaxInt64), b.Ints(0), b.Ints(-1)})
	line := b.Op("Reshape", []string{b.Op("Transpose", []string{pairs}, onnx.AttrInts("perm", 1, 0)), b.Ints(-1)})
	pads := b.Op("Cast", []string{line}, onnx.AttrInt("to", int64(tensor.Int64)))
	y := b.Op("Pad", []string{x, pads})
	b.Output(y, tensor.Float32, "N", 1, 11, 9)
	m, err := b.Model()
	if err != nil {
		t.Fatal(err)
	}
	f, err := facts.Infer(m, map[string][]int{"x": {1, 1, 6, 8}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range m.Proto().GetGraph().GetNode() {
		if n.GetOpType() != "Pad" {
			continue
		}
		p, err := f.Padding(i)
		if want := [][2]int{{}, {}, {2, 3}, {0, 1}}; err != nil || !reflect.DeepEqual(p, want) {
			t.Errorf("pads %v, want %v; %v", p, want, err)
		}
	}
	if got := f.Shapes[y]; !reflect.DeepEqual(got, []int{1, 1, 11, 9}) {
		t.Errorf("the shape is %v", got)
	}
}
