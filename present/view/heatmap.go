package view

import (
	"strconv"

	"nero/symmetry/group"
)

// HeatMap puts dx to the right and dy down; the colour is the value.
var HeatMap = &Layout{
	Name: "heatmap",
	Doc: "Maps: dx to the right, dy down, as the input moves; bright is good. One colour everywhere is a model whose " +
		"value does not depend on the shift. The scale is the same for all models.",
	Takes: func(o Orbit) bool {
		c := o.Chart
		if len(c) != 2 || c[0].Unit != c[1].Unit || !plain(c[0]) || !plain(c[1]) {
			return false
		}
		// Scattered shifts, such as a random sample, would leave nearly every cell of a map empty.
		cols, rows := distinct(o.Elements, 0), distinct(o.Elements, 1)
		return len(cols)*len(rows) <= 4*len(o.Elements) && (c[0].Form() == group.FormPixels || !single(c, o.Elements))
	},
	At: func(_ Orbit, e group.Element, p *Point) int {
		p.X, p.Y = e[0], e[1]
		return 0
	},
	Panels: func(o Orbit, f *Figure, p Panel, several bool) {
		perModel(f, p, several, cells(distinct(o.Elements, 0)), cells(distinct(o.Elements, 1)))
	},
	Colored: true,
}

// plain reports whether an axis is a length of some kind: neither a switch nor a circle.
func plain(a group.Axis) bool { return !a.Switch() && !a.Circle() }

// cells are the columns and rows of a map.
func cells(v []float64) []Cell {
	c := make([]Cell, len(v))
	for i, x := range v {
		c[i] = Cell{At: x, Label: strconv.FormatFloat(x+0, 'g', 3, 64)}
	}
	return c
}
