package group_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

func spatial(tb testing.TB, name string) group.Spatial {
	tb.Helper()
	s, ok := parse(tb, name).(group.Spatial)
	if !ok {
		tb.Fatalf("%s does not act on space", name)
	}
	return s
}

func apply(s group.Spatial, e group.Element, p []float64) []float64 {
	a, t := s.Motion(e)
	d := s.Dim()
	out := make([]float64, d)
	for i := range out {
		out[i] = t[i]
		for j := range d {
			out[i] += a[i*d+j] * p[j]
		}
	}
	return out
}

// Right-handed turns: x to y about z, y to z about x, z to x about y.
func TestConventionOfSpace(t *testing.T) {
	for _, c := range []struct {
		name    string
		e       group.Element
		p, want []float64
	}{
		{"SO(3)", group.Element{0, 0, 90}, []float64{1, 0, 0}, []float64{0, 1, 0}},
		{"SO(3)", group.Element{90, 0, 0}, []float64{0, 1, 0}, []float64{0, 0, 1}},
		{"SO(3)", group.Element{0, 90, 0}, []float64{0, 0, 1}, []float64{1, 0, 0}},
		{"SO(3)", group.Element{0, 0, -90}, []float64{1, 0, 0}, []float64{0, -1, 0}},
		{
			"SO(3)",
			group.Element{120 / math.Sqrt(3), 120 / math.Sqrt(3), 120 / math.Sqrt(3)},
			[]float64{1, 2, 3},
			[]float64{3, 1, 2},
		},
		{"SO(3)", group.Element{180 / math.Sqrt2, 180 / math.Sqrt2, 0}, []float64{1, 2, 3}, []float64{2, 1, -3}},
		{"O(3)", group.Element{0, 0, 180, 1}, []float64{1, 2, 3}, []float64{1, 2, -3}}, // the mirror in the plane xy
		{"T(3)", group.Element{1, -2, 0.5}, []float64{1, 1, 1}, []float64{2, -1, 1.5}},
		{"SE(3)", group.Element{0, 0, 90, 10, 0, 0}, []float64{1, 0, 0}, []float64{10, 1, 0}},
		{"E(3)", group.Element{0, 0, 90, 1, 10, 0, 0}, []float64{1, 0, 0}, []float64{10, -1, 0}},
		{"Scale(3)", group.Element{2}, []float64{1, 2, 3}, []float64{2, 4, 6}},
		{"Og(3)", group.Element{90, 0}, []float64{1, 2, 3}, []float64{-2, 1, 3}},
		{"Og(3)", group.Element{0, 1}, []float64{1, 2, 3}, []float64{-1, 2, 3}},
		{"Og(3,x)", group.Element{90, 0}, []float64{1, 2, 3}, []float64{1, -3, 2}},
		// z becomes -z, then z turns to x and x to -z
		{"Og(3,y)", group.Element{90, 1}, []float64{1, 2, 3}, []float64{-3, 2, -1}},
		{"SOg(3,0,0,-1)", group.Element{90}, []float64{1, 2, 3}, []float64{2, -1, 3}},
		{"Eg(3)", group.Element{90, 1, 10, 0, 0.5}, []float64{1, 2, 3}, []float64{8, -1, 3.5}},
		{"SEg(3,x)", group.Element{90, 0, 0, 1}, []float64{1, 2, 3}, []float64{1, -3, 3}},
	} {
		got := apply(spatial(t, c.name), c.e, c.p)
		for i := range got {
			if math.Abs(got[i]-c.want[i]) > 1e-15 {
				t.Errorf("%s %v moves %v to %v, expected %v", c.name, c.e, c.p, got, c.want)
				break
			}
		}
	}
	s, ok := group.AsSpatial(catalog.SE2())
	if !ok || s.Dim() != 2 || !slices.Equal(apply(s, group.Element{90, 1, 0}, []float64{1, 0}), []float64{1, -1}) {
		t.Error("SE(2) moves points of R² as those of a picture")
	}
	if same, ok := group.AsSpatial(catalog.SO3()); !ok || same.Dim() != 3 {
		t.Error("SO(3) acts on space itself")
	}
	if _, ok := group.AsSpatial(catalog.Time()); !ok {
		t.Error("Time leaves the plane alone, which is a map of it")
	}
}

