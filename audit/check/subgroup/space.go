package subgroup

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"nero/audit"
	"nero/data/space"
	"nero/symmetry/group"
)

// part is what a candidate does, so that those which pass can be combined.
type part string

const (
	linear  part = "linear"  // turns and mirrors about the origin
	shift   part = "shift"   // shifts of space
	rows    part = "rows"    // permutations
	moments part = "moments" // shifts of time
	claimed part = "claimed" // the group of the study, where it is none of these
)

// candidate is a group that may hold.
type candidate struct {
	name  string
	part  part
	group group.Group
	// within are the names of the groups that hold if this one does.
	within []string
	// elements, if not nil, are what is visited in place of a random choice.
	elements []group.Element
	// of shifts along one axis its number from 1; 0 for others
	axis int
	// of permutations: which rows
	set int
	// larger for larger groups of one part
	rank int
}

// moving lists the types whose rows move with space, and how many of their numbers make one row of d coordinates.
var moving = []string{
	space.TypePositions, space.TypeVectors, space.TypePseudovectors, space.TypeTensors, space.TypePoses,
	space.TypeQuaternions, space.TypeBoxes, space.TypeBoxesQuaternion, space.TypeBoxesMatrix, space.TypeBoxes6D,
}

// dimension is that of the space in which the inputs lie, 0 if nothing says.
func dimension(s space.Spec) int {
	for _, f := range s.All() {
		if !f.Lined() || !slices.Contains(moving, f.Type) {
			continue
		}
		w := -1
		if len(f.Shape) > 0 {
			w = f.Shape[len(f.Shape)-1]
		}
		switch f.Type {
		case space.TypeTensors, space.TypePoses:
			if w == 4 {
				return 2
			}
		case space.TypeQuaternions, space.TypeBoxes, space.TypeBoxesQuaternion, space.TypeBoxesMatrix,
			space.TypeBoxes6D:
		default:
			if w == 2 {
				return 2
			}
		}
		return 3
	}
	return 0
}

// permuted are how many rows of each set the group of the claim permutes.
func permuted(G group.Group) []int {
	if p, ok := G.(group.Permuting); ok {
		return []int{p.Rows()}
	}
	var n []int
	if f, ok := G.(group.Factored); ok {
		for _, x := range f.Factors() {
			n = append(n, permuted(x)...)
		}
	}
	return n
}

// permutations are the candidates that permute rows, those of each set by themselves. rows is how many there are of
// each in the inputs that were picked; the claim may know of more.
func permutations(p *audit.Pass, rowsOf []int) ([]candidate, error) {
	own := permuted(p.Subject.Plan.Group)
	var names []string
	counts := make([]int, max(len(rowsOf), len(own)))
	for set := range counts {
		for _, list := range [][]int{rowsOf, own} {
			if set < len(list) {
				counts[set] = max(counts[set], list[set])
			}
		}
		names = append(names, fmt.Sprintf("S(%d)", max(counts[set], 1)))
	}
	g, err := p.Subject.Group(strings.Join(names, " x "))
	if err != nil {
		return nil, nil //nolint:nilerr // more rows than any group permutes are nothing to try
	}
	var out []candidate
	for set, n := range counts {
		if n < 2 {
			continue
		}
		c := candidate{name: names[set], part: rows, group: g, rank: 1, set: set}
		if slices.Contains(names[:set], c.name) {
			c.name += fmt.Sprintf(" of set %d", set+1)
		}
		if f, ok := g.(group.Factored); ok {
			if c.elements, err = resting(p, f, names, set); err != nil {
				return nil, fmt.Errorf("%s: %w", c.name, err)
			}
		}
		out = append(out, c)
	}
	return out, nil
}

// resting are elements of a product of permutations of which one factor alone does something.
func resting(p *audit.Pass, f group.Factored, names []string, set int) ([]group.Element, error) {
	g, err := p.Subject.Group(names[set])
	if err != nil {
		return nil, err
	}
	all, err := visited(p, candidate{name: fmt.Sprint(names[set], set), group: g}, int(p.Param("elements")), 0)
	if err != nil {
		return nil, err
	}
	var out []group.Element
	for _, e := range all {
		var whole group.Element
		for k, name := range names {
			x, err := p.Subject.Group(name)
			if err != nil {
				return nil, err
			}
			if k == set {
				whole = append(whole, e...)
				continue
			}
			whole = append(whole, x.Identity()...)
		}
		out = append(out, whole)
	}
	if len(out) > 0 && len(out[0]) != len(f.Identity()) {
		return nil, fmt.Errorf("%s has %d coordinates, not %d", f.Name(), len(f.Identity()), len(out[0]))
	}
	return out, nil
}

