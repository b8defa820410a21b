package vjp

import (
	"fmt"

	"nero/model/onnx"
)

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
	if n := onnx.Changed(s.b.Graph(), old); n != nil {
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
