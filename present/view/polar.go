package view

import (
	"nero/symmetry/group"
)

// Polar puts the angle on a circle, 0 to the right, counter-clockwise; the radius is the value.
var Polar = &Layout{
	Name: "polar",
	Doc: "Polar plots: the angle is that of the element, 0° to the right, counter-clockwise; the distance from the " +
		"centre is the value. A circle is a model whose value does not depend on the angle.",
	Takes: func(o Orbit) bool {
		return (len(o.Chart) == 1 || len(o.Chart) == 2 && o.Chart[1].Switch()) && o.Chart[0].Circle() &&
			o.Chart[0].Max-o.Chart[0].Min == 360
	},
	At: func(_ Orbit, e group.Element, p *Point) int {
		p.X = e[0]
		return one(len(e) == 2 && e[1] != 0)
	},
	Flat:   Line,
	Joined: true, Round: true, Comb: true,
}

// surrounds reports whether sorted points go all the way around: the gap from the last to the first is not larger than
// others.
func surrounds(pts []Point, period float64) bool {
	if len(pts) < 2 {
		return false
	}
	largest := 0.0
	for i := range pts[1:] {
		largest = max(largest, pts[i+1].X-pts[i].X)
	}
	return pts[0].X+period-pts[len(pts)-1].X <= float64(1.5*largest)+1e-9
}
