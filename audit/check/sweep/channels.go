package sweep

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"

	"nero/audit"
	"nero/data/space"
	"nero/internal/elementary"
	"nero/measure/scale"
)

// Channels are parts of an output that mean different things: the planes of a picture, the scores of a classifier, the
// numbers of a vector, the columns of a matrix of shape (n, d), else the parts along the first axis.
type Channels struct {
	N int
	// Spread is the root of the mean square distance of a channel from its mean over the inputs, at the identity, all
	// its numbers added up: Σ over channels of its square is s².
	Spread []float64
	// Size is the root of the mean square of a channel without centring, NaN where that is not known.
	Size []float64
	// Squares is the sum of the squares of the error of a channel over the pairs with finite outputs, of the exact and
	// of the other elements.
	Squares map[bool][]float64
	Pairs   map[bool]int
	// Names say what the channels are where that is more than a number: "forces, column 2".
	Names []string

	// component i belongs to channel i/per%cycle
	per, cycle int
	// Of rows, pairs, signals and records, which have as many numbers as the sample has rows: mean and sum of squares
	// of each channel.
	ragged       bool
	n, mean, sum []float64
}

// Name is what a channel is called: "channel 3".
func (c *Channels) Name(k int) string {
	if k < len(c.Names) {
		return c.Names[k]
	}
	return "channel " + strconv.Itoa(k)
}

// width is how many channels a value of any length has, 0 for values of a fixed form; of is the channel of number i and
// n how many numbers of a channel there are.
func width(v space.Value) (channels int, of func(i int) int, n float64) {
	if c, ok := v.(space.Counted); ok {
		return c.Columns(), c.Column, scale.Count(v)
	}
	if d := v.Dims(); v.Kind() == space.KindScores {
		return d[0], func(i int) int { return i }, 1
	}
	return 0, nil, 1
}

// each visits the numbers of a value with the channel of each and the weight of its square.
func (c *Channels) each(v space.Value, x []float64, visit func(i, channel int, weight float64)) {
	if !c.ragged {
		for i := range x {
			visit(i, c.of(i), 1)
		}
		return
	}
	names, fields := space.Fields(v)
	if names == nil {
		fields = []space.Value{v}
	}
	from, first := 0, 0
	for _, f := range fields {
		k, of, n := width(f)
		own := f.Numbers()
		if of == nil { // a field that is one channel
			k, of = 1, func(int) int { return 0 }
		}
		for i := range own {
			if at := first + of(i); at < c.N && from+i < len(x) {
				visit(from+i, at, 1/n)
			}
		}
		from, first = from+len(own), first+k
	}
}

// see takes in an unmoved output of any length.
func (c *Channels) see(v space.Value, x []float64) {
	if !c.ragged {
		return
	}
	c.each(v, x, func(i, k int, _ float64) {
		c.n[k]++
		d := x[i] - c.mean[k]
		c.mean[k] += d / c.n[k]
		c.sum[k] += float64(d * (x[i] - c.mean[k]))
	})
}

// newChannels cuts a value into its channels.
func newChannels(v space.Value) *Channels {
	c := &Channels{per: 1, Squares: map[bool][]float64{}, Pairs: map[bool]int{}}
	names, fields := space.Fields(v)
	_, counted := v.(space.Counted)
	c.ragged = counted || names != nil
	shape := v.Dims()
	switch {
	case counted:
		c.N, _, _ = width(v)
	case names != nil:
		for i, f := range fields {
			k, _, _ := width(f)
			if k < 2 {
				c.Names = append(c.Names, names[i])
			} else {
				for j := range k {
					c.Names = append(c.Names, fmt.Sprintf("%s, column %d", names[i], j))
				}
			}
		}
		c.N = len(c.Names)
	default:
		switch len(shape) {
		case 0:
			c.N = 1
		case 1:
			c.N = shape[0]
		case 2:
			c.N = shape[1]
		default:
			c.N = shape[0]
			for _, d := range shape[1:] {
				c.per *= d
			}
		}
	}
	c.N, c.per = max(c.N, 1), max(c.per, 1)
	c.cycle = c.N
	if c.ragged {
		c.n, c.mean, c.sum = make([]float64, c.N), make([]float64, c.N), make([]float64, c.N)
	}
	return c
}

