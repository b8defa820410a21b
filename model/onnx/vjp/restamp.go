package vjp

import (
	"fmt"
	"slices"

	"nero/model/onnx"
	"nero/model/onnx/onnxpb"
)

// changed says in which version of the standard operators up to 16 an operator last changed its form or its meaning,
// other than by taking further types. Operators that are not listed kept theirs since version 11. Source:
// onnx/docs/Changelog.md.
var changed = map[string]int{
	"Softmax": 13, "LogSoftmax": 13, "Hardmax": 13, "Squeeze": 13, "Unsqueeze": 13, "ReduceSum": 13, "Split": 13,
	"Dropout": 12, "RoiAlign": 16, "Upsample": 10, "Scatter": 11,
}

// restamp raises the model's version of the standard operators to [MinOpset] where that changes nothing.
func (s *sweep) restamp() (note string, err error) {
	const oldest = 11 // below, the table of changes would be longer than the list of models
	old := s.opset
	switch {
	case old > MaxOpset:
		return "", fmt.Errorf(
			"its operators are of version %d; gradient rules are known up to %d: export the model with an operator "+
				"set (opset_version) of %d to %d", old, MaxOpset, MinOpset, MaxOpset)
	case old >= MinOpset:
		return "", nil
	case old < oldest:
		return "", fmt.Errorf(
			"its operators are of version %d, from before %d: export the model anew with an operator set "+
				"(opset_version) of %d or newer", old, oldest, MinOpset)
	}
	if n := firstChanged(s.b.Graph(), old); n != nil {
		return "", fmt.Errorf(
			"its operators are of version %d, gradients need %d, and %s means something else since: export the model "+
				"anew with an operator set (opset_version) of %d or newer", old, MinOpset, onnx.Describe(n), MinOpset)
	}
	for _, o := range s.b.Header().GetOpsetImport() {
		if o.GetDomain() == "" || o.GetDomain() == "ai.onnx" {
			o.Version = new(int64(MinOpset))
		}
	}
	if h := s.b.Header(); h.GetIrVersion() < 8 { // the file format that came with these operators
		h.IrVersion = new(int64(8))
	}
	s.opset = MinOpset
	return fmt.Sprintf("re-stamped from operator set %d as %d: none of its operators changed in between", old,
		MinOpset), nil
}

// firstChanged is a node, in subgraphs too, that would change if the graph's operators were re-stamped; nil if there is
// none.
func firstChanged(g *onnxpb.GraphProto, old int) *onnxpb.NodeProto {
	for _, n := range g.GetNode() {
		if standard(n) && (changed[n.GetOpType()] > old || n.GetOpType() == "BatchNormalization" && old < 14 &&
			len(n.GetOutput()) > 1) {
			return n
		}
		for _, a := range n.GetAttribute() {
			for _, sub := range append(slices.Clone(a.GetGraphs()), a.GetG()) {
				if k := firstChanged(sub, old); k != nil {
					return k
				}
			}
		}
	}
	return nil
}
