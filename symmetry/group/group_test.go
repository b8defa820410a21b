package group_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

func parse(tb testing.TB, name string) group.Group {
	tb.Helper()
	g, err := catalog.Parse(name)
	if err != nil {
		tb.Fatal(err)
	}
	return g
}

func affine(tb testing.TB, g group.Group, e group.Element) ([2][2]float64, [2]float64) {
	tb.Helper()
	p, ok := g.(group.Planar)
	if !ok {
		tb.Fatalf("%s is not planar", g.Name())
	}
	return p.Affine(e)
}

// Maps of the eight elements of D4 on points with y down: a positive turn carries the right edge (1, 0) to the top (0,
// -1).
func TestConventionOfThePlane(t *testing.T) {
	for _, c := range []struct {
		name string
		e    group.Element
		want [2][2]float64
	}{
		{"SO(2)", group.Element{90}, [2][2]float64{{0, 1}, {-1, 0}}},
		{"SO(2)", group.Element{180}, [2][2]float64{{-1, 0}, {0, -1}}},
		{"SO(2)", group.Element{270}, [2][2]float64{{0, -1}, {1, 0}}},
		{"D4", group.Element{0, 1}, [2][2]float64{{-1, 0}, {0, 1}}},   // left and right exchanged
		{"D4", group.Element{180, 1}, [2][2]float64{{1, 0}, {0, -1}}}, // top and bottom
		{"D4", group.Element{90, 1}, [2][2]float64{{0, 1}, {1, 0}}},   // the main diagonal stays
		{"D4", group.Element{270, 1}, [2][2]float64{{0, -1}, {-1, 0}}},
		{"Scale", group.Element{2}, [2][2]float64{{2, 0}, {0, 2}}},
		{"Affine(rotate)", group.Element{90}, [2][2]float64{{0, 1}, {-1, 0}}},
		{"Affine(rotate,scale,shift x,shift y)", group.Element{-90, 2, 0, 0}, [2][2]float64{{0, -2}, {2, 0}}},
		{"Affine(shear)", group.Element{3}, [2][2]float64{{1, 3}, {0, 1}}},
		{"Affine(shear y)", group.Element{-2}, [2][2]float64{{1, 0}, {-2, 1}}},
		{"Affine(stretch)", group.Element{1}, [2][2]float64{{1, 0}, {0, 1}}},
		{"D4 x Scale", group.Element{90, 1, 2}, [2][2]float64{{0, 2}, {2, 0}}},
	} {
		if a, at := affine(t, parse(t, c.name), c.e); a != c.want || at != [2]float64{} {
			t.Errorf("%s: Affine(%v) = %v, %v, expected %v", c.name, c.e, a, at, c.want)
		}
	}
	if a, at := affine(t, catalog.SE2(), group.Element{90, 3, -1}); a != [2][2]float64{{0, 1}, {-1, 0}} ||
		at != [2]float64{3, -1} {
		t.Errorf("SE(2): turns about the centre, then shifts; got %v, %v", a, at)
	}
}

func TestMulActsFromTheRight(t *testing.T) {
	for _, c := range []struct {
		name       string
		g, h, want group.Element
	}{
		{"O(2)", group.Element{90, 1}, group.Element{30, 0}, group.Element{60, 1}},
		{"O(2)", group.Element{30, 0}, group.Element{90, 1}, group.Element{120, 1}},
		{"O(2)", group.Element{90, 1}, group.Element{30, 1}, group.Element{60, 0}},
		// to the right, then turned: up
		{"SE(2)", group.Element{90, 0, 0}, group.Element{0, 1, 0}, group.Element{90, 0, -1}},
		{"SE(2)", group.Element{0, 1, 0}, group.Element{90, 0, 0}, group.Element{90, 1, 0}},
		{"p4m", group.Element{0, 1, 2, 0}, group.Element{0, 0, 3, 1}, group.Element{0, 1, -1, 1}},
		{"Roll(4,6)", group.Element{5, 3}, group.Element{2, 2}, group.Element{1, 1}},
		{"C4 x Scale", group.Element{270, 2}, group.Element{180, 0.25}, group.Element{90, 0.5}},
		{"Affine(rotate,scale)", group.Element{100, 2}, group.Element{170, 3}, group.Element{-90, 6}},
	} {
		g := parse(t, c.name)
		if got := g.Mul(c.g, c.h); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v∘%v = %v, expected %v", c.name, c.g, c.h, got, c.want)
		}
	}
}

func TestDistancesRespectPeriods(t *testing.T) {
	for _, c := range []struct {
		name string
		g, h group.Element
		want float64
	}{
		{"SO(2)", group.Element{355}, group.Element{5}, 10},
		{"SO(2)", group.Element{0}, group.Element{360}, 0},
		{"SO(2)", group.Element{-90}, group.Element{270}, 0},
		{"O(2)", group.Element{10, 0}, group.Element{10, 1}, 180},
		{"Roll(10,20)", group.Element{19, 9}, group.Element{0, 0}, math.Sqrt2},
		{"Scale", group.Element{2}, group.Element{0.5}, math.Log(4)},
		{"SE(2)", group.Element{359, 0, 0}, group.Element{2, 4, 0}, 5},
		{"C4 x T(2)", group.Element{270, 0, 0}, group.Element{0, 0, 0}, 90},
		{"Affine(rotate)", group.Element{-180}, group.Element{180}, 0},
	} {
		if d := parse(t, c.name).Dist(c.g, c.h); math.Abs(d-c.want) > 1e-15 {
			t.Errorf("%s: Dist(%v, %v) = %v, expected %v", c.name, c.g, c.h, d, c.want)
		}
	}
}

