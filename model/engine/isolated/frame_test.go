package isolated

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"nero/data/tensor"
)

// What is sent is received; what is cut off or damaged is an error and never more memory than came.
func TestFrames(t *testing.T) {
	in := []tensor.Named{
		{Name: "a", Tensor: tensor.FromFloat32([]float32{1, 2, 3}, 3)},
		{Name: "b", Tensor: tensor.Tensor{DType: tensor.Bool, Shape: []int{}, Raw: []byte{1}}},
		{Name: "c", Tensor: tensor.FromInt64(nil, 0, 4)},
	}
	as, raws := arrays(in)
	var b bytes.Buffer
	if err := to(&b).send(7, message{Method: "infer", Model: "m", Inputs: as}, raws...); err != nil {
		t.Fatal(err)
	}
	whole := bytes.Clone(b.Bytes())
	f, err := receive(&b)
	if err != nil || f.call != 7 || f.body.Method != "infer" {
		t.Fatalf("%+v, %v", f, err)
	}
	out, err := tensors(f.body.Inputs, f.raw)
	if err != nil || len(out) != 3 {
		t.Fatal(out, err)
	}
	for i := range in {
		if out[i].Name != in[i].Name || out[i].DType != in[i].DType || !bytes.Equal(out[i].Raw, in[i].Raw) ||
			tensor.Count(out[i].Shape) != tensor.Count(in[i].Shape) || len(out[i].Shape) != len(in[i].Shape) {
			t.Errorf("%+v, want %+v", out[i], in[i])
		}
	}
	if _, err := receive(&b); !errors.Is(err, io.EOF) || errors.Is(err, errFrame) {
		t.Errorf("at the end: %v", err)
	}
	for n := 1; n < len(whole); n++ {
		if _, err := receive(bytes.NewReader(whole[:n])); err == nil {
			t.Errorf("%d of %d bytes are taken for a framed", n, len(whole))
		}
	}
	foreign := append([]byte("HTTP"), whole[4:]...)
	if _, err := receive(bytes.NewReader(foreign)); !errors.Is(err, errFrame) {
		t.Errorf("another protocol: %v", err)
	}
	f.body.Inputs[0].Params.Size = 1 << 40
	if _, err := tensors(f.body.Inputs, f.raw); err == nil {
		t.Error("more bytes than came are taken")
	}
}
