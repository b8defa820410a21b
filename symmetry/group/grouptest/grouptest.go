// Package grouptest is the test kit of package group: the laws that every group keeps, as properties.
//
// [Check] tries them on random elements and fails a test; [Laws] and [Verify] give the same laws as plain errors, for
// groups that are loaded while a program runs and refused until the axioms pass.
package grouptest

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"

	"nero/internal/elementary"
	"nero/symmetry/group"
)

// Law is one statement about three elements of a group.
type Law struct {
	Name string
	Doc  string
	// Holds returns nil if the law holds for the elements, else what was found and what was expected.
	Holds func(g group.Group, a, b, c group.Element) error
}

// relative is the rounding allowed in coordinates and distances, for values of order one; it grows with their size.
const relative = 1e-9

// Laws are the laws of elements. Those of optional interfaces hold by default for groups that lack them.
func Laws() []Law {
	return []Law{
		{"closure", "products and inverses have one finite coordinate per axis, within the chart", closure},
		{"identity", "e·a = a = a·e", identity},
		{"inverse", "a·a⁻¹ = e = a⁻¹·a", inverse},
		{"associativity", "(ab)c = a(bc)", associativity},
		{"metric", "Dist is 0 on equal elements and only there, symmetric, and keeps the triangle inequality", metric},
		{"invariance", "Dist is kept by the translations that the group declares", invariance},
		{"canonical", "composing with e changes no coordinate of an element that is in the canonical range", canonical},
		{"purity", "no method changes its arguments, and results share no memory with them or each other", purity},
		{
			"planar",
			"Affine(ab) is Affine(a) after Affine(b), Affine(e) the identity, lattice maps have exact entries",
			planar,
		},
		{
			"spatial",
			"Motion(ab) is Motion(a) after Motion(b), Motion(e) the identity, lattice maps have exact entries",
			spatial,
		},
		{"permuting", "Permutation(ab) is Permutation(a) after Permutation(b); with fewer rows identities and " +
			"inverses stay", permuting},
		{"shifting", "Shift(ab) is Shift(a) + Shift(b), up to the period; what reverses time turns the second shift " +
			"around", shifting},
		{
			"flowing", "At(ab, t) is At(a, t)·At(b, t), At(a, s+t) is At(a, s)·At(a, t), and At(a, 0) the identity",
			flowing,
		},
		{"coloring", "Color(ab) is Color(a) after Color(b), and Color(e) changes nothing", coloring},
		{
			"represented", "Matrix(ab) is Matrix(a)·Matrix(b), and Matrix(e) the identity, for every representation",
			represented,
		},
		{"temporal", "Reverses(ab) is Reverses(a) or Reverses(b) but not both", temporal},
	}
}

// Check tries every law on random elements, with small and special ones first, and the parts of the group that need
// more than three elements: its list, its sampler, its exponential map. A failure is reported with the elements.
func Check(tb testing.TB, g group.Group) {
	tb.Helper()
	gen, laws := elements(g), Laws()
	rapid.Check(tb, func(r *rapid.T) {
		a, b, c := gen.Draw(r, "a"), gen.Draw(r, "b"), gen.Draw(r, "c")
		for _, law := range laws {
			if err := law.Holds(g, a, b, c); err != nil {
				r.Fatalf("%s: %s: a = %v, b = %v, c = %v: %v", g.Name(), law.Name, a, b, c, err)
			}
		}
	})
	if tb.Failed() {
		return
	}
	for _, part := range parts() {
		if err := part(g); err != nil {
			tb.Errorf("%s: %v", g.Name(), err)
		}
	}
}

func parts() []func(group.Group) error {
	return []func(group.Group) error{Chart, Finite, Sampler, Lie}
}

// Verify tries every law on n random triples and the group's parts. It returns the first failure of each law.
func Verify(g group.Group, n int, r *rand.Rand) error {
	var errs []error
	gen := elements(g)
	for _, law := range Laws() {
		for range n {
			seed := int(r.Uint64() >> 33)
			a, b, c := gen.Example(seed), gen.Example(seed+1), gen.Example(seed+2)
			if err := law.Holds(g, a, b, c); err != nil {
				errs = append(errs, fmt.Errorf("%s: %s: a = %v, b = %v, c = %v: %w", g.Name(), law.Name, a, b, c, err))
				break
			}
		}
	}
	for _, part := range parts() {
		if err := part(g); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", g.Name(), err))
		}
	}
	return errors.Join(errs...)
}

