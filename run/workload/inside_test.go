package workload

import (
	"errors"
	"strings"
	"testing"

	"nero/data/tensor"
	"nero/model/onnx"
	"nero/model/unroll"
)

// Of a recurrent model it is said at which layer what is known ends, and why.
func TestStepsNameTheLimit(t *testing.T) {
	b := onnx.NewBuilder(17)
	x, h := b.Input("frame", tensor.Float32, "N", 4), b.Input("state", tensor.Float32, "N", 4)
	bent := b.Op("Tanh", []string{x})
	next := b.Op("Add", []string{bent, h})
	b.Graph().GetNode()[1].Name = new("remember")
	b.Output(next, tensor.Float32, "N", 4)
	b.Output(b.Op("ReduceSum", []string{next, b.Ints(1)}), tensor.Float32, "N", 1)
	m, err := b.Model()
	if err != nil {
		t.Fatal(err)
	}
	r, err := unroll.New(m.Signature(), unroll.Spec{Frame: 4, States: []unroll.State{{In: "state", Out: next}}})
	if err != nil {
		t.Fatal(err)
	}
	err = errSteps(&loaded{onnx: m, rolled: r})
	if !errors.Is(err, ErrNoGraph) {
		t.Errorf("%v is no ErrNoGraph", err)
	}
	for _, want := range []string{"one step", "remember (Add)", `"state"`, "nothing says how a state moves"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}
