package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"nero/present/words"
	"nero/run/fold"
	"nero/run/job"
	"nero/run/store"
	"nero/run/store/object"
	"nero/run/workload"
)

// MergeOptions say how a planned run is completed.
type MergeOptions struct {
	// Engine opens the models, to read what they answer. Any will do: nothing is computed.
	Engine Engine
	// Workers is how many goroutines measure what the plan does not say, at least 1.
	Workers int
	// To is the folder into which a run in a bucket is fetched, to be completed there; empty for a run in a folder,
	// which is completed where it is.
	To string
	// Push puts the summary and the manifest of a run in a bucket back there.
	Push bool
}

// MissingError is the error of a run that cannot be completed yet.
type MissingError struct {
	Dir string
	// Shards is how many there are, and Missing how many of them are not kept.
	Shards, Missing int
	// Damaged is how many of those were kept, and do not hold what they did.
	Damaged int
	// Indexes are those of the missing shards, as "0-4,7".
	Indexes string
}

// Error says what is missing and how it is made.
func (e *MissingError) Error() string {
	lost := ""
	if e.Damaged > 0 {
		lost = fmt.Sprintf(" (%s damaged, which count as missing now)", words.Count(e.Damaged))
	}
	return fmt.Sprintf("%s is not complete: %s of %s are missing%s: %s; work on them with: nero shard %s --index %s",
		e.Dir, words.Count(e.Missing), words.Plural(e.Shards, "shard", "shards"), lost, e.Indexes, e.Dir, e.Indexes)
}

// stale is how old an unfinished file has to be to be nobody's.
const stale = 24 * time.Hour

// Merge completes a planned run whose shards are all kept: it sums them up and writes the manifest. Others may do so at
// the same time, and workers may still have the folder open. The error is a [MissingError] while shards are missing,
// and an [AgainError] where the same call may succeed later.
func (a *App) Merge(ctx context.Context, dir string, o MergeOptions) (*RunResult, error) {
	out, err := a.merge(ctx, dir, o)
	if err != nil && ctx.Err() != nil {
		return nil, &AgainError{err}
	}
	return out, again(err)
}

func (a *App) merge(ctx context.Context, dir string, o MergeOptions) (*RunResult, error) {
	if err := a.someWorkers(o.Workers); err != nil {
		return nil, err
	}
	if !object.Is(dir) {
		if o.To != "" || o.Push {
			return nil, fmt.Errorf("%s is a folder, which is completed where it is; %s and %s are for runs in buckets",
				dir, a.option("out"), a.option("push"))
		}
		return a.mergeIn(ctx, dir, o)
	}
	at, err := a.brought(ctx, dir, o.To)
	if err != nil {
		return nil, err
	}
	out, err := a.mergeIn(ctx, o.To, o)
	if err == nil && o.Push {
		err = at.Push(ctx, o.To)
	}
	return out, err
}

// mergeIn completes the run in a folder.
func (a *App) mergeIn(ctx context.Context, dir string, o MergeOptions) (*RunResult, error) {
	j, err := store.Planned(dir)
	if err != nil {
		return nil, unplanned(dir, err)
	}
	held, err := store.Create(dir, j, store.Options{Shared: true})
	if err != nil {
		return nil, err
	}
	missing := held.Missing() // before models are opened; what is verified is not verified again
	// A shard that is damaged counts as missing from now on, for all that read the folder.
	damaged, err := held.Unmark(missing)
	complete := err == nil && len(missing) == 0 && held.Complete() && held.Verify(ctx) == nil
	if err := errors.Join(err, held.Close()); err != nil {
		return nil, err
	}
	if len(missing) > 0 {
		return nil, &MissingError{dir, len(j.Shards()), len(missing), damaged, store.Indexes(missing)}
	}
	p, _ := planOf(dir, held.Hash())
	if complete { // others may be reading it
		return a.completed(held, j, p)
	}
	c, r := a.told(ctx, j, held.Hash(), p), (*store.Run)(nil)
	if c != nil {
		r, err = store.Create(dir, j, store.Options{Shared: true, Verified: held})
	} else { // an older version planned it
		var w *workload.Workload
		w, r, err = a.joined(ctx, &place{dir: dir, near: dir}, j, held, o.Engine, o.Workers, true)
		if err == nil {
			defer w.Close() //nolint:errcheck // the models are not needed any more; the merge's own error counts
			c = closingOf(w)
		}
	}
	if err != nil {
		return nil, err
	}
	defer r.Close() //nolint:errcheck // gives the lock back; what was written is safe already
	if a.Now != nil {
		if err := r.SweepBefore(a.Now().Add(-stale)); err != nil {
			return nil, err
		}
	}
	if r.Complete() && r.Verify(ctx) == nil { // since it was looked
		return a.completed(r, j, p)
	}
	sum, b, err := a.finish(ctx, r, c)
	if err != nil {
		return nil, err
	}
	out, err := ended(r, c, sum, b)
	if err == nil {
		out.Limit = float64(p.Limit)
	}
	return out, err
}

// completed is the result of a run that is complete and sound: its summary, which is not written again.
func (a *App) completed(r *store.Run, j *job.Job, p plan) (*RunResult, error) {
	sum, b, err := a.storedSummary(r)
	if err != nil {
		return nil, err
	}
	out, err := ended(r, &closing{study: &j.Study, classes: classesIn(sum)}, sum, b)
	if err == nil {
		out.Limit = float64(p.Limit)
	}
	return out, err
}

// classesIn are the names of the classes that a summary has curves of.
func classesIn(sum *fold.Summary) (names []string) {
	for _, s := range sum.Slices { // in the order of their labels
		if s.Label >= 0 && s.Label < 1<<20 {
			names = append(names, make([]string, max(0, s.Label+1-len(names)))...)
			names[s.Label] = s.Name
		}
	}
	return names
}

// told is what the plan of a job says of all that a merge needs, so that neither data nor models are opened: a folder
// of a million photos would take more memory than their rows. It is nil where the plan lacks something.
func (a *App) told(ctx context.Context, j *job.Job, hash string, p plan) *closing {
	metrics, err := a.metricsOf(j)
	if err != nil || p.Names == nil || !p.Names.sound() {
		return nil
	}
	scales, fields, all := p.scales(len(j.Models), metrics)
	g, err := j.Study.Group.Open(ctx, nil, a.Parts.Groups...)
	if !all || err != nil { // a program defines the group
		return nil
	}
	return &closing{
		job: j, hash: hash, study: &j.Study, group: g, scales: scales, fields: fields, sizes: p.sizes(len(j.Models)),
		classes: p.Names.Classes, confidence: p.Confidence,
	}
}