// elements generates canonical elements: of the list of a finite group; else by coordinates in the window, with whole,
// half and end values often.
func elements(g group.Group) *rapid.Generator[group.Element] {
	if f, ok := g.(group.Finite); ok {
		if all := f.Elements(); len(all) > 0 {
			return rapid.SampledFrom(all)
		}
	}
	if f, ok := g.(group.Factored); ok {
		var gens []*rapid.Generator[group.Element]
		for _, part := range f.Factors() {
			gens = append(gens, elements(part))
		}
		return rapid.Custom(func(r *rapid.T) group.Element {
			var e group.Element
			for i, gen := range gens {
				e = append(e, gen.Draw(r, fmt.Sprintf("factor %d", i+1))...)
			}
			return e
		})
	}
	if p, ok := g.(group.Permuting); ok { // without a list: too many
		all := make([]float64, p.Rows())
		for i := range all {
			all[i] = float64(i)
		}
		return rapid.Custom(func(r *rapid.T) group.Element { return rapid.Permutation(all).Draw(r, "places") })
	}
	chart, window := g.Chart(), group.Window(g)
	st := group.Steps(g)
	ball := vectors(g) // the box of coordinates is larger than the chart
	return rapid.Custom(func(r *rapid.T) group.Element {
		if ball && rapid.IntRange(0, 3).Draw(r, "near an end") == 0 {
			return g.Mul(g.Identity(), nearEnd(r, g))
		}
		if ball && rapid.Bool().Draw(r, "about one axis") {
			e := g.Identity()
			k := rapid.IntRange(0, len(e)-1).Draw(r, "axis")
			lo, hi := window[k][0], window[k][1]
			e[k] = rapid.Float64Range(lo, hi).Draw(r, chart[k].Name)
			switch {
			case chart[k].Form() == group.FormAngle:
				e[k] = rapid.SampledFrom([]float64{-90, 15, 60, 90, 180, e[k]}).Draw(r, "angle")
			case st[k] > 0:
				e[k] = math.Round(e[k])
			}
			return g.Mul(g.Identity(), e)
		}
		e := make(group.Element, len(chart))
		for i, a := range chart {
			lo, hi := window[i][0], window[i][1]
			step := st[i]
			if step == 0 && rapid.Bool().Draw(r, "special") {
				switch a.Form() { //nolint:exhaustive // the others have no special values
				case group.FormAngle:
					step = rapid.SampledFrom([]float64{5, 30, 45, 90}).Draw(r, "step")
				case group.FormPixels:
					step = rapid.SampledFrom([]float64{0.5, 1}).Draw(r, "step")
				case group.FormFactor:
					e[i] = rapid.SampledFrom([]float64{lo, 1, hi}).Draw(r, a.Name)
					continue
				}
			}
			if step == 0 && rapid.IntRange(0, 7).Draw(r, "near") == 0 {
				e[i] = rapid.SampledFrom([]float64{lo, hi, g.Identity()[i]}).Draw(r, a.Name) + little(r)
				e[i] = math.Min(math.Max(e[i], lo), hi)
			} else if step > 0 {
				e[i] = step * float64(rapid.IntRange(int(math.Ceil(lo/step-1e-9)),
					int(math.Floor(hi/step+1e-9))).Draw(r, a.Name))
			} else {
				e[i] = rapid.Float64Range(lo, hi).Draw(r, a.Name)
			}
			if a.Periodic && e[i] >= a.Max {
				e[i] = a.Min
			}
			if a.Periodic && st[i] > 0 { // the exact step, not one that lost a bit on the way
				n := math.Round((a.Max - a.Min) / st[i])
				e[i] = math.Round(e[i]/st[i]) * (a.Max - a.Min) / n
			}
		}
		if ball {
			return g.Mul(g.Identity(), e)
		}
		return e
	})
}

// little is a small number of either sign: rounding, and what looks like it.
func little(r *rapid.T) float64 {
	x := rapid.Float64Range(1, 10).Draw(r, "digits") * math.Pow10(-rapid.IntRange(6, 14).Draw(r, "places"))
	if rapid.Bool().Draw(r, "negative") {
		return -x
	}
	return x
}

// nearEnd is an element whose rotation vector is about as long as the chart allows, or nearly 0, about an axis of
// coordinates or nearly so: where a vector has a choice of sign, two canonical forms may meet, and sums leave the ball.
func nearEnd(r *rapid.T, g group.Group) group.Element {
	chart, window := g.Chart(), group.Window(g)
	e := g.Identity()
	var axis [3]float64
	axis[rapid.IntRange(0, 2).Draw(r, "axis")] = rapid.SampledFrom([]float64{1, -1}).Draw(r, "sign")
	for i := range axis {
		switch rapid.IntRange(0, 5).Draw(r, "tilt") {
		case 0:
			axis[i] += little(r)
		case 1:
			axis[i] += rapid.SampledFrom([]float64{-1, 1}).Draw(r, "diagonal")
		}
	}
	size := math.Sqrt(float64(axis[0]*axis[0]) + float64(axis[1]*axis[1]) + float64(axis[2]*axis[2]))
	if size == 0 {
		axis[0], size = 1, 1
	}
	angle := little(r)
	k := 0
	for i, a := range chart {
		switch {
		case a.Kind == group.KindVector:
			if k == 0 && rapid.Bool().Draw(r, "long") {
				angle += a.Max
			}
			e[i] = angle * (axis[k] / size)
			k++
		case a.Switch():
			e[i] = float64(rapid.IntRange(0, 1).Draw(r, a.Name))
		default:
			e[i] = rapid.Float64Range(window[i][0], window[i][1]).Draw(r, a.Name)
		}
	}
	return e
}

// vectors reports whether the chart has a rotation vector.
func vectors(g group.Group) bool {
	n := 0
	for _, a := range g.Chart() {
		if a.Kind == group.KindVector {
			n++
		}
	}
	return n == 3
}

func inChart(g group.Group, e group.Element) error {
	chart := g.Chart()
	if len(e) != len(chart) {
		return fmt.Errorf("%v has %d coordinates, the chart has %d axes", e, len(e), len(chart))
	}
	for i, a := range chart {
		v := e[i]
		if math.IsNaN(v) || math.IsInf(v, 0) || v < a.Min || v > a.Max || a.Periodic && v >= a.Max {
			return fmt.Errorf("%s of %v is outside the chart, [%g, %g]", a.Name, e, a.Min, a.Max)
		}
	}
	return nil
}

func slack(es ...group.Element) float64 {
	s := 1.0
	for _, e := range es {
		for _, v := range e {
			s = math.Max(s, math.Abs(v))
		}
	}
	return s * relative
}

// same reports elements that are not equal up to rounding.
func same(g group.Group, what string, a, b group.Element) error {
	if err := inChart(g, a); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if d := g.Dist(a, b); !(d <= slack(a, b)) {
		return fmt.Errorf("%s: %v and %v are %g apart", what, a, b, d)
	}
	return nil
}

