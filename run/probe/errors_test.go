package probe

import (
	"math"
	"testing"

	"nero/data/space"
	"nero/measure/metric"
)

// TestErrors holds maps against errors that are known: two by two blocks of a field of three by four, one place of
// which is not finite.
func TestErrors(t *testing.T) {
	t.Parallel()
	got, want := space.NewField(3, 4), space.NewField(3, 4)
	for i := range got.U() {
		got.U()[i], got.V()[i] = 3*float64(i), 4*float64(i) // off by 5 i
	}
	got.U()[5] = math.NaN()
	p := &Point{Input: Input{Target: want}}
	r := &Result{Output: got, Moved: got}
	m, ref := p.Errors(r, "", 2)
	if m == nil || m.H != 2 || m.W != 2 || ref != metric.Target {
		t.Fatalf("%+v", m)
	}
	for at, v := range []float64{5 * (0 + 1 + 4) / 3., 5 * (2 + 3 + 6 + 7) / 4., 5 * (8 + 9) / 2., 5 * (10 + 11) / 2.} {
		if !(math.Abs(float64(m.Val[at])-v) < 1e-5) {
			t.Errorf("block %d is %v, want %v", at, m.Val[at], v)
		}
	}
	if want := 5 * (66. - 5) / 11; !(math.Abs(m.Mean-want) < 1e-12) {
		t.Errorf("mean %v, want %v", m.Mean, want)
	}
	if m, _ := p.Errors(r, metric.Self, 64); m == nil || m.H != 3 || m.W != 4 || m.Val[11] != 0 ||
		!math.IsNaN(float64(m.Val[5])) {
		t.Errorf("against itself: %+v", m)
	}
	if m, _ := p.Errors(r, metric.Consensus, 64); m != nil {
		t.Errorf("there is no consensus: %+v", m)
	}
	p.Target = space.NewField(4, 3)
	if m, _ := p.Errors(r, metric.Target, 64); m != nil {
		t.Errorf("sizes differ: %+v", m)
	}
	if m, _ := p.Errors(&Result{Output: space.NewImage(1, 2, 2)}, "", 64); m != nil {
		t.Errorf("no field: %+v", m)
	}
}
