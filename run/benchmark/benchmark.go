// Package benchmark measures what a run costs beyond the engine: the same inputs through the engine alone, fed with
// ready-made batches, and through the whole run, in turn and in one process.
package benchmark

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"nero/data/space"
	"nero/data/tensor"
	"nero/model/decode"
	"nero/model/engine"
	"nero/run/eval"
	"nero/run/exec"
	"nero/run/job"

	"golang.org/x/sync/errgroup"
)

// Clock tells time.
type Clock struct {
	Now func() time.Time
	// processor time of this process, user and system, over all threads
	CPU func() time.Duration
}

// Committer makes a fresh place for the rows of one round and removes it again.
type Committer func() (c exec.Committer, remove func() error, err error)

// Cost is what one pass over the inputs took.
type Cost struct {
	CPU  time.Duration `json:"cpu_ns"`
	Wall time.Duration `json:"wall_ns"`
}

// Round is one pass of everything, in turn.
type Round struct {
	// engine alone, one worker
	EngineOne Cost `json:"engine_one"`
	// the run, one worker
	RunOne Cost `json:"run_one"`
	// engine alone, all workers
	EngineAll Cost `json:"engine_all"`
	// the run, all workers
	RunAll Cost `json:"run_all"`
}

// Report holds every round and the medians of the ratios.
type Report struct {
	Samples  int `json:"samples"`
	Elements int `json:"elements"`
	Models   int `json:"models"`
	// of one pass
	Evaluations int     `json:"evaluations"`
	Workers     int     `json:"workers"`
	Rounds      []Round `json:"rounds"`

	// processor time of the run over that of the engine, one worker
	OverheadOne float64 `json:"overhead_one"`
	// the same with all workers
	OverheadAll float64 `json:"overhead_all"`
	// evaluations a second with all workers over those with one
	Scaling float64 `json:"scaling"`
	// the same of the engine alone: what the machine gives
	EngineScale float64 `json:"engine_scaling"`
	// evaluations a second with all workers
	PerSecond float64 `json:"per_second"`
	// evaluations a second of processor time, one worker
	PerCPU float64 `json:"per_cpu_second"`
}

// feed holds the ready-made batches of one model. A pass over many inputs goes through them again and again: what an
// engine takes depends on the shapes, and memory must not grow with the inputs.
type feed struct {
	batches [][]tensor.Named
	// the batch at the end of a pass, which may be shorter and is none of those
	last []tensor.Named
	// batches of a pass
	count int
}

// at is batch i of a pass, nil beyond its end.
func (f *feed) at(i int) []tensor.Named {
	switch {
	case i >= f.count:
		return nil
	case i == f.count-1:
		return f.last
	}
	return f.batches[i%len(f.batches)]
}

// feedBytes bounds the ready-made batches of a model.
const feedBytes = 64 << 20

// Run measures over the first samples of the job, rounds times, at least 1 each. The evaluation is prepared. Median
// ratios are those of pairs measured one after the other, so that a machine whose speed drifts does not tilt them.
func Run(ctx context.Context, e *eval.Evaluation, j *job.Job, samples, workers, rounds int, clock Clock,
	keep Committer,
) (*Report, error) {
	if samples < 1 || workers < 1 || rounds < 1 {
		return nil, errors.New("benchmark: samples, workers and rounds must be at least 1")
	}
	part := *j
	part.Count = min(samples, j.Count)
	part.Shard = Shard(part.Count, workers)
	r := &Report{Samples: part.Count, Elements: len(j.Elements), Models: len(e.Models), Workers: workers}
	r.Evaluations = r.Samples * r.Elements * r.Models
	feeds, err := encode(e, part.Count)
	if err != nil {
		return nil, err
	}
	timed := func(f func() error) (Cost, error) {
		c, t := clock.CPU(), clock.Now()
		err := f()
		return Cost{CPU: clock.CPU() - c, Wall: clock.Now().Sub(t)}, err
	}
	bare := func(w int) func() error { return func() error { return engineAlone(ctx, e, feeds, w) } }
	whole := func(w int) func() error {
		return func() error {
			c, remove, err := keep()
			if err != nil {
				return err
			}
			return errors.Join(exec.Local(ctx, &part, part.Shards(), e, c, w, nil, silent{}), remove())
		}
	}
	if err := bare(workers)(); err != nil { // opens every session
		return nil, err
	}
	for range rounds {
		var o Round
		for _, step := range []struct {
			to *Cost
			f  func() error
		}{
			{&o.EngineOne, bare(1)},
			{&o.RunOne, whole(1)},
			{&o.EngineAll, bare(workers)},
			{&o.RunAll, whole(workers)},
		} {
			if *step.to, err = timed(step.f); err != nil {
				return nil, err
			}
			if step.to.CPU <= 0 || step.to.Wall <= 0 {
				return nil, fmt.Errorf(
					"benchmark: a pass of %d evaluations takes no time that can be measured; take more samples",
					r.Evaluations)
			}
		}
		r.Rounds = append(r.Rounds, o)
	}
	median := func(f func(Round) float64) float64 {
		var x []float64
		for _, o := range r.Rounds {
			x = append(x, f(o))
		}
		slices.Sort(x)
		return (x[(len(x)-1)/2] + x[len(x)/2]) / 2
	}
	ratio := func(a, b time.Duration) float64 { return a.Seconds() / b.Seconds() }
	r.OverheadOne = median(func(o Round) float64 { return ratio(o.RunOne.CPU, o.EngineOne.CPU) })
	r.OverheadAll = median(func(o Round) float64 { return ratio(o.RunAll.CPU, o.EngineAll.CPU) })
	r.Scaling = median(func(o Round) float64 { return ratio(o.RunOne.Wall, o.RunAll.Wall) })
	r.EngineScale = median(func(o Round) float64 { return ratio(o.EngineOne.Wall, o.EngineAll.Wall) })
	r.PerSecond = median(func(o Round) float64 { return float64(r.Evaluations) / o.RunAll.Wall.Seconds() })
	r.PerCPU = median(func(o Round) float64 { return float64(r.Evaluations) / o.RunOne.CPU.Seconds() })
	return r, nil
}