func closure(g group.Group, a, b, _ group.Element) error {
	for _, e := range []group.Element{g.Identity(), g.Mul(a, b), g.Inv(a)} {
		if err := inChart(g, e); err != nil {
			return err
		}
	}
	return nil
}

func identity(g group.Group, a, _, _ group.Element) error {
	e := g.Identity()
	if err := same(g, "e·a against a", g.Mul(e, a), a); err != nil {
		return err
	}
	return same(g, "a·e against a", g.Mul(a, e), a)
}

func inverse(g group.Group, a, _, _ group.Element) error {
	i := g.Inv(a)
	if err := same(g, "a·a⁻¹ against e", g.Mul(a, i), g.Identity()); err != nil {
		return err
	}
	return same(g, "a⁻¹·a against e", g.Mul(i, a), g.Identity())
}

func associativity(g group.Group, a, b, c group.Element) error {
	return same(g, "(ab)c against a(bc)", g.Mul(g.Mul(a, b), c), g.Mul(a, g.Mul(b, c)))
}

func metric(g group.Group, a, b, c group.Element) error {
	for _, x := range []group.Element{a, b, c, g.Identity()} {
		if d := g.Dist(x, x); d != 0 {
			return fmt.Errorf("Dist(%v, %v) is %g, expected exactly 0", x, x, d)
		}
	}
	ab, ba, bc, ac := g.Dist(a, b), g.Dist(b, a), g.Dist(b, c), g.Dist(a, c)
	tol := slack(a, b, c, group.Element{ab, bc, ac})
	switch {
	case !(ab >= 0):
		return fmt.Errorf("Dist(a, b) is %g", ab)
	case !(math.Abs(ab-ba) <= tol):
		return fmt.Errorf("Dist(a, b) is %g, Dist(b, a) is %g", ab, ba)
	case !(ac <= ab+bc+tol):
		return fmt.Errorf("triangle: Dist(a, c) is %g, Dist(a, b) + Dist(b, c) is %g", ac, ab+bc)
	case apart(g.Chart(), a, b) > 1e-6 && !(ab > 0):
		return fmt.Errorf("Dist(%v, %v) is %g: different elements", a, b, ab)
	}
	// Elements that differ in one coordinate alone, which random ones rarely do. Not every chart is a box: those that
	// come back changed are no elements.
	for i := range a {
		x := append(group.Element{}, a...)
		x[i] = b[i]
		if y := g.Mul(g.Identity(), x); len(y) != len(x) || !(apart(g.Chart(), x, y) <= slack(x)) {
			continue
		}
		if d := g.Dist(a, x); apart(g.Chart(), a, x) > 1e-6 && !(d > 0) {
			return fmt.Errorf("Dist(%v, %v) is %g: different elements", a, x, d)
		}
	}
	return nil
}

// apart is the largest difference of canonical coordinates, up to periods. At a branch of a chart, such as ±180 degrees
// on an axis that is not periodic, it is large for elements that may be equal: those count as 0. So do the axes of two
// spins of nearly 360 degrees, which are nearly -1 about whatever axis.
func apart(chart []group.Axis, a, b group.Element) float64 {
	var d float64
	ends := spinEnd(chart, a) && spinEnd(chart, b)
	for i, x := range chart {
		v := math.Abs(a[i] - b[i])
		switch {
		case x.Kind == group.KindVector && ends:
			continue
		case x.Periodic:
			v = math.Min(v, x.Max-x.Min-v)
		case x.Form() == group.FormAngle && v == x.Max-x.Min:
			return 0
		}
		d = math.Max(d, v)
	}
	return d
}

// spinEnd reports whether the rotation vector of a chart that counts two full turns is within a thousandth of a degree
// of their end.
func spinEnd(chart []group.Axis, e group.Element) bool {
	size := 0.0
	for i, x := range chart {
		if x.Kind == group.KindVector && x.Max == 360 {
			size = elementary.Hypot(size, e[i])
		}
	}
	return size > 360-1e-3
}

func invariance(g group.Group, a, b, c group.Element) error {
	left, right := group.Invariance(g)
	d := g.Dist(a, b)
	if left {
		x, y := g.Mul(c, a), g.Mul(c, b)
		if l := g.Dist(x, y); !(math.Abs(l-d) <= slack(a, b, x, y)) {
			return fmt.Errorf("Dist(ca, cb) is %g, Dist(a, b) is %g", l, d)
		}
	}
	if right {
		x, y := g.Mul(a, c), g.Mul(b, c)
		if r := g.Dist(x, y); !(math.Abs(r-d) <= slack(a, b, x, y)) {
			return fmt.Errorf("Dist(ac, bc) is %g, Dist(a, b) is %g", r, d)
		}
	}
	return nil
}

func canonical(g group.Group, a, b, _ group.Element) error {
	for _, x := range []group.Element{a, g.Mul(a, b), g.Inv(a)} {
		y := g.Mul(g.Identity(), x)
		z := g.Mul(g.Identity(), y)
		if len(x) != len(y) || len(y) != len(z) {
			return fmt.Errorf("%v becomes %v", x, y)
		}
		for i := range y {
			if z[i] != y[i] {
				return fmt.Errorf("the canonical form %v becomes %v when it is made canonical again", y, z)
			}
		}
		if apart(g.Chart(), x, y) > slack(x) {
			return fmt.Errorf("a result %v is not canonical: composed with e it is %v", x, y)
		}
	}
	return nil
}