// cloud is where the points of a sample lie: how far their mean is from the origin, and how far they are from their
// mean, root mean square.
func cloud(p *space.Rows) (off, size float64) {
	if p == nil || p.N == 0 {
		return math.NaN(), math.NaN()
	}
	mean := make([]float64, p.W)
	for i := range p.N {
		for k, x := range p.Row(i) {
			mean[k] += x / float64(p.N)
		}
	}
	var ss float64
	for i := range p.N {
		for k, x := range p.Row(i) {
			ss += float64((x - mean[k]) * (x - mean[k]))
		}
	}
	for _, m := range mean {
		off += float64(m * m)
	}
	return math.Sqrt(off), math.Sqrt(ss / float64(p.N))
}

// spatial lists the candidates in space: those about the axes, all rotations, all orthogonal maps, all shifts. The
// study's own direction, if it keeps one, is among them.
func spatial(d int, own group.Group, s *audit.Subject) ([]candidate, error) {
	var out []candidate
	add := func(name string, p part, rank int, within ...string) error {
		g, err := s.Group(name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		out = append(out, candidate{name: name, part: p, group: g, within: within, rank: rank})
		return nil
	}
	// A group of the claim that is none of those: about another direction, or a finite one.
	claim := func() {
		x, ok := group.AsSpatial(own)
		if !ok || x.Dim() != d || kind(own) != linear ||
			slices.ContainsFunc(out, func(c candidate) bool { return same(c.group, own) }) {
			return
		}
		name := own.Name()
		for i, c := range out {
			// if all rotations hold, so do these; its mirrors with them make all orthogonal maps
			if c.rank >= 3 && orthogonal(x, s.Plan.Elements) {
				out[i].within = append(slices.Clip(c.within), name)
			}
		}
		out = append(out, candidate{name: name, part: linear, group: own, rank: 2})
	}
	if d == 2 {
		for _, err := range []error{add("SO(2)", linear, 3), add("O(2)", linear, 4, "SO(2)"), add("T(2)", shift, 1)} {
			if err != nil {
				return nil, err
			}
		}
		claim()
		return out, nil
	}
	var turns, mirrors []string
	for _, axis := range axes {
		turn, mirror := "SOg(3,"+axis+")", "Og(3,"+axis+")"
		if err := add(turn, linear, 1); err != nil {
			return nil, err
		}
		if err := add(mirror, linear, 2, turn); err != nil {
			return nil, err
		}
		turns, mirrors = append(turns, turn), append(mirrors, mirror)
	}
	if err := add("SO(3)", linear, 3, turns...); err != nil {
		return nil, err
	}
	if err := add("O(3)", linear, 4, append(append(mirrors, turns...), "SO(3)")...); err != nil {
		return nil, err
	}
	if err := add("T(3)", shift, 1); err != nil {
		return nil, err
	}
	claim()
	return out, nil
}

// orthogonal reports whether elements keep all distances.
func orthogonal(G group.Spatial, es []group.Element) bool {
	for _, e := range es {
		if a, _ := G.Motion(e); !isOrthogonal(a, G.Dim()) {
			return false
		}
	}
	return true
}

// isOrthogonal reports whether a map of d dimensions keeps all distances.
func isOrthogonal(a []float64, d int) bool {
	for i := range d {
		for j := range d {
			var dot float64
			for k := range d {
				dot += float64(a[i*d+k] * a[j*d+k])
			}
			if want := map[bool]float64{true: 1}[i == j]; !(math.Abs(dot-want) <= 1e-9) {
				return false
			}
		}
	}
	return true
}

// axes are the names of those of coordinates.
var axes = []string{"x", "y", "z"}

// about is the candidate of the quarter turns about an axis, with the mirrors that contain it or without: C4 and C4v.
// In the plane there is one axis.
func about(s *audit.Subject, d int, axis string, mirrors bool) (candidate, error) {
	of, name := "SO(2)", "C4"
	if d == 3 {
		of, name = "SOg(3,"+axis+")", "C4 about "+axis
	}
	c := candidate{name: name, part: linear}
	if mirrors {
		of = of[1:]
		c.within = []string{name}
		c.name = map[int]string{2: "D4", 3: "C4v about " + axis}[d]
	}
	g, err := s.Group(of)
	if err != nil {
		return c, fmt.Errorf("%s: %w", of, err)
	}
	turn, mirror := group.First(g.Chart(), group.KindTurn), group.First(g.Chart(), group.KindMirror)
	if turn < 0 || mirrors && mirror < 0 {
		return c, fmt.Errorf("%s has no turns or no mirrors: %w", of, errors.ErrUnsupported)
	}
	c.group = g
	for m := range 2 {
		for quarter := range 4 {
			if m == 1 && !mirrors || m+quarter == 0 {
				continue
			}
			e := slices.Clone(g.Identity())
			e[turn] = float64(90 * quarter)
			if m == 1 {
				e[mirror] = 1
			}
			c.elements = append(c.elements, g.Mul(e, g.Identity()))
		}
	}
	return c, nil
}

// along is the candidate of the shifts along one axis of d, in widths of the cloud.
func along(s *audit.Subject, d, axis int, size float64) (candidate, error) {
	g, err := s.Group(fmt.Sprintf("T(%d)", d))
	if err != nil {
		return candidate{}, fmt.Errorf("shifts: %w", err)
	}
	c := candidate{name: "shifts along " + axes[axis], part: shift, group: g, axis: axis + 1}
	for _, by := range []float64{1, -0.6, 0.3, -0.1} {
		e := slices.Clone(g.Identity())
		e[axis] = by * size
		c.elements = append(c.elements, e)
	}
	return c, nil
}

// same reports whether two groups have one name, the short form of the axis z included.
func same(a, b group.Group) bool {
	short := func(n string) string {
		switch n {
		case "Og(3)":
			return "Og(3,z)"
		case "SOg(3)":
			return "SOg(3,z)"
		}
		return n
	}
	return short(a.Name()) == short(b.Name())
}

// kind says whether a spatial group only turns and mirrors, only shifts, or does both or something else.
func kind(g group.Group) part {
	s, ok := group.AsSpatial(g)
	if !ok {
		return claimed
	}
	turns, shifts := false, false
	for _, a := range s.Chart() {
		if shifting(a) {
			shifts = true
		} else {
			turns = true
		}
	}
	switch {
	case turns && shifts:
		return claimed
	case shifts:
		return shift
	}
	return linear
}

// shifting reports whether a coordinate is a component of a shift of the plane or of space.
func shifting(a group.Axis) bool {
	return a.Kind == group.KindLength || a.Kind == group.KindRight || a.Kind == group.KindDown
}

// visited are the elements of a candidate: seeded random ones, half of them improper where the group has such elements,
// shifts as long as the cloud is wide.
func visited(p *audit.Pass, c candidate, n int, size float64) ([]group.Element, error) {
	if c.elements != nil {
		return c.elements, nil
	}
	if f, ok := c.group.(group.Finite); ok {
		if all := f.Elements(); len(all) <= n+1 {
			return without(c.group, all), nil
		}
	}
	window := slices.Clone(group.Window(c.group))
	for i, a := range c.group.Chart() {
		if shifting(a) && i < len(window) && size > 0 {
			window[i] = [2]float64{-size, size}
		}
	}
	all, err := group.Haar(c.group, n, window, p.Rand("elements of a subgroup", c.name))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.name, err)
	}
	return without(c.group, halved(c.group, all)), nil
}

