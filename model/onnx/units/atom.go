package units

import (
	"cmp"
	"slices"
)

// Axis is what an axis of a value is made of: a product of atoms, the outermost first. An axis of length 1 has none.
type Axis []*Atom

// Atom is a part of axes. It is either whole, or a product of others, or several axes one after another. What is
// whole, and no part of the interface of the model, is a class of units that may change places.
type Atom struct {
	n int
	// order in which atoms were made, for a stable order of classes
	id int
	// the same atom, once two turned out to be one
	to *Atom
	// parts, once it turned out to have some: a product, or axes one after another
	product Axis
	sum     []Axis
	// why its places are what they are; empty where they may change
	pinned string
}

// Len is the number of places of an axis.
func (a Axis) Len() int {
	n := 1
	for _, x := range a {
		n *= x.n
	}
	return n
}

// root follows what an atom turned out to be.
func (a *Atom) root() *Atom {
	for a.to != nil {
		if a.to.to != nil {
			a.to = a.to.to
		}
		a = a.to
	}
	return a
}

// whole tells whether the atom has no parts that are known.
func (a *Atom) whole() bool { return a.product == nil && a.sum == nil }

// parts are the atoms of an axis that are no products.
func (a Axis) parts() Axis {
	var out Axis
	for _, x := range a {
		if x = x.root(); x.product != nil {
			out = append(out, x.product.parts()...)
			continue
		}
		out = append(out, x)
	}
	return out
}

// leaves are the whole atoms of an axis, also those of axes one after another, each as often as it occurs.
func (a Axis) leaves() []*Atom {
	var out []*Atom
	for _, x := range a.parts() {
		if x.sum == nil {
			out = append(out, x)
			continue
		}
		for _, s := range x.sum {
			out = append(out, s.leaves()...)
		}
	}
	return out
}

// atoms makes and joins atoms.
type atoms struct {
	count int
	// of atoms that are made, to give up before memory does
	most int
}

// leaf makes an atom.
func (t *atoms) leaf(n int, pinned string) *Atom {
	t.count++
	if n < 1 { // there is nothing to change places
		pinned = cmp.Or(pinned, places)
	}
	return &Atom{n: n, id: t.count, pinned: pinned}
}

// axis makes an axis of one atom; one of length 1 has none.
func (t *atoms) axis(n int, pinned string) Axis {
	if n == 1 {
		return nil
	}
	return Axis{t.leaf(n, pinned)}
}

// pin keeps the places of an axis as they are.
func (t *atoms) pin(a Axis, why string) {
	for _, l := range a.leaves() {
		l.pinned = cmp.Or(l.pinned, why)
	}
}

// bind gives parts to a whole atom.
func (a *Atom) bind(product Axis, sum []Axis) {
	a.product, a.sum = product, sum
	if a.pinned == "" {
		return
	}
	for _, l := range (Axis{a}).leaves() {
		l.pinned = cmp.Or(l.pinned, a.pinned)
	}
}

// differ is why axes whose parts do not fit together stay as they are.
const differ = "two ways to divide it do not fit together"

// unify makes two axes of one length the same. Where their parts do not fit together, both stay as they are.
func (t *atoms) unify(a, b Axis) {
	if a.Len() != b.Len() {
		t.pin(a, differ)
		t.pin(b, differ)
		return
	}
	x, y := a.parts(), b.parts()
	for len(x) > 0 && len(y) > 0 {
		p, q := x[0], y[0]
		switch {
		case p == q:
		case p.n == q.n:
			t.same(p, q)
		case p.n > q.n && t.divide(p, q.n), p.n < q.n && t.divide(q, p.n):
			x, y = x.parts(), y.parts()
			continue
		default:
			t.pin(x, differ)
			t.pin(y, differ)
			return
		}
		x, y = x[1:].parts(), y[1:].parts()
	}
}

// divide makes a product of a whole atom, the outer part of length n.
func (t *atoms) divide(a *Atom, n int) bool {
	if !a.whole() || n <= 1 || a.n%n != 0 || t.count > t.most {
		return false
	}
	a.bind(Axis{t.leaf(n, ""), t.leaf(a.n/n, "")}, nil)
	return true
}