func TestChartOfRotations(t *testing.T) {
	g := catalog.SO3()
	for _, c := range []struct{ in, want group.Element }{
		{group.Element{0, 0, 180}, group.Element{0, 0, 180}},
		{group.Element{0, 0, -180}, group.Element{0, 0, 180}},
		{group.Element{0, -180, 0}, group.Element{0, 180, 0}},
		{group.Element{-180 / math.Sqrt2, 180 / math.Sqrt2, 0}, group.Element{180 / math.Sqrt2, -180 / math.Sqrt2, 0}},
		{group.Element{0, 0, -90}, group.Element{0, 0, -90}},
	} {
		got, err := group.Validate(g, c.in)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%v has the canonical form %v, %v, expected %v", c.in, got, err, c.want)
		}
	}
	if got, err := group.Validate(g, group.Element{150, 150, 0}); err != nil ||
		math.Abs(g.Dist(got, group.Element{-(360*math.Sqrt2/2 - 150), -(360*math.Sqrt2/2 - 150), 0})) > 1e-9 {
		t.Errorf("212 degrees about (1,1,0) are 148 the other way: %v, %v", got, err)
	}
	if got := g.Mul(group.Element{0, 10, 0}, group.Element{0, 20.5, 0}); !slices.Equal(got, group.Element{0, 30.5, 0}) {
		t.Errorf("about one axis angles add: %v", got)
	}
	if got := g.Mul(group.Element{0, 0, 100}, group.Element{0, 0, 100}); !slices.Equal(got, group.Element{0, 0, -160}) {
		t.Errorf("200 degrees are -160: %v", got)
	}
	for _, c := range []struct {
		a, b group.Element
		want float64
	}{
		{group.Element{0, 0, 10}, group.Element{0, 0, -10}, 20},
		{group.Element{0, 0, 180}, group.Element{0, 0, -180}, 0},
		{group.Element{0, 0, 179}, group.Element{0, 0, -179}, 2}, // the quaternions are nearly opposite
		{group.Element{90, 0, 0}, group.Element{0, 90, 0}, 120},
		{group.Element{0, 0, 0}, group.Element{1e-9, 0, 0}, 1e-9},
	} {
		if d := g.Dist(c.a, c.b); math.Abs(d-c.want) > 1e-12 {
			t.Errorf("Dist(%v, %v) = %v, expected %v", c.a, c.b, d, c.want)
		}
	}
}

// Products of the rotations of the cube keep their bits however long the chain, and their matrices are signed
// permutations.
func TestRotationsOfTheCubeStayExact(t *testing.T) {
	octa := elementsOf(t, "Octa")
	g := spatial(t, "SO(3)")
	known := map[[3]float64]bool{}
	for _, e := range octa {
		known[[3]float64(e)] = true
		a, _ := g.Motion(e)
		for _, v := range a {
			if v != 0 && v != 1 && v != -1 {
				t.Errorf("Motion(%v) has the entry %v", e, v)
			}
		}
	}
	rapid.Check(t, func(r *rapid.T) {
		e := g.Identity()
		for range 30 {
			e = g.Mul(rapid.SampledFrom(octa).Draw(r, "g"), e)
			if !known[[3]float64(e)] {
				r.Fatalf("the product %v is not in the list", e)
			}
		}
	})
	a, _ := g.Motion(group.Element{0, 0, 60})
	if a[0] != 0.5 || a[4] != 0.5 {
		t.Errorf("cos 60° must be 1/2 exactly: %v", a)
	}
}

func elementsOf(tb testing.TB, name string) []group.Element {
	tb.Helper()
	es, err := group.Enumerate(parse(tb, name))
	if err != nil {
		tb.Fatal(err)
	}
	return es
}

