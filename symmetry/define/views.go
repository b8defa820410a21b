package define

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"nero/symmetry/group"
)

// listed are views of objects that somebody has listed: a set with a first element, and no group. What two views come
// to, one after the other, nobody knows, so a product is no element unless one of its factors is the first view.
type listed struct {
	name  string
	views []string
}

// newListed checks the names of views.
func newListed(name string, views []string) (*listed, error) {
	if len(views) == 0 || len(views) > MaxTable {
		return nil, fmt.Errorf("%d of them: expected 1 to %d", len(views), MaxTable)
	}
	seen := map[string]int{}
	for i, v := range views {
		if strings.TrimSpace(v) == "" {
			return nil, fmt.Errorf("view %d has no name", i+1)
		}
		if j, ok := seen[v]; ok {
			return nil, fmt.Errorf("%d and %d are both called %q", j+1, i+1, v)
		}
		seen[v] = i
	}
	return &listed{name, views}, nil
}

// Name is that of the definition.
func (l *listed) Name() string { return l.name }

// Chart is the number of the view.
func (l *listed) Chart() []group.Axis {
	return []group.Axis{{
		Name: "view", Unit: "number", Kind: group.KindIndex, Min: 0, Max: math.Max(float64(len(l.views)-1), 0.5),
	}}
}

// Identity is the first view, with which the others are compared.
func (l *listed) Identity() group.Element { return group.Element{0} }

// Steps is 1.
func (l *listed) Steps() []float64 { return []float64{1} }

// Mul is the other factor where one is the first view, else no element.
func (l *listed) Mul(g, h group.Element) group.Element {
	switch {
	case g[0] == 0:
		return l.nearest(h)
	case h[0] == 0:
		return l.nearest(g)
	}
	return group.Element{math.NaN()}
}

// nearest is the view whose number is nearest.
func (l *listed) nearest(g group.Element) group.Element {
	return group.Element{math.Max(0, math.Min(math.Round(g[0]), float64(len(l.views)-1)))} // NaN stays
}

// Inv is the first view of itself, else no element.
func (l *listed) Inv(g group.Element) group.Element {
	if g[0] == 0 {
		return group.Element{0}
	}
	return group.Element{math.NaN()}
}

// Dist is 1 between any two views, and NaN to what is no element.
func (l *listed) Dist(g, h group.Element) float64 {
	switch {
	case math.IsNaN(g[0]) || math.IsNaN(h[0]):
		return math.NaN()
	case g[0] == h[0]:
		return 0
	}
	return 1
}

// Lawless is true.
func (l *listed) Lawless() bool { return true }

// Listed is true: between two views lies none.
func (l *listed) Listed() bool { return true }

// Order is the number of views.
func (l *listed) Order() int { return len(l.views) }

// Elements are all views.
func (l *listed) Elements() []group.Element {
	out := make([]group.Element, len(l.views))
	for i := range out {
		out[i] = group.Element{float64(i)}
	}
	return out
}

// Sample draws a view.
func (l *listed) Sample(r *rand.Rand) group.Element {
	return group.Element{float64(r.IntN(len(l.views)))}
}

// Words is the name of a view.
func (l *listed) Words(g group.Element) string {
	if k := int(math.Round(g[0])); !math.IsNaN(g[0]) && k >= 0 && k < len(l.views) {
		return l.views[k]
	}
	return "no view"
}
