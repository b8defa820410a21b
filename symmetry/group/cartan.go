package group

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
)

// compact is the maximal compact subgroup of a matrix group, which sets the first coordinates.
type compact int

const (
	kPlane   compact = iota // SO(2): angle
	kSpace                  // SO(3): rx, ry, rz
	kSpin                   // SU(2): rx, ry, rz up to 360 degrees
	kUnitary                // U(2): rx, ry, rz up to 360 degrees, phase
)

// cartan is a group of real matrices with coordinates (k, p, t): the element is k·exp(p), k in the maximal compact
// subgroup and p symmetric, followed by a shift t. Every element has exactly one such form (the polar or Cartan
// decomposition: Knapp 2002, Lie groups beyond an introduction, section VI.3), whether the exponential map reaches it
// or not.
type cartan struct {
	name string
	dim  int
	kind compact
	// first row of the block that a rotation of space turns
	at    int
	basis []symmetricBasis
	shift bool
	// what exp does not reach
	why string
}

type symmetricBasis struct {
	name string
	kind *Kind
	m    square
}

// factor says that the coordinate is e^x.
func (b symmetricBasis) factor() bool { return b.kind.Form == FormFactor }

func symmetric1(n int, name string, kind *Kind, entries ...float64) symmetricBasis {
	b := symmetricBasis{name: name, kind: kind, m: newSquare(n)}
	for k := 0; k+2 < len(entries); k += 3 {
		i, j, x := int(entries[k]), int(entries[k+1]), entries[k+2]
		b.m.v[i*n+j], b.m.v[j*n+i] = x, x
	}
	return b
}

const notExp = "exp of the Lie algebra does not reach all of %s: %s is out of its reach. Samples and plans go " +
	"through k·exp(p), which reaches every element"

// GLPlus is GL+(n), the group of all matrices of positive determinant, for n = 2 and 3: rotations, magnifications and
// stretches. The chart is the rotation, then factors: scale, stretch (one direction by the factor, another by its
// reciprocal), hyperbolic (as stretch, along the diagonals). The element stretches first, all factors at once, then
// turns.
func GLPlus(n int) (Group, error) { return linear("GL+", n, true, false) }

// SL is SL(n), the group of all matrices of determinant 1, for n = 2 and 3, in the chart of [GLPlus] without scale.
func SL(n int) (Group, error) { return linear("SL", n, false, false) }

// Affine3 is the group of the maps p -> A·p + t of space with positive determinant of A, in the chart of GL+(3) and tx,
// ty, tz.
func Affine3() Group {
	g, err := linear("Affine", 3, true, true)
	if err != nil {
		panic("group: " + err.Error())
	}
	return g
}

func linear(head string, n int, scales, shift bool) (Group, error) {
	c := cartan{name: fmt.Sprintf("%s(%d)", head, n), dim: n, shift: shift}
	switch n {
	case 2:
		c.kind = kPlane
		c.basis = []symmetricBasis{
			symmetric1(2, "stretch", KindFactor, 0, 0, 1, 1, 1, -1),
			symmetric1(2, "hyperbolic", KindFactor, 0, 1, 1),
		}
	case 3:
		c.kind = kSpace
		c.basis = []symmetricBasis{
			symmetric1(3, "stretch xy", KindFactor, 0, 0, 1, 1, 1, -1),
			symmetric1(3, "stretch z", KindFactor, 0, 0, -0.5, 1, 1, -0.5, 2, 2, 1),
			symmetric1(3, "hyperbolic xy", KindFactor, 0, 1, 1), symmetric1(3, "hyperbolic xz", KindFactor, 0, 2, 1),
			symmetric1(3, "hyperbolic yz", KindFactor, 1, 2, 1),
		}
	default:
		return nil, fmt.Errorf("%s(%d): expected 2 or 3 dimensions", head, n)
	}
	if scales {
		s := symmetric1(n, "scale", KindScale)
		s.m = eye(n)
		c.basis = append([]symmetricBasis{s}, c.basis...)
	}
	c.why = fmt.Sprintf(notExp, c.name, map[int]string{
		2: "a matrix with the eigenvalues -2 and -1/2",
		3: "a matrix with the eigenvalues -2, -1/2 and 1",
	}[n])
	if n == 2 {
		return planeCartan{c}, nil
	}
	return c, nil
}

