package catalog

import (
	"math"
	"math/rand/v2"

	"nero/symmetry/group"
)

type reversal struct{}

// Time is the group of two elements: time as it is, and time reversed. It leaves the plane alone, so its product with a
// [group.Planar] group acts on the plane by that group's maps. On a sequence of pictures reversal is the opposite
// order, and velocities change their sign.
func Time() group.Group { return reversal{} }

// Name is Time.
func (reversal) Name() string { return "Time" }

// Chart is the switch "reverse".
func (reversal) Chart() []group.Axis {
	return []group.Axis{{Name: "reverse", Kind: group.KindTimeReversal, Min: 0, Max: 1}}
}

// Identity is time as it is.
func (reversal) Identity() group.Element { return group.Element{0} }

// Steps is 1.
func (reversal) Steps() []float64 { return []float64{1} }

// Mul reverses if one of the two does.
func (reversal) Mul(g, h group.Element) group.Element {
	return group.Element{math.Abs(math.Round(g[0]) - math.Round(h[0]))}
}

// Inv is the element itself.
func (reversal) Inv(g group.Element) group.Element { return group.Element{math.Round(g[0]) + 0} }

// Dist is 180 between the two elements, as far as a mirror is from a rotation: an orbit of small turns is not near time
// reversal.
func (reversal) Dist(g, h group.Element) float64 { return 180 * math.Abs(g[0]-h[0]) }

// Invariance is true on both sides.
func (reversal) Invariance() (left, right bool) { return true, true }

// Order is 2.
func (reversal) Order() int { return 2 }

// Elements are the identity and the reversal.
func (reversal) Elements() []group.Element { return []group.Element{{0}, {1}} }

// Sample draws an element, each with the same probability.
func (t reversal) Sample(r *rand.Rand) group.Element { return group.Draw(t, group.Window(t), r) }

// Affine is the identity map.
func (reversal) Affine(group.Element) (a [2][2]float64, t [2]float64) { return mat2{{1, 0}, {0, 1}}, t }

// Reverses tells the second element.
func (reversal) Reverses(g group.Element) bool { return math.Round(g[0]) != 0 }
