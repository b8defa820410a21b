package action

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"nero/internal/elementary"
	"nero/symmetry/group"
	"nero/symmetry/irreps"
)

// moves is a group taken apart into what its factors do: turn and shift space, permute rows, shift or reverse time,
// flow, color. A factor may do several of these, as one that moves the plane and reverses time does.
type moves struct {
	group   group.Group
	factors []group.Group
	split   func(g group.Element) []group.Element

	// of the space that moves, 0 if none does
	dim int
	// numbers of the factors
	spatial []int
	// of those that permute, in the order of the sets of rows that they do it to
	rows []int
	// that shifts time
	shift int
	// that flows
	flow  int
	color []int
	// that reverse time
	back []int
	// that bring their own matrices
	given []int
	// that do none of this
	other []int

	// all maps of space keep lengths, as far as samples tell
	unit bool
	// and all determinants are positive
	even bool
	// a factor moves pictures around, so points would have to wrap around as well
	wrap bool

	// why the maps of space are no action of the product, nil if they are
	clash error

	// of the chart
	axes    int
	scratch buffers
}

// takeApart finds out what the factors of a group do. The error is that two factors do the same thing; what they do to
// space may clash as well.
func takeApart(g group.Group) (*moves, error) {
	m := &moves{group: g, shift: -1, flow: -1, unit: true, even: true, axes: len(g.Chart())}
	if f, ok := g.(group.Factored); ok {
		m.factors, m.split = f.Factors(), f.Split
	} else {
		m.factors, m.split = []group.Group{g}, func(e group.Element) []group.Element { return []group.Element{e} }
	}
	only := func(at *int, i int, what string) error {
		if *at >= 0 {
			return fmt.Errorf("%s: two factors %s, %s and %s: choose one of them: %w", g.Name(), what,
				m.factors[*at].Name(), m.factors[i].Name(), errors.ErrUnsupported)
		}
		*at = i
		return nil
	}
	for i, f := range m.factors {
		known := len(f.Chart()) == 0
		var err error
		if d := dimOf(f); d > 0 {
			known = true
			if !idle(f) {
				if m.dim > 0 && m.dim != d {
					return nil, fmt.Errorf("%s: %s moves a space of %d dimensions and %s one of %d: %w", g.Name(),
						m.factors[m.spatial[0]].Name(), m.dim, f.Name(), d, errors.ErrUnsupported)
				}
				m.dim = d
				m.spatial = append(m.spatial, i)
				if _, ok := f.(group.Torus); ok {
					m.wrap = true
				}
			}
		}
		if _, ok := f.(group.Permuting); ok {
			known = true
			m.rows = append(m.rows, i)
		}
		if _, ok := f.(group.Shifting); ok {
			known, err = true, errors.Join(err, only(&m.shift, i, "shift time"))
		}
		if _, ok := f.(group.Flowing); ok {
			known, err = true, errors.Join(err, only(&m.flow, i, "flow"))
		}
		if _, ok := f.(group.Coloring); ok {
			known = true
			m.color = append(m.color, i)
		}
		if _, ok := f.(group.Temporal); ok {
			known = true
			m.back = append(m.back, i)
		}
		if r, ok := f.(group.Represented); ok && len(r.Representations()) > 0 {
			m.given = append(m.given, i)
		}
		if err != nil {
			return nil, err
		}
		if !known {
			m.other = append(m.other, i)
		}
	}
	m.clash = m.try()
	return m, nil
}

// dimOf is the dimension of the space that a group moves, 0 if it moves none.
func dimOf(g group.Group) int {
	if s, ok := group.AsSpatial(g); ok {
		return s.Dim()
	}
	return 0
}

// motionOf is the map of one factor. Maps of the plane of a picture are taken as they are, y pointing down.
func motionOf(g group.Group, e group.Element) (a, t []float64) {
	if s, ok := group.AsSpatial(g); ok {
		return s.Motion(e)
	}
	return nil, nil
}

// idle tells groups that leave all of space where it is, as time reversal does.
func idle(g group.Group) bool {
	elements := someElements(g, 12)
	if len(elements) == 1 && len(g.Chart()) > 0 {
		return false // nothing but the identity is known
	}
	for _, e := range elements {
		a, t := motionOf(g, e)
		d := len(t)
		for i, v := range a {
			want := 0.0
			if i%(d+1) == 0 {
				want = 1
			}
			if v != want {
				return false
			}
		}
		if slices.ContainsFunc(t, func(v float64) bool { return v != 0 }) {
			return false
		}
	}
	return true
}

