package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"nero/audit"
	"nero/measure/metric"
	"nero/model/engine/remote"
	"nero/run/exec"
	"nero/run/fold"
	"nero/run/job"
	"nero/run/store"
	"nero/run/workload"
	"nero/symmetry/group"
)

// RunOptions say how a study is run, not what it is.
type RunOptions struct {
	Engine Engine
	// Dir is the folder of the run. An unfinished run of the same job in it is resumed.
	Dir string
	// Workers is how many goroutines evaluate, at least 1. No byte of the result depends on it.
	Workers int
	// KeepGoing makes a sample that cannot be read a row with an error instead of the end of the run.
	KeepGoing bool
	// Coarse evaluates one in eight of the elements of all samples first, where that pays: the curves of the whole data
	// stand after an eighth of the time, which the run then takes longer. It changes no byte of the run.
	Coarse bool
	// Answers is how many bytes of what models answer are kept on this machine, in the user's cache folder, for other
	// runs that ask the same; those that are there are not asked for again. 0 for none.
	Answers int64
	// Budget is the time after which a run ends in good order, with what is there by then, the coarse level first; 0
	// for any time. What would not end in time is not begun.
	Budget time.Duration

	// by is the command, for people who look on; empty for nero run
	by string
}

// RunResult is a run that has ended, or a part of one.
type RunResult struct {
	// Summary holds the curves over all samples, and over slices of them.
	Summary *fold.Summary
	// JSON is the summary as the run folder keeps it; nil of a part.
	JSON []byte
	// Dir is the absolute path of the run folder; empty of a part.
	Dir string
	// Limit is the relative error that the study's audit allows; NaN if it has none that is valid.
	Limit float64
	// About is what the study says of itself.
	About string
	// Warnings are sentences about labels that do not fit the models.
	Warnings []string
	// Part says of what the summary is, if it is not of the whole run: its budget is over.
	Part *Part
}

// Run evaluates the orbit of every sample of a study and keeps the curves in a run folder. What is there already is not
// computed again. Defaults are filled in in the study.
func (a *App) Run(ctx context.Context, s *job.Study, o RunOptions) (*RunResult, error) {
	return a.run(ctx, s, o, nil)
}

// run is Run. When early is not nil it is called after each shard that is kept, with the number of samples that this
// call has kept, from several goroutines at once.
func (a *App) run(ctx context.Context, s *job.Study, o RunOptions,
	early func(r *store.Run, w *workload.Workload, kept int),
) (*RunResult, error) {
	over, err := a.budget(o)
	if err != nil {
		return nil, err
	}
	if o.Answers > 0 {
		if o.Engine.kept, err = a.recall(o.Answers); err != nil {
			return nil, err
		}
		defer a.answered(o.Engine.kept)
	}
	w, r, err := a.begun(ctx, s, o, store.Options{})
	if denied, ok := errors.AsType[*deniedError](err); ok {
		defer denied.w.Close() //nolint:errcheck // the models are not needed any more
		return a.kept(ctx, denied.dir, denied.w, denied.error)
	}
	if err != nil {
		return nil, err
	}
	defer w.Close() //nolint:errcheck // the models are not needed any more; the run's own error counts
	defer r.Close() //nolint:errcheck // releases the lock; what was committed is safe already
	var first *level
	if (o.Coarse || over != nil) && len(r.Missing()) > 0 {
		if first, err = a.coarse(ctx, w, r, o, over); err != nil {
			return nil, err
		}
		if first != nil && !first.complete() {
			return a.partly(&level{w: w, r: r}, first, over)
		}
	}
	var kept func(int)
	if early != nil {
		kept = func(n int) { early(r, w, n) }
	}
	whole := &level{w: w, r: r}
	all, err := a.evaluate(ctx, whole, o, over, kept)
	if err != nil {
		return nil, resumable(err, r.Dir())
	}
	if !all {
		return a.partly(whole, first, over)
	}
	c := closingOf(w)
	sum, b, err := a.finish(ctx, r, c)
	if err != nil {
		return nil, err
	}
	return ended(r, c, sum, b)
}

// resumable says of an error that ended the work on shards how that goes on, where it does.
func resumable(err error, dir string) error {
	if _, ok := errors.AsType[*exec.StoppedError](err); ok {
		return fmt.Errorf("%w in %s; the same command goes on from there", err, dir)
	}
	if errors.Is(err, context.Canceled) {
		return &renamed{fmt.Sprintf(
			"stopped at once; complete shards are kept in %s and the same command goes on from there", dir), err}
	}
	if _, ok := errors.AsType[*remote.Error](err); ok {
		return fmt.Errorf("%w; complete shards are kept in %s and the same command goes on from there", err, dir)
	}
	return err
}

// ended is the result of a run that is complete.
func ended(r *store.Run, c *closing, sum *fold.Summary, b []byte) (*RunResult, error) {
	out := &RunResult{Summary: sum, JSON: b, Dir: r.Dir(), Limit: limitOf(c.study), About: c.study.About}
	var err error
	if !metric.OnlyOfFeatures(r.Job().Metrics) {
		out.Warnings, err = misordered(r, sum, c.classes)
	}
	return out, err
}

