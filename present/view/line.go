package view

import (
	"nero/symmetry/group"
)

// Line puts the one axis of the chart to the right and the value upward.
var Line = &Layout{
	Name: "line",
	Doc: "Line plots: the element to the right, the value upward. A level line is a model whose value does not " +
		"depend on the element.",
	Takes: func(o Orbit) bool {
		_, _, ok := level(o.Chart)
		return ok
	},
	At: func(o Orbit, e group.Element, p *Point) int {
		axis, side, _ := level(o.Chart)
		p.X = e[axis]
		return one(side >= 0 && e[side] != 0)
	},
	Scales: func(o Orbit, f *Figure) {
		axis, _, _ := level(o.Chart)
		f.X = horizontal(o.Chart[axis], distinct(o.Elements, axis))
	},
	Joined: true, Comb: true,
}

// level is the axis of a chart of one axis with or without a switch, and that switch, -1 if there is none.
func level(chart []group.Axis) (axis, branch int, ok bool) {
	switch {
	case len(chart) == 1:
		return 0, -1, true
	case len(chart) == 2 && chart[1].Switch() && !chart[0].Switch():
		return 0, 1, true
	case len(chart) == 2 && chart[0].Switch() && !chart[1].Switch():
		return 1, 0, true
	}
	return 0, -1, false
}
