package shelf

import (
	"math"
	"runtime"

	"nero/measure/metric"

	"golang.org/x/sync/errgroup"
)

// Stats sums up every sample's curve of one metric under one model. Every list has one entry per sample; samples that
// are not computed yet, or failed, are NaN and -1. The lists are shared: callers must not change them.
type Stats struct {
	// Mean and SD are over the orbit, with the weights of the plan. They are NaN if a value is not finite: leaving it
	// out would flatter the model.
	Mean, SD []float32
	// of the finite values; NaN if there are none
	Min, Max []float32
	// the value at the identity; NaN if the plan does not visit it
	Identity []float32
	// element with the worst finite value by the metric's better direction, the first of equal ones; -1 if there is
	// none
	Worst []int32

	// extremes over all samples; NaN if there are none
	Lo, Hi float64

	// Mean before it is rounded
	orbit []float64
	// first element with a value that is not finite, -1 if there is none
	bad []int32
}

func (s *Stats) bytes() int64 { return int64(len(s.Mean)) * (6*4 + 8 + 4) }

// worse reports whether a is worse than b.
func worse(m *metric.Metric, a, b float32) bool {
	if m.Better == metric.Higher {
		return a < b
	}
	return a > b
}

func finite(v float32) bool {
	return math.Float32bits(v)&0x7f800000 != 0x7f800000
}

// noStats has room for the sums of so many samples.
func noStats(n int) *Stats {
	return &Stats{
		Mean: make([]float32, n), SD: make([]float32, n), Min: make([]float32, n), Max: make([]float32, n),
		Identity: make([]float32, n),
		Worst:    make([]int32, n), orbit: make([]float64, n), bad: make([]int32, n),
		Lo: math.NaN(), Hi: math.NaN(),
	}
}

func statsOf(values []float32, n, e int, weights []float64, identity int, m *metric.Metric) *Stats {
	s := noStats(n)
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	const block = 1024
	for from := 0; from < n; from += block {
		g.Go(func() error {
			to := min(from+block, n)
			s.samples(values[from*e:to*e], from, e, weights, identity, m)
			return nil
		})
	}
	_ = g.Wait() // nothing fails
	s.extremes()
	return s
}

// samples sums up the curves of the samples from one on.
func (s *Stats) samples(values []float32, from, e int, weights []float64, identity int, m *metric.Metric) {
	for k := range len(values) / e {
		c := values[k*e : (k+1)*e : (k+1)*e]
		s.sample(from+k, c, weights, m)
		s.Identity[from+k] = missing
		if identity >= 0 {
			s.Identity[from+k] = c[identity]
		}
	}
}

// extremes are those of all samples.
func (s *Stats) extremes() {
	for i := range s.Min {
		if lo, hi := float64(s.Min[i]), float64(s.Max[i]); !math.IsNaN(lo) {
			if math.IsNaN(s.Lo) || lo < s.Lo {
				s.Lo = lo
			}
			if math.IsNaN(s.Hi) || hi > s.Hi {
				s.Hi = hi
			}
		}
	}
}

// stats sums up curves shard by shard, as they lie in the folder.
func (s *Stream) stats(m *metric.Metric) (*Stats, error) {
	r := s.run
	out := noStats(r.n)
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, shard := range s.shards {
		g.Go(func() error {
			values := s.shard(i)
			if values == nil {
				return s.Err()
			}
			out.samples(values, shard.Lo, r.e, r.job.Weights, r.identity, m)
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	out.extremes()
	return out, nil
}

// worst is the worst finite value of a sample that has one.
func (s *Stats) worst(m *metric.Metric, i int32) float32 {
	if m.Better == metric.Higher {
		return s.Min[i]
	}
	return s.Max[i]
}

// sample sums one curve up. The order of the additions is that of package fold, so that means are the same bit for bit.
func (s *Stats) sample(i int, c []float32, weights []float64, m *metric.Metric) {
	s.Worst[i], s.bad[i], s.Min[i], s.Max[i] = -1, -1, missing, missing
	sum, weight := 0.0, 0.0
	for k, v := range c {
		if !finite(v) {
			if s.bad[i] < 0 {
				s.bad[i] = int32(k)
			}
			continue
		}
		w := 1.0
		if weights != nil {
			w = weights[k]
		}
		sum, weight = sum+float64(w*float64(v)), weight+w
		if s.Worst[i] < 0 {
			s.Worst[i], s.Min[i], s.Max[i] = int32(k), v, v
			continue
		}
		if worse(m, v, c[s.Worst[i]]) {
			s.Worst[i] = int32(k)
		}
		s.Min[i], s.Max[i] = min(s.Min[i], v), max(s.Max[i], v)
	}
	mean, spread := sum/weight, 0.0
	if s.bad[i] >= 0 {
		mean = math.NaN()
	}
	for k, v := range c {
		w := 1.0
		if weights != nil {
			w = weights[k]
		}
		spread += float64(w * (float64(v) - mean) * (float64(v) - mean))
	}
	s.orbit[i], s.Mean[i], s.SD[i] = mean, float32(mean), float32(math.Sqrt(spread/weight))
}
