package catalog

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"nero/internal/elementary"
	"nero/symmetry/group"
)

// upright is a group of rigid motions of space that keep a direction: turns about it, with mirrors or without, and
// shifts. The element (h, t) turns first, then shifts: p -> R(h)·p + t.
type upright struct {
	point about
	trans space3
}

// readUpright reads Eg(3,...) with mirrors or without: the direction is that of Og(3,...).
func readUpright(mirror bool) func(text, head, args string) (group.Group, error) {
	read := readAbout(mirror)
	return func(text, head, args string) (group.Group, error) {
		g, err := read(text, strings.Replace(head, "eg", "og", 1), args)
		if err != nil {
			return nil, err
		}
		point, ok := g.(about)
		if !ok {
			return nil, fmt.Errorf("%q keeps no direction", text)
		}
		return uprightLie{upright{point, space3{name: "T(3)", shift: true}}}, nil
	}
}

// Name is Eg(3) or SEg(3), with the direction if it is not z.
func (u upright) Name() string { return strings.Replace(u.point.name, "Og", "Eg", 1) }

// Direction is the unit vector that every element keeps.
func (u upright) Direction() [3]float64 { return u.point.n }

// Chart is the angle, the mirror if there is one, then the shift.
func (u upright) Chart() []group.Axis { return append(u.point.Chart(), u.trans.Chart()...) }

// Identity is all zeros.
func (u upright) Identity() group.Element { return append(u.point.Identity(), u.trans.Identity()...) }

// Steps is 1 for the mirror.
func (u upright) Steps() []float64 { return append(u.point.Steps(), u.trans.Steps()...) }

func (u upright) split(g group.Element) (h, t group.Element) {
	n := u.point.o.dim()
	return g[:n], g[n:]
}

// turned is R(h)·t.
func (u upright) turned(h group.Element, t group.Element) group.Element {
	a, _ := u.point.Motion(h)
	v := turnVec(mat3{vec3(a[:3]), vec3(a[3:6]), vec3(a[6:9])}, vec3(t))
	return v[:]
}

// Mul is (h, t)(k, u) = (hk, t + R(h)·u).
func (u upright) Mul(g, h group.Element) group.Element {
	gp, gt := u.split(g)
	hp, ht := u.split(h)
	return append(u.point.Mul(gp, hp), u.trans.Mul(gt, u.turned(gp, ht))...)
}

// Inv is (h⁻¹, -R(h⁻¹)·t).
func (u upright) Inv(g group.Element) group.Element {
	gp, gt := u.split(g)
	ip := u.point.Inv(gp)
	return append(ip, u.trans.Inv(u.turned(ip, gt))...)
}

// Dist is the root of the summed squares of the angle in degrees, as of [about], and of the distance of the shifts: one
// degree weighs as one unit of length.
func (u upright) Dist(g, h group.Element) float64 {
	gp, gt := u.split(g)
	hp, ht := u.split(h)
	return elementary.Hypot(u.point.Dist(gp, hp), u.trans.Dist(gt, ht))
}

// Invariance is true on the left.
func (upright) Invariance() (left, right bool) { return true, false }

// Dim is 3.
func (upright) Dim() int { return 3 }

// Motion is p -> R(h)·p + t, R(h) exact for quarter turns about the axes of coordinates.
func (u upright) Motion(g group.Element) (a, t []float64) {
	gp, gt := u.split(g)
	a, _ = u.point.Motion(gp)
	return a, []float64{gt[0] + 0, gt[1] + 0, gt[2] + 0}
}

// Window is all turns, and ±1 unit of length on the axes of a shift.
func (u upright) Window() [][2]float64 {
	return append(group.Window(u.point), u.trans.Window()...)
}

// Preset is the quarter turns, with and without the mirror, which act without rounding about an axis of coordinates,
// and elements of low discrepancy.
func (u upright) Preset(window [][2]float64) ([]group.Element, string, error) {
	sp, err := group.Spans(u, window)
	if err != nil {
		return nil, "", err
	}
	low, err := group.LowDiscrepancy(u, presetRotations, window)
	if err != nil {
		return nil, "", err
	}
	var exact []group.Element
	for quarter := range 4 {
		for m := range len(u.point.Identity()) { // a second coordinate is the mirror
			e := u.Identity()
			if e[0] = float64(90 * quarter); m == 1 {
				e[1] = 1
			}
			exact = append(exact, e)
		}
	}
	exact = group.KeepIn(exact, sp)
	what := "quarter turns"
	if u.point.o.mirror {
		what += " with and without a mirror"
	}
	return group.Dedup(u, append(exact, low...), group.Tolerance), fmt.Sprintf(
		"%d %s and a low-discrepancy sample of %d elements: %s", len(exact), what, presetRotations,
		group.BoxText(u, window)), nil
}

type uprightLie struct{ upright }

// Sample draws turns uniformly and shifts from the window of ±1 unit of length.
func (u uprightLie) Sample(r *rand.Rand) group.Element { return group.Draw(u, group.Window(u), r) }

// Generators are the rotation about the direction and the shifts along the axes of coordinates.
func (u uprightLie) Generators() []group.Generator {
	return append(u.point.Generators(), space3Lie{u.trans}.Generators()...)
}

// Exp is the motion reached after unit time by turning with t[0] rad about the direction while drifting with the other
// coefficients. It reaches all turns and shifts; no mirrors.
func (u uprightLie) Exp(t []float64) group.Element {
	var w, d vec3
	deg := group.Degrees(t[0])
	for i, n := range u.point.n {
		w[i], d[i] = t[0]*n, deg*n
	}
	v := drift(w, d, vec3(t[1:4]))
	return append(u.point.Exp(t[:1]), v[0]+0, v[1]+0, v[2]+0)
}

// Unreached is the mirrors.
func (u uprightLie) Unreached() string {
	if u.point.o.mirror {
		return "exp reaches the rotations and shifts of " + u.Name() + ", not the mirrors"
	}
	return ""
}
