package catalog

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"nero/internal/elementary"
	"nero/symmetry/group"
)

// genKind describes a generator of affine maps by name.
type genKind struct {
	name, doc string
	// of the chart
	unit string
	kind *group.Kind
	// unit in the algebra
	alg     string
	l       algebra
	aliases []string
}

func genKinds() []genKind {
	return []genKind{
		{
			name: "rotate", unit: "deg", kind: group.KindArc, alg: "rad", l: algebra{rho: 1},
			doc:     "turn about the centre, counter-clockwise",
			aliases: []string{"rotation"},
		},
		{
			name: "scale", unit: "factor", kind: group.KindScale, alg: "log-factor", l: algebra{tau: 1},
			doc:     "magnify about the centre",
			aliases: []string{"scaling", "dilate", "zoom"},
		},
		{
			name: "stretch", unit: "factor", kind: group.KindFactor, alg: "log-factor", l: algebra{sigma: 1},
			doc: "x by the factor, y by its reciprocal", aliases: []string{"squeeze"},
		},
		{
			name: "hyperbolic", unit: "factor", kind: group.KindFactor, alg: "log-factor", l: algebra{eta: 1},
			doc: "as stretch, along the diagonals",
		},
		{
			name: "shear", unit: "", kind: group.KindNumber, alg: "", l: algebra{rho: 0.5, eta: 0.5}, doc: "x += t·y",
			aliases: []string{"shearx"},
		},
		{name: "shear y", unit: "", kind: group.KindNumber, alg: "", l: algebra{rho: -0.5, eta: 0.5}, doc: "y += t·x"},
		{
			name: "shift x", unit: "px", kind: group.KindDriftRight, alg: "px", l: algebra{v: vec2{1, 0}},
			doc:     "shift to the right",
			aliases: []string{"dx", "tx", "translatex"},
		},
		{
			name: "shift y", unit: "px", kind: group.KindDriftDown, alg: "px", l: algebra{v: vec2{0, 1}},
			doc:     "shift down",
			aliases: []string{"dy", "ty", "translatey"},
		},
	}
}

// affine is the set of the maps exp(Σ t_i X_i) for some of the generators.
type affine struct {
	name  string
	kinds []genKind
	// the generators commute: composition adds coordinates
	abelian bool
	// one of them is rotate
	turns bool
	// the algebra contains sl(2): exp does not reach all of the group
	full bool
	// rotations and scales only, besides shifts
	conf bool
	gram [][]float64
}

// ByGenerators is the group of affine maps exp(Σ t_i X_i) of the plane for generators X_i chosen by name, each at most
// once: rotate, scale, stretch, hyperbolic, shear, shear y, shift x, shift y. Its chart has one axis per generator, in
// the order given: degrees for rotate, factors e^t for scale, stretch and hyperbolic, a slope for the shears, pixels
// for the shifts.
//
// These are coordinates of the first kind: all generators act at once, so beside a rotation the coordinate "shift x" is
// a drift along an arc, not the shift of the result. Elements compose by matrix exponential and logarithm, or by adding
// coordinates, exactly, if all generators commute.
//
// The generators must be linearly independent and span a Lie algebra; the error names what is missing. If they span all
// matrices of trace 0, then exp does not reach the whole group: a product such as diag(-2, -1/2) has no real logarithm.
// [group.Group.Mul] then returns coordinates that are NaN. Products of elements near the identity always exist.
func ByGenerators(names ...string) (group.Group, error) {
	all := genKinds()
	if len(names) == 0 {
		return nil, fmt.Errorf("Affine() needs generators, some of %s", genNames(all))
	}
	var a affine
	var canon []string
	for _, n := range names {
		k, err := findGen(all, n)
		if err != nil {
			return nil, err
		}
		if slices.Contains(canon, k.name) {
			return nil, fmt.Errorf("generator %q is listed twice", k.name)
		}
		a.kinds, canon = append(a.kinds, k), append(canon, k.name)
	}
	a.name = "Affine(" + strings.Join(canon, ",") + ")"
	a.gram = invertGram(a.kinds)
	if a.gram == nil {
		return nil, fmt.Errorf(
			"%s: the generators are linearly dependent (shear is (hyperbolic + rotate)/2, shear y is (hyperbolic - "+
				"rotate)/2); leave one out", a.name)
	}
	if err := a.closed(all); err != nil {
		return nil, err
	}
	a.abelian, a.conf = true, true
	dims := 0
	for i, x := range a.kinds {
		a.turns = a.turns || x.name == "rotate"
		flat := x.l
		flat.tau, flat.v = 0, vec2{}
		if flat != (algebra{}) {
			dims++
		}
		if x.l.sigma != 0 || x.l.eta != 0 {
			a.conf = false
		}
		for _, y := range a.kinds[:i] {
			if bracket(x.l, y.l) != (algebra{}) {
				a.abelian = false
			}
		}
	}
	a.full = dims == 3 // the traceless parts of a closed set are of dimension 0, 1, 2 or all three
	return a, nil
}