// Shard is the number of samples in a shard of a pass: one shard a worker, so that none waits for another. The shards
// of a real run hold more samples than this, so what a shard costs to keep is not made smaller here than it is there.
func Shard(samples, workers int) int { return max(1, (samples+workers-1)/workers) }

// encode makes the batches that a run over the first samples would make: as full as their shapes allow.
func encode(e *eval.Evaluation, samples int) ([]feed, error) {
	feeds := make([]feed, len(e.Models))
	for m, model := range e.Models {
		f, bytes := &feeds[m], 0
		var wait []space.Value
		cut := func(end bool) error {
			if f.count++; bytes > feedBytes && !end {
				wait = wait[:0]
				return nil
			}
			if model.Fixed {
				wait = append(wait, slices.Repeat(wait[len(wait)-1:], model.Batch-len(wait))...)
			}
			in, err := model.Codec.Encode(wait, nil)
			if wait = wait[:0]; end {
				f.last = in
			} else {
				f.batches, bytes = append(f.batches, in), bytes+size(in)
			}
			return err
		}
		for i := range samples {
			s, err := e.At(i)
			if err != nil {
				return nil, err
			}
			var x space.Value
			for _, g := range e.Plan.Elements {
				if x == nil || bytes <= feedBytes { // later ones are there for their shape
					if x, err = e.Plan.In.Apply(g, s.Value); err != nil {
						return nil, fmt.Errorf("sample %s: %w", s.ID, err)
					}
				}
				if n := len(wait); n > 0 && (n == model.Batch || !decode.Together(model.Codec, wait[0], x)) {
					if err := cut(false); err != nil {
						return nil, err
					}
				}
				wait = append(wait, x)
			}
		}
		if err := cut(true); err != nil {
			return nil, err
		}
	}
	return feeds, nil
}

func size(in []tensor.Named) int {
	n := 0
	for _, t := range in {
		n += len(t.Raw)
	}
	return n
}

// engineAlone runs every batch of a pass, nothing else.
func engineAlone(ctx context.Context, e *eval.Evaluation, feeds []feed, workers int) error {
	g, ctx := errgroup.WithContext(ctx)
	for w := range workers {
		g.Go(func() error {
			_, _, err := engine.Watch(ctx, func(ctx context.Context) (struct{}, error) { // as a shard is
				for m, model := range e.Models {
					if err := alone(ctx, model, &feeds[m], w, workers); err != nil {
						return struct{}{}, err
					}
				}
				return struct{}{}, nil
			})
			return err
		})
	}
	return g.Wait()
}

// alone runs every batch of one model whose turn is that of worker w.
func alone(ctx context.Context, m *eval.Model, f *feed, w, workers int) error {
	s, err := m.Pool.Get(ctx)
	if err != nil {
		return fmt.Errorf("model %s: %w", m.Name, err)
	}
	defer m.Pool.Put(s)
	for i := w; f.at(i) != nil; i += workers {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, err := s.Run(ctx, f.at(i)); err != nil {
			return fmt.Errorf("model %s: %w", m.Name, err)
		}
	}
	return nil
}

// silent watches without a word.
type silent struct{}

// Start does nothing.
func (silent) Start(int, int, int) {}

// Evaluated does nothing.
func (silent) Evaluated(int) {}

// Committed does nothing.
func (silent) Committed(job.Shard) {}