// Lorentz is SO+(1,3), the group of rotations and boosts of space and time that keep t² - x² - y² - z², the direction
// of time and the orientation. Coordinates of events are t, x, y, z with the speed of light 1. The chart is the
// rotation vector and the rapidities bx, by, bz of a boost, which acts first.
func Lorentz() Group {
	c := cartan{name: "Lorentz", dim: 4, kind: kSpace, at: 1}
	for i, x := range []string{"bx", "by", "bz"} {
		c.basis = append(c.basis, symmetric1(4, x, KindBoost, 0, float64(i+1), 1))
	}
	return c
}

// Symplectic is Sp(2n), the group of the real matrices that keep Jᵀ..J, the form Ω = [[0, I], [-I, 0]] of n places and
// n momenta, for 2n = 2 and 4. The chart of Sp(2) is an angle and factors as in SL(2); that of Sp(4) a unitary matrix,
// as rx, ry, rz and a phase, and the entries s11, s12, s22, t11, t12, t22 of p = [[s, t], [t, -s]].
func Symplectic(n int) (Group, error) {
	switch n {
	case 2:
		g, err := SL(2)
		if p, ok := g.(planeCartan); ok {
			p.name = "Sp(2)"
			p.why = strings.ReplaceAll(p.why, "SL(2)", p.name)
			return p.cartan, err
		}
		return nil, err
	case 4:
		c := cartan{
			name: "Sp(4)", dim: 4, kind: kUnitary,
			why: fmt.Sprintf(notExp, "Sp(4)", "a matrix with the eigenvalues -2, -1/2, 1 and 1"),
		}
		for i, x := range []string{"11", "12", "22"} {
			a, b := float64(i/2), float64((i+1)/2)
			c.basis = append(c.basis, symmetric1(4, "s"+x, KindNumber, a, b, 1, a+2, b+2, -1))
		}
		for i, x := range []string{"11", "12", "22"} {
			a, b := float64(i/2), float64((i+1)/2)
			if a == b {
				c.basis = append(c.basis, symmetric1(4, "t"+x, KindNumber, a, b+2, 1))
			} else {
				c.basis = append(c.basis, symmetric1(4, "t"+x, KindNumber, a, b+2, 1, b, a+2, 1))
			}
		}
		return c, nil
	}
	return nil, fmt.Errorf("Sp(%d): expected 2 or 4 dimensions", n)
}

// SU2 is SU(2), the unit quaternions, which turn space twice over: rx, ry, rz is a rotation vector of up to 360
// degrees. They act on R⁴ by the product of quaternions from the left; the representation "vector" is the rotation of
// space.
func SU2() Group { return spinCartan{cartan{name: "SU(2)", dim: 4, kind: kSpin}} }

// Unreached says which elements the exponential map of a group does not reach, "" if it reaches all. Plans and samples
// of this package reach them all the same, except in groups by generators, whose chart is the exponential map.
func Unreached(g Group) string {
	switch g := g.(type) {
	case Factored:
		var s []string
		for _, f := range g.Factors() {
			if t := Unreached(f); t != "" {
				s = append(s, t)
			}
		}
		return strings.Join(s, "; ")
	case interface{ unreached() string }:
		return g.unreached()
	case affine:
		if g.full {
			return "exp does not reach all of " + g.name +
				": a matrix with two different negative eigenvalues has no coordinates"
		}
	case orthoLie:
		if g.mirror {
			return "exp reaches the rotations of " + g.Name() + ", not the mirrors"
		}
	case space3Lie:
		if g.inv {
			return "exp reaches the rotations and shifts of " + g.name + ", not the inversions"
		}
	case motionLie:
		if g.point.mirror {
			return "exp reaches the rotations and shifts of " + g.name + ", not the mirrors"
		}
	case about:
		if g.o.mirror {
			return "exp reaches the rotations of " + g.name + ", not the mirrors"
		}
	}
	return ""
}

