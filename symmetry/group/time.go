package group

import (
	"math"
	"math/rand/v2"
)

// Temporal is a group some of whose elements run time backwards. They compose as signs do: a product reverses if one
// factor does and the other does not.
type Temporal interface {
	Group
	Reverses(g Element) bool
}

// Reverses is what a [Temporal] says, and false for other groups.
func Reverses(g Group, e Element) bool {
	t, ok := g.(Temporal)
	return ok && t.Reverses(e)
}

type reversal struct{}

// Time is the group of two elements: time as it is, and time reversed. It leaves the plane alone, so its product with a
// [Planar] group acts on the plane by that group's maps. On a sequence of pictures reversal is the opposite order, and
// velocities change their sign.
func Time() Group { return reversal{} }

// Name is Time.
func (reversal) Name() string { return "Time" }

// Chart is the switch "reverse".
func (reversal) Chart() []Axis {
	return []Axis{{Name: "reverse", Kind: KindTimeReversal, Min: 0, Max: 1}}
}

// Identity is time as it is.
func (reversal) Identity() Element { return Element{0} }

// Steps is 1.
func (reversal) Steps() []float64 { return []float64{1} }

// Mul reverses if one of the two does.
func (reversal) Mul(g, h Element) Element {
	return Element{math.Abs(math.Round(g[0]) - math.Round(h[0]))}
}

// Inv is the element itself.
func (reversal) Inv(g Element) Element { return Element{math.Round(g[0]) + 0} }

// Dist is 180 between the two elements, as far as a mirror is from a rotation: an orbit of small turns is not near time
// reversal.
func (reversal) Dist(g, h Element) float64 { return 180 * math.Abs(g[0]-h[0]) }

// Invariance is true on both sides.
func (reversal) Invariance() (left, right bool) { return true, true }

// Order is 2.
func (reversal) Order() int { return 2 }

// Elements are the identity and the reversal.
func (reversal) Elements() []Element { return []Element{{0}, {1}} }

// Sample draws an element, each with the same probability.
func (t reversal) Sample(r *rand.Rand) Element { return draw(t, Window(t), r) }

// Affine is the identity map.
func (reversal) Affine(Element) (a [2][2]float64, t [2]float64) { return mat2{{1, 0}, {0, 1}}, t }

// Reverses tells the second element.
func (reversal) Reverses(g Element) bool { return math.Round(g[0]) != 0 }

// timed is the product of a temporal group with others. Nothing is lost by its not being [Lie]: no path leads to the
// reversal.
func (p *product) timed(finite, planar, torus bool) Group {
	t := temporalPart{p}
	switch {
	case finite && torus:
		return struct {
			finiteProduct
			torusPart
			temporalPart
		}{finiteProduct{p}, torusPart{planarPart{p}}, t}
	case finite && planar:
		return struct {
			finiteProduct
			planarPart
			temporalPart
		}{finiteProduct{p}, planarPart{p}, t}
	case finite:
		return struct {
			finiteProduct
			temporalPart
		}{finiteProduct{p}, t}
	case planar:
		return struct {
			*product
			planarPart
			temporalPart
		}{p, planarPart{p}, t}
	}
	return struct {
		*product
		temporalPart
	}{p, t}
}

type temporalPart struct{ of *product }

// Reverses tells the elements of which an odd number of factors reverses.
func (q temporalPart) Reverses(g Element) bool {
	var odd bool
	for i, f := range q.of.parts {
		odd = odd != Reverses(f, q.of.part(g, i))
	}
	return odd
}

type torusPart struct{ planarPart }

// Period is that of the one factor that has a period.
func (q torusPart) Period() (h, w int) {
	for _, f := range q.p.parts {
		if t, ok := f.(Torus); ok {
			return t.Period()
		}
	}
	return 0, 0
}
