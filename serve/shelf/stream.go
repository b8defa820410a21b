package shelf

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"sort"
	"sync"

	"golang.org/x/sync/errgroup"

	"nero/run/job"
	"nero/run/store"
)

// mostHeld is how many bytes of curves are held at once for what goes through all of them in order: of more, a shard is
// read when its turn comes.
const mostHeld = 128 << 20

// Stream is the values of a metric under a model, one row of the elements for every sample, as they lie in the folder:
// nothing stays in memory but the shards at hand. It has the form of a matrix of package reduce. It is safe
// for concurrent use.
type Stream struct {
	run    *Run
	model  int
	metric string
	shards []job.Shard
	size   int

	mu sync.Mutex
	// the shards that were read last, by their index
	held  map[int]*streamed
	order []int
	err   error
}

// streamed is a shard that is read once by whoever needs it first.
type streamed struct {
	once   sync.Once
	values []float32
}

// Stream is what [Run.Curves] gives, for those who go through it once or twice; nil where it is held anyway: of a run
// that is small, not complete, or two side by side.
func (r *Run) Stream(model, metric int) (*Stream, error) {
	if err := r.check(model, metric); err != nil {
		return nil, err
	}
	if !r.streams(model) {
		return nil, nil //nolint:nilnil // a run may have none
	}
	m := r.models[model]
	p := r.parts[m.part]
	j := p.at.run.Job()
	return &Stream{
		run: r, model: m.index, metric: j.Metrics[p.metrics[metric]], shards: j.Shards(), size: j.Shard,
		held: map[int]*streamed{},
	}, nil
}

// streams reports whether the curves and the answers of a model are gone through shard by shard and not held.
func (r *Run) streams(model int) bool {
	p := r.parts[r.models[model].part]
	return 4*r.n*r.e*len(r.models) > r.shelf.mostHeld && p.rows == nil && p.at.complete()
}

// chosen are the shards of a run in their order, each with those of some samples that are in it; the samples are in
// their order, too.
func chosen(j *job.Job, rows []int32) iter.Seq2[job.Shard, []int32] {
	return func(yield func(job.Shard, []int32) bool) {
		for _, s := range j.Shards() {
			n := sort.Search(len(rows), func(k int) bool { return int(rows[k]) >= s.Hi })
			if n > 0 && !yield(s, rows[:n]) {
				return
			}
			rows = rows[n:]
		}
	}
}

// answers goes through the predicted classes of a model for some samples, in their order, -1 where there is none. It
// reports whether the output has classes. Where they are many, no more than a shard for each processor is in memory.
func (r *Run) answers(ctx context.Context, model int, rows []int32, do func(i int32, top []int32)) (bool, error) {
	if !r.streams(model) {
		top, err := r.Top(model)
		if err != nil || top == nil {
			return false, err
		}
		for k, i := range rows {
			if k%1024 == 0 && ctx.Err() != nil {
				return false, ctx.Err()
			}
			do(i, top[int(i)*r.e:(int(i)+1)*r.e])
		}
		return true, nil
	}
	m := r.models[model]
	p := r.parts[m.part]
	j := p.at.run.Job()
	if j.Classes == 0 {
		return false, nil
	}
	type read struct {
		shard job.Shard
		rows  []int32
		top   []int32
	}
	var some []*read
	take := func() error {
		g, ctx := errgroup.WithContext(ctx)
		for _, s := range some {
			g.Go(func() error {
				s.top = make([]int32, (s.shard.Hi-s.shard.Lo)*r.e)
				for i := range s.top {
					s.top[i] = -1
				}
				f := store.Filter{Models: []int{m.index}, Metrics: []string{}, Lo: s.shard.Lo, Hi: s.shard.Hi}
				for row, err := range p.at.run.Rows(f) {
					if err != nil {
						return err
					}
					copy(s.top[(row.Index-s.shard.Lo)*r.e:][:r.e], row.Top)
				}
				return ctx.Err()
			})
		}
		if err := g.Wait(); err != nil {
			return p.clean(err)
		}
		for _, s := range some {
			for _, i := range s.rows {
				do(i, s.top[(int(i)-s.shard.Lo)*r.e:][:r.e])
			}
		}
		some = some[:0]
		return nil
	}
	for shard, in := range chosen(j, rows) {
		if some = append(some, &read{shard: shard, rows: in}); len(some) == runtime.GOMAXPROCS(0) {
			if err := take(); err != nil {
				return false, err
			}
		}
	}
	return true, take()
}