func (c cartan) unreached() string { return c.why }

// Name is the name that the group was made with.
func (c cartan) Name() string { return c.name }

// compactAxes is how many coordinates the compact part has.
func (c cartan) compactAxes() int {
	return map[compact]int{kPlane: 1, kSpace: 3, kSpin: 3, kUnitary: 4}[c.kind]
}

func (c cartan) most() float64 {
	switch c.kind {
	case kSpace:
		return 180
	case kSpin, kUnitary:
		return 360
	case kPlane:
	}
	return 0
}

// Chart is the compact part, the symmetric part and the shift.
func (c cartan) Chart() []Axis {
	var out []Axis
	if c.kind == kPlane {
		out = append(out, Axis{Name: "angle", Unit: "deg", Kind: KindTurn, Min: 0, Max: 360, Periodic: true})
	} else {
		out = append(out, vectorAxes(c.most())...)
	}
	if c.kind == kUnitary {
		out = append(out, Axis{Name: "phase", Unit: "deg", Kind: KindPhase, Min: -90, Max: 90})
	}
	inf := math.Inf(1)
	for _, b := range c.basis {
		if b.factor() {
			out = append(out, Axis{Name: b.name, Unit: "factor", Kind: b.kind, Min: 0, Max: inf})
		} else {
			out = append(out, Axis{Name: b.name, Kind: b.kind, Min: -inf, Max: inf})
		}
	}
	if c.shift {
		out = append(out, lengthAxes()...)
	}
	return out
}

// Window is all of the compact part, factors from 0.7 to 1.4 except scale from 0.5 to 2, ±0.5 for numbers without a
// unit and ±1 unit of length.
func (c cartan) Window() [][2]float64 {
	w := defaultWindow(c.Chart())
	for i, b := range c.basis {
		if b.factor() && b.name != "scale" {
			w[c.compactAxes()+i] = [2]float64{0.7, 1.4}
		}
	}
	if c.shift {
		for i := len(w) - 3; i < len(w); i++ {
			w[i] = [2]float64{-1, 1}
		}
	}
	return w
}

// Identity is the zero vector, factors 1, no shift.
func (c cartan) Identity() Element {
	e := make(Element, c.compactAxes(), c.compactAxes()+len(c.basis)+3)
	for _, b := range c.basis {
		x := 0.0
		if b.factor() {
			x = 1
		}
		e = append(e, x)
	}
	if c.shift {
		e = append(e, 0, 0, 0)
	}
	return e
}

// split is the coordinates of the three parts, p as logarithms.
func (c cartan) split(g Element) (k Element, p, t []float64) {
	n := c.compactAxes()
	k, g = g[:n:n], g[n:]
	p = make([]float64, len(c.basis))
	for i, b := range c.basis {
		p[i] = g[i]
		if b.factor() {
			p[i] = math.Log(g[i])
		}
	}
	return k, p, g[len(c.basis):]
}

func (c cartan) join(k Element, p, t []float64) Element {
	g := append(make(Element, 0, len(k)+len(p)+len(t)), k...)
	for i, b := range c.basis {
		if b.factor() {
			g = append(g, math.Exp(p[i]))
		} else {
			g = append(g, p[i]+0)
		}
	}
	for _, x := range t {
		g = append(g, x+0)
	}
	return g
}

