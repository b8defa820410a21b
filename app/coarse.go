package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"nero/present/words"
	"nero/run/exec"
	"nero/run/fold"
	"nero/run/job"
	"nero/run/store"
	"nero/run/workload"
)

// oneIn is of how many elements the coarse level of a run visits one.
const oneIn = 8

// level is a run, or its coarse level, with its folder.
type level struct {
	w *workload.Workload
	r *store.Run
}

func (l *level) complete() bool { return len(l.r.Missing()) == 0 }

// Part says of what a summary is that is not of the whole run.
type Part struct {
	// Elements of AllElements are visited.
	Elements, AllElements int
	// Samples of AllSamples are there.
	Samples, AllSamples int
	// Kept of Shards of the whole run are kept already.
	Kept, Shards int
	// Budget was the time that the run had.
	Budget time.Duration
	// Dir is the absolute path of the run folder.
	Dir string
}

// WriteText says in sentences what is there and how it goes on.
func (p *Part) WriteText(to io.Writer) error {
	what := "nothing could be ended in that time"
	if p.Samples > 0 {
		what = fmt.Sprintf("%s of %s elements, %s of %s samples", words.Count(p.Elements), words.Count(p.AllElements),
			words.Count(p.Samples), words.Count(p.AllSamples))
		if p.Elements < p.AllElements {
			what += "; what is worst along an orbit is so among these elements, and the others may be worse"
		}
	}
	_, err := io.WriteString(to, words.Wrap(fmt.Sprintf("PART of the run, whose budget of %s is over: %s. %s of %s of "+
		"the whole run are kept in %s; the same command goes on, with a budget or without one, and ends as if there "+
		"had been none.\n", p.Budget, what, words.Count(p.Kept), words.Plural(p.Shards, "shard", "shards"), p.Dir),
		terminal, 2))
	return err
}

// coarse evaluates the coarse level of a run beside it, as far as the budget goes; nil where there is none.
func (a *App) coarse(ctx context.Context, w *workload.Workload, r *store.Run, o RunOptions, over *budget) (*level,
	error,
) {
	c, left, why, err := w.Coarse(oneIn)
	if err != nil {
		return nil, err
	}
	if c == nil {
		if o.Coarse {
			a.notef("no coarse level: %s", why)
		}
		return nil, nil //nolint:nilnil // the run has none
	}
	cr, err := store.Create(r.CoarseDir(), c.Job, store.Options{})
	if errors.Is(err, store.ErrIncompatible) { // of another version
		if err := os.RemoveAll(r.CoarseDir()); err != nil {
			return nil, fmt.Errorf("the coarse level of another version of nero: %w", err)
		}
		cr, err = store.Create(r.CoarseDir(), c.Job, store.Options{})
	}
	if err != nil {
		return nil, err
	}
	defer cr.Close() //nolint:errcheck // releases the lock; what was committed is safe already
	l := &level{c, cr}
	if cr.Complete() {
		return l, nil
	}
	text := fmt.Sprintf("a first look: %s of %s elements of all samples", words.Count(len(c.Job.Elements)),
		words.Count(len(w.Job.Elements)))
	if len(left) > 0 {
		text += fmt.Sprintf("; not in it: %s, for which all elements are needed", words.List(left))
	}
	a.notef("%s", text)
	p := plan{
		KeepGoing: o.KeepGoing, Confidence: w.Study.Audit.Confidence, Limit: fold.Number(limitOf(w.Study)),
	}
	p.take(c)
	p.Names = namesOf(c)
	if err := cr.PutPlan(p); err != nil {
		return nil, err
	}
	all, err := a.evaluate(ctx, l, o, over, nil)
	if err != nil {
		return nil, resumable(err, r.Dir())
	}
	if !all {
		return l, nil
	}
	if _, _, err := a.finish(ctx, cr, closingOf(c)); err != nil {
		return nil, err
	}
	a.notef("the first look is complete: nero serve %s shows it while the run goes on", r.Dir())
	return l, nil
}

// evaluate evaluates the shards of a level that are missing, and reports whether all are there now: otherwise the
// budget is over.
func (a *App) evaluate(ctx context.Context, l *level, o RunOptions, over *budget, kept func(int)) (bool, error) {
	p := &runWork{
		work: a.begin(TaskRun, "evaluations"), now: a.Now, run: l.r, by: cmp.Or(o.by, "nero run"), kept: kept,
		over: over,
	}
	limited, cancel := over.limit(ctx, l.w.Job)
	defer cancel()
	a.running.Add(1)
	err := exec.Local(limited, l.w.Job, l.w.Job.Shards(), l.w.Eval, committer{l.r}, o.Workers, a.Stop, p)
	a.running.Add(-1)
	p.end()
	if err != nil && over.isOver(ctx, limited, err) {
		return l.complete(), nil
	}
	return err == nil, err
}