func (c *Channels) of(i int) int { return i / c.per % c.cycle }

// spread takes the sums of squares of all components over n values, and their sizes.
func (c *Channels) spread(squares, sizes []float64, n int) {
	c.Spread, c.Size = make([]float64, c.N), make([]float64, c.N)
	if c.ragged {
		for k := range c.Spread {
			c.Spread[k] = math.Sqrt(c.sum[k] / max(c.n[k], 1))
			c.Size[k] = elementary.Hypot(c.Spread[k], c.mean[k])
		}
		return
	}
	for i, s := range squares {
		c.Spread[c.of(i)] += s / float64(n)
	}
	for i, s := range sizes {
		c.Size[c.of(i)] += float64(s * s)
	}
	for k, s := range c.Spread {
		c.Spread[k], c.Size[k] = math.Sqrt(s), math.Sqrt(c.Size[k])
	}
}

// add takes in one pulled-back output z and the output y that it is held against.
func (c *Channels) add(exact bool, v space.Value, z, y []float64) {
	if c.Squares[exact] == nil {
		c.Squares[exact] = make([]float64, c.N)
	}
	s := c.Squares[exact]
	c.each(v, z, func(i, k int, w float64) {
		d := z[i] - y[i]
		s[k] += float64(w * d * d)
	})
	c.Pairs[exact]++
}

// RMS is the root of the mean over pairs of the square of a channel's error; NaN without pairs.
func (c *Channels) RMS(exact bool, k int) float64 {
	if c.Pairs[exact] == 0 {
		return math.NaN()
	}
	return math.Sqrt(c.Squares[exact][k] / float64(c.Pairs[exact]))
}

// Fits hold, for every element, the sums over inputs and components that a line through (y, z - y) needs, y the output
// unmoved and z the pulled-back one.
type Fits struct{ sums []fit }

type fit struct{ n, y, yy, d, dd, dy float64 }

func newFits(elements int) *Fits { return &Fits{sums: make([]fit, elements)} }

func (f *Fits) add(element int, z, y []float64) {
	s := &f.sums[element]
	for i, a := range y {
		d := z[i] - a
		s.n++
		s.y, s.yy = s.y+a, s.yy+float64(a*a)
		s.d, s.dd, s.dy = s.d+d, s.dd+float64(d*d), s.dy+float64(d*a)
	}
}

// leastPoints is how many points a line through them must have to say anything.
const leastPoints = 8

// Line says how much of the squares of an error is left once the pulled-back outputs of every element are allowed one
// factor, or one offset, of their own: z = a·y, or z = y + b. Left is NaN where there are too few points, or no error.
type Line struct {
	// share of the squares that is left, in [0, 1]
	Left float64
	// smallest and largest factor or offset over the elements
	Lo, Hi float64
}

// Factor fits a factor per element to the exact or to the other elements.
func (r *Result) Factor(exact bool) Line {
	return r.line(exact, func(s fit) (x, left float64) {
		if !(s.yy > 0) {
			return 1, s.dd
		}
		c := s.dy / s.yy
		return 1 + c, s.dd - float64(c*s.dy)
	})
}

// Offset fits an offset per element to the exact or to the other elements.
func (r *Result) Offset(exact bool) Line {
	return r.line(exact, func(s fit) (x, left float64) { return s.d / s.n, s.dd - s.d*s.d/s.n })
}

// Both fits a factor and an offset per element; Lo and Hi are those of the factor.
func (r *Result) Both(exact bool) Line {
	return r.line(exact, func(s fit) (x, left float64) {
		spread, common := s.yy-s.y*s.y/s.n, s.dy-s.d*s.y/s.n
		left = s.dd - s.d*s.d/s.n
		if !(spread > 1e-12*s.yy) { // y is one number: an offset says it all
			return 1, left
		}
		return 1 + common/spread, left - common*common/spread
	})
}