// canonK is the canonical form of the compact coordinates.
func (c cartan) canonK(k Element) Element {
	switch c.kind {
	case kPlane:
		return Element{wrap(k[0], 0, 360)}
	case kSpace:
		v := turned(vec3(k[:3]))
		return v[:]
	case kSpin:
		v := spun(vec3(k[:3]))
		return v[:]
	case kUnitary:
	}
	v, phase := vec3(k[:3]), k[3]
	if !(phase >= -90 && phase < 90) {
		w := wrap(phase, -90, 180)
		if int(math.Round((phase-w)/180))&1 != 0 {
			q := toQuat(spun(v))
			v = toSpin(quat{-q[0], -q[1], -q[2], -q[3]})
		}
		phase = w
	}
	v = spun(v)
	return append(v[:], phase+0)
}

// mulK composes compact parts.
func (c cartan) mulK(a, b Element) Element {
	switch c.kind {
	case kPlane:
		return c.canonK(Element{a[0] + b[0]})
	case kSpace:
		v := compose(vec3(a[:3]), vec3(b[:3]))
		return v[:]
	case kSpin, kUnitary:
	}
	v := toSpin(toQuat(vec3(a[:3])).mul(toQuat(vec3(b[:3]))))
	switch { // keep bits where nothing turns
	case vec3(a[:3]) == vec3{}:
		v = spun(vec3(b[:3]))
	case vec3(b[:3]) == vec3{}:
		v = spun(vec3(a[:3]))
	}
	if c.kind == kSpin {
		return v[:]
	}
	return c.canonK(append(v[:], a[3]+b[3]))
}

func (c cartan) invK(a Element) Element {
	out := make(Element, len(a))
	for i, x := range a {
		out[i] = -x
	}
	return c.canonK(out)
}

// unitary is the quaternion times e^{iφ} as the complex 2×2 matrix (w - iz, -y - ix; y - ix, w + iz).
func unitary(k Element) [2][2]complex128 {
	q := toQuat(vec3(k[:3]))
	s, c := SinCos(k[3])
	f := complex(c, s)
	return [2][2]complex128{
		{f * complex(q[0], -q[3]), f * complex(-q[2], -q[1])},
		{f * complex(q[2], -q[1]), f * complex(q[0], q[3])},
	}
}

// matrixK is the compact part as a matrix.
func (c cartan) matrixK(k Element) square {
	m := eye(c.dim)
	switch c.kind {
	case kPlane: // as in pictures, whose y points down
		s, cos := SinCos(k[0])
		m.v = []float64{cos, s, -s + 0, cos}
	case kSpace:
		r := matrix(vec3(k[:3]))
		for i := range 3 {
			for j := range 3 {
				m.v[(c.at+i)*c.dim+c.at+j] = r[i][j]
			}
		}
	case kSpin:
		w, x, y, z := 0., 0., 0., 0.
		q := toQuat(vec3(k[:3]))
		w, x, y, z = q[0], q[1], q[2], q[3]
		m.v = []float64{
			w, -x, -y, -z,
			x, w, -z, y,
			y, z, w, -x,
			z, -y, x, w,
		}
	case kUnitary:
		u := unitary(k)
		for i := range 2 {
			for j := range 2 {
				m.v[i*4+j], m.v[(i+2)*4+j+2] = real(u[i][j]), real(u[i][j])
				m.v[i*4+j+2], m.v[(i+2)*4+j] = -imag(u[i][j]), imag(u[i][j])
			}
		}
	}
	for i := range m.v {
		m.v[i] += 0
	}
	return m
}

// fromK reads the compact coordinates of an orthogonal matrix.
func (c cartan) fromK(m square) Element {
	switch c.kind {
	case kPlane:
		return c.canonK(Element{degrees(math.Atan2(m.v[1]-m.v[2], m.v[0]+m.v[3]))})
	case kSpace:
		var r mat3
		for i := range 3 {
			for j := range 3 {
				r[i][j] = m.v[(c.at+i)*c.dim+c.at+j]
			}
		}
		v := toVec(fromMatrix(r))
		return v[:]
	case kSpin:
		v := toSpin(quat{m.v[0], m.v[4], m.v[8], m.v[12]})
		return v[:]
	case kUnitary:
	}
	var u [2][2]complex128
	for i := range 2 {
		for j := range 2 {
			u[i][j] = complex(m.v[i*4+j], m.v[(i+2)*4+j])
		}
	}
	det := u[0][0]*u[1][1] - u[0][1]*u[1][0]
	phase := degrees(math.Atan2(imag(det), real(det))) / 2
	s, cos := SinCos(phase)
	f := complex(cos, -s)
	// The mean of the entries that agree in SU(2).
	a, b := (f*u[0][0]+conj(f*u[1][1]))/2, (f*u[1][0]-conj(f*u[0][1]))/2
	v := toSpin(quat{real(a), -imag(b), real(b), -imag(a)})
	return c.canonK(append(v[:], phase))
}

