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
	return []Axis{{Name: "scale", Unit: "factor", Kind: KindScale, Min: 0, Max: math.Inf(1)}}
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

// scale3 is Scale in space: the same elements with other maps.
type scale3 struct{ s scale }

// Scale3 is the group of magnifications of space about the origin: one factor above 0.
func Scale3() Group { return scale3{} }

// Name is Scale(3).
func (scale3) Name() string { return "Scale(3)" }

// Chart is the factor, above 0.
func (x scale3) Chart() []Axis { return x.s.Chart() }

// Identity is the factor 1.
func (x scale3) Identity() Element { return x.s.Identity() }

// Mul multiplies.
func (x scale3) Mul(g, h Element) Element { return x.s.Mul(g, h) }

// Inv is the reciprocal.
func (x scale3) Inv(g Element) Element { return x.s.Inv(g) }

// Dist is |log(g/h)|.
func (x scale3) Dist(g, h Element) float64 { return x.s.Dist(g, h) }

// Invariance is true on both sides.
func (scale3) Invariance() (left, right bool) { return true, true }

// Dim is 3.
func (scale3) Dim() int { return 3 }

// Motion is the matrix diag(s, s, s).
func (scale3) Motion(g Element) (a, t []float64) {
	return []float64{g[0], 0, 0, 0, g[0], 0, 0, 0, g[0]}, make([]float64, 3)
}

// Sample draws log-uniformly from the window of factors 0.5 to 2.
func (x scale3) Sample(r *rand.Rand) Element { return x.s.Sample(r) }

// Generators is the scale, in log-factors.
func (x scale3) Generators() []Generator { return x.s.Generators() }

// Exp is the factor exp(t[0]).
func (x scale3) Exp(t []float64) Element { return x.s.Exp(t) }

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