func purity(g group.Group, a, b, _ group.Element) error {
	copyA, copyB := append(group.Element{}, a...), append(group.Element{}, b...)
	results := []group.Element{g.Mul(a, b), g.Inv(a), g.Identity()}
	g.Dist(a, b)
	if p, ok := g.(group.Planar); ok {
		p.Affine(a)
	}
	if p, ok := g.(group.Spatial); ok {
		p.Motion(a)
	}
	for _, r := range results {
		for i := range r {
			r[i] = 1e30
		}
	}
	for i := range a {
		if a[i] != copyA[i] || b[i] != copyB[i] {
			copy(a, copyA)
			copy(b, copyB)
			return errors.New("an argument changed, or a result shares its memory")
		}
	}
	for i, v := range g.Identity() {
		if !(math.Abs(v) < 1e29) {
			return fmt.Errorf("the identity's coordinate %d can be overwritten by a caller", i)
		}
	}
	for i, c := range g.Chart() {
		chart := g.Chart()
		chart[i].Name = "overwritten"
		if g.Chart()[i].Name != c.Name {
			return errors.New("the chart can be overwritten by a caller")
		}
	}
	return nil
}

func planar(g group.Group, a, b, _ group.Element) error {
	p, ok := g.(group.Planar)
	if !ok {
		return nil
	}
	if m, t := p.Affine(g.Identity()); m != [2][2]float64{{1, 0}, {0, 1}} || t != [2]float64{} {
		return fmt.Errorf("Affine(e) is %v, %v", m, t)
	}
	am, at := p.Affine(a)
	bm, bt := p.Affine(b)
	got, u := p.Affine(g.Mul(a, b))
	var size float64 = 1
	for i := range 2 {
		for j := range 2 {
			size = math.Max(size, math.Max(math.Abs(am[i][j]), math.Abs(bm[i][j])))
		}
	}
	tol := relative * size * size * (1 + math.Abs(at[0]) + math.Abs(at[1]) + math.Abs(bt[0]) + math.Abs(bt[1]))
	for i := range 2 {
		w := float64(am[i][0]*bt[0]) + float64(am[i][1]*bt[1]) + at[i]
		d := math.Abs(u[i] - w)
		if torus, ok := g.(group.Torus); ok {
			h, width := torus.Period()
			period := []float64{float64(width), float64(h)}[i]
			d = math.Abs(math.Remainder(u[i]-w, period))
		}
		if !(d <= tol) {
			return fmt.Errorf("the shift of Affine(ab) is %v, that of Affine(a) after Affine(b) has %g", u, w)
		}
		for j := range 2 {
			if want := float64(am[i][0]*bm[0][j]) + float64(am[i][1]*bm[1][j]); !(math.Abs(got[i][j]-want) <= tol) {
				return fmt.Errorf("Affine(ab) is %v, Affine(a)·Affine(b) has %g at (%d, %d)", got, want, i, j)
			}
		}
	}
	return exact(am, a)
}

// motion compares an affine map with the composition of two others.
func motion(dim int, am, at, bm, bt, m, t []float64, turn bool) error {
	size := 1.0
	for i := range am {
		size = math.Max(size, math.Max(math.Abs(am[i]), math.Abs(bm[i])))
	}
	var shifts float64 = 1
	for i := range at {
		shifts += math.Abs(at[i]) + math.Abs(bt[i])
	}
	tol := relative * size * size * shifts
	for i := range dim {
		w := at[i]
		for k := range dim {
			w += float64(am[i*dim+k] * bt[k])
		}
		if !turn && !(math.Abs(t[i]-w) <= tol) {
			return fmt.Errorf("the shift of the product is %v, that of the composition has %g", t, w)
		}
		for j := range dim {
			var want float64
			for k := range dim {
				want += float64(am[i*dim+k] * bm[k*dim+j])
			}
			if !(math.Abs(m[i*dim+j]-want) <= tol) {
				return fmt.Errorf("the matrix of the product is %v, that of the composition has %g at (%d, %d)", m,
					want, i, j)
			}
		}
	}
	return nil
}

func isIdentity(dim int, m, t []float64) bool {
	for i := range dim {
		for j := range dim {
			want := 0.0
			if i == j {
				want = 1
			}
			if m[i*dim+j] != want {
				return false
			}
		}
		if t != nil && t[i] != 0 {
			return false
		}
	}
	return true
}

func spatial(g group.Group, a, b, _ group.Element) error {
	s, ok := g.(group.Spatial)
	if !ok {
		return nil
	}
	d := s.Dim()
	m, t := s.Motion(g.Identity())
	if len(m) != d*d || len(t) != d || !isIdentity(d, m, t) {
		return fmt.Errorf("Motion(e) is %v, %v in %d dimensions", m, t, d)
	}
	am, at := s.Motion(a)
	bm, bt := s.Motion(b)
	m, t = s.Motion(g.Mul(a, b))
	if err := motion(d, am, at, bm, bt, m, t, false); err != nil {
		return err
	}
	off := 0.0
	for _, v := range am {
		r := math.Round(v)
		if math.Abs(r) > 1 {
			return nil
		}
		off = math.Max(off, math.Abs(v-r))
	}
	if off > 0 && off < 1e-12 && !fine(a) {
		return fmt.Errorf("Motion(%v) is %v: a lattice map must have the entries 0 and ±1 exactly", a, am)
	}
	return nil
}

// fine reports coordinates so near to round ones that their maps are truly near those of the lattice.
func fine(a group.Element) bool {
	for _, v := range a {
		if k := v * 4; v != 0 &&
			(math.Abs(v) < 1e-6 || math.Abs(k-math.Round(k)) > 0 && math.Abs(k-math.Round(k)) < 1e-6) {
			return true
		}
		// The components of diagonal axes; a few last bits are rounding, and the map still exact.
		for _, round := range []float64{90 / math.Sqrt2, 180 / math.Sqrt2, 120 / math.Sqrt(3)} {
			if d := math.Abs(math.Abs(v) - round); d > 1e-12 && d < 1e-6 {
				return true
			}
		}
	}
	return false
}

