package decode

import (
	"fmt"
	"slices"

	"nero/data/space"
	"nero/data/tensor"
)

// Embedding is what a study calls outputs that are embeddings. It is no kind of value of its own: an embedding is a
// [space.Tensor] with one axis whose spec says that its numbers are one point, see [space.Spec].Features, so that all
// that is done with vectors is done with embeddings.
const Embedding space.Kind = "embedding"

// embeddingKind is a vector of features for each sample.
var embeddingKind = kind{
	of: Embedding, makes: tensorKind.of,
	one: readDecoded,
	decoded: &decoded{
		ways: []string{raw}, usual: raw,
		fits: func(_ *decoder, s []int, what string) error {
			// An axis of a length that is not known may be one of length 1; it is seen when the model answers.
			long := slices.DeleteFunc(slices.Clone(s), func(n int) bool { return n == 1 || n < 0 })
			if len(long) > 1 {
				return fmt.Errorf("%s has %d axes for each sample, and an embedding has one: name an output that is "+
					"pooled with output.name (--output-name), or say output.space: tensor (--output tensor)", what,
					len(long))
			}
			return nil
		},
		spec: func(_ *decoder, s []int, o *space.Spec) {
			o.Kind, o.Features = tensorKind.of, true
			o.Shape = []int{-1}
			if s != nil && slices.Min(append(slices.Clone(s), 1)) > 0 {
				o.Shape[0] = tensor.Count(s)
			}
		},
		split: func(_ *decoder, val []float64, s []int, n int, what shaped) ([]space.Value, error) {
			return each(val, s, n, what, func(v []float64) (space.Value, error) {
				return &space.Tensor{Shape: []int{len(v)}, Val: v}, nil
			})
		},
		raw: func(d *decoder, v []float64, _ []int) ([]float64, []int, error) {
			return fill(v, slices.Clone(d.sampleShapeOrNil()), len(v))
		},
	},
}