func genNames(all []genKind) string {
	var s []string
	for _, k := range all {
		s = append(s, k.name)
	}
	return strings.Join(s, ", ")
}

func findGen(all []genKind, name string) (genKind, error) {
	key := squash(name)
	var known []string
	for _, k := range all {
		if squash(k.name) == key || slices.Contains(k.aliases, key) {
			return k, nil
		}
		known = append(known, k.name)
	}
	msg := fmt.Sprintf("unknown generator %q", name)
	if key == "shift" {
		return genKind{}, errors.New(msg + "; name the direction: shift x, shift y")
	}
	if near := nearest(key, known); near != "" {
		msg += fmt.Sprintf("; did you mean %q", near)
	}
	return genKind{}, fmt.Errorf("%s; the generators are %s", msg, genNames(all))
}

// vector is L as a vector in an orthonormal basis, ρ in radians.
func (l algebra) vector() [6]float64 {
	return [6]float64{l.turn(), l.tau, l.sigma, l.eta, l.v[0], l.v[1]}
}

// bracket is [X, Y] = XY - YX of the 3×3 matrices.
func bracket(x, y algebra) algebra {
	xr, yr := x.turn(), y.turn()
	// JS = -H, SJ = H, JH = S, HJ = -S, SH = J, HS = -J
	z := algebra{
		rho:   2 * (float64(x.sigma*y.eta) - float64(x.eta*y.sigma)),
		sigma: 2 * (float64(xr*y.eta) - float64(x.eta*yr)),
		eta:   2 * (float64(x.sigma*yr) - float64(xr*y.sigma)),
	}
	a, b := mulVec(x.linear(), y.v), mulVec(y.linear(), x.v)
	z.v = vec2{a[0] - b[0] + 0, a[1] - b[1] + 0}
	z.rho, z.sigma, z.eta = z.rho+0, z.sigma+0, z.eta+0
	return z
}

// coordinates of l in the span of the generators, by least squares.
func (a affine) solve(l algebra) []float64 {
	w := l.vector()
	rhs := make([]float64, len(a.kinds))
	for i, k := range a.kinds {
		for j, x := range k.l.vector() {
			rhs[i] += float64(x * w[j])
		}
	}
	t := make([]float64, len(rhs))
	for i := range t {
		for j, r := range rhs {
			if c := a.gram[i][j]; c != 0 {
				t[i] += float64(c * r)
			}
		}
	}
	return t
}

// combine is Σ t_i X_i for t in the units of the chart, with factors already as logarithms.
func (a affine) combine(t []float64) algebra {
	var l algebra
	for i, k := range a.kinds {
		if k.name == "rotate" {
			l.deg += t[i]
			continue
		}
		l.rho += float64(t[i] * k.l.rho)
		l.tau += float64(t[i] * k.l.tau)
		l.sigma += float64(t[i] * k.l.sigma)
		l.eta += float64(t[i] * k.l.eta)
		l.v[0] += float64(t[i] * k.l.v[0])
		l.v[1] += float64(t[i] * k.l.v[1])
	}
	return l
}

// closed refuses spans that are no Lie algebra, and says what would complete them.
func (a affine) closed(all []genKind) error {
	want := a
	want.kinds = slices.Clone(a.kinds)
	var added []string
	why := ""
	for {
		var out [6]float64
		for i, x := range want.kinds {
			for _, y := range want.kinds[:i] {
				z := bracket(y.l, x.l)
				rest := z.vector()
				for j, t := range want.solve(z) {
					for c, v := range want.kinds[j].l.vector() {
						rest[c] -= float64(t * v)
					}
				}
				if norm(rest) > 1e-9 {
					out = rest
					if why == "" {
						why = fmt.Sprintf("%s and %s do not commute, and their commutator is not in the span", y.name,
							x.name)
					}
				}
			}
		}
		if norm(out) == 0 {
			break
		}
		// The basis vectors are orthogonal, so the one with the largest share is missing.
		best, share := -1, 0.0
		for i, k := range all {
			if strings.HasPrefix(k.name, "shear") {
				continue
			}
			var s float64
			for c, v := range k.l.vector() {
				s += float64(v * out[c])
			}
			if math.Abs(s) > share {
				best, share = i, math.Abs(s)
			}
		}
		added = append(added, all[best].name)
		want.kinds = append(want.kinds, all[best])
		want.gram = invertGram(want.kinds)
	}
	if len(added) == 0 {
		return nil
	}
	var names []string
	for _, k := range want.kinds {
		names = append(names, k.name)
	}
	return fmt.Errorf("%s is not closed under composition: %s; add %s: Affine(%s)", a.name, why,
		strings.Join(added, ", "), strings.Join(names, ","))
}

