package interior_test

import (
	"math/rand/v2"
	"testing"

	"nero/data/space"
	"nero/model/decode"
	"nero/model/interior"
)

// BenchmarkDigits compares a gradient and a tangent of a shipped network with its forward pass, 8 samples at a time.
func BenchmarkDigits(b *testing.B) {
	m := read(b, "../../studies/digits/models/digits-original.onnx")
	c, err := decode.New(m.Signature(), decode.InputSpec{Sample: []int{1, 28, 28}, Scale: 255}, decode.OutputSpec{})
	if err != nil {
		b.Fatal(err)
	}
	x, err := interior.New(m, c, opener(b), interior.Options{})
	if err != nil {
		b.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 1))
	values, cots := make([]space.Value, 32), make([]space.Value, 32)
	for i := range values {
		img := space.NewImage(1, 28, 28)
		for k := range img.Pix {
			img.Pix[k] = 255 * r.Float64()
		}
		values[i], cots[i] = img, &space.Scores{Val: []float64{1, 0, 0, 0, 0, 0, 0, 0, 0, -1}}
	}
	b.Run("predict", func(b *testing.B) {
		for b.Loop() {
			if _, err := x.Predict(b.Context(), values); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("gradient", func(b *testing.B) {
		for b.Loop() {
			if _, err := x.Gradient(b.Context(), values, cots); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("tangent", func(b *testing.B) {
		for b.Loop() {
			if _, err := x.Tangent(b.Context(), values, values); err != nil {
				b.Fatal(err)
			}
		}
	})
	if err := x.Close(); err != nil {
		b.Error(err)
	}
}
