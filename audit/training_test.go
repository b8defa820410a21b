package audit

import (
	"strings"
	"testing"

	"nero/data/tensor"
	"nero/model/onnx"
	"nero/model/onnx/onnxpb"
)

// normalizing is a graph with a batch normalization and a dropout, in training form or not.
func normalizing(t *testing.T, training bool) *onnxpb.ModelProto {
	t.Helper()
	b := onnx.NewBuilder(17)
	x := b.Input("x", tensor.Float32, "batch", 2)
	one := func(v float32) string { return b.Const(tensor.FromFloat32([]float32{v, v}, 2)) }
	mode := int64(0)
	flag := tensor.Tensor{DType: tensor.Bool, Shape: []int{}, Raw: []byte{0}}
	if training {
		mode, flag.Raw = 1, []byte{1}
	}
	x = b.Op("BatchNormalization", []string{x, one(1), one(0), one(0), one(1)}, onnx.AttrInt("training_mode", mode))
	x = b.Op("Dropout", []string{x, b.Const(tensor.FromFloat32([]float32{0.5})), b.Const(flag)})
	b.Output(x, tensor.Float32, "batch", 2)
	raw, err := b.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	m, err := onnx.Load(raw)
	if err != nil {
		t.Fatal(err)
	}
	return m.Proto()
}

func TestTrainingFormsAreNamed(t *testing.T) {
	if got := trainingForms(normalizing(t, false)); got != nil {
		t.Errorf("a file that is exported to be run has %q", got)
	}
	m := normalizing(t, true)
	m.TrainingInfo = append(m.TrainingInfo, &onnxpb.TrainingInfoProto{})
	got := strings.Join(trainingForms(m), "\n")
	for _, want := range []string{
		"holds 1 training graph beside", "gradients of training keep the symmetry was not tested",
		"statistics of the batch at hand (training form)", "derivatives through it were not tested",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q lacks %q", got, want)
		}
	}
	r := &Report{Inputs: 3, Training: trainingForms(m)}
	if all := strings.Join(r.Caveats(), "\n"); !strings.Contains(all, "training_info") {
		t.Errorf("caveats %q", all)
	}
}