// partly is the result of a run whose budget is over: of its coarse level, where it has one, else of its samples that
// are there.
func (a *App) partly(whole, first *level, over *budget) (*RunResult, error) {
	l := whole
	if first != nil {
		l = first
	}
	sum, err := a.summarize(l.r, closingOf(l.w))
	if err != nil {
		return nil, err
	}
	out := &RunResult{Summary: sum, Dir: whole.r.Dir(), Limit: limitOf(whole.w.Study), About: whole.w.Study.About}
	if out.Warnings, err = misordered(l.r, sum, l.w.Classes); err != nil {
		return nil, err
	}
	all := len(whole.w.Job.Shards())
	out.Part = &Part{
		Elements: len(sum.Elements), AllElements: len(whole.w.Job.Elements), AllSamples: whole.w.Job.Count,
		Kept: all - len(whole.r.Missing()), Shards: all, Budget: over.whole, Dir: whole.r.Dir(),
	}
	missing := l.r.Missing()
	sum.Samples = l.w.Job.Count
	for _, s := range missing {
		sum.Samples -= s.Hi - s.Lo
	}
	out.Part.Samples = sum.Samples
	b, err := json.MarshalIndent(sum, "", " ")
	out.JSON = append(b, '\n')
	return out, err
}

// budget is the time that a run has. Of nil all methods do nothing.
type budget struct {
	whole time.Duration
	until time.Time
	now   func() time.Time

	mu sync.Mutex
	// evaluations of a sample of the level that is under way
	each  int
	began map[int]time.Time
	// of the shards that have ended: time of their workers, for so many evaluations
	spent     time.Duration
	evaluated int
	// a shard was not begun
	refused bool
}

// errOver is why shards are abandoned.
var errOver = errors.New("the budget of the run is over")

// budget is that of a run, which begins now; nil for any time.
func (a *App) budget(o RunOptions) (*budget, error) {
	switch {
	case o.Budget == 0:
		return nil, nil //nolint:nilnil // any time
	case o.Budget < 0:
		return nil, fmt.Errorf("%s is %s, want a time such as 60s or 10m", a.option("budget"), o.Budget)
	case a.Now == nil:
		return nil, fmt.Errorf("%s needs a clock", a.option("budget"))
	}
	return &budget{whole: o.Budget, until: a.Now().Add(o.Budget), now: a.Now}, nil
}

// limit begins a level. Shards that are under way at its end may take a quarter of the budget longer, as what they take
// is estimated, and no more.
func (b *budget) limit(ctx context.Context, j *job.Job) (context.Context, context.CancelFunc) {
	if b == nil {
		return ctx, func() {}
	}
	b.each, b.began = len(j.Elements)*len(j.Models), map[int]time.Time{}
	const grace = 4
	return context.WithTimeoutCause(ctx, max(0, b.until.Sub(b.now()))+b.whole/grace, errOver)
}

// begin reports whether a shard will have ended in time, at the rate of those before it. The first one is begun if
// there is any time left.
func (b *budget) begin(s job.Shard) bool {
	if b == nil {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	end := now
	if b.evaluated > 0 {
		end = now.Add(time.Duration(float64(b.spent) / float64(b.evaluated) * float64((s.Hi-s.Lo)*b.each)))
	}
	if !now.Before(b.until) || end.After(b.until) {
		b.refused = true
		return false
	}
	b.began[s.Index] = now
	return true
}

// ended takes the time of a shard.
func (b *budget) ended(s job.Shard) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.spent += b.now().Sub(b.began[s.Index])
	b.evaluated += (s.Hi - s.Lo) * b.each
}

// isOver reports whether work ended with an error because its time is over.
func (b *budget) isOver(ctx, limited context.Context, err error) bool {
	if b == nil || ctx.Err() != nil {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, stopped := errors.AsType[*exec.StoppedError](err); stopped && b.refused {
		return true
	}
	abandoned := errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
	return abandoned && errors.Is(context.Cause(limited), errOver) // and no disk that was full in that moment
}
