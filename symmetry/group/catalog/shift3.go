package catalog

import (
	"math"
	"math/rand/v2"

	"nero/symmetry/group"
)

// shift3 is the group of shifts of space by whole units.
type shift3 struct{}

// T3Z is the group of shifts of space by whole units, the voxels of a volume: (tx, ty, tz) along columns, rows and
// slices.
func T3Z() group.Group { return shift3{} }

// Name is T(3,Z).
func (shift3) Name() string { return "T(3,Z)" }

// Chart is tx, ty and tz.
func (shift3) Chart() []group.Axis { return lengthAxes() }

// Identity is no shift.
func (shift3) Identity() group.Element { return group.Element{0, 0, 0} }

// Steps is one unit on every axis.
func (shift3) Steps() []float64 { return []float64{1, 1, 1} }

// Mul adds.
func (shift3) Mul(g, h group.Element) group.Element {
	out := make(group.Element, 3)
	for i := range out {
		out[i] = math.Round(g[i]+h[i]) + 0
	}
	return out
}

// Inv negates.
func (shift3) Inv(g group.Element) group.Element {
	out := make(group.Element, 3)
	for i := range out {
		out[i] = math.Round(-g[i]) + 0
	}
	return out
}

// Dist is the Euclidean distance.
func (shift3) Dist(g, h group.Element) float64 {
	return length(vec3{g[0] - h[0], g[1] - h[1], g[2] - h[2]})
}

// Invariance is true on both sides.
func (shift3) Invariance() (left, right bool) { return true, true }

// Dim is 3.
func (shift3) Dim() int { return 3 }

// Motion is p -> p + (tx, ty, tz).
func (shift3) Motion(g group.Element) (a, t []float64) {
	return []float64{1, 0, 0, 0, 1, 0, 0, 0, 1},
		[]float64{math.Round(g[0]) + 0, math.Round(g[1]) + 0, math.Round(g[2]) + 0}
}

// Window is ±2 units on every axis.
func (shift3) Window() [][2]float64 { return [][2]float64{{-2, 2}, {-2, 2}, {-2, 2}} }

// Sample draws uniformly from the window.
func (s shift3) Sample(r *rand.Rand) group.Element { return group.Draw(s, group.Window(s), r) }