func conj(z complex128) complex128 { return complex(real(z), -imag(z)) }

// symmetric is the matrix p.
func (c cartan) symmetric(p []float64) square {
	m := newSquare(c.dim)
	for i, b := range c.basis {
		m = m.add(b.m, p[i])
	}
	return m
}

func zero(x []float64) bool {
	for _, v := range x {
		if v != 0 {
			return false
		}
	}
	return true
}

// matrix is k·exp(p).
func (c cartan) matrix(k Element, p []float64) square {
	m := c.matrixK(k)
	if zero(p) {
		return m
	}
	return m.mul(c.symmetric(p).function(math.Exp))
}

// decompose is the inverse of matrix.
func (c cartan) decompose(m square) (Element, []float64) {
	p := make([]float64, len(c.basis))
	if !m.finite() {
		k := make(Element, c.compactAxes())
		for i := range k {
			k[i] = math.NaN()
		}
		return k, p
	}
	if len(p) == 0 {
		return c.fromK(m), p
	}
	half := m.transpose().mul(m).function(func(x float64) float64 { return math.Log(x) / 2 })
	for i, b := range c.basis {
		p[i] = half.dot(b.m) / b.m.dot(b.m)
		if math.Abs(p[i]) < 4e-15 { // rounding of what is orthogonal
			p[i] = 0
		}
	}
	back := newSquare(c.dim).add(c.symmetric(p), -1).function(math.Exp)
	return c.fromK(m.mul(back)), p
}

func (c cartan) isIdentity(g Element) bool {
	for i, x := range c.Identity() {
		if g[i] != x {
			return false
		}
	}
	return true
}

func (c cartan) canon(g Element) Element {
	n := c.compactAxes()
	out := append(c.canonK(g[:n]), g[n:]...)
	for i := range out {
		out[i] += 0
	}
	return out
}

// Mul is the product of the matrices, decomposed again; products of rotations do not leave the compact part.
func (c cartan) Mul(g, h Element) Element {
	switch {
	case c.isIdentity(g):
		return c.canon(h)
	case c.isIdentity(h):
		return c.canon(g)
	}
	gk, gp, gt := c.split(g)
	hk, hp, ht := c.split(h)
	var t []float64
	if c.shift {
		t = c.matrix(gk, gp).vec(ht)
		for i := range t {
			t[i] += gt[i]
		}
	}
	if zero(gp) {
		return c.join(c.mulK(gk, hk), hp, t)
	}
	k, p := c.decompose(c.matrix(gk, gp).mul(c.matrix(hk, hp)))
	return c.join(k, p, t)
}

// Inv is exp(-p)·k⁻¹, decomposed again.
func (c cartan) Inv(g Element) Element {
	k, p, t := c.split(g)
	minus := make([]float64, len(p))
	for i, x := range p {
		minus[i] = -x
	}
	back := c.invK(k)
	var m square
	if zero(p) {
		m = c.matrixK(back)
	} else {
		m = c.symmetric(minus).function(math.Exp).mul(c.matrixK(back))
		back, minus = c.decompose(m)
	}
	if c.shift {
		t = m.vec(t)
		for i := range t {
			t[i] = -t[i]
		}
	}
	return c.join(back, minus, t)
}

