package aggregate

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Shares that are 0 or 1 are trials; others count as many as they vary like, and never more than there are inputs.
func TestShareInterval(t *testing.T) {
	of := func(shares ...float64) Interval {
		var m Moments
		for i, s := range shares {
			m.Add(s, i)
		}
		return ShareInterval(m, 0.95)
	}
	for _, c := range []struct{ ones, n int }{{0, 20}, {20, 20}, {1, 1}} {
		shares := make([]float64, c.n)
		for i := range c.ones {
			shares[i] = 1
		}
		got, want := of(shares...), ClopperPearson(c.ones, c.n, 0.95)
		if math.Abs(got.Low-want.Low) > 1e-9 || math.Abs(got.High-want.High) > 1e-9 {
			t.Errorf("%d of %d: %v, want %v", c.ones, c.n, got, want)
		}
	}
	if i := of(); i.Low != 0 || i.High != 1 {
		t.Errorf("of nothing: %v", i)
	}
	// All alike in the middle is the evidence of as many inputs and no more.
	if got, want := of(0.5, 0.5, 0.5, 0.5), ClopperPearson(2, 4, 0.95); math.Abs(got.Low-want.Low) > 1e-9 {
		t.Errorf("%v, want %v", got, want)
	}
	// It holds the truth about as often as it says: shares of 0 to 1 around 0.3 of 40 inputs.
	r := rand.New(rand.NewPCG(1, 2))
	held, wide := 0, 0.0
	const trials = 2000
	for range trials {
		var m Moments
		for i := range 40 {
			m.Add(math.Pow(r.Float64(), 7.0/3), i) // mean 3/10
		}
		i := ShareInterval(m, 0.95)
		wide += i.High - i.Low
		if i.Low <= 0.3 && 0.3 <= i.High {
			held++
		}
	}
	if held < trials*94/100 || wide/trials > 0.4 {
		t.Errorf("%d of %d intervals hold the mean, of %.3g on average", held, trials, wide/trials)
	}
}