func norm(v [6]float64) float64 {
	var s float64
	for _, x := range v {
		s += float64(x * x)
	}
	return math.Sqrt(s)
}

// invertGram is the inverse of the matrix of inner products by Gauss-Jordan elimination, nil if it is singular.
func invertGram(kinds []genKind) [][]float64 {
	n := len(kinds)
	m := make([][]float64, n)
	for i := range m {
		m[i] = make([]float64, 2*n)
		m[i][n+i] = 1
		x := kinds[i].l.vector()
		for j := range n {
			y := kinds[j].l.vector()
			for c := range x {
				m[i][j] += float64(x[c] * y[c])
			}
		}
	}
	for i := range n {
		p := i
		for r := i + 1; r < n; r++ {
			if math.Abs(m[r][i]) > math.Abs(m[p][i]) {
				p = r
			}
		}
		if math.Abs(m[p][i]) < 1e-9 {
			return nil
		}
		m[i], m[p] = m[p], m[i]
		for j, d := 0, m[i][i]; j < 2*n; j++ {
			m[i][j] /= d
		}
		for r := range n {
			if f := m[r][i]; r != i && f != 0 {
				for j := range 2 * n {
					m[r][j] -= float64(f * m[i][j])
				}
			}
		}
	}
	for i := range m {
		m[i] = m[i][n:]
	}
	return m
}

// Name is Affine(...) with the names of the generators.
func (a affine) Name() string { return a.name }

// Chart has one axis per generator.
func (a affine) Chart() []group.Axis {
	c := make([]group.Axis, len(a.kinds))
	for i, k := range a.kinds {
		c[i] = group.Axis{Name: k.name, Unit: k.unit, Kind: k.kind, Min: math.Inf(-1), Max: math.Inf(1)}
		switch {
		case k.unit == "factor":
			c[i].Min = 0
		case k.name == "rotate" && !a.full:
			// Only where everything commutes does a full turn lead back to the same element whatever the other
			// coordinates.
			c[i].Min, c[i].Max, c[i].Periodic = -180, 180, a.abelian
			if a.abelian {
				c[i].Kind = group.KindRotate
			}
		}
	}
	return c
}

// Window is the range of coordinates that [group.Sampler] and the plans use if none is given: half a turn each way,
// factors 0.5 to 2, ±0.5 in slope, ±4 px; where exp does not reach the whole group ±30 degrees, factors 0.8 to 1.25 and
// ±0.25, so that products of three elements exist.
func (a affine) Window() [][2]float64 {
	w := group.DefaultWindow(a.Chart())
	for i, k := range a.kinds {
		switch {
		case !a.full:
		case k.name == "rotate":
			w[i] = [2]float64{-30, 30}
		case k.unit == "factor":
			w[i] = [2]float64{0.8, 1.25}
		case k.unit == "":
			w[i] = [2]float64{-0.25, 0.25}
		}
	}
	return w
}

// Whole reports whether exp reaches every element of the group that the generators span.
func (a affine) Whole() bool { return !a.full }

// Identity is 0 degrees, factors 1, no shift.
func (a affine) Identity() group.Element {
	e := make(group.Element, len(a.kinds))
	for i, k := range a.kinds {
		if k.unit == "factor" {
			e[i] = 1
		}
	}
	return e
}

func (a affine) isIdentity(g group.Element) bool {
	for i, k := range a.kinds {
		if !(g[i] == 0 || k.unit == "factor" && g[i] == 1) {
			return false
		}
	}
	return true
}

func (a affine) logs(g group.Element) []float64 {
	t := make([]float64, len(g))
	for i, k := range a.kinds {
		t[i] = g[i]
		if k.unit == "factor" {
			t[i] = elementary.Log(g[i])
		}
	}
	return t
}

