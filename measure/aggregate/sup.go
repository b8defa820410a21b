package aggregate

import (
	"math"

	"nero/internal/elementary"
)

// Sup is an estimate of the largest error over a continuous orbit, of which a grid was evaluated (docs/METRICS.md S2).
type Sup struct {
	// largest error on the grid: a lower limit of the largest over the orbit
	Grid float64
	// how much larger it may be between grid points: Lipschitz constant times half the spacing
	Slack float64
	// Grid + Slack
	Bound float64
	// the Lipschitz constant is proven; otherwise the bound is a heuristic and stays out of certificates
	Proven bool
}

// SupOrbit bounds the error between the points of a grid by Grid + L·h/2. The Lipschitz constant L is in units of the
// error per unit of the coordinate, the spacing h is the largest distance between neighbors. A NaN, or a
// negative constant or spacing, makes the bound NaN. Say that L is proven only if it holds on the whole orbit: one that
// is estimated from derivatives or differences at some points is not.
func SupOrbit(grid, lipschitz, spacing float64, proven bool) Sup {
	s := Sup{Grid: grid, Slack: math.NaN(), Proven: proven}
	if lipschitz >= 0 && spacing >= 0 {
		s.Slack = lipschitz * (spacing / 2)
	}
	s.Bound = s.Grid + s.Slack
	return s
}

// Label is what a report must call the bound: "proven" or "heuristic".
func (s Sup) Label() string {
	if s.Proven {
		return "proven"
	}
	return "heuristic"
}

// MissProbability is the probability (1 - w/P)ⁿ that n independent uniform elements all miss a defect of width w in a
// period P, both in the same unit (docs/METRICS.md S2). A defect at least as wide as the period is never missed. It is
// NaN unless the width is not negative, the period above 0 and n not negative.
func MissProbability(width, period float64, n int) float64 {
	if !(width >= 0 && period > 0) || n < 0 {
		return math.NaN()
	}
	if n == 0 {
		return 1
	}
	return elementary.Exp(float64(n) * elementary.Log1p(-min(1, width/period)))
}
