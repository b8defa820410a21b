package action_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"nero/data/space"
	"nero/symmetry/action"
	"nero/symmetry/action/actiontest"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

// turning is a group of space for tests: a rotation by a quaternion that need not have length 1, an inversion, and a
// shift, in the chart (w, x, y, z, inversion, tx, ty, tz).
type turning struct{ rotations, still bool }

func (g turning) Name() string {
	switch {
	case g.rotations:
		return "Test SO(3)"
	case g.still:
		return "Test O(3)"
	}
	return "Test E(3)"
}

func (turning) Chart() []group.Axis {
	var c []group.Axis
	for _, n := range []string{"w", "x", "y", "z", "inversion", "tx", "ty", "tz"} {
		c = append(c, group.Axis{Name: n, Min: math.Inf(-1), Max: math.Inf(1)})
	}
	return c
}
func (turning) Identity() group.Element { return group.Element{1, 0, 0, 0, 0, 0, 0, 0} }
func (turning) Dim() int                { return 3 }

func (turning) Motion(e group.Element) (a, t []float64) {
	n := math.Sqrt(e[0]*e[0] + e[1]*e[1] + e[2]*e[2] + e[3]*e[3])
	w, x, y, z := e[0]/n, e[1]/n, e[2]/n, e[3]/n
	a = []float64{
		1 - 2*(y*y+z*z), 2 * (x*y - w*z), 2 * (x*z + w*y),
		2 * (x*y + w*z), 1 - 2*(x*x+z*z), 2 * (y*z - w*x),
		2 * (x*z - w*y), 2 * (y*z + w*x), 1 - 2*(x*x+y*y),
	}
	for i, v := range a {
		if k := math.Round(v); math.Abs(v-k) < 1e-14 {
			a[i] = k + 0
		}
		if e[4] == 1 {
			a[i] = 0 - a[i]
		}
	}
	return a, slices.Clone(e[5:8])
}

func (g turning) Mul(p, q group.Element) group.Element {
	o := make(group.Element, 8)
	o[0] = p[0]*q[0] - p[1]*q[1] - p[2]*q[2] - p[3]*q[3]
	o[1] = p[0]*q[1] + p[1]*q[0] + p[2]*q[3] - p[3]*q[2]
	o[2] = p[0]*q[2] - p[1]*q[3] + p[2]*q[0] + p[3]*q[1]
	o[3] = p[0]*q[3] + p[1]*q[2] - p[2]*q[1] + p[3]*q[0]
	o[4] = math.Abs(p[4] - q[4])
	a, t := g.Motion(p)
	for i := range 3 {
		o[5+i] = t[i]
		for j := range 3 {
			o[5+i] += a[3*i+j] * q[5+j]
		}
	}
	return o
}

func (g turning) Inv(p group.Element) group.Element {
	o := group.Element{p[0], 0 - p[1], 0 - p[2], 0 - p[3], p[4], 0, 0, 0}
	a, _ := g.Motion(o)
	for i := range 3 {
		for j := range 3 {
			o[5+i] -= a[3*i+j] * p[5+j]
		}
	}
	return o
}

func (g turning) Dist(p, q group.Element) float64 {
	a, t := g.Motion(p)
	b, u := g.Motion(q)
	var d float64
	for i := range a {
		d = max(d, math.Abs(a[i]-b[i]))
	}
	for i := range t {
		d = max(d, math.Abs(t[i]-u[i]))
	}
	return d
}

func (g turning) Sample(r *rand.Rand) group.Element {
	o := make(group.Element, 8)
	for i := range 4 {
		o[i] = r.NormFloat64()
	}
	if !g.rotations {
		o[4] = float64(r.IntN(2))
		if !g.still {
			for i := 5; i < 8; i++ {
				o[i] = r.NormFloat64()
			}
		}
	}
	return o
}

// cubes are rotations of the cube, with an inversion among them.
func cubes() []group.Element {
	return []group.Element{
		{1, 0, 0, 1, 0, 0, 0, 0},
		{1, 1, 0, 0, 0, 0, 0, 0},
		{0, 1, 0, 0, 0, 0, 0, 0},
		{1, 1, 1, 1, 0, 0, 0, 0},
		{0, 1, 1, 0, 1, 0, 0, 0},
	}
}

// permuting is S(n) for tests.
type permuting struct {
	n int
	// says something that is no permutation
	broken bool
}

func (g permuting) Name() string { return fmt.Sprintf("Test S(%d)", g.n) }
func (g permuting) Chart() []group.Axis {
	c := make([]group.Axis, g.n)
	for i := range c {
		c[i] = group.Axis{Name: fmt.Sprintf("p%d", i), Max: float64(g.n - 1)}
	}
	return c
}

func (g permuting) Identity() group.Element {
	e := make(group.Element, g.n)
	for i := range e {
		e[i] = float64(i)
	}
	return e
}

func (g permuting) Mul(p, q group.Element) group.Element {
	o := make(group.Element, g.n)
	for i := range o {
		o[i] = p[int(q[i])]
	}
	return o
}

func (g permuting) Inv(p group.Element) group.Element {
	o := make(group.Element, g.n)
	for i, v := range p {
		o[int(v)] = float64(i)
	}
	return o
}

func (g permuting) Dist(p, q group.Element) float64 {
	d := 0.0
	for i := range p {
		if p[i] != q[i] {
			d++
		}
	}
	return d
}