// Numbers of rotations by angle: 3-fold and 2-fold axes of the tetrahedron, and so on. Orders of elements from Coxeter
// 1973, Regular polytopes.
func TestFiniteSubgroups(t *testing.T) {
	for name, want := range map[string]map[int]int{
		"Tetra": {0: 1, 120: 8, 180: 3},
		"Octa":  {0: 1, 90: 6, 120: 8, 180: 9},
		"Icosa": {0: 1, 72: 12, 120: 20, 144: 12, 180: 15},
		"Th":    {0: 2, 120: 16, 180: 6},
		"Td":    {0: 1, 120: 8, 180: 3 + 6, 90: 6},
		"Oh":    {0: 2, 90: 12, 120: 16, 180: 18},
		"Ih":    {0: 2, 72: 24, 120: 40, 144: 24, 180: 30},
	} {
		got := map[int]int{}
		total := 0
		s := spatial(t, name)
		for i, e := range elementsOf(t, name) {
			got[int(math.Round(math.Sqrt(e[0]*e[0]+e[1]*e[1]+e[2]*e[2])))]++
			if i == 0 && s.Dist(e, s.Identity()) != 0 {
				t.Errorf("%s begins with %v", name, e)
			}
		}
		for angle, n := range want {
			total += n
			if got[angle] != n {
				t.Errorf("%s has %d elements of angle %d, expected %d", name, got[angle], angle, n)
			}
		}
		if o, ok := s.(group.Ordered); !ok || o.Order() != total {
			t.Errorf("%s: order differs from %d", name, total)
		}
	}
	// Td permutes the corners of its tetrahedron, Th does not.
	corners := func(s group.Spatial, e group.Element) bool {
		for _, p := range [][]float64{{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}} {
			q := apply(s, e, p)
			if q[0]*q[1]*q[2] < 0 {
				return false
			}
		}
		return true
	}
	for _, e := range elementsOf(t, "Td") {
		if !corners(spatial(t, "Td"), e) {
			t.Errorf("Td: %v does not keep the tetrahedron", e)
		}
	}
	if _, err := group.Validate(parse(t, "Octa"), group.Element{0, 0, 45}); err == nil ||
		!strings.Contains(err.Error(), "no element of Octa") {
		t.Errorf("45 degrees in Octa: %v", err)
	}
	if e, err := group.Validate(parse(t, "Octa"), group.Element{69.282, 69.282, 69.282}); err != nil || e[0] == 69.282 {
		t.Errorf("typed numbers may be a little off: %v, %v", e, err)
	}
}

// The numbers are those of the paper's presets: 72 axes by 12 angles, of which opposite half turns coincide, and the
// identity once.
func TestSlices(t *testing.T) {
	for _, c := range []struct {
		name        string
		planes      []string
		axis, angle float64
		n           int
	}{
		{"SO(3)", []string{"xy"}, 0, 0, 829},
		{"SO(3)", []string{"xz"}, 5, 15, 829},
		{"SO(3)", []string{"yz"}, 5, 15, 829},
		{"SO(3)", nil, 0, 0, 2416},
		{"SO(3)", []string{"xy"}, 10, 10, 631},
		{"SO(3)", nil, 10, 10, 1786},
		{"O(3)", nil, 0, 0, 2416},
		{"SE(3)", nil, 0, 0, 2416},
		{"E(3)", nil, 0, 0, 2416},
		{"Scale(3) x SO(3)", []string{"yz", "xy"}, 0, 0, 829*2 - 1 - 23 + 1 - 1},
	} {
		g := parse(t, c.name)
		es, err := group.Discs(g, c.planes, c.axis, c.angle)
		if err != nil || len(es) != c.n {
			t.Errorf("%s %v: %d elements, %v, expected %d", c.name, c.planes, len(es), err, c.n)
			continue
		}
		if g.Dist(es[0], g.Identity()) != 0 {
			t.Errorf("%s: begins with %v", c.name, es[0])
		}
		for _, e := range es {
			if v, err := group.Validate(g, e); err != nil || !slices.Equal(v, e) {
				t.Errorf("%s: %v is not canonical: %v, %v", c.name, e, v, err)
			}
		}
	}
	// The plane xy holds exactly the rotations with rz = 0, at their places.
	es, err := group.Discs(catalog.SO3(), []string{"xy"}, 90, 60)
	if err != nil {
		t.Fatal(err)
	}
	want := []group.Element{
		{0, 0, 0},
		{60, 0, 0},
		{0, 60, 0},
		{-60, 0, 0},
		{0, -60, 0},
		{120, 0, 0},
		{0, 120, 0},
		{-120, 0, 0},
		{0, -120, 0},
		{180, 0, 0},
		{0, 180, 0},
	}
	if !slices.EqualFunc(es, want, func(a, b group.Element) bool { return slices.Equal(a, b) }) {
		t.Errorf("%v, expected %v", es, want)
	}
	for want, try := range map[string]func() error{
		"has no slices":      func() error { _, err := group.Discs(catalog.SO2(), nil, 0, 0); return err },
		"Octa has no slices": func() error { _, err := group.Discs(catalog.Octa(), nil, 0, 0); return err },
		"expected some of":   func() error { _, err := group.Discs(catalog.SO3(), []string{"zx"}, 0, 0); return err },
		"listed twice": func() error {
			_,
				err := group.Discs(catalog.SO3(), []string{"xy", "xy"}, 0, 0)
			return err
		},
		"divisor of 360": func() error { _, err := group.Discs(catalog.SO3(), nil, 7, 0); return err },
		"divisor of 180": func() error { _, err := group.Discs(catalog.SO3(), nil, 0, math.NaN()); return err },
		"more than":      func() error { _, err := group.Discs(catalog.SO3(), nil, 0.01, 0.01); return err },
	} {
		if err := try(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, expected %q", err, want)
		}
	}
}

