package group_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

func TestTimeIsBuiltIn(t *testing.T) {
	for name, want := range map[string]struct{ finite, planar, torus, lie, reverses bool }{
		"Time":                  {true, true, false, false, true},
		"D4 x Time":             {true, true, false, false, true},
		"Time x D4":             {true, true, false, false, true},
		"T(2) x Time":           {false, true, false, false, true},
		"Roll(3,4) x Time":      {true, true, true, false, true},
		"C4 x T(2) x Time":      {false, false, false, false, true},
		"C4 x Roll(3,4)":        {true, false, false, false, false},
		"C1 x Roll(3,4)":        {true, false, false, false, false},
		"C4 x C3":               {true, true, false, false, false},
		"Scale x SO(2)":         {false, true, false, true, false},
		"C2 x T(2) x Time":      {false, false, false, false, true},
		"Roll(3,4) x SE(2)":     {false, false, false, false, false},
		"Time x Time":           {true, true, false, false, true},
		"Scale x C4 x Time":     {false, true, false, false, true},
		"Trivial x Time":        {true, true, false, false, true},
		"C4 x Roll(3,4) x Time": {true, false, false, false, true},
	} {
		g := parse(t, name)
		got := want
		got.finite, got.planar, got.torus, got.lie, got.reverses = is[group.Finite](g), is[group.Planar](g),
			is[group.Torus](g), is[group.Lie](g), is[group.Temporal](g)
		if got != want {
			t.Errorf("%s: finite, planar, torus, Lie, temporal are %v, want %v", name, got, want)
		}
	}
	g := parse(t, "piv-d4t")
	if g.Name() != "D4 x Time" {
		t.Errorf("piv-d4t is %s", g.Name())
	}
	f, ok := g.(group.Finite)
	if !ok {
		t.Fatal("D4 x Time is not finite")
	}
	es := f.Elements()
	if len(es) != 16 || !slices.Equal(es[0], group.Element{0, 0, 0}) {
		t.Errorf("%d elements, the first is %v", len(es), es[0])
	}
	for _, e := range es {
		if group.Reverses(g, e) != (e[2] == 1) {
			t.Errorf("%v: reverses is %v", e, group.Reverses(g, e))
		}
		a, _ := affine(t, g, e)
		if b, _ := affine(t, parse(t, "D4"), e[:2]); a != b {
			t.Errorf("%v: the map is %v, that of D4 is %v", e, a, b)
		}
	}
	roll := parse(t, "Roll(3,4) x Time")
	if r, ok := roll.(group.Torus); ok {
		if h, w := r.Period(); h != 3 || w != 4 {
			t.Errorf("the period of %s is %d×%d", roll.Name(), h, w)
		}
	}
	if group.Reverses(catalog.SO2(), group.Element{180}) {
		t.Error("SO(2) reverses time")
	}
	if d := g.Dist(es[0], group.Element{0, 0, 1}); d != 180 {
		t.Errorf("time reversal is %v from the identity", d)
	}
	if got := group.Format(g, group.Element{90, 1, 1}); got != "(angle 90°, mirror 1, reverse 1)" {
		t.Errorf("Format: %s", got)
	}
	plan, text, err := group.Preset(g, nil)
	if err != nil || len(plan) != 16 || text != "all 16 elements of D4 x Time" {
		t.Errorf("Preset: %d elements, %q, %v", len(plan), text, err)
	}
	if l, err := group.Lattice(parse(t, "SO(2) x Time"), nil); err != nil || len(l) != 8 {
		t.Errorf("the lattice of SO(2) x Time is %v, %v", l, err)
	}
	if _, err := group.Validate(g, group.Element{0, 0, 0.5}); err == nil {
		t.Error("half a reversal is accepted")
	}
}