// halved makes every other element improper where the group has such elements.
func halved(G group.Group, all []group.Element) []group.Element {
	out := slices.Clone(all)
	for i, a := range G.Chart() {
		if a.Kind != group.KindInversion && a.Kind != group.KindMirror {
			continue
		}
		for k, g := range out {
			h := slices.Clone(g)
			h[i] = float64(k % 2)
			out[k] = G.Mul(h, G.Identity())
		}
	}
	return out
}

// reached are elements of the claimed group, drawn by the seed: over all of it where it is bounded, and as far as the
// plan goes where it is not.
func reached(p *audit.Pass, n int) ([]group.Element, error) {
	G := p.Subject.Plan.Group
	if f, ok := G.(group.Finite); ok {
		if all := f.Elements(); len(all) <= n+1 {
			return without(G, all), nil
		}
	}
	window := slices.Clone(group.Window(G))
	for i, a := range G.Chart() {
		if i >= len(window) || a.Periodic {
			continue
		}
		lo, hi := math.Inf(1), math.Inf(-1)
		for _, g := range p.Subject.Plan.Elements {
			lo, hi = min(lo, g[i]), max(hi, g[i])
		}
		if hi > lo {
			window[i] = [2]float64{lo, hi}
		}
	}
	all, err := group.Haar(G, n, window, p.Rand("elements of the claim", G.Name()))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", G.Name(), err)
	}
	return without(G, halved(G, all)), nil
}

// without leaves the identity out.
func without(G group.Group, all []group.Element) []group.Element {
	return slices.DeleteFunc(slices.Clone(all), func(g group.Element) bool { return G.Dist(g, G.Identity()) == 0 })
}
