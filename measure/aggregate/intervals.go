package aggregate

import (
	"math/rand/v2"

	"nero/internal/distribution"
)

// Intervals makes intervals of many lists of numbers, and finds once what they have in common: Student's quantiles, and
// the places that resamples take, which are the same ones for all lists of one length. Both take longer than what is
// done with the numbers. No two goroutines may use it at once.
type Intervals struct {
	quantiles map[quantile]float64
	begin     func() *rand.Rand
	// the resamples of n places that were drawn, one after another, and those that come after them
	n    int
	at   []uint32
	next places
}

// quantile is what is asked of Student's distribution.
type quantile struct{ freedom, p float64 }

// NewIntervals takes a generator, the same each time that it is begun. It alone decides the draws.
func NewIntervals(begin func() *rand.Rand) *Intervals {
	return &Intervals{quantiles: map[quantile]float64{}, begin: begin}
}

// Mean is [MeanInterval], to the last bit.
func (i *Intervals) Mean(m Moments, confidence float64) Interval {
	return meanInterval(m, confidence, func(freedom, p float64) float64 {
		t, ok := i.quantiles[quantile{freedom, p}]
		if !ok {
			t = distribution.StudentQuantile(freedom, p)
			i.quantiles[quantile{freedom, p}] = t
		}
		return t
	})
}

// StudentBootstrap is [StudentBootstrap] by a generator that begins, to the last bit.
func (i *Intervals) StudentBootstrap(values []float64, resamples int, confidence float64) Interval {
	return studentBootstrap(values, resamples, confidence, i.Mean, func(n int) places { return i.of(n, resamples) })
}

// places are resamples, one after another: each call says which places of a list the next one takes, in a slice that it
// may use again.
type places func() []uint32

// drawn are resamples of n places by a generator.
func drawn(n int, r *rand.Rand) places {
	at := make([]uint32, n)
	return func() []uint32 {
		for i := range at {
			at[i] = uint32(r.IntN(n))
		}
		return at
	}
}

// mostPlaces is how many places are kept, 16 MB. Of lists so long that there are more they are drawn each time.
const mostPlaces = 1 << 22

// of are so many resamples of n places, the first of the generator.
func (i *Intervals) of(n, resamples int) places {
	if n > mostPlaces/resamples {
		return drawn(n, i.begin())
	}
	if n != i.n {
		i.n, i.at, i.next = n, i.at[:0], drawn(n, i.begin())
	}
	for len(i.at) < n*resamples {
		i.at = append(i.at, i.next()...)
	}
	rest := i.at
	return func() []uint32 {
		one := rest[:n]
		rest = rest[n:]
		return one
	}
}
