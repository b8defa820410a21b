package scale

import (
	"fmt"
	"math"
	"slices"

	"nero/data/space"
)

// Moments are the mean of vectors of one length, and the squares of their distances from it, by Welford's recurrence
// (Technometrics 4, 1962).
type Moments struct {
	// N is how many vectors were taken in.
	N    int
	Mean []float64
	// Squares are the sums of the squared distances, component by component, and Square is their sum, in the order in
	// which they came: the last digits of the two ways differ.
	Squares []float64
	Square  float64
}

// Take takes in one vector. It panics if there were shorter ones before.
func (m *Moments) Take(x []float64) {
	if m.Mean == nil {
		m.Mean, m.Squares = make([]float64, len(x)), make([]float64, len(x))
	}
	m.N++
	for i, a := range x {
		d := a - m.Mean[i]
		m.Mean[i] += d / float64(m.N)
		m.Squares[i] += float64(d * (a - m.Mean[i]))
		m.Square += float64(d * (a - m.Mean[i]))
	}
}

func (m *Moments) clone() Moments {
	c := *m
	c.Mean, c.Squares = slices.Clone(m.Mean), slices.Clone(m.Squares)
	return c
}

// Population is the rows of a value all of which are one population, whatever their place in it: the force on one atom
// is as much a force as that on another. It is nil for values whose numbers have a place, such as the moments of a
// signal.
func Population(v space.Value) space.Counted {
	if r, ok := v.(*space.Rows); ok {
		return r
	}
	return nil
}

// Spread accumulates the centred scale of a list of values of one style, one at a time.
type Spread struct {
	n     int
	style string
	// "" once two forms were seen
	form string
	// component by component, as long as all values have as many
	whole Moments
	// Σ ‖v‖² over the counts
	square float64
	// the first value whose differences are shares: a mask, edges, boxes
	first space.Value
	// whether another one differs from it
	varies bool

	// count of the first value
	size float64
	// Rows of numbers of every length are centred column by column.
	rows Moments
	// all rows are one population
	pooled bool
	// of the fields of a record
	fields []*Spread
}

// Add takes in one value with finite numbers. The error wraps [ErrForm] if it is not of the style of those before.
func (s *Spread) Add(v space.Value) error {
	form := v.Form()
	if f := space.Style(v); s.n == 0 {
		s.style, s.form, s.size = f, form, Count(v)
		s.pooled = Population(v) != nil
	} else if f != s.style {
		return fmt.Errorf("%w: %s, was %s before", ErrForm, form, s.Form())
	}
	if form != s.form {
		s.form = ""
	}
	s.n++
	if names, fields := space.Fields(v); names != nil {
		if s.fields == nil {
			for range fields {
				s.fields = append(s.fields, &Spread{})
			}
		}
		for i, f := range fields {
			if err := s.fields[i].Add(f); err != nil {
				return fmt.Errorf("field %s: %w", names[i], err)
			}
		}
		return nil
	}
	if _, ok := v.(space.Linear); !ok { // its differences are shares
		if s.first == nil {
			s.first = v.Clone()
		}
		d, err := Compare(v, s.first)
		s.varies = s.varies || err != nil || !(d.Norm == 0)
		return nil //nolint:nilerr // a value of another form is a value that varies
	}
	v = space.Flat(v)
	if c, ok := v.(space.Counted); ok {
		for i := range c.Count() {
			s.rows.Take(c.Row(i))
		}
		if c.Count() == 0 {
			s.rows.N++ // an empty value counts as one row, as in its norm
		}
	}
	x := v.Numbers()
	var square float64
	for _, a := range x {
		square += float64(a * a)
	}
	if s.n == 1 || len(s.whole.Mean) == len(x) {
		s.whole.N = s.n - 1 // of values of several forms those of the first form count; their scale is that of rows
		s.whole.Take(x)
	}
	s.square += square / Count(v)
	return nil
}

// N is the number of values taken in.
func (s *Spread) N() int { return s.n }

// Form is the form of the values, their style if they have several forms.
func (s *Spread) Form() string {
	if s.form == "" {
		return s.style
	}
	return s.form
}

// Field is the spread of a field of the records, nil where there was none.
func (s *Spread) Field(i int) *Spread {
	if i < len(s.fields) {
		return s.fields[i]
	}
	return nil
}