// Moments of the Haar measure: E R = 0 and E R_ij R_kl = δ_ik δ_jl / 3.
func TestHaarMomentsOfRotations(t *testing.T) {
	check := func(name string, es []group.Element, tol float64) {
		s := spatial(t, "SO(3)")
		var mean [9]float64
		var second [9][9]float64
		for _, e := range es {
			a, _ := s.Motion(e)
			for i := range 9 {
				mean[i] += a[i] / float64(len(es))
				for j := range 9 {
					second[i][j] += a[i] * a[j] / float64(len(es))
				}
			}
		}
		for i := range 9 {
			if math.Abs(mean[i]) > tol {
				t.Errorf("%s: the mean of entry %d is %g, expected 0 within %g", name, i, mean[i], tol)
			}
			for j := range 9 {
				want := 0.0
				if i == j {
					want = 1. / 3
				}
				if math.Abs(second[i][j]-want) > tol {
					t.Errorf("%s: the mean of entries %d and %d is %g, expected %g within %g", name, i, j, second[i][j],
						want, tol)
				}
			}
		}
	}
	g := catalog.SO3()
	es, err := group.Haar(g, 20000, nil, rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		t.Fatal(err)
	}
	check("Haar", es, 5*0.58/math.Sqrt(20000)) // five standard deviations of an entry
	low, err := group.LowDiscrepancy(g, 2000, nil)
	if err != nil || g.Dist(low[0], g.Identity()) != 0 {
		t.Fatal(low[0], err)
	}
	check("low discrepancy", low, 0.58/math.Sqrt(2000)) // one standard deviation of as many draws
	for _, name := range []string{"Tetra", "Octa", "Icosa"} {
		check(name, elementsOf(t, name), 1e-14) // designs of degree 2
	}
	// In a window the density is the Haar measure's, where a flat chart would have the mean angle 3π/4: half of the
	// chart has that of the whole.
	box, err := group.Haar(g, 4000, [][2]float64{{-180, 180}, {-180, 180}, {0, 180}}, rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		t.Fatal(err)
	}
	var sum float64
	for _, e := range box {
		if e[2] < -1e-9 {
			t.Fatalf("%v is outside the window", e)
		}
		th := math.Sqrt(e[0]*e[0]+e[1]*e[1]+e[2]*e[2]) * math.Pi / 180
		sum += th / float64(len(box))
	}
	// E θ = ∫θ(1-cos θ)/π over [0, π] = π/2 + 2/π
	if want := math.Pi/2 + 2/math.Pi; math.Abs(sum-want) > 5*0.65/math.Sqrt(4000) {
		t.Errorf("the mean angle is %g rad, expected %g", sum, want)
	}
}

