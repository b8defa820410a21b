package subgroup

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"nero/audit"
	"nero/audit/check/search"
	"nero/audit/check/sweep"
	"nero/audit/kit/trial"
	"nero/symmetry/group"
)

// seen is a pair of input and element at which another check saw an error above the limit, with what the element does
// taken apart: it turns or mirrors, then shifts, and permutes rows.
type seen struct {
	by    string
	at    audit.Where
	err   float64
	parts []piece
}

// piece is one thing that an element does, as an element of the claimed group.
type piece struct {
	part part
	g    group.Element
	// of permutations: which rows
	set int
	// the map of space and the shift; nil for permutations
	a, t []float64
}

// mostSeen bounds the pairs that are taken from each check.
const mostSeen = 4

// found are the worst pairs of the plan, where the set that they belong to is not within the limit, and what search
// found between its elements.
func (u *tester) found() []seen {
	p := u.p
	var all []seen
	add := func(by string, at audit.Where, e float64) {
		if parts, ok := u.apart(at.Element); ok && len(parts) > 0 {
			all = append(all, seen{by, at, e, parts})
		}
	}
	sw := audit.ResultOf[*sweep.Result](p, sweep.Check)
	type pair struct {
		i, j int
		e    float64
	}
	var pairs []pair
	for _, exact := range []bool{true, false} {
		s := sw.Set(p, exact)
		if s == nil || s.NonFinite == 0 && s.Worst.Value <= u.limit {
			continue
		}
		for k, e := range sw.Err {
			j := k % len(p.Elements)
			if e /= sw.Scale; p.Elements[j].Exact == exact && !(e <= u.limit) && k/len(p.Elements) < len(sw.IDs) {
				pairs = append(pairs, pair{k / len(p.Elements), j, e})
			}
		}
	}
	slices.SortStableFunc(pairs, func(a, b pair) int {
		return cmp.Or(boolean(math.IsNaN(b.e))-boolean(math.IsNaN(a.e)), cmp.Compare(b.e, a.e))
	})
	taken := map[int]bool{}
	for _, q := range pairs {
		if len(taken) == mostSeen {
			break
		}
		if !taken[q.j] { // another element says more than the same one at another input
			taken[q.j] = true
			add("sweep", audit.Where{
				Sample: sw.IDs[q.i], Index: q.i, Element: p.Elements[q.j].G, Label: p.Elements[q.j].Label,
			}, q.e)
		}
	}
	if r, ok := audit.ResultIf[*search.Result](p, search.Check); ok {
		for _, f := range r.Found[:min(len(r.Found), mostSeen)] {
			// What lies within the plan's own errors was judged there; a few inputs may exceed the limit.
			if f.Error > u.limit && !(f.Error <= 2*f.PlanMost && len(pairs) == 0) && !(f.Error <= 2*f.Floor) {
				add("search", f.At, f.Error)
			}
		}
	}
	return all
}

func boolean(b bool) int {
	if b {
		return 1
	}
	return 0
}

// apart takes an element of the claimed group apart. It is not ok where the group does something else as well, such as
// run time backwards.
func (u *tester) apart(g group.Element) ([]piece, bool) {
	G := u.p.Subject.Plan.Group
	chart, e := G.Chart(), G.Identity()
	if len(g) != len(chart) {
		return nil, false
	}
	var out []piece
	sets := setsOf(G)
	for n := range 2 + max(1, len(sets)) {
		k, set := []part{linear, shift, rows}[min(n, 2)], n-2
		h := slices.Clone(e)
		for i, a := range chart {
			of := linear
			switch {
			case shifting(a):
				of = shift
			case a.Kind == group.KindPlace:
				of = rows
			}
			if of == k && (k != rows || len(sets) == 0 || i >= sets[set][0] && i < sets[set][1]) {
				h[i] = g[i]
			}
		}
		if h = G.Mul(h, e); G.Dist(h, e) == 0 {
			continue
		}
		q := piece{part: k, g: h}
		if k == rows {
			q.set = set
		}
		if k != rows {
			if q.a, q.t = motion(G, h); q.a == nil {
				return nil, false
			}
		}
		out = append(out, q)
	}
	return out, true
}

// setsOf are the coordinates, from and up to, of the factors of a group that permute rows: each moves one set of them.
func setsOf(G group.Group) [][2]int {
	factors, at := []group.Group{G}, 0
	if f, ok := G.(group.Factored); ok {
		factors = f.Factors()
	}
	var out [][2]int
	for _, f := range factors {
		n := len(f.Chart())
		if _, ok := f.(group.Permuting); ok {
			out = append(out, [2]int{at, at + n})
		}
		at += n
	}
	return out
}

// motion is what an element does in space, by the one factor that moves space; nil if there is none.
func motion(G group.Group, g group.Element) (a, t []float64) {
	if f, ok := G.(group.Factored); ok {
		for i, x := range f.Split(g) {
			if a, t = motion(f.Factors()[i], x); a != nil {
				return a, t
			}
		}
		return nil, nil
	}
	if s, ok := group.AsSpatial(G); ok {
		return s.Motion(g)
	}
	return nil, nil
}

