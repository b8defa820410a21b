package catalog

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"nero/internal/elementary"
	"nero/symmetry/group"
)

// space3 is a group of rigid motions of space. The element (v, i, t) turns by the rotation vector v, multiplies by -1
// if i is 1, and then shifts by t. Groups leave out the parts that they lack.
type space3 struct {
	name             string
	turn, inv, shift bool
}

// SO3 is the group of rotations of space, in the chart of rotation vectors (rx, ry, rz): the axis times the angle in
// degrees, which is at most 180, right-handed. At 180 degrees, where both axes give the same rotation, the first
// component that is not 0 is positive.
func SO3() group.Group { return space3Lie{space3{name: "SO(3)", turn: true}} }

// O3 is the group of rotations of space and their products with the inversion p -> -p: (rx, ry, rz, inversion).
func O3() group.Group { return space3Lie{space3{name: "O(3)", turn: true, inv: true}} }

// T3 is the group of shifts of space (tx, ty, tz), in the unit of length of the data.
func T3() group.Group { return space3Lie{space3{name: "T(3)", shift: true}} }

// SE3 is the group of rotations and shifts of space: (rx, ry, rz, tx, ty, tz) turns about the origin first, then
// shifts.
func SE3() group.Group { return space3Lie{space3{name: "SE(3)", turn: true, shift: true}} }

// E3 is the group of rotations, inversions and shifts of space: (rx, ry, rz, inversion, tx, ty, tz) turns, inverts if
// inversion is 1, then shifts.
func E3() group.Group { return space3Lie{space3{name: "E(3)", turn: true, inv: true, shift: true}} }

// Name is SO(3), O(3), T(3), SE(3) or E(3).
func (s space3) Name() string { return s.name }

// Chart is the rotation vector, the inversion and the shift, as far as the group has them.
func (s space3) Chart() []group.Axis {
	var c []group.Axis
	if s.turn {
		c = append(c, vectorAxes(180)...)
	}
	if s.inv {
		c = append(c, group.Axis{Name: "inversion", Kind: group.KindInversion, Min: 0, Max: 1})
	}
	if s.shift {
		c = append(c, lengthAxes()...)
	}
	return c
}

func vectorAxes(most float64) []group.Axis {
	return []group.Axis{
		{Name: "rx", Unit: "deg", Kind: group.KindVector, Min: -most, Max: most},
		{Name: "ry", Unit: "deg", Kind: group.KindVector, Min: -most, Max: most},
		{Name: "rz", Unit: "deg", Kind: group.KindVector, Min: -most, Max: most},
	}
}

func lengthAxes() []group.Axis {
	inf := math.Inf(1)
	return []group.Axis{
		{Name: "tx", Unit: "length", Kind: group.KindLength, Min: -inf, Max: inf},
		{Name: "ty", Unit: "length", Kind: group.KindLength, Min: -inf, Max: inf},
		{Name: "tz", Unit: "length", Kind: group.KindLength, Min: -inf, Max: inf},
	}
}

// pose is an element in parts.
type pose struct {
	v        vec3
	inverted bool
	t        vec3
}

func (s space3) split(g group.Element) pose {
	var p pose
	if s.turn {
		p.v, g = vec3(g[:3]), g[3:]
	}
	if s.inv {
		p.inverted, g = math.Round(g[0]) != 0, g[1:]
	}
	if s.shift {
		p.t = vec3(g[:3])
	}
	return p
}

func (s space3) join(p pose) group.Element {
	g := make(group.Element, 0, 7)
	if s.turn {
		g = append(g, p.v[:]...)
	}
	if s.inv {
		i := 0.0
		if p.inverted {
			i = 1
		}
		g = append(g, i)
	}
	if s.shift {
		g = append(g, p.t[0]+0, p.t[1]+0, p.t[2]+0)
	}
	return g
}

func (s space3) linear(p pose) mat3 {
	m := rotation(p.v)
	if p.inverted {
		for i := range 3 {
			for j := range 3 {
				m[i][j] = -m[i][j] + 0
			}
		}
	}
	return m
}

// Identity is all zeros.
func (s space3) Identity() group.Element { return s.join(pose{}) }

// Steps is 1 for the inversion.
func (s space3) Steps() []float64 {
	out := make([]float64, len(s.Identity()))
	if s.inv {
		out[3] = 1
	}
	return out
}

