package preflight

import (
	"fmt"
	"math"
	"slices"

	"nero/audit"
	"nero/data/space"
	"nero/data/tensor"
	"nero/internal/elementary"
	"nero/symmetry/action"
	"nero/symmetry/group"
)

// half is the largest relative residual at which a resampled action still counts as keeping a law. Interpolation of the
// smooth probe changes it by a few percent; an action that is no representation changes it by as much as it has.
const half = 0.5

// laws tests both actions on probes of the forms of x and y and reports every law that is broken, once per action.
func laws(p *audit.Pass, x, y space.Value) (string, error) {
	var broken string
	for _, side := range []struct {
		name string
		a    action.Action
		v    space.Value
	}{{"input action", p.Subject.Plan.In, x}, {"output action", p.Subject.Plan.Out, y}} {
		if _, ok := side.a.(action.Trivial); ok {
			continue
		}
		law, residual, at, err := lawOf(side.a, side.v, choose(p.Elements))
		if err != nil {
			return "", fmt.Errorf("%s: %w", side.name, err)
		}
		if law == "" {
			continue
		}
		message := fmt.Sprintf("the %s breaks %s at %s", side.name, law, at)
		if broken == "" {
			broken = message
		}
		p.Report(audit.Finding{
			Category: audit.ActionLaw, Location: side.name, Message: message,
			Worst:    audit.Where{Index: -1, Label: at},
			Evidence: []audit.Evidence{audit.Number("residual", residual, "").Against(half)},
			Remedies: []string{
				"check the order of composition: in Mul(g, h) the element h acts first",
				"check that the inverse undoes the parts in reverse order, and that angles are in degrees",
			},
		})
	}
	return broken, nil
}

// choose takes up to four exact and three other elements, spread over the list.
func choose(all []audit.Element) []audit.Element {
	var exact, rest []audit.Element
	for _, e := range all {
		if e.Exact {
			exact = append(exact, e)
		} else {
			rest = append(rest, e)
		}
	}
	return append(spread(exact, 4), spread(rest, 3)...)
}

func spread(list []audit.Element, n int) []audit.Element {
	n = min(n, len(list))
	var out []audit.Element
	for i := range n {
		out = append(out, list[(2*i+1)*len(list)/(2*n)])
	}
	return out
}

// lawOf returns the first law that does not hold, "" if none is found broken. An action that changes the form of a
// value, such as a window cut from a larger picture, cannot be composed with itself; its laws are not tested.
func lawOf(a action.Action, like space.Value, elements []audit.Element) (law string, residual float64, at string,
	err error,
) {
	if v, ok := like.(*space.Boxes); ok {
		return lawOfBoxes(a, v, elements)
	}
	names, _ := space.Fields(like)
	if _, ok := like.(interface{ Members() int }); ok || names != nil {
		return lawOfRows(a, like, elements)
	}
	G := a.Group()
	ids, err := numbered(like)
	if err != nil {
		return "", 0, "", err
	}
	smooth, err := blob(like)
	if err != nil {
		return "", 0, "", err
	}
	if o, ok := action.OptionsOf(a); ok { // what does not count is no part of the action
		ids, smooth = o.Region.Within(ids), o.Region.Within(smooth)
	}
	// Numbers are taken from the middle of their range, and where elements cut them all the same nothing is said.
	clips, about := action.Clipper(nil), 0.0
	if c, ok := a.(action.Clipper); ok {
		if lo, hi := c.Ends(); lo < hi {
			clips, about = c, lo/2+hi/2
			if smooth, err = within(smooth, lo, hi); err != nil {
				return "", 0, "", err
			}
		}
	}
	cut := func(v space.Value, gs ...group.Element) bool {
		for _, g := range gs {
			if clips == nil {
				return false
			}
			if n, err := clips.Clipped(g, v); err != nil || n > 0 {
				return true
			}
			var err error
			if v, err = a.Apply(g, v); err != nil {
				return true
			}
		}
		return false
	}
	e := G.Identity()
	probe := func(exact bool) space.Value {
		if exact {
			return ids
		}
		return smooth
	}
	apply := func(v space.Value, gs ...group.Element) (space.Value, error) {
		for _, g := range gs {
			if v, err = a.Apply(g, v); err != nil {
				return nil, err
			}
		}
		return v, nil
	}
	once, err := apply(ids, e)
	if err != nil {
		return "", 0, "", err
	}
	if once.Form() != ids.Form() {
		return "", 0, "", nil
	}
	exactly := func(gs ...group.Element) bool {
		for _, g := range gs {
			if !action.Exact(a, g) {
				return false
			}
		}
		return true
	}
	// same compares got = ρ(g)ρ(h)v with want = ρ(gh)v, v the probe; mid is ρ(h)v.
	same := func(exact bool, got, want, mid space.Value, g, h group.Element) (float64, bool, error) {
		if exact {
			return indexed(got, want, mid)
		}
		if cut(smooth, h, g) || cut(smooth, G.Mul(g, h)) {
			return 0, true, nil
		}
		return near(got, want, smooth, about, inside(G, smooth, g, h))
	}
	if exact := exactly(e); exact {
		r, ok, err := indexed(once, ids, ids)
		if err != nil || !ok {
			return "ρ(e) = 1", r, audit.Label(G, e), err
		}
	}
	for i, g := range elements {
		exact := exactly(g.G, G.Inv(g.G))
		v := probe(exact)
		mid, err := apply(v, g.G)
		if err != nil {
			return "", 0, "", err
		}
		got, err := apply(mid, G.Inv(g.G))
		if err != nil {
			return "", 0, "", err
		}
		if r, ok, err := same(exact, got, v, mid, G.Inv(g.G), g.G); err != nil || !ok {
			return "ρ(g⁻¹)ρ(g) = 1", r, g.Label, err
		}
		h := elements[(i+1)%len(elements)]
		gh := G.Mul(g.G, h.G)
		exact = exactly(g.G, h.G, gh)
		v = probe(exact)
		if mid, err = apply(v, h.G); err != nil {
			return "", 0, "", err
		}
		if got, err = apply(mid, g.G); err != nil {
			return "", 0, "", err
		}
		want, err := apply(v, gh)
		if err != nil {
			return "", 0, "", err
		}
		if r, ok, err := same(exact, got, want, mid, g.G, h.G); err != nil || !ok {
			return "ρ(g)ρ(h) = ρ(gh)", r, g.Label + " after " + h.Label, err
		}
	}
	return "", 0, "", nil
}

