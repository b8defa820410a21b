package app

import (
	"slices"
	"testing"

	"nero/data/space"
	"nero/symmetry/action"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
	"nero/symmetry/orbit"
)

func TestThin(t *testing.T) {
	g, err := catalog.Parse("SO(2)")
	if err != nil {
		t.Fatal(err)
	}
	in, err := action.Rules().For(g, space.Spec{Kind: space.KindImage, Shape: []int{1, 8, 8}}, action.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range []orbit.Spec{
		{Grid: []int{72}},
		{Values: [][]float64{{10}, {20}, {90}, {30}, {180}, {40}, {50}}},
	} {
		p, err := orbit.NewPlan(g, spec, in, action.Trivial{G: g}, 0)
		if err != nil {
			t.Fatal(err)
		}
		exact := 0
		for _, e := range p.Exact() {
			if e {
				exact++
			}
		}
		for n := range len(p.Elements) + 2 {
			o := thin(p, n)
			if n == 0 || n >= len(p.Elements) {
				if o != p {
					t.Errorf("%d of %d elements made another plan", n, len(p.Elements))
				}
				continue
			}
			kept := 0
			for _, e := range o.Exact() {
				if e {
					kept++
				}
			}
			if len(o.Elements) != n || o.Identity() < 0 ||
				kept != 1+min(exact-1, max((n-1)-(n-1)/2, n-1-(len(p.Elements)-exact))) {
				t.Errorf("%d of %d: %d elements, %d exact, identity at %d", n, len(p.Elements), len(o.Elements), kept,
					o.Identity())
			}
			if err := o.Check(); err != nil {
				t.Errorf("%d of %d: %v", n, len(p.Elements), err)
			}
			if i := o.Identity(); p.Weights != nil && n > 1 && o.Weights[i] != 0 {
				t.Errorf("%d of %d: the added identity has weight %g", n, len(p.Elements), o.Weights[i])
			}
			if !slices.IsSortedFunc(o.Elements, func(x, y group.Element) int {
				at := func(e group.Element) int {
					return slices.IndexFunc(p.Elements, func(o group.Element) bool { return slices.Equal(o, e) })
				}
				return at(x) - at(y)
			}) {
				t.Errorf("%d of %d: another order", n, len(p.Elements))
			}
		}
	}
}
