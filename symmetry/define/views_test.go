package define

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"nero/symmetry/group"
)

// Views have a first one and names, and no products that anybody knows.
func TestViews(t *testing.T) {
	g, err := Load(context.Background(), strings.NewReader("name: given\nviews: [plain, polite, terse]\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if !group.IsLawless(g) || group.IsLawless(group.Trivial()) {
		t.Error("views are no group, and the trivial group is one")
	}
	es, text, err := group.Preset(g, nil)
	if err != nil || len(es) != 3 || text != "all 3 elements of given" {
		t.Fatalf("%v %q %v", es, text, err)
	}
	var names []string
	for i, e := range es {
		names = append(names, group.Format(g, e))
		if !slices.Equal(g.Mul(g.Identity(), e), e) || !slices.Equal(g.Mul(e, g.Identity()), e) {
			t.Errorf("%v beside the first view", e)
		}
		for j, h := range es {
			if d := g.Dist(e, h); (d == 0) != (i == j) {
				t.Errorf("distance of %d and %d is %v", i, j, d)
			}
			if known := !math.IsNaN(g.Mul(e, h)[0]); known != (i == 0 || j == 0) {
				t.Errorf("%d after %d is %v", i, j, g.Mul(e, h))
			}
		}
		if known := !math.IsNaN(g.Inv(e)[0]); known != (i == 0) {
			t.Errorf("the inverse of %d is %v", i, g.Inv(e))
		}
	}
	if !slices.Equal(names, []string{"plain", "polite", "terse"}) || group.Format(g, g.Inv(es[1])) != "no view" {
		t.Errorf("%q", names)
	}
	// What is computed of an unknown product passes no test.
	if d := g.Dist(g.Mul(es[1], es[2]), es[1]); d <= group.Tolerance {
		t.Errorf("an unknown product is near: %v", d)
	}
	for _, e := range []group.Element{{3}, {0.5}, {-1}, {0, 1}, {math.NaN()}} {
		if _, err := group.Validate(g, e); err == nil {
			t.Errorf("%v is taken for a view", e)
		}
	}
	for text, want := range map[string]string{
		"name: given\nviews: []\n":                        "0 of them",
		"name: given\nviews: [a, ' ']\n":                  "view 2 has no name",
		"name: given\nviews: [a, b, a]\n":                 `1 and 3 are both called "a"`,
		"name: given\nviews: [a]\nrows: x\n":              "leave space and rows out",
		"name: given\nviews: [a]\nrotations: [[[1.0]]]\n": "2 definitions",
	} {
		if _, err := Load(context.Background(), strings.NewReader(text), nil); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
