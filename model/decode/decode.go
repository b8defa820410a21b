// Package decode stands between typed values and the arrays of a model: it lays samples out as the model reads them and
// turns raw outputs into typed predictions.
package decode

import (
	"slices"

	"nero/data/space"
	"nero/data/tensor"
)

// Codec encodes batches of values and decodes batches of predictions. It is safe for concurrent use.
type Codec interface {
	// In and Out describe one sample on either side.
	In() space.Spec
	Out() space.Spec
	// Encode lays out the values as the model's input tensors, in the model's order; buf, a former result of Encode
	// with the same batch size, may be reused.
	Encode(batch []space.Value, buf []tensor.Named) ([]tensor.Named, error)
	// Decode splits the outputs of a batch of n into n predictions.
	Decode(out []tensor.Named, n int) ([]space.Value, error)
}

// Together reports whether two values go through a model in one batch: what they are fed as has one shape. Molecules of
// different numbers of atoms have, if their rows are padded.
func Together(c Codec, a, b space.Value) bool {
	if t, ok := c.(interface{ together(a, b space.Value) bool }); ok {
		return t.together(a, b)
	}
	return slices.Equal(a.Dims(), b.Dims())
}
