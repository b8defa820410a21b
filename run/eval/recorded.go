package eval

import (
	"context"
	"sync"

	"nero/data/space"
	"nero/data/tensor"
	"nero/model/engine"
	"nero/run/tape"
)

// Recorded is a model with a tape: it keeps on it what the model returns, or answers from it without asking the model.
// Calls are counted, so that it serves one stream of questions and not several at once.
type Recorded struct {
	Predictor
	Tape *tape.Tape
	// Told answers from the tape.
	Told bool

	mu    sync.Mutex
	calls int
}

// Predict runs the model in its micro-batches, or reads what it returned for them.
func (r *Recorded) Predict(ctx context.Context, values []space.Value) ([]space.Value, error) {
	r.mu.Lock()
	call := r.calls
	r.calls++
	r.mu.Unlock()
	return r.Model.predict(ctx, values, r.Model.Batch, r.Workers,
		func(block int, s engine.Session) func(context.Context, []tensor.Named) ([]tensor.Named, error) {
			part := 0
			return func(ctx context.Context, in []tensor.Named) ([]tensor.Named, error) {
				at := tape.Place{Call: call, Block: block, Part: part}
				part++
				if r.Told {
					return r.Tape.Find(at)
				}
				out, err := s.Run(ctx, in)
				if err == nil {
					r.Tape.Keep(at, out)
				}
				return out, err
			}
		})
}