// someElements are the identity and up to n more, drawn with a fixed seed.
func someElements(g group.Group, n int) []group.Element {
	out := []group.Element{g.Identity()}
	r := rand.New(rand.NewPCG(0x6d6f766573, 1))
	switch s := g.(type) {
	case group.Sampler:
		for range n {
			out = append(out, s.Sample(r))
		}
	case group.Finite:
		all := s.Elements()
		for range n {
			out = append(out, all[r.IntN(len(all))])
		}
	case group.Lie:
		t := make([]float64, len(s.Generators()))
		for range n {
			for i := range t {
				t[i] = elementary.Normal(r)
			}
			out = append(out, s.Exp(t))
		}
	}
	return out
}

// try looks at a few elements: the maps of different factors must commute, and what they keep decides what they can
// move.
func (m *moves) try() error {
	if len(m.spatial) == 0 {
		return nil
	}
	d := m.dim
	type sample struct{ a, t []float64 }
	var all [][]sample
	for _, i := range m.spatial {
		var s []sample
		for _, e := range someElements(m.factors[i], 24) {
			a, t := motionOf(m.factors[i], e)
			if len(a) != d*d || len(t) != d {
				return fmt.Errorf("%s: the map of element %v has %d and %d numbers, want %d×%d and %d",
					m.factors[i].Name(), e, len(a), len(t), d, d, d)
			}
			s = append(s, sample{a, t})
			m.unit = m.unit && orthogonal(a, d)
			m.even = m.even && det(a, d) > 0
		}
		for k, before := range all {
			for _, x := range before {
				for _, y := range s {
					a, t := compose(x.a, x.t, y.a, y.t, d)
					b, u := compose(y.a, y.t, x.a, x.t, d)
					if !(max(differ(a, b), differ(t, u)) <= 1e-9) {
						joint := jointOf(m.factors[m.spatial[k]].Name(), m.factors[i].Name(), d)
						return fmt.Errorf("%s: the maps of %s and %s do not commute, so the direct product does not "+
							"act on points%s: %w",
							m.group.Name(), m.factors[m.spatial[k]].Name(), m.factors[i].Name(), joint,
							errors.ErrUnsupported)
					}
				}
			}
		}
		all = append(all, s)
	}
	return nil
}

// jointOf names the group of the joint motions of two groups whose maps do not commute, for messages.
func jointOf(one, two string, dim int) string {
	if dim != 3 {
		return ""
	}
	if one == "T(3)" {
		one, two = two, one
	}
	if two == "T(3)" {
		name, special := strings.CutPrefix(one, "S")
		switch rest, turns := strings.CutPrefix(name, "O"); {
		case turns && special:
			return "; their joint motions are the group SE" + rest
		case turns:
			return "; their joint motions are the group E" + rest
		}
	}
	return "; the joint motions of space are SE(3), E(3), Affine(3) and, about a direction, SEg(3) and Eg(3)"
}

// compose is (a, t) after (b, u).
func compose(a, t, b, u []float64, d int) (c, v []float64) {
	c, v = multiply(a, b, d), slices.Clone(t)
	for i := range d {
		for j := range d {
			v[i] += float64(a[i*d+j] * u[j])
		}
	}
	return c, v
}

// orthogonal reports whether aᵀa is the unit matrix up to roundoff.
func orthogonal(a []float64, d int) bool {
	for i := range d {
		for j := i; j < d; j++ {
			var s float64
			for k := range d {
				s += float64(a[k*d+i] * a[k*d+j])
			}
			if i == j {
				s--
			}
			if !(math.Abs(s) <= orthogonalTolerance) {
				return false
			}
		}
	}
	return true
}

// orthogonalTolerance admits the roundoff of charts in degrees, and matrices that users write with ten digits.
const orthogonalTolerance = 1e-9

// det is a determinant, by elimination.
func det(a []float64, d int) float64 {
	if d == 3 {
		return irreps.Det((*[9]float64)(a))
	}
	m, o := slices.Clone(a), 1.0
	for c := range d {
		p := c
		for r := c + 1; r < d; r++ {
			if math.Abs(m[r*d+c]) > math.Abs(m[p*d+c]) {
				p = r
			}
		}
		if m[p*d+c] == 0 {
			return 0
		}
		if p != c {
			o = -o
			for j := range d {
				m[p*d+j], m[c*d+j] = m[c*d+j], m[p*d+j]
			}
		}
		o *= m[c*d+c]
		for r := c + 1; r < d; r++ {
			axpy(m[r*d+c:(r+1)*d], -m[r*d+c]/m[c*d+c], m[c*d+c:(c+1)*d])
		}
	}
	return o
}

