package catalog

import (
	"fmt"
	"math"
	"math/rand/v2"

	"nero/symmetry/group"
)

// ortho is a group of rotations about the centre, with mirrors or without: SO(2), O(2), C_n, D_n.
//
// The element (θ, m) is R(θ)∘M^m, the mirror acting first, where M: x -> -x exchanges left and right.
type ortho struct {
	// number of rotations; 0 for all angles
	n      int
	mirror bool
}

// SO2 is the group of rotations: one angle in degrees, [0, 360).
func SO2() group.Group { return orthoLie{ortho{}} }

// O2 is the group of rotations and mirrors. The element (angle, mirror) mirrors left and right first if mirror is 1,
// then turns.
func O2() group.Group { return orthoLie{ortho{mirror: true}} }

// Cyclic is C_n: the n rotations by multiples of 360/n degrees. n is in [1, 1e6].
func Cyclic(n int) (group.Group, error) {
	if err := checkOrder("C", n, group.MaxElements); err != nil {
		return nil, err
	}
	return orthoFinite{ortho{n: n}}, nil
}

// Dihedral is D_n: the rotations of C_n and their mirror images, 2n elements in the chart of [O2]. n is in [1, 5e5].
func Dihedral(n int) (group.Group, error) {
	if err := checkOrder("D", n, group.MaxElements/2); err != nil {
		return nil, err
	}
	return orthoFinite{ortho{n: n, mirror: true}}, nil
}

func checkOrder(letter string, n, most int) error {
	if n < 1 || n > most {
		return fmt.Errorf("%s%d: the number of rotations must be in 1..%d", letter, n, most)
	}
	return nil
}

// Name is SO(2), O(2), C<n> or D<n>.
func (o ortho) Name() string {
	switch {
	case o.n == 0 && o.mirror:
		return "O(2)"
	case o.n == 0:
		return "SO(2)"
	case o.mirror:
		return fmt.Sprintf("D%d", o.n)
	}
	return fmt.Sprintf("C%d", o.n)
}

// Chart is the angle, then the mirror if there is one.
func (o ortho) Chart() []group.Axis {
	c := []group.Axis{{Name: "angle", Unit: "deg", Kind: group.KindTurn, Min: 0, Max: 360, Periodic: true}}
	if o.mirror {
		c = append(c, group.Axis{Name: "mirror", Kind: group.KindMirror, Min: 0, Max: 1})
	}
	return c
}

// Identity is all zeros.
func (o ortho) Identity() group.Element { return make(group.Element, o.dim()) }

func (o ortho) dim() int {
	if o.mirror {
		return 2
	}
	return 1
}

// Steps is the spacing of the rotations, and 1 for the mirror.
func (o ortho) Steps() []float64 {
	s := make([]float64, o.dim())
	if o.n > 0 {
		s[0] = 360 / float64(o.n)
	}
	if o.mirror {
		s[1] = 1
	}
	return s
}

// canon brings an angle to its canonical value: in C_n the nearest multiple of 360/n, computed afresh from its number
// so that equal elements have equal bits.
func (o ortho) canon(a float64) float64 {
	if o.n == 0 {
		return group.Wrap(a, 0, 360)
	}
	n := float64(o.n)
	k := group.Wrap(math.Round(math.Mod(a, 360)*n/360), 0, n)
	return k * 360 / n
}

// Mul is R(a)M^m∘R(b)M^k = R(a ± b)M^(m+k), with minus if the left factor mirrors.
func (o ortho) Mul(g, h group.Element) group.Element {
	if !o.mirror {
		return group.Element{o.canon(g[0] + h[0])}
	}
	m, k := math.Round(g[1]), math.Round(h[1])
	b := h[0]
	if m != 0 {
		b = -b
	}
	return group.Element{o.canon(g[0] + b), math.Abs(m - k)}
}

// Inv turns back; a mirrored element is its own inverse.
func (o ortho) Inv(g group.Element) group.Element {
	if o.mirror && math.Round(g[1]) != 0 {
		return group.Element{o.canon(g[0]), 1}
	}
	i := o.Identity()
	i[0] = o.canon(-g[0])
	return i
}

// Dist is the angle between two elements in degrees, [0, 180]; 180 between any two of which one mirrors and one does
// not.
func (o ortho) Dist(g, h group.Element) float64 {
	d := turn(g[0], h[0])
	if o.mirror && g[1] != h[1] {
		return math.Max(d, 180*math.Abs(g[1]-h[1]))
	}
	return d
}

// Invariance is true on both sides.
func (o ortho) Invariance() (left, right bool) { return true, true }

// Affine is the rotation matrix, times diag(-1, 1) if the element mirrors.
func (o ortho) Affine(g group.Element) (a [2][2]float64, t [2]float64) {
	s, c := group.SinCos(o.canon(g[0]))
	a = mat2{{c, s}, {-s + 0, c}}
	if o.mirror && g[1] != 0 {
		a[0][0], a[1][0] = -a[0][0]+0, -a[1][0]+0
	}
	return a, t
}

type orthoLie struct{ ortho }

// Sample draws from the Haar measure.
func (o orthoLie) Sample(r *rand.Rand) group.Element { return group.Draw(o, group.Window(o), r) }

// Generators is the rotation.
func (o orthoLie) Generators() []group.Generator {
	return []group.Generator{{Name: "rotation", Unit: "rad"}}
}

// Exp is the rotation by t[0] radians. In O(2) it reaches the rotations only, not the mirrors.
func (o orthoLie) Exp(t []float64) group.Element {
	g := o.Identity()
	g[0] = o.canon(group.Degrees(t[0]))
	return g
}

type orthoFinite struct{ ortho }

// Sample draws an element, each with the same probability.
func (o orthoFinite) Sample(r *rand.Rand) group.Element { return group.Draw(o, group.Window(o), r) }

// Order is the number of elements.
func (o orthoFinite) Order() int {
	if o.mirror {
		return 2 * o.n
	}
	return o.n
}

// Elements are the rotations by increasing angle, then the same with the mirror.
func (o orthoFinite) Elements() []group.Element {
	e := make([]group.Element, o.Order())
	for i := range e {
		e[i] = o.Identity()
		e[i][0] = float64(i%o.n) * 360 / float64(o.n)
		if i >= o.n {
			e[i][1] = 1
		}
	}
	return e
}

// turn is the distance between two angles in degrees along the shorter way, in [0, 180].
func turn(a, b float64) float64 {
	d := math.Abs(group.Wrap(a, 0, 360) - group.Wrap(b, 0, 360))
	return math.Min(d, 360-d)
}

// Unreached is the mirrors.
func (o orthoLie) Unreached() string {
	if o.mirror {
		return "exp reaches the rotations of " + o.Name() + ", not the mirrors"
	}
	return ""
}
