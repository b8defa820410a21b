package trend

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// checkpoints are errors of n objects at each of the given sizes.
func checkpoints(n int, sizes ...float64) [][]float64 {
	r := draws()
	base := skewed(r, n, 1)
	out := make([][]float64, len(sizes))
	for k, size := range sizes {
		out[k] = make([]float64, n)
		for o := range out[k] {
			out[k][o] = size * base[o]
		}
	}
	return out
}

// Reference: the interval of Bonett and Wright by hand, tanh(atanh ρ ± 1.96 √((1 + ρ²/2)/(n − 3))), with ρ = 1 −
// 12/(n(n² − 1)) for a perfect order; where every object falls alike all resamples agree.
func TestCourse(t *testing.T) {
	for _, c := range []struct {
		sizes          []float64
		rho, low, high float64
	}{
		{[]float64{9, 8, 7, 6, 5, 4, 3, 2, 1, 0.5, 0.2, 0.1}, -1, -1, -0.965950},
		{[]float64{1, 2, 3, 4, 5, 6}, 1, 0.382651, 1},
		{[]float64{5, 4, 3, 2, 1}, -1, -1, 0.168896},
		{[]float64{1, 1, 1, 1, 1}, math.NaN(), math.Inf(-1), math.Inf(1)},
		{[]float64{3, 2, 1}, math.NaN(), math.Inf(-1), math.Inf(1)},
	} {
		rho, i := Course(checkpoints(40, c.sizes...), 0.95, draws())
		same := func(a, b float64) bool { return a == b || math.Abs(a-b) < 1e-5 || math.IsNaN(a) && math.IsNaN(b) }
		if !same(rho, c.rho) || !same(i.Low, c.low) || !same(i.High, c.high) {
			t.Errorf("%v: %g, %g to %g; want %g, %g to %g", c.sizes, rho, i.Low, i.High, c.rho, c.low, c.high)
		}
	}
	// Bonett and Wright's own scale: ρ = 0.5 of 20.
	if low, high := ofReleases(0.5, 20, 0.95); math.Abs(low-0.045079) > 1e-5 || math.Abs(high-0.783164) > 1e-5 {
		t.Errorf("%g to %g", low, high)
	}
	// Objects that go different ways leave it open, though their mean falls.
	mixed := checkpoints(40, 8, 7, 6, 5, 4, 3, 2, 1)
	for k := range mixed {
		for o := range 20 {
			mixed[k][o] = mixed[len(mixed)-1-k][o+20] * 0.99
		}
	}
	if _, i := Course(mixed, 0.95, draws()); !(i.Low < 0 && i.High > 0) {
		t.Errorf("objects that go different ways: %g to %g", i.Low, i.High)
	}
	// What has no number somewhere says nothing.
	holes := checkpoints(40, 6, 5, 4, 3, 2, 1)
	for o := range holes[0] {
		holes[o%6][o] = math.NaN()
	}
	if rho, _ := Course(holes, 0.95, draws()); !math.IsNaN(rho) {
		t.Errorf("no object everywhere: %g", rho)
	}
}

// The order of objects and a growing scale of all errors change nothing; the other way round the sign changes.
func TestCourseLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(4, 9).Draw(t, "releases")
		x := make([][]float64, n)
		for k := range x {
			x[k] = rapid.SliceOfN(rapid.Float64Range(0, 1), 12, 12).Draw(t, "errors")
		}
		rho, i := Course(x, 0.95, draws())
		if math.IsNaN(rho) {
			t.Skip("no order")
		}
		if !(i.Low <= rho && rho <= i.High && i.Low >= -1 && i.High <= 1) {
			t.Fatalf("%g in %g to %g", rho, i.Low, i.High)
		}
		scaled := make([][]float64, n)
		for k := range x {
			scaled[k] = make([]float64, len(x[k]))
			for o, v := range x[k] {
				scaled[k][len(x[k])-1-o] = 4 * v
			}
		}
		if got, _ := Course(scaled, 0.95, draws()); math.Abs(got-rho) > 1e-12 {
			t.Fatalf("scaled: %g, want %g", got, rho)
		}
		back := slices.Clone(x)
		slices.Reverse(back)
		if got, _ := Course(back, 0.95, draws()); math.Abs(got+rho) > 1e-12 {
			t.Fatalf("backwards: %g, want %g", got, -rho)
		}
	})
}