func permuting(g group.Group, a, b, _ group.Element) error {
	p, ok := g.(group.Permuting)
	if !ok {
		return nil
	}
	n := p.Rows()
	for _, m := range []int{n, n - 1, n / 2, 1, 0} {
		if m < 0 || m > n {
			continue
		}
		pa, pi, pe := p.Permutation(a, m), p.Permutation(g.Inv(a), m), p.Permutation(g.Identity(), m)
		if len(pa) != m || len(pi) != m || len(pe) != m {
			return fmt.Errorf("the permutation of %d rows has %d, %d and %d places", m, len(pa), len(pi), len(pe))
		}
		seen := make([]bool, m)
		for i, to := range pa {
			if to < 0 || to >= m || seen[to] {
				return fmt.Errorf("%v permutes %d rows by %v, which is no permutation", a, m, pa)
			}
			seen[to] = true
			if pe[i] != i || pi[to] != i {
				return fmt.Errorf("with %d rows the identity is %v, a %v and its inverse %v", m, pe, pa, pi)
			}
		}
	}
	pa, pb, pab := p.Permutation(a, n), p.Permutation(b, n), p.Permutation(g.Mul(a, b), n)
	for i := range pab {
		if pab[i] != pa[pb[i]] {
			return fmt.Errorf("row %d goes to place %d, expected %d", i, pab[i], pa[pb[i]])
		}
	}
	return nil
}

func shifting(g group.Group, a, b, _ group.Element) error {
	s, ok := g.(group.Shifting)
	if !ok {
		return nil
	}
	second := s.Shift(b)
	if group.Reverses(g, a) {
		second = -second
	}
	d := s.Shift(g.Mul(a, b)) - (s.Shift(a) + second)
	if n := s.Turn(); n > 0 {
		d = math.Remainder(d, float64(n))
	}
	if !(math.Abs(d) <= relative*(1+math.Abs(s.Shift(a))+math.Abs(second))) || s.Shift(g.Identity()) != 0 {
		return fmt.Errorf("shifts by %g and %g compose to one by %g; the identity shifts by %g", s.Shift(a), s.Shift(b),
			s.Shift(g.Mul(a, b)), s.Shift(g.Identity()))
	}
	return nil
}

func flowing(g group.Group, a, b, _ group.Element) error {
	f, ok := g.(group.Flowing)
	if !ok {
		return nil
	}
	h := f.Inner()
	if d := h.Dist(f.At(a, 0), h.Identity()); d != 0 {
		return fmt.Errorf("At(a, 0) is %v", f.At(a, 0))
	}
	for _, t := range []float64{0, 1, 2.5, 7} {
		if err := same(h, fmt.Sprintf("At(ab, %g) against At(a, %g)·At(b, %g)", t, t, t), f.At(g.Mul(a, b), t),
			h.Mul(f.At(a, t), f.At(b, t))); err != nil {
			return err
		}
		if err := same(h, fmt.Sprintf("At(a, %g+3) against At(a, %g)·At(a, 3)", t, t), f.At(a, t+3),
			h.Mul(f.At(a, t), f.At(a, 3))); err != nil {
			return err
		}
	}
	return nil
}

func coloring(g group.Group, a, b, _ group.Element) error {
	c, ok := g.(group.Coloring)
	if !ok {
		return nil
	}
	n := c.Channels()
	if n == 0 {
		n = 3
	}
	for k := range 4 {
		x := make([]float64, n)
		for i := range x {
			x[i] = 0.1 + float64(0.8*math.Mod(float64(0.37*float64(k+1))+float64(0.61803398875*float64(i)), 1))
		}
		same, one, two := append([]float64{}, x...), append([]float64{}, x...), append([]float64{}, x...)
		c.Color(g.Identity(), same)
		c.Color(g.Mul(a, b), one)
		c.Color(b, two)
		c.Color(a, two)
		for i := range x {
			if same[i] != x[i] {
				return fmt.Errorf("Color(e) turns %v into %v", x, same)
			}
			if !(math.Abs(one[i]-two[i]) <= 1e-9*(1+math.Abs(one[i]))) {
				return fmt.Errorf("Color(ab) of %v is %v, Color(a) after Color(b) %v", x, one, two)
			}
		}
	}
	return nil
}

func represented(g group.Group, a, b, _ group.Element) error {
	r, ok := g.(group.Represented)
	if !ok {
		return nil
	}
	for name, d := range r.Representations() {
		e, _ := r.Matrix(name, g.Identity())
		am, okA := r.Matrix(name, a)
		bm, okB := r.Matrix(name, b)
		m, ok := r.Matrix(name, g.Mul(a, b))
		if !ok || !okA || !okB || len(m) != d*d || len(am) != d*d || len(e) != d*d || !isIdentity(d, e, nil) {
			return fmt.Errorf("representation %s of %d dimensions: the identity is %v, a is %v", name, d, e, am)
		}
		zero := make([]float64, d)
		if err := motion(d, am, zero, bm, zero, m, zero, true); err != nil {
			return fmt.Errorf("representation %s: %w", name, err)
		}
	}
	return nil
}

func temporal(g group.Group, a, b, _ group.Element) error {
	t, ok := g.(group.Temporal)
	if !ok {
		return nil
	}
	if x, y, xy := t.Reverses(a), t.Reverses(b), t.Reverses(g.Mul(a, b)); xy != (x != y) {
		return fmt.Errorf("a reverses: %t, b: %t, ab: %t", x, y, xy)
	}
	return nil
}

