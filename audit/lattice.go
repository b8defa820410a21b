package audit

import (
	"math"
	"slices"

	"nero/symmetry/action"
	"nero/symmetry/group"
	"nero/symmetry/orbit"
)

// Element is one element that an audit visits.
type Element struct {
	G     group.Element
	Label string
	// acts on the input without resampling
	Exact bool
	// by the audit; not in the plan
	Added bool
	// of a mean over the elements of the same set
	Weight float64
}

// elementsOf lists what an audit visits: the plan without the identity, which is a control, and the exact lattice
// elements of the group that lie within the reach of the plan and are not in it.
func elementsOf(p *orbit.Plan) []Element {
	id := p.Identity()
	var out []Element
	some := false
	for i, g := range p.Elements {
		if i == id {
			continue
		}
		w := 1.0
		if p.Weights != nil {
			w = p.Weights[i]
		}
		exact := action.Exact(p.In, g)
		some = some || exact
		out = append(out, Element{G: g, Label: Label(p.Group, g), Exact: exact, Weight: w})
	}
	for _, g := range latticeOf(p, !some) {
		out = append(out, Element{G: g, Label: Label(p.Group, g), Exact: true, Added: true, Weight: 1})
	}
	return out
}

// mostCandidates bounds the lattice elements that are tried.
const mostCandidates = 256

// latticeOf lists elements of the group that act exactly, are not in the plan, and are no farther from it than its own
// elements are from each other, so that nothing is demanded that the plan does not claim: a plan of ±30 degrees is not
// held against a quarter turn. Candidates are the quarter turns and mirrors and, with shifts, one pixel along each axis
// if the plan has no exact element at all.
func latticeOf(p *orbit.Plan, shifts bool) []group.Element {
	G := p.Group
	var candidates []group.Element
	if f, ok := G.(group.Finite); ok && len(f.Elements()) <= mostCandidates {
		candidates = f.Elements()
	} else {
		candidates = latticeCandidates(G, shifts)
	}
	reach := spacing(p)
	var out []group.Element
next:
	for _, g := range candidates {
		g = G.Mul(g, G.Identity()) // into the canonical range
		if !action.Exact(p.In, g) || !action.Exact(p.Out, g) {
			continue
		}
		near := G.Dist(g, G.Identity())
		if near == 0 {
			continue
		}
		for _, h := range append(slices.Clip(p.Elements), out...) {
			if G.Dist(g, h) == 0 {
				continue next
			}
		}
		for _, h := range p.Elements {
			near = min(near, G.Dist(g, h))
		}
		if near <= reach {
			out = append(out, g)
		}
	}
	return out
}

// latticeCandidates are elements of a group that may act exactly, factor by factor of a product: the symmetries of the
// cube of rotations in space, quarter turns, mirrors, steps. Permutations are all exact and none is added.
func latticeCandidates(G group.Group, shifts bool) []group.Element {
	if f, ok := G.(group.Factored); ok {
		id := G.Identity()
		var out []group.Element
		from := 0
		for _, x := range f.Factors() {
			n := len(x.Chart())
			if from+n > len(id) {
				return nil
			}
			for _, c := range latticeCandidates(x, shifts) {
				g := slices.Clone(id)
				copy(g[from:], c)
				out = append(out, g)
			}
			from += n
		}
		if len(out) > mostCandidates {
			return nil
		}
		return out
	}
	if _, ok := G.(group.Permuting); ok {
		return nil
	}
	if s, ok := G.(group.Spatial); ok && s.Dim() == 3 {
		return cubeLattice(G, shifts)
	}
	return chartLattice(G.Chart(), G.Identity(), shifts)
}

// cubeLattice are the symmetries of the cube in a chart with a rotation vector, and steps along each axis.
func cubeLattice(G group.Group, steps bool) []group.Element {
	chart, id := G.Chart(), G.Identity()
	x, inversion := group.First(chart, group.KindVector), group.First(chart, group.KindInversion)
	turns := x >= 0
	if !turns && group.First(chart, group.KindTurn) >= 0 {
		return chartLattice(chart, id, steps)
	}
	inversions := []float64{0}
	if inversion >= 0 {
		inversions = []float64{0, 1}
	}
	out := []group.Element{slices.Clone(id)}
	if turns {
		out = nil
		for _, r := range cubeRotations() {
			for _, i := range inversions {
				g := slices.Clone(id)
				copy(g[x:x+3], r[:])
				if inversion >= 0 {
					g[inversion] = i
				}
				out = append(out, g)
			}
		}
	}
	if t := group.First(chart, group.KindLength); t >= 0 && steps {
		for k := t; k < len(chart) && chart[k].Kind == group.KindLength && k < t+3; k++ {
			g := slices.Clone(id)
			g[k] = 1
			out = append(out, g)
		}
	}
	return out
}

// cubeRotations are the 24 rotations of the cube as rotation vectors in degrees.
func cubeRotations() [][3]float64 {
	out := [][3]float64{{}}
	for k := range 3 {
		for _, d := range []float64{90, -90, 180} {
			var r [3]float64
			r[k] = d
			out = append(out, r)
		}
	}
	third := 120 / math.Sqrt(3)
	for i := range 8 {
		r := [3]float64{third, third, third}
		for k := range 3 {
			if i>>k&1 == 1 {
				r[k] = -third
			}
		}
		out = append(out, r)
	}
	half := 180 / math.Sqrt2
	for k := range 3 {
		for _, s := range []float64{1, -1} {
			var r [3]float64
			r[(k+1)%3], r[(k+2)%3] = half, s*half
			out = append(out, r)
		}
	}
	return out
}

// spacing is the largest distance of an element of the plan from its nearest neighbor, the identity counted in.
func spacing(p *orbit.Plan) float64 {
	all := p.Elements
	if p.Identity() < 0 {
		all = append(slices.Clip(all), p.Group.Identity())
	}
	var most float64
	for i, g := range all {
		near := math.Inf(1)
		for j, h := range all {
			if i != j {
				near = min(near, p.Group.Dist(g, h))
			}
		}
		if !math.IsInf(near, 1) {
			most = max(most, near)
		}
	}
	return most
}

// chartLattice combines the coordinates at which a chart may act exactly.
func chartLattice(chart []group.Axis, identity group.Element, shifts bool) []group.Element {
	out := []group.Element{{}}
	for i, a := range chart {
		values := []float64{identity[i]}
		switch {
		case a.Circle() && a.Max-a.Min == 360:
			values = []float64{0, 90, 180, 270}
		case (a.Form() == group.FormPixels || a.Form() == group.FormSamples) && shifts:
			values = []float64{0, 1, -1}
		case a.Switch():
			values = []float64{0, 1}
		}
		var next []group.Element
		for _, g := range out {
			for _, v := range values {
				next = append(next, append(slices.Clip(g), v))
			}
		}
		if len(next) > mostCandidates {
			return nil
		}
		out = next
	}
	return out
}