func (g permuting) Sample(r *rand.Rand) group.Element {
	o := make(group.Element, g.n)
	for i, v := range r.Perm(g.n) {
		o[i] = float64(v)
	}
	return o
}
func (g permuting) Rows() int { return g.n }

func (g permuting) Permutation(e group.Element, m int) []int {
	to := make([]int, 0, m)
	for i := range m {
		k := int(e[i])
		for k >= m { // taken out of the cycle
			k = int(e[k])
		}
		to = append(to, k)
	}
	if g.broken && m > 1 {
		to[0] = to[1]
	}
	return to
}

// both is a product of factors for tests.
type both struct {
	group.Group
	factors []group.Group
}

func (b both) Factors() []group.Group { return b.factors }
func (b both) Split(e group.Element) []group.Element {
	var o []group.Element
	for _, f := range b.factors {
		n := len(f.Chart())
		o = append(o, e[:n:n])
		e = e[n:]
	}
	return o
}

func (b both) Sample(r *rand.Rand) group.Element {
	var e group.Element
	for _, f := range b.factors {
		if s, ok := f.(group.Sampler); ok {
			e = append(e, s.Sample(r)...)
		}
	}
	return e
}

func product(tb testing.TB, factors ...group.Group) both {
	tb.Helper()
	g, err := group.Product(factors...)
	if err != nil {
		tb.Fatal(err)
	}
	return both{g, factors}
}

// asA is a value of the type that an action returns.
func asA[T any](tb interface {
	Helper()
	Fatalf(format string, args ...any)
}, v any,
) T {
	tb.Helper()
	x, ok := v.(T)
	if !ok {
		tb.Fatalf("got a %T", v)
	}
	return x
}

func rows(seed uint64, n, w int) *space.Rows { return &space.Rows{N: n, W: w, Val: noise(seed, n*w)} }

func rowsSpec(typ, per string, n, w int) space.Spec {
	return space.Spec{Name: "x", Kind: space.KindRows, Shape: []int{n, w}, Type: typ, Per: per}
}

func sampled(g group.Sampler, n int) []group.Element {
	r := rand.New(rand.NewPCG(7, 7))
	var out []group.Element
	for range n {
		out = append(out, g.Sample(r))
	}
	return out
}

func TestRowsLaws(t *testing.T) {
	e3, o3, so3 := turning{}, turning{still: true}, turning{rotations: true}
	for _, c := range []struct {
		typ string
		g   group.Sampler
		w   int
		// all rotations of the cube are exact
		cube bool
	}{
		{space.TypePositions, e3, 3, true},
		{space.TypePositions, e3, 6, true},
		{space.TypeVectors, e3, 3, true},
		{space.TypeVectors, o3, 9, true},
		{space.TypePseudovectors, o3, 3, true},
		{space.TypePseudoscalars, o3, 2, true},
		{space.TypeTensors, o3, 9, true},
		{space.TypePoses, o3, 9, true},
		{"2x0e+0o+1x1o+1e+2x2e+3o+8e", o3, 2 + 1 + 3 + 3 + 10 + 7 + 17, false},
		{"3x1o", e3, 9, true},
	} {
		t.Run(c.typ, func(t *testing.T) {
			a, err := action.NewRows(c.g, rowsSpec(c.typ, "", -1, c.w), action.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if err := actiontest.Laws(actiontest.Case{
				Action: a, Value: rows(3, 5, c.w), Elements: append(cubes(), sampled(c.g, 6)...), Floor: 1e-12,
			}); err != nil {
				t.Error(err)
			}
			for _, e := range cubes() {
				if c.cube && !action.Exact(a, e) {
					t.Errorf("%v of the cube is not exact", e)
				}
			}
		})
	}
	// Of higher degrees some rotations of the cube mix components, and some do not.
	a, err := action.NewRows(o3, rowsSpec("2e", "", -1, 5), action.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if third, half := cubes()[3], cubes()[2]; action.Exact(a, third) || !action.Exact(a, half) {
		t.Error("2e: a third of a turn about 111 mixes components, a half turn about x changes signs")
	}
	// q and -q are one rotation, so quaternions compose up to their sign.
	a, err = action.NewRows(so3, rowsSpec(space.TypeQuaternions, "", -1, 4), action.Options{})
	if err != nil {
		t.Fatal(err)
	}
	x := rows(3, 6, 4)
	if err := actiontest.Laws(actiontest.Case{
		Action: a, Value: x, Elements: append(cubes()[:4], sampled(so3, 6)...), Floor: 1e-12,
		Distance: func(p, q space.Value) float64 {
			return min(actiontest.Distance(p, q), actiontest.Distance(negative(p), q))
		},
	}); err != nil {
		t.Error(err)
	}
}

func negative(v space.Value) space.Value {
	x, ok := v.(*space.Rows)
	if !ok {
		return v
	}
	o := space.NewRows(x.N, x.W)
	for i, y := range x.Val {
		o.Val[i] = -y
	}
	return o
}

// TestTypesAgree holds the types against each other: cross products of vectors are pseudovectors, triple products
// pseudoscalars, outer products tensors, and poses and quaternions turn vectors.
func TestTypesAgree(t *testing.T) {
	o3, so3 := turning{still: true}, turning{rotations: true}
	move := func(t *rapid.T, g group.Group, e group.Element, typ string, v ...float64) []float64 {
		a, err := action.NewRows(g, rowsSpec(typ, "", 1, len(v)), action.Options{})
		if err != nil {
			t.Fatal(err)
		}
		o, err := a.Apply(e, &space.Rows{N: 1, W: len(v), Val: v})
		if err != nil {
			t.Fatal(err)
		}
		return asA[*space.Rows](t, o).Val
	}
	near := func(t *rapid.T, what string, a, b []float64) {
		for i := range a {
			if !(math.Abs(a[i]-b[i]) < 1e-12) {
				t.Fatalf("%s: %v and %v", what, a, b)
			}
		}
	}
	cross := func(u, v []float64) []float64 {
		return []float64{u[1]*v[2] - u[2]*v[1], u[2]*v[0] - u[0]*v[2], u[0]*v[1] - u[1]*v[0]}
	}
	dot := func(u, v []float64) float64 { return u[0]*v[0] + u[1]*v[1] + u[2]*v[2] }
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		e := o3.Sample(r)
		vec := func() []float64 { return []float64{r.NormFloat64(), r.NormFloat64(), r.NormFloat64()} }
		u, v, w := vec(), vec(), vec()
		gu, gv, gw := move(t, o3, e, space.TypeVectors, u...), move(t, o3, e, space.TypeVectors, v...),
			move(t, o3, e, space.TypeVectors, w...)
		near(t, "cross product", move(t, o3, e, space.TypePseudovectors, cross(u, v)...), cross(gu, gv))
		near(t, "triple product", move(t, o3, e, space.TypePseudoscalars, dot(cross(u, v), w)),
			[]float64{dot(cross(gu, gv), gw)})
		var outer, moved []float64
		for i := range 3 {
			for j := range 3 {
				outer, moved = append(outer, u[i]*v[j]), append(moved, gu[i]*gv[j])
			}
		}
		near(t, "outer product", move(t, o3, e, space.TypeTensors, outer...), moved)
		near(t, "irreps of degree 1", move(t, o3, e, "1o", u...), gu)
		near(t, "even irreps of degree 1", move(t, o3, e, "1e", u...), move(t, o3, e, space.TypePseudovectors, u...))

		// (A P) v = A (P v), and quaternions of the same rotation.
		f := so3.Sample(r)
		p, _ := so3.Motion(so3.Sample(r))
		pose := move(t, so3, f, space.TypePoses, p...)
		near(t, "pose", times(pose, v), move(t, so3, f, space.TypeVectors, times(p, v)...))
		h := so3.Sample(r)
		n := math.Sqrt(h[0]*h[0] + h[1]*h[1] + h[2]*h[2] + h[3]*h[3])
		q := move(t, so3, f, space.TypeQuaternions, h[0]/n, h[1]/n, h[2]/n, h[3]/n)
		b, _ := so3.Motion(append(slices.Clone(q), 0, 0, 0, 0))
		c, _ := so3.Motion(h)
		near(t, "quaternion", times(b, v), move(t, so3, f, space.TypeVectors, times(c, v)...))
	})
}

