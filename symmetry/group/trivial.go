package group

import "math/rand/v2"

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
func (trivial) Affine(Element) (a [2][2]float64, t [2]float64) {
	return [2][2]float64{{1, 0}, {0, 1}}, t
}