// Mul is (R, t)(S, u) = (RS, t + R·u), through unit quaternions; products of the rotations of the cube and of turns
// about one axis of coordinates are exact.
func (s space3) Mul(g, h group.Element) group.Element {
	a, b := s.split(g), s.split(h)
	p := pose{v: compose(a.v, b.v), inverted: a.inverted != b.inverted, t: a.t}
	if s.shift {
		u := b.t
		if s.turn {
			u = turnVec(s.linear(a), u)
		}
		for i := range u {
			p.t[i] += u[i]
		}
	}
	return s.join(p)
}

// Inv is (R⁻¹, -R⁻¹·t).
func (s space3) Inv(g group.Element) group.Element {
	a := s.split(g)
	p := pose{v: turned(vec3{-a.v[0], -a.v[1], -a.v[2]}), inverted: a.inverted}
	if s.shift {
		u := turnVec(s.linear(p), a.t)
		p.t = vec3{-u[0], -u[1], -u[2]}
	}
	return s.join(p)
}

// Dist is the angle between two rotations in degrees, [0, 180], the same for a unit quaternion and its negative; 180
// between any two of which one inverts and one does not; with shifts the root of its square and that of their distance,
// one degree weighing as one unit of length.
func (s space3) Dist(g, h group.Element) float64 {
	a, b := s.split(g), s.split(h)
	d := 0.0
	if s.turn {
		d = angleBetween(a.v, b.v)
	}
	if s.inv {
		i := math.Abs(g[3] - h[3])
		d = math.Max(d, 180*i)
	}
	if s.shift {
		d = elementary.Hypot(d, length(vec3{a.t[0] - b.t[0], a.t[1] - b.t[1], a.t[2] - b.t[2]}))
	}
	return d
}

// Invariance is true on both sides for rotations alone and shifts alone, else on the left.
func (s space3) Invariance() (left, right bool) { return true, !s.turn || !s.shift }

// Dim is 3.
func (space3) Dim() int { return 3 }

// Motion is p -> ±R·p + t. The matrices of the 24 rotations of the cube are exact, and those about the axes of
// coordinates as [group.SinCos] is.
func (s space3) Motion(g group.Element) (a, t []float64) {
	p := s.split(g)
	m := s.linear(p)
	return flat3(m), []float64{p.t[0], p.t[1], p.t[2]}
}

func flat3(m mat3) []float64 {
	return []float64{m[0][0], m[0][1], m[0][2], m[1][0], m[1][1], m[1][2], m[2][0], m[2][1], m[2][2]}
}

// Window is all rotations, with and without inversion, and ±1 unit of length on the axes of a shift.
func (s space3) Window() [][2]float64 {
	var w [][2]float64
	for _, a := range s.Chart() {
		if math.IsInf(a.Max, 0) {
			a.Min, a.Max = -1, 1
		}
		w = append(w, [2]float64{a.Min, a.Max})
	}
	return w
}

// Sample draws rotations from the Haar measure, as uniform unit quaternions, and shifts uniformly from the window of ±1
// unit of length.
func (s space3) Sample(r *rand.Rand) group.Element {
	var p pose
	if s.turn {
		p.v = toVec(shoemake([]float64{r.Float64(), r.Float64(), r.Float64()}))
	}
	if s.inv {
		p.inverted = r.Float64() < 0.5
	}
	if s.shift {
		for i := range p.t {
			p.t[i] = 2*r.Float64() - 1
		}
	}
	return s.join(p)
}

type space3Lie struct{ space3 }

// Generators are the rotations about the axes of coordinates and the shifts along them.
func (s space3Lie) Generators() []group.Generator {
	var out []group.Generator
	for _, x := range []string{"x", "y", "z"} {
		if s.turn {
			out = append(out, group.Generator{Name: "rotation " + x, Unit: "rad"})
		}
	}
	for _, x := range []string{"x", "y", "z"} {
		if s.shift {
			out = append(out, group.Generator{Name: "shift " + x, Unit: "length"})
		}
	}
	return out
}

// Exp is the motion reached after unit time by turning with the rotation vector of the first coefficients, in radians,
// while drifting with the others. It reaches all rotations and all motions that keep the orientation; not the
// inversions.
func (s space3Lie) Exp(t []float64) group.Element {
	var p pose
	if !s.turn {
		p.t = vec3(t)
		return s.join(p)
	}
	w := vec3(t[:3])
	d := vec3{group.Degrees(w[0]), group.Degrees(w[1]), group.Degrees(w[2])}
	p.v = turned(d)
	if s.shift {
		p.t = drift(w, d, vec3(t[3:6]))
	}
	return s.join(p)
}

