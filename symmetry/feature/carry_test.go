package feature_test

import (
	"errors"
	"testing"

	"nero/data/space"
	"nero/symmetry/action"
	"nero/symmetry/feature"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

// What joins a vector and a number and cuts it again moves as they do; a cut through the vector does not.
func TestCarried(t *testing.T) {
	g, err := catalog.Parse("SO(3)")
	if err != nil {
		t.Fatal(err)
	}
	f, err := feature.NewFrame(g, "", "")
	if err != nil {
		t.Fatal(err)
	}
	spec := space.Spec{Name: "v", Kind: space.KindRows, Shape: []int{1, 3}, Type: space.TypeVectors}
	a, err := action.NewRows(g, spec, action.Options{})
	if err != nil {
		t.Fatal(err)
	}
	given := func(shape []int) *feature.Rep {
		return f.Given(shape, a, func(x []float64) space.Value { return &space.Rows{N: 1, W: 3, Val: x} },
			func(v space.Value) ([]float64, error) { return v.Numbers(), nil })
	}
	quarter := turnAboutX(t, g)
	joined, err := f.Carried([]int{5}, []*feature.Rep{given([]int{3}), f.Fixed([]int{1})},
		[]feature.Place{{0, 0}, {0, 1}, {0, 2}, {1, 0}, {Value: -1}}, []group.Element{quarter})
	if err != nil {
		t.Fatal(err)
	}
	got, err := joined.Apply(quarter, []float64{1, 2, 3, 4, 5})
	if err != nil {
		t.Fatal(err)
	}
	want, err := given([]int{3}).Apply(quarter, []float64{1, 2, 3})
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, 4, 5)
	for i := range want {
		if d := got[i] - want[i]; !(d*d <= 1e-24) {
			t.Errorf("joined: %v, want %v", got, want)
			break
		}
	}
	if _, err := f.Carried([]int{2}, []*feature.Rep{given([]int{3})}, []feature.Place{{0, 0}, {0, 1}},
		[]group.Element{quarter}); !errors.Is(err, feature.ErrLayout) {
		t.Errorf("two components of three: %v", err)
	}
}

// turnAboutX is an element that turns and leaves no component alone but the first.
func turnAboutX(t *testing.T, g group.Group) group.Element {
	t.Helper()
	l, ok := g.(group.Lie)
	if !ok {
		t.Fatalf("%s has no exponential map", g.Name())
	}
	x := make([]float64, len(l.Generators()))
	x[0] = 1
	return l.Exp(x)
}
