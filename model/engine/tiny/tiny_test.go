package tiny_test

import (
	"encoding/hex"
	"testing"

	"nero/data/tensor"
	"nero/model/engine/tiny"
)

// The bytes were read back with the Python package onnx 1.12: every field was where it belongs.
func TestBytes(t *testing.T) {
	m := tiny.Model{
		Nodes: []tiny.Node{{
			Op: "Op", Inputs: []string{"x", "", "c"}, Outputs: []string{"y"}, Domain: "d",
			Attrs: []tiny.Attr{
				{Name: "i", Value: -1},
				{Name: "f", Value: float32(0.5)},
				{Name: "s", Value: "t"},
				{Name: "is", Value: []int{1, 2}},
			},
		}},
		Inputs:    []tiny.Port{{Name: "x", DType: tensor.Float32, Shape: []int{tiny.Free, 3}}},
		Outputs:   []tiny.Port{{Name: "y", DType: tensor.Int64}},
		Constants: []tensor.Named{{Name: "c", Tensor: tensor.FromFloat32([]float32{1}, 1)}},
	}
	const want = "080812046e65726f3a8a010a4a0a01780a000a016312017922024f702a110a016918ffffffffffffffffff01a0" +
		"01022a0b0a0166150000003fa001012a090a0173220174a001032a0b0a02697340014002a001073a0164120673" +
		"6b657463682a0d080110014201634a040000803f5a180a017812130a110801120d0a07120566726565300a0208" +
		"03620b0a017912060a04080712004202101042050a01641001"
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
	tiny.Model{Nodes: []tiny.Node{{Attrs: []tiny.Attr{{Name: "a", Value: 1i}}}}}.Bytes()
}
