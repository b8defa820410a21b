package shelf

import (
	"testing"

	"nero/symmetry/group/catalog"
)

func TestOrbitDocument(t *testing.T) {
	for _, c := range []struct {
		made   made
		title  string
		layout string
		finite bool
	}{
		{made{group: "SO(2)", grid: []int{72}}, "rotations, 72 angles", "polar", false},
		{made{group: "D4"}, "rotations and mirrors, 8 elements", "polar", true},
		{made{group: "T(2)", grid: []int{3, 3}}, "shifts, 9 elements", "heatmap", false},
		{made{group: "Scale", grid: []int{5}}, "scalings, 5 elements", "line", false},
		{made{group: "C1"}, "rotations, 1 element", "polar", true},
	} {
		c.made.samples, c.made.shard, c.made.models, c.made.metrics = 1, 1, []string{"m"}, []string{"confidence"}
		j := c.made.job(t)
		g, err := catalog.Parse(c.made.group)
		if err != nil {
			t.Fatal(err)
		}
		o := orbitOf(g, j, identityOf(g, j.Elements))
		if o.Title != c.title || o.Layout != c.layout || o.Finite != c.finite || o.Identity < 0 ||
			len(o.Labels) != len(j.Elements) || o.Weights == nil || len(o.Steps) != len(o.Chart) {
			t.Errorf("%s: %+v", c.made.group, o)
		}
	}
}
