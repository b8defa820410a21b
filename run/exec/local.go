// Package exec runs the shards of a job on the cores of this machine.
package exec

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"nero/run/job"

	"golang.org/x/sync/errgroup"
)

// Evaluator computes the rows of a shard. It is called from several goroutines.
type Evaluator interface {
	// Shard calls progress with the number of model evaluations since its last call.
	Shard(ctx context.Context, s job.Shard, progress func(int)) ([]job.Row, error)
}

// Committer keeps the rows of a shard, all or none. It is called from several goroutines.
type Committer interface {
	// Done reports whether the rows of s are kept already.
	Done(s job.Shard) bool
	// Commit keeps the rows of s.
	Commit(ctx context.Context, s job.Shard, rows []job.Row) error
}

// Watcher is told how far the run is. Methods are called from several goroutines.
type Watcher interface {
	// Start says how many shards are to be run of all, and how many model evaluations that is.
	Start(todo, all, evaluations int)
	// Evaluated adds n model evaluations.
	Evaluated(n int)
	// Committed says that the rows of a shard are kept.
	Committed(s job.Shard)
}

// StoppedError is the error of a run that was asked to stop before its last shard.
type StoppedError struct{ Done, All int }

// Error says how much is kept.
func (e *StoppedError) Error() string {
	return fmt.Sprintf("stopped: %d of %d shards are kept", e.Done, e.All)
}

// Local runs every shard of the job that is not done yet on the given number of workers, at least one. When stop is
// closed no further shard is begun and those under way are finished and kept; when ctx ends they are abandoned. Which
// worker runs which shard changes nothing in what is committed.
func Local(ctx context.Context, j *job.Job, e Evaluator, c Committer, workers int, stop <-chan struct{},
	w Watcher,
) error {
	all := j.Shards()
	var todo []job.Shard
	samples := 0
	for _, s := range all {
		if !c.Done(s) {
			todo = append(todo, s)
			samples += s.Hi - s.Lo
		}
	}
	w.Start(len(todo), len(all), samples*len(j.Elements)*len(j.Models))
	var next, done atomic.Int64
	var mu sync.Mutex // one shard at a time: a commit waits for the disk, not for the processor
	g, ctx := errgroup.WithContext(ctx)
	for range max(1, min(workers, len(todo))) {
		g.Go(func() error {
			for {
				select {
				case <-stop:
					return nil
				case <-ctx.Done():
					return ctx.Err()
				default:
				}
				i := int(next.Add(1)) - 1
				if i >= len(todo) {
					return nil
				}
				rows, err := e.Shard(ctx, todo[i], w.Evaluated)
				if err != nil {
					return err
				}
				mu.Lock()
				err = c.Commit(ctx, todo[i], rows)
				mu.Unlock()
				if err != nil {
					return err
				}
				done.Add(1)
				w.Committed(todo[i])
			}
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	if n := int(done.Load()); n < len(todo) {
		return &StoppedError{Done: len(all) - len(todo) + n, All: len(all)}
	}
	return nil
}