func TestPlansOfSpace(t *testing.T) {
	for _, c := range []struct {
		name   string
		window [][2]float64
		n      int
		text   string
	}{
		{"SO(3)", nil, 223, "24 rotations of the cube and a low-discrepancy sample of 200 elements: all rotations of " +
			"space"},
		{"SO(3)", [][2]float64{{-30, 30}, {-30, 30}, {-30, 30}}, 200, "1 rotations of the cube"},
		{"O(3)", nil, 247, "48 rotations of the cube with and without inversion"},
		{"T(3)", nil, 729, "tx -1..1 length (9)"},
		{"SE(3)", nil, 223, "all rotations of space, tx -1..1 length"},
		{"E(3)", nil, 247, "inversion 0 and 1"},
		{"Oh", nil, 48, "all 48 elements"},
		{"Octa", [][2]float64{{-90, 90}, {0, 0}, {0, 0}}, 3, "the 3 elements of Octa within the range"},
		{"Eg(3)", nil, 207, "8 quarter turns with and without a mirror and a low-discrepancy sample of 200"},
		{"SEg(3)", nil, 203, "angle over the full turn, tx -1..1 length"},
		{"Og(3)", nil, 144, "angle over the full turn (72), mirror 0 and 1"},
		{"Scale(3)", nil, 13, "log-spaced"},
		{"SO(3) x Scale(3)", nil, 0, "of each factor alone"},
	} {
		g := parse(t, c.name)
		es, text, err := group.Preset(g, c.window)
		if err != nil || c.n > 0 && len(es) != c.n || !strings.Contains(text, c.text) {
			t.Errorf("%s: %d elements, %q, %v, expected %d, %q", c.name, len(es), text, err, c.n, c.text)
		}
		if !slices.ContainsFunc(es, func(e group.Element) bool { return g.Dist(e, g.Identity()) == 0 }) {
			t.Errorf("%s: no identity", c.name)
		}
		for _, e := range es {
			if v, err := group.Validate(g, e); err != nil || g.Dist(v, e) > 1e-12 {
				t.Fatalf("%s: %v: %v", c.name, e, err)
			}
		}
	}
	es, err := group.Lattice(catalog.O3(), nil)
	if err != nil || len(es) != 48 {
		t.Errorf("lattice of O(3): %d, %v", len(es), err)
	}
	es, err = group.Lattice(catalog.SE3(), [][2]float64{{-180, 180}, {-180, 180}, {-180, 180}, {0, 2}, {0, 0}, {0, 0}})
	if err != nil || len(es) != 72 {
		t.Errorf("lattice of SE(3): %d, %v", len(es), err)
	}
	grid, err := group.Grid(catalog.SO3(), []int{5, 5, 5}, nil)
	if err != nil || len(grid) < 20 || len(grid) > 60 {
		t.Errorf("grid of SO(3): %d, %v", len(grid), err)
	}
	if _, err := group.Haar(catalog.SO3(), 5, [][2]float64{{150, 180}, {150, 180}, {0, 0}},
		rand.New(rand.NewPCG(1, 1))); err == nil || !strings.Contains(err.Error(), "less than 180") {
		t.Errorf("a window without rotations: %v", err)
	}
}

// A refinement has the same spacing everywhere, at the edge of the chart too.
func TestRefineRotations(t *testing.T) {
	g := catalog.SO3()
	for _, at := range []group.Element{{0, 0, 0}, {0, 0, 180}, {100, 100, 0}, {-30, 20, 170}} {
		es, err := group.Refine(g, at, []float64{2, 2, 2}, []int{3, 3, 3})
		if err != nil || len(es) != 27 {
			t.Fatalf("%v: %d elements, %v", at, len(es), err)
		}
		near := 0
		for _, e := range es {
			d := g.Dist(at, e)
			if d > 2*math.Sqrt(3)+1e-9 {
				t.Errorf("%v is %g degrees from %v", e, d, at)
			}
			if math.Abs(d-2) < 1e-9 {
				near++
			}
		}
		if near != 6 {
			t.Errorf("%v: %d neighbors at 2 degrees, expected 6", at, near)
		}
	}
	es, err := group.Refine(catalog.SE3(), group.Element{0, 0, 90, 1, 2, 3}, []float64{0, 0, 1, 0.5, 0, 0},
		[]int{1, 1, 3, 3, 1, 1})
	if err != nil || len(es) != 9 ||
		!slices.ContainsFunc(es,
			func(e group.Element) bool { return slices.Equal(e, group.Element{0, 0, 91, 1.5, 2, 3}) }) {
		t.Errorf("SE(3): %v, %v", es, err)
	}
}

// exp of a rotation vector with a drift along it is a screw: it moves along the axis while it turns.
func TestExpInSpace(t *testing.T) {
	l, ok := catalog.SE3().(group.Lie)
	if !ok {
		t.Fatal("SE(3) is no Lie group")
	}
	if got := l.Exp([]float64{0, 0, math.Pi / 2, 0, 0, 3}); !slices.Equal(got, group.Element{0, 0, 90, 0, 0, 3}) {
		t.Errorf("a screw: %v", got)
	}
	// Turning by π about z while drifting along x by π: half a circle of radius 1, ending at y = 2.
	if got := l.Exp([]float64{0, 0, math.Pi, math.Pi, 0, 0}); math.Abs(got[3]) > 1e-14 || math.Abs(got[4]-2) > 1e-14 {
		t.Errorf("half a circle: %v", got)
	}
	tiny := l.Exp([]float64{1e-5, 2e-5, 0, 1, 0, 0})
	if math.Abs(tiny[5]+1e-5) > 1e-12 { // to first order t + w×t/2
		t.Errorf("a small turn: %v", tiny)
	}
}

func BenchmarkMulSO3(b *testing.B) {
	g := catalog.SO3()
	x, y := group.Element{10, 20, 30}, group.Element{-40, 50, 100}
	for b.Loop() {
		g.Mul(x, y)
	}
}

