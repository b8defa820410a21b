package catalog

import (
	"math"
	"math/rand/v2"

	"nero/internal/elementary"
	"nero/symmetry/group"
)

type scale struct{}

// Scale is the group of magnifications about the centre: one factor above 0; 2 makes the picture twice as large.
func Scale() group.Group { return scale{} }

// Name is Scale.
func (scale) Name() string { return "Scale" }

// Chart is the factor, above 0.
func (scale) Chart() []group.Axis {
	return []group.Axis{{Name: "scale", Unit: "factor", Kind: group.KindScale, Min: 0, Max: math.Inf(1)}}
}

// Identity is the factor 1.
func (scale) Identity() group.Element { return group.Element{1} }

// Mul multiplies.
func (scale) Mul(g, h group.Element) group.Element { return group.Element{g[0] * h[0]} }

// Inv is the reciprocal.
func (scale) Inv(g group.Element) group.Element { return group.Element{1 / g[0]} }

// Dist is |log(g/h)|.
func (scale) Dist(g, h group.Element) float64 { return math.Abs(elementary.Log(g[0] / h[0])) }

// Invariance is true on both sides.
func (scale) Invariance() (left, right bool) { return true, true }

// Affine is the matrix diag(s, s).
func (scale) Affine(g group.Element) (a [2][2]float64, t [2]float64) {
	return mat2{{g[0], 0}, {0, g[0]}}, t
}

// Sample draws log-uniformly from the window of factors 0.5 to 2.
func (s scale) Sample(r *rand.Rand) group.Element { return group.Draw(s, group.Window(s), r) }

// Generators is the scale, in log-factors.
func (scale) Generators() []group.Generator {
	return []group.Generator{{Name: "scale", Unit: "log-factor"}}
}

// Exp is the factor exp(t[0]).
func (scale) Exp(t []float64) group.Element { return group.Element{elementary.Exp(t[0])} }

// scale3 is Scale in space: the same elements with other maps.
type scale3 struct{ s scale }

// Scale3 is the group of magnifications of space about the origin: one factor above 0.
func Scale3() group.Group { return scale3{} }

// Name is Scale(3).
func (scale3) Name() string { return "Scale(3)" }

// Chart is the factor, above 0.
func (x scale3) Chart() []group.Axis { return x.s.Chart() }

// Identity is the factor 1.
func (x scale3) Identity() group.Element { return x.s.Identity() }

// Mul multiplies.
func (x scale3) Mul(g, h group.Element) group.Element { return x.s.Mul(g, h) }

// Inv is the reciprocal.
func (x scale3) Inv(g group.Element) group.Element { return x.s.Inv(g) }

// Dist is |log(g/h)|.
func (x scale3) Dist(g, h group.Element) float64 { return x.s.Dist(g, h) }

// Invariance is true on both sides.
func (scale3) Invariance() (left, right bool) { return true, true }

// Dim is 3.
func (scale3) Dim() int { return 3 }

// Motion is the matrix diag(s, s, s).
func (scale3) Motion(g group.Element) (a, t []float64) {
	return []float64{g[0], 0, 0, 0, g[0], 0, 0, 0, g[0]}, make([]float64, 3)
}

// Sample draws log-uniformly from the window of factors 0.5 to 2.
func (x scale3) Sample(r *rand.Rand) group.Element { return x.s.Sample(r) }

// Generators is the scale, in log-factors.
func (x scale3) Generators() []group.Generator { return x.s.Generators() }

// Exp is the factor exp(t[0]).
func (x scale3) Exp(t []float64) group.Element { return x.s.Exp(t) }
