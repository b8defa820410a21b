package extremes

import (
	"errors"
	"slices"
	"testing"

	"nero/audit/kit/stress"
	"nero/data/space"
)

// Fields of whole numbers stay as they are, and so do edges; those of other numbers are changed each by its own range.
func TestChangedKeepsWholeNumbers(t *testing.T) {
	at := &space.Rows{N: 2, W: 1, Val: []float64{-1, 3}}
	species := &space.Rows{N: 2, W: 1, Val: []float64{6, 8}}
	edges := &space.Links{Nodes: 2, From: []int32{0}, To: []int32{1}}
	r := &space.Record{Names: []string{"positions", "species", "edges"}, Values: []space.Value{at, species, edges}}
	for _, x := range extremes {
		v, err := stress.Changed(r, x.f, "species", "edges")
		if err != nil {
			t.Fatalf("%s: %v", x.name, err)
		}
		o, ok := v.(*space.Record)
		if !ok {
			t.Fatalf("%s: %T", x.name, v)
		}
		if o.Values[1] != space.Value(species) || o.Values[2] != space.Value(edges) {
			t.Errorf("%s: species or edges have changed: %v", x.name, o.Values)
		}
		if p, ok := o.Values[0].(*space.Rows); !ok || !slices.Equal(p.Val, x.f(at.Val)) {
			t.Errorf("%s: positions %v, want %v", x.name, o.Values[0], x.f(at.Val))
		}
	}
	// Without the names the numbers are like others.
	v, err := stress.Changed(r, stress.Times(1e-3))
	if err != nil {
		t.Fatal(err)
	}
	o, ok := v.(*space.Record)
	if !ok {
		t.Fatalf("%T", v)
	}
	if p, ok := o.Values[1].(*space.Rows); !ok || p.Val[0] != 6e-3 {
		t.Errorf("species %v", o.Values[1])
	}
	if _, err := stress.Changed(r, stress.Times(0), "positions", "species"); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("nothing to change: %v", err)
	}
}
