package census

import (
	"math"
	"math/rand/v2"

	"nero/audit/document"
	"nero/data/space"
	"nero/internal/elementary"
	"nero/measure/aggregate"
	"nero/measure/twosample"
	"nero/symmetry/action"
	"nero/symmetry/group"
)

// compact reports whether a group has a Haar measure that is a probability: whether it is finite, or nothing of its
// chart is without end and products stay in it.
func compact(g group.Group) bool {
	if _, ok := g.(group.Finite); ok {
		return true
	}
	inside := func(e group.Element) bool {
		for i, a := range g.Chart() {
			if math.IsInf(a.Min, 0) || math.IsInf(a.Max, 0) || !(a.Min <= e[i] && e[i] <= a.Max) {
				return false
			}
		}
		return true
	}
	if c, ok := g.(group.Coloring); ok && c != nil {
		return false // colors are cut at the ends of their range
	}
	s, ok := g.(group.Sampler)
	if !ok {
		return false
	}
	r := rand.New(rand.NewPCG(1, 1)) // any will do
	e := g.Identity()
	for range 100 {
		if e = g.Mul(s.Sample(r), e); !inside(e) {
			return false
		}
	}
	return true
}

// prepareCopies makes room for the randomisation, where the group has one.
func (t *taker) prepareCopies(d int) {
	g := t.s.Group
	if !compact(g) {
		t.noCopies = g.Name() + " is not compact: there is no way to move samples by all of it alike, so the whole " +
			"group has no p-value; what is said of its elements holds"
		return
	}
	objects, each := min(len(t.reported), mostPooled), mostCopies
	if all := t.listed(); all != nil {
		each = len(all)
	}
	if each < 2 {
		t.noCopies = "the group has one element"
		return
	}
	t.resampled = t.inexact()
	t.copies = &twosample.Copies{Objects: objects, Each: each, Rows: twosample.NewTable(objects*each, d)}
	t.copyAxes = make([]axis, objects*each)
}

// listed are the elements of a group that has few, the identity first; nil for others.
func (t *taker) listed() []group.Element {
	if f, ok := t.s.Group.(group.Finite); ok {
		if o, ok := f.(group.Ordered); ok && o.Order() > mostCopies {
			return nil
		}
		if all := f.Elements(); len(all) <= mostCopies {
			return all
		}
	}
	return nil
}

// inexact reports whether elements resample: one of all, or of some that are drawn.
func (t *taker) inexact() bool {
	some := t.listed()
	r := rand.New(rand.NewPCG(t.s.Seed, streamCopies))
	for len(some) < mostCopies {
		some = append(some, draw(t.s.Group, r))
	}
	for _, g := range some {
		if !action.Exact(t.s.Action, g) {
			return true
		}
	}
	return false
}

// copy makes the copies of one sample. Where elements resample, every copy is moved twice, by h and then by g·h⁻¹ for a
// random h of its own: also the copy that stays, for which g is the identity. So none is sharper than the others.
func (t *taker) copy(i, object int, x space.Value, move *mover) error {
	g, r := t.s.Group, t.rand(streamCopies, i)
	all := t.listed()
	for c := range t.copies.Each {
		to := g.Identity()
		switch {
		case c == 0:
		case all != nil:
			to = all[c]
		default:
			to = draw(g, r)
		}
		var y space.Value
		var err error
		if t.resampled {
			h := draw(g, r)
			y, err = move.twice(h, g.Mul(to, g.Inv(h)), x)
		} else {
			y, err = t.s.Action.Apply(to, x)
		}
		if err != nil {
			return err
		}
		row := object*t.copies.Each + c
		if err := t.put(t.copies.Rows, row, t.read.of(t.part(y))); err != nil {
			return err
		}
		t.copyAxes[row] = axisOf(t.part(y), t.s.Kinds)
	}
	return nil
}

// exact tests the whole group by randomisation.
func (t *taker) exact(r *Report) {
	if t.copies == nil {
		r.Exact.Reason, r.Exact.P = t.noCopies, document.Number(math.NaN())
		return
	}
	r.Exact = Exact{Objects: t.copies.Objects, Copies: t.copies.Each, Resampled: t.resampled}
	random := rand.New(rand.NewPCG(t.s.Seed, streamDraws))
	pairs := twosample.NewPairs(t.copies)
	type named struct {
		name string
		of   func([]int) float64
	}
	tests := []named{
		{"energy distance to the data moved by the group", pairs.Energy()},
		{"kernel distance (MMD) to the data moved by the group", pairs.MMD()},
	}
	if angles := t.angles(); angles != nil {
		tests = append(tests, named{"preferred axis, |mean exp(2iα)|", t.copies.Moment(angles, 2)},
			named{"preferred axis up to quarter turns, |mean exp(4iα)|", t.copies.Moment(angles, 4)})
	}
	var p []float64
	for _, x := range tests {
		v := t.copies.P(x.of, random)
		p = append(p, v)
		r.Exact.Tests = append(r.Exact.Tests, Test{Name: x.name, P: document.Number(v)})
	}
	least := math.NaN()
	for i, h := range aggregate.Holm(p) {
		if math.IsNaN(p[i]) {
			h = p[i]
		} else if math.IsNaN(least) || h < least {
			least = h
		}
		r.Exact.Tests[i].Holm = document.Number(h)
	}
	r.Exact.P = document.Number(least)
}

// angles are those of the axes of copies in a plane; nil where there are none.
func (t *taker) angles() []float64 {
	out, known := make([]float64, len(t.copyAxes)), false
	for i, a := range t.copyAxes {
		out[i] = math.NaN()
		if len(a) == 2 {
			out[i], known = elementary.Atan2(a[1], a[0]), true
		}
	}
	if !known {
		return nil
	}
	return out
}
