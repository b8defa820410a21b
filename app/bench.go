package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"nero/model/engine"
	"nero/model/engine/provider"
	"nero/run/benchmark"
	"nero/run/exec"
	"nero/run/job"
	"nero/run/store"
	"nero/run/workload"
	"nero/symmetry/action"
)

// BenchOptions say how a benchmark is made.
type BenchOptions struct {
	Engine Engine
	// Workers is how many goroutines evaluate at most, Samples how many samples one pass has, Rounds how many passes of
	// each kind are made in turn; at least 1 each.
	Workers, Samples, Rounds int
	// CPU is the processor time of this process, over all threads; that of an engine in a process of its own is added.
	CPU func() time.Duration
}

// Benchmark is what a run costs beyond the engine alone.
type Benchmark struct {
	Engine engine.Info `json:"engine"`
	// Warp is the time of moving one sample by one element, in microseconds.
	Warp   float64           `json:"warp_us"`
	Report *benchmark.Report `json:"report"`

	rounds int
}

// Bench measures what a run of a study costs beyond the engine alone; nil stands for the built-in digits. It needs a
// clock ([App.Now]).
func (a *App) Bench(ctx context.Context, s *job.Study, o BenchOptions) (_ *Benchmark, err error) {
	if a.Now == nil || o.CPU == nil {
		return nil, errors.New("app: a benchmark needs two clocks: App.Now and BenchOptions.CPU")
	}
	tmp, err := os.MkdirTemp("", "nero-bench-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	if s == nil {
		study, err := demonstrations()[0].write(filepath.Join(tmp, "study"))
		if err != nil {
			return nil, err
		}
		if s, err = a.OpenStudy(study); err != nil {
			return nil, err
		}
	}
	w, err := workload.Open(ctx, s, workload.Options{
		OpenEngine: func(ctx context.Context, on []provider.List) (engine.Engine, error) {
			c, err := a.openEngine(ctx, o.Engine, on)
			return c.Engine, err
		},
		Providers: o.Engine.Providers, Rules: a.Parts.rules(), Start: a.program, Program: a.modelProgram,
	})
	if err != nil {
		return nil, err
	}
	defer w.Close() //nolint:errcheck // nothing is lost
	if err := w.Eval.Calibrate(ctx, o.Workers); err != nil {
		return nil, err
	}
	n := 0
	keep := func() (exec.Committer, func() error, error) {
		n++
		dir := filepath.Join(tmp, fmt.Sprintf("run%d", n))
		j := *w.Job
		j.Count = min(o.Samples, w.Job.Count)
		j.Shard = benchmark.Shard(j.Count, o.Workers)
		if j.Samples != nil {
			j.Samples = j.Samples[:j.Count]
		}
		r, err := store.Create(dir, &j, store.Options{})
		if err != nil {
			return nil, nil, err
		}
		return committer{r}, func() error { return errors.Join(r.Close(), os.RemoveAll(dir)) }, nil
	}
	var untold error
	b, err := benchmark.Run(ctx, w.Eval, w.Job, o.Samples, o.Workers, o.Rounds,
		benchmark.Clock{Now: a.Now, CPU: func() time.Duration {
			elsewhere, err := engine.Spent(ctx, w.Engine()) // the embedded engine has a process of its own
			untold = errors.Join(untold, err)
			return o.CPU() + elsewhere
		}}, keep)
	if err = errors.Join(err, untold); err != nil {
		return nil, err
	}
	warp, err := warpTime(w, a.Now)
	if err != nil {
		return nil, err
	}
	return &Benchmark{Engine: w.Engine().Info(), Warp: warp, Report: b, rounds: o.Rounds}, nil
}

// WriteText writes the benchmark for people.
func (b *Benchmark) WriteText(to io.Writer) error {
	r, out := b.Report, &strings.Builder{}
	fmt.Fprintf(out, "%d samples x %d elements x %d models = %d evaluations a pass, %d rounds, medians of "+
		"paired ratios\n", r.Samples, r.Elements, r.Models, r.Evaluations, b.rounds)
	fmt.Fprintf(out, "run over engine alone, processor time, 1 worker:   %.3f\n", r.OverheadOne)
	fmt.Fprintf(out, "run over engine alone, processor time, %d workers:  %.3f\n", r.Workers, r.OverheadAll)
	fmt.Fprintf(out, "speed of %d workers over 1: run %.2f, engine alone %.2f\n", r.Workers, r.Scaling, r.EngineScale)
	fmt.Fprintf(out, "evaluations: %.0f a second with %d workers, %.0f a second of processor time\n", r.PerSecond,
		r.Workers, r.PerCPU)
	fmt.Fprintf(out, "moving one sample by one element: %.2f us\n", b.Warp)
	_, err := io.WriteString(to, out.String())
	return err
}

// warpTime is the shortest mean time, of five, of moving one sample by one element, in microseconds.
func warpTime(w *workload.Workload, now func() time.Time) (float64, error) {
	s, err := w.Eval.At(0)
	if err != nil {
		return 0, err
	}
	in := w.Eval.Plan.In
	to, err := in.Apply(w.Group().Identity(), s.Value)
	if err != nil {
		return 0, err
	}
	p, ok := in.(action.Preparer)
	if !ok {
		return 0, nil
	}
	to = to.Clone()
	var movers []action.Mover
	for _, g := range w.Eval.Plan.Elements {
		m, err := p.Prepare(g, s.Value)
		if err != nil {
			return 0, err
		}
		movers = append(movers, m)
	}
	best := time.Duration(1 << 62)
	for range 5 {
		begin, n := now(), 0
		for now().Sub(begin) < 50*time.Millisecond {
			for _, m := range movers {
				if err := m.Move(to, s.Value); err != nil {
					return 0, err
				}
				n++
			}
		}
		best = min(best, now().Sub(begin)/time.Duration(n))
	}
	return float64(best.Nanoseconds()) / 1e3, nil
}
