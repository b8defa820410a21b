package audit

import (
	"fmt"
	"slices"

	"nero/model/onnx"
	"nero/model/onnx/onnxpb"
)

// training says of a model whose file holds what belongs to training which derivatives an audit is about, and which it
// leaves untested: a training graph beside the one that is run, and layers in their training form. Nil for the usual
// file, exported to be run.
func (s *Subject) training() []string {
	if s.Interior == nil {
		return nil
	}
	return trainingForms(s.Interior.ONNX().Proto())
}

func trainingForms(m *onnxpb.ModelProto) []string {
	var out []string
	if n := len(m.GetTrainingInfo()); n > 0 {
		out = append(out, fmt.Sprintf("The file holds %s beside the graph that is run (training_info), which nothing "+
			"evaluates: derivatives are those of the graph that is run, and whether the gradients of training keep "+
			"the "+
			"symmetry was not tested.", plural(n, "training graph", "training graphs")))
	}
	opset := int64(0)
	for _, o := range m.GetOpsetImport() {
		if o.GetDomain() == "" || o.GetDomain() == "ai.onnx" {
			opset = o.GetVersion()
		}
	}
	never := map[string]bool{} // inputs that are the constant false
	for _, t := range m.GetGraph().GetInitializer() {
		never[t.GetName()] = !slices.ContainsFunc(t.GetRawData(), func(b byte) bool { return b != 0 }) &&
			!slices.ContainsFunc(t.GetInt32Data(), func(i int32) bool { return i != 0 })
	}
	for i, n := range m.GetGraph().GetNode() {
		name := n.GetName()
		if name == "" {
			name = fmt.Sprintf("node %d", i)
		}
		switch n.GetOpType() {
		case "BatchNormalization":
			if onnx.Int(n, "training_mode", 0) != 0 || opset < 14 && len(n.GetOutput()) > 1 && n.GetOutput()[1] != "" {
				out = append(out, name+
					" normalizes by the statistics of the batch at hand (training form): answers and "+
					"derivatives are those of a batch as a whole, and inputs in it change each other's.")
			}
		case "Dropout":
			if in := n.GetInput(); len(in) > 2 && in[2] != "" && !never[in[2]] {
				out = append(out, name+
					" drops values at random (training form): derivatives through it were not tested.")
			}
		}
	}
	return out
}
