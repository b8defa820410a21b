package orbit_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"nero/symmetry/action"
	"nero/symmetry/group"
	"nero/symmetry/orbit"
)

func TestEvery(t *testing.T) {
	for _, c := range []struct {
		name    string
		spec    orbit.Spec
		n       int
		measure string
	}{
		{"SO(2)", orbit.Spec{Every: 8}, 9, "9 of 72 elements: uniform grid of 72 angles"},
		{"SO(2)", orbit.Spec{Grid: []int{120}, Every: 8}, 15, "15 of 120 elements: uniform grid of 120"},
		{"SO(2)", orbit.Spec{Grid: []int{100}, Every: 8}, 10, "10 of 100 elements: uniform grid"},
		{"O(2)", orbit.Spec{Every: 8}, 18, "18 of 144 elements"},
		{"SO(2)", orbit.Spec{Every: 1}, 72, "uniform grid of 72 angles"},
		{"SO(2)", orbit.Spec{LowDiscrepancy: 64, Every: 8}, 8, "8 of 64 elements: low-discrepancy"},
		{"S(5)", orbit.Spec{Every: 8}, 15, "15 of 120 elements"},
		// by odd numbers of pixels: every third one on both axes
		{
			"T(2)",
			orbit.Spec{Grid: []int{29, 29}, Range: [][]float64{{-14, 14}, {-14, 14}}, Every: 8},
			81, "81 of 841 elements",
		},
	} {
		p := plan(t, c.name, c.spec)
		if len(p.Elements) != c.n {
			t.Errorf("%s %+v: %d elements, want %d", c.name, c.spec, len(p.Elements), c.n)
		}
		if p.Identity() < 0 {
			t.Errorf("%s %+v: without the identity", c.name, c.spec)
		}
		if !strings.HasPrefix(p.Measure, c.measure) {
			t.Errorf("%s %+v: measure %q, want %q", c.name, c.spec, p.Measure, c.measure)
		}
	}
	p := plan(t, "T(2)", orbit.Spec{Grid: []int{29, 29}, Range: [][]float64{{-14, 14}, {-14, 14}}, Every: 8})
	for _, e := range p.Elements {
		if int(e[0])%3 != 0 || int(e[1])%3 != 0 {
			t.Errorf("shift %v is on no grid of every third pixel around the identity", e)
		}
	}
	g := parse(t, "SO(2)")
	both := orbit.Spec{Grid: []int{72}, Refine: &orbit.Refine{At: []float64{5}}, Every: 8}
	if _, err := orbit.NewPlan(g, both, tag{g: g}, action.Trivial{G: g}, 7); err == nil {
		t.Error("every goes with refine")
	}
}

// What is kept is part of the plan, in its order, with the identity, about as much as was asked for; between angles
// no gap is wider than the first.
func TestEveryKeepsAPart(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.IntRange(2, 200).Draw(r, "elements")
		k := rapid.IntRange(2, 20).Draw(r, "every")
		name := rapid.SampledFrom([]string{"SO(2)", "O(2)", "C12", "S(4)", "Scale"}).Draw(r, "group")
		spec := orbit.Spec{}
		if name == "SO(2)" {
			spec.Grid = []int{n}
		}
		g := parse(t, name)
		whole, err := orbit.NewPlan(g, spec, tag{g: g}, action.Trivial{G: g}, 7)
		if err != nil {
			r.Fatal(err)
		}
		spec.Every = k
		part, err := orbit.NewPlan(g, spec, tag{g: g}, action.Trivial{G: g}, 7)
		if err != nil {
			r.Fatal(err)
		}
		if part.Identity() < 0 {
			r.Fatal("the identity is left out")
		}
		last := -1
		for _, e := range part.Elements {
			i := slices.IndexFunc(whole.Elements, func(x group.Element) bool { return slices.Equal(x, e) })
			if i <= last {
				r.Fatalf("element %v is at %d of the whole plan, the one before at %d", e, i, last)
			}
			last = i
		}
		if most := max(1, len(whole.Elements)/k) + 1; len(part.Elements) > most {
			r.Fatalf("%d of %d elements are kept, one in %d", len(part.Elements), len(whole.Elements), k)
		}
		if name != "SO(2)" || len(part.Elements) < 2 {
			return
		}
		step := part.Elements[1][0] - part.Elements[0][0]
		for i := range part.Elements {
			at, next := part.Elements[i][0], 360.0
			if i+1 < len(part.Elements) {
				next = part.Elements[i+1][0]
			}
			if gap := next - at; gap > step+1e-9 {
				r.Fatalf("a gap of %g degrees, where the others have %g", gap, step)
			}
		}
	})
}
