package catalog

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"nero/internal/elementary"
	"nero/symmetry/group"
	"nero/symmetry/matrix"
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
	kind *group.Kind
	m    matrix.Square
}

// factor says that the coordinate is e^x.
func (b symmetricBasis) factor() bool { return b.kind.Form == group.FormFactor }

func symmetric1(n int, name string, kind *group.Kind, entries ...float64) symmetricBasis {
	b := symmetricBasis{name: name, kind: kind, m: matrix.New(n)}
	for k := 0; k+2 < len(entries); k += 3 {
		i, j, x := int(entries[k]), int(entries[k+1]), entries[k+2]
		b.m.V[i*n+j], b.m.V[j*n+i] = x, x
	}
	return b
}

const notExp = "exp of the Lie algebra does not reach all of %s: %s is out of its reach. Samples and plans go " +
	"through k·exp(p), which reaches every element"

// GLPlus is GL+(n), the group of all matrices of positive determinant, for n = 2 and 3: rotations, magnifications and
// stretches. The chart is the rotation, then factors: scale, stretch (one direction by the factor, another by its
// reciprocal), hyperbolic (as stretch, along the diagonals). The element stretches first, all factors at once, then
// turns.
func GLPlus(n int) (group.Group, error) { return linear("GL+", n, true, false) }

// SL is SL(n), the group of all matrices of determinant 1, for n = 2 and 3, in the chart of [GLPlus] without scale.
func SL(n int) (group.Group, error) { return linear("SL", n, false, false) }

// Affine3 is the group of the maps p -> A·p + t of space with positive determinant of A, in the chart of GL+(3) and tx,
// ty, tz.
func Affine3() group.Group {
	g, err := linear("Affine", 3, true, true)
	if err != nil {
		panic("group: " + err.Error())
	}
	return g
}

func linear(head string, n int, scales, shift bool) (group.Group, error) {
	c := cartan{name: fmt.Sprintf("%s(%d)", head, n), dim: n, shift: shift}
	switch n {
	case 2:
		c.kind = kPlane
		c.basis = []symmetricBasis{
			symmetric1(2, "stretch", group.KindFactor, 0, 0, 1, 1, 1, -1),
			symmetric1(2, "hyperbolic", group.KindFactor, 0, 1, 1),
		}
	case 3:
		c.kind = kSpace
		c.basis = []symmetricBasis{
			symmetric1(3, "stretch xy", group.KindFactor, 0, 0, 1, 1, 1, -1),
			symmetric1(3, "stretch z", group.KindFactor, 0, 0, -0.5, 1, 1, -0.5, 2, 2, 1),
			symmetric1(3, "hyperbolic xy", group.KindFactor, 0, 1, 1),
			symmetric1(3, "hyperbolic xz", group.KindFactor, 0, 2, 1),
			symmetric1(3, "hyperbolic yz", group.KindFactor, 1, 2, 1),
		}
	default:
		return nil, fmt.Errorf("%s(%d): expected 2 or 3 dimensions", head, n)
	}
	if scales {
		s := symmetric1(n, "scale", group.KindScale)
		s.m = matrix.Eye(n)
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
func Lorentz() group.Group {
	c := cartan{name: "Lorentz", dim: 4, kind: kSpace, at: 1}
	for i, x := range []string{"bx", "by", "bz"} {
		c.basis = append(c.basis, symmetric1(4, x, group.KindBoost, 0, float64(i+1), 1))
	}
	return c
}

// Symplectic is Sp(2n), the group of the real matrices that keep Jᵀ..J, the form Ω = [[0, I], [-I, 0]] of n places and
// n momenta, for 2n = 2 and 4. The chart of Sp(2) is an angle and factors as in SL(2); that of Sp(4) a unitary matrix,
// as rx, ry, rz and a phase, and the entries s11, s12, s22, t11, t12, t22 of p = [[s, t], [t, -s]].
func Symplectic(n int) (group.Group, error) {
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
			c.basis = append(c.basis, symmetric1(4, "s"+x, group.KindNumber, a, b, 1, a+2, b+2, -1))
		}
		for i, x := range []string{"11", "12", "22"} {
			a, b := float64(i/2), float64((i+1)/2)
			if a == b {
				c.basis = append(c.basis, symmetric1(4, "t"+x, group.KindNumber, a, b+2, 1))
			} else {
				c.basis = append(c.basis, symmetric1(4, "t"+x, group.KindNumber, a, b+2, 1, b, a+2, 1))
			}
		}
		return c, nil
	}
	return nil, fmt.Errorf("Sp(%d): expected 2 or 4 dimensions", n)
}