// atRest is the predicted class of a model for every sample at the identity, -1 where there is none; nil where the
// output has no classes or the plan does not visit the identity. It is shared: callers must not change it.
func (r *Run) atRest(model int) ([]int32, error) {
	if r.identity < 0 {
		return nil, nil //nolint:nilnil // a plan may not visit it
	}
	return cached(r, key{kind: kindRest, model: model}, func() ([]int32, int64, error) {
		out, rows := make([]int32, r.n), make([]int32, r.n)
		for i := range rows {
			out[i], rows[i] = -1, int32(i)
		}
		// What is read is kept for those who ask next, so it is of no use to stop in the middle.
		there, err := r.answers(context.Background(), model, rows, func(i int32, top []int32) {
			out[i] = top[r.identity]
		})
		if err != nil || !there {
			return nil, 0, err
		}
		return out, int64(4 * len(out)), nil
	})
}

// window is the values of some samples under one or more models at the elements lo to hi-1. Each of values is a matrix
// as wide as that, and rows say where in it the samples are.
type window struct {
	lo, hi int
	values [][]float32
	rows   []int32
}

// windows goes through the values of a metric under models, for some samples in their order: all elements at once
// where curves are held anyway, else as many elements at a time as may be held.
func (r *Run) windows(ctx context.Context, models []int, k int, rows []int32, do func(w *window) error) error {
	if !slices.ContainsFunc(models, r.streams) {
		w := &window{hi: r.e, rows: rows}
		for _, m := range models {
			v, err := r.Curves(m, k)
			if err != nil {
				return err
			}
			w.values = append(w.values, v)
		}
		return do(w)
	}
	own := make([]int32, len(rows))
	for t := range own {
		own[t] = int32(t)
	}
	most := min(r.e, max(1, r.shelf.mostHeld/max(1, 4*len(rows)*len(models))))
	for lo := 0; lo < r.e; lo += most {
		w := &window{lo: lo, hi: min(lo+most, r.e), rows: own}
		for _, m := range models {
			v, err := r.gathered(ctx, m, k, rows, w.lo, w.hi)
			if err != nil {
				return err
			}
			w.values = append(w.values, v)
		}
		if err := do(w); err != nil {
			return err
		}
	}
	return nil
}

// gathered are the values of some samples at the elements lo to hi-1, read shard by shard.
func (r *Run) gathered(ctx context.Context, model, k int, rows []int32, lo, hi int) ([]float32, error) {
	m := r.models[model]
	p := r.parts[m.part]
	j := p.at.run.Job()
	out := make([]float32, len(rows)*(hi-lo))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	at := 0
	for shard, in := range chosen(j, rows) {
		to := out[at*(hi-lo):][:len(in)*(hi-lo)]
		at += len(in)
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			values, there, err := p.at.run.AppendCurves(make([]float32, 0, (shard.Hi-shard.Lo)*r.e), shard, m.index,
				j.Metrics[p.metrics[k]])
			if err == nil && !there {
				err = fmt.Errorf("shard %d is not there", shard.Index)
			}
			if err != nil {
				return err
			}
			for t, i := range in {
				copy(to[t*(hi-lo):], values[(int(i)-shard.Lo)*r.e:][lo:hi])
			}
			return nil
		})
	}
	return out, p.clean(g.Wait())
}

// Dims is the number of samples and of elements.
func (s *Stream) Dims() (rows, columns int) { return s.run.n, s.run.e }

// Row writes the values of a sample into dst. Where they cannot be read, dst is NaN and [Stream.Err] says why.
func (s *Stream) Row(dst []float64, i int) {
	at := i / s.size
	values := s.shard(at)
	e := s.run.e
	if values == nil {
		for k := range dst {
			dst[k] = float64(missing)
		}
		return
	}
	for k, v := range values[(i-at*s.size)*e : (i-at*s.size+1)*e] {
		dst[k] = float64(v)
	}
}

// shard is the values of a shard, nil where they cannot be read.
func (s *Stream) shard(at int) []float32 {
	s.mu.Lock()
	h := s.held[at]
	if h == nil {
		h = new(streamed)
		s.held[at] = h
		s.order = append(s.order, at)
		if most := 4 * runtime.GOMAXPROCS(0); len(s.order) > most { // workers go through the rows side by side
			delete(s.held, s.order[0])
			s.order = s.order[1:]
		}
	}
	s.mu.Unlock()
	h.once.Do(func() {
		p := s.run.parts[0]
		shard := s.shards[at]
		values, there, err := p.at.run.AppendCurves(make([]float32, 0, (shard.Hi-shard.Lo)*s.run.e), shard, s.model,
			s.metric)
		if err == nil && !there {
			err = fmt.Errorf("shard %d is not there", at)
		}
		if err == nil {
			h.values = values
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.err = errors.Join(s.err, err)
	})
	return h.values
}

// Err is why values could not be read, nil if all were.
func (s *Stream) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		return nil
	}
	return s.run.parts[0].clean(s.err)
}
