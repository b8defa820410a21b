package aggregate

import (
	"maps"
	"math"
	"slices"
)

// SketchAccuracy bounds the relative error of a quantile of a [Sketch]: 1/129, about 0.8 percent.
const SketchAccuracy = 1.0 / 129

// Sketch approximates quantiles in space that grows with the spread of the numbers and not with how many they are. The
// zero value is the sketch of nothing.
//
// Each power of two is divided into 64 equal buckets with a counter each, so a bucket's width is at most 1/64 of its
// lower end, and a bucket is answered by the harmonic mean of its ends, which is off by at most [SketchAccuracy]. This
// is the layout of HdrHistogram; the guarantee is that of DDSketch (Masson, Rim and Lee, VLDB 2019) without its
// logarithm: buckets are cut from the bits of the number, and counters are integers, so merging in any order, on any
// processor, gives the same sketch. Zero, and numbers below 2^-1022 in size, have a bucket of their own that answers 0.
// Negative numbers mirror positive ones.
type Sketch struct {
	counts   map[int32]int
	n, nan   int
	min, max float64
}

// bits that a bucket ignores: all but sign, exponent and the first six of the fraction.
const ignored = 52 - 6

func bucket(x float64) int32 {
	k := int32(math.Float64bits(math.Abs(x)) >> ignored)
	if k < 64 {
		return 0 // exponent 0: zero and subnormal numbers
	}
	if x < 0 {
		return -k
	}
	return k
}

// middle is what a bucket answers: the harmonic mean of its ends.
func middle(k int32) float64 {
	switch {
	case k == 0:
		return 0
	case k < 0:
		return -middle(-k)
	}
	lo := math.Float64frombits(uint64(k) << ignored)
	d := 1 / float64(64+k&63) // (hi - lo)/lo
	return lo * (1 + d/(2+d))
}

// Add takes in a value. A NaN is counted and otherwise left out.
func (s *Sketch) Add(x float64) {
	if math.IsNaN(x) {
		s.nan++
		return
	}
	if s.counts == nil {
		s.counts = map[int32]int{}
	}
	x += 0 // zero has one sign, or the order of merges would show
	if s.n == 0 || x < s.min {
		s.min = x
	}
	if s.n == 0 || x > s.max {
		s.max = x
	}
	s.n++
	s.counts[bucket(x)]++
}

// Merge takes in what another sketch holds. The result does not depend on the order of merges.
func (s *Sketch) Merge(o *Sketch) {
	s.nan += o.nan
	if o.n == 0 {
		return
	}
	if s.counts == nil {
		s.counts = map[int32]int{}
	}
	if s.n == 0 || o.min < s.min {
		s.min = o.min
	}
	if s.n == 0 || o.max > s.max {
		s.max = o.max
	}
	s.n += o.n
	for k, c := range o.counts {
		s.counts[k] += c
	}
}

// Quantile is an approximation of the k-th smallest number with k = ⌈q·N⌉ (at least 1), for q in [0,1]: off by at most
// [SketchAccuracy] times its size. The quantiles 0 and 1 are exact. It is NaN if there are no numbers or q is not in
// range.
func (s *Sketch) Quantile(q float64) float64 {
	if s.n == 0 || !(q >= 0 && q <= 1) {
		return math.NaN()
	}
	rank := max(1, int(math.Ceil(q*float64(s.n))))
	switch {
	case rank == 1:
		return s.min
	case rank >= s.n:
		return s.max
	}
	for _, k := range slices.Sorted(maps.Keys(s.counts)) {
		if rank -= s.counts[k]; rank <= 0 {
			return min(max(middle(k), s.min), s.max)
		}
	}
	return s.max
}
