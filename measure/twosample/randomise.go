package twosample

import (
	"math"
	"math/rand/v2"
	"slices"

	"nero/internal/elementary"
)

// Draws is how many data sets a randomisation compares with.
const Draws = 999

// PValue is (1 + #{T_b ≥ T}) / (B + 1) for the statistic T of a data set and those of B others that are as likely as it
// is if the hypothesis holds: at most α with probability at most α, for any number of objects and any statistic (Chiu
// and
// Bloem-Reddy 2023, Non-parametric hypothesis tests for distributional group symmetry). A statistic that is NaN gives
// NaN.
func PValue(t float64, other []float64) float64 {
	if math.IsNaN(t) {
		return t
	}
	count := 1
	for _, x := range other {
		if !(x < t) {
			count++
		}
	}
	return float64(count) / float64(len(other)+1)
}

// Copies are objects with some copies each, the first of which is the object as it is and the others what became of it
// under random elements of a group. If the distribution of the objects does not change under the group, no copy of an
// object is more likely than another to be the one that was found: data sets of copies drawn at random are as likely as
// the one that there is, however few copies there are.
type Copies struct {
	Objects, Each int
	// of copy c of object i row i·Each+c
	Rows *Table
}

// P is the p-value of a statistic of data sets of copies; a data set is the number of the copy of each object.
func (c *Copies) P(statistic func(which []int) float64, r *rand.Rand) float64 {
	which := make([]int, c.Objects)
	t := statistic(which)
	other := make([]float64, Draws)
	for b := range other {
		for i := range which {
			which[i] = r.IntN(c.Each)
		}
		other[b] = statistic(which)
	}
	return PValue(t, other)
}

// Pairs are the distances between all copies of different objects.
type Pairs struct {
	c *Copies
	// row by row; float32 holds half as much, and a distance needs no more digits
	v []float32
	// of all copies of different objects, the bandwidth of the kernel
	median float64
}

// NewPairs measures the distances of all copies. Numbers are used as they are.
func NewPairs(c *Copies) *Pairs {
	n := c.Objects * c.Each
	p := &Pairs{c: c, v: make([]float32, n*n)}
	var all []float32
	for i := range n {
		for j := range i {
			d := float32(distance(c.Rows.Row(i), c.Rows.Row(j)))
			p.v[i*n+j], p.v[j*n+i] = d, d
			if i/c.Each != j/c.Each && (i+j)%c.Each == 0 { // one in so many are enough for a median
				all = append(all, d)
			}
		}
	}
	if len(all) > 0 {
		slices.Sort(all)
		p.median = float64(all[len(all)/2])
	}
	return p
}

// Energy is the energy distance between a data set of copies and all copies of other objects: 2 E|X-Y| - E|X-X'|, up to
// what is the same for all data sets (Székely and Rizzo 2013, Energy statistics). It is NaN where nothing varies.
func (p *Pairs) Energy() func(which []int) float64 {
	return p.statistic(func(d float32) float64 { return float64(d) })
}

// MMD is the squared kernel distance of the same two, with the kernel exp(-|x-y|²/2h²) and the median distance as h
// (Gretton, Borgwardt, Rasch, Schölkopf and Smola, Journal of Machine Learning Research 13, 2012), up to what is the
// same
// for all data sets. It is NaN where nothing varies.
func (p *Pairs) MMD() func(which []int) float64 {
	by := 1 / (2 * p.median * p.median)
	return p.statistic(func(d float32) float64 {
		x := float64(d)
		return -elementary.Exp(-float64(x * x * by))
	})
}

// statistic is 2 E d(X, Y) - E d(X, X') over pairs of different objects.
func (p *Pairs) statistic(d func(float32) float64) func(which []int) float64 {
	c, n := p.c, p.c.Objects*p.c.Each
	if !(p.median > 0) || c.Objects < 2 {
		return func([]int) float64 { return math.NaN() }
	}
	of := make([]float32, n*n)
	toAll := make([]float64, n)
	for i := range n {
		for j := range n {
			if i/c.Each == j/c.Each {
				continue
			}
			x := d(p.v[i*n+j])
			of[i*n+j] = float32(x)
			toAll[i] += x
		}
		toAll[i] /= float64((c.Objects - 1) * c.Each)
	}
	return func(which []int) float64 {
		cross, within := 0.0, 0.0
		for i, a := range which {
			row := of[(i*c.Each+a)*n:][:n]
			cross += toAll[i*c.Each+a]
			for j, b := range which[:i] {
				within += float64(row[j*c.Each+b])
			}
		}
		m := float64(c.Objects)
		return 2*cross/m - 2*within/(m*(m-1))
	}
}

// Moment is the statistic |Σ exp(ikα)|/n of angles in radians, one for each copy in the order of [Copies]; angles that
// are NaN, of objects that have no direction, are left out. It is NaN where none is left.
func (c *Copies) Moment(angle []float64, k int) func(which []int) float64 {
	sin, cos := make([]float64, len(angle)), make([]float64, len(angle))
	for i, a := range angle {
		sin[i], cos[i] = elementary.Sincos(float64(k) * a)
	}
	return func(which []int) float64 {
		s, t, n := 0.0, 0.0, 0
		for i, a := range which {
			if at := i*c.Each + a; !math.IsNaN(angle[at]) {
				s, t, n = s+sin[at], t+cos[at], n+1
			}
		}
		return elementary.Hypot(s, t) / float64(n)
	}
}
