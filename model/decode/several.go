package decode

import (
	"nero/data/space"
	"nero/data/tensor"
	"nero/model/onnx"
)

// Several lays out several pictures of each sample for one input of a model that reads others beside it.
type Several struct{ e *encoder }

// NewSeveral fits pictures to an input, as [New] does to the inputs of a model.
func NewSeveral(x onnx.Port, in InputSpec) (*Several, error) {
	if err := checkInputSpec(in); err != nil {
		return nil, err
	}
	p, err := readInput(x, in, max(in.Frames, 1))
	if err != nil {
		return nil, err
	}
	e, err := newEncoder(p, in)
	if err != nil {
		return nil, err
	}
	return &Several{e}, nil
}

// Encode lays out a batch of frames; an input whose batch axis is fixed is filled up.
func (s *Several) Encode(batch []space.Value) (tensor.Named, error) {
	out, err := s.e.encode(batch, nil)
	if err != nil {
		return tensor.Named{}, err
	}
	return out[0], nil
}

// BatchLimit is the largest batch, 0 for any.
func (s *Several) BatchLimit() int { return s.e.batch }
