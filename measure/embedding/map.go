package embedding

import (
	"fmt"
	"math"

	"nero/internal/elementary"

	"gonum.org/v1/gonum/mat"
)

// Pairs are features before and after something, a row for each sample. The two may have different widths.
type Pairs struct {
	Before, After *mat.Dense
	// Object says which samples show one object.
	Object []int
}

// check holds sizes against each other.
func (p Pairs) check() error {
	n, din := p.Before.Dims()
	m, dout := p.After.Dims()
	if n != m || n != len(p.Object) {
		return fmt.Errorf("%d features before, %d after and %d objects: want as many of each", n, m, len(p.Object))
	}
	for i := range n {
		for j, x := range p.Before.RawRowView(i)[:din] {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				return &NotFiniteError{i, 0, j, x}
			}
		}
		for j, x := range p.After.RawRowView(i)[:dout] {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				return &NotFiniteError{i, 1, j, x}
			}
		}
	}
	if m := distinct(p.Object); m < LeastObjects {
		return fmt.Errorf("%w: %d, want at least %d", ErrFew, m, LeastObjects)
	}
	return nil
}

// Map is x -> M x + c.
type Map struct {
	// M has a row for each component of the answer.
	M *mat.Dense
	// Shift is c; nil for a map without one.
	Shift []float64
	// Lambda is the penalty, in units of the mean square of a component before, that was chosen.
	Lambda float64
}

// usualPenalties are those that are tried where nobody names any.
func usualPenalties() []float64 {
	var out []float64
	for e := -8; e <= 3; e++ {
		out = append(out, elementary.Pow(10, float64(e)))
	}
	return out
}

// Learn finds the linear map of pairs to fit by ridge regression (Lenc and Vedaldi, CVPR 2015, without their constant,
// for representations are linear), or with a shift the affine one, with the penalty whose error is smallest on the
// pairs to choose by; of equals the larger, which fits less. A penalty of 0 is refused where there are more components
// than samples, for then a map explains anything.
func Learn(fit, choose Pairs, shift bool, penalties []float64) (*Map, error) {
	for _, p := range []Pairs{fit, choose} {
		if err := p.check(); err != nil {
			return nil, err
		}
	}
	n, d := fit.Before.Dims()
	_, d2 := choose.Before.Dims()
	_, e := fit.After.Dims()
	if _, e2 := choose.After.Dims(); d != d2 || e != e2 {
		return nil, fmt.Errorf("features have another width on the two sides: %d and %d before, %d and %d after", d, d2,
			e, e2)
	}
	if penalties == nil {
		penalties = usualPenalties()
	}
	for _, l := range penalties {
		if !(l >= 0) || math.IsInf(l, 1) {
			return nil, fmt.Errorf("the penalty %g, want a number of at least 0", l)
		}
		if l == 0 && d > n {
			return nil, fmt.Errorf("features of %d numbers and %d samples: without a penalty a map explains anything; "+
				"want a penalty above 0, or more samples", d, n)
		}
	}
	s, err := solve(fit, shift)
	if err != nil {
		return nil, err
	}
	var best *Map
	least := math.Inf(1)
	for _, l := range penalties {
		m := s.at(l)
		total := 0.0
		for _, x := range m.errors(choose) {
			total += x
		}
		if total < least || total == least && best != nil && l > best.Lambda {
			best, least = m, total
		}
	}
	if best == nil {
		return nil, fmt.Errorf("no penalty of %v makes a map whose error is finite", penalties)
	}
	return best, nil
}

// solved is what of pairs decides the map of every penalty: XᵀX = V diag(e) Vᵀ and VᵀXᵀY.
type solved struct {
	values []float64
	v, vxy *mat.Dense
	// of a penalty: the mean square of a component, times the samples
	scale float64
	// means that the map takes to each other; nil for a map without shift
	from, to []float64
}

func solve(p Pairs, shift bool) (*solved, error) {
	x, y := p.Before, p.After
	s := &solved{}
	if shift {
		s.from, s.to = mean(x), mean(y)
		x, y = less(x, s.from), less(y, s.to)
	}
	_, d := x.Dims()
	var xx mat.SymDense
	xx.SymOuterK(1, x.T())
	var err error
	if s.values, s.v, err = symmetric(&xx); err != nil {
		return nil, err
	}
	s.scale = mat.Trace(&xx) / float64(d)
	var xy mat.Dense
	xy.Mul(x.T(), y)
	s.vxy = &mat.Dense{}
	s.vxy.Mul(s.v.T(), &xy)
	return s, nil
}

