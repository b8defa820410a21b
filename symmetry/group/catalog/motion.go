package catalog

import (
	"math/rand/v2"

	"nero/internal/elementary"
	"nero/symmetry/group"
)

// motion is a group of rigid motions: a semidirect product of shifts with rotations and mirrors about the centre.
// The element (h, t) turns first, then shifts: p -> R(h)·p + t.
type motion struct {
	name  string
	point ortho
	trans shift
}

// SE2 is the group of rotations and shifts. The element (angle, dx, dy) turns about the centre first, then shifts.
func SE2() group.Group { return motionLie{motion{name: "SE(2)"}} }

// E2 is the group of rotations, mirrors and shifts. The element (angle, mirror, dx, dy) mirrors, turns, then shifts.
func E2() group.Group { return motionLie{motion{name: "E(2)", point: ortho{mirror: true}}} }

// P4 is the wallpaper group p4: quarter turns and shifts by whole pixels, in the chart of [SE2].
func P4() group.Group { return motionWhole{motion{"p4", ortho{n: 4}, shift{whole: true}}} }

// P4M is the wallpaper group p4m: quarter turns, mirrors and shifts by whole pixels, in the chart of [E2].
func P4M() group.Group {
	return motionWhole{motion{"p4m", ortho{n: 4, mirror: true}, shift{whole: true}}}
}

// Name is SE(2), E(2), p4 or p4m.
func (m motion) Name() string { return m.name }

// Chart is that of the rotations, then dx and dy.
func (m motion) Chart() []group.Axis { return append(m.point.Chart(), m.trans.Chart()...) }

// Identity is all zeros.
func (m motion) Identity() group.Element { return make(group.Element, m.point.dim()+2) }

// Steps are those of the rotations and of the shifts.
func (m motion) Steps() []float64 { return append(m.point.Steps(), m.trans.Steps()...) }

func (m motion) split(g group.Element) (h, t group.Element) {
	return g[:m.point.dim()], g[m.point.dim():]
}

// Mul is (h, t)(k, u) = (hk, t + R(h)·u).
func (m motion) Mul(g, h group.Element) group.Element {
	gp, gt := m.split(g)
	hp, ht := m.split(h)
	a, _ := m.point.Affine(gp)
	u := mulVec(a, vec2(ht))
	return append(m.point.Mul(gp, hp), m.trans.Mul(gt, u[:])...)
}

// Inv is (h⁻¹, -R(h⁻¹)·t).
func (m motion) Inv(g group.Element) group.Element {
	gp, gt := m.split(g)
	ip := m.point.Inv(gp)
	a, _ := m.point.Affine(ip)
	u := mulVec(a, vec2(gt))
	return append(ip, m.trans.Inv(u[:])...)
}

// Dist is the root of the summed squares of the angle in degrees and the shift in pixels: one degree weighs as one
// pixel.
func (m motion) Dist(g, h group.Element) float64 {
	gp, gt := m.split(g)
	hp, ht := m.split(h)
	return elementary.Hypot(m.point.Dist(gp, hp), m.trans.Dist(gt, ht))
}

// Invariance is true on the left: moving both elements from the left keeps their distance.
func (m motion) Invariance() (left, right bool) { return true, false }

// Affine is p -> R(h)·p + t.
func (m motion) Affine(g group.Element) (a [2][2]float64, t [2]float64) {
	gp, gt := m.split(g)
	a, _ = m.point.Affine(gp)
	return a, vec2{m.trans.canon(gt[0]), m.trans.canon(gt[1])}
}

type motionWhole struct{ motion }

// Sample draws turns uniformly and shifts from the window of ±4 px.
func (m motionWhole) Sample(r *rand.Rand) group.Element { return group.Draw(m, group.Window(m), r) }

type motionLie struct{ motion }

// Sample draws turns uniformly and shifts from the window of ±4 px.
func (m motionLie) Sample(r *rand.Rand) group.Element { return group.Draw(m, group.Window(m), r) }

// Generators are the rotation and the two shifts.
func (m motionLie) Generators() []group.Generator {
	return []group.Generator{
		{Name: "rotation", Unit: "rad"}, {Name: "shift x", Unit: "px"}, {Name: "shift y", Unit: "px"},
	}
}

// Exp is the motion reached after unit time by turning with t[0] rad about the centre while drifting with (t[1], t[2])
// px. It reaches all of SE(2); in E(2) not the mirrored elements.
func (m motionLie) Exp(t []float64) group.Element {
	deg := group.Degrees(t[0])
	_, b := expPlane(algebra{deg: deg, v: vec2{t[1], t[2]}})
	g := m.Identity()
	g[0] = m.point.canon(deg)
	g[len(g)-2], g[len(g)-1] = b[0]+0, b[1]+0
	return g
}

// Unreached is the mirrors.
func (m motionLie) Unreached() string {
	if m.point.mirror {
		return "exp reaches the rotations and shifts of " + m.name + ", not the mirrors"
	}
	return ""
}