func times(a, v []float64) []float64 {
	o := make([]float64, 3)
	for i := range o {
		o[i] = a[3*i]*v[0] + a[3*i+1]*v[1] + a[3*i+2]*v[2]
	}
	return o
}

func TestRowsKnown(t *testing.T) {
	quarter := group.Element{1, 0, 0, 1, 0, 10, 20, 30} // about z, counter-clockwise seen from its tip
	for _, c := range []struct {
		typ      string
		in, want []float64
	}{
		{space.TypePositions, []float64{1, 2, 3, -1, 0, 0}, []float64{8, 21, 33, 10, 19, 30}},
		{space.TypeVectors, []float64{1, 2, 3}, []float64{-2, 1, 3}},
		{action.TypeVelocities, []float64{1, 2, 3}, []float64{-2, 1, 3}},
		{space.TypeUnchanged, []float64{1, 2}, []float64{1, 2}},
		{space.TypeTensors, []float64{1, 2, 3, 4, 5, 6, 7, 8, 9}, []float64{5, -4, -6, -2, 1, 3, -8, 7, 9}},
		{"0e+1o", []float64{7, 1, 2, 3}, []float64{7, -2, 1, 3}},
	} {
		a, err := action.NewRows(turning{}, rowsSpec(c.typ, "", -1, len(c.in)), action.Options{})
		if err != nil {
			t.Fatal(err)
		}
		v, err := a.Apply(quarter, &space.Rows{N: 1, W: len(c.in), Val: c.in})
		if err != nil {
			t.Fatal(err)
		}
		if got := asA[*space.Rows](t, v).Val; !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.typ, got, c.want)
		}
	}
}

// upright is Og(3) about z, with shifts, for tests: (angle in radians, mirror, tx, ty, tz).
type uprightGroup struct{}

func (uprightGroup) Name() string            { return "Test upright" }
func (uprightGroup) Chart() []group.Axis     { return make([]group.Axis, 5) }
func (uprightGroup) Identity() group.Element { return make(group.Element, 5) }
func (uprightGroup) Dim() int                { return 3 }
func (uprightGroup) Motion(e group.Element) (a, t []float64) {
	s, c := math.Sincos(e[0])
	m := 1 - 2*e[1]
	return []float64{c, -s * m, 0, s, c * m, 0, 0, 0, 1}, slices.Clone(e[2:])
}

