package shelf

import (
	"math"

	"nero/measure/aggregate"
)

// The quantiles of a summary come from a sketch: an exact rank, and the middle of the bucket in which the number of
// that rank lies. The same answer follows from counting the buckets of one element at a time in an array, which takes a
// nanosecond a value where a map takes twenty. Buckets are the sign, the exponent and the first six bits of the
// fraction, as in package aggregate.
const (
	ignored = 52 - 6
	// Of two float32 no difference but 0 is smaller than the smallest float32, 2^-149, and none is as large as 2^129.
	lowest  = (1023-149)*64 - 1
	buckets = (1023+129)*64 - lowest + 1
)

// bucketOf numbers the bucket of a finite number; 0 for zero, negative ones for negative numbers.
func bucketOf(x float64) int {
	k := int(math.Float64bits(x)&^(1<<63)>>ignored) - lowest
	if k < 1 {
		return 0 // zero, for nothing else is that small
	}
	if x < 0 {
		return -k
	}
	return k
}

// middleOf is what a sketch answers for a number in bucket k.
func middleOf(k int) float64 {
	if k == 0 {
		return 0
	}
	x := math.Float64frombits(uint64(max(k, -k)+lowest) << ignored)
	if k < 0 {
		x = -x
	}
	var s aggregate.Sketch
	s.Add(-math.MaxFloat64)
	s.Add(x)
	s.Add(math.MaxFloat64)
	return s.Quantile(0.5)
}

// counter counts buckets. One is used for many elements, so that its memory is made once.
type counter struct{ counts [2*buckets + 1]uint32 }

// column is what a summary says of the values at one element.
type column struct {
	aggregate.Moments

	p10, p90 float64
}

// summarise summarises values, those that are finite; it may reorder them. It is what a [aggregate.Moments] and a
// [aggregate.Sketch] say of them: counts, extremes and quantiles exactly, mean and spread but for rounding.
func summarise[T float32 | float64](c *counter, values []T) column {
	all := len(values)
	lo, hi, mean := extremes(values)
	if math.IsNaN(mean) || math.IsInf(mean, 0) {
		kept := values[:0]
		for _, v := range values {
			if d := v - v; d == 0 {
				kept = append(kept, v)
			}
		}
		values = kept
		lo, hi, mean = extremes(values)
	}
	n := len(values)
	o := column{Moments: aggregate.Moments{N: n, NaN: all - n}, p10: math.NaN(), p90: math.NaN()}
	if n == 0 {
		return o
	}
	o.Mean, o.Min, o.Max = mean, float64(lo)+0, float64(hi)+0
	if lo == hi {
		o.Mean = float64(lo) // exactly, as adding one by one gives it
	}
	a, b := 0.0, 0.0
	first, last := bucketOf(float64(lo)), bucketOf(float64(hi))
	counts := c.counts[first+buckets : last+buckets+1]
	clear(counts)
	i := 0
	for ; i+2 <= n; i += 2 {
		x, y := float64(values[i]), float64(values[i+1])
		a += float64((x - o.Mean) * (x - o.Mean))
		b += float64((y - o.Mean) * (y - o.Mean))
		counts[bucketOf(x)-first]++
		counts[bucketOf(y)-first]++
	}
	if i < n {
		x := float64(values[i])
		a += float64((x - o.Mean) * (x - o.Mean))
		counts[bucketOf(x)-first]++
	}
	o.M2 = a + b
	o.p10, o.p90 = o.rank(counts, first, 0.1), o.rank(counts, first, 0.9)
	return o
}

// extremes are the extremes and the mean of values; the mean is not finite if one of them is not, for no sum of these
// overflows.
func extremes[T float32 | float64](values []T) (lo, hi T, mean float64) {
	if len(values) == 0 {
		return 0, 0, 0
	}
	lo, hi = values[0], values[0]
	var a, b, c, d float64 // four sums, which do not wait for each other
	i := 0
	for ; i+4 <= len(values); i += 4 {
		v := values[i : i+4 : i+4]
		a += float64(v[0])
		b += float64(v[1])
		c += float64(v[2])
		d += float64(v[3])
		for _, x := range v {
			if x < lo {
				lo = x
			}
			if x > hi {
				hi = x
			}
		}
	}
	for ; i < len(values); i++ {
		a += float64(values[i])
		lo, hi = min(lo, values[i]), max(hi, values[i])
	}
	return lo, hi, (a + b + (c + d)) / float64(len(values))
}

// rank is the quantile q.
func (o *column) rank(counts []uint32, first int, q float64) float64 {
	r := max(1, int(math.Ceil(q*float64(o.N))))
	switch {
	case r == 1:
		return o.Min
	case r >= o.N:
		return o.Max
	}
	if r > o.N/2 { // from above: the bucket below which fewer than r lie
		above := o.N
		for k := len(counts) - 1; k > 0; k-- {
			if above -= int(counts[k]); above < r {
				return min(max(middleOf(first+k), o.Min), o.Max)
			}
		}
		return min(max(middleOf(first), o.Min), o.Max)
	}
	below := 0
	for k, c := range counts {
		if below += int(c); below >= r {
			return min(max(middleOf(first+k), o.Min), o.Max)
		}
	}
	return o.Max
}
