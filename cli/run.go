package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"path/filepath"
	"sync/atomic"

	"nero/audit"
	"nero/model/engine/remote"
	"nero/run/exec"
	"nero/run/fold"
	"nero/run/job"
	"nero/run/store"
	"nero/run/workload"
	"nero/symmetry/action"

	"github.com/spf13/cobra"
)

// runFlags are the flags that say how to run, not what.
type runFlags struct {
	engine    engineFlags
	out       string
	workers   int
	keepGoing bool
	json      bool
}

func (f *runFlags) add(c *cobra.Command, out string) {
	f.engine.add(c)
	c.Flags().StringVarP(&f.out, "out", "o", out, "run `folder`; an unfinished run of the same job in it is resumed")
	c.Flags().IntVarP(&f.workers, "workers", "w", workers(), "workers; their number changes no byte of the result")
	c.Flags().BoolVar(&f.keepGoing, "keep-going", false,
		"a sample that cannot be read becomes a row with an error instead of the end of the run")
	c.Flags().BoolVar(&f.json, "json", false, "print the summary as JSON")
}

func (a *App) run() *cobra.Command {
	var sf studyFlags
	var rf runFlags
	c := &cobra.Command{
		Use:   "run [STUDY.yaml | MODEL.onnx] -o DIR",
		Short: "Evaluate the orbit of every sample",
		Long: `run moves every sample along the orbit, runs the models, measures, and keeps the curve of every sample in a run
folder (Parquet; see docs/FORMAT.md). It can be stopped at any time, even killed, and resumed by the same command.`,
		Example: "  nero run studies/digits/full.yaml -o run\n" +
			"  nero run --model original=a.onnx --model augmented=b.onnx --data photos --group 'SO(2)' --orbit 72 -o " +
			"run",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := sf.study(args)
			if err != nil {
				return err
			}
			done, err := a.evaluate(cmd.Context(), s, rf, nil)
			if err != nil {
				return err
			}
			if rf.json {
				_, err := a.Out.Write(done.json)
				return err
			}
			printSummary(a.Out, done.summary, done.limit, done.store.Dir())
			return nil
		},
	}
	sf.add(c)
	a.allow(c)
	rf.add(c, "nero-run")
	return c
}

// finished is a run that has ended.
type finished struct {
	summary *fold.Summary
	// summary.json
	json  []byte
	store *store.Run
	// of the relative error, by the study's audit
	limit float64
}

// evaluate opens the study, runs what is missing and finishes the run folder. When early is not nil it is called once
// with the folder after the first shards are kept.
func (a *App) evaluate(ctx context.Context, s *job.Study, f runFlags,
	early func(*store.Run, *workload.Workload, int),
) (*finished, error) {
	if f.workers < 1 {
		return nil, fmt.Errorf("--workers is %d, want at least 1", f.workers)
	}
	dir, err := filepath.Abs(f.out)
	if err != nil {
		return nil, err
	}
	w, err := workload.Open(ctx, s, workload.Options{
		OpenEngine: a.opener(f.engine), Rules: action.Rules(),
		KeepGoing: f.keepGoing, Retry: retry(), Start: a.program,
	})
	if err != nil {
		return nil, err
	}
	defer w.Close() //nolint:errcheck // the models are not needed any more; the run's own error counts
	for _, n := range w.Notes {
		a.say("note: %s", n)
	}
	r, err := store.Create(dir, w.Job, store.Options{})
	if err != nil {
		return nil, err
	}
	defer r.Close() //nolint:errcheck // releases the lock; what was committed is safe already
	if err := w.Eval.Calibrate(ctx, f.workers); err != nil {
		return nil, err
	}
	p := newProgress(a.Err, "nero run", "evaluations", a.quiet)
	if early != nil {
		var kept atomic.Int64
		p.onShard = func(sh job.Shard) { early(r, w, int(kept.Add(int64(sh.Hi-sh.Lo)))) }
	}
	a.running.Add(1)
	err = exec.Local(ctx, w.Job, w.Eval, committer{r}, f.workers, a.Stop, p)
	a.running.Add(-1)
	p.finish()
	var stopped *exec.StoppedError
	switch {
	case errors.As(err, &stopped):
		return nil, fmt.Errorf("%w in %s; the same command goes on from there", err, dir)
	case errors.Is(err, context.Canceled):
		return nil, fmt.Errorf(
			"stopped at once; complete shards are kept in %s and the same command goes on from there", dir)
	case err != nil:
		if _, ok := errors.AsType[*remote.Error](err); ok {
			return nil, fmt.Errorf("%w; complete shards are kept in %s and the same command goes on from there", err,
				dir)
		}
		return nil, err
	}
	sum, err := summarize(r, w)
	if err != nil {
		return nil, err
	}
	b, err := json.MarshalIndent(sum, "", " ")
	if err != nil {
		return nil, err
	}
	b = append(b, '\n')
	if err := r.Put("summary.json", b); err != nil {
		return nil, err
	}
	if err := r.Finish(ctx, map[string]string{"nero": a.Version}); err != nil {
		return nil, err
	}
	return &finished{summary: sum, json: b, store: r, limit: limitOf(w.Study)}, nil
}

// retry spreads calls to endpoints that are repeated, so that the workers of many runs do not come back together.
func retry() remote.Retry { return remote.Retry{Jitter: rand.Float64} }

// summarize folds the rows that the run holds.
func summarize(r *store.Run, w *workload.Workload) (*fold.Summary, error) {
	return fold.Fold(fold.Input{
		Job: w.Job, Hash: w.Hash, Group: w.Group(), Scales: w.Eval.Scales, FieldScales: w.Eval.FieldScales,
		Classes: w.Classes, Rows: func(m, i int) iter.Seq2[job.Row, error] {
			return r.Rows(store.Filter{
				Models: []int{m}, Metrics: w.Job.Metrics[i : i+1],
				Boxes: w.Eval.Metrics[i].OfHits,
			})
		},
		Confidence: w.Study.Audit.Confidence,
	})
}

// say writes a line for a person, not for a machine.
func (a *App) say(format string, args ...any) {
	if a.quiet {
		return
	}
	line := fmt.Sprintf(format, args...)
	if a.said != nil {
		if _, before := a.said.LoadOrStore(line, true); before {
			return
		}
	}
	fmt.Fprintln(a.Err, line)
}

// committer keeps shards in a run folder.
type committer struct{ r *store.Run }

// Done reports whether a shard is kept.
func (c committer) Done(s job.Shard) bool { return c.r.Done(s.Index) }

// Commit keeps a shard.
func (c committer) Commit(ctx context.Context, s job.Shard, rows []job.Row) error {
	return c.r.Commit(ctx, s, rows, nil)
}

// limitOf is the relative error that the study's audit allows.
func limitOf(s *job.Study) float64 {
	p, err := audit.NewPolicy(s.Audit.Preset, s.Audit.Threshold, s.Audit.Confidence)
	if err != nil {
		return math.NaN() // no verdict; the audit will say what is wrong
	}
	return p.Threshold
}