// Scale is s = (E ‖v - E v‖²)^½, the norm being that of [Difference]. Rows are centred column by column over all rows
// of all values, as the metric relative does: the force on one atom is as much a force as that on another. So are pairs
// and signals of several lengths, all other values component by component. Masks and boxes have no scale, their
// differences are shares already: 1 if some differ, 0 if all are equal; so do records, whose fields have scales of
// their own. NaN without values.
func (s *Spread) Scale() float64 {
	if s.n == 0 {
		return math.NaN()
	}
	if s.fields != nil {
		for _, f := range s.fields {
			if f.Scale() > 0 {
				return 1
			}
		}
		return 0
	}
	if s.first != nil {
		if s.varies {
			return 1
		}
		return 0
	}
	var t float64
	if (s.pooled || s.form == "") && len(s.rows.Mean) > 0 {
		for _, m := range s.rows.Squares {
			t += m
		}
		return math.Sqrt(t / float64(s.rows.N))
	}
	for _, m := range s.whole.Squares {
		t += m
	}
	return math.Sqrt(t / float64(s.n) / s.size)
}

// RMS is (E ‖v‖²)^½, the size of the values without centring; for masks and boxes 1, for records the largest of the
// fields over its scale. NaN without values.
func (s *Spread) RMS() float64 {
	if s.n == 0 {
		return math.NaN()
	}
	if s.fields != nil {
		most := 1.0
		for _, f := range s.fields {
			if r := f.RMS() / f.Scale(); r > most && !math.IsInf(r, 1) {
				most = r
			}
		}
		return most
	}
	if s.first != nil {
		return 1
	}
	return math.Sqrt(s.square / float64(s.n))
}

// Squares are, for every component, the sum of the squares of its distances from its mean; nil for masks, records,
// values of several forms and without values.
func (s *Spread) Squares() []float64 {
	if s.form == "" {
		return nil
	}
	return slices.Clone(s.whole.Squares)
}

// Sizes are, for every component, its root mean square without centring; nil where [Spread.Squares] is.
func (s *Spread) Sizes() []float64 {
	if s.form == "" || s.whole.N == 0 {
		return nil
	}
	out := make([]float64, len(s.whole.Mean))
	for i, m := range s.whole.Mean {
		out[i] = math.Sqrt(s.whole.Squares[i]/float64(s.whole.N) + float64(m*m))
	}
	return out
}

// byRow says that values are centred by columns, whatever their lengths.
func (s *Spread) byRow() bool { return (s.pooled || s.form == "") && len(s.rows.Mean) > 0 }

// columns are the scales and the sizes of n parts of the values. Of tells to which part component i belongs.
func (s *Spread) columns(n int, of func(i int) int) (own, size []float64) {
	own, size = make([]float64, n), make([]float64, n)
	m, count := &s.whole, s.size
	if s.byRow() {
		m, count, of = &s.rows, 1, func(i int) int { return i }
	}
	for i, q := range m.Squares {
		k := of(i)
		own[k] += q / float64(m.N) / count
		size[k] += (q/float64(m.N) + float64(m.Mean[i]*m.Mean[i])) / count
	}
	for k := range own {
		own[k], size[k] = math.Sqrt(own[k]), math.Sqrt(size[k])
	}
	return own, size
}

// distances are the squared distances of n parts of a value from the mean of the values taken in, in the norm of
// [Difference]; zeros where the value has no such distance.
func (s *Spread) distances(v space.Value, n int, of func(i int) int) []float64 {
	out := make([]float64, n)
	if of == nil {
		of = func(int) int { return 0 }
	}
	if s.first != nil { // shares
		return out
	}
	v = space.Flat(v)
	mean, x, count := s.whole.Mean, v.Numbers(), Count(v)
	if c, ok := v.(interface {
		Count() int
		Row(i int) []float64
	}); ok && s.byRow() {
		mean = s.rows.Mean
		for i := range c.Count() {
			for j, a := range c.Row(i) {
				k := 0
				if n > 1 {
					k = j
				}
				out[k] += (a - mean[j]) * (a - mean[j]) / count
			}
		}
		return out
	}
	if len(mean) != len(x) {
		return out
	}
	for i, a := range x {
		out[of(i)] += (a - mean[i]) * (a - mean[i]) / count
	}
	return out
}
