package catalog

import (
	"fmt"
	"math"
	"math/rand/v2"

	"nero/internal/elementary"
	"nero/symmetry/group"
)

// shift is the group of shifts of the plane, by any number of pixels or by whole ones.
type shift struct{ whole bool }

// T2 is the group of shifts by (dx, dy) pixels, dx to the right, dy down, sub-pixel shifts included.
func T2() group.Group { return shiftLie{shift{}} }

// T2Z is the group of shifts by whole pixels.
func T2Z() group.Group { return shiftWhole{shift{whole: true}} }

// Name is T(2) or T(2,Z).
func (s shift) Name() string {
	if s.whole {
		return "T(2,Z)"
	}
	return "T(2)"
}

func shiftAxes() []group.Axis {
	inf := math.Inf(1)
	return []group.Axis{
		{Name: "dx", Unit: "px", Kind: group.KindRight, Min: -inf, Max: inf},
		{Name: "dy", Unit: "px", Kind: group.KindDown, Min: -inf, Max: inf},
	}
}

// Chart is dx and dy.
func (s shift) Chart() []group.Axis { return shiftAxes() }

// Identity is no shift.
func (s shift) Identity() group.Element { return group.Element{0, 0} }

// Steps is one pixel for whole shifts.
func (s shift) Steps() []float64 {
	if s.whole {
		return []float64{1, 1}
	}
	return []float64{0, 0}
}

func (s shift) canon(v float64) float64 {
	if s.whole {
		return math.Round(v) + 0
	}
	return v + 0
}

// Mul adds.
func (s shift) Mul(g, h group.Element) group.Element {
	return group.Element{s.canon(g[0] + h[0]), s.canon(g[1] + h[1])}
}

// Inv negates.
func (s shift) Inv(g group.Element) group.Element {
	return group.Element{s.canon(-g[0]), s.canon(-g[1])}
}

// Dist is the Euclidean distance in pixels.
func (s shift) Dist(g, h group.Element) float64 { return elementary.Hypot(g[0]-h[0], g[1]-h[1]) }

// Invariance is true on both sides.
func (s shift) Invariance() (left, right bool) { return true, true }

// Affine is p -> p + (dx, dy).
func (s shift) Affine(g group.Element) (a [2][2]float64, t [2]float64) {
	return mat2{{1, 0}, {0, 1}}, vec2{s.canon(g[0]), s.canon(g[1])}
}

type shiftWhole struct{ shift }

// Sample draws uniformly from the window of ±4 px.
func (s shiftWhole) Sample(r *rand.Rand) group.Element { return group.Draw(s, group.Window(s), r) }

type shiftLie struct{ shift }

// Sample draws uniformly from the window of ±4 px.
func (s shiftLie) Sample(r *rand.Rand) group.Element { return group.Draw(s, group.Window(s), r) }

// Generators are the two directions.
func (s shiftLie) Generators() []group.Generator {
	return []group.Generator{{Name: "shift x", Unit: "px"}, {Name: "shift y", Unit: "px"}}
}

// Exp is the shift by t itself.
func (s shiftLie) Exp(t []float64) group.Element { return group.Element{t[0] + 0, t[1] + 0} }

type roll struct{ h, w int }

// Roll is the group of cyclic shifts of a grid of h rows and w columns: h·w elements (dx, dy) with dx in [0, w) and dy
// in [0, h). Both are at least 1, at most 32768.
func Roll(h, w int) (group.Group, error) {
	if h < 1 || w < 1 || h > 1<<15 || w > 1<<15 {
		return nil, fmt.Errorf("Roll(%d,%d): height and width must be in 1..32768", h, w)
	}
	return roll{h: h, w: w}, nil
}

// Name is Roll(h,w).
func (r roll) Name() string { return fmt.Sprintf("Roll(%d,%d)", r.h, r.w) }

// Chart is dx with period w and dy with period h.
func (r roll) Chart() []group.Axis {
	return []group.Axis{
		{Name: "dx", Unit: "px", Kind: group.KindRight, Min: 0, Max: float64(r.w), Periodic: true},
		{Name: "dy", Unit: "px", Kind: group.KindDown, Min: 0, Max: float64(r.h), Periodic: true},
	}
}

// Identity is no shift.
func (r roll) Identity() group.Element { return group.Element{0, 0} }

// Steps is one pixel.
func (r roll) Steps() []float64 { return []float64{1, 1} }

func (r roll) at(dx, dy float64) group.Element {
	return group.Element{group.Wrap(math.Round(dx), 0, float64(r.w)), group.Wrap(math.Round(dy), 0, float64(r.h))}
}

// Mul adds and wraps around.
func (r roll) Mul(g, h group.Element) group.Element { return r.at(g[0]+h[0], g[1]+h[1]) }

// Inv shifts back.
func (r roll) Inv(g group.Element) group.Element { return r.at(-g[0], -g[1]) }

// Dist is the Euclidean distance on the torus in pixels.
func (r roll) Dist(g, h group.Element) float64 {
	d := func(i int, p float64) float64 {
		x := math.Abs(group.Wrap(g[i], 0, p) - group.Wrap(h[i], 0, p))
		return math.Min(x, p-x)
	}
	return elementary.Hypot(d(0, float64(r.w)), d(1, float64(r.h)))
}

// Invariance is true on both sides.
func (r roll) Invariance() (left, right bool) { return true, true }

// Period is the size of the grid.
func (r roll) Period() (h, w int) { return r.h, r.w }

// Affine is the shift by (dx, dy), on a torus.
func (r roll) Affine(g group.Element) (a [2][2]float64, t [2]float64) {
	return mat2{{1, 0}, {0, 1}}, vec2(r.at(g[0], g[1]))
}

// Order is h·w.
func (r roll) Order() int { return r.h * r.w }

// Elements are all shifts, dx fastest.
func (r roll) Elements() []group.Element {
	e := make([]group.Element, 0, r.Order())
	for y := range r.h {
		for x := range r.w {
			e = append(e, group.Element{float64(x), float64(y)})
		}
	}
	return e
}

// Sample draws an element, each with the same probability.
func (r roll) Sample(rnd *rand.Rand) group.Element { return group.Draw(r, group.Window(r), rnd) }