func (g uprightGroup) Mul(p, q group.Element) group.Element {
	a, t := g.Motion(p)
	_, u := g.Motion(q)
	o := group.Element{p[0] + (1-2*p[1])*q[0], math.Abs(p[1] - q[1]), t[0], t[1], t[2]}
	for i := range 3 {
		for j := range 3 {
			o[2+i] += a[3*i+j] * u[j]
		}
	}
	return o
}

func (g uprightGroup) Inv(p group.Element) group.Element {
	o := group.Element{-(1 - 2*p[1]) * p[0], p[1], 0, 0, 0}
	a, _ := g.Motion(o)
	for i := range 3 {
		for j := range 3 {
			o[2+i] -= a[3*i+j] * p[2+j]
		}
	}
	return o
}

func (g uprightGroup) Dist(p, q group.Element) float64 {
	a, t := g.Motion(p)
	b, u := g.Motion(q)
	var d float64
	for i, v := range slices.Concat(a, t) {
		d = max(d, math.Abs(v-slices.Concat(b, u)[i]))
	}
	return d
}

func (uprightGroup) Sample(r *rand.Rand) group.Element {
	return group.Element{r.Float64() * 6, float64(r.IntN(2)), r.NormFloat64(), r.NormFloat64(), r.NormFloat64()}
}

func TestBoxes3D(t *testing.T) {
	a, err := action.NewRows(uprightGroup{}, rowsSpec(space.TypeBoxes, "", -1, 7), action.Options{})
	if err != nil {
		t.Fatal(err)
	}
	x := rows(5, 4, 7)
	// Yaws differ by whole turns.
	distance := func(p, q space.Value) float64 {
		v, w := asA[*space.Rows](t, p), asA[*space.Rows](t, q)
		var d float64
		for i := range v.Val {
			e := v.Val[i] - w.Val[i]
			if i%7 == 6 {
				e = math.Remainder(e, 2*math.Pi)
			}
			d = max(d, math.Abs(e))
		}
		return d
	}
	if err := actiontest.Laws(actiontest.Case{
		Action: a, Value: x, Elements: sampled(uprightGroup{}, 12), Floor: 1e-12,
		Distance: distance,
	}); err != nil {
		t.Error(err)
	}
	// The corners of the moved box are the moved corners.
	corners := func(b []float64) [][3]float64 {
		var out [][3]float64
		s, c := math.Sincos(b[6])
		for k := range 8 {
			u, v, w := b[3]/2*float64(1-2*(k&1)), b[4]/2*float64(1-(k&2)), b[5]/2*float64(1-(k&4)/2)
			out = append(out, [3]float64{b[0] + c*u - s*v, b[1] + s*u + c*v, b[2] + w})
		}
		return out
	}
	for _, e := range sampled(uprightGroup{}, 20) {
		v, err := a.Apply(e, x)
		if err != nil {
			t.Fatal(err)
		}
		m, u := uprightGroup{}.Motion(e)
		for i := range x.N {
			moved := corners(asA[*space.Rows](t, v).Row(i))
			for _, p := range corners(x.Row(i)) {
				q := times(m, p[:])
				if !slices.ContainsFunc(moved, func(r [3]float64) bool {
					return math.Abs(r[0]-q[0]-u[0])+math.Abs(r[1]-q[1]-u[1])+math.Abs(r[2]-q[2]-u[2]) < 1e-9
				}) {
					t.Fatalf("element %v: the moved box %v has no corner where %v goes", e,
						asA[*space.Rows](t, v).Row(i), p)
				}
			}
		}
	}
}