// at is the map of a penalty.
func (s *solved) at(lambda float64) *Map {
	r, c := s.vxy.Dims()
	w := mat.NewDense(r, c, nil)
	top := s.values[r-1]
	for i := range r {
		e := max(s.values[i], 0)
		d := e + float64(lambda*s.scale)
		if !(d > 1e-15*top) { // what rounding leaves of a direction that features never take
			continue
		}
		for j := range c {
			w.Set(i, j, s.vxy.At(i, j)/d)
		}
	}
	var b mat.Dense
	b.Mul(s.v, w)
	m := &Map{M: mat.DenseCopyOf(b.T()), Lambda: lambda}
	if s.from != nil {
		m.Shift = make([]float64, c)
		for j := range m.Shift {
			m.Shift[j] = s.to[j] - dot(m.M.RawRowView(j), s.from)
		}
	}
	return m
}

// Of are the images of features.
func (m *Map) Of(x *mat.Dense) *mat.Dense {
	out := &mat.Dense{}
	out.Mul(x, m.M.T())
	if m.Shift != nil {
		n, _ := out.Dims()
		for i := range n {
			row := out.RawRowView(i)
			for j := range row {
				row[j] += m.Shift[j]
			}
		}
	}
	return out
}

// errors are the squared errors of each sample.
func (m *Map) errors(p Pairs) []float64 {
	y := m.Of(p.Before)
	n, _ := y.Dims()
	out := make([]float64, n)
	for i := range out {
		out[i] = apart(y.RawRowView(i), p.After.RawRowView(i))
	}
	return out
}

// Explained is how much of features a prediction explains.
type Explained struct {
	// Overall is 1 - Σ‖y - ŷ‖²/Σ‖y - ȳ‖² over samples and all components, ȳ the mean of these samples: 1 all, 0 no more
	// than their mean does, below 0 less.
	Overall Estimate
	// Components are the same of each component alone; NaN for one that does not vary.
	Components []float64
	// Constant is how many do not.
	Constant int
}

// Explain says how much of what is true a prediction explains. Rows belong to samples of objects.
func Explain(predicted, truth *mat.Dense, object []int, opt Options) Explained {
	n, d := truth.Dims()
	centre := mean(truth)
	out := Explained{Components: make([]float64, d)}
	groups := objects(object)
	top, bottom := make([]float64, len(groups)), make([]float64, len(groups))
	for j := range d {
		sse, sst, all := 0.0, 0.0, 0.0
		for i := range n {
			e, t := truth.At(i, j)-predicted.At(i, j), truth.At(i, j)-centre[j]
			sse, sst = sse+float64(e*e), sst+float64(t*t)
			all += float64(truth.At(i, j) * truth.At(i, j))
		}
		if out.Components[j] = 1 - sse/sst; !(sst > 1e-24*all) {
			out.Components[j] = math.NaN()
			out.Constant++
		}
	}
	for g, rows := range groups {
		for _, i := range rows {
			top[g] += apart(truth.RawRowView(i), predicted.RawRowView(i))
			bottom[g] += apart(truth.RawRowView(i), centre)
		}
	}
	if out.Constant == d {
		out.Overall = opt.undefined()
		return out
	}
	out.Overall = opt.estimate(len(groups), streamMap, func(count []int) float64 {
		return 1 - ratio(top, bottom, count)
	})
	return out
}

// Homomorphism is how far maps are from composing as their elements do: ‖M_gh - M_g M_h‖ / ‖M_gh‖, Frobenius norms. It
// is NaN if M_gh is 0, and panics if the matrices are not square and of one size.
func Homomorphism(gh, g, h *mat.Dense) float64 {
	var d mat.Dense
	d.Mul(g, h)
	d.Sub(gh, &d)
	n := mat.Norm(gh, 2)
	if !(n > 0) {
		return math.NaN()
	}
	return mat.Norm(&d, 2) / n
}