// Where exp does not reach a product there are no coordinates: diag(-2, -1/2) has no real logarithm.
func TestProductOutOfReachIsNaN(t *testing.T) {
	g := parse(t, "Affine(rotate,stretch,hyperbolic)")
	w, ok := g.(interface{ Whole() bool })
	if !ok || w.Whole() {
		t.Error("exp does not reach all of SL(2), and the group must say so")
	}
	p := g.Mul(group.Element{180, 1, 1}, group.Element{0, 2, 1})
	for _, v := range p {
		if !math.IsNaN(v) {
			t.Fatalf("the product is %v, expected NaN", p)
		}
	}
	if d := g.Dist(p, g.Identity()); d <= 1e300 {
		t.Errorf("its distance %v passes a comparison", d)
	}
	for _, name := range []string{
		"Affine(rotate,scale,shift x,shift y)",
		"Affine(shear,scale,stretch,shift x,shift y)",
	} {
		if w, ok := parse(t, name).(interface{ Whole() bool }); !ok || !w.Whole() {
			t.Errorf("exp reaches all of %s", name)
		}
	}
}

func TestExpReachesExactQuarterTurns(t *testing.T) {
	for _, name := range []string{"SO(2)", "O(2)", "SE(2)", "Affine(rotate,scale,shift x,shift y)"} {
		l, ok := parse(t, name).(group.Lie)
		if !ok {
			t.Fatalf("%s is no Lie group", name)
		}
		x := make([]float64, len(l.Generators()))
		x[0] = math.Pi / 2
		if a, _ := affine(t, l, l.Exp(x)); a != [2][2]float64{{0, 1}, {-1, 0}} {
			t.Errorf("%s: exp(π/2) has the matrix %v", name, a)
		}
	}
	l, ok := catalog.SE2().(group.Lie)
	if !ok {
		t.Fatal("SE(2) is no Lie group")
	}
	// Turning by π while drifting right by π px walks half a circle of radius 1: it ends 2 px above the start.
	if got := l.Exp([]float64{math.Pi, math.Pi, 0}); got[0] != 180 || math.Abs(got[1]) > 1e-14 ||
		math.Abs(got[2]+2) > 1e-14 {
		t.Errorf("exp = %v, expected (180, 0, -2)", got)
	}
}

func TestOptionalInterfaces(t *testing.T) {
	for name, want := range map[string]string{ // finite, lie, planar, sampler
		"Trivial": "f-ps", "SO(2)": "-lps", "C4": "f-ps", "D4": "f-ps", "T(2)": "-lps", "T(2,Z)": "--ps",
		"Roll(2,2)": "f-ps", "Scale": "-lps",
		"SE(2)": "-lps", "p4": "--ps", "Affine(rotate,scale)": "-lps",
		"C4 x Scale": "--ps", "C4 x T(2,Z)": "---s", "C4 x D3": "f--s", "C4 x C2": "f-ps", "SO(2) x Scale": "-lps",
		"Scale x T(2)":  "-l-s",
		"T(2) x T(2,Z)": "--ps", "T(2,Z) x Roll(4,4)": "---s", "C4 x Roll(4,4)": "f--s",
	} {
		g := parse(t, name)
		var got strings.Builder
		for _, c := range []struct {
			r  string
			ok bool
		}{
			{"f", is[group.Finite](g)},
			{"l", is[group.Lie](g)},
			{"p", is[group.Planar](g)},
			{"s", is[group.Sampler](g)},
		} {
			if c.ok {
				got.WriteString(c.r)
			} else {
				got.WriteString("-")
			}
		}
		if got.String() != want {
			t.Errorf("%s: %s, expected %s", name, got.String(), want)
		}
	}
}

func is[T any](g group.Group) bool {
	_, ok := g.(T)
	return ok
}

