package orbit_test

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"nero/data/space"
	"nero/symmetry/action"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
	"nero/symmetry/orbit"
)

// tag is an action on scores that writes the element into them, exact at multiples of 90 degrees and whole pixels.
type tag struct {
	g    group.Group
	fail func(group.Element) bool
}

func (t tag) Group() group.Group { return t.g }

func (t tag) Apply(g group.Element, v space.Value) (space.Value, error) {
	if t.fail != nil && t.fail(g) {
		return nil, errors.New("refused")
	}
	s, ok := v.(*space.Scores)
	if !ok {
		return nil, errors.New("no scores")
	}
	return &space.Scores{Val: append(slices.Clone(s.Val), g...)}, nil
}

func (t tag) Exact(g group.Element) bool {
	for i, a := range t.g.Chart() {
		switch {
		case a.Unit == "deg" && math.Mod(g[i], 90) != 0, a.Unit == "px" && g[i] != math.Round(g[i]),
			a.Unit == "factor" && g[i] != 1:
			return false
		}
	}
	return true
}

func parse(tb testing.TB, name string) group.Group {
	tb.Helper()
	g, err := catalog.Parse(name)
	if err != nil {
		tb.Fatal(err)
	}
	return g
}

func plan(tb testing.TB, name string, s orbit.Spec) *orbit.Plan {
	tb.Helper()
	g := parse(tb, name)
	p, err := orbit.NewPlan(g, s, tag{g: g}, action.Trivial{G: g}, 7)
	if err != nil {
		tb.Fatalf("%s %+v: %v", name, s, err)
	}
	if err := p.Check(); err != nil {
		tb.Fatalf("%s %+v: %v", name, s, err)
	}
	return p
}

func TestChoices(t *testing.T) {
	for _, c := range []struct {
		name string
		spec orbit.Spec
		// how many, where the identity is
		n, at   int
		measure string
	}{
		{"SO(2)", orbit.Spec{}, 72, 0, "uniform grid of 72 angles"},
		{"O(2)", orbit.Spec{}, 144, 0, "mirror 0 and 1"},
		{"D4", orbit.Spec{}, 8, 0, "all 8 elements of D4"},
		{"T(2)", orbit.Spec{}, 81, 40, "uniform grid: dx -4..4 px (9), dy -4..4 px (9)"},
		{"Scale", orbit.Spec{}, 13, 6, "uniform grid: scale 0.5..2, log-spaced (13)"},
		{"Trivial", orbit.Spec{}, 1, 0, "the identity alone"},
		{"SO(2)", orbit.Spec{Grid: []int{8}}, 8, 0, "uniform grid of 8 angles"},
		{
			"T(2,Z)",
			orbit.Spec{Grid: []int{32, 32}, Range: [][]float64{{-64, 60}, {-64, 60}}},
			1024, 528,
			"dx -64..60 px (32)",
		},
		{"T(2)", orbit.Spec{Grid: []int{2, 2}}, 5, 0, "the identity is added as the reference, with weight 0"},
		{"D4", orbit.Spec{All: true}, 8, 0, "all 8 elements of D4"},
		{
			"SO(2)",
			orbit.Spec{Haar: 20},
			21, 0,
			"Haar sample of 20 elements, seed 7: angle over the full turn; the identity is added",
		},
		{"C4", orbit.Spec{Haar: 4}, 4, -2, "Haar sample of 4"},
		{
			"Scale",
			orbit.Spec{Haar: 5, Range: [][]float64{{0.9, 1.1}}},
			6, 0,
			"scale 0.9..1.1, log-spaced; the identity is added",
		},
		{"SO(2)", orbit.Spec{LowDiscrepancy: 50}, 50, 0, "low-discrepancy sample of 50 elements"},
		{"SO(2)", orbit.Spec{Lattice: true}, 4, 0, "the 4 elements that act without resampling"},
		{"SE(2)", orbit.Spec{Lattice: true}, 324, -2, "the 324 elements that act without resampling"},
		{"C8", orbit.Spec{Lattice: true}, 4, 0, "the 4 elements that act without resampling"},
		{
			"SO(2)",
			orbit.Spec{Values: [][]float64{{0}, {360}, {-90}, {270}, {15}}},
			3, 0,
			"3 listed elements (2 repeated ones left out)",
		},
		{"SO(2)", orbit.Spec{Values: [][]float64{{10}, {20}}}, 3, 0, "2 listed elements; the identity is added"},
	} {
		p := plan(t, c.name, c.spec)
		if len(p.Elements) != c.n {
			t.Errorf("%s %+v: %d elements, expected %d", c.name, c.spec, len(p.Elements), c.n)
		}
		if i := p.Identity(); i < 0 || c.at >= 0 && i != c.at {
			t.Errorf("%s %+v: the identity is at %d, expected %d", c.name, c.spec, i, c.at)
		}
		if !strings.Contains(p.Measure, c.measure) {
			t.Errorf("%s %+v: measure %q, expected %q", c.name, c.spec, p.Measure, c.measure)
		}
		added := strings.Contains(p.Measure, "identity is added")
		if added != (p.Weights != nil) || added &&
			(p.Weights[0] != 0 || p.Weight(0) != 0 || math.Abs(p.Weight(1)-1/float64(c.n-1)) > 1e-15) {
			t.Errorf("%s %+v: weights %v", c.name, c.spec, p.Weights)
		}
		if !added && p.Weight(0) != 1/float64(c.n) {
			t.Errorf("%s %+v: weight %v", c.name, c.spec, p.Weight(0))
		}
	}
}

