package tangent_test

import (
	"math"
	"testing"

	"nero/audit"
	"nero/audit/kit/tangent"
	"nero/data/space"
	"nero/symmetry/action"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

// What a border filled in when a signal was moved back is no part of a difference of derivatives: a model that answers
// moment by moment has none, and one that errs by 1 at a known moment errs by 1.
func TestApartKnown(t *testing.T) {
	g, err := catalog.Parse("T(1,Z)")
	if err != nil {
		t.Fatal(err)
	}
	a, err := action.Rules().For(g, space.SpecOf("y", space.NewSignal(1, 6, 0)), action.Options{})
	if err != nil {
		t.Fatal(err)
	}
	still := &space.Signal{C: 1, T: 6, Val: []float64{3, 1, 4, 1, 5, 9}}
	// seen two moments later: 3 and 1 have left, 2 and 6 have come in
	later := &space.Signal{C: 1, T: 6, Val: []float64{4, 1, 5, 9, 2, 6}}
	for _, c := range []struct{ change, want float64 }{{0, 0}, {1, 1}} {
		later.Val[1] = 1 + c.change
		best := math.Inf(1)
		for _, by := range []float64{2, -2} {
			home, err := tangent.Change(audit.NewMover(a, group.Element{by}), later)
			if err != nil {
				t.Fatal(err)
			}
			best = min(best, tangent.Apart(home, still))
		}
		if math.Abs(best-c.want) > 1e-12 {
			t.Errorf("a change of %g: apart by %g", c.change, best)
		}
	}
}
