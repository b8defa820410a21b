package exec

import (
	"context"
	"errors"
	"maps"
	"math/bits"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"nero/run/job"
	"nero/symmetry/group"

	"pgregory.net/rapid"
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
		if s.Index == 4 { // the second
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

// Every shard comes once, and the first k of any number lie evenly in the whole: of the intervals that the next smaller
// power of two cuts the shards into each holds one at least, as far as there are shards in it.
func TestSpread(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 3000).Draw(t, "n")
		j := &job.Job{Count: n, Shard: 1}
		order := j.Shards()
		Spread(order)
		seen := make([]bool, n)
		for _, s := range order {
			if seen[s.Index] {
				t.Fatalf("shard %d comes twice", s.Index)
			}
			seen[s.Index] = true
		}
		if len(order) != n {
			t.Fatalf("%d of %d shards", len(order), n)
		}
		k := rapid.IntRange(1, n).Draw(t, "k")
		first := make([]int, 0, k+2)
		for _, s := range order[:k] {
			first = append(first, s.Index)
		}
		slices.Sort(first)
		// of as many as fill the next power of two a k-th is evenly spaced, up to a factor of two
		whole := 1 << bits.Len(uint(n-1))
		most := 2 * whole / k
		for i, at := range append(first[1:], n) {
			if gap := at - first[i]; gap > max(most, 1) {
				t.Fatalf("the first %d of %d shards leave %d out behind shard %d, want %d at most: %v", k, n, gap-1,
					first[i], most, first)
			}
		}
		if first[0] != 0 {
			t.Fatalf("the first %d begin at shard %d", k, first[0])
		}
	})
}

// Interrupted anywhere, the samples that are kept lie in all parts of the data.
func TestInterruptedIsSpread(t *testing.T) {
	j := &job.Job{Count: 64, Shard: 1, Models: make([]job.ModelRef, 1), Elements: []group.Element{{0}}}
	stop := make(chan struct{})
	f := &fake{kept: map[int][]job.Row{}, failAt: -1}
	f.onEval = func(job.Shard) {
		if len(f.kept) == 7 {
			close(stop)
		}
	}
	err := Local(t.Context(), j, j.Shards(), f, f, 1, stop, f)
	var stopped *StoppedError
	if !errors.As(err, &stopped) || stopped.Done != 8 {
		t.Fatalf("stopped: %v", err)
	}
	if got, want := slices.Sorted(maps.Keys(f.kept)), []int{0, 8, 16, 24, 32, 40, 48, 56}; !slices.Equal(got, want) {
		t.Errorf("kept %v, want %v", got, want)
	}
}

// gated is told of shards before they are begun, and lets the first few pass.
type gated struct {
	*fake
	left atomic.Int64
}

func (g *gated) Begin(job.Shard) bool { return g.left.Add(-1) >= 0 }

func TestGate(t *testing.T) {
	for _, workers := range []int{1, 3} {
		f := &gated{fake: &fake{kept: map[int][]job.Row{}, failAt: -1}}
		f.left.Store(3)
		err := Local(t.Context(), theJob(), theJob().Shards(), f, f, workers, nil, f)
		var stopped *StoppedError
		if !errors.As(err, &stopped) || *stopped != (StoppedError{Done: 3, All: 5}) || len(f.kept) != 3 {
			t.Errorf("%d workers, a gate that closes after three: %v, kept %d", workers, err, len(f.kept))
		}
	}
}