// indexed compares values made of distinct numbers by exact elements: wherever the number that want has at a place is
// still in mid, and is in want but once, got must have it too. What left the picture half-way or was made up by the
// border rule is not held against the action. The residual is the share of places that differ.
func indexed(got, want, mid space.Value) (float64, bool, error) {
	g := got.Numbers()
	w := want.Numbers()
	m := mid.Numbers()
	if len(g) != len(w) {
		return 1, false, nil
	}
	there, times := tallyOf(m), tallyOf(w)
	wrong, held := 0, 0
	for i, x := range w {
		if x == 0 || there.of(x) == 0 || times.of(x) > 1 {
			continue
		}
		held++
		if g[i] != x {
			wrong++
		}
	}
	return float64(wrong) / float64(max(held, 1)), wrong == 0, nil
}

// tally counts numbers by their size. Most are whole and small, and there are as many as a model reads.
type tally struct {
	whole []int32
	rest  map[float64]int32
}

func tallyOf(list []float64) *tally {
	t := &tally{whole: make([]int32, len(list)+1), rest: map[float64]int32{}}
	for _, x := range list {
		if x = math.Abs(x); t.small(x) {
			t.whole[int(x)]++
		} else {
			t.rest[x]++
		}
	}
	return t
}

// small tells whether a number, none below zero, has a place in the list.
func (t *tally) small(x float64) bool { return x < float64(len(t.whole)) && x == float64(int(x)) }

// of is how often numbers of the size of x were counted.
func (t *tally) of(x float64) int32 {
	if x = math.Abs(x); t.small(x) {
		return t.whole[int(x)]
	}
	return t.rest[x]
}

// margin is how many pixels around a point an interpolation may read.
const margin = 3

// inside marks the numbers of ρ(g)ρ(h)v that do not depend on what a border rule put outside the grid, after either
// step; nil, meaning all, where the group does not move the plane or the value has no grid.
func inside(G group.Group, v space.Value, g, h group.Element) []bool {
	p, ok := G.(group.Planar)
	shape := v.Dims()
	if !ok || len(shape) < 2 || v.Kind() == space.KindScores {
		return nil
	}
	height, width := shape[len(shape)-2], shape[len(shape)-1]
	if height < 4 || width < 4 {
		return nil
	}
	first, second := back(p, g), back(p, h)
	in := func(x, y float64) bool {
		return math.Abs(x) <= float64(width-1)/2-margin && math.Abs(y) <= float64(height-1)/2-margin
	}
	keep := make([]bool, tensor.Count(shape))
	for i := range keep {
		j := i % (height * width)
		x, y := float64(j%width)-float64(width-1)/2, float64(j/width)-float64(height-1)/2
		if x, y = first(x, y); in(x, y) {
			x, y = second(x, y)
			keep[i] = in(x, y)
		}
	}
	return keep
}

