package view

import (
	"nero/symmetry/group"
)

// Scatter puts dx to the right and dy down, wherever elements lie, apart for mirrored ones; the colour is the value.
var Scatter = &Layout{
	Name: "scatter",
	Doc: "Clouds: each dot is one element, at its shift: dx to the right, dy down, as the input moves; bright is " +
		"good. Where several angles share a shift, their dots stand around it, 0° to the right, counter-clockwise; " +
		"elsewhere the angle is not shown. Mirrored elements have a plot of their own. One colour everywhere is a " +
		"model whose " +
		"value does not depend on the element.",
	Takes: func(o Orbit) bool {
		_, ok := moves(o.Chart)
		return ok && len(o.Elements) > Many
	},
	At: func(o Orbit, e group.Element, p *Point) int {
		at, _ := moves(o.Chart)
		p.X, p.Y, p.Turn = e[at.dx], e[at.dy], e[at.angle]
		return one(at.mirror >= 0 && e[at.mirror] != 0)
	},
	Scales: func(o Orbit, f *Figure) {
		at, _ := moves(o.Chart)
		f.X = along(o.Chart[at.dx], distinct(o.Elements, at.dx))
		f.Y = along(o.Chart[at.dy], distinct(o.Elements, at.dy))
	},
	Colored: true,
}

// motion is where a chart of turns and shifts keeps its axes; mirror is -1 if there is none.
type motion struct{ angle, mirror, dx, dy int }

// moves reports whether a chart is that of turns and shifts in pixels, with or without mirrors.
func moves(chart []group.Axis) (motion, bool) {
	m := motion{-1, -1, -1, -1}
	for i, a := range chart {
		switch {
		case a.Kind == group.KindTurn && m.angle < 0:
			m.angle = i
		case a.Kind == group.KindMirror && m.mirror < 0:
			m.mirror = i
		case a.Kind == group.KindRight && m.dx < 0:
			m.dx = i
		case a.Kind == group.KindDown && m.dy < 0:
			m.dy = i
		default:
			return m, false
		}
	}
	return m, m.angle >= 0 && m.dx >= 0 && m.dy >= 0
}

// along is a scale over the values of an axis, its ends where they end.
func along(a group.Axis, v []float64) *Scale {
	lo, hi := 0.0, 0.0
	if len(v) > 0 {
		lo, hi = v[0], v[len(v)-1]
	}
	if !(hi > lo) {
		lo, hi = lo-1, hi+1
	}
	s := linear(axisLabel(a), lo, hi, true, true)
	return &s
}
