package remote

import (
	"testing"

	"nero/data/tensor"
	"nero/model/engine/remote/oippb"
)

// A server that spells types in small letters is understood in its answers as in its metadata.
func TestSmallLetters(t *testing.T) {
	for name, want := range map[string]tensor.DType{
		"fp32": tensor.Float32, "Fp32": tensor.Float32,
		"FP32": tensor.Float32,
	} {
		port, err := portOf(portMeta{Name: "y", Datatype: name, Shape: []int64{1}})
		if err != nil || port.DType != want {
			t.Errorf("metadata with %s: %v, %v", name, port, err)
		}
		h := &viaHTTP{c: Config{MaxMessage: 1 << 16}}
		web, err := h.read("", []byte(`{"outputs":[{"name":"y","datatype":"`+name+`","shape":[1],"data":[1.5]}]}`),
			[]string{"y"})
		if err != nil {
			t.Fatal(err)
		}
		rpc, err := readGRPC(&oippb.ModelInferResponse{
			Outputs: []*oippb.ModelInferResponse_InferOutputTensor{{
				Name: "y", Datatype: name,
				Shape: []int64{1},
			}},
			RawOutputContents: [][]byte{{0, 0, 0xc0, 0x3f}},
		}, []string{"y"}, 1<<16)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range []*answer{web, rpc} {
			if v, err := a.out[0].Float32s(); err != nil || a.out[0].DType != want || v[0] != 1.5 {
				t.Errorf("answer with %s: %v, %v", name, a.out[0], err)
			}
		}
	}
	// One that holds no numbers stays one, and an output that nobody asked for is passed over.
	if d, _, _, err := shaped("y", "bytes", []int64{1}, 100); err != nil || d != tensor.String || DType("bytes") != 0 {
		t.Errorf("bytes are taken for %s, %v", d, err)
	}
}