// SU2 is SU(2), the unit quaternions, which turn space twice over: rx, ry, rz is a rotation vector of up to 360
// degrees. They act on R⁴ by the product of quaternions from the left; the representation "vector" is the rotation of
// space.
func SU2() group.Group { return spinCartan{cartan{name: "SU(2)", dim: 4, kind: kSpin}} }

// Unreached names a matrix that is no exponential.
func (c cartan) Unreached() string { return c.why }

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
func (c cartan) Chart() []group.Axis {
	var out []group.Axis
	if c.kind == kPlane {
		out = append(out, group.Axis{
			Name: "angle", Unit: "deg", Kind: group.KindTurn, Min: 0, Max: 360,
			Periodic: true,
		})
	} else {
		out = append(out, vectorAxes(c.most())...)
	}
	if c.kind == kUnitary {
		out = append(out, group.Axis{Name: "phase", Unit: "deg", Kind: group.KindPhase, Min: -90, Max: 90})
	}
	inf := math.Inf(1)
	for _, b := range c.basis {
		if b.factor() {
			out = append(out, group.Axis{Name: b.name, Unit: "factor", Kind: b.kind, Min: 0, Max: inf})
		} else {
			out = append(out, group.Axis{Name: b.name, Kind: b.kind, Min: -inf, Max: inf})
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
	w := group.DefaultWindow(c.Chart())
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
func (c cartan) Identity() group.Element {
	e := make(group.Element, c.compactAxes(), c.compactAxes()+len(c.basis)+3)
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
func (c cartan) split(g group.Element) (k group.Element, p, t []float64) {
	n := c.compactAxes()
	k, g = g[:n:n], g[n:]
	p = make([]float64, len(c.basis))
	for i, b := range c.basis {
		p[i] = g[i]
		if b.factor() {
			p[i] = elementary.Log(g[i])
		}
	}
	return k, p, g[len(c.basis):]
}

func (c cartan) join(k group.Element, p, t []float64) group.Element {
	g := append(make(group.Element, 0, len(k)+len(p)+len(t)), k...)
	for i, b := range c.basis {
		if b.factor() {
			g = append(g, elementary.Exp(p[i]))
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
func (c cartan) canonK(k group.Element) group.Element {
	switch c.kind {
	case kPlane:
		return group.Element{group.Wrap(k[0], 0, 360)}
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
		w := group.Wrap(phase, -90, 180)
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
func (c cartan) mulK(a, b group.Element) group.Element {
	switch c.kind {
	case kPlane:
		return c.canonK(group.Element{a[0] + b[0]})
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

func (c cartan) invK(a group.Element) group.Element {
	out := make(group.Element, len(a))
	for i, x := range a {
		out[i] = -x
	}
	return c.canonK(out)
}

// times is the product of two complex numbers, each of its four products rounded: Go's own may leave that out.
func times(a, b complex128) complex128 {
	return complex(float64(real(a)*real(b))-float64(imag(a)*imag(b)), float64(real(a)*imag(b))+float64(imag(a)*real(b)))
}

// unitary is the quaternion times e^{iφ} as the complex 2×2 matrix (w - iz, -y - ix; y - ix, w + iz).
func unitary(k group.Element) [2][2]complex128 {
	q := toQuat(vec3(k[:3]))
	s, c := group.SinCos(k[3])
	f := complex(c, s)
	return [2][2]complex128{
		{times(f, complex(q[0], -q[3])), times(f, complex(-q[2], -q[1]))},
		{times(f, complex(q[2], -q[1])), times(f, complex(q[0], q[3]))},
	}
}

// matrixK is the compact part as a matrix.
func (c cartan) matrixK(k group.Element) matrix.Square {
	m := matrix.Eye(c.dim)
	switch c.kind {
	case kPlane: // as in pictures, whose y points down
		s, cos := group.SinCos(k[0])
		m.V = []float64{cos, s, -s + 0, cos}
	case kSpace:
		r := rotation(vec3(k[:3]))
		for i := range 3 {
			for j := range 3 {
				m.V[(c.at+i)*c.dim+c.at+j] = r[i][j]
			}
		}
	case kSpin:
		w, x, y, z := 0., 0., 0., 0.
		q := toQuat(vec3(k[:3]))
		w, x, y, z = q[0], q[1], q[2], q[3]
		m.V = []float64{
			w, -x, -y, -z,
			x, w, -z, y,
			y, z, w, -x,
			z, -y, x, w,
		}
	case kUnitary:
		u := unitary(k)
		for i := range 2 {
			for j := range 2 {
				m.V[i*4+j], m.V[(i+2)*4+j+2] = real(u[i][j]), real(u[i][j])
				m.V[i*4+j+2], m.V[(i+2)*4+j] = -imag(u[i][j]), imag(u[i][j])
			}
		}
	}
	for i := range m.V {
		m.V[i] += 0
	}
	return m
}

// fromK reads the compact coordinates of an orthogonal matrix.
func (c cartan) fromK(m matrix.Square) group.Element {
	switch c.kind {
	case kPlane:
		return c.canonK(group.Element{group.Degrees(elementary.Atan2(m.V[1]-m.V[2], m.V[0]+m.V[3]))})
	case kSpace:
		var r mat3
		for i := range 3 {
			for j := range 3 {
				r[i][j] = m.V[(c.at+i)*c.dim+c.at+j]
			}
		}
		v := toVec(fromMatrix(r))
		return v[:]
	case kSpin:
		v := toSpin(quat{m.V[0], m.V[4], m.V[8], m.V[12]})
		return v[:]
	case kUnitary:
	}
	var u [2][2]complex128
	for i := range 2 {
		for j := range 2 {
			u[i][j] = complex(m.V[i*4+j], m.V[(i+2)*4+j])
		}
	}
	det := times(u[0][0], u[1][1]) - times(u[0][1], u[1][0])
	phase := group.Degrees(elementary.Atan2(imag(det), real(det))) / 2
	s, cos := group.SinCos(phase)
	f := complex(cos, -s)
	// The mean of the entries that agree in SU(2).
	a := (times(f, u[0][0]) + conj(times(f, u[1][1]))) / 2
	b := (times(f, u[1][0]) - conj(times(f, u[0][1]))) / 2
	v := toSpin(quat{real(a), -imag(b), real(b), -imag(a)})
	return c.canonK(append(v[:], phase))
}

func conj(z complex128) complex128 { return complex(real(z), -imag(z)) }

// symmetric is the matrix p.
func (c cartan) symmetric(p []float64) matrix.Square {
	m := matrix.New(c.dim)
	for i, b := range c.basis {
		m = m.Add(b.m, p[i])
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
func (c cartan) matrix(k group.Element, p []float64) matrix.Square {
	m := c.matrixK(k)
	if zero(p) {
		return m
	}
	return m.Mul(c.symmetric(p).Function(elementary.Exp))
}

// decompose is the inverse of matrix.
func (c cartan) decompose(m matrix.Square) (group.Element, []float64) {
	p := make([]float64, len(c.basis))
	if !m.Finite() {
		k := make(group.Element, c.compactAxes())
		for i := range k {
			k[i] = math.NaN()
		}
		return k, p
	}
	if len(p) == 0 {
		return c.fromK(m), p
	}
	half := m.Transpose().Mul(m).Function(func(x float64) float64 { return elementary.Log(x) / 2 })
	for i, b := range c.basis {
		p[i] = half.Dot(b.m) / b.m.Dot(b.m)
		if math.Abs(p[i]) < 4e-15 { // rounding of what is orthogonal
			p[i] = 0
		}
	}
	back := matrix.New(c.dim).Add(c.symmetric(p), -1).Function(elementary.Exp)
	return c.fromK(m.Mul(back)), p
}

func (c cartan) isIdentity(g group.Element) bool {
	for i, x := range c.Identity() {
		if g[i] != x {
			return false
		}
	}
	return true
}

func (c cartan) canon(g group.Element) group.Element {
	n := c.compactAxes()
	out := append(c.canonK(g[:n]), g[n:]...)
	for i := range out {
		out[i] += 0
	}
	return out
}

// Mul is the product of the matrices, decomposed again; products of rotations do not leave the compact part.
func (c cartan) Mul(g, h group.Element) group.Element {
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
		t = c.matrix(gk, gp).Apply(ht)
		for i := range t {
			t[i] += gt[i]
		}
	}
	if zero(gp) {
		return c.join(c.mulK(gk, hk), hp, t)
	}
	k, p := c.decompose(c.matrix(gk, gp).Mul(c.matrix(hk, hp)))
	return c.join(k, p, t)
}

// Inv is exp(-p)·k⁻¹, decomposed again.
func (c cartan) Inv(g group.Element) group.Element {
	k, p, t := c.split(g)
	minus := make([]float64, len(p))
	for i, x := range p {
		minus[i] = -x
	}
	back := c.invK(k)
	var m matrix.Square
	if zero(p) {
		m = c.matrixK(back)
	} else {
		m = c.symmetric(minus).Function(elementary.Exp).Mul(c.matrixK(back))
		back, minus = c.decompose(m)
	}
	if c.shift {
		t = m.Apply(t)
		for i := range t {
			t[i] = -t[i]
		}
	}
	return c.join(back, minus, t)
}

// Dist is the Frobenius norm of the difference of the matrices, with the shifts as one more column. It is a metric, but
// moves with neither side.
func (c cartan) Dist(g, h group.Element) float64 {
	gk, gp, gt := c.split(g)
	hk, hp, ht := c.split(h)
	d := c.matrix(gk, gp).Add(c.matrix(hk, hp), -1).Norm()
	for i := range gt {
		d = elementary.Hypot(d, gt[i]-ht[i])
	}
	return d
}

// Dim is the number of rows of the matrices.
func (c cartan) Dim() int { return c.dim }

// Motion is the matrix and the shift.
func (c cartan) Motion(g group.Element) (a, t []float64) {
	k, p, u := c.split(g)
	t = make([]float64, c.dim)
	copy(t, u)
	return c.matrix(k, p).V, t
}

// Sample draws the compact part from its Haar measure and the other coordinates uniformly from the window, factors
// log-uniformly.
func (c cartan) Sample(r *rand.Rand) group.Element {
	q, err := ballCube(c, nil, c.most())
	if err != nil {
		panic("group: " + err.Error())
	}
	u := make([]float64, len(q.Start))
	for i := range u {
		u[i] = r.Float64()
	}
	e, _ := q.At(u)
	return c.canon(e)
}

// Generators are those of the compact part, of the symmetric matrices and of the shifts.
func (c cartan) Generators() []group.Generator {
	var out []group.Generator
	axes := func(name, unit string) {
		for _, x := range []string{"x", "y", "z"} {
			out = append(out, group.Generator{Name: name + x, Unit: unit})
		}
	}
	switch c.kind {
	case kPlane:
		out = append(out, group.Generator{Name: "rotation", Unit: "rad"})
	case kSpace:
		axes("rotation ", "rad")
	case kSpin, kUnitary: // a full turn of space is half of one here
		axes("spin ", "")
	}
	if c.kind == kUnitary {
		out = append(out, group.Generator{Name: "phase", Unit: "rad"})
	}
	for _, b := range c.basis {
		g := group.Generator{Name: b.name}
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

// Exp is the exponential of the sum of the generators. See [group.Unreached] for what it does not reach.
func (c cartan) Exp(t []float64) group.Element {
	n := c.compactAxes()
	k := make(group.Element, n)
	for i := range k {
		k[i] = group.Degrees(t[i])
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
	x := c.symmetric(p).Add(c.tangent(t[:n]), 1)
	if !c.shift {
		kk, pp := c.decompose(x.Exp())
		return c.join(kk, pp, nil)
	}
	h := matrix.New(c.dim + 1)
	for i := range c.dim {
		copy(h.V[i*(c.dim+1):], x.V[i*c.dim:(i+1)*c.dim])
		h.V[i*(c.dim+1)+c.dim] = u[i]
	}
	e := h.Exp()
	a, s := matrix.New(c.dim), make([]float64, c.dim)
	for i := range c.dim {
		copy(a.V[i*c.dim:(i+1)*c.dim], e.V[i*(c.dim+1):])
		s[i] = e.V[i*(c.dim+1)+c.dim]
	}
	kk, pp := c.decompose(a)
	return c.join(kk, pp, s)
}

// tangent is the antisymmetric matrix of compact coefficients in radians: the derivative of matrixK.
func (c cartan) tangent(t []float64) matrix.Square {
	m := matrix.New(c.dim)
	// Quarter turns are exact: exp(tX) at 90 degrees is X for spins at 180, and X on the turned plane for rotations.
	switch c.kind {
	case kPlane:
		m.V[1], m.V[2] = t[0], -t[0]
	case kSpace:
		for i := range 3 {
			j, k := c.at+(i+1)%3, c.at+(i+2)%3
			m.V[j*c.dim+k], m.V[k*c.dim+j] = -t[i], t[i]
		}
	case kSpin, kUnitary:
		for i := range 3 {
			var k group.Element
			k = append(k, 0, 0, 0)
			k[i] = 180
			if c.kind == kUnitary {
				k = append(k, 0)
			}
			m = m.Add(c.matrixK(k), t[i]/2)
		}
		if c.kind == kUnitary {
			m = m.Add(c.matrixK(group.Element{0, 0, 0, 90}), t[3])
		}
	}
	return m
}

// Cube maps uniform numbers to elements, evenly.
func (c cartan) Cube(window [][2]float64) (group.Cube, error) { return ballCube(c, window, c.most()) }

// Lattice is what can act without resampling.
func (c cartan) Lattice(window [][2]float64) ([]group.Element, error) {
	if c.kind == kPlane {
		return group.BoxLattice(c, window)
	}
	s, err := group.Spans(c, window)
	if err != nil {
		return nil, err
	}
	var es []group.Element
	for _, v := range octahedralGroup() {
		e := c.Identity()
		copy(e, v)
		es = append(es, e)
	}
	return group.KeepIn(es, s), nil
}

// presetMatrices is how many elements of low discrepancy a preset has.
const presetMatrices = 200

// Preset is the identity, elements along each axis of the chart, and elements of low discrepancy.
func (c cartan) Preset(window [][2]float64) ([]group.Element, string, error) {
	sp, err := group.Spans(c, window)
	if err != nil {
		return nil, "", err
	}
	out := []group.Element{c.Identity()}
	for i, x := range sp {
		for _, u := range []float64{0, 0.25, 0.5, 0.75, 1} {
			e := c.Identity()
			e[i] = x.At(u)
			if x.Holds(x.Identity) && c.Holds(e) {
				out = append(out, c.canon(e))
			}
		}
	}
	out = group.KeepIn(out, sp)
	low, err := group.LowDiscrepancy(c, presetMatrices, window)
	if err != nil {
		return nil, "", err
	}
	along := len(out)
	out = group.Dedup(c, append(out, low...), group.Tolerance)
	return out, fmt.Sprintf("%d elements along the axes of the chart and a low-discrepancy sample of %d: %s", along,
		presetMatrices, group.BoxText(c, window)), nil
}

// Holds reports whether the rotation vector is in its ball.
func (c cartan) Holds(e group.Element) bool {
	return c.most() == 0 || length(vec3(e[:3])) <= c.most()*(1+halfTurn)
}

// Offsets are the axes of the rotation vector.
func (c cartan) Offsets() []bool {
	out := make([]bool, len(c.Identity()))
	for i := range out {
		out[i] = c.most() > 0 && i < 3
	}
	return out
}

// Near turns after the compact part of at.
func (c cartan) Near(at, e group.Element) group.Element {
	if c.most() == 0 {
		return group.Canonical(c, e)
	}
	n := c.compactAxes()
	small := make(group.Element, n)
	copy(small, e[:3])
	k := append(group.Element(nil), at[:n]...)
	copy(k[3:], e[3:n])
	return c.canon(append(c.mulK(small, k), e[n:]...))
}

// planeCartan acts on pictures too.
type planeCartan struct{ cartan }

// Affine is the matrix; x points to the right and y down.
func (c planeCartan) Affine(g group.Element) (a [2][2]float64, t [2]float64) {
	m, _ := c.Motion(g)
	return mat2{{m[0], m[1]}, {m[2], m[3]}}, t
}

// spinCartan brings its representations.
type spinCartan struct{ cartan }

// Representations are spinor, 4 real numbers of which quaternions make one, and vector, the rotations of space.
func (spinCartan) Representations() map[string]int { return map[string]int{"spinor": 4, "vector": 3} }

// Matrix is the product with a quaternion from the left, or the rotation matrix.
func (c spinCartan) Matrix(name string, g group.Element) ([]float64, bool) {
	switch name {
	case "spinor":
		m, _ := c.Motion(g)
		return m, true
	case "vector":
		return flat3(rotation(turned(vec3(g[:3])))), true
	}
	return nil, false
}
