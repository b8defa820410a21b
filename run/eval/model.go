package eval

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"nero/data/space"
	"nero/data/tensor"
	"nero/model/decode"
	"nero/model/engine"

	"golang.org/x/sync/errgroup"
)

// Model is one model ready to run: how samples become its input, how its output is read, and where sessions come from.
type Model struct {
	Name  string
	Codec decode.Codec
	// Batch is the micro-batch, at least 1. It is part of the job, so that every worker count computes the same
	// numbers.
	Batch int
	// Fixed says that the model's batch axis has the length Batch and no other: a shorter batch is filled with copies
	// of its last value, whose predictions are dropped.
	Fixed bool
	Pool  *Pool

	// after brings a prediction to the one form in which predictions are compared; nil if it has it.
	after func(space.Value) (space.Value, error)
}

// Pool lends sessions of one model. A concurrent engine has one session that everybody shares; otherwise as many are
// opened as are out at once, and kept.
type Pool struct {
	open   func(context.Context) (engine.Session, error)
	shared bool

	mu   sync.Mutex
	free []engine.Session
	all  []engine.Session
}

// NewPool makes the pool of a model. Nothing is opened yet.
func NewPool(e engine.Engine, model []byte, o engine.Options) *Pool {
	return &Pool{
		open:   func(ctx context.Context) (engine.Session, error) { return e.Open(ctx, model, o) },
		shared: e.Concurrent(),
	}
}

// Get lends a session; give it back with Put.
func (p *Pool) Get(ctx context.Context) (engine.Session, error) {
	p.mu.Lock()
	if p.shared {
		defer p.mu.Unlock() // held while opening: the second caller must wait for the one session
		if len(p.all) > 0 {
			return p.all[0], nil
		}
		s, err := p.open(ctx)
		if err == nil {
			p.all = append(p.all, s)
		}
		return s, err
	}
	if n := len(p.free); n > 0 {
		s := p.free[n-1]
		p.free = p.free[:n-1]
		p.mu.Unlock()
		return s, nil
	}
	p.mu.Unlock()
	s, err := p.open(ctx)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	p.all = append(p.all, s)
	p.mu.Unlock()
	return s, nil
}

// Put takes a session back that can be lent again.
func (p *Pool) Put(s engine.Session) {
	if p.shared {
		return
	}
	p.mu.Lock()
	p.free = append(p.free, s)
	p.mu.Unlock()
}

// drop takes a session back that has failed: an engine may be in any state after an error, and whoever comes next gets
// a new one. A shared session may still be at work for others and stays.
func (p *Pool) drop(s engine.Session) {
	if p.shared {
		return
	}
	p.mu.Lock()
	p.all = slices.DeleteFunc(p.all, func(o engine.Session) bool { return o == s })
	p.mu.Unlock()
	_ = s.Close() // the error that it failed with is the one to report
}

// Close closes every session that was opened. None may be out.
func (p *Pool) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var errs []error
	for _, s := range p.all {
		errs = append(errs, s.Close())
	}
	p.all, p.free = nil, nil
	return errors.Join(errs...)
}

// predictor runs batches of one model on one session, with buffers that it reuses.
type predictor struct {
	m      *Model
	s      engine.Session
	failed bool
	// in is the last encoded batch; it is reused by batches of as many values.
	in []tensor.Named
	n  int
	// held is how many values that is, without those that fill a batch up.
	held int
	// given is the next batch if another model has laid it out already; it is used once.
	given []tensor.Named
	// through is asked in place of the session; nil for the session
	through func(ctx context.Context, in []tensor.Named) ([]tensor.Named, error)
}

// close gives the session back.
func (p *predictor) close() {
	if p.failed {
		p.m.Pool.drop(p.s)
		return
	}
	p.m.Pool.Put(p.s)
}

