package action_test

import (
	"slices"
	"strings"
	"testing"

	"nero/data/space"
	"nero/symmetry/action"
	"nero/symmetry/action/actiontest"
	"nero/symmetry/group"
)

// of is a field of rows of a set.
func of(name, typ string, set, other int) space.Spec {
	return space.Spec{Name: name, Kind: space.KindRows, Shape: []int{-1, -1}, Type: typ, Set: set, Of: other}
}

// Two sets of rows are permuted each by a factor of its own, what is said of a set moves with it, and an incidence of
// one with the other moves as the rows of both do.
func TestSetsOfRows(t *testing.T) {
	spec := space.Spec{Kind: space.KindRecord, Fields: []space.Spec{
		of("now", space.TypePositions, 0, 0), of("next", space.TypePositions, 1, 0),
		of("chosen", space.TypeUnchanged, 0, 0), of("bag", space.TypeIncidence, 1, 0),
		{Name: "edges", Kind: space.KindLinks, Set: 1},
	}}
	value := func() *space.Record {
		return &space.Record{
			Names: []string{"now", "next", "chosen", "bag", "edges"},
			Values: []space.Value{
				rows(1, 3, 3), rows(2, 4, 3), &space.Rows{N: 3, W: 1, Val: []float64{1, 0, 1}}, rows(3, 4, 3),
				&space.Links{Nodes: 4, From: []int32{0, 3}, To: []int32{1, 2}},
			},
		}
	}
	g := parse(t, "SE(3) x S(3) x S(4)")
	a, err := action.Rules().For(g, spec, action.Options{})
	if err != nil {
		t.Fatal(err)
	}
	sampler, ok := g.(group.Sampler)
	if !ok {
		t.Fatal("no sampler")
	}
	if err := actiontest.Laws(actiontest.Case{
		Action: a, Value: value(), Elements: sampled(sampler, 12), Floor: 1e-12,
	}); err != nil {
		t.Error(err)
	}
	// row 0 of now to place 2, 1 to 0, 2 to 1; row i of next to place 3-i
	e := append(make(group.Element, 6), 2, 0, 1, 3, 2, 1, 0)
	v, err := a.Apply(e, value())
	if err != nil {
		t.Fatal(err)
	}
	x, y := value(), asA[*space.Record](t, v)
	get := func(r *space.Record, name string) *space.Rows { return asA[*space.Rows](t, r.Field(name)) }
	for i, k := range []int{2, 0, 1} {
		if !slices.Equal(get(y, "now").Row(k), get(x, "now").Row(i)) ||
			get(y, "chosen").Val[k] != get(x, "chosen").Val[i] {
			t.Errorf("row %d of the first set is not at place %d", i, k)
		}
		for j := range 4 {
			if get(y, "bag").Row(3 - j)[k] != get(x, "bag").Row(j)[i] {
				t.Errorf("the incidence of %d and %d is not at %d and %d", j, i, 3-j, k)
			}
		}
	}
	for j := range 4 {
		if !slices.Equal(get(y, "next").Row(3-j), get(x, "next").Row(j)) {
			t.Errorf("row %d of the second set is not at place %d", j, 3-j)
		}
	}
	if l := asA[*space.Links](t, y.Field("edges")); !slices.Equal(l.From, []int32{3, 0}) ||
		!slices.Equal(l.To, []int32{2, 1}) {
		t.Errorf("edges of the second set are %v, %v", l.From, l.To)
	}
	if r := asA[*action.Rows](t, asA[*action.Record](t, a).Field("bag")); r.Type() != space.TypeIncidence {
		t.Errorf("the bag moves as %s", r.Type())
	}
	// An output that speaks of the second set alone moves with it.
	next, err := action.Rules().For(g, of("flow", space.TypeVectors, 1, 0), action.Options{})
	if err != nil {
		t.Fatal(err)
	}
	v, err = next.Apply(e, rows(5, 4, 3))
	if err != nil || !slices.Equal(asA[*space.Rows](t, v).Row(0), rows(5, 4, 3).Row(3)) {
		t.Errorf("rows of the second set: %v, %v", v, err)
	}
	// Under one factor the second set keeps its order.
	one, err := action.Rules().For(parse(t, "S(3)"), of("flow", space.TypeVectors, 1, 0), action.Options{})
	if err != nil {
		t.Fatal(err)
	}
	v, err = one.Apply(group.Element{2, 0, 1}, rows(5, 4, 3))
	if err != nil || !slices.Equal(asA[*space.Rows](t, v).Val, rows(5, 4, 3).Val) {
		t.Errorf("rows of the second set under one factor: %v, %v", v, err)
	}
}

// Fields of one set that differ in their number are refused, with what to say of two sets; and so are incidences that
// have another number than their set has members.
func TestSetsThatDisagree(t *testing.T) {
	for _, c := range []struct {
		fields []space.Spec
		values []space.Value
		want   string
	}{
		{
			[]space.Spec{of("now", space.TypePositions, 0, 0), of("next", space.TypePositions, 0, 0)},
			[]space.Value{rows(1, 3, 3), rows(2, 4, 3)},
			`field "next" has 4 nodes and field "now" has 3`,
		},
		{
			[]space.Spec{of("now", space.TypePositions, 0, 0), of("next", space.TypePositions, 0, 0)},
			[]space.Value{rows(1, 3, 3), rows(2, 4, 3)},
			"rows of a set of their own, which another factor permutes, set: NAME",
		},
		{
			[]space.Spec{of("set", space.TypePositions, 0, 0), of("mask", space.TypeUnchanged, 0, 0)},
			[]space.Value{rows(1, 4, 3), rows(2, 3, 1)},
			`field "mask" has 3 nodes and field "set" has 4`,
		},
		{
			[]space.Spec{of("nodes", space.TypePositions, 0, 0), of("bag", space.TypeIncidence, 1, 0)},
			[]space.Value{rows(1, 4, 3), rows(2, 2, 5)},
			`field "bag" has 5 nodes and field "nodes" has 4`,
		},
	} {
		spec, v := space.Spec{Kind: space.KindRecord, Fields: c.fields}, &space.Record{Values: c.values}
		for _, f := range c.fields {
			v.Names = append(v.Names, f.Name)
		}
		g := parse(t, "S(5) x S(5)")
		a, err := action.Rules().For(g, spec, action.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err = a.Apply(g.Identity(), v); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	_, err := action.Rules().For(parse(t, "S(5)"), of("bag", space.TypeIncidence, 0, 0), action.Options{})
	if err == nil || !strings.Contains(err.Error(), "a number for each of another: say with set and of which ones") {
		t.Errorf("an incidence of a set with itself: %v", err)
	}
}
