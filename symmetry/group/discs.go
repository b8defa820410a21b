package group

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// DiscPlanes are the planes of [Discs].
func DiscPlanes() []string { return []string{"xy", "xz", "yz"} }

// Discs is the rotations of space about the axes that lie in planes of coordinates, by every angle from 0 to 180
// degrees: in the plane xy the axis at ψ is (cos ψ, sin ψ, 0), in xz (cos ψ, 0, sin ψ), in yz (0, cos ψ, sin ψ). Axes
// are axisStep degrees apart, which divides 360, and angles angleStep, which divides 180; 0 stands for 5 and 15. No
// planes stand for all three. The identity comes first, and no rotation comes twice: with the presets one plane has 829
// rotations and all three have 2416.
//
// The group must have the axes rx, ry, rz of a rotation vector, as SO(3), O(3), SE(3), E(3) and their products with
// other groups have; the other coordinates are the identity's.
func Discs(g Group, planes []string, axisStep, angleStep float64) ([]Element, error) {
	axes, err := turnAxes(g)
	if err != nil {
		return nil, err
	}
	if axisStep == 0 {
		axisStep = 5
	}
	if angleStep == 0 {
		angleStep = 15
	}
	n, err := steps("between axes", axisStep, 360)
	if err != nil {
		return nil, err
	}
	m, err := steps("between angles", angleStep, 180)
	if err != nil {
		return nil, err
	}
	if len(planes) == 0 {
		planes = DiscPlanes()
	}
	if float64(n)*float64(m)*float64(len(planes)) > MaxElements {
		return nil, fmt.Errorf("slices of %d axes and %d angles: %w", n, m, ErrTooMany)
	}
	out := []Element{g.Identity()}
	for i, p := range planes {
		at, ok := map[string][2]int{"xy": {0, 1}, "xz": {0, 2}, "yz": {1, 2}}[p]
		if !ok || slices.Contains(planes[:i], p) {
			return nil, fmt.Errorf("plane %q of the slices is unknown or listed twice: expected some of %s", p,
				strings.Join(DiscPlanes(), ", "))
		}
		for k := 1; k <= m; k++ {
			angle := 180 * float64(k) / float64(m)
			for j := range n {
				s, c := SinCos(360 * float64(j) / float64(n))
				var v [3]float64
				v[at[0]], v[at[1]] = angle*c, angle*s
				e := g.Identity()
				for x, a := range axes {
					e[a] = v[x]
				}
				if k == m && !slices.Equal(Canonical(g, e), e) { // the other end of the same axis
					continue
				}
				out = append(out, e)
			}
		}
	}
	return Dedup(g, out, Tolerance), nil
}

// turnAxes finds the rotation vector in a chart.
func turnAxes(g Group) ([3]int, error) {
	at, n := [3]int{}, 0
	for i, a := range g.Chart() {
		if n < len(at) && a.Kind == KindVector && a.Max == 180 {
			at[n] = i
			n++
		}
	}
	list, ok := g.(Listed)
	if n < len(at) || ok && list.Listed() {
		return at, fmt.Errorf(
			"%s has no slices: they are for groups with all rotations of space, such as SO(3), O(3), SE(3), E(3)",
			g.Name())
	}
	return at, nil
}

func steps(what string, step, whole float64) (int, error) {
	n := math.Round(whole / step)
	if !(step > 0) || !(n >= 1) || !(math.Abs(float64(n*step)-whole) <= 1e-9*whole) || n > MaxElements {
		return 0, fmt.Errorf("%g degrees %s of the slices: expected a divisor of %g", step, what, whole)
	}
	return int(n), nil
}

// DiscsText describes [Discs] in words.
func DiscsText(planes []string, axisStep, angleStep float64, n int) string {
	if len(planes) == 0 {
		planes = DiscPlanes()
	}
	if axisStep == 0 {
		axisStep = 5
	}
	if angleStep == 0 {
		angleStep = 15
	}
	s := "plane"
	if len(planes) > 1 {
		s = "planes"
	}
	return fmt.Sprintf("%d rotations about axes in the %s %s, every %g degrees, by angles every %g degrees, all with "+
		"the same weight",
		n, s, strings.Join(planes, ", "), axisStep, angleStep)
}
