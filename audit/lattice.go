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
	G      group.Element
	Label  string
	Exact  bool    // acts on the input without resampling
	Added  bool    // by the audit; not in the plan
	Weight float64 // of a mean over the elements of the same set
}

// elementsOf lists what an audit visits: the plan without the identity, which is a control, and the exact lattice elements of the group
// that lie within the reach of the plan and are not in it.
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

// latticeOf lists elements of the group that act exactly, are not in the plan, and are no farther from it than its own elements are
// from each other, so that nothing is demanded that the plan does not claim: a plan of ±30 degrees is not held against a quarter turn.
// Candidates are the quarter turns and mirrors and, with shifts, one pixel along each axis if the plan has no exact element at all.
func latticeOf(p *orbit.Plan, shifts bool) []group.Element {
	G := p.Group
	var candidates []group.Element
	if f, ok := G.(group.Finite); ok && len(f.Elements()) <= mostCandidates {
		candidates = f.Elements()
	} else {
		candidates = chartLattice(G.Chart(), G.Identity(), shifts)
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
		case a.Unit == "deg" && a.Periodic && a.Max-a.Min == 360:
			values = []float64{0, 90, 180, 270}
		case a.Unit == "px" && shifts:
			values = []float64{0, 1, -1}
		case a.Unit == "" && a.Min == 0 && a.Max >= 1 && a.Max <= 2: // a switch
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
