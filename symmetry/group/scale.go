package group

import (
	"math"
	"math/rand/v2"
)

type scale struct{}

// Scale is the group of magnifications about the centre: one factor above 0; 2 makes the picture twice as large.
func Scale() Group { return scale{} }

// Name is Scale.
func (scale) Name() string { return "Scale" }

// Chart is the factor, above 0.
func (scale) Chart() []Axis {
	return []Axis{{Name: "scale", Unit: "factor", Min: 0, Max: math.Inf(1)}}
}

// Identity is the factor 1.
func (scale) Identity() Element { return Element{1} }

// Mul multiplies.
func (scale) Mul(g, h Element) Element { return Element{g[0] * h[0]} }

// Inv is the reciprocal.
func (scale) Inv(g Element) Element { return Element{1 / g[0]} }

// Dist is |log(g/h)|.
func (scale) Dist(g, h Element) float64 { return math.Abs(math.Log(g[0] / h[0])) }

// Invariance is true on both sides.
func (scale) Invariance() (left, right bool) { return true, true }

// Affine is the matrix diag(s, s).
func (scale) Affine(g Element) (a [2][2]float64, t [2]float64) {
	return mat2{{g[0], 0}, {0, g[0]}}, t
}

// Sample draws log-uniformly from the window of factors 0.5 to 2.
func (s scale) Sample(r *rand.Rand) Element { return draw(s, Window(s), r) }

// Generators is the scale, in log-factors.
func (scale) Generators() []Generator { return []Generator{{Name: "scale", Unit: "log-factor"}} }

// Exp is the factor exp(t[0]).
func (scale) Exp(t []float64) Element { return Element{math.Exp(t[0])} }

type trivial struct{}

// Trivial is the group of the identity alone. Its chart is empty.
func Trivial() Group { return trivial{} }

// Name is Trivial.
func (trivial) Name() string { return "Trivial" }

// Chart is empty.
func (trivial) Chart() []Axis { return nil }

// Identity is the empty element.
func (trivial) Identity() Element { return Element{} }

// Mul is the identity.
func (trivial) Mul(_, _ Element) Element { return Element{} }

// Inv is the identity.
func (trivial) Inv(Element) Element { return Element{} }

// Dist is 0.
func (trivial) Dist(_, _ Element) float64 { return 0 }

// Invariance is true on both sides.
func (trivial) Invariance() (left, right bool) { return true, true }

// Order is 1.
func (trivial) Order() int { return 1 }

// Elements is the identity.
func (trivial) Elements() []Element { return []Element{{}} }

// Sample is the identity.
func (trivial) Sample(*rand.Rand) Element { return Element{} }

// Affine is the identity map.
func (trivial) Affine(Element) (a [2][2]float64, t [2]float64) { return mat2{{1, 0}, {0, 1}}, t }
