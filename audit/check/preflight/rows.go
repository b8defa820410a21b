package preflight

import (
	"nero/audit"
	"nero/data/space"
	"nero/measure/scale"
	"nero/symmetry/action"
	"nero/symmetry/group"
)

// lawful is the largest relative residual of a law on rows: nothing is resampled there, so only rounding may be left.
const lawful = 1e-6

// lawOfRows returns the first law that an action on rows, edges, pairs or records breaks on the value itself. Where the
// value has fewer rows than the group permutes, one of the two permutations of a product rests, see [Resting].
func lawOfRows(a action.Action, v space.Value, elements []audit.Element) (law string, residual float64, at string,
	err error,
) {
	G := a.Group()
	apart := func(x, y space.Value) float64 {
		var g *scale.Gauge
		if x.Form() != y.Form() {
			return 1
		}
		d, err := g.Compare(x, y)
		if err != nil {
			return 1
		}
		zero, err := blank(y)
		if err != nil {
			return 1
		}
		size, err := g.Compare(y, zero)
		if err != nil {
			return 1
		}
		most := 0.0
		list, sizes := d.Fields, size.Fields
		if list == nil {
			list, sizes = []scale.Difference{d}, []scale.Difference{size}
		}
		for i := range list {
			e := list[i].Norm
			if s := sizes[i].Norm; s > 0 {
				e /= s
			}
			if !(e <= most) {
				most = e
			}
		}
		return most
	}
	once, err := a.Apply(G.Identity(), v)
	if err != nil {
		return "", 0, "", err
	}
	if once.Form() != v.Form() {
		return "", 0, "", nil
	}
	if r := apart(once, v); !(r <= lawful) {
		return "ρ(e) = 1", r, audit.Label(G, G.Identity()), nil
	}
	for i, g := range elements {
		mid, err := a.Apply(g.G, v)
		if err != nil {
			return "", 0, "", err
		}
		home, err := a.Apply(G.Inv(g.G), mid)
		if err != nil {
			return "", 0, "", err
		}
		if r := apart(home, v); !(r <= lawful) {
			return "ρ(g⁻¹)ρ(g) = 1", r, g.Label, nil
		}
		h := elements[(i+1)%len(elements)]
		if h.G = Resting(G, h.G, v); h.G == nil {
			continue
		}
		if mid, err = a.Apply(h.G, v); err != nil {
			return "", 0, "", err
		}
		got, err := a.Apply(g.G, mid)
		if err != nil {
			return "", 0, "", err
		}
		want, err := a.Apply(G.Mul(g.G, h.G), v)
		if err != nil {
			return "", 0, "", err
		}
		if r := apart(got, want); !(r <= lawful) {
			return "ρ(g)ρ(h) = ρ(gh)", r, g.Label + " after " + h.Label, nil
		}
	}
	return "", 0, "", nil
}

// blank is v with zeros for its numbers.
func blank(v space.Value) (space.Value, error) {
	x := v.Numbers()
	return v.With(make([]float64, len(x)))
}

// Resting is h with the permutations at rest that v has too few rows for, so that ρ(g)ρ(h) = ρ(gh) holds on v for every
// g: what is left of two permutations when rows are taken out of their cycles does not compose, see [group.Permuting],
// but with one of them the identity it does. It is h itself for values with all rows, and nil where nothing but the
// identity would be left to compose with.
func Resting(G group.Group, h group.Element, v space.Value) group.Element {
	f, ok := G.(group.Factored)
	if !ok {
		if fewer(G, v) {
			return nil
		}
		return h
	}
	var out group.Element
	moves, rests := false, false
	for i, part := range f.Split(h) {
		if x := f.Factors()[i]; fewer(x, v) {
			part, rests = x.Identity(), true
		} else {
			moves = true
		}
		out = append(out, part...)
	}
	switch {
	case !rests:
		return h
	case !moves:
		return nil
	}
	return out
}

// fewer reports whether a value has fewer rows than the group permutes.
func fewer(G group.Group, v space.Value) bool {
	p, ok := G.(group.Permuting)
	if !ok {
		return false
	}
	for _, f := range space.Leaves(v) {
		if n := space.Members(f); n > 1 && n < p.Rows() {
			return true
		}
	}
	return false
}