// exact refuses matrices that are a signed permutation up to rounding only: pictures would be resampled for nothing.
func exact(m [2][2]float64, a group.Element) error {
	off := 0.0
	for i := range 2 {
		for j := range 2 {
			r := math.Round(m[i][j])
			if math.Abs(r) > 1 {
				return nil
			}
			off = math.Max(off, math.Abs(m[i][j]-r))
		}
	}
	// Elements that are truly this near the lattice, and not on it, have coordinates with digits that far down.
	if off > 0 && off < 1e-12 {
		for _, v := range a {
			if k := v * 4; v != 0 && math.Abs(k-math.Round(k)) > 0 && math.Abs(k-math.Round(k)) < 1e-6 {
				return nil
			}
			if v != 0 && math.Abs(v) < 1e-6 {
				return nil
			}
		}
		return fmt.Errorf("Affine(%v) is %v: a lattice map must have the entries 0 and ±1 exactly", a, m)
	}
	return nil
}

// Chart checks the axes: names that are set and differ, bounds in order, finite for a period, an identity inside.
func Chart(g group.Group) error {
	if g.Name() == "" {
		return errors.New("chart: the group has no name")
	}
	seen := map[string]bool{}
	for _, a := range g.Chart() {
		if a.Name == "" || seen[a.Name] {
			return fmt.Errorf("chart: the axis name %q is empty or used twice", a.Name)
		}
		seen[a.Name] = true
		if !(a.Min < a.Max) || a.Periodic && math.IsInf(a.Max-a.Min, 0) {
			return fmt.Errorf("chart: axis %s has the range [%g, %g], periodic %t", a.Name, a.Min, a.Max, a.Periodic)
		}
	}
	if err := inChart(g, g.Identity()); err != nil {
		return fmt.Errorf("chart: identity: %w", err)
	}
	return nil
}

// Finite checks the list of a finite group: the identity first, no two equal, closed under products and inverses. It
// tries all pairs of up to 128 elements, else 20000 of them. Groups that are not finite pass.
func Finite(g group.Group) error {
	f, ok := g.(group.Finite)
	if !ok {
		return nil
	}
	es := f.Elements()
	if len(es) == 0 {
		return errors.New("finite: the list is empty")
	}
	if o, ok := g.(group.Ordered); ok && o.Order() != len(es) {
		return fmt.Errorf("finite: the order is %d, the list has %d elements", o.Order(), len(es))
	}
	if d := g.Dist(es[0], g.Identity()); d != 0 {
		return fmt.Errorf("finite: the list begins with %v, not with the identity", es[0])
	}
	index := map[string]int{}
	key := func(e group.Element) string { return fmt.Sprint([]float64(e)) }
	for i, e := range es {
		if err := inChart(g, e); err != nil {
			return fmt.Errorf("finite: element %d: %w", i, err)
		}
		if j, ok := index[key(e)]; ok {
			return fmt.Errorf("finite: elements %d and %d are both %v", j, i, e)
		}
		index[key(e)] = i
	}
	if d := group.Dedup(g, es, group.Tolerance); len(d) != len(es) {
		return fmt.Errorf("finite: of %d elements %d are at distance 0 from earlier ones", len(es), len(es)-len(d))
	}
	member := func(e group.Element) error {
		if _, ok := index[key(e)]; ok {
			return nil
		}
		for _, x := range es { // equal up to rounding will do
			if g.Dist(x, e) <= group.Tolerance {
				return nil
			}
		}
		return fmt.Errorf("finite: %v is not in the list", e)
	}
	for _, e := range es {
		if err := member(g.Inv(e)); err != nil {
			return fmt.Errorf("inverse of %v: %w", e, err)
		}
	}
	n := len(es)
	r := rand.New(rand.NewPCG(11, 7))
	for k := range min(n*n, 20000) {
		i, j := k/n, k%n
		if n > 128 {
			i, j = r.IntN(n), r.IntN(n)
		}
		if err := member(g.Mul(es[i], es[j])); err != nil {
			return fmt.Errorf("product of %v and %v: %w", es[i], es[j], err)
		}
	}
	return nil
}

// Sampler checks that draws lie in the chart, depend on the generator alone and are uniform by a chi-square test at a
// fixed seed: over the elements of a small finite group; else over 16 bins of the window per axis, logarithmic for
// factors, and over 4×4 bins of every two axes. The level is 1e-6 per test. Groups that are not samplers pass.
func Sampler(g group.Group) error {
	s, ok := g.(group.Sampler)
	if !ok {
		return nil
	}
	const n = 8000
	draws := func(seed uint64) []group.Element {
		r := rand.New(rand.NewPCG(seed, 5))
		out := make([]group.Element, n)
		for i := range out {
			out[i] = s.Sample(r)
		}
		return out
	}
	es, again := draws(3), draws(3)
	for i, e := range es {
		if err := inChart(g, e); err != nil {
			return fmt.Errorf("sampler: draw %d: %w", i, err)
		}
		for j := range e {
			if e[j] != again[i][j] {
				return errors.New("sampler: the same generator gave different draws")
			}
		}
	}
	if f, ok := g.(group.Finite); ok {
		if all := f.Elements(); len(all) <= n/16 {
			count := make([]int, len(all))
			at := map[string]int{}
			for i, e := range all {
				at[fmt.Sprint([]float64(e))] = i
			}
			for _, e := range es {
				i, ok := at[fmt.Sprint([]float64(e))]
				if !ok {
					return fmt.Errorf("sampler: %v is not in the list of the group", e)
				}
				count[i]++
			}
			return chiSquare("elements", count, n)
		}
	}
	if f, ok := g.(group.Factored); ok { // each by itself: independence is the law of products
		for i, part := range f.Factors() {
			parts := make([]group.Element, len(es))
			for k, e := range es {
				parts[k] = f.Split(e)[i]
			}
			if _, ok := part.(group.Finite); ok {
				continue
			}
			if err := even(part, parts); err != nil {
				return err
			}
		}
		return nil
	}
	return even(g, es)
}