// run calls give with the prediction for each of values, in order. No more than a micro-batch of predictions is held at
// a time. What goes through the model together has one shape: a molecule of another size begins another batch, unless
// its rows are padded.
func (p *predictor) run(ctx context.Context, values []space.Value, give func(space.Value) error) error {
	for len(values) > 0 {
		n := p.together(values)
		batch := values[:n]
		values = values[n:]
		if p.m.Fixed && n < p.m.Batch {
			batch = append(slices.Clone(batch), slices.Repeat(batch[n-1:], p.m.Batch-n)...)
		}
		if p.n != len(batch) {
			p.in, p.n = nil, len(batch)
		}
		in := p.given
		if p.given = nil; in == nil {
			var err error
			if in, err = p.encode(batch); err != nil {
				return fmt.Errorf("model %s: input: %w", p.m.Name, err)
			}
			p.in, p.held = in, n
		}
		ask := p.through
		if ask == nil {
			ask = p.s.Run
		}
		raw, err := ask(ctx, in)
		if err != nil {
			p.failed = true
			return fmt.Errorf("model %s: %w", p.m.Name, err)
		}
		got, err := decode.DecodeFor(p.m.Codec, raw, batch)
		if err != nil {
			return fmt.Errorf("model %s: output: %w", p.m.Name, err)
		}
		for _, y := range got[:n] {
			if p.m.after != nil {
				if y, err = p.m.after(y); err != nil {
					return fmt.Errorf("model %s: output: %w", p.m.Name, err)
				}
			}
			if err := give(y); err != nil {
				return err
			}
		}
	}
	return nil
}

// culprit finds the value that is to blame for a fatal error of the batch that values begin with, and what it does when
// it is asked alone; -1 and the error itself where none does.
func (p *predictor) culprit(ctx context.Context, values []space.Value, err error) (int, error) {
	n := p.together(values)
	if n == 1 {
		return 0, err
	}
	for i := range n {
		alone := p.run(ctx, values[i:i+1], func(space.Value) error { return nil })
		if alone != nil && (Fatal(alone) || ctx.Err() != nil) {
			return i, alone
		}
	}
	return -1, err
}

// together is how many of the first values, at most a micro-batch, go through the model in one batch.
func (p *predictor) together(values []space.Value) int {
	k := 1
	for k < min(p.m.Batch, len(values)) && decode.Together(p.m.Codec, values[0], values[k]) {
		k++
	}
	return k
}

// Predict runs the model on values, cut into its micro-batches in order, on up to workers goroutines. The cut does not
// depend on workers, so neither do the numbers.
func (m *Model) Predict(ctx context.Context, values []space.Value, workers int) ([]space.Value, error) {
	return m.PredictBatch(ctx, values, m.Batch, workers)
}

// PredictBatch is [Model.Predict] with another micro-batch, to measure what the batch changes. A model whose batch axis
// is fixed keeps its own.
func (m *Model) PredictBatch(ctx context.Context, values []space.Value, batch, workers int) ([]space.Value, error) {
	return m.predict(ctx, values, batch, workers, nil)
}

// predict asks, with a record, that in place of the session, told which micro-batch it is.
func (m *Model) predict(ctx context.Context, values []space.Value, batch, workers int,
	through func(block int, s engine.Session) func(context.Context, []tensor.Named) ([]tensor.Named, error),
) ([]space.Value, error) {
	other := *m
	if !m.Fixed {
		other.Batch = max(batch, 1)
	}
	out := make([]space.Value, len(values))
	g, ctx := errgroup.WithContext(ctx)
	step := other.Batch
	blocks := (len(values) + step - 1) / step
	workers = max(1, min(workers, blocks))
	for w := range workers {
		g.Go(func() error {
			s, err := m.Pool.Get(ctx)
			if err != nil {
				return fmt.Errorf("model %s: %w", m.Name, err)
			}
			p := predictor{m: &other, s: s}
			defer p.close()
			for b := w; b < blocks; b += workers {
				if err := ctx.Err(); err != nil {
					return err
				}
				at := b * step
				if through != nil {
					p.through = through(b, s)
				}
				err := p.run(ctx, values[at:min(at+step, len(values))], func(y space.Value) error {
					out[at] = y
					at++
					return nil
				})
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return out, nil
}
