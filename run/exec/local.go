// Package exec runs the shards of a job on the cores of this machine.
package exec

import (
	"cmp"
	"context"
	"fmt"
	"math/bits"
	"slices"
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

// Gate is a [Watcher] that may keep a shard from being begun, such as one that would not end in time. The worker that
// would have begun it begins no other.
type Gate interface {
	Begin(s job.Shard) bool
}

// StoppedError is the error of a run that was asked to stop before its last shard.
type StoppedError struct{ Done, All int }

// Error says how much is kept.
func (e *StoppedError) Error() string {
	return fmt.Sprintf("stopped: %d of %d shards are kept", e.Done, e.All)
}

// Local runs those of the given shards of the job that are not done yet on the given number of workers, at least one,
// in the order of [Spread]: whoever looks at an unfinished run sees samples of the whole data set, not its beginning.
// When stop is closed no further shard is begun and those under way are finished and kept; when ctx ends they are
// abandoned. Which worker runs which shard changes nothing in what is committed.
func Local(ctx context.Context, j *job.Job, shards []job.Shard, e Evaluator, c Committer, workers int,
	stop <-chan struct{}, w Watcher,
) error {
	var todo []job.Shard
	samples := 0
	for _, s := range shards {
		if !c.Done(s) {
			todo = append(todo, s)
			samples += s.Hi - s.Lo
		}
	}
	Spread(todo)
	w.Start(len(todo), len(shards), samples*len(j.Elements)*len(j.Models))
	queue := make(chan job.Shard, len(todo))
	for _, s := range todo {
		queue <- s
	}
	close(queue)
	done, err := Each(ctx, queue, e, c, min(workers, len(todo)), stop, w)
	if err != nil {
		return err
	}
	if done < len(todo) {
		return &StoppedError{Done: len(shards) - len(todo) + done, All: len(shards)}
	}
	return nil
}

// Spread orders shards by their indexes with the bits reversed, as 0, 4, 2, 6, 1, 5, 3, 7: every beginning of the
// order lies evenly in the whole, up to a factor of two. Data sets are often sorted, by class or by where they come
// from.
func Spread(shards []job.Shard) {
	slices.SortFunc(shards, func(a, b job.Shard) int {
		return cmp.Compare(bits.Reverse64(uint64(a.Index)), bits.Reverse64(uint64(b.Index)))
	})
}

// Each runs shards as they come, until the channel is closed, and returns how many of them are kept now. One that
// somebody else has kept in the meantime is not run again. It ends early as [Local] does.
func Each(ctx context.Context, todo <-chan job.Shard, e Evaluator, c Committer, workers int, stop <-chan struct{},
	w Watcher,
) (int, error) {
	var done atomic.Int64
	var mu sync.Mutex // one shard at a time: a commit waits for the disk, not for the processor
	gate, gated := w.(Gate)
	g, ctx := errgroup.WithContext(ctx)
	next := func() (s job.Shard, ok bool, err error) {
		select {
		case <-stop:
			return s, false, nil
		case <-ctx.Done():
			return s, false, ctx.Err()
		default: // either goes before a shard that waits
		}
		select {
		case <-stop:
			return s, false, nil
		case <-ctx.Done():
			return s, false, ctx.Err()
		case s, ok = <-todo:
			return s, ok, nil
		}
	}
	for range max(1, workers) {
		g.Go(func() error {
			for {
				s, ok, err := next()
				if err != nil || !ok {
					return err
				}
				if c.Done(s) {
					done.Add(1)
					continue
				}
				if gated && !gate.Begin(s) {
					return nil
				}
				rows, err := e.Shard(ctx, s, w.Evaluated)
				if err != nil {
					return err
				}
				mu.Lock()
				err = c.Commit(ctx, s, rows)
				mu.Unlock()
				if err != nil {
					return err
				}
				done.Add(1)
				w.Committed(s)
			}
		})
	}
	err := g.Wait()
	return int(done.Load()), err
}