// motion is a map of space p -> A·p + t.
type motion struct {
	a, t []float64
	// ±1 exactly where the map keeps lengths
	det  float64
	unit bool
	// A is the unit matrix
	identity bool
}

// at is the map of an element of the whole group, after checking that it is one.
func (m *moves) at(g group.Element) (motion, []group.Element, error) {
	if err := finiteElement(m.group, m.axes, g); err != nil {
		return motion{}, nil, err
	}
	parts := m.split(g)
	if len(parts) != len(m.factors) {
		return motion{}, nil, fmt.Errorf("%s splits an element into %d, it has %d factors", m.group.Name(), len(parts),
			len(m.factors))
	}
	o := motion{det: 1, unit: true, identity: true}
	for _, i := range m.spatial {
		a, t := motionOf(m.factors[i], parts[i])
		if len(a) != m.dim*m.dim || len(t) != m.dim {
			return o, nil, fmt.Errorf("%s: the map of element %v has %d and %d numbers, want %d×%d and %d",
				m.factors[i].Name(), parts[i], len(a), len(t), m.dim, m.dim, m.dim)
		}
		if o.a == nil {
			o.a, o.t = a, t
		} else {
			o.a, o.t = compose(o.a, o.t, a, t, m.dim)
		}
	}
	if o.a == nil {
		return o, parts, nil
	}
	for _, v := range slices.Concat(o.a, o.t) {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return o, nil, fmt.Errorf("element %v of %s: the map is not finite", g, m.group.Name())
		}
	}
	o.unit = orthogonal(o.a, m.dim)
	o.det = det(o.a, m.dim)
	if o.det == 0 {
		return o, nil, fmt.Errorf("element %v of %s: the map has no inverse", g, m.group.Name())
	}
	if o.unit {
		o.det = math.Copysign(1, o.det)
	}
	for i, v := range o.a {
		want := 0.0
		if i%(m.dim+1) == 0 {
			want = 1
		}
		o.identity = o.identity && v == want
	}
	return o, parts, nil
}

// permutes reports whether a factor permutes the rows of a set. Sets beyond the factors keep their order.
func (m *moves) permutes(set int) bool { return set >= 0 && set < len(m.rows) }

// permutation is where each of n rows of a set goes; nil if no factor permutes them. It is checked, because groups of
// users say it as well.
func (m *moves) permutation(parts []group.Element, set, n int) ([]int, error) {
	if !m.permutes(set) {
		return nil, nil
	}
	at := m.rows[set]
	p, ok := m.factors[at].(group.Permuting)
	if !ok {
		return nil, errors.New("no factor permutes")
	}
	if most := p.Rows(); n > most {
		return nil, fmt.Errorf(
			"the sample has %d rows and %s permutes %d: take a group of as many rows as the largest sample has", n,
			p.Name(), most)
	}
	to := p.Permutation(parts[at], n)
	if len(to) != n {
		return nil, fmt.Errorf("element %v of %s sends %d rows somewhere, there are %d", parts[at], p.Name(),
			len(to), n)
	}
	seen := make([]bool, n)
	for i, k := range to {
		if k < 0 || k >= n {
			return nil, fmt.Errorf("element %v of %s is no permutation: row %d goes to place %d of %d", parts[at],
				p.Name(), i, k, n)
		}
		if seen[k] {
			return nil, fmt.Errorf("element %v of %s is no permutation: two rows go to place %d", parts[at],
				p.Name(), k)
		}
		seen[k] = true
	}
	return to, nil
}

// reversed reports whether the element runs time backwards.
func (m *moves) reversed(parts []group.Element) bool {
	odd := false
	for _, i := range m.back {
		odd = odd != group.Reverses(m.factors[i], parts[i])
	}
	return odd
}

// represented is the factor that brings matrices of that name, and their size.
func (m *moves) represented(name string) (r group.Represented, at, n int, ok bool) {
	for _, i := range m.given {
		if r, ok := m.factors[i].(group.Represented); ok {
			if n, ok := r.Representations()[name]; ok && n > 0 {
				return r, i, n, true
			}
		}
	}
	return nil, -1, 0, false
}

// strange refuses factors that say nothing about how they move numbers.
func (m *moves) strange(what string) error {
	if len(m.other) == 0 {
		return nil
	}
	return fmt.Errorf("%s does not say how it moves %s: %w", m.factors[m.other[0]].Name(), what, errors.ErrUnsupported)
}