func TestParseReadsWhatPeopleWrite(t *testing.T) {
	for in, want := range map[string]string{
		"SO(2)": "SO(2)", "so2": "SO(2)", " so( 2 ) ": "SO(2)", "SO_2": "SO(2)", "rotation": "SO(2)", "o2": "O(2)",
		"O(2)": "O(2)",
		"C4":   "C4", "c(4)": "C4", "C_4": "C4", "c 4": "C4", "D4": "D4", "d(6)": "D6", "C1": "C1",
		"T(2)": "T(2)", "t2": "T(2)", "shift": "T(2)", "T(2,Z)": "T(2,Z)", "t(2, z)": "T(2,Z)", "t2z": "T(2,Z)",
		"Z^2":         "T(2,Z)",
		"Roll(28,28)": "Roll(28,28)", "roll( 3 , 4 )": "Roll(3,4)", "roll(3x4)": "Roll(3,4)",
		"scale": "Scale", "SCALING": "Scale", "se2": "SE(2)", "E(2)": "E(2)", "P4": "p4", "p4m": "p4m",
		"trivial":    "Trivial",
		"C4 x Scale": "C4 x Scale", "c4xscale": "C4 x Scale", "C4×scale": "C4 x Scale", "C4 * T(2,Z)": "C4 x T(2,Z)",
		"scalexc4": "Scale x C4",
		"roll(28)": "Roll(28)", "s5": "S(5)", "S(7)": "S(7)", "t(1, z)": "T(1,Z)", "T1": "T(1)", "e1z": "E(1,Z)",
		"S5xE3": "S(5) x E(3)",
		"so3":   "SO(3)", "SE 3": "SE(3)", "e(3)": "E(3)", "octahedral": "Octa", "og": "", "og3": "Og(3)",
		"Og(3,z)": "Og(3)", "Og(3, 0,0,2)": "Og(3)", "sog(3,x)": "SOg(3,x)",
		"eg3": "Eg(3)", "SEg(3,z)": "SEg(3)", "seg(3, 1,2,2)": "SEg(3,1,2,2)", "Eg(3,y)xS(3)": "Eg(3,y) x S(3)",
		"Og(3,0,0,-1)": "Og(3,0,0,-1)", "og(3,.5,1e0,-0)": "Og(3,0.5,1,0)", "SO3xScale3": "SO(3) x Scale(3)",
		"C4 x (": "", "Trivial x C4": "C4", "trivial x trivial": "Trivial", "c2 X c3 x c5": "C2 x C3 x C5",
		"Roll(2x2)xC4":                     "Roll(2,2) x C4",
		"Affine(rotate, scale)":            "Affine(rotate,scale)",
		"affine(Rotation,Shift X,shift_y)": "Affine(rotate,shift x,shift y)",
		"affine(dx)":                       "Affine(shift x)", "Affine(scale,rotate)": "Affine(scale,rotate)",
		"Affine(shear) x C1": "Affine(shear) x C1",
	} {
		g, err := catalog.Parse(in)
		if want == "" {
			if err == nil {
				t.Errorf("%q is read as %s, expected an error", in, g.Name())
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", in, err)
		} else if g.Name() != want {
			t.Errorf("%q is read as %s, expected %s", in, g.Name(), want)
		}
	}
}

func TestParseErrorsHelp(t *testing.T) {
	for in, want := range map[string][]string{
		"":   {"empty", "SO(2)"},
		"  ": {"empty"},
		"so4": {
			`unknown group "so4"`, "did you mean SO(2)", "Roll(<h>,<w>)",
			"Og(3,<direction>)",
		},
		"Og(2)":                             {"expected a direction", "Og(3,x)"},
		"Og(3,w)":                           {"expected a direction"},
		"Og(3,0,0,0)":                       {"not all 0"},
		"SOg(3,1,inf,0)":                    {"finite"},
		"Og(3,1,2)":                         {"expected a direction"},
		"scal":                              {"did you mean Scale"},
		"hexagonal":                         {`unknown group "hexagonal"`, "the groups are SO(2)"},
		"C":                                 {"number of rotations, such as C4"},
		"Dn":                                {"such as D4"},
		"C0":                                {"1..1000000"},
		"C99999999999999999999":             {"too large"},
		"D500001":                           {"1..500000"},
		"roll(0)":                           {"1..1000000"},
		"S":                                 {"number of rows, such as S(5)"},
		"S(0)":                              {"1..65536"},
		"S(70000)":                          {"1..65536"},
		"roll":                              {"Roll(28,28)"},
		"roll(0,3)":                         {"1..32768"},
		"roll(1,2,3)":                       {"Roll(28,28)"},
		"roll(-1,2)":                        {"1..32768|Roll(28,28)"},
		"C4 x":                              {"on one side of it is none"},
		"C4 x Blah":                         {`"C4 x Blah"`, `unknown group "Blah"`},
		"SO(2":                              {"not closed"},
		"SO)2(":                             {"without an opening"},
		"Affine()":                          {"needs generators", "rotate, scale"},
		"Affine(rotat)":                     {`did you mean "rotate"`},
		"Affine(shift)":                     {"shift x, shift y"},
		"Affine(rotate,rotate)":             {"twice"},
		"Affine(rotate,)":                   {"unknown generator"},
		"Affine(rotate, shift x)":           {"not closed", "add shift y", "Affine(rotate,shift x,shift y)"},
		"Affine(rotate,stretch)":            {"add hyperbolic"},
		"Affine(stretch,hyperbolic)":        {"add rotate"},
		"Affine(shear,shear y)":             {"add stretch"},
		"Affine(rotate,hyperbolic,shear)":   {"linearly dependent"},
		"Affine(shear, shift y)":            {"add shift x"},
		"C2xC2xC2xC2xC2xC2xC2xC2xC2":        {"1 to 8 factors, not 9"},
		strings.Repeat("C4 x ", 200) + "C4": {"1004|at most 512"},
		"Affine" + strings.Repeat("(", 100): {"not closed"},
		"C4 x Affine(rotate) x Affine(rotate, q)": {`unknown generator "q"`},
	} {
		g, err := catalog.Parse(in)
		if err == nil {
			t.Errorf("%q is read as %s, expected an error", in, g.Name())
			continue
		}
		for _, w := range want {
			found := false
			for alternative := range strings.SplitSeq(w, "|") {
				found = found || strings.Contains(err.Error(), alternative)
			}
			if !found {
				t.Errorf("%q: the error %q does not say %q", in, err, w)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, e := range catalog.List() {
		f.Add(e.Example)
	}
	for _, s := range []string{
		"C4 x Scale", "c4xscale", "Affine(rotate,shift x)", "roll(3x4)", "×", "((", "x",
		"C4 x x", "Roll(9999999999999999999999,1)", "é x É", "\xff(\xff)", "affine)x(affine",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		g, err := catalog.Parse(s)
		if err != nil {
			if g != nil || err.Error() == "" {
				t.Fatalf("%q: group %v with error %v", s, g, err)
			}
			return
		}
		h, err := catalog.Parse(g.Name())
		if err != nil || h.Name() != g.Name() {
			t.Fatalf("%q has the name %q, which is read as %v, %v", s, g.Name(), h, err)
		}
		e := g.Identity()
		if len(e) != len(g.Chart()) || g.Dist(e, e) != 0 || g.Dist(g.Mul(e, e), e) != 0 {
			t.Fatalf("%q: broken identity %v", s, e)
		}
	})
}

func TestCatalogIsComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range catalog.List() {
		g := parse(t, e.Example)
		if e.Name == "" || e.Doc == "" || e.Axes == "" || e.Exact == "" || e.Orbit == "" || seen[e.Name] {
			t.Errorf("incomplete or repeated entry: %+v", e)
		}
		if !strings.HasSuffix(e.Doc, ".") {
			t.Errorf("%s: the doc is no sentence: %q", e.Name, e.Doc)
		}
		if !reflect.DeepEqual(e.Chart, g.Chart()) {
			t.Errorf("%s: chart %v", e.Name, e.Chart)
		}
		seen[e.Name] = true
	}
}

func coords(es []group.Element, axis int) []float64 {
	var v []float64
	for _, e := range es {
		v = append(v, e[axis])
	}
	return v
}

func TestGrid(t *testing.T) {
	for _, c := range []struct {
		name   string
		counts []int
		window [][2]float64
		want   []group.Element
	}{
		{"SO(2)", []int{4}, nil, []group.Element{{0}, {90}, {180}, {270}}},
		{"SO(2)", []int{3}, [][2]float64{{-30, 30}}, []group.Element{{330}, {0}, {30}}},
		{"SO(2)", []int{1}, nil, []group.Element{{0}}},
		{"SO(2)", []int{2}, [][2]float64{{90, 450}}, []group.Element{{0}, {180}}}, // a full turn starts at the identity
		{"O(2)", []int{2, 2}, nil, []group.Element{{0, 0}, {180, 0}, {0, 1}, {180, 1}}},
		{"O(2)", []int{2, 1}, nil, []group.Element{{0, 0}, {180, 0}}},
		{"C6", []int{3}, nil, []group.Element{{0}, {120}, {240}}},
		{"T(2)", []int{3, 1}, nil, []group.Element{{-4, 0}, {0, 0}, {4, 0}}},
		{
			"T(2,Z)",
			[]int{3, 2},
			[][2]float64{{-1, 1}, {5, 9}},
			[]group.Element{{-1, 5}, {0, 5}, {1, 5}, {-1, 9}, {0, 9}, {1, 9}},
		},
		{"Scale", []int{3}, nil, []group.Element{{0.5}, {1}, {2}}},
		{"Scale", []int{1}, [][2]float64{{3, 3}}, []group.Element{{3}}},
		{"Roll(2,4)", []int{2, 2}, nil, []group.Element{{0, 0}, {2, 0}, {0, 1}, {2, 1}}},
		{"Affine(rotate)", []int{4}, nil, []group.Element{{-180}, {-90}, {0}, {90}}},
		// ±180 are one element
		{"Affine(rotate,shift x,shift y)", []int{3, 1, 1}, nil, []group.Element{{-180, 0, 0}, {0, 0, 0}}},
		{"Trivial", nil, nil, []group.Element{{}}},
	} {
		g := parse(t, c.name)
		got, err := group.Grid(g, c.counts, c.window)
		if err != nil {
			t.Errorf("%s %v: %v", c.name, c.counts, err)
			continue
		}
		if len(got) != len(c.want) {
			t.Errorf("%s %v: %v, expected %v", c.name, c.counts, got, c.want)
			continue
		}
		for i := range got {
			if !slices.Equal(got[i], c.want[i]) {
				t.Errorf("%s %v: element %d is %v, expected %v", c.name, c.counts, i, got[i], c.want[i])
			}
		}
	}
	es, err := group.Grid(catalog.SO2(), []int{72}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range es {
		if e[0] != float64(5*i) {
			t.Errorf("angle %d is %v", i, e[0])
		}
	}
	es, err = group.Grid(catalog.Scale(), []int{13}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if es[0][0] != 0.5 || es[6][0] != 1 || es[12][0] != 2 || math.Abs(es[7][0]-math.Pow(2, 1./6)) > 1e-15 {
		t.Errorf("13 factors: %v", coords(es, 0))
	}
}

func TestGridErrors(t *testing.T) {
	for _, c := range []struct {
		name   string
		counts []int
		window [][2]float64
		want   string
	}{
		{"SO(2)", []int{72, 2}, nil, "1 axis (angle), the grid gives 2"},
		{
			"T(2,Z)",
			[]int{40},
			nil,
			"2 axes (dx, dy), the grid gives 1; choose a grid such as 5x5, or haar:40 or even:40",
		},
		{"T(2,Z)", []int{40}, [][2]float64{{-3, 3}, {-3, 3}}, "choose a grid such as 7x7, or haar:40 or even:40"},
		{"O(2)", []int{20}, nil, "choose a grid such as 5x2, or haar:20 or even:20"},
		{"SO(2)", []int{0}, nil, "at least 1"},
		{"SO(2)", []int{-5}, nil, "at least 1"},
		{"SO(2)", []int{1_000_001}, nil, "more than 1000000"},
		{"T(2)", []int{1 << 40, 1 << 40}, nil, "more than 1000000"},
		{"C4", []int{3}, nil, "choose one of [1 2 4]"},
		{"C4", []int{8}, nil, "choose one of [1 2 4]"},
		{"O(2)", []int{4, 3}, nil, "two values, 0 and 1"},
		{"T(2,Z)", []int{4, 1}, nil, "choose one of [1 2 3 5 9]"},
		{"T(2)", []int{3, 3}, [][2]float64{{0, 1}}, "2 axes (dx, dy), the range gives 1"},
		{"T(2)", []int{3, 3}, [][2]float64{{1, 0}, {0, 1}}, "the lower first"},
		{"T(2)", []int{3, 3}, [][2]float64{{math.NaN(), 0}, {0, 1}}, "two finite numbers"},
		{"T(2)", []int{3, 3}, [][2]float64{{math.Inf(-1), 0}, {0, 1}}, "two finite numbers"},
		{"T(2)", []int{1, 3}, [][2]float64{{1, 2}, {0, 1}}, "leaves out the identity"},
		{"T(2)", []int{2, 3}, [][2]float64{{1, 1}, {0, 1}}, "holds one"},
		{"Scale", []int{3}, [][2]float64{{0, 2}}, "above 0"},
		{"Scale", []int{3}, [][2]float64{{-1, 2}}, "expected numbers in"},
		{"SO(2)", []int{3}, [][2]float64{{0, 400}}, "one period"},
		{"C4", []int{1}, [][2]float64{{10, 20}}, "multiple of 90"},
	} {
		_, err := group.Grid(parse(t, c.name), c.counts, c.window)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %v %v: error %v, expected %q", c.name, c.counts, c.window, err, c.want)
		}
	}
	if _, err := group.Grid(catalog.SO2(), []int{2_000_000}, nil); !errors.Is(err, group.ErrTooMany) {
		t.Errorf("not ErrTooMany: %v", err)
	}
	if _, err := group.Enumerate(catalog.SO2()); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("not ErrUnsupported: %v", err)
	}
	if _, err := group.Enumerate(parse(t, "Roll(3000,3000)")); !errors.Is(err, group.ErrTooMany) {
		t.Errorf("not ErrTooMany: %v", err)
	}
	if _, err := group.Enumerate(parse(t, "Roll(30000,30000) x Roll(30000,30000) x Roll(30000,30000)")); !errors.Is(err,
		group.ErrTooMany) {
		t.Errorf("not ErrTooMany: %v", err)
	}
}

func TestHaarIsSeededAndDistinct(t *testing.T) {
	draw := func(name string, n int, window [][2]float64, seed uint64) ([]group.Element, error) {
		return group.Haar(parse(t, name), n, window, rand.New(rand.NewPCG(seed, 0)))
	}
	a, err := draw("SO(2)", 500, nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	b, err := draw("SO(2)", 500, nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	c, err := draw("SO(2)", 500, nil, 2)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(a, b) || reflect.DeepEqual(a, c) {
		t.Error("draws must follow the seed")
	}
	all, err := draw("D4", 8, nil, 1)
	if err != nil || len(all) != 8 || len(group.Dedup(parse(t, "D4"), all, 1e-9)) != 8 {
		t.Errorf("8 draws of D4: %v, %v", all, err)
	}
	if _, err := draw("D4", 9, nil, 1); err == nil || !strings.Contains(err.Error(), "which has 8") {
		t.Errorf("9 draws of D4: %v", err)
	}
	in, err := draw("T(2,Z)", 6, [][2]float64{{0, 2}, {5, 6}}, 1)
	if err != nil || len(in) != 6 {
		t.Fatalf("the 6 shifts of a 3×2 window: %v, %v", in, err)
	}
	for _, e := range in {
		if e[0] < 0 || e[0] > 2 || e[1] < 5 || e[1] > 6 {
			t.Errorf("%v is outside the window", e)
		}
	}
	for _, n := range []int{0, -1, 1_000_001} {
		if _, err := draw("SO(2)", n, nil, 1); err == nil {
			t.Errorf("%d draws: no error", n)
		}
	}
	if _, err := draw("T(2,Z)", 7, [][2]float64{{0, 2}, {5, 6}}, 1); err == nil ||
		!strings.Contains(err.Error(), "holds only 6") {
		t.Errorf("7 draws of 6: %v", err)
	}
}

// The points of a golden-ratio sequence on a circle have gaps of at most φ²/n ≈ 2.618/n (three-distance theorem, for
// the worst n); n independent points have a largest gap near (log n)/n, 6 times the mean for n = 400.
func TestLowDiscrepancySpreadsEvenly(t *testing.T) {
	for _, n := range []int{2, 10, 64, 400, 1000} {
		es, err := group.LowDiscrepancy(catalog.SO2(), n, nil)
		if err != nil || len(es) != n || es[0][0] != 0 {
			t.Fatalf("%d: %d elements, first %v, %v", n, len(es), es[0], err)
		}
		v := coords(es, 0)
		slices.Sort(v)
		worst := 360 - v[n-1]
		for i := range n - 1 {
			worst = math.Max(worst, v[i+1]-v[i])
		}
		if limit := 360 * 2.6181 / float64(n); worst > limit {
			t.Errorf("%d angles: largest gap %g, expected at most %g", n, worst, limit)
		}
	}
	// In two dimensions 256 points put 12 to 20 into every sixteenth of the window; random ones miss that with
	// probability above 0.9.
	es, err := group.LowDiscrepancy(catalog.T2(), 256, nil)
	if err != nil || !slices.Equal(es[0], group.Element{0, 0}) {
		t.Fatalf("%v, %v", es[0], err)
	}
	// Steps of the sequence are the inverse powers of the plastic number 1.32471795724474602596 (OEIS A060006).
	for i, alpha := range []float64{1 / 1.32471795724474602596, 1 / (1.32471795724474602596 * 1.32471795724474602596)} {
		if d := math.Remainder(es[1][i]-es[0][i]-8*alpha, 8); math.Abs(d) > 1e-12 {
			t.Errorf("axis %d steps from %v to %v, expected a step of %v modulo 8", i, es[0][i], es[1][i], 8*alpha)
		}
	}
	var count [16]int
	for _, e := range es {
		count[min(int((e[0]+4)/2), 3)*4+min(int((e[1]+4)/2), 3)]++
	}
	for i, c := range count {
		if c < 12 || c > 20 {
			t.Errorf("cell %d holds %d of 256", i, c)
		}
	}
	both, err := group.LowDiscrepancy(catalog.O2(), 100, nil)
	if err != nil {
		t.Fatal(err)
	}
	mirrored := 0
	for _, e := range both {
		mirrored += int(e[1])
	}
	if mirrored < 47 || mirrored > 53 {
		t.Errorf("%d of 100 elements mirror", mirrored)
	}
	outside, err := group.LowDiscrepancy(catalog.Scale(), 10, [][2]float64{{2, 4}})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range outside {
		if e[0] < 2 || e[0] > 4 {
			t.Errorf("factor %v is outside the window", e[0])
		}
	}
}

func TestLattice(t *testing.T) {
	for _, c := range []struct {
		name   string
		window [][2]float64
		want   int
	}{
		{"SO(2)", nil, 4},
		{"O(2)", nil, 8},
		{"D6", nil, 12},
		{"T(2)", nil, 81},
		{"T(2)", [][2]float64{{-1.5, 1.5}, {0, 0}}, 3},
		{"Scale", nil, 1},
		{"SE(2)", [][2]float64{{0, 360}, {-1, 1}, {-1, 1}}, 36},
		{"Affine(rotate,shift x,shift y)", [][2]float64{{-180, 180}, {0, 0}, {0, 0}}, 4},
	} {
		es, err := group.Lattice(parse(t, c.name), c.window)
		if err != nil || len(es) != c.want {
			t.Errorf("%s %v: %d elements, %v, expected %d", c.name, c.window, len(es), err, c.want)
		}
	}
	_, err := group.Lattice(catalog.T2(), [][2]float64{{-1e5, 1e5}, {-1e5, 1e5}})
	if !errors.Is(err, group.ErrTooMany) {
		t.Errorf("not ErrTooMany: %v", err)
	}
}

func TestRefine(t *testing.T) {
	es, err := group.Refine(catalog.SO2(), group.Element{0}, []float64{2}, []int{5})
	if err != nil || !slices.Equal(coords(es, 0), []float64{358, 359, 0, 1, 2}) {
		t.Errorf("around 0: %v, %v", es, err)
	}
	es, err = group.Refine(catalog.Scale(), group.Element{0.5}, []float64{2}, []int{3})
	if err != nil || len(es) != 3 || math.Abs(es[0][0]-0.25) > 1e-15 || es[1][0] != 0.5 ||
		math.Abs(es[2][0]-1) > 1e-15 {
		t.Errorf("around 0.5: %v, %v", es, err)
	}
	es, err = group.Refine(parse(t, "p4m"), group.Element{90, 1, 3, 4}, []float64{0, 0, 1, 0}, []int{1, 1, 1, 1})
	if err != nil || len(es) != 3 || !slices.Equal(es[0], group.Element{90, 1, 2, 4}) {
		t.Errorf("whole steps: %v, %v", es, err)
	}
	es, err = group.Refine(catalog.O2(), group.Element{10, 1}, []float64{5, 0}, []int{3, 1})
	if err != nil || len(es) != 3 || !slices.Equal(es[0], group.Element{5, 1}) {
		t.Errorf("a mirror keeps its value: %v, %v", es, err)
	}
	for _, c := range []struct {
		r    float64
		n    int
		want string
	}{{-1, 3, "at least 0"}, {math.NaN(), 3, "at least 0"}, {1, 4, "odd"}, {1, 0, "odd"}, {1, 2_000_001, "more than"}} {
		if _, err := group.Refine(catalog.SO2(), group.Element{0}, []float64{c.r}, []int{c.n}); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("radius %g, count %d: %v, expected %q", c.r, c.n, err, c.want)
		}
	}
}

func TestDedupAgreesWithComparingAllPairs(t *testing.T) {
	groups := []group.Group{
		catalog.SO2(), catalog.O2(), catalog.SE2(), catalog.T2(), parse(t, "C4 x Scale"),
		parse(t, "Affine(rotate,shift x,shift y)"), parse(t, "Roll(4,4)"),
	}
	rapid.Check(t, func(r *rapid.T) {
		g := rapid.SampledFrom(groups).Draw(r, "group")
		s, ok := g.(group.Sampler)
		if !ok {
			r.Fatal("no sampler")
		}
		rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 0))
		var es []group.Element
		for range rapid.IntRange(0, 60).Draw(r, "n") {
			e := s.Sample(rnd)
			if len(es) > 0 && rnd.IntN(2) == 0 { // a repetition, maybe a period or a rounding apart
				e = slices.Clone(es[rnd.IntN(len(es))])
				for i, a := range g.Chart() {
					if a.Periodic && rnd.IntN(3) == 0 {
						e[i] += a.Max - a.Min
					}
					if rnd.IntN(3) == 0 {
						e[i] += 1e-10
					}
				}
			}
			es = append(es, e)
		}
		const tol = 1e-8
		var want []group.Element
		for _, e := range es {
			if !slices.ContainsFunc(want, func(x group.Element) bool { return g.Dist(x, e) <= tol }) {
				want = append(want, e)
			}
		}
		got := group.Dedup(g, es, tol)
		if len(got) != len(want) {
			r.Fatalf("%s: %d of %d left, expected %d", g.Name(), len(got), len(es), len(want))
		}
		for i := range got {
			if !slices.Equal(got[i], want[i]) {
				r.Fatalf("%s: element %d is %v, expected %v", g.Name(), i, got[i], want[i])
			}
		}
	})
}

// An element near one that was dropped, and not near any that stayed, stays.
func TestDedupKeepsTheEndOfAChain(t *testing.T) {
	got := group.Dedup(catalog.T2(), []group.Element{{0, 0}, {0.8, 0}, {1.6, 0}, {2.4, 0}}, 1)
	if len(got) != 2 || got[1][0] != 1.6 {
		t.Errorf("%v, expected the shifts 0 and 1.6", got)
	}
}

func TestPreset(t *testing.T) {
	for _, c := range []struct {
		name   string
		window [][2]float64
		n      int
		text   string
	}{
		{"SO(2)", nil, 72, "uniform grid of 72 angles"},
		{"SO(2)", [][2]float64{{-36, 36}}, 37, "angle -36..36 deg (37)"},
		{"O(2)", nil, 144, "mirror 0 and 1"},
		{"C360", nil, 360, "all 360 elements of C360"},
		{"C2000", nil, 50, "uniform grid of 50 angles"},
		{"D4", nil, 8, "all 8 elements of D4"},
		{"T(2)", nil, 81, "dx -4..4 px (9), dy -4..4 px (9)"},
		{"T(2,Z)", nil, 81, "dx -4..4 px (9)"},
		{"T(2,Z)", [][2]float64{{-10, 10}, {0, 0}}, 21, "dx -10..10 px (21)"},
		{"Scale", nil, 13, "scale 0.5..2, log-spaced (13)"},
		{"Roll(28,28)", nil, 784, "all 784"},
		{"Roll(224,224)", nil, 1000, "low-discrepancy sample of 1000 elements: dx over the period 224 px"},
		{"T(2,Z)", [][2]float64{{-1.5, 1.5}, {0, 0.5}}, 3, "(3), dy 0..0.5 px (1)"},
		{"T(2)", [][2]float64{{-64, 60}, {-64, 60}}, 1000, "low-discrepancy"},
		{"T(2,Z)", [][2]float64{{-1e9, 1e9}, {-1e9, 1e9}}, 1000, "low-discrepancy"},
		{"p4m", nil, 648, "(9)"},
		{"C360 x Scale", nil, 936, "(72)"},
		{"SE(2)", nil, 1000, "low-discrepancy"},
		{"E(2)", nil, 1000, "low-discrepancy"},
		{"Trivial", nil, 1, "the identity alone"},
		{"C4 x Scale", nil, 52, "(13)"},
	} {
		g := parse(t, c.name)
		es, text, err := group.Preset(g, c.window)
		if err != nil || len(es) != c.n || !strings.Contains(text, c.text) {
			t.Errorf("%s: %d elements, %q, %v; expected %d, %q", c.name, len(es), text, err, c.n, c.text)
		}
		if d := group.Dedup(g, es, group.Tolerance); len(d) != len(es) {
			t.Errorf("%s: %d elements are repeated", c.name, len(es)-len(d))
		}
	}
}

func TestValidate(t *testing.T) {
	for _, c := range []struct {
		name string
		in   group.Element
		want group.Element
		err  string
	}{
		{"SO(2)", group.Element{-90}, group.Element{270}, ""},
		{"SO(2)", group.Element{720}, group.Element{0}, ""},
		{"C7", group.Element{51.4286}, group.Element{360. / 7}, ""},
		{"C7", group.Element{-51.4286}, group.Element{6 * 360. / 7}, ""},
		{"C4", group.Element{45}, nil, "multiple of 90"},
		{"C4", group.Element{359.99}, group.Element{0}, ""},
		{"O(2)", group.Element{10, 0.5}, nil, "mirror"},
		{"O(2)", group.Element{10, 2}, nil, "in [0, 1]"},
		{"T(2,Z)", group.Element{1.5, 0}, nil, "multiple of 1"},
		{"T(2)", group.Element{1.5, 0}, group.Element{1.5, 0}, ""},
		{"T(2)", group.Element{1.5}, nil, "2 axes (dx, dy)"},
		{"T(2)", group.Element{math.Inf(1), 0}, nil, "finite"},
		{"SO(2)", group.Element{math.NaN()}, nil, "finite"},
		{"Scale", group.Element{0}, nil, "above 0"},
		{"Scale", group.Element{-1}, nil, "above 0"},
		{"Roll(4,4)", group.Element{-1, 9}, group.Element{3, 1}, ""},
		{"Affine(rotate,shift x,shift y)", group.Element{200, 0, 0}, nil, "in [-180, 180]"},
	} {
		got, err := group.Validate(parse(t, c.name), c.in)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s %v: %v, %v, expected the error %q", c.name, c.in, got, err, c.err)
			}
			continue
		}
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s %v: %v, %v, expected %v", c.name, c.in, got, err, c.want)
		}
	}
}