// even is the test of uniformity in coordinates that are independent under the group's measure.
func even(g group.Group, es []group.Element) error {
	if p, ok := g.(group.Permuting); ok {
		return evenRows(p, es)
	}
	if vectors(g) {
		var err error
		if es, err = unroll(g, es); err != nil {
			return err
		}
		g = unrolled{g}
	}
	return uniform(g, es)
}

// evenRows tests that the first row goes everywhere, and the last.
func evenRows(p group.Permuting, es []group.Element) error {
	n := p.Rows()
	bins := min(n, 16)
	for _, row := range []int{0, n / 2, n - 1} {
		count := make([]int, bins)
		total := 0
		for _, e := range es {
			if at := p.Permutation(e, n)[row]; at < n-n%bins {
				count[at%bins]++
				total++
			}
		}
		if err := chiSquare(fmt.Sprintf("places of row %d", row), count, total); err != nil {
			return err
		}
	}
	return nil
}

// unrolled has, in place of a rotation vector, three numbers that the Haar measure spreads evenly over [0, 1]: (θ - sin
// θ)/π, half of one plus the axis' z, and its longitude.
type unrolled struct{ group.Group }

func (u unrolled) Window() [][2]float64 {
	w := group.Window(u.Group)
	for i, a := range u.Chart() {
		if a.Kind == group.KindVector {
			w[i] = [2]float64{0, 1}
		}
	}
	return w
}

func (u unrolled) Steps() []float64 { return group.Steps(u.Group) }

func unroll(g group.Group, es []group.Element) ([]group.Element, error) {
	at := slices.IndexFunc(g.Chart(), func(a group.Axis) bool { return a.Kind == group.KindVector })
	most := g.Chart()[at].Max * math.Pi / 180 // 360 degrees for unit quaternions, whose sign counts
	out := make([]group.Element, len(es))
	for k, e := range es {
		x, y, z := e[at]*math.Pi/180, e[at+1]*math.Pi/180, e[at+2]*math.Pi/180
		th := math.Sqrt(float64(x*x) + float64(y*y) + float64(z*z))
		if !(th > 0 && th <= most+1e-9) {
			return nil, fmt.Errorf("sampler: %v has the angle %g", e, th)
		}
		u := append(group.Element{}, e...)
		u[at], u[at+1], u[at+2] = (th-elementary.Sin(th))/most, (1+z/th)/2, (1+elementary.Atan2(y, x)/math.Pi)/2
		out[k] = u
	}
	return out, nil
}

func uniform(g group.Group, es []group.Element) error {
	chart, window := g.Chart(), group.Window(g)
	st := group.Steps(g)
	// place is the position of a coordinate in the window, in [0, 1).
	place := func(i int, v float64) (float64, int) {
		lo, hi := window[i][0], window[i][1]
		switch {
		case st[i] > 0:
			first := math.Ceil(lo/st[i] - 1e-9)
			k := math.Floor(hi/st[i]+1e-9) - first + 1
			if chart[i].Periodic {
				k = math.Round((chart[i].Max - chart[i].Min) / st[i])
			}
			return (math.Round(v/st[i]) - first + 0.5) / k, int(k)
		case chart[i].Form() == group.FormFactor:
			return elementary.Log(v/lo) / elementary.Log(hi/lo), 0
		}
		return (v - lo) / (hi - lo), 0
	}
	bins := func(most, values int) int {
		if values == 0 {
			return most
		}
		for b := min(most, values); b > 1; b-- {
			if values%b == 0 {
				return b
			}
		}
		return 1
	}
	for i := range chart {
		for j := 0; j <= i; j++ {
			most := 4
			if i == j {
				most = 16
			}
			_, vi := place(i, es[0][i])
			_, vj := place(j, es[0][j])
			bi, bj := bins(most, vi), bins(most, vj)
			if i == j {
				bj = 1
			}
			count := make([]int, bi*bj)
			for _, e := range es {
				x, _ := place(i, e[i])
				y, _ := place(j, e[j])
				if !(x >= -1e-9 && x <= 1+1e-9) {
					return fmt.Errorf("sampler: %s of %v is outside the window [%g, %g]", chart[i].Name, e,
						window[i][0], window[i][1])
				}
				kx, ky := clamp(x, bi), 0
				if i != j {
					ky = clamp(y, bj)
				}
				count[kx*bj+ky]++
			}
			what := chart[i].Name
			if i != j {
				what += " and " + chart[j].Name
			}
			if err := chiSquare(what, count, len(es)); err != nil {
				return err
			}
		}
	}
	return nil
}

func clamp(x float64, n int) int { return min(max(int(x*float64(n)), 0), n-1) }

// chiSquare is Pearson's test against equal probabilities.
func chiSquare(what string, count []int, n int) error {
	if len(count) < 2 {
		return nil
	}
	var x2 float64
	e := float64(n) / float64(len(count))
	for _, c := range count {
		x2 += (float64(c) - e) * (float64(c) - e) / e
	}
	limit := distuv.ChiSquared{K: float64(len(count) - 1)}.Quantile(1 - 1e-6)
	if !(x2 <= limit) {
		return fmt.Errorf("sampler: %s are not uniform: chi-square %.4g in %d bins, expected at most %.4g", what, x2,
			len(count), limit)
	}
	return nil
}

