package order_test

import (
	"strings"
	"testing"

	"nero/audit"
	"nero/audit/audittest"
	"nero/audit/check/order"
	"nero/data/dataset"
	"nero/data/space"
	"nero/symmetry/action"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
	"nero/symmetry/orbit"
)

const (
	items  = 5
	inputs = 20
)

// lists is a subject of five points each, which the cyclic group hands on from place to place.
func lists(t *testing.T, name string, f func(x []float64) float64) *audit.Subject {
	t.Helper()
	g, err := catalog.Cyclic(items)
	if err != nil {
		t.Fatal(err)
	}
	rep, err := action.Given(g, "places", 2*items, func(e group.Element) []float64 {
		k := int(e[0]/(360/items) + 0.5)
		m := make([]float64, 4*items*items)
		for i := range items {
			for c := range 2 {
				m[(2*((i+k)%items)+c)*2*items+2*i+c] = 1
			}
		}
		return m
	})
	if err != nil {
		t.Fatal(err)
	}
	in, err := action.NewTensor(g, space.Spec{Name: "x", Kind: space.KindTensor, Shape: []int{2 * items}},
		action.Options{}, rep)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := orbit.NewPlan(g, orbit.Spec{All: true}, in, action.Trivial{G: g}, 0)
	if err != nil {
		t.Fatal(err)
	}
	noise := audittest.Noise(inputs, 2, items, 3)
	return &audit.Subject{
		Name: name, Plan: plan, N: inputs, Seed: 1,
		Predictor: audittest.Pointwise(func(v space.Value) space.Value {
			x := v.Numbers()
			return &space.Tensor{Shape: []int{1}, Val: []float64{f(x)}}
		}),
		Sample: func(i int) (dataset.Sample, error) {
			s, err := noise(i)
			if err != nil {
				return s, err
			}
			s.Value = &space.Tensor{Shape: []int{2 * items}, Val: s.Value.Numbers()}
			return s, nil
		},
	}
}

func clue(r *audit.Report) (audit.Clue, bool) {
	for _, c := range r.Clues() {
		if c.Name == audit.ClueOrder {
			return c, true
		}
	}
	return audit.Clue{}, false
}

func TestOrder(t *testing.T) {
	for _, c := range []struct {
		name  string
		f     func(x []float64) float64
		holds bool
	}{
		{"sum", func(x []float64) float64 {
			var s float64
			for i := range items {
				s += x[2*i] * x[2*i+1]
			}
			return s
		}, false},
		{"by place", func(x []float64) float64 {
			var s float64
			for i := range items {
				s += float64(i) * x[2*i]
			}
			return s
		}, true},
		// Invariant under the cyclic group that is claimed, and not under an exchange: neighbors in the list multiply.
		{"neighbors", func(x []float64) float64 {
			var s float64
			for i := range items {
				s += x[2*i] * x[2*((i+1)%items)]
			}
			return s
		}, true},
	} {
		r := audittest.Audit(t, audittest.Fixture{Subject: lists(t, c.name, c.f)}, order.Check)
		got, ok := clue(r)
		if !ok || got.Holds != c.holds {
			t.Errorf("%s: %v, %+v", c.name, ok, got)
		}
		if ok && !strings.Contains(got.Text, "two of 5 items") {
			t.Errorf("%s: %s", c.name, got.Text)
		}
	}
}

// Turned vectors are no lists.
func TestNotApplicable(t *testing.T) {
	d4, err := catalog.Dihedral(4)
	if err != nil {
		t.Fatal(err)
	}
	s := &audit.Subject{
		Name: "v", Predictor: audittest.Radius(0),
		Plan: audittest.Plan(t, audittest.Plane(t, d4), action.Trivial{G: d4}),
		N:    inputs, Sample: audittest.Vectors(inputs, 3), Seed: 1,
	}
	r := audittest.Audit(t, audittest.Fixture{Subject: s}, order.Check)
	for _, x := range r.Results {
		if x.Check == order.Check && x.Status != audit.NotApplicable {
			t.Errorf("%s: %s", x.Status, x.Reason)
		}
	}
}
