package onnx

import (
	"fmt"
	"slices"

	"nero/model/onnx/onnxpb"
)

// changed says in which version of the standard operators up to 16 an operator last changed its form or its meaning,
// other than by taking further types. Operators that are not listed kept theirs since version 11. Source:
// onnx/docs/Changelog.md.
var changed = map[string]int{
	"Softmax": 13, "LogSoftmax": 13, "Hardmax": 13, "Squeeze": 13, "Unsqueeze": 13, "ReduceSum": 13, "Split": 13,
	"Dropout": 12, "RoiAlign": 16, "Upsample": 10, "Scatter": 11,
}

// Changed is a node, in subgraphs too, that would change if the graph's operators were re-stamped; nil if there is
// none. It knows versions from 11 to 16.
func Changed(g *onnxpb.GraphProto, old int) *onnxpb.NodeProto {
	for _, n := range g.GetNode() {
		if standard(n.GetDomain()) == "" && (changed[n.GetOpType()] > old || n.GetOpType() == "BatchNormalization" &&
			old < 14 &&
			len(n.GetOutput()) > 1) {
			return n
		}
		for _, a := range n.GetAttribute() {
			for _, sub := range append(slices.Clone(a.GetGraphs()), a.GetG()) {
				if k := Changed(sub, old); k != nil {
					return k
				}
			}
		}
	}
	return nil
}

// Raise is the model with a newer version of the standard operators, at most 16, where that changes nothing; the model
// itself where its version is as new. The error names the operator that means something else since.
func (m *Model) Raise(opset int) (*Model, error) {
	const oldest = 11 // below, the table of changes would be longer than the list of models
	old := m.Opset()
	if old >= opset {
		return m, nil
	}
	if old < oldest {
		return nil, fmt.Errorf("its operators are of version %d, from before %d: export the model anew with "+
			"opset_version=%d", old, oldest, opset)
	}
	if n := Changed(m.proto.GetGraph(), old); n != nil {
		return nil, fmt.Errorf("its operators are of version %d, and %s means something else since: export the model "+
			"anew with opset_version=%d", old, Describe(n), opset)
	}
	b := m.Edit()
	for _, o := range b.proto.GetOpsetImport() {
		if standard(o.GetDomain()) == "" {
			o.Version = new(int64(opset))
		}
	}
	if b.proto.GetIrVersion() < 8 { // the file format that came with these operators
		b.proto.IrVersion = new(int64(8))
	}
	out, err := b.Model()
	if err != nil {
		return nil, err
	}
	out.name = m.name
	return out, nil
}