func BenchmarkMotionSE3(b *testing.B) {
	s, _ := catalog.SE3().(group.Spatial)
	x := group.Element{10, 20, 30, 1, 2, 3}
	for b.Loop() {
		s.Motion(x)
	}
}

func BenchmarkSlices(b *testing.B) {
	for b.Loop() {
		if _, err := group.Discs(catalog.SO3(), nil, 0, 0); err != nil {
			b.Fatal(err)
		}
	}
}

// Sums of angles about one axis that pass a half turn by less than makes another rotation stay in the chart.
func TestHalfTurnsStayInTheChart(t *testing.T) {
	for _, name := range []string{"SO(3)", "O(3)", "SE(3)", "E(3)", "GL+(3)", "Lorentz", "Affine(3)"} {
		g, err := catalog.Parse(name)
		if err != nil {
			t.Fatal(err)
		}
		for axis := range 3 {
			for _, more := range []float64{1.1641532182693481e-10, 1e-10, 3e-14, 1e-12, -1e-10, -1e-12, 2e-10, 1e-9} {
				a, b := g.Identity(), g.Identity()
				a[axis], b[axis] = 180, more
				c := g.Mul(a, b)
				if !(math.Abs(c[axis]) <= 180) {
					t.Errorf("%s: %v after %v is %v, beyond 180 degrees", name, a, b, c)
				}
				if d := g.Mul(g.Identity(), c); !slices.Equal(d, c) {
					t.Errorf("%s: the canonical form of %v is %v", name, c, d)
				}
			}
		}
	}
}

// Near half turns a rotation vector is told from its matrix by what is lost in rounding: products whose angle comes as
// close to 180 degrees as numbers allow still compose as their matrices do, have an inverse, and stay in the chart,
// with the inversion and without.
func TestNearHalfTurns(t *testing.T) {
	for name, G := range map[string]group.Group{"SO(3)": catalog.SO3(), "O(3)": catalog.O3()} {
		s, ok := group.AsSpatial(G)
		if !ok {
			t.Fatal(name)
		}
		rapid.Check(t, func(t *rapid.T) {
			draw := func(what string) group.Element {
				var n [3]float64
				var norm float64
				for i := range n {
					// some components vanish or nearly do, where signs are told from nothing else
					n[i] = rapid.SampledFrom([]float64{0, 1e-12, -1e-12, 1e-7, 1, -1, 0.3}).Draw(t, what+" axis")
					norm += n[i] * n[i]
				}
				if norm == 0 {
					n[2], norm = 1, 1
				}
				short := rapid.SampledFrom([]float64{0, 1e-14, 1e-12, 1e-9, 1e-7, 1e-5, 1e-3, 90}).Draw(t,
					what+" short of")
				e := slices.Clone(G.Identity())
				for i := range n {
					e[i] = (180 - short) * n[i] / math.Sqrt(norm)
				}
				if len(e) > 3 {
					e[3] = float64(rapid.IntRange(0, 1).Draw(t, what+" inversion"))
				}
				return G.Mul(e, G.Identity())
			}
			a, b, c := draw("a"), draw("b"), draw("c")
			ab := G.Mul(a, b)
			if length := math.Sqrt(ab[0]*ab[0] + ab[1]*ab[1] + ab[2]*ab[2]); !(length <= 180*(1+1e-14)) {
				t.Fatalf("%s: %v after %v is %v, beyond a half turn", name, a, b, ab)
			}
			ma, _ := s.Motion(a)
			mb, _ := s.Motion(b)
			mab, _ := s.Motion(ab)
			for i := range 3 {
				for j := range 3 {
					var want float64
					for k := range 3 {
						want += ma[3*i+k] * mb[3*k+j]
					}
					// maps as near as this to a symmetry of the lattice are taken for it
					if got := mab[3*i+j]; !(math.Abs(got-want) <= 1e-11) {
						t.Fatalf("%s: entry %d,%d of the product is %g, of the matrices %g", name, i, j, got, want)
					}
				}
			}
			// in degrees
			if d := G.Dist(G.Mul(a, G.Inv(a)), G.Identity()); !(d <= 1e-8) {
				t.Fatalf("%s: %v and its inverse are %g degrees from nothing", name, a, d)
			}
			if d := G.Dist(G.Mul(ab, c), G.Mul(a, G.Mul(b, c))); !(d <= 1e-8) {
				t.Fatalf("%s: products of %v, %v and %v differ by %g degrees", name, a, b, c, d)
			}
		})
	}
}
