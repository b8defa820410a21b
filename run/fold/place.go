package fold

import (
	"math"

	"nero/measure/metric"
)

// Place says where a curve is worst, and whether there is such a place at all.
type Place struct {
	// At is the first element with the worst value, -1 if there is no value.
	At int
	// Ties is how many elements are as bad, At among them, and Of how many elements there are.
	Ties, Of int
	// Level curves are the same at every element that has a value, as far as is shown: none of them is the place.
	Level bool
}

const (
	// same is how near the worst value others are as bad, relative to it.
	same = 1e-6
	// level is the spread, relative to the largest size, below which the digits that are shown are the same.
	level = 1e-3
)

// PlaceOf finds where the values of a curve are worst. Those that are NaN are passed over. The page says the same of
// the same curve.
func PlaceOf[T ~float32 | ~float64](values []T, better metric.Direction) Place {
	p := Place{At: -1, Of: len(values)}
	lo, hi, n := math.Inf(1), math.Inf(-1), 0
	for k, v := range values {
		x := float64(v)
		if math.IsNaN(x) {
			continue
		}
		n++
		lo, hi = min(lo, x), max(hi, x)
		if worst := p.At; worst < 0 || better == metric.Higher && v < values[worst] ||
			better != metric.Higher && v > values[worst] {
			p.At = k
		}
	}
	if p.At < 0 {
		return p
	}
	worst := float64(values[p.At])
	for _, v := range values {
		if math.Abs(float64(v)-worst) <= same*math.Abs(worst) {
			p.Ties++
		}
	}
	p.Level = n > 1 && hi-lo <= level*max(math.Abs(lo), math.Abs(hi))
	return p
}

// Place is where the means of a curve are worst.
func (c *Curve) Place(m Metric) Place {
	p := PlaceOf(c.Mean, metric.Direction(m.Better))
	if c.WorstElement >= 0 {
		p.At = c.WorstElement
	}
	return p
}
