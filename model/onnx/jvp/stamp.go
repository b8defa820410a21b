package jvp

import (
	"fmt"
	"slices"

	"nero/model/onnx"
	"nero/model/onnx/onnxpb"
)

// oldest is the first version that can be stamped as [MinOpset].
const oldest = 7

// changed are the operators whose nodes mean something else, or have other inputs, since a version between oldest and
// MinOpset. From the changelog of ONNX 1.12.
var changed = map[string]int{
	"BatchNormalization": 9, "Slice": 10, "TopK": 11, "Upsample": 10, "Clip": 11, "Pad": 11, "Resize": 11,
	"Scatter": 11, "Dropout": 12,
	"Softmax": 13, "LogSoftmax": 13, "Hardmax": 13, "ReduceSum": 13, "Squeeze": 13, "Unsqueeze": 13, "Split": 13,
	"Loop": 13, "If": 13, "Scan": 11, "NonMaxSuppression": 11, "OneHot": 11, "ArgMax": 12, "ArgMin": 12,
}

// stamp sees to the versions of the copy: operators of MinOpset at least, and a file format in which stored tensors
// need not be listed as inputs.
func (s *state) stamp() error {
	v := s.m.Opset()
	const remedy = "convert the file (Python: onnx.version_converter.convert_version) or export it again with " +
		"operator set 17"
	switch {
	case v > MaxOpset:
		return fmt.Errorf("%s: derivatives are known up to operator set %d, the file uses %d; export it with an "+
			"older one", s.m.Name(), MaxOpset, v)
	case v < oldest:
		return fmt.Errorf("%s: derivatives need operator set %d, the file uses %d; %s", s.m.Name(), MinOpset, v, remedy)
	case v < MinOpset:
		for _, n := range s.nodes {
			if since := changed[n.GetOpType()]; standardDomain(n) && since > v && !s.same(n) {
				return fmt.Errorf("%s: derivatives need operator set %d, the file uses %d, and %s (node %q) means "+
					"something else since %d; %s",
					s.m.Name(), MinOpset, v, n.GetOpType(), n.GetName(), since, remedy)
			}
		}
		s.res.Note = fmt.Sprintf("operator set %d stamped as %d: no operator of the file changed in between", v,
			MinOpset)
		h := s.b.Header()
		i := slices.IndexFunc(h.GetOpsetImport(), func(o *onnxpb.OperatorSetIdProto) bool {
			return o.GetDomain() == "" || o.GetDomain() == "ai.onnx"
		})
		h.OpsetImport[i].Version = new(int64(MinOpset))
		v = MinOpset
	}
	s.opset = v
	const ir = 7 // that of operator set 13
	if h := s.b.Header(); h.GetIrVersion() < ir {
		h.IrVersion = new(int64(ir))
	}
	return nil
}

// same tells of a node of a changed operator that the change does not concern it.
func (s *state) same(n *onnxpb.NodeProto) bool {
	if len(n.GetInput()) == 0 {
		return false
	}
	switch n.GetOpType() {
	case "Dropout":
		return onnx.Attr(n, "ratio") == nil
	case "BatchNormalization":
		return onnx.Attr(n, "spatial") == nil
	// over all axes from the given one on, the second if none is given; now over one, the last
	case "Softmax", "LogSoftmax":
		axis, rank := onnx.Int(n, "axis", 1), -1
		if v := s.shapes[0][n.GetInput()[0]]; v != nil {
			rank = len(v)
		} else if p, ok := s.m.Port(n.GetInput()[0]); ok && p.Ranked {
			rank = len(p.Shape)
		}
		return axis == -1 || rank >= 0 && axis == int64(rank-1)
	}
	return false
}
