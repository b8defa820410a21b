package shelf

import (
	"slices"
	"testing"

	"nero/run/job"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

// Elements with many coordinates, and permutations, are named by their place in the plan, and found again.
func TestIndexed(t *testing.T) {
	for name, want := range map[string]bool{
		"S(3)": true, "E(3) x S(4)": true, "S(40)": true, "SO(3)": false,
		"D4": false, "E(3)": false,
	} {
		g, err := catalog.Parse(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := indexed(g); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	g, err := catalog.Parse("S(3)")
	if err != nil {
		t.Fatal(err)
	}
	j := &job.Job{Elements: []group.Element{{0, 1, 2}, {1, 0, 2}, {1, 2, 0}}, Exact: []bool{true, true, true}}
	o := orbitOf(g, j, 0)
	if !o.Indexed || !o.Finite || o.Layout != "ranked" || len(o.Chart) != 1 || len(o.Moves) != 0 ||
		!slices.Equal(o.Elements[2], group.Element{2}) {
		t.Errorf("%+v", o)
	}
	if !slices.Equal(o.Labels, []string{"identity", "(0 1)", "(0 1 2)"}) ||
		!slices.Equal(o.Kinds, []string{"identity", "transposition", "cycle"}) ||
		o.Title != "permutations, 3 elements" {
		t.Errorf("labels %q, kinds %q, title %q", o.Labels, o.Kinds, o.Title)
	}
	r := &Run{group: g, job: j, e: 3}
	for k, e := range j.Elements {
		if got := r.element(r.named(e, k)); !slices.Equal(got, e) {
			t.Errorf("element %d is %v, want %v", k, got, e)
		}
	}
	// What is no place is left to who moves, and elements beyond the plan keep their coordinates.
	for _, e := range []group.Element{{3}, {-1}, {0.5}, {2, 1, 0}} {
		if got := r.element(e); !slices.Equal(got, e) {
			t.Errorf("%v became %v", e, got)
		}
	}
	if got := r.named(group.Element{2, 1, 0}, -1); len(got) != 3 {
		t.Errorf("an element beyond the plan is %v", got)
	}
}