func TestFormat(t *testing.T) {
	for _, c := range []struct {
		name string
		e    group.Element
		want string
	}{
		{"SO(2)", group.Element{90}, "90°"},
		{"C7", group.Element{360. / 7}, "51.4286°"},
		{"O(2)", group.Element{90, 1}, "(angle 90°, mirror 1)"},
		{"T(2)", group.Element{3, -1}, "(dx 3 px, dy −1 px)"},
		{"T(2)", group.Element{math.Copysign(0, -1), 0.5}, "(dx 0 px, dy 0.5 px)"},
		{"Scale", group.Element{1.25}, "×1.25"},
		{"C4 x Scale", group.Element{90, 2}, "(angle 90°, scale ×2)"},
		{"Trivial", group.Element{}, "identity"},
		{"SO(2)", group.Element{1, 2}, "[1 2]"},
	} {
		if got := group.Format(parse(t, c.name), c.e); got != c.want {
			t.Errorf("%s %v: %q, expected %q", c.name, c.e, got, c.want)
		}
	}
}

func TestProductChartNumbersRepeatedNames(t *testing.T) {
	var names []string
	for _, a := range parse(t, "C4 x C3 x D2").Chart() {
		names = append(names, a.Name)
	}
	if want := []string{"angle", "angle 2", "angle 3", "mirror"}; !slices.Equal(names, want) {
		t.Errorf("%v, expected %v", names, want)
	}
}