// same makes two atoms of one length the same.
func (t *atoms) same(a, b *Atom) {
	switch {
	case a.whole() && b.whole():
		if b.id < a.id {
			a, b = b, a
		}
		b.to, a.pinned = a, cmp.Or(a.pinned, b.pinned)
	case a.whole():
		t.become(a, b)
	case b.whole():
		t.become(b, a)
	default: // both are axes one after another
		t.unifySums(a, b)
	}
}

// become makes a whole atom the same as one with parts.
func (t *atoms) become(a, b *Atom) {
	a.to = b
	if a.pinned != "" {
		t.pin(Axis{b}, a.pinned)
	}
}

// unifySums makes two lists of axes the same, and divides axes where that takes it.
func (t *atoms) unifySums(a, b *Atom) {
	x, y := flat(a.sum), flat(b.sum)
	var joint []Axis
	fail := func() {
		t.pin(Axis{a}, differ)
		t.pin(Axis{b}, differ)
	}
	for len(x) > 0 && len(y) > 0 {
		n, m := x[0].Len(), y[0].Len()
		switch {
		case n == m:
			t.unify(x[0], y[0])
			joint = append(joint, x[0])
			x, y = x[1:], y[1:]
			continue
		case n > m:
			if !t.slice(x[0], m) {
				fail()
				return
			}
		default:
			if !t.slice(y[0], n) {
				fail()
				return
			}
		}
		x, y = flat(x), flat(y)
	}
	if a != b {
		a.sum, b.to = joint, a
	}
}

// slice divides an axis of one whole atom into the first n places and the others.
func (t *atoms) slice(a Axis, n int) bool {
	p := a.parts()
	if len(p) != 1 || !p[0].whole() || t.count > t.most {
		return false
	}
	p[0].bind(nil, []Axis{t.axis(n, ""), t.axis(p[0].n-n, "")})
	return true
}

// flat is a list of axes in which none is a list itself.
func flat(all []Axis) []Axis {
	var out []Axis
	for _, a := range all {
		if p := a.parts(); len(p) == 1 && p[0].sum != nil {
			out = append(out, flat(p[0].sum)...)
			continue
		}
		out = append(out, a)
	}
	return out
}

// reshape lays the parts of axes out as axes of other lengths, in the same order.
func (t *atoms) reshape(from []Axis, shape []int) []Axis {
	var rest Axis
	for _, a := range from {
		rest = append(rest, a...)
	}
	out := make([]Axis, len(shape))
	give := func(i int) []Axis {
		t.pin(rest, differ)
		for ; i < len(shape); i++ {
			out[i] = t.axis(shape[i], differ)
		}
		return out
	}
	rest = rest.parts()
	for i, n := range shape {
		if n < 1 {
			return give(i)
		}
		for n > 1 {
			if rest = rest.parts(); len(rest) == 0 {
				return give(i)
			}
			p := rest[0]
			switch {
			case p.n < 1: // nothing in there
				return give(i)
			case n%p.n == 0:
				out[i] = append(out[i], p)
				rest, n = rest[1:], n/p.n
			case t.divide(p, n): // what is left is the inner part
			default:
				t.pin(out[i], differ)
				out[i] = nil
				return give(i)
			}
		}
	}
	return out
}

// sums is the axis that axes make one after another. Those without a place are none: an axis and nothing would be
// another axis that holds the first and is as long, and part of itself once the two are one.
func (t *atoms) sums(all []Axis) Axis {
	all = slices.DeleteFunc(flat(all), func(a Axis) bool { return a.Len() == 0 })
	if len(all) == 0 {
		return t.axis(0, places)
	}
	if len(all) == 1 {
		return all[0]
	}
	n := 0
	for _, a := range all {
		n += a.Len()
	}
	s := t.leaf(n, "")
	s.bind(nil, slices.Clone(all))
	return Axis{s}
}