// holds reports whether a candidate contains a piece.
func (c candidate) holds(q piece) bool {
	if c.part != q.part {
		return false
	}
	s, ok := group.AsSpatial(c.group)
	switch {
	case c.part == rows:
		return c.set == q.set
	case !ok || s.Dim() != len(q.t):
		return false
	case c.part == shift:
		for i, x := range q.t {
			if c.axis > 0 && i != c.axis-1 && x != 0 {
				return false
			}
		}
		return true
	}
	if all := c.listed(); all != nil {
		return slices.ContainsFunc(all, func(g group.Element) bool {
			a, _ := s.Motion(g)
			return near(a, q.a)
		})
	}
	// A continuous group of turns keeps what all of its elements keep: all of space, a direction, or nothing but the
	// origin.
	if !isOrthogonal(q.a, len(q.t)) || !c.improper() && determinant(q.a, len(q.t)) < 0 {
		return false
	}
	n := c.keeps(s)
	if n == nil {
		return true
	}
	for i := range n {
		var x float64
		for k := range n {
			x += float64(q.a[i*len(n)+k] * n[k])
		}
		if !(math.Abs(x-n[i]) <= 1e-9) {
			return false
		}
	}
	return true
}

// listed are the elements of a candidate of finitely many, nil for others.
func (c candidate) listed() []group.Element {
	if c.elements != nil {
		return c.elements
	}
	if f, ok := c.group.(group.Finite); ok {
		return f.Elements()
	}
	return nil
}

// improper reports whether a candidate has mirrors or the inversion.
func (c candidate) improper() bool {
	return slices.ContainsFunc(c.group.Chart(), func(a group.Axis) bool {
		return a.Kind == group.KindInversion || a.Kind == group.KindMirror
	})
}

// keeps is the direction that a continuous group of turns of space about one axis keeps; nil for one of more axes, and
// in the plane.
func (c candidate) keeps(s group.Spatial) []float64 {
	i := group.First(c.group.Chart(), group.KindTurn)
	if i < 0 || s.Dim() != 3 {
		return nil
	}
	quarter := slices.Clone(s.Identity())
	quarter[i] = 90
	a, _ := s.Motion(quarter)
	// of a quarter turn, the skew part is the axis
	return []float64{(a[7] - a[5]) / 2, (a[2] - a[6]) / 2, (a[3] - a[1]) / 2}
}

func near(a, b []float64) bool {
	for i := range a {
		if !(math.Abs(a[i]-b[i]) <= 1e-9) {
			return false
		}
	}
	return len(a) == len(b)
}

// worst holds the groups that pass against the pieces of what other checks found: elements of a narrow defect are
// seldom among those that are drawn.
func (u *tester) worst(ctx context.Context) error {
	if len(u.list) > 0 && u.list[0].part == moments {
		return nil // a plan may visit some multiples on purpose
	}
	plan := u.p.Subject.Plan
	u.seen = u.found()
	for _, s := range u.seen {
		pick := u.pick
		if !slices.Contains(pick, s.at.Index) {
			pick = append(slices.Clone(pick), s.at.Index)
		}
		for _, q := range s.parts {
			held := u.holding(q)
			if len(held) == 0 {
				continue
			}
			all, err := trial.Measure(ctx, u.p, pick, u.scale, []*trial.Trial{
				{In: plan.In, Out: plan.Out, Elements: []group.Element{q.g}},
			})
			if err != nil {
				return fmt.Errorf("what %s found: %w", s.by, err)
			}
			e := all[0]
			at, worst, field := e.Worst(u.p)
			if worst <= u.limit { // false for NaN
				continue
			}
			for _, g := range held {
				if !(g.Worst >= worst) {
					g.At, g.Worst, g.Field = at, worst, field
				}
				g.State = Undecided
				iv := e.Interval(u.p, g.Name+" at what was found")
				if !(worst <= 10*u.limit) || iv.Lo > u.limit {
					g.State = Fails
				}
				if !(g.Error.Value >= iv.Value) {
					g.Error = iv
				}
				g.Why = fmt.Sprintf("at %s, which %s found, it errs by %s", at.Label, s.by, audit.Figures(worst))
			}
		}
	}
	return nil
}

// holding are the groups that pass and contain a piece.
func (u *tester) holding(q piece) []*Group {
	var out []*Group
	for i := range u.r.Groups {
		g := &u.r.Groups[i]
		k := slices.IndexFunc(u.list, func(c candidate) bool { return c.name == g.Name })
		if g.State == Passes && k >= 0 && u.list[k].holds(q) {
			out = append(out, g)
		}
	}
	return out
}

// contradicted leaves the largest group out where something that was found is an element of it: each piece holds by
// itself on the inputs that were tried, and together they do not.
func (u *tester) contradicted() {
	for _, s := range u.seen {
		within := true
		for _, q := range s.parts {
			within = within && len(u.holding(q)) > 0
		}
		if !within {
			continue
		}
		u.r.Largest = ""
		u.r.Unclear = fmt.Sprintf(
			"no largest symmetry is named: %s found an error of %s at %s, and of all that this element does each part "+
				"holds where it was tried by itself", s.by, audit.Figures(s.err), s.at)
		u.r.Fails = append(u.r.Fails, u.r.Unclear)
		return
	}
}