func TestSlicesAndRefinements(t *testing.T) {
	p := plan(t, "SO(3)", orbit.Spec{Slices: &orbit.Slices{}})
	if len(p.Elements) != 2416 || p.Identity() != 0 || p.Weights != nil ||
		!strings.Contains(p.Measure,
			"2416 rotations about axes in the planes xy, xz, yz, every 5 degrees, by angles every 15") {
		t.Errorf("all slices: %d elements, %q", len(p.Elements), p.Measure)
	}
	p = plan(t, "E(3)", orbit.Spec{Slices: &orbit.Slices{Planes: []string{"xz"}, Axis: 10, Angle: 10}})
	if len(p.Elements) != 631 || !strings.Contains(p.Measure, "in the plane xz, every 10 degrees") {
		t.Errorf("one slice: %d elements, %q", len(p.Elements), p.Measure)
	}
	p = plan(t, "SO(2)", orbit.Spec{Refine: &orbit.Refine{At: []float64{90}, Radius: []float64{2}, Grid: []int{5}}})
	if len(p.Elements) != 6 || p.Weights[0] != 0 || p.Weights[1] != 0.2 ||
		!strings.Contains(p.Measure, "a grid of 5 elements around 90°; the identity is added") {
		t.Errorf("a refinement alone: %v %v %q", p.Elements, p.Weights, p.Measure)
	}
	p = plan(t, "SO(2)",
		orbit.Spec{Grid: []int{4}, Refine: &orbit.Refine{At: []float64{90}, Radius: []float64{2}, Grid: []int{5}}})
	if len(p.Elements) != 8 || p.Weights[3] != 0.25 || p.Weights[7] != 0 ||
		!strings.Contains(p.Measure, "uniform grid of 4 angles; with weight 0 a grid of 5") {
		t.Errorf("a grid and a refinement: %v %v %q", p.Elements, p.Weights, p.Measure)
	}
	for name, most := range map[string]int{"SO(3)": 125, "E(3)": 729, "T(2)": 25, "Scale": 5, "O(2)": 5, "T(1,Z)": 5} {
		g := parse(t, name)
		p := plan(t, name, orbit.Spec{Refine: &orbit.Refine{At: g.Identity()}})
		if len(p.Elements) != most || p.Identity() < 0 {
			t.Errorf("%s: %d elements, expected %d", name, len(p.Elements), most)
		}
	}
	for _, c := range []struct {
		name string
		spec orbit.Spec
		want string
	}{
		{"SO(2)", orbit.Spec{Slices: &orbit.Slices{}}, "has no slices"},
		{"SO(3)", orbit.Spec{Slices: &orbit.Slices{}, Haar: 3}, "haar, slices are set: choose one"},
		{
			"SO(3)",
			orbit.Spec{Slices: &orbit.Slices{}, Range: [][]float64{{0, 1}, {0, 1}, {0, 1}}},
			"range does not go with slices",
		},
		{"SO(3)", orbit.Spec{Slices: &orbit.Slices{Axis: 7}}, "divisor of 360"},
		{"SO(3)", orbit.Spec{Refine: &orbit.Refine{At: []float64{1}}}, "refine: [1] is no element"},
		{"SO(3)", orbit.Spec{Haar: 3, Refine: &orbit.Refine{At: []float64{0, 0, 0}, Grid: []int{2, 2, 2}}}, "odd"},
		{"S(5)", orbit.Spec{Refine: &orbit.Refine{At: []float64{0, 1, 2, 3, 4}}}, "no grid"},
	} {
		g := parse(t, c.name)
		if _, err := orbit.NewPlan(g, c.spec, tag{g: g}, action.Trivial{G: g}, 7); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %+v: error %v, expected %q", c.name, c.spec, err, c.want)
		}
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		name string
		spec orbit.Spec
		want string
	}{
		{"SO(2)", orbit.Spec{Grid: []int{8}, Haar: 3}, "grid, haar are set: choose one"},
		{"SO(2)", orbit.Spec{All: true, Lattice: true, LowDiscrepancy: 1}, "all, low_discrepancy, lattice are set"},
		{"SO(2)", orbit.Spec{All: true}, "not finite"},
		{"SO(2)", orbit.Spec{Grid: []int{}}, "1 axis (angle), the grid gives 0"},
		{"SO(2)", orbit.Spec{Grid: []int{2_000_000}}, "more than 1000000"},
		{"SO(2)", orbit.Spec{Haar: -1}, "at least 1"},
		{"C4", orbit.Spec{LowDiscrepancy: 5}, "which has 4"},
		{"C4", orbit.Spec{All: true, Range: [][]float64{{0, 90}}}, "range does not go with all"},
		{"C4", orbit.Spec{Values: [][]float64{{0}}, Range: [][]float64{{0, 90}}}, "range does not go with values"},
		{"C4", orbit.Spec{Values: [][]float64{}}, "values is empty"},
		{"C4", orbit.Spec{Values: [][]float64{{0}, {45}}}, "value 2: angle of C4 is 45: expected a multiple of 90"},
		{"T(2)", orbit.Spec{Values: [][]float64{{0}}}, "value 1: [0] is no element of T(2), which has 2 axes (dx, dy)"},
		{"T(2)", orbit.Spec{Values: [][]float64{{0, math.NaN()}}}, "finite"},
		{"T(2)", orbit.Spec{Range: [][]float64{{0, 1, 2}, {0, 1}}}, "range 1 holds 3 numbers"},
		{"T(2)", orbit.Spec{Range: [][]float64{{0, 1}}}, "the range gives 1"},
		{"Scale", orbit.Spec{Lattice: true}, ""}, // one candidate, the identity: nothing was refused
		{"C3", orbit.Spec{Lattice: true}, "no element but the identity"},
	} {
		g := parse(t, c.name)
		_, err := orbit.NewPlan(g, c.spec, tag{g: g}, action.Trivial{G: g}, 7)
		if c.want == "" {
			if err != nil {
				t.Errorf("%s %+v: %v", c.name, c.spec, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.name) {
			t.Errorf("%s %+v: error %v, expected %q", c.name, c.spec, err, c.want)
		}
	}
	g := parse(t, "C4")
	for _, c := range []struct{ in, out action.Action }{
		{nil, action.Trivial{G: g}},
		{action.Trivial{G: g}, nil},
		{action.Trivial{}, action.Trivial{G: g}},
		{action.Trivial{G: g}, action.Trivial{G: catalog.SO2()}},
	} {
		if _, err := orbit.NewPlan(g, orbit.Spec{}, c.in, c.out, 0); err == nil {
			t.Errorf("actions %v and %v: no error", c.in, c.out)
		}
	}
}

func TestPlansFollowTheSeed(t *testing.T) {
	g := catalog.SE2()
	planOf := func(seed uint64) *orbit.Plan {
		p, err := orbit.NewPlan(g, orbit.Spec{Haar: 30}, tag{g: g}, action.Trivial{G: g}, seed)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	if !reflect.DeepEqual(planOf(1).Elements, planOf(1).Elements) ||
		reflect.DeepEqual(planOf(1).Elements, planOf(2).Elements) {
		t.Error("the elements must depend on the seed and on nothing else")
	}
}

// Whatever is asked for: the identity is in, nothing is in twice, all coordinates are valid, the weights sum to 1.
func TestEveryPlanIsSound(t *testing.T) {
	names := []string{
		"SO(2)", "O(2)", "C7", "D4", "T(2)", "T(2,Z)", "Roll(5,6)", "Scale", "SE(2)", "p4m", "C4 x Scale",
		"Affine(rotate,scale,shift x,shift y)", "SO(3)", "E(3)", "Octa", "Og(3)", "SO(3) x Scale(3)", "T(1,Z)",
		"E(1,Z)",
	}
	rapid.Check(t, func(r *rapid.T) {
		g := parse(t, rapid.SampledFrom(names).Draw(r, "group"))
		var s orbit.Spec
		switch rapid.IntRange(0, 4).Draw(r, "choice") {
		case 0:
			for range g.Chart() {
				s.Grid = append(s.Grid, rapid.IntRange(1, 4).Draw(r, "count"))
			}
		case 1:
			s.Haar = rapid.IntRange(1, 40).Draw(r, "haar")
		case 2:
			s.LowDiscrepancy = rapid.IntRange(1, 40).Draw(r, "low")
		case 3:
			s.Lattice = true
		}
		if rapid.Bool().Draw(r, "range") {
			for _, a := range g.Chart() {
				lo := rapid.Float64Range(-10, 10).Draw(r, "lo")
				w := rapid.Float64Range(0, 20).Draw(r, "width")
				if a.Unit == "factor" {
					lo = math.Exp(lo / 10)
				}
				if a.Unit == "" && a.Max == 1 {
					lo, w = 0, 1
				}
				s.Range = append(s.Range, []float64{lo, lo + w})
			}
		}
		p, err := orbit.NewPlan(g, s, tag{g: g}, action.Trivial{G: g}, rapid.Uint64().Draw(r, "seed"))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "orbit of "+g.Name()+": ") {
				r.Fatalf("error without its place: %v", err)
			}
			return
		}
		if err := p.Check(); err != nil {
			r.Fatalf("%s %+v: %v", g.Name(), s, err)
		}
		if p.Identity() < 0 || p.Measure == "" {
			r.Fatalf("%s %+v: identity at %d, measure %q", g.Name(), s, p.Identity(), p.Measure)
		}
		var sum float64
		for i := range p.Elements {
			sum += p.Weight(i)
		}
		if math.Abs(sum-1) > 1e-9 {
			r.Fatalf("the weights sum to %v", sum)
		}
	})
}