// Dist is the Frobenius norm of the difference of the matrices, with the shifts as one more column. It is a metric, but
// moves with neither side.
func (c cartan) Dist(g, h Element) float64 {
	gk, gp, gt := c.split(g)
	hk, hp, ht := c.split(h)
	d := c.matrix(gk, gp).add(c.matrix(hk, hp), -1).norm()
	for i := range gt {
		d = math.Hypot(d, gt[i]-ht[i])
	}
	return d
}

// Dim is the number of rows of the matrices.
func (c cartan) Dim() int { return c.dim }

// Motion is the matrix and the shift.
func (c cartan) Motion(g Element) (a, t []float64) {
	k, p, u := c.split(g)
	t = make([]float64, c.dim)
	copy(t, u)
	return c.matrix(k, p).v, t
}

// Sample draws the compact part from its Haar measure and the other coordinates uniformly from the window, factors
// log-uniformly.
func (c cartan) Sample(r *rand.Rand) Element {
	q, err := ballCube(c, nil, c.most())
	if err != nil {
		panic("group: " + err.Error())
	}
	u := make([]float64, len(q.start))
	for i := range u {
		u[i] = r.Float64()
	}
	e, _ := q.at(u)
	return c.canon(e)
}

// Generators are those of the compact part, of the symmetric matrices and of the shifts.
func (c cartan) Generators() []Generator {
	var out []Generator
	axes := func(name, unit string) {
		for _, x := range []string{"x", "y", "z"} {
			out = append(out, Generator{Name: name + x, Unit: unit})
		}
	}
	switch c.kind {
	case kPlane:
		out = append(out, Generator{Name: "rotation", Unit: "rad"})
	case kSpace:
		axes("rotation ", "rad")
	case kSpin, kUnitary: // a full turn of space is half of one here
		axes("spin ", "")
	}
	if c.kind == kUnitary {
		out = append(out, Generator{Name: "phase", Unit: "rad"})
	}
	for _, b := range c.basis {
		g := Generator{Name: b.name}
		if b.factor() {
			g.Unit = "log-factor"
		}
		out = append(out, g)
	}
	if c.shift {
		axes("shift ", "length")
	}
	return out
}

// Exp is the exponential of the sum of the generators. See [Unreached] for what it does not reach.
func (c cartan) Exp(t []float64) Element {
	n := c.compactAxes()
	k := make(Element, n)
	for i := range k {
		k[i] = degrees(t[i])
	}
	p, u := t[n:n+len(c.basis)], t[n+len(c.basis):]
	if zero(p) && zero(u) {
		var s []float64
		if c.shift {
			s = make([]float64, 3)
		}
		return c.join(c.canonK(k), make([]float64, len(p)), s)
	}
	// The algebra of the compact part, by differentiating: k is linear in its matrix at the identity.
	x := c.symmetric(p).add(c.tangent(t[:n]), 1)
	if !c.shift {
		kk, pp := c.decompose(x.exp())
		return c.join(kk, pp, nil)
	}
	h := newSquare(c.dim + 1)
	for i := range c.dim {
		copy(h.v[i*(c.dim+1):], x.v[i*c.dim:(i+1)*c.dim])
		h.v[i*(c.dim+1)+c.dim] = u[i]
	}
	e := h.exp()
	a, s := newSquare(c.dim), make([]float64, c.dim)
	for i := range c.dim {
		copy(a.v[i*c.dim:(i+1)*c.dim], e.v[i*(c.dim+1):])
		s[i] = e.v[i*(c.dim+1)+c.dim]
	}
	kk, pp := c.decompose(a)
	return c.join(kk, pp, s)
}