func TestPermutedRows(t *testing.T) {
	s5 := permuting{n: 5}
	g := product(t, s5, turning{})
	a, err := action.NewRows(g, rowsSpec(space.TypePositions, space.PerNode, -1, 3), action.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := actiontest.Laws(actiontest.Case{
		Action: a, Value: rows(1, 5, 3),
		Elements: append(sampled(g, 8), append(group.Element{1, 2, 0, 4, 3}, cubes()[0]...)),
		Floor:    1e-12,
	}); err != nil {
		t.Error(err)
	}
	// Row i goes to place p(i), and only then turns: the two commute.
	e := append(group.Element{1, 2, 0, 4, 3}, cubes()[0]...)
	x := rows(1, 5, 3)
	v, err := a.Apply(e, x)
	if err != nil {
		t.Fatal(err)
	}
	y := asA[*space.Rows](t, v)
	for i, k := range []int{1, 2, 0, 4, 3} {
		if want := []float64{-x.Row(i)[1], x.Row(i)[0], x.Row(i)[2]}; !slices.Equal(y.Row(k), want) {
			t.Errorf("row %d is at %d as %v, want %v", i, k, y.Row(k), want)
		}
	}
	for _, per := range []string{space.PerEdge, space.PerSample} {
		a, err := action.NewRows(g, rowsSpec(space.TypeVectors, per, -1, 3), action.Options{})
		if err != nil {
			t.Fatal(err)
		}
		v, err := a.Apply(e, rows(1, 9, 3)) // as many rows as there are edges
		if err != nil {
			t.Fatal(err)
		}
		x := rows(1, 9, 3)
		for i := range x.N {
			if want := []float64{-x.Row(i)[1], x.Row(i)[0], x.Row(i)[2]}; !slices.Equal(asA[*space.Rows](t, v).Row(i),
				want) {
				t.Errorf("per %s: row %d is not where it was, or not turned", per, i)
			}
		}
	}
	// Samples with fewer rows.
	short, err := a.Apply(e, rows(1, 3, 3))
	if err != nil || asA[*space.Rows](t, short).N != 3 {
		t.Errorf("three rows under S(5): %v", err)
	}
	// A mover for five rows moves three as Apply does.
	m, err := a.Prepare(e, x)
	if err != nil {
		t.Fatal(err)
	}
	to := space.NewRows(3, 3)
	for range 2 { // the second time from what it has kept
		clear(to.Val)
		if err := m.Move(to, rows(1, 3, 3)); err != nil || !slices.Equal(to.Val, asA[*space.Rows](t, short).Val) {
			t.Errorf("a mover of five rows moves three otherwise than Apply: %v", err)
		}
	}
	if !action.Ragged(m) {
		t.Error("a mover of rows of any number does not say so")
	}
}

func TestLinksAndPairs(t *testing.T) {
	s5 := permuting{n: 5}
	g := product(t, s5, turning{})
	l, err := action.NewLinks(g, space.Spec{Name: "edges", Kind: space.KindLinks})
	if err != nil {
		t.Fatal(err)
	}
	x := &space.Links{Nodes: 5, From: []int32{0, 1, 4, 4}, To: []int32{1, 2, 0, 4}}
	elements := append(sampled(g, 6), append(group.Element{1, 2, 0, 4, 3}, cubes()[0]...))
	if err := actiontest.Laws(actiontest.Case{Action: l, Value: x, Elements: elements}); err != nil {
		t.Error(err)
	}
	v, err := l.Apply(elements[6], x)
	if err != nil {
		t.Fatal(err)
	}
	if y := asA[*space.Links](t, v); !slices.Equal(y.From, []int32{1, 2, 3, 3}) ||
		!slices.Equal(y.To, []int32{2, 0, 1, 3}) {
		t.Errorf("moved edges %v", y)
	}
	if _, err := l.Apply(elements[0], &space.Links{Nodes: 5, From: []int32{0, 7}, To: []int32{1, 1}}); err == nil ||
		!strings.Contains(err.Error(), "edge 1 goes from node 7 to node 1, there are 5 nodes") {
		t.Errorf("an edge beyond the nodes: %v", err)
	}
	p, err := action.NewPairs(g, space.Spec{Name: "between", Kind: space.KindPairs, Type: space.TypeVectors},
		action.Options{})
	if err != nil {
		t.Fatal(err)
	}
	y := &space.Pairs{N: 5, W: 3, Val: noise(4, 75)}
	if err := actiontest.Laws(actiontest.Case{Action: p, Value: y, Elements: elements, Floor: 1e-12}); err != nil {
		t.Error(err)
	}
	// Differences of positions are vectors of pairs.
	pos, err := action.NewRows(g, rowsSpec(space.TypePositions, "", 5, 3), action.Options{})
	if err != nil {
		t.Fatal(err)
	}
	points := rows(8, 5, 3)
	for _, e := range elements {
		a, err := p.Apply(e, differences(points))
		if err != nil {
			t.Fatal(err)
		}
		moved, err := pos.Apply(e, points)
		if err != nil {
			t.Fatal(err)
		}
		if d := actiontest.Distance(a, differences(asA[*space.Rows](t, moved))); !(d < 1e-12) {
			t.Errorf("element %v: differences of positions move otherwise than their pairs, %g", e, d)
		}
	}
}

func differences(x *space.Rows) *space.Pairs {
	o := space.NewPairs(x.N, x.W)
	for i := range x.N {
		for j := range x.N {
			for k := range x.W {
				o.Val[(i*x.N+j)*x.W+k] = x.Row(i)[k] - x.Row(j)[k]
			}
		}
	}
	return o
}

func molecule() (*space.Record, space.Spec) {
	v := &space.Record{
		Names: []string{"positions", "charges", "edges", "between", "gravity", "class"},
		Values: []space.Value{
			rows(1, 5, 3), rows(2, 5, 1), &space.Links{Nodes: 5, From: []int32{0, 1, 2, 4}, To: []int32{1, 0, 3, 2}},
			rows(3, 4, 3), rows(4, 1, 3),
			&space.Scores{Val: []float64{0.25, 0.75}},
		},
	}
	return v, space.Spec{Name: "molecule", Kind: space.KindRecord, Fields: []space.Spec{
		{Name: "positions", Kind: space.KindRows, Type: space.TypePositions, Shape: []int{-1, 3}},
		{Name: "charges", Kind: space.KindRows, Type: space.TypeUnchanged, Shape: []int{-1, 1}},
		{Name: "edges", Kind: space.KindLinks},
		{Name: "between", Kind: space.KindRows, Type: space.TypeVectors, Per: space.PerEdge, Shape: []int{-1, 3}},
		{Name: "gravity", Kind: space.KindRows, Type: space.TypeVectors, Per: space.PerSample, Shape: []int{1, 3}},
		{Name: "class", Kind: space.KindScores, Type: space.TypeUnchanged},
	}}
}

func TestRecord(t *testing.T) {
	g := product(t, permuting{n: 5}, turning{})
	v, s := molecule()
	a, err := action.NewRecord(g, s, action.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := actiontest.Laws(actiontest.Case{
		Action: a, Value: v,
		Elements: append(sampled(g, 6), append(group.Element{1, 2, 0, 4, 3}, cubes()[0]...)),
		Floor:    1e-12,
	}); err != nil {
		t.Error(err)
	}
	if _, ok := a.Field("class").(action.Trivial); !ok || a.Field("nothing") != nil || len(a.Fields()) != 6 {
		t.Error("the fields of the action are not those of the spec")
	}
	o, err := a.Apply(sampled(g, 1)[0], v)
	if err != nil {
		t.Fatal(err)
	}
	if asA[*space.Record](t, o).Field("class") == v.Field("class") {
		t.Error("a field that stays shares its memory with the argument")
	}
}

func TestRowsRefusals(t *testing.T) {
	e3, o3, s5 := turning{}, turning{still: true}, permuting{n: 5}
	stretch := stretching{turning{}}
	for _, c := range []struct {
		g        group.Group
		typ, per string
		w        int
		want     string
	}{
		{e3, "", "", 3, "has no action: say what its numbers are with type: positions, vectors"},
		{e3, "positons", "", 3, `type "positons" is not known: use one of positions`},
		{e3, "vectors", "", 4, "rows of 4 numbers do not hold whole vectors of 3 numbers under Test E(3)"},
		{e3, "4x0e+2x1o", "", 9, "4x0e+2x1o are 10 numbers, the rows have 9"},
		{e3, "4x0e+2x1", "", 10, "character 9: want the parity e or o, got the end"},
		{e3, "boxes", "", 7, "that have a yaw alone stand upright, and this group tilts them: take Eg(3) or SEg(3)"},
		{uprightGroup{}, "boxes", "", 8, "boxes are 7 numbers"},
		{e3, "vectors", "atom", 3, `rows per "atom": say node, edge or sample`},
		{o3, "quaternions", "", 4, "has reflections, and none of them turns a quaternion"},
		{stretch, "1o", "", 3, "turn by rotations and reflections alone, and Test stretch has maps that stretch"},
		{stretch, "poses", "", 9, "has maps that stretch"},
		{catalog.SE2(), "pseudovectors", "", 3, "are of three dimensions, SE(2) moves 2"},
		{catalog.Time(), "positions", "", 3, "Time does not move positions; say type: unchanged"},
		{
			product(t, turning{}, turning{}), "vectors", "", 3,
			"do not commute, so the direct product does not act on points; the joint motions of space are SE(3)",
		},
		{
			parse(t, "Roll(4,4)"), "positions", "", 2,
			"moves pictures around, and nobody says where positions would wrap",
		},
		{nameless{s5}, "vectors", "", 3, "Nameless does not say how it moves numbers of type vectors"},
	} {
		_, err := action.NewRows(c.g, rowsSpec(c.typ, c.per, -1, c.w), action.Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: %v, want %s", c.g.Name(), c.typ, err, c.want)
		}
	}
	if _, err := action.NewRows(nameless{s5}, rowsSpec("unchanged", "", -1, 3), action.Options{}); err != nil {
		t.Errorf("rows that stay are refused: %v", err)
	}
	for _, c := range []struct {
		g    permuting
		n    int
		want string
	}{
		{permuting{n: 5}, 7, "the sample has 7 rows and Test S(5) permutes 5"},
		{permuting{n: 5, broken: true}, 5, "is no permutation: two rows go to place"},
	} {
		a, err := action.NewRows(c.g, rowsSpec("unchanged", "", -1, 3), action.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := a.Apply(c.g.Identity(), rows(1, c.n, 3)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	v, s := molecule()
	g := product(t, s5, turning{})
	for what, change := range map[string]func(v *space.Record, s *space.Spec){
		`field "charges": port "charges" has no action: say`: func(_ *space.Record,
			s *space.Spec,
		) {
			s.Fields[1].Type = ""
		},
		`field "charges" has 4 nodes and field "positions" has 5`: func(v *space.Record,
			_ *space.Spec,
		) {
			v.Values[1] = rows(1, 4, 1)
		},
		`field "between" has 3 edges and field "edges" has 4`: func(v *space.Record,
			_ *space.Spec,
		) {
			v.Values[3] = rows(1, 3, 3)
		},
		`field 0 of the record is "places", want "positions"`: func(v *space.Record,
			_ *space.Spec,
		) {
			v.Names = slices.Clone(v.Names) // a clone of a record shares the names of its fields
			v.Names[0] = "places"
		},
		"the record has 5 fields, want 6": func(v *space.Record,
			_ *space.Spec,
		) {
			v.Names, v.Values = v.Names[:5], v.Values[:5]
		},
		`two fields are called "positions"`: func(_ *space.Record,
			s *space.Spec,
		) {
			s.Fields[1].Name = "positions"
		},
		`field "class": no action`: func(_ *space.Record,
			s *space.Spec,
		) {
			s.Fields[5].Type = ""
		},
		`field "edges": port "edges": edges stay unchanged only where their nodes do`: func(_ *space.Record,
			s *space.Spec,
		) {
			s.Fields[2].Type = "unchanged"
		},
	} {
		w := v.Clone()
		x, z := asA[*space.Record](t, w), s
		z.Fields = slices.Clone(s.Fields)
		change(x, &z)
		a, err := action.NewRecord(g, z, action.Options{})
		if err == nil {
			_, err = a.Apply(g.Identity(), x)
		}
		if err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%v, want %s", err, what)
		}
	}
	// Shifts of time do nothing to a molecule. Beside a signal that moves, they leave its other fields where they are.
	if _, err := action.NewRecord(catalog.T1Z(), s, action.Options{}); !errors.Is(err, errors.ErrUnsupported) ||
		!strings.Contains(err.Error(), `field "positions"`) {
		t.Errorf("a molecule under shifts of time: %v", err)
	}
	both := space.Spec{Name: "x", Kind: space.KindRecord, Fields: []space.Spec{
		{Name: "sound", Kind: space.KindSignal},
		{Name: "microphone", Kind: space.KindRows, Type: space.TypePositions, Per: space.PerSample},
	}}
	if _, err := action.NewRecord(catalog.T1Z(), both, action.Options{}); err != nil {
		t.Errorf("sound with the place of its microphone: %v", err)
	}
	if _, err := action.Rules().For(catalog.Time(), rowsSpec("positions", "", -1, 3), action.Options{}); !errors.Is(err,
		errors.ErrUnsupported) {
		t.Errorf("no action of time on points: %v", err)
	}
}

type stretching struct{ turning }

func (stretching) Name() string { return "Test stretch" }
func (g stretching) Motion(e group.Element) (a, t []float64) {
	a, t = g.turning.Motion(e)
	for i := range a {
		a[i] *= math.Exp(e[5])
	}
	return a, t
}

// nameless is a group that only composes.
type nameless struct{ group.Group }

func (nameless) Name() string { return "Nameless" }

// matrices is a group for tests whose elements are matrices of space, nine numbers in rows.
type matrices struct{ turning }

func (matrices) Name() string            { return "Test matrices" }
func (matrices) Chart() []group.Axis     { return make([]group.Axis, 9) }
func (matrices) Identity() group.Element { return group.Element{1, 0, 0, 0, 1, 0, 0, 0, 1} }
func (matrices) Motion(e group.Element) (a, t []float64) {
	return slices.Clone(e), make([]float64, 3)
}

func (matrices) Sample(*rand.Rand) group.Element { return group.Element{0, -1, 0, 1, 0, 0, 0, 0, 1} }

// TestIrrepsOfE3nn holds rows of irreps against what e3nn 0.5.1 makes of them, see testdata/irreps.py.
func TestIrrepsOfE3nn(t *testing.T) {
	b, err := os.ReadFile("testdata/irreps.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Irreps  string
		A, X, Y []float64
	}
	if err := json.Unmarshal(b, &cases); err != nil || len(cases) != 8 {
		t.Fatalf("%d cases: %v", len(cases), err)
	}
	for _, c := range cases {
		w := len(c.X) / 3
		a, err := action.NewRows(matrices{}, rowsSpec(c.Irreps, "", -1, w), action.Options{})
		if err != nil {
			t.Fatal(err)
		}
		v, err := a.Apply(c.A, &space.Rows{N: 3, W: w, Val: c.X})
		if err != nil {
			t.Fatal(err)
		}
		for i, got := range asA[*space.Rows](t, v).Val {
			if !(math.Abs(got-c.Y[i]) < 1e-10) {
				t.Errorf("%s: number %d is %g, e3nn has %g", c.Irreps, i, got, c.Y[i])
			}
		}
	}
	// A matrix that stretches is refused where it is met.
	a, err := action.NewRows(matrices{}, rowsSpec("1o", "", -1, 3), action.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Apply(group.Element{2, 0, 0, 0, 2, 0, 0, 0, 2}, rows(1, 1, 3)); err == nil ||
		!strings.Contains(err.Error(), "this element stretches") {
		t.Errorf("a rotation that is scaled: %v", err)
	}
	if _, err := a.Apply(make(group.Element, 9), rows(1, 1, 3)); err == nil ||
		!strings.Contains(err.Error(), "has no inverse") {
		t.Errorf("a matrix of zeros: %v", err)
	}
}

// own is a group for tests that brings its matrices: C3 on the plane and on three channels.
type own struct {
	group.Group
	// a transposed matrix
	wrong bool
}

func (own) Name() string                    { return "Test own" }
func (own) Representations() map[string]int { return map[string]int{"channels": 3, "plane": 2} }
func (g own) Elements() []group.Element     { return []group.Element{{0}, {120}, {240}} }
func (g own) Matrix(name string, e group.Element) ([]float64, bool) {
	s, c := group.SinCos(e[0])
	switch {
	case name == "plane" && g.wrong:
		return []float64{c * c, -s, s, c}, true
	case name == "plane":
		return []float64{c, -s, s, c}, true
	case name == "channels":
		m, k := make([]float64, 9), int(math.Round(e[0]/120))
		for i := range 3 {
			m[(i+k)%3*3+i] = 1
		}
		return m, true
	}
	return nil, false
}

// bare hides what else a group of the plane can do.
type bare struct{ group.Group }

func TestOwnMatrices(t *testing.T) {
	g := own{Group: bare{mustCyclic(t, 3)}}
	for typ, w := range map[string]int{"channels": 6, "plane": 4} {
		a, err := action.NewRows(g, rowsSpec(typ, "", -1, w), action.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := actiontest.Laws(actiontest.Case{
			Action: a, Value: rows(1, 4, w), Elements: g.Elements(),
			Floor: 1e-12,
		}); err != nil {
			t.Error(err)
		}
		if action.Exact(a, group.Element{120}) != (typ == "channels") {
			t.Errorf("%s: only permutations of channels are exact", typ)
		}
	}
	if _, err := action.NewRows(own{bare{mustCyclic(t, 3)}, true}, rowsSpec("plane", "", -1, 2),
		action.Options{}); err == nil || !strings.Contains(err.Error(), "is not ρ(g)ρ(h)") {
		t.Errorf("matrices that do not compose: %v", err)
	}
	if _, err := action.NewRows(g, rowsSpec("vectors", "", -1, 3), action.Options{}); !errors.Is(err,
		errors.ErrUnsupported) {
		t.Errorf("vectors under a group that does not say how it moves them: %v", err)
	}
}

func TestQuotient(t *testing.T) {
	for _, c := range []struct {
		name     string
		subgroup []group.Element
		dim      int
	}{
		{"D4", nil, 8},
		{"D4", []group.Element{{0, 1}}, 4}, // by a mirror: the sides of a square
		// by the rotations: a sign, as a permutation of two channels
		{"D4", []group.Element{{90, 0}}, 2},
		{"D4", []group.Element{{90, 0}, {0, 1}}, 1},              // by all
		{"C6", []group.Element{{120}}, 2},                        //
		{"Octa", []group.Element{catalog.Octa().Identity()}, 24}, //
	} {
		g := asA[group.Finite](t, parse(t, c.name))
		rep, err := action.Quotient(g, "quotient", c.subgroup...)
		if err != nil || rep.Dim() != c.dim {
			t.Errorf("%s by %v: %d channels, want %d: %v", c.name, c.subgroup, rep.Dim(), c.dim, err)
			continue
		}
		if _, err := action.Given(g, "again", c.dim,
			func(e group.Element) []float64 { m, _ := rep.Matrix(e); return m }); err != nil {
			t.Errorf("%s by %v: %v", c.name, c.subgroup, err)
		}
		for _, h := range c.subgroup { // H leaves the coset H where it is
			if m, err := rep.Matrix(h); err != nil || m[0] != 1 {
				t.Errorf("%s: %v moves its own coset: %v", c.name, h, err)
			}
		}
	}
	if _, err := action.Quotient(asA[group.Finite](t, parse(t, "C4")), "quotient", group.Element{45}); err == nil ||
		!strings.Contains(err.Error(), "is not an element of C4") {
		t.Errorf("a subgroup that is none: %v", err)
	}
}

func TestTyped(t *testing.T) {
	g := turning{still: true}
	rep, err := action.Typed(g, "0e+2x1o+2e", 12)
	if err != nil || rep.Dim() != 12 || rep.Name() != "0e+2x1o+2e" {
		t.Fatalf("%v, %d", err, rep.Dim())
	}
	// The law of representations, as users' matrices are held to it.
	if _, err := action.Given(g, "again", 12,
		func(e group.Element) []float64 { m, _ := rep.Matrix(e); return m }); err != nil {
		t.Error(err)
	}
	a := chosen(t, g, space.Spec{Name: "features", Kind: space.KindTensor, Shape: []int{12}, Type: "0e+2x1o+2e"},
		action.Options{})
	if err := actiontest.Laws(actiontest.Case{
		Action: a, Value: &space.Tensor{Shape: []int{12}, Val: noise(3, 12)},
		Elements: append(cubes(), sampled(g, 4)...), Floor: 1e-12,
	}); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"positions", "boxes"} {
		if _, err := action.Typed(g, name, 7); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%s by matrices: %v", name, err)
		}
	}
	if _, err := action.Typed(g, "1o", 4); err == nil {
		t.Error("three numbers on four")
	}
}

func TestMatrix(t *testing.T) {
	for _, typ := range []string{"positions", "0e+1o+2e", "tensors", "unchanged"} {
		w := map[string]int{"positions": 6, "0e+1o+2e": 9, "tensors": 9, "unchanged": 2}[typ]
		a, err := action.NewRows(turning{}, rowsSpec(typ, "", -1, w), action.Options{})
		if err != nil {
			t.Fatal(err)
		}
		x := rows(1, 1, w)
		for _, e := range sampled(turning{}, 3) {
			v, err := a.Apply(e, x)
			if err != nil {
				t.Fatal(err)
			}
			m, s, err := a.Matrix(e)
			if err != nil {
				t.Fatal(err)
			}
			for i := range w {
				y := s[i]
				for j := range w {
					y += m[i*w+j] * x.Val[j]
				}
				if got := asA[*space.Rows](t, v).Val[i]; !(math.Abs(got-y) < 1e-12) {
					t.Errorf("%s: the matrix says %g, the action %g", typ, y, got)
				}
			}
		}
	}
}

// BenchmarkRows rotates a cloud of 1,024 points: at most 3 µs without allocation.
func BenchmarkRows(b *testing.B) {
	for _, c := range []struct {
		name, typ string
		w         int
		g         group.Group
		e         group.Element
	}{
		{"points", "positions", 3, turning{}, sampled(turning{}, 1)[0]},
		{"cube", "positions", 3, turning{}, cubes()[0]},
		{"irreps", "4x0e+2x1o+2e", 15, turning{}, sampled(turning{}, 1)[0]},
	} {
		a, err := action.NewRows(c.g, rowsSpec(c.typ, "", 1024, c.w), action.Options{})
		if err != nil {
			b.Fatal(err)
		}
		x, to := rows(1, 1024, c.w), space.NewRows(1024, c.w)
		m, err := a.Prepare(c.e, x)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(c.name+"/move", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := m.Move(to, x); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(c.name+"/prepare", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := a.Prepare(c.e, x); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