func TestWalk(t *testing.T) {
	g := parse(t, "C4")
	p, err := orbit.NewPlan(g, orbit.Spec{}, tag{g: g, fail: func(e group.Element) bool { return e[0] == 180 }},
		action.Trivial{G: g}, 0)
	if err != nil {
		t.Fatal(err)
	}
	x := &space.Scores{Val: []float64{5}}
	n := 0
	for s, err := range p.Walk(x) {
		if s.Index != n || !slices.Equal(s.G, p.Elements[n]) {
			t.Errorf("step %d: index %d, element %v", n, s.Index, s.G)
		}
		n++
		if s.G[0] == 180 {
			if err == nil || !strings.Contains(err.Error(), "element 2, 180°: refused") || s.X != nil {
				t.Errorf("%v, %v", s, err)
			}
			continue
		}
		v, ok := s.X.(*space.Scores)
		if err != nil || !ok || !slices.Equal(v.Val, []float64{5, s.G[0]}) {
			t.Errorf("step %d: %v, %v", s.Index, s.X, err)
		}
	}
	if n != 4 {
		t.Errorf("%d steps, expected 4", n)
	}
	n = 0
	for _, err := range p.Walk(x) {
		if err != nil {
			t.Error(err)
		}
		if n++; n == 2 {
			break
		}
	}
	if n != 2 {
		t.Errorf("the walk went on after a break: %d", n)
	}
}

func TestCheckFindsWhatIsWrong(t *testing.T) {
	g := catalog.SO2()
	for want, p := range map[string]*orbit.Plan{
		"no elements":      {Group: g},
		"element 1":        {Group: g, Elements: []group.Element{{0}, {0, 1}}},
		"repeat earlier":   {Group: g, Elements: []group.Element{{0}, {360}}},
		"2 weights for 1":  {Group: g, Elements: []group.Element{{0}}, Weights: []float64{1, 0}},
		"weight 0 is -1":   {Group: g, Elements: []group.Element{{0}, {1}}, Weights: []float64{-1, 2}},
		"weight 1 is NaN":  {Group: g, Elements: []group.Element{{0}, {1}}, Weights: []float64{1, math.NaN()}},
		"weights sum to 2": {Group: g, Elements: []group.Element{{0}, {1}}, Weights: []float64{1, 1}},
	} {
		if err := p.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, expected %q", err, want)
		}
	}
}