// The table of the study of particle images: what each number does to an index, and how numbers compose. The elements
// are found from the map alone: out(q) = in(A⁻¹q), q measured from the centre.
func TestNumbersOfTheSquare(t *testing.T) {
	const n = 5
	table := []func(r, c int) (int, int){
		func(r, c int) (int, int) { return r, c },
		func(r, c int) (int, int) { return n - 1 - c, n - 1 - r },
		func(r, c int) (int, int) { return c, n - 1 - r },
		func(r, c int) (int, int) { return r, n - 1 - c },
		func(r, c int) (int, int) { return n - 1 - r, n - 1 - c },
		func(r, c int) (int, int) { return c, r },
		func(r, c int) (int, int) { return n - 1 - c, r },
		func(r, c int) (int, int) { return n - 1 - r, c },
	}
	titles := []string{
		"identity", "mirror in /", "rotate 90°", "horizontal mirror", "rotate 180°", `mirror in \`,
		"rotate 270°", "vertical mirror",
		"time reversed", "mirror in / and time reversed", "rotate 90° and time reversed",
		"horizontal mirror and time reversed",
		"rotate 180° and time reversed", `mirror in \ and time reversed`, "rotate 270° and time reversed",
		"vertical mirror and time reversed",
	}
	for name, order := range map[string]int{"D4": 8, "D4 x Time": 16, "Time x D4": 16} {
		g := parse(t, name)
		elements := make([]group.Element, order)
		for i := range order {
			e, ok := group.AtNumber(g, i)
			if !ok {
				t.Fatalf("%s has no element %d", name, i)
			}
			elements[i] = e
			if k, ok := group.Number(g, e); !ok || k != i {
				t.Errorf("%s: element %d has the number %d", name, i, k)
			}
			if got := group.Title(g, e); got != titles[i] {
				t.Errorf("%s: element %d is called %q, want %q", name, i, got, titles[i])
			}
			if group.Reverses(g, e) != (i >= 8) {
				t.Errorf("%s: element %d reverses: %v", name, i, group.Reverses(g, e))
			}
			a, _ := affine(t, g, e)
			for r := range n {
				for c := range n {
					x, y := float64(c)-2, float64(r)-2
					// The transpose is the inverse.
					sc, sr := a[0][0]*x+a[1][0]*y+2, a[0][1]*x+a[1][1]*y+2
					if wr, wc := table[i%8](r, c); sr != float64(wr) || sc != float64(wc) {
						t.Errorf("%s: element %d: [%d][%d] is read at [%v][%v], want [%d][%d]", name, i, r, c, sr, sc,
							wr, wc)
					}
				}
			}
		}
		for _, out := range []int{-1, order, 99} {
			if e, ok := group.AtNumber(g, out); ok {
				t.Errorf("%s: element %d is %v", name, out, e)
			}
		}
		if d := group.Dedup(g, elements, 0); len(d) != order {
			t.Errorf("%s: %d of %d numbers are different elements", name, len(d), order)
		}
		for i, x := range elements { // new∘current, all pairs
			for j, y := range elements {
				got, _ := group.Number(g, g.Mul(x, y))
				// The rule as it is written down.
				want := (i%8 + j%8) % 8
				if i%2 == 1 {
					want = (i%8 - j%8 + 8) % 8
				}
				if (i >= 8) != (j >= 8) {
					want += 8
				}
				if got != want || group.AfterNumber(i, j) != want {
					t.Errorf("%s: %d∘%d is %d, by AfterNumber %d, want %d", name, i, j, got, group.AfterNumber(i, j),
						want)
				}
			}
		}
	}
	if n, ok := group.Number(parse(t, "D4"), group.Element{-90, 0}); !ok || n != 6 {
		t.Errorf("a turn by -90 degrees has the number %d", n)
	}
	for name, e := range map[string]group.Element{"D4": {45, 0}, "D8": {90, 0}, "C4": {90}, "D4 x Time": {0, 0}} {
		if n, ok := group.Number(parse(t, name), e); ok {
			t.Errorf("%v of %s has the number %d", e, name, n)
		}
	}
	for name, c := range map[string]struct {
		e    group.Element
		want string
	}{
		"Time": {group.Element{1}, "time reversed"}, "SO(2)": {group.Element{30}, "30°"},
		"C4":          {group.Element{90}, "90°"},
		"T(2) x Time": {group.Element{1, 0, 1}, "(dx 1 px, dy 0 px, reverse 1)"},
	} {
		if got := group.Title(parse(t, name), c.e); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if got := group.Title(catalog.Time(), group.Element{0}); got != "identity" {
		t.Errorf("Time: the identity is called %q", got)
	}
}

func TestTimeIsDrawnEvenly(t *testing.T) {
	n, r := 0, rand.New(rand.NewPCG(1, 1))
	s, ok := catalog.Time().(group.Sampler)
	if !ok {
		t.Fatal("Time cannot be sampled")
	}
	for range 1000 {
		if s.Sample(r)[0] == 1 {
			n++
		}
	}
	if n < 420 || n > 580 { // five standard deviations
		t.Errorf("%d of 1000 draws reverse time", n)
	}
}

func TestSimilarity(t *testing.T) {
	for _, name := range []string{"O(2)", "D4", "SO(2) x Scale", "D4 x Scale", "D4 x Time", "E(2)"} {
		g := parse(t, name)
		s, ok := g.(group.Sampler)
		if !ok {
			t.Fatal(name)
		}
		r := rand.New(rand.NewPCG(5, 5))
		for range 50 {
			e := s.Sample(r)
			a, _ := affine(t, g, e)
			scale, angle, mirrors, ok := group.Similarity(a)
			want := map[string]float64{"scale": 1}
			for i, x := range g.Chart() {
				want[x.Name] = e[i]
			}
			d := math.Abs(math.Remainder(angle-want["angle"], 360))
			if !ok || math.Abs(scale-want["scale"]) > 1e-12 || mirrors != (want["mirror"] == 1) || !(d <= 1e-9) {
				t.Errorf("%s: %v is read as scale %g, angle %g, mirror %v, %v", name, e, scale, angle, mirrors, ok)
			}
			if want["angle"] == 90*math.Round(want["angle"]/90) && d != 0 {
				t.Errorf("%s: the quarter turn %v is read as %g degrees", name, e, angle)
			}
		}
	}
	for _, a := range [][2][2]float64{
		{{1, 1e-9}, {0, 1}},
		{{2, 0}, {0, 1}},
		{{0, 0}, {0, 0}},
		{{1, 1}, {1, 1}},
		{{math.NaN(), 0}, {0, 1}},
	} {
		if _, _, _, ok := group.Similarity(a); ok {
			t.Errorf("%v is called a similarity", a)
		}
	}
}
