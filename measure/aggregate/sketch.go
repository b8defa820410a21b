package aggregate

import (
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
	// of numbers above and below zero, by their sizes, and of what counts as zero
	above, below counters
	zero         int
	n, nan       int
	min, max     float64
}

// counters are those of buckets in a row, in pages of which those without a number are nil. The first page holds the
// bucket first*page, and neither the first nor the last is nil, so that equal counts have equal pages.
type counters struct {
	pages []*[page]int
	first int32
}

// page is how many counters stand together: half of a power of two, so that few numbers need little room and many no
// search.
const page = 32

// at is the counter of a bucket, made if need be.
func (c *counters) at(bucket int32) *int {
	p := bucket / page
	switch {
	case len(c.pages) == 0:
		c.first, c.pages = p, make([]*[page]int, 1)
	case p < c.first:
		more := int(c.first - p)
		c.pages = append(make([]*[page]int, more, more+len(c.pages)), c.pages...)
		c.first = p
	case int(p-c.first) >= len(c.pages):
		c.pages = append(c.pages, make([]*[page]int, int(p-c.first)+1-len(c.pages))...)
	}
	q := &c.pages[p-c.first]
	if *q == nil {
		*q = new([page]int)
	}
	return &(*q)[bucket%page]
}

// merge adds other counters.
func (c *counters) merge(o *counters) {
	for i, q := range o.pages {
		if q == nil {
			continue
		}
		for k, n := range q {
			if n > 0 {
				*c.at((o.first+int32(i))*page + int32(k)) += n
			}
		}
	}
}

// up and down yield the buckets with their counters, from the smallest and from the largest, those without a number
// among them.
func (c *counters) up(yield func(int32, int) bool) {
	for i, q := range c.pages {
		for k := range q {
			if q != nil && !yield((c.first+int32(i))*page+int32(k), q[k]) {
				return
			}
		}
	}
}

func (c *counters) down(yield func(int32, int) bool) {
	for i, q := range slices.Backward(c.pages) {
		for k := page - 1; k >= 0 && q != nil; k-- {
			if !yield((c.first+int32(i))*page+int32(k), q[k]) {
				return
			}
		}
	}
}

// bits that a bucket ignores: all but sign, exponent and the first six of the fraction.
const ignored = 52 - 6

// bucket is that of a number's size: 0 for zero and subnormal numbers.
func bucket(x float64) int32 {
	k := int32(math.Float64bits(x) >> ignored & (1<<(63-ignored) - 1))
	if k < 64 {
		return 0
	}
	return k
}

// middle is what a bucket answers: the harmonic mean of its ends.
func middle(k int32) float64 {
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
	x += 0 // zero has one sign, or the order of merges would show
	if s.n == 0 || x < s.min {
		s.min = x
	}
	if s.n == 0 || x > s.max {
		s.max = x
	}
	s.n++
	switch k := bucket(x); {
	case k == 0:
		s.zero++
	case x < 0:
		*s.below.at(k)++
	default:
		*s.above.at(k)++
	}
}

// Merge takes in what another sketch holds. The result does not depend on the order of merges.
func (s *Sketch) Merge(o *Sketch) {
	s.nan += o.nan
	if o.n == 0 {
		return
	}
	if s.n == 0 || o.min < s.min {
		s.min = o.min
	}
	if s.n == 0 || o.max > s.max {
		s.max = o.max
	}
	s.n += o.n
	s.zero += o.zero
	s.above.merge(&o.above)
	s.below.merge(&o.below)
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
	inside := func(x float64) float64 { return min(max(x, s.min), s.max) }
	for k, c := range s.below.down {
		if rank -= c; rank <= 0 {
			return inside(-middle(k))
		}
	}
	if rank -= s.zero; rank <= 0 {
		return inside(0)
	}
	for k, c := range s.above.up {
		if rank -= c; rank <= 0 {
			return inside(middle(k))
		}
	}
	return s.max
}