// canon returns g itself where the logarithm of its map is g again; else that logarithm.
func (a affine) canon(g group.Element) group.Element {
	l := a.combine(a.logs(g))
	if a.abelian {
		return a.fold(slices.Clone(g))
	}
	r := group.Radians(180)
	if a.full && l.delta() >= -r*r || !a.full && (!a.turns || math.Abs(l.deg) <= 180) {
		return slices.Clone(g)
	}
	return a.fromMap(expPlane(l))
}

func (a affine) fold(g group.Element) group.Element {
	for i, k := range a.kinds {
		if k.name == "rotate" {
			g[i] = group.Wrap(g[i], -180, 360)
		} else {
			g[i] += 0
		}
	}
	return g
}

func (a affine) fromMap(m mat2, b vec2) group.Element {
	l, ok := logPlane(m, b, a.conf)
	g := make(group.Element, len(a.kinds))
	if !ok {
		for i := range g {
			g[i] = math.NaN()
		}
		return g
	}
	for i, t := range a.solve(l) {
		switch k := a.kinds[i]; {
		case k.name == "rotate" && a.conf:
			g[i] = l.deg // not through radians and back
		case k.name == "rotate":
			g[i] = group.Degrees(t)
		case k.unit == "factor":
			g[i] = elementary.Exp(t)
		default:
			g[i] = t + 0
		}
	}
	return g
}

// Mul adds coordinates (multiplies factors) where the generators commute; else it is the logarithm of the product, NaN
// where there is none.
func (a affine) Mul(g, h group.Element) group.Element {
	switch {
	case a.isIdentity(g):
		return a.canon(h)
	case a.isIdentity(h):
		return a.canon(g)
	case a.abelian:
		p := make(group.Element, len(g))
		for i, k := range a.kinds {
			if k.unit == "factor" {
				p[i] = g[i] * h[i]
			} else {
				p[i] = g[i] + h[i]
			}
		}
		return a.fold(p)
	}
	m, b := a.Affine(g)
	n, c := a.Affine(h)
	return a.fromMap(group.After(m, b, n, c))
}

// Inv negates coordinates and inverts factors.
func (a affine) Inv(g group.Element) group.Element {
	p := make(group.Element, len(g))
	for i, k := range a.kinds {
		if k.unit == "factor" {
			p[i] = 1 / g[i]
		} else {
			p[i] = -g[i] + 0
		}
	}
	return a.canon(p)
}

// Dist is the Frobenius norm of the difference of the 3×3 matrices. It is a metric, but moves with neither side.
func (a affine) Dist(g, h group.Element) float64 {
	m, b := a.Affine(g)
	n, c := a.Affine(h)
	s := float64((b[0]-c[0])*(b[0]-c[0])) + float64((b[1]-c[1])*(b[1]-c[1]))
	for i := range 2 {
		for j := range 2 {
			s += float64((m[i][j] - n[i][j]) * (m[i][j] - n[i][j]))
		}
	}
	return math.Sqrt(s)
}

// Affine is the exponential of the matrix.
func (a affine) Affine(g group.Element) (m [2][2]float64, t [2]float64) {
	return expPlane(a.combine(a.logs(g)))
}

// Sample draws uniformly from the window, factors log-uniformly. Where the generators do not commute this is uniform in
// the chart, not in a Haar measure.
func (a affine) Sample(r *rand.Rand) group.Element { return group.Draw(a, group.Window(a), r) }

// Generators are those the group was made from.
func (a affine) Generators() []group.Generator {
	g := make([]group.Generator, len(a.kinds))
	for i, k := range a.kinds {
		g[i] = group.Generator{Name: k.name, Unit: k.alg}
	}
	return g
}

// Exp is the element exp(Σ t_i X_i), in canonical coordinates.
func (a affine) Exp(t []float64) group.Element {
	g := make(group.Element, len(t))
	for i, k := range a.kinds {
		switch k.unit {
		case "factor":
			g[i] = elementary.Exp(t[i])
		case "deg":
			g[i] = group.Degrees(t[i])
		default:
			g[i] = t[i] + 0
		}
	}
	return a.canon(g)
}

// Unreached says what exp of all matrices of trace 0 leaves out.
func (a affine) Unreached() string {
	if a.full {
		return "exp does not reach all of " + a.name +
			": a matrix with two different negative eigenvalues has no coordinates"
	}
	return ""
}
