package group

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"nero/internal/elementary"
)

// product is a direct product: elements are the coordinates of the factors one after another.
type product struct {
	parts []Group
	name  string
	chart []Axis
	// where the coordinates of each factor begin, and the end
	at []int
}

// Product is the direct product of groups: elements of different factors commute. Axis names that occur twice are
// numbered. The trivial group is left out. It is [Finite], [Lie] or a [Sampler] if every factor is, [Planar] if every
// factor is and their maps commute, as rotations commute with magnifications, and [Temporal] if one factor is.
// Rotations do not commute with shifts: their joint motions are SE(2), p4 and kin. A [Torus] stays one beside Time,
// which leaves the plane alone, and beside no other group.
func Product(groups ...Group) (Group, error) {
	p := &product{at: []int{0}}
	for _, g := range groups {
		if _, ok := g.(trivial); ok && len(groups) > 1 {
			continue
		}
		if q, ok := g.(Factored); ok {
			p.parts = append(p.parts, q.Factors()...)
		} else {
			p.parts = append(p.parts, g)
		}
	}
	if len(p.parts) == 0 && len(groups) > 0 {
		return Trivial(), nil
	}
	if len(p.parts) == 1 {
		return p.parts[0], nil
	}
	if len(p.parts) == 0 || len(p.parts) > 8 {
		return nil, fmt.Errorf("a product needs 1 to 8 factors, not %d", len(p.parts))
	}
	var names []string
	seen := map[string]int{}
	finite, lie, sampler, temporal := true, true, true, false
	for _, g := range p.parts {
		names = append(names, g.Name())
		for _, a := range g.Chart() {
			seen[a.Name]++
			if n := seen[a.Name]; n > 1 {
				a.Name = fmt.Sprintf("%s %d", a.Name, n)
			}
			p.chart = append(p.chart, a)
		}
		p.at = append(p.at, len(p.chart))
		finite = finite && is[Finite](g)
		lie = lie && is[Lie](g)
		sampler = sampler && is[Sampler](g)
		temporal = temporal || is[Temporal](g)
	}
	p.name = strings.Join(names, " x ")
	if !sampler {
		return nil, errors.New(p.name + ": every factor of a product must be a Sampler")
	}
	planar, torus := p.commutes()
	return p.powers(finite, lie, planar, torus, temporal), nil
}

// powers is the product with what its factors make of it. The methods of a type are fixed in Go, so each combination
// that occurs is one. A product with time reversal is not [Lie], and loses nothing by it: no path leads to the
// reversal. A torus without it is not [Planar].
func (p *product) powers(finite, lie, planar, torus, temporal bool) Group {
	f, l, m, t := finiteProduct{p}, lieProduct{p}, planarPart{p}, temporalPart{p}
	switch planar = planar && (temporal || !torus); {
	case temporal && finite && torus:
		return struct {
			finiteProduct
			torusPart
			temporalPart
		}{f, torusPart{m}, t}
	case temporal && finite && planar:
		return struct {
			finiteProduct
			planarPart
			temporalPart
		}{f, m, t}
	case temporal && finite:
		return struct {
			finiteProduct
			temporalPart
		}{f, t}
	case temporal && planar:
		return struct {
			*product
			planarPart
			temporalPart
		}{p, m, t}
	case temporal:
		return struct {
			*product
			temporalPart
		}{p, t}
	case finite && planar:
		return struct {
			finiteProduct
			planarPart
		}{f, m}
	case finite:
		return f
	case lie && planar:
		return struct {
			lieProduct
			planarPart
		}{l, m}
	case lie:
		return l
	case planar:
		return struct {
			*product
			planarPart
		}{p, m}
	}
	return p
}

func is[T any](g Group) bool {
	_, ok := g.(T)
	return ok
}