// tangent is the antisymmetric matrix of compact coefficients in radians: the derivative of matrixK.
func (c cartan) tangent(t []float64) square {
	m := newSquare(c.dim)
	// Quarter turns are exact: exp(tX) at 90 degrees is X for spins at 180, and X on the turned plane for rotations.
	switch c.kind {
	case kPlane:
		m.v[1], m.v[2] = t[0], -t[0]
	case kSpace:
		for i := range 3 {
			j, k := c.at+(i+1)%3, c.at+(i+2)%3
			m.v[j*c.dim+k], m.v[k*c.dim+j] = -t[i], t[i]
		}
	case kSpin, kUnitary:
		for i := range 3 {
			var k Element
			k = append(k, 0, 0, 0)
			k[i] = 180
			if c.kind == kUnitary {
				k = append(k, 0)
			}
			m = m.add(c.matrixK(k), t[i]/2)
		}
		if c.kind == kUnitary {
			m = m.add(c.matrixK(Element{0, 0, 0, 90}), t[3])
		}
	}
	return m
}

func (c cartan) cube(window [][2]float64) (cube, error) { return ballCube(c, window, c.most()) }

func (c cartan) lattice(window [][2]float64) ([]Element, error) {
	if c.kind == kPlane {
		return boxLattice(c, window)
	}
	s, err := spans(c, window)
	if err != nil {
		return nil, err
	}
	var es []Element
	for _, v := range octahedralGroup() {
		e := c.Identity()
		copy(e, v)
		es = append(es, e)
	}
	return keepIn(es, s), nil
}

// presetMatrices is how many elements of low discrepancy a preset has.
const presetMatrices = 200

// preset is the identity, elements along each axis of the chart, and elements of low discrepancy.
func (c cartan) preset(window [][2]float64) ([]Element, string, error) {
	sp, err := spans(c, window)
	if err != nil {
		return nil, "", err
	}
	out := []Element{c.Identity()}
	for i, x := range sp {
		for _, u := range []float64{0, 0.25, 0.5, 0.75, 1} {
			e := c.Identity()
			e[i] = x.at(u)
			if x.holds(x.id) && c.holds(e) {
				out = append(out, c.canon(e))
			}
		}
	}
	out = keepIn(out, sp)
	low, err := LowDiscrepancy(c, presetMatrices, window)
	if err != nil {
		return nil, "", err
	}
	along := len(out)
	out = Dedup(c, append(out, low...), Tolerance)
	return out, fmt.Sprintf("%d elements along the axes of the chart and a low-discrepancy sample of %d: %s", along,
		presetMatrices, c.within(window)), nil
}

func (c cartan) grid() error { return nil }

func (c cartan) holds(e Element) bool {
	return c.most() == 0 || length(vec3(e[:3])) <= c.most()*(1+halfTurn)
}

func (c cartan) offsets() []bool {
	out := make([]bool, len(c.Identity()))
	for i := range out {
		out[i] = c.most() > 0 && i < 3
	}
	return out
}

// near turns after the compact part of at.
func (c cartan) near(at, e Element) Element {
	if c.most() == 0 {
		return canonical(c, e)
	}
	n := c.compactAxes()
	small := make(Element, n)
	copy(small, e[:3])
	k := append(Element(nil), at[:n]...)
	copy(k[3:], e[3:n])
	return c.canon(append(c.mulK(small, k), e[n:]...))
}

func (c cartan) within(window [][2]float64) string { return boxText(c, window) }

// planeCartan acts on pictures too.
type planeCartan struct{ cartan }

// Affine is the matrix; x points to the right and y down.
func (c planeCartan) Affine(g Element) (a [2][2]float64, t [2]float64) {
	m, _ := c.Motion(g)
	return mat2{{m[0], m[1]}, {m[2], m[3]}}, t
}

// spinCartan brings its representations.
type spinCartan struct{ cartan }

// Representations are spinor, 4 real numbers of which quaternions make one, and vector, the rotations of space.
func (spinCartan) Representations() map[string]int { return map[string]int{"spinor": 4, "vector": 3} }

// Matrix is the product with a quaternion from the left, or the rotation matrix.
func (c spinCartan) Matrix(name string, g Element) ([]float64, bool) {
	switch name {
	case "spinor":
		m, _ := c.Motion(g)
		return m, true
	case "vector":
		return flat3(matrix(turned(vec3(g[:3])))), true
	}
	return nil, false
}
