// Package orbit holds the plan of a run: which elements of a group are visited and how they act on what goes into a
// model and what comes out.
package orbit

import (
	"nero/symmetry/action"
	"nero/symmetry/group"
)

// Plan is a finite list of distinct elements with the actions on both sides of a model.
type Plan struct {
	Group group.Group
	// no two equal; the order is that of plots and stored curves
	Elements []group.Element
	// of a mean over the plan, summing to 1; nil for equal weights
	Weights []float64
	// what such a mean is over, such as "uniform grid of 72 angles" or "Haar"
	Measure string
	In, Out action.Action
}

// Identity is the index of the identity in Elements, -1 if the plan does not visit it.
func (p *Plan) Identity() int {
	e := p.Group.Identity()
	for i, g := range p.Elements {
		if p.Group.Dist(e, g) == 0 {
			return i
		}
	}
	return -1
}

// Exact lists, for each element, whether it acts on the input without resampling.
func (p *Plan) Exact() []bool {
	o := make([]bool, len(p.Elements))
	for i, g := range p.Elements {
		o[i] = action.Exact(p.In, g)
	}
	return o
}
