package sketch_test

import (
	"encoding/hex"
	"testing"

	"nero/data/tensor"
	"nero/model/engine/sketch"
)

// The bytes were read back with protoc --decode=onnx.ModelProto and the schema onnx-ml.proto of ONNX 1.12.
func TestBytes(t *testing.T) {
	m := sketch.Model{
		Nodes: []sketch.Node{{
			Op: "Op", Inputs: []string{"x", "", "c"}, Outputs: []string{"y"}, Domain: "d",
			Attrs: []sketch.Attr{{Name: "i", Value: -1}, {Name: "f", Value: float32(0.5)}, {Name: "s", Value: "t"}, {Name: "is", Value: []int{1, 2}}},
		}},
		Inputs:    []sketch.Port{{Name: "x", DType: tensor.Float32, Shape: []int{sketch.Free, 3}}},
		Outputs:   []sketch.Port{{Name: "y", DType: tensor.Int64}},
		Constants: []tensor.Named{{Name: "c", Tensor: tensor.FromFloat32([]float32{1}, 1)}},
	}
	const want = "BYTES"
	if got := hex.EncodeToString(m.Bytes()); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestBytesPanicsOnUnknownAttribute(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	sketch.Model{Nodes: []sketch.Node{{Attrs: []sketch.Attr{{Name: "a", Value: 1i}}}}}.Bytes()
}
