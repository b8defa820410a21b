package shelf

import (
	"errors"
	"fmt"
	"runtime"
	"sync"

	"nero/run/job"
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
	m := r.models[model]
	p := r.parts[m.part]
	if 4*r.n*r.e*len(r.models) <= r.shelf.mostHeld || p.rows != nil || !p.at.complete() {
		return nil, nil //nolint:nilnil // a run may have none
	}
	j := p.at.run.Job()
	return &Stream{
		run: r, model: m.index, metric: j.Metrics[p.metrics[metric]], shards: j.Shards(), size: j.Shard,
		held: map[int]*streamed{},
	}, nil
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