// back is the map p -> g⁻¹p on points of the plane.
func back(G group.Planar, g group.Element) func(x, y float64) (float64, float64) {
	a, t := G.Affine(G.Inv(g))
	return func(x, y float64) (float64, float64) {
		return float64(a[0][0]*x) + float64(a[0][1]*y) + t[0], float64(a[1][0]*x) + float64(a[1][1]*y) + t[1]
	}
}

// near compares resampled values of the smooth probe where keep says so, by what they differ from the number that the
// probe lies about. If little of the probe is left there, they say nothing.
func near(got, want, probe space.Value, about float64, keep []bool) (float64, bool, error) {
	g := got.Numbers()
	w := want.Numbers()
	p := probe.Numbers()
	if len(g) != len(w) {
		return 1, false, nil
	}
	var all, left, diff float64
	for i, x := range w {
		x := x - about
		all += float64((p[i] - about) * (p[i] - about))
		if keep != nil && !keep[i] {
			continue
		}
		left += float64(x * x)
		diff += float64((g[i] - about - x) * (g[i] - about - x))
	}
	if !(left > all/10) {
		return 0, true, nil
	}
	r := math.Sqrt(diff / left)
	return r, r <= half, nil
}

// tenth is the part of a range of numbers that a probe takes, in its middle.
const tenth = 0.1

// within is v with its numbers in the middle of a range.
func within(v space.Value, lo, hi float64) (space.Value, error) {
	x := slices.Clone(v.Numbers())
	least, most := math.Inf(1), math.Inf(-1)
	for _, y := range x {
		least, most = min(least, y), max(most, y)
	}
	l, ok := v.(space.Linear)
	if !ok || !(least < most) {
		return v, nil
	}
	for i, y := range x {
		x[i] = lo/2 + hi/2 + float64(((y-least)/(most-least)-0.5)*tenth*(hi-lo))
	}
	return l.With(x)
}

// numbered is a value of the form of v whose numbers are 1, 2, 3, ...
func numbered(v space.Value) (space.Value, error) {
	return filled(v, func(i, _, _, _ int) float64 { return float64(i + 1) })
}

// blob is a value of the form of v that holds a smooth bump off the centre on every plane, each plane of another
// height, or falling numbers where there is no grid.
func blob(v space.Value) (space.Value, error) {
	return filled(v, func(i, k, h, w int) float64 {
		if h == 1 && w >= 4 { // a signal
			x := (float64(i%w) - float64(0.55*float64(w))) / (0.08 * float64(w))
			return float64(k+1) * elementary.Exp(-x*x/2)
		}
		if h < 4 || w < 4 {
			return 1 / float64(i+1)
		}
		j := i % (h * w)
		side := float64(min(h, w))
		y := (float64(j/w) - float64(0.45*float64(h))) / (0.12 * side)
		x := (float64(j%w) - float64(0.6*float64(w))) / (0.12 * side)
		return float64(k+1) * elementary.Exp(-(float64(x*x)+float64(y*y))/2)
	})
}

// places are the rows and columns of each plane of numbers; zeros for values without.
func places(v space.Value) (h, w int) {
	d := v.Dims()
	if len(d) < 2 {
		return 0, 0
	}
	if _, ok := v.(space.Counted); ok { // a channel is a line
		return 1, d[1]
	}
	return d[len(d)-2], d[len(d)-1]
}

// filled is a value of the form of v with the numbers f(index, plane, height, width).
func filled(v space.Value, f func(i, k, h, w int) float64) (space.Value, error) {
	if m, ok := v.(*space.Mask); ok {
		o := &space.Mask{H: m.H, W: m.W, Label: make([]int32, len(m.Label))}
		for i := range o.Label {
			o.Label[i] = int32(i + 1)
		}
		return o, nil
	}
	if _, ok := v.(space.Linear); ok {
		h, w := places(v)
		x := make([]float64, len(v.Numbers()))
		for i := range x { // on from picture to picture: frames that were equal would hide that they change places
			x[i] = f(i, i/max(h*w, 1), h, w)
		}
		return v.With(x)
	}
	return nil, fmt.Errorf("%w: no probe for values of kind %s", audit.ErrUntested, v.Kind())
}