// commutes reports whether all factors are planar and their maps commute, and whether one of them is a torus. The
// entries are analytic in the chart, so a few elements in general position decide. The maps of a torus compose up to
// whole periods only, so the others must leave the plane alone.
func (p *product) commutes() (planar, torus bool) {
	type maps struct {
		a    [][2][2]float64
		t    [][2]float64
		idle bool
	}
	all := make([]maps, len(p.parts))
	for i, g := range p.parts {
		pl, ok := g.(Planar)
		if !ok {
			return false, false
		}
		s, ok := g.(Sampler)
		if !ok {
			return false, false
		}
		r := rand.New(rand.NewPCG(1, uint64(i)))
		all[i].idle = true
		for range 12 {
			a, t := pl.Affine(s.Sample(r))
			all[i].a, all[i].t = append(all[i].a, a), append(all[i].t, t)
			all[i].idle = all[i].idle && a == [2][2]float64{{1, 0}, {0, 1}} && t == [2]float64{}
		}
	}
	for i, g := range p.parts {
		if !is[Torus](g) {
			continue
		}
		for j := range all {
			if j != i && !all[j].idle {
				return false, false
			}
		}
		torus = true
	}
	for i, x := range all {
		for _, y := range all[:i] {
			for k := range x.a {
				for l := range y.a {
					a, t := After(x.a[k], x.t[k], y.a[l], y.t[l])
					b, u := After(y.a[l], y.t[l], x.a[k], x.t[k])
					if !(mapDist(a, t, b, u) < 1e-9) {
						return false, false
					}
				}
			}
		}
	}
	return true, torus
}

func mapDist(a [2][2]float64, t [2]float64, b [2][2]float64, u [2]float64) float64 {
	d := math.Max(math.Abs(t[0]-u[0]), math.Abs(t[1]-u[1]))
	for i := range 2 {
		for j := range 2 {
			d = math.Max(d, math.Abs(a[i][j]-b[i][j]))
		}
	}
	return d
}

// Factors are the groups that were multiplied, in their order.
func (p *product) Factors() []Group { return slices.Clone(p.parts) }

// Split cuts an element into those of the factors.
func (p *product) Split(g Element) []Element {
	out := make([]Element, len(p.parts))
	for i := range p.parts {
		out[i] = slices.Clone(p.part(g, i))
	}
	return out
}

// Listed says that one factor is a list of elements.
func (p *product) Listed() bool {
	for _, g := range p.parts {
		if l, ok := g.(Listed); ok && l.Listed() {
			return true
		}
	}
	return false
}

func (p *product) part(g Element, i int) Element { return g[p.at[i]:p.at[i+1]:p.at[i+1]] }

// Name joins the names of the factors with " x ".
func (p *product) Name() string { return p.name }

// Chart is the charts of the factors one after another.
func (p *product) Chart() []Axis { return append([]Axis(nil), p.chart...) }

// Identity joins the identities.
func (p *product) Identity() Element {
	e := make(Element, 0, len(p.chart))
	for _, g := range p.parts {
		e = append(e, g.Identity()...)
	}
	return e
}

// Steps are those of the factors.
func (p *product) Steps() []float64 {
	var s []float64
	for _, g := range p.parts {
		s = append(s, Steps(g)...)
	}
	return s
}

// Window joins the windows of the factors.
func (p *product) Window() [][2]float64 {
	var w [][2]float64
	for _, g := range p.parts {
		w = append(w, Window(g)...)
	}
	return w
}

// Mul multiplies factor by factor.
func (p *product) Mul(g, h Element) Element {
	e := make(Element, 0, len(p.chart))
	for i, f := range p.parts {
		e = append(e, f.Mul(p.part(g, i), p.part(h, i))...)
	}
	return e
}

// Inv inverts factor by factor.
func (p *product) Inv(g Element) Element {
	e := make(Element, 0, len(p.chart))
	for i, f := range p.parts {
		e = append(e, f.Inv(p.part(g, i))...)
	}
	return e
}

// Dist is the root of the summed squares of the distances in the factors, each in its own unit.
func (p *product) Dist(g, h Element) float64 {
	var s float64
	for i, f := range p.parts {
		s = elementary.Hypot(s, f.Dist(p.part(g, i), p.part(h, i)))
	}
	return s
}

// Invariance holds where it holds in every factor.
func (p *product) Invariance() (left, right bool) {
	left, right = true, true
	for _, g := range p.parts {
		l, r := Invariance(g)
		left, right = left && l, right && r
	}
	return left, right
}

// Sample draws from every factor.
func (p *product) Sample(r *rand.Rand) Element {
	e := make(Element, 0, len(p.chart))
	for _, g := range p.parts {
		if s, ok := g.(Sampler); ok {
			e = append(e, s.Sample(r)...)
		}
	}
	return e
}

