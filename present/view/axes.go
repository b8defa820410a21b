package view

import (
	"slices"

	"nero/symmetry/group"
)

// Axes is a line for each axis of the chart that elements move along, with the others at rest.
var Axes = &Layout{
	Name:   "axes",
	Doc:    "Lines per axis: elements that move along one axis only, the coordinate to the right, the value upward.",
	Takes:  func(o Orbit) bool { return len(o.Chart) > 1 && single(o.Chart, o.Elements) },
	Panels: lines,
}

// lines adds one panel for each axis that elements move along.
func lines(o Orbit, f *Figure, p Panel, several bool) {
	chart := o.Chart
	for i, a := range chart {
		if len(distinct(o.Elements, i)) < 2 {
			continue
		}
		q := Panel{Title: a.Name, N: p.N}
		var v []float64
		for _, series := range p.Series {
			own := series
			own.Points = nil
			for _, pt := range series.Points {
				e := o.Elements[pt.Element]
				alone := true
				for k := range chart {
					alone = alone && (k == i || e[k] == chart[k].Rest())
				}
				if alone {
					pt.X = e[i]
					v = append(v, pt.X)
					own.Points = append(own.Points, pt)
				}
			}
			slices.SortStableFunc(own.Points, byX)
			q.Series = append(q.Series, own)
		}
		slices.Sort(v)
		q.X = horizontal(a, slices.Compact(v))
		if several {
			q.Title = p.Title + ": " + q.Title
		}
		if len(f.Panels) == 0 || several && i == 0 {
			q.Picture, q.Note = p.Picture, p.Note
		}
		if len(q.Series) > 0 && len(f.Panels) == 0 {
			q.Stats = p.Stats
		}
		f.Panels = append(f.Panels, q)
	}
}

// single reports whether every element moves along at most one axis, each of several axes being moved along by some:
// one-parameter subgroups.
func single(chart []group.Axis, elements []group.Element) bool {
	used := make([]bool, len(chart))
	for _, e := range elements {
		on := -1
		for i, a := range chart {
			if e[i] == a.Rest() {
				continue
			}
			if on >= 0 {
				return false
			}
			on = i
		}
		if on >= 0 {
			used[on] = true
		}
	}
	n := 0
	for i, u := range used {
		if u && chart[i].Switch() {
			return false
		}
		if u {
			n++
		}
	}
	return n >= 2
}