// misordered says of each model under which the labels of a run seem to be numbered in another order than its classes,
// or that is right no more often than by guessing. The classes are the names of the labels, nil for none.
func misordered(r *store.Run, sum *fold.Summary, classes []string) ([]string, error) {
	at := sum.Identity()
	if at < 0 {
		return nil, nil
	}
	labels, answers := make([][]int, len(sum.Models)), make([][]int, len(sum.Models))
	for _, block := range metric.OrderBlocks(sum.Samples) {
		for row, err := range r.Rows(store.Filter{Metrics: []string{}, Lo: block[0], Hi: block[1]}) {
			if err != nil {
				return nil, err
			}
			if row.Top != nil {
				labels[row.Model] = append(labels[row.Model], row.Label)
				answers[row.Model] = append(answers[row.Model], int(row.Top[at]))
			}
		}
	}
	var out []string
	for k, model := range sum.Models {
		if w := metric.OrderWarning(labels[k], answers[k], classes); w != "" {
			out = append(out, model+": "+w)
		}
	}
	return out, nil
}

// kept is the complete and sound run of a folder that cannot be written: there is nothing to do. Of another folder it
// is the error.
func (a *App) kept(ctx context.Context, dir string, w *workload.Workload, cannot error) (*RunResult, error) {
	r, err := store.Open(dir)
	if err != nil || !r.Complete() || r.Hash() != w.Hash || r.Verify(ctx) != nil {
		return nil, cannot
	}
	sum, b, err := a.storedSummary(r)
	if err != nil {
		return nil, err
	}
	a.notef("%s cannot be written, and need not be: the run is complete, and every file is as it was written", dir)
	return ended(r, closingOf(w), sum, b)
}

// closing is what is known of a run when its rows are summed up, whether its data and models are open or not.
type closing struct {
	job   *job.Job
	hash  string
	study *job.Study
	group group.Group
	// centred scales of the models' outputs, and of their fields
	scales []float64
	fields []map[string]float64
	// root mean squares of the outputs; nil where nobody knows
	sizes []float64
	// names of the classes; nil for numbers
	classes []string
	// of the intervals; 0 for the preset
	confidence float64
}

// closingOf is what an opened study says.
func closingOf(w *workload.Workload) *closing {
	return &closing{
		job: w.Job, hash: w.Hash, study: w.Study, group: w.Group(), scales: w.Eval.Scales,
		fields: w.Eval.FieldScales, sizes: w.Eval.Sizes, classes: w.Classes, confidence: w.Study.Audit.Confidence,
	}
}

// finish folds the rows of a run whose shards are all kept, and makes its folder complete.
func (a *App) finish(ctx context.Context, r *store.Run, c *closing) (*fold.Summary, []byte, error) {
	sum, err := a.summarize(r, c)
	if err != nil {
		return nil, nil, err
	}
	b, err := json.MarshalIndent(sum, "", " ")
	if err != nil {
		return nil, nil, err
	}
	b = append(b, '\n')
	if err := r.Put("summary.json", b); err != nil {
		return nil, nil, err
	}
	return sum, b, r.Finish(ctx, map[string]string{"nero": a.Version})
}

// summarize folds the rows that the run holds.
func (a *App) summarize(r *store.Run, c *closing) (*fold.Summary, error) {
	metrics, err := a.metricsOf(c.job)
	if err != nil {
		return nil, err
	}
	return fold.Fold(fold.Input{
		Job: c.job, Hash: c.hash, Group: c.group, Metrics: a.Parts.metrics(),
		Scales: c.scales, FieldScales: c.fields, Sizes: c.sizes,
		Classes: c.classes, Rows: func(m, i int) iter.Seq2[job.Row, error] {
			return r.Rows(store.Filter{
				Models: []int{m}, Metrics: c.job.Metrics[i : i+1],
				Boxes: metrics[i].OfHits, Pixels: metrics[i].OfPixels, NoTop: true,
			})
		},
		Confidence: c.confidence,
	})
}

// metricsOf are the metrics of a job.
func (a *App) metricsOf(j *job.Job) ([]*metric.Metric, error) {
	known, err := j.Study.KnownMetrics(a.Parts.metrics())
	if err != nil {
		return nil, err
	}
	out := make([]*metric.Metric, len(j.Metrics))
	for i, name := range j.Metrics {
		if out[i], err = known.Find(name); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// runWork tells how far a run is.
type runWork struct {
	*work
	// kept, if not nil, is told how many samples this run has kept
	kept func(samples int)
	// run is told how far it is, for those who look on: by whom, and by which clock, nil to tell nobody
	run *store.Run
	by  string
	now func() time.Time

	// over says when the work has to end, nil for any time
	over *budget

	samples atomic.Int64

	mu   sync.Mutex
	told store.Progress
}

// telling is how often those who look on are told how far a run is.
const telling = 500 * time.Millisecond

// tellOthers says how far the run is after n further evaluations, now and then.
func (p *runWork) tellOthers(n int) {
	if p.now == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	if p.told.Done += n; p.told.At > 0 && now.UnixMilli()-p.told.At < telling.Milliseconds() {
		return
	}
	p.told.At = now.UnixMilli()
	_ = p.run.Tell(p.told) // nobody's run fails because somebody cannot look on
}

// Start says how much is to be done.
func (p *runWork) Start(todo, all, evaluations int) {
	if todo < all {
		p.tell(Event{Kind: Resumed, Done: all - todo, Total: all})
	}
	p.size(evaluations)
	if p.now != nil {
		p.told = store.Progress{By: p.by, Since: p.now().UnixMilli(), Total: evaluations}
		p.tellOthers(0)
	}
}

// Evaluated counts n evaluations.
func (p *runWork) Evaluated(n int) {
	p.step(n)
	p.tellOthers(n)
}

// Begin reports whether a shard may be begun: whether it will have ended in time.
func (p *runWork) Begin(s job.Shard) bool { return p.over.begin(s) }

// Committed is told of every kept shard.
func (p *runWork) Committed(s job.Shard) {
	p.over.ended(s)
	if n := p.samples.Add(int64(s.Hi - s.Lo)); p.kept != nil {
		p.kept(int(n))
	}
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
