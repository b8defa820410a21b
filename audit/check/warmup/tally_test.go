package warmup

import (
	"math"
	"testing"
)

// Frames that were never measured are no errors; those whose error is not a number are.
func TestSettles(t *testing.T) {
	of := func(errors map[int]float64) *tally {
		t := &tally{}
		for k, e := range errors {
			t.add(k, e)
		}
		return t
	}
	for _, x := range []struct {
		name   string
		errors map[int]float64
		want   int
	}{
		{"nothing", nil, 0},
		{"a gap at the beginning", map[int]float64{3: 0, 4: 0, 9: 0}, 0},
		{"a gap within", map[int]float64{0: 1, 1: 1, 5: 0, 9: 0}, 2},
		{"not a number", map[int]float64{0: 0, 2: math.NaN(), 9: 0}, 3},
		{"not a number at the end", map[int]float64{0: 0, 9: math.NaN()}, -1},
		{"never", map[int]float64{0: 1, 9: 1}, -1},
	} {
		if got := of(x.errors).settles(0.5); got != x.want {
			t.Errorf("%s: %d, want %d", x.name, got, x.want)
		}
	}
}