// Lie checks the exponential map: exp(0) = e, exp((s+t)X) = exp(sX)·exp(tX), exp(-X) = exp(X)⁻¹, generators that are
// linearly independent, a full turn after 2π for those in radians, and commutators that stay in their span. Groups that
// are not Lie groups pass.
func Lie(g group.Group) error {
	l, ok := g.(group.Lie)
	if !ok {
		return nil
	}
	n := len(l.Generators())
	if n == 0 {
		return errors.New("lie: no generators")
	}
	if d := g.Dist(l.Exp(make([]float64, n)), g.Identity()); d != 0 {
		return fmt.Errorf("lie: exp(0) is %v", l.Exp(make([]float64, n)))
	}
	for i, x := range l.Generators() {
		if x.Unit == "rad" {
			full := make([]float64, n)
			full[i] = 2 * math.Pi
			if err := same(g, "exp(2π X) against e", l.Exp(full), g.Identity()); err != nil {
				return fmt.Errorf("lie: %s is in radians: %w", x.Name, err)
			}
		}
	}
	r := rand.New(rand.NewPCG(2, 9))
	for range 200 {
		x := make([]float64, n)
		for i := range x {
			x[i] = (2*r.Float64() - 1) * 0.3
		}
		if k := r.IntN(2 * n); k < n { // along one generator, too
			v := x[k]
			clear(x)
			x[k] = v
		}
		s, t := 2*r.Float64()-1, 2*r.Float64()-1
		whole, first, second := l.Exp(times(x, s+t)), l.Exp(times(x, s)), l.Exp(times(x, t))
		if err := same(g, "exp((s+t)X) against exp(sX)·exp(tX)", g.Mul(first, second), whole); err != nil {
			return fmt.Errorf("lie: X = %v, s = %g, t = %g: %w", x, s, t, err)
		}
		if err := same(g, "exp(-X) against the inverse of exp(X)", l.Exp(times(x, -1)), g.Inv(l.Exp(x))); err != nil {
			return fmt.Errorf("lie: X = %v: %w", x, err)
		}
	}
	return span(g, l, n)
}

func times(x []float64, s float64) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = s * v
	}
	return y
}

// span differentiates exp at 0, in the chart and, for planar groups, as 3×3 matrices.
func span(g group.Group, l group.Lie, n int) error {
	const h = 1e-4
	chart := g.Chart()
	e := g.Identity()
	unit := func(i int, s float64) []float64 {
		x := make([]float64, n)
		x[i] = s
		return x
	}
	// offset of an element near e in the chart, radians for degrees and logarithms for factors
	offset := func(x group.Element) []float64 {
		o := make([]float64, len(x))
		for i, a := range chart {
			o[i] = x[i] - e[i]
			if a.Form() == group.FormFactor {
				o[i] = elementary.Log(x[i] / e[i])
			}
			if a.Periodic {
				o[i] = math.Remainder(o[i], a.Max-a.Min)
			}
			if a.Form() == group.FormAngle {
				o[i] *= math.Pi / 180
			}
		}
		return o
	}
	tangents := mat.NewDense(len(chart), n, nil)
	for i := range n {
		plus, minus := offset(l.Exp(unit(i, h))), offset(l.Exp(unit(i, -h)))
		for k := range plus {
			tangents.Set(k, i, (plus[k]-minus[k])/(2*h))
		}
	}
	if err := independent(tangents); err != nil {
		return err
	}
	p, ok := g.(group.Planar)
	for i := range n {
		for j := range i {
			// The group commutator is exp(s²[X, Y]) to third order.
			const s = 1e-3
			x, y := l.Exp(unit(i, s)), l.Exp(unit(j, s))
			c := offset(g.Mul(g.Mul(x, y), g.Mul(g.Inv(x), g.Inv(y))))
			for k := range c {
				c[k] /= s * s
			}
			if err := inSpan(tangents, c, 1e-2, i, j); err != nil {
				return err
			}
		}
	}
	if !ok {
		return nil
	}
	gens := make([]*mat.Dense, n)
	flat := mat.NewDense(9, n, nil)
	for i := range n {
		plus, minus := matrix(p, l.Exp(unit(i, h))), matrix(p, l.Exp(unit(i, -h)))
		d := mat.NewDense(3, 3, nil)
		d.Sub(plus, minus)
		d.Scale(1/(2*h), d)
		gens[i] = d
		flat.SetCol(i, d.RawMatrix().Data)
	}
	for i := range n {
		for j := range i {
			var xy, yx mat.Dense
			xy.Mul(gens[i], gens[j])
			yx.Mul(gens[j], gens[i])
			xy.Sub(&xy, &yx)
			if err := inSpan(flat, xy.RawMatrix().Data, 1e-6, i, j); err != nil {
				return err
			}
		}
	}
	return nil
}

func matrix(p group.Planar, e group.Element) *mat.Dense {
	a, t := p.Affine(e)
	return mat.NewDense(3, 3, []float64{a[0][0], a[0][1], t[0], a[1][0], a[1][1], t[1], 0, 0, 1})
}

func independent(m *mat.Dense) error {
	var svd mat.SVD
	if !svd.Factorize(m, mat.SVDNone) {
		return errors.New("lie: the generators have no finite tangents")
	}
	v := svd.Values(nil)
	_, n := m.Dims()
	if len(v) < n || !(v[n-1] > 1e-6*v[0]) {
		return fmt.Errorf("lie: the generators are linearly dependent: singular values %v", v)
	}
	return nil
}

func inSpan(basis *mat.Dense, v []float64, tol float64, i, j int) error {
	var qr mat.SVD
	if !qr.Factorize(basis, mat.SVDThin) {
		return errors.New("lie: the generators have no finite tangents")
	}
	var coef, back mat.Dense
	b := mat.NewDense(len(v), 1, v)
	rank := qr.Rank(1e-9)
	if rank == 0 {
		return errors.New("lie: the generators vanish")
	}
	qr.SolveTo(&coef, b, rank)
	back.Mul(basis, &coef)
	back.Sub(&back, b)
	if d := mat.Norm(&back, 2); !(d <= tol*(1+mat.Norm(b, 2))) {
		return fmt.Errorf("lie: the commutator of generators %d and %d leaves their span by %g", i, j, d)
	}
	return nil
}
