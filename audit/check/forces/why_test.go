package forces

import (
	"math"
	"strings"
	"testing"

	"nero/audit"
)

// Only what the interval of the work decides is said as a fact.
func TestWhy(t *testing.T) {
	work := func(value, lo, hi float64) audit.Interval { return audit.Interval{Value: value, Lo: lo, Hi: hi, N: 8} }
	for _, c := range []struct {
		name string
		r    Result
		want string
	}{
		{
			"no work",
			Result{Left: 1, Factor: 0.3, Work: work(1e-6, 0, 1e-5)},
			"gradient of something else, for they do no work",
		},
		{"perhaps no work", Result{Left: 1, Factor: 0.3, Work: work(5e-4, 0, 2e-3)}, "is undecided"},
		{"one input", Result{Left: 1, Factor: 0.3, Work: work(1e-6, math.NaN(), math.NaN())}, "is undecided"},
		{
			"work",
			Result{Left: 1, Factor: 0.3, Work: work(0.2, 0.1, 0.3), Invariant: true, Equivariant: true},
			"a direct force head",
		},
		{"sign", Result{Factor: -1, Work: work(1e-6, 0, 1e-5)}, "they are the gradient itself: the sign is wrong"},
		{"sign and unit", Result{Factor: -2, Work: work(1e-6, 0, 1e-5)}, "gradient times 2: the sign is wrong"},
		{"unit", Result{Factor: 0.5, Work: work(1e-6, 0, 1e-5)}, "minus the gradient times 0.5: another unit"},
	} {
		c.r.Limit = share
		if got := (&tester{}).why(&c.r); !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