func ExampleGrid() {
	es, err := group.Grid(catalog.SO2(), []int{72}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(es), es[0], es[1], es[71])
	// Output: 72 [0] [5] [355]
}

func BenchmarkDedupGrid(b *testing.B) {
	for b.Loop() {
		if _, err := group.Grid(catalog.T2(), []int{1001, 99}, nil); err != nil {
			b.Fatal(err)
		}
	}
}

// The one-parameter subgroups of a product are those of its continuous factors: exp(sX)exp(tX) = exp((s+t)X), and the
// other factors stay where they are.
func TestContinuousFactors(t *testing.T) {
	for name, n := range map[string]int{
		"SE(3) x S(4)": 6, "S(4) x E(3)": 6, "D4 x Brightness": 1, "SO(2) x Time": 1, "SO(2) x Scale": 2, "SO(3)": 3,
		"C4": 0, "D4 x S(3)": 0, "S(4)": 0,
	} {
		g := parse(t, name)
		l, ok := group.Continuous(g)
		if ok != (n > 0) {
			t.Errorf("%s: continuous is %v", name, ok)
			continue
		}
		if !ok {
			continue
		}
		if got := len(l.Generators()); got != n {
			t.Errorf("%s has %d generators, want %d", name, got, n)
		}
		for k := range n {
			at := func(x float64) group.Element {
				c := make([]float64, n)
				c[k] = x
				return l.Exp(c)
			}
			if len(at(0.1)) != len(g.Chart()) {
				t.Fatalf("%s: an element of %d coordinates", name, len(at(0.1)))
			}
			if d := g.Dist(g.Mul(at(0.1), at(0.25)), at(0.35)); !(d < 1e-5) {
				t.Errorf("%s: exp along %s is %g apart from a homomorphism", name, l.Generators()[k].Name, d)
			}
			if d := g.Dist(at(0.25), g.Identity()); !(d > 0) {
				t.Errorf("%s: nothing moves along %s", name, l.Generators()[k].Name)
			}
		}
	}
}