type finiteProduct struct{ *product }

// Order is the product of the orders, or the largest int.
func (p finiteProduct) Order() int {
	n := 1
	for _, g := range p.parts {
		k := order(g)
		if k > 0 && n > math.MaxInt/k {
			return math.MaxInt
		}
		n *= k
	}
	return n
}

// Elements are all combinations, the first factor fastest.
func (p finiteProduct) Elements() []Element {
	out := []Element{{}}
	for _, part := range slices.Backward(p.parts) {
		f, ok := part.(Finite)
		if !ok {
			return nil
		}
		var next []Element
		es := f.Elements()
		for _, tail := range out {
			for _, e := range es {
				next = append(next, append(append(make(Element, 0, len(p.chart)), e...), tail...))
			}
		}
		out = next
	}
	return out
}

type lieProduct struct{ *product }

// Generators are those of the factors; names that occur twice are numbered.
func (p lieProduct) Generators() []Generator { return generatorsOf(p.parts) }

// Exp is the exponential map of every factor.
func (p lieProduct) Exp(t []float64) Element { return expOf(p.parts, t) }

func generatorsOf(parts []Group) []Generator {
	var out []Generator
	seen := map[string]int{}
	for _, g := range parts {
		if l, ok := g.(Lie); ok {
			for _, x := range l.Generators() {
				seen[x.Name]++
				if n := seen[x.Name]; n > 1 {
					x.Name = fmt.Sprintf("%s %d", x.Name, n)
				}
				out = append(out, x)
			}
		}
	}
	return out
}

// expOf is the exponential map of every factor that has one, and the identity of the others.
func expOf(parts []Group, t []float64) Element {
	var e Element
	for _, g := range parts {
		l, ok := g.(Lie)
		if !ok {
			e = append(e, g.Identity()...)
			continue
		}
		n := len(l.Generators())
		e = append(e, l.Exp(t[:n:n])...)
		t = t[n:]
	}
	return e
}

// Continuous are the one-parameter subgroups of g: g itself if it is [Lie], of a product those of the factors that are,
// while the other factors rest at their identity. Motions of space beside permutations of atoms have six of them, and
// so has every product with one continuous factor. It is not ok for groups without any.
func Continuous(g Group) (l Lie, ok bool) {
	if l, ok := g.(Lie); ok {
		return l, len(l.Generators()) > 0
	}
	f, ok := g.(interface{ continuous() Lie })
	if !ok {
		return nil, false
	}
	l = f.continuous()
	return l, len(l.Generators()) > 0
}

// continuousPart is a product of which only some factors have one-parameter subgroups.
type continuousPart struct {
	Group
	parts []Group
}

func (p *product) continuous() Lie { return continuousPart{p, p.parts} }

// Generators are those of the factors that are [Lie].
func (c continuousPart) Generators() []Generator { return generatorsOf(c.parts) }

// Exp is the exponential map of those factors, and the identity of the others.
func (c continuousPart) Exp(t []float64) Element { return expOf(c.parts, t) }

type planarPart struct{ p *product }

// Affine is the composition of the factors' maps, which commute.
func (q planarPart) Affine(g Element) (a [2][2]float64, t [2]float64) {
	a = [2][2]float64{{1, 0}, {0, 1}}
	for i, f := range q.p.parts {
		if pl, ok := f.(Planar); ok {
			b, u := pl.Affine(q.p.part(g, i))
			a, t = After(a, t, b, u)
		}
	}
	for i := range 2 {
		for j := range 2 {
			a[i][j] += 0
		}
	}
	return a, t
}

type temporalPart struct{ of *product }

// Reverses tells the elements of which an odd number of factors reverses.
func (q temporalPart) Reverses(g Element) bool {
	var odd bool
	for i, f := range q.of.parts {
		odd = odd != Reverses(f, q.of.part(g, i))
	}
	return odd
}

type torusPart struct{ planarPart }

// Period is that of the one factor that has a period.
func (q torusPart) Period() (h, w int) {
	for _, f := range q.p.parts {
		if t, ok := f.(Torus); ok {
			return t.Period()
		}
	}
	return 0, 0
}
