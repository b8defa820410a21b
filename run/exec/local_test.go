package exec

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"nero/run/job"
	"nero/symmetry/group"
)

type fake struct {
	mu     sync.Mutex
	kept   map[int][]job.Row
	failAt int
	onEval func(job.Shard)
	evals  atomic.Int64
	start  [3]int
}

func (f *fake) Shard(ctx context.Context, s job.Shard, progress func(int)) ([]job.Row, error) {
	if f.onEval != nil {
		f.onEval(s)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if s.Index == f.failAt {
		return nil, errors.New("broken")
	}
	progress(s.Hi - s.Lo)
	return []job.Row{{Index: s.Lo}}, nil
}

func (f *fake) Done(s job.Shard) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, ok := f.kept[s.Index]
	return ok
}

func (f *fake) Commit(_ context.Context, s job.Shard, rows []job.Row) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.kept[s.Index]; ok {
		return errors.New("committed twice")
	}
	f.kept[s.Index] = rows
	return nil
}

func (f *fake) Start(todo, all, evaluations int) { f.start = [3]int{todo, all, evaluations} }
func (f *fake) Evaluated(n int)                  { f.evals.Add(int64(n)) }
func (f *fake) Committed(job.Shard)              {}

func theJob() *job.Job {
	return &job.Job{Count: 23, Shard: 5, Models: make([]job.ModelRef, 2), Elements: []group.Element{{0}, {1}, {2}}}
}

func TestEveryShardOnce(t *testing.T) {
	for _, workers := range []int{1, 2, 8, 100} {
		f := &fake{kept: map[int][]job.Row{2: nil}, failAt: -1}
		if err := Local(t.Context(), theJob(), theJob().Shards(), f, f, workers, nil, f); err != nil {
			t.Fatal(err)
		}
		var got []int
		for i := range f.kept {
			got = append(got, i)
		}
		slices.Sort(got)
		if !reflect.DeepEqual(got, []int{0, 1, 2, 3, 4}) {
			t.Errorf("%d workers kept %v", workers, got)
		}
		if f.evals.Load() != 18 || f.start != [3]int{4, 5, 18 * 3 * 2} {
			t.Errorf("%d workers: %d evaluated, started with %v", workers, f.evals.Load(), f.start)
		}
	}
}

func TestErrorEndsTheRun(t *testing.T) {
	f := &fake{kept: map[int][]job.Row{}, failAt: 1}
	if err := Local(t.Context(), theJob(), theJob().Shards(), f, f, 2, nil, f); err == nil || err.Error() != "broken" {
		t.Errorf("error = %v", err)
	}
}

// What is under way when the user asks to stop is finished and kept; nothing is begun after.
func TestStop(t *testing.T) {
	stop := make(chan struct{})
	f := &fake{kept: map[int][]job.Row{}, failAt: -1}
	f.onEval = func(s job.Shard) {
		if s.Index == 1 {
			close(stop)
		}
	}
	err := Local(t.Context(), theJob(), theJob().Shards(), f, f, 1, stop, f)
	var stopped *StoppedError
	if !errors.As(err, &stopped) || *stopped != (StoppedError{Done: 2, All: 5}) || len(f.kept) != 2 {
		t.Errorf("stopped: %v, kept %d", err, len(f.kept))
	}
	f.onEval = nil
	err = Local(t.Context(), theJob(), theJob().Shards(), f, f, 1, make(chan struct{}), f)
	if err != nil || len(f.kept) != 5 {
		t.Errorf("resumed: %v, kept %d", err, len(f.kept))
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	f := &fake{kept: map[int][]job.Row{}, failAt: -1}
	f.onEval = func(s job.Shard) {
		if s.Index == 2 {
			cancel()
		}
	}
	err := Local(ctx, theJob(), theJob().Shards(), f, f, 1, nil, f)
	if !errors.Is(err, context.Canceled) || len(f.kept) != 2 {
		t.Errorf("canceled: %v, kept %d", err, len(f.kept))
	}
}
