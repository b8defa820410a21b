package decode

import (
	"fmt"
	"slices"

	"nero/data/space"
	"nero/model/onnx"
)

// tensorKind is arrays of any shape.
var tensorKind = kind{
	of:  space.KindTensor,
	fed: &fed{forms: []form{{axes: "*"}}, floats: true},
	one: readDecoded,
	decoded: &decoded{
		ways: []string{raw}, usual: raw,
		spec: func(_ *decoder, s []int, o *space.Spec) { o.Shape = slices.Clone(s) },
		split: func(_ *decoder, val []float64, s []int, n int, what shaped) ([]space.Value, error) {
			return each(val, s, n, what, func(v []float64) (space.Value, error) {
				return &space.Tensor{Shape: slices.Clone(s), Val: v}, nil
			})
		},
		raw: func(_ *decoder, v []float64, dims []int) ([]float64, []int, error) {
			return fill(v, slices.Clone(dims), dims...)
		},
	},
}

// NewTensors makes the codec of a model that reads one tensor per sample as it is: point sets, vectors, features. It is
// [NewRecord] for such samples.
func NewTensors(sig onnx.Signature, out OutputSpec) (Codec, error) {
	if len(sig.Inputs) != 1 {
		return nil, fmt.Errorf("the model has %d inputs; one is fed", len(sig.Inputs))
	}
	return NewRecord(sig, RecordSpec{Sample: space.Spec{Kind: tensorKind.of}, Outputs: []OutputField{{
		Port: out.Name, Kind: kindOrScores(out.Space), Decode: out.Decode, Type: out.Type,
	}}})
}