// drift is V·u with V = I + (1-cos θ)/θ²·K + (θ-sin θ)/θ³·K², K the cross product with w, θ = |w| in radians and d the
// same in degrees.
func drift(w, d, u vec3) vec3 {
	th := math.Sqrt(float64(w[0]*w[0]) + float64(w[1]*w[1]) + float64(w[2]*w[2]))
	b, c := 0.5, 1./6
	if th > 1e-3 {
		sin, cos := group.SinCos(length(d))
		b, c = (1-cos)/(th*th), (th-sin)/(th*th*th)
	} else { // where the differences cancel, two terms of the series suffice
		b, c = b-th*th/24, c-th*th/120
	}
	ku := cross(w, u)
	kku := cross(w, ku)
	var out vec3
	for i := range out {
		out[i] = u[i] + float64(b*ku[i]) + float64(c*kku[i])
	}
	return out
}

func cross(a, b vec3) vec3 {
	return vec3{
		float64(a[1]*b[2]) - float64(a[2]*b[1]), float64(a[2]*b[0]) - float64(a[0]*b[2]),
		float64(a[0]*b[1]) - float64(a[1]*b[0]),
	}
}

// ball is the box of rotation vectors to draw from.
type ball struct {
	lo, hi vec3
	// degrees: 180 for rotations, 360 for unit quaternions
	most  float64
	whole bool
}

func ballOf(name string, w [][2]float64, most float64) (ball, error) {
	b := ball{whole: true, most: most}
	var near, size float64
	for i := range 3 {
		b.lo[i], b.hi[i] = w[i][0], w[i][1]
		b.whole = b.whole && w[i] == [2]float64{-most, most}
		size = math.Max(size, b.hi[i]-b.lo[i])
		if c := math.Max(b.lo[i], -b.hi[i]); c > 0 {
			near += float64(c * c)
		}
	}
	if near = math.Sqrt(near); near > most || near > most-0.1 && size > 0 {
		return b, fmt.Errorf(
			"range of the rotations of %s: its smallest angle is %.6g degrees, expected less than %g: no rotation "+
				"vector is longer; "+
				"widen the range towards 0", name, near, most)
	}
	return b, nil
}

// at maps four uniform numbers to a rotation of the box, evenly in the Haar measure, whose density in the chart is
// sin²(θ/2)/(θ/2)².
func (b ball) at(u []float64) (vec3, bool) {
	if b.whole {
		return b.vector(shoemake(u)), true
	}
	var v vec3
	for i := range v {
		v[i] = b.lo[i] + float64(u[i]*(b.hi[i]-b.lo[i]))
	}
	t := length(v)
	if t > b.most {
		return v, false
	}
	if t > 0 {
		s, _ := group.SinCos(t / 2)
		s /= group.Radians(t / 2)
		if u[3] > s*s {
			return v, false
		}
	}
	if b.most > 180 {
		return spun(v), true
	}
	return turned(v), true
}

func (b ball) vector(q quat) vec3 {
	if b.most > 180 {
		return toSpin(q)
	}
	return toVec(q)
}

// Cube maps uniform numbers to elements, evenly.
func (s space3) Cube(window [][2]float64) (group.Cube, error) {
	most := 0.0
	if s.turn {
		most = 180
	}
	return ballCube(s, window, most)
}

// ballCube is the cube of a group whose first three coordinates are a rotation vector of at most so many degrees, or
// none for 0; the other coordinates are independent.
func ballCube(g group.Group, window [][2]float64, most float64) (group.Cube, error) {
	sp, err := group.Spans(g, window)
	if err != nil {
		return group.Cube{}, err
	}
	if window == nil {
		window = group.Window(g)
	}
	c := group.Cube{Inside: true, Capacity: group.Capacity(sp)}
	for _, x := range sp {
		c.Inside = c.Inside && (x.Full() || x.Holds(x.Identity))
	}
	var b ball
	dims := 0
	if most > 0 {
		if b, err = ballOf(g.Name(), window, most); err != nil {
			return group.Cube{}, err
		}
		dims = 4
		if b.whole {
			dims = 3
			c.Start = []float64{0.5, 0.5, 0.5}
		} else {
			for _, x := range sp[:3] {
				c.Start = append(c.Start, x.Where())
			}
			c.Start = append(c.Start, 0)
		}
		sp = sp[3:]
	}
	for _, x := range sp {
		c.Start = append(c.Start, x.Where())
	}
	// The whole ball is turned so that the sequence begins at the identity; its measure does not change.
	first := shoemake([]float64{0.5, 0.5, 0.5}).conj()
	c.At = func(u []float64) (group.Element, bool) {
		e := make(group.Element, 0, len(u))
		if most > 0 {
			v, ok := b.at(u)
			if !ok {
				return nil, false
			}
			if b.whole {
				v = b.vector(first.mul(shoemake(u)))
			}
			e = append(e, v[:]...)
		}
		for i, x := range sp {
			e = append(e, x.At(u[dims+i]))
		}
		return e, true
	}
	return c, nil
}

