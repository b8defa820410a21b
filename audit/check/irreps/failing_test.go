package irreps

import (
	"math"
	"testing"

	"nero/audit/check/sweep"
)

// An error that is not a number is larger than any, whatever comes after it.
func TestFailing(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, x := range []struct {
		errors []float64
		want   float64
	}{
		{[]float64{1, 3, 2}, 3},
		{[]float64{0, 0}, 0},
		{[]float64{nan}, inf},
		{[]float64{0, nan, 0}, inf},
		{[]float64{nan, 1}, inf},
	} {
		if got := failing(&sweep.Result{Err: x.errors, Scale: 1}, -1); got != x.want {
			t.Errorf("%v: %g, want %g", x.errors, got, x.want)
		}
		if got := failing(&sweep.Result{Scale: 1, FieldErr: [][]float64{{0}, x.errors}}, 1); got != x.want {
			t.Errorf("field %v: %g, want %g", x.errors, got, x.want)
		}
	}
}
