package eval

import (
	"context"

	"nero/data/space"
)

// Predictor is a model with the number of goroutines that run it, which changes no number.
type Predictor struct {
	Model   *Model
	Workers int
}

// Predict runs the model in its micro-batches.
func (p Predictor) Predict(ctx context.Context, values []space.Value) ([]space.Value, error) {
	return p.Model.Predict(ctx, values, p.Workers)
}

// PredictBatch runs the model in batches of the given size.
func (p Predictor) PredictBatch(ctx context.Context, size int, values []space.Value) ([]space.Value, error) {
	return p.Model.PredictBatch(ctx, values, size, p.Workers)
}

// FixedBatch reports whether the model takes batches of one size alone.
func (p Predictor) FixedBatch() bool { return p.Model.Fixed }
