package eval

import (
	"fmt"
	"testing"

	"nero/data/space"
	"nero/symmetry/action"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

// What is prepared once for all sizes moves answers as the action itself does, and refuses them in the same words.
func TestCarrierMovesAsItsAction(t *testing.T) {
	g, err := catalog.Parse("E(3) x S(6)")
	if err != nil {
		t.Fatal(err)
	}
	a, err := action.NewRecord(g, space.Spec{Kind: space.KindRecord, Fields: []space.Spec{
		{Name: "energy", Kind: space.KindRows, Type: space.TypeUnchanged, Per: space.PerSample, Shape: []int{1, 1}},
		{Name: "forces", Kind: space.KindRows, Type: space.TypeVectors},
	}}, action.Options{})
	if err != nil {
		t.Fatal(err)
	}
	elements := []group.Element{
		{120, 0, 0, 1, 1, 2, 3, 5, 0, 2, 4, 1, 3}, g.Identity(), {0, 0, 90, -1, 0, 0, 0, 1, 0, 3, 2, 5, 4},
	}
	answer := func(n int) *space.Record {
		e, f := space.NewRows(1, 1), space.NewRows(n, 3)
		for i := range f.Val {
			f.Val[i] = float64(i * i)
		}
		return &space.Record{Names: []string{"energy", "forces"}, Values: []space.Value{e, f}}
	}
	c := newCarrier(a, elements)
	var room space.Value
	for _, n := range []int{4, 6, 2, 4, 7, 1} {
		for k, g := range elements {
			got, err := c.apply(k, answer(n), room)
			want, err2 := a.Apply(g, answer(n))
			if fmt.Sprint(err) != fmt.Sprint(err2) || (err == nil) != (n < 7) {
				t.Errorf("element %d of %d atoms: error %v, want %v", k, n, err, err2)
			}
			if err == nil && fmt.Sprint(got.Numbers()) != fmt.Sprint(want.Numbers()) {
				t.Errorf("element %d of %d atoms: %v, want %v", k, n, got.Numbers(), want.Numbers())
			}
			if err == nil && k > 0 && got != room {
				t.Errorf("element %d of %d atoms: room of this size is not used", k, n)
			}
			room = got
		}
	}
	if c.movers[0].Load() == nil {
		t.Error("nothing was prepared")
	}
}

// Fields of the size that came first are moved by what was prepared for them, those of another size by the action.
func TestCarrierMovesFields(t *testing.T) {
	g, err := catalog.Parse("D4 x Time")
	if err != nil {
		t.Fatal(err)
	}
	a, err := action.NewField(g, space.Spec{Kind: space.KindField, Shape: []int{2, -1, -1}}, action.Options{})
	if err != nil {
		t.Fatal(err)
	}
	elements, err := group.Enumerate(g)
	if err != nil {
		t.Fatal(err)
	}
	c := newCarrier(a, elements)
	var room space.Value
	for i, n := range []int{4, 4, 6, 4, 5} {
		for k, g := range elements {
			x := space.NewField(n, n)
			for j := range x.Val {
				x.Val[j] = float64(j*j + i)
			}
			got, err := c.apply(k, x, room)
			if err != nil {
				t.Fatal(err)
			}
			want, err := a.Apply(g, x)
			if err != nil {
				t.Fatal(err)
			}
			if got.Form() != want.Form() || fmt.Sprint(got.Numbers()) != fmt.Sprint(want.Numbers()) {
				t.Errorf("element %d of %d pixels: %v, want %v", k, n, got.Numbers(), want.Numbers())
			}
			if n == 4 && k > 0 && got != room {
				t.Errorf("element %d: room of this size is not used", k)
			}
			room = got
		}
	}
}
