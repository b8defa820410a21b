package shelf

import (
	"math"

	"nero/present/view"
	"nero/run/fold"
	"nero/run/job"
	"nero/serve/api"
	"nero/symmetry/group"
)

// orbitOf is the group of a job and the plan of its orbit.
func orbitOf(g group.Group, j *job.Job, identity int) api.Group {
	o := api.Group{
		Name: g.Name(), Title: view.OrbitTitle(g, len(j.Elements)), Chart: append([]group.Axis{}, g.Chart()...),
		Steps: []fold.Number{}, Elements: j.Elements, Labels: make([]string, len(j.Elements)), Exact: j.Exact,
		Layout:   view.PageLayoutOf(view.Orbit{Group: g, Chart: g.Chart(), Elements: j.Elements}).Name,
		Identity: identity, Measure: j.Measure, Weights: append([]float64{}, j.Weights...),
		Finite: view.Whole(g, j.Elements), Moves: moves(g, j.Elements),
	}
	for _, s := range group.Steps(g) {
		o.Steps = append(o.Steps, fold.Number(s))
	}
	o.Kinds = []string{}
	for i, e := range j.Elements {
		o.Labels[i] = label(g, e)
		if k := view.KindOf(g.Chart(), e); k != "" {
			o.Kinds = append(o.Kinds, k)
		}
	}
	if len(o.Kinds) < len(j.Elements) {
		o.Kinds = []string{}
	}
	if indexed(g) {
		o.Indexed, o.Finite, o.Moves = true, true, []api.Move{}
		o.Chart, o.Steps = []group.Axis{{
			Name: "element", Kind: group.KindIndex, Min: 0,
			Max: float64(max(1, len(j.Elements)-1)),
		}},
			[]fold.Number{1}
		o.Elements = make([]group.Element, len(j.Elements))
		for i := range o.Elements {
			o.Elements[i] = group.Element{float64(i)}
		}
		o.Layout = view.Ranked.Name
	}
	return o
}

// mostAxes is the most coordinates of an element that clients are sent.
const mostAxes = 16

// indexed reports whether clients name elements by their place in the plan: those with many coordinates, and
// permutations, whose coordinates are no places to draw.
func indexed(g group.Group) bool {
	chart := g.Chart()
	return len(chart) > mostAxes || len(chart) > 1 && group.First(chart, group.KindPlace) >= 0
}

// element is an element as clients name it in the chart of the group.
func (r *Run) element(g group.Element) group.Element {
	if len(g) != 1 || !indexed(r.group) || !(g[0] >= 0 && g[0] < float64(r.e)) || g[0] != math.Trunc(g[0]) {
		return g // what is no element is refused by who moves
	}
	return r.job.Elements[int(g[0])]
}

// named is an element of the plan as clients name it.
func (r *Run) named(g group.Element, k int) group.Element {
	if !indexed(r.group) || k < 0 {
		return g
	}
	return group.Element{float64(k)}
}

// label is an element for people: in words where the elements of a group have names, as those of the square with time
// reversal.
func label(g group.Group, e group.Element) string {
	_, temporal := g.(group.Temporal)
	if _, ok := group.Number(g, e); ok && temporal {
		return group.Title(g, e)
	}
	return view.Label(g, e)
}

// moves are the elements that buttons stand for, with where each takes every element of the plan.
func moves(g group.Group, elements []group.Element) []api.Move {
	out := []api.Move{}
	for _, m := range view.Moves(g, elements) {
		out = append(out, api.Move(m))
	}
	return out
}