func (r *Result) line(exact bool, of func(fit) (x, left float64)) Line {
	l := Line{Left: math.NaN(), Lo: math.Inf(1), Hi: math.Inf(-1)}
	if r.Fits == nil {
		return l
	}
	var all, left float64
	for j, e := range r.elements {
		s := r.Fits.sums[j]
		if e.Exact != exact || s.n == 0 {
			continue
		}
		if s.n < leastPoints {
			return l
		}
		x, rest := of(s)
		all, left = all+s.dd, left+max(rest, 0)
		l.Lo, l.Hi = min(l.Lo, x), max(l.Hi, x)
	}
	if all > 0 {
		l.Left = min(left/all, 1)
	}
	return l
}

// directions is how many numbers of an output a table keeps at most, mostNumbers bounds the table.
const (
	directions  = 8
	mostNumbers = 1 << 22
)

// Table holds the pulled-back outputs of the samples and elements in few numbers: the components themselves if there
// are no more than 8, else projections on 8 fixed random directions, scaled so that the squares of the projections add
// up to those of the output in the mean.
type Table struct {
	// that have a row; all of them unless the table would be too large
	Samples []int
	// numbers per output
	K         int
	Projected bool
	// Base is the output unmoved, in Base[row*K+k]; Moved that at an element, in Moved[(row*elements+j)*K+k]. NaN where
	// it is not finite.
	Base, Moved []float64

	elements int
	// of a sample; -1 for none
	row    []int
	signs  []uint8
	size   float64
	ragged bool
	random *rand.Rand
}

// newTable makes room for outputs of d components.
func newTable(p *audit.Pass, v space.Value, d int) *Table {
	n, m := p.Subject.N, len(p.Elements)
	t := &Table{K: min(d, directions), Projected: d > directions, elements: m, row: make([]int, n)}
	if space.Style(v) != v.Form() { // as many numbers as the sample has rows
		t.ragged, t.Projected, t.K = true, true, directions
	}
	for i := range t.row {
		t.row[i] = -1
	}
	t.Samples = p.Pick(max(2, mostNumbers/max((m+1)*t.K, 1)))
	for k, i := range t.Samples {
		t.row[i] = k
	}
	t.Base, t.Moved = undefined(len(t.Samples)*t.K), undefined(len(t.Samples)*m*t.K)
	if t.Projected {
		t.size = 1 / math.Sqrt(directions)
		t.random = p.Rand("projections of the output", "")
		t.signs = signs(t.random, d)
	}
	return t
}

// signs are those of the components in each of 8 directions, a bit for each.
func signs(r *rand.Rand, d int) []uint8 {
	s := make([]uint8, d)
	for i := range s {
		s[i] = uint8(r.Uint64())
	}
	return s
}

func undefined(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = math.NaN()
	}
	return x
}

func (t *Table) base(sample int, x []float64) {
	if r := t.row[sample]; r >= 0 {
		t.Project(x, t.Base[r*t.K:(r+1)*t.K])
	}
}

func (t *Table) put(sample, element int, x []float64) {
	if r := t.row[sample]; r >= 0 {
		at := (r*t.elements + element) * t.K
		t.Project(x, t.Moved[at:at+t.K])
	}
}

// Project writes the K numbers of an output to to. Outputs of another length than the first leave it as it is.
func (t *Table) Project(x, to []float64) {
	if !t.Projected {
		if len(x) == t.K {
			copy(to, x)
		}
		return
	}
	if t.ragged && len(x) > len(t.signs) {
		t.signs = append(t.signs, signs(t.random, len(x)-len(t.signs))...)
	}
	if len(x) != len(t.signs) && !t.ragged {
		return
	}
	clear(to)
	for i, a := range x {
		s := t.signs[i]
		for k := range directions {
			if s>>k&1 == 0 {
				to[k] += a
			} else {
				to[k] -= a
			}
		}
	}
	for k := range to {
		to[k] *= t.size
	}
}

// At is number k of row i at element j, the identity for j = -1.
func (t *Table) At(i, j, k int) float64 {
	if j < 0 {
		return t.Base[i*t.K+k]
	}
	return t.Moved[(i*t.elements+j)*t.K+k]
}