// Holds reports whether the rotation vector is in its ball.
func (s space3) Holds(e group.Element) bool {
	return !s.turn || length(vec3(e[:3])) <= 180*(1+halfTurn)
}

// Offsets are the axes of the rotation vector.
func (s space3) Offsets() []bool {
	out := make([]bool, len(s.Identity()))
	for i := range out {
		out[i] = s.turn && i < 3
	}
	return out
}

// Near turns after at by the rotation vector of e.
func (s space3) Near(at, e group.Element) group.Element {
	if !s.turn {
		return group.Canonical(s, e)
	}
	e = append(group.Element(nil), e...)
	v := compose(vec3(e[:3]), vec3(at[:3]))
	copy(e, v[:])
	return group.Canonical(s, e)
}

// Lattice is the rotations of the cube with both values of an inversion and whole shifts.
func (s space3) Lattice(window [][2]float64) ([]group.Element, error) {
	sp, err := group.Spans(s, window)
	if err != nil {
		return nil, err
	}
	lists := [][]group.Element{}
	at := 0
	if s.turn {
		lists = append(lists, group.KeepIn(octahedralGroup(), sp[:3]))
		at = 3
	}
	total := 1.0
	for _, x := range sp[at:] {
		if x.Step == 0 {
			x.Step = 1
		}
		first, n := x.Ticks()
		if total *= n; total > group.MaxElements {
			return nil, fmt.Errorf("lattice elements of %s: %w; narrow the range", s.name, group.ErrTooMany)
		}
		var l []group.Element
		for k := range int(n) {
			l = append(l, group.Element{(first + float64(k)) * x.Step})
		}
		if len(l) == 0 {
			l = []group.Element{{x.Identity}}
		}
		lists = append(lists, l)
	}
	return group.Combinations(s.name, lists)
}

// presetRotations is how many rotations of low discrepancy a preset has.
const presetRotations = 200

// Preset is the identity, the other rotations of the cube, which act without rounding, and rotations of low
// discrepancy; inversions and shifts in the window go with them. Shifts alone are a grid.
func (s space3) Preset(window [][2]float64) ([]group.Element, string, error) {
	if !s.turn {
		return group.BoxPreset(s, window)
	}
	sp, err := group.Spans(s, window)
	if err != nil {
		return nil, "", err
	}
	low, err := group.LowDiscrepancy(s, presetRotations, window)
	if err != nil {
		return nil, "", err
	}
	var exact []group.Element
	for _, v := range octahedralGroup() {
		for i := range 2 {
			if i == 1 && !s.inv {
				continue
			}
			p := pose{v: vec3(v), inverted: i == 1}
			exact = append(exact, s.join(p))
		}
	}
	exact = group.KeepIn(exact, sp)
	what := "rotations of the cube"
	if s.inv {
		what += " with and without inversion"
	}
	es := group.Dedup(s, append(exact, low...), group.Tolerance)
	return es, fmt.Sprintf("%d %s and a low-discrepancy sample of %d elements: %s", len(exact), what, presetRotations,
		s.Within(window)), nil
}

// Within says "all rotations" where the window holds them all.
func (s space3) Within(window [][2]float64) string {
	sp, err := group.Spans(s, window)
	if err != nil {
		return "window unknown"
	}
	var parts []string
	if s.turn {
		whole := true
		for _, x := range sp[:3] {
			whole = whole && x.Lo == -180 && x.Hi == 180
		}
		if whole {
			parts, sp = append(parts, "all rotations of space"), sp[3:]
		}
	}
	for _, x := range sp {
		parts = append(parts, x.Text())
	}
	return strings.Join(parts, ", ")
}

// Unreached is the inversions.
func (s space3Lie) Unreached() string {
	if s.inv {
		return "exp reaches the rotations and shifts of " + s.name + ", not the inversions"
	}
	return ""
}
