package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"nero/run/benchmark"
	"nero/run/exec"
	"nero/run/store"
	"nero/run/workload"
	"nero/symmetry/action"

	"github.com/spf13/cobra"
)

func (a *App) bench() *cobra.Command {
	var sf studyFlags
	var rf runFlags
	samples, rounds := 40, 7
	c := &cobra.Command{
		Use:   "bench [STUDY.yaml | MODEL.onnx]",
		Short: "Measure what a run costs beyond the engine alone",
		Long: `bench runs the first samples of a study through the engine alone, fed with ready-made batches, and through the whole
run (reading, moving, measuring, keeping), in turn and in one process, with one worker and with all, and prints the medians of
the paired ratios. Without a study it takes the built-in digits.`,
		Example: "  nero bench --samples 40 --rounds 7\n  nero bench studies/digits/full.yaml --json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if samples < 1 || rounds < 1 || rf.workers < 1 {
				return fmt.Errorf("--samples %d, --rounds %d, --workers %d: each must be at least 1", samples, rounds,
					rf.workers)
			}
			tmp, err := os.MkdirTemp("", "nero-bench-")
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
			if len(args) == 0 && len(sf.models) == 0 {
				if args, err = demoStudy(demonstrations()[0], filepath.Join(tmp, "study")); err != nil {
					return err
				}
			}
			s, err := sf.study(args)
			if err != nil {
				return err
			}
			e, err := a.openEngine(cmd.Context(), rf.engine)
			if err != nil {
				return err
			}
			w, err := workload.Open(cmd.Context(), s,
				workload.Options{Engine: e, Rules: action.Rules(), Start: a.program})
			if err != nil {
				return err
			}
			defer w.Close() //nolint:errcheck // nothing is lost
			if err := w.Eval.Calibrate(cmd.Context(), rf.workers); err != nil {
				return err
			}
			n := 0
			keep := func() (exec.Committer, func() error, error) {
				n++
				dir := filepath.Join(tmp, fmt.Sprintf("run%d", n))
				job := *w.Job
				job.Count = min(samples, w.Job.Count)
				job.Shard = benchmark.Shard(job.Count, rf.workers)
				if job.Samples != nil {
					job.Samples = job.Samples[:job.Count]
				}
				r, err := store.Create(dir, &job, store.Options{})
				if err != nil {
					return nil, nil, err
				}
				return committer{r}, func() error { return errors.Join(r.Close(), os.RemoveAll(dir)) }, nil
			}
			b, err := benchmark.Run(cmd.Context(), w.Eval, w.Job, samples, rf.workers, rounds,
				benchmark.Clock{Now: time.Now, CPU: cpuTime}, keep)
			if err != nil {
				return err
			}
			warp, err := warpTime(w)
			if err != nil {
				return err
			}
			if rf.json {
				return writeJSON(a.Out, struct {
					Engine any               `json:"engine"`
					Warp   float64           `json:"warp_us"`
					Report *benchmark.Report `json:"report"`
				}{e.Info(), warp, b})
			}
			fmt.Fprintf(a.Out, "%d samples x %d elements x %d models = %d evaluations a pass, %d rounds, medians of "+
				"paired ratios\n", b.Samples, b.Elements, b.Models, b.Evaluations, rounds)
			fmt.Fprintf(a.Out, "run over engine alone, processor time, 1 worker:   %.3f\n", b.OverheadOne)
			fmt.Fprintf(a.Out, "run over engine alone, processor time, %d workers:  %.3f\n", b.Workers, b.OverheadAll)
			fmt.Fprintf(a.Out, "speed of %d workers over 1: run %.2f, engine alone %.2f\n", b.Workers, b.Scaling,
				b.EngineScale)
			fmt.Fprintf(a.Out, "evaluations: %.0f a second with %d workers, %.0f a second of processor time\n",
				b.PerSecond, b.Workers, b.PerCPU)
			fmt.Fprintf(a.Out, "moving one sample by one element: %.2f us\n", warp)
			return nil
		},
	}
	sf.add(c)
	a.allow(c)
	rf.add(c, "")
	_ = c.Flags().MarkHidden("out")
	_ = c.Flags().MarkHidden("keep-going")
	c.Flags().IntVar(&samples, "samples", samples, "samples of one pass")
	c.Flags().IntVar(&rounds, "rounds", rounds, "passes of each kind, in turn")
	return c
}

// warpTime is the shortest mean time, of five, of moving one sample by one element, in microseconds.
func warpTime(w *workload.Workload) (float64, error) {
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
		begin, n := time.Now(), 0
		for time.Since(begin) < 50*time.Millisecond {
			for _, m := range movers {
				if err := m.Move(to, s.Value); err != nil {
					return 0, err
				}
				n++
			}
		}
		best = min(best, time.Since(begin)/time.Duration(n))
	}
	return float64(best.Nanoseconds()) / 1e3, nil
}
