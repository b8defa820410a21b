package view

import (
	"math"
	"slices"
	"testing"

	"nero/symmetry/action"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
	"nero/symmetry/orbit"
)

func planOf(tb testing.TB, name string, spec orbit.Spec) (group.Group, []group.Element) {
	tb.Helper()
	g, err := catalog.Parse(name)
	if err != nil {
		tb.Fatal(err)
	}
	p, err := orbit.NewPlan(g, spec, action.Trivial{G: g}, action.Trivial{G: g}, 1)
	if err != nil {
		tb.Fatal(err)
	}
	return g, p.Elements
}

// Where a move takes an element is the product in the group, for every element of the plan and by a search of all of
// them; and two moves after each other are their product.
func TestMoves(t *testing.T) {
	for _, c := range []struct {
		group string
		spec  orbit.Spec
		// short names
		moves []string
		// no move leaves the plan
		total bool
	}{
		{"SO(2)", orbit.Spec{Grid: []int{72}}, []string{"+15°", "−15°", "+90°", "−90°"}, true},
		{"SO(2)", orbit.Spec{Haar: 40}, []string{"+15°", "−15°", "+90°", "−90°"}, false},
		{"C1", orbit.Spec{}, nil, true},
		{"C2", orbit.Spec{}, []string{"+180°"}, true},
		{"C4", orbit.Spec{}, []string{"+90°", "−90°"}, true},
		{"C7", orbit.Spec{}, []string{"+51.43°", "−51.43°"}, true},
		{"C24", orbit.Spec{}, []string{"+15°", "−15°", "+90°", "−90°"}, true},
		{"C25", orbit.Spec{}, []string{"+14.4°", "−14.4°"}, true},
		{"D4", orbit.Spec{}, []string{"+90°", "−90°", "mirror ↔"}, true},
		{"O(2)", orbit.Spec{Grid: []int{24, 2}}, []string{"+15°", "−15°", "+90°", "−90°", "mirror ↔"}, true},
		{"T(2,Z)", orbit.Spec{Grid: []int{9, 9}}, []string{"→", "←", "↓", "↑"}, false},
		{"Roll(6,5)", orbit.Spec{}, []string{"→", "←", "↓", "↑"}, true},
		{"Scale", orbit.Spec{Grid: []int{13}}, []string{"×1.122", "÷1.122"}, false},
		{
			"p4m",
			orbit.Spec{Range: [][]float64{{0, 360}, {0, 1}, {-1, 1}, {-1, 1}}},
			[]string{"+90°", "−90°", "mirror ↔", "→", "←", "↓", "↑"},
			false,
		},
		{"SE(2)", orbit.Spec{LowDiscrepancy: 60}, []string{"+15°", "−15°", "+90°", "−90°", "→", "←", "↓", "↑"}, false},
		{"C4 x Scale", orbit.Spec{Grid: []int{4, 5}}, []string{"+90°", "−90°", "×1.414", "÷1.414"}, false},
		{"Affine(shear, shift x)", orbit.Spec{Grid: []int{5, 5}}, nil, false},
	} {
		g, elements := planOf(t, c.group, c.spec)
		all := Moves(g, elements)
		var short []string
		for _, m := range all {
			short = append(short, m.Short)
			if len(m.To) != len(elements) || m.Name == "" {
				t.Fatalf("%s: move %+v of %d elements", c.group, m, len(elements))
			}
			for k, to := range m.To {
				want := slices.IndexFunc(elements,
					func(e group.Element) bool { return g.Dist(e, g.Mul(m.Element, elements[k])) <= 1e-8 })
				if to != want {
					t.Errorf("%s: %s takes %v to %d, want %d", c.group, m.Name, elements[k], to, want)
				}
				if c.total && to < 0 {
					t.Errorf("%s: %s leaves the group at %v", c.group, m.Name, elements[k])
				}
			}
		}
		if c.group != "Affine(shear, shift x)" && !slices.Equal(short, c.moves) {
			t.Errorf("%s: moves %q, want %q", c.group, short, c.moves)
		}
		for _, a := range all {
			for _, b := range all {
				product := g.Mul(a.Element, b.Element)
				for h, via := range b.To {
					if via < 0 || a.To[via] < 0 {
						continue
					}
					if d := g.Dist(elements[a.To[via]], g.Mul(product, elements[h])); !(d <= 1e-8) {
						t.Errorf("%s: %s after %s takes %v to %v, want %v", c.group, a.Name, b.Name, elements[h],
							elements[a.To[via]], g.Mul(product, elements[h]))
					}
				}
			}
		}
	}
}

// Of a plan that is a whole group, every move permutes the elements.
func TestMovesPermute(t *testing.T) {
	for _, name := range []string{"C6", "D6", "Roll(4,3)", "C4 x Roll(2,2)"} {
		g, elements := planOf(t, name, orbit.Spec{All: true})
		if !Whole(g, elements) || Whole(g, elements[1:]) {
			t.Errorf("%s is all of the group: %v, and without one %v", name, Whole(g, elements), Whole(g, elements[1:]))
		}
		for _, m := range Moves(g, elements) {
			to := slices.Clone(m.To)
			slices.Sort(to)
			for k, v := range to {
				if k != v {
					t.Fatalf("%s: %s takes the elements to %v", name, m.Name, m.To)
				}
			}
		}
	}
	g, elements := planOf(t, "SO(2)", orbit.Spec{Grid: []int{8}})
	if Whole(g, elements) {
		t.Error("the circle is said to be finite")
	}
}

func TestFinderIgnoresRounding(t *testing.T) {
	g, elements := planOf(t, "SO(2)", orbit.Spec{Grid: []int{72}})
	f := newFinder(g, elements)
	for _, c := range []struct {
		angle float64
		want  int
	}{{360 - 1e-12, 0}, {5 + 1e-12, 1}, {5 - 1e-12, 1}, {5.001, -1}, {math.NaN(), -1}, {math.Inf(1), -1}, {355, 71}} {
		if got := f.find(group.Element{c.angle}); got != c.want {
			t.Errorf("%v is element %d, want %d", c.angle, got, c.want)
		}
	}
}
