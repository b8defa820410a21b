package view

import (
	"math"
	"slices"

	"nero/symmetry/group"
)

// Ranked puts the elements side by side from the worst value to the best; the value goes upward.
var Ranked = &Layout{
	Name: "ranked",
	Doc: "Ranked strips: one mark per element, from the worst value of the first model to the best. Marks at one " +
		"height are a model whose value does not depend on the element.",
	Takes: func(o Orbit) bool {
		_, n := group.Places(o.Chart)
		return n > 0 || o.Group != nil && group.IsLawless(o.Group)
	},
	Panels: func(_ Orbit, f *Figure, p Panel, _ bool) {
		rank(&p, f.worse)
		f.Panels = append(f.Panels, p)
	},
	Order: "elements by value, the worst first", Nameless: true,
}

// rank puts the points of a panel in the order of the values of its first series, the worst first; ties stay in the
// order of the plan.
func rank(p *Panel, worse func(x, y float64) bool) {
	if len(p.Series) == 0 {
		return
	}
	place := make(map[int]int, len(p.Series[0].Points))
	first := slices.Clone(p.Series[0].Points)
	slices.SortStableFunc(first, func(x, y Point) int {
		v, w := float64(x.Value), float64(y.Value)
		switch {
		case math.IsNaN(v) || math.IsNaN(w):
			return compare(b2f(math.IsNaN(v)), b2f(math.IsNaN(w)))
		case worse(v, w):
			return -1
		case worse(w, v):
			return 1
		}
		return 0
	})
	for k, q := range first {
		place[q.Element] = k
	}
	for i := range p.Series {
		pts := p.Series[i].Points
		for k := range pts {
			pts[k].X = float64(place[pts[k].Element])
		}
		slices.SortStableFunc(pts, byX)
	}
}

func b2f(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
