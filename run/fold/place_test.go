package fold

import (
	"math"
	"testing"

	"nero/measure/metric"
)

// The cases are those of the page, serve/web/src/views/parts.test.ts.
func TestPlace(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		values []float64
		better metric.Direction
		want   Place
	}{
		{[]float64{1, 0.2, 0.4, 0.9}, metric.Higher, Place{At: 1, Ties: 1, Of: 4}},
		{[]float64{1, 0.2, 0.4, 0.9}, metric.Lower, Place{At: 0, Ties: 1, Of: 4}},
		{[]float64{1, 0, 0, 0}, metric.Higher, Place{At: 1, Ties: 3, Of: 4}},
		{[]float64{0.287, 0.287000001, 0.287, 0.287}, metric.Lower, Place{At: 1, Ties: 4, Of: 4, Level: true}},
		{[]float64{0, 0, 0, 0}, metric.Lower, Place{At: 0, Ties: 4, Of: 4, Level: true}},
		{[]float64{nan, nan}, metric.Lower, Place{At: -1, Of: 2}},
		{[]float64{nan, 3}, metric.Lower, Place{At: 1, Ties: 1, Of: 2}},
	} {
		if got := PlaceOf(c.values, c.better); got != c.want {
			t.Errorf("%v, %s is better: %+v, want %+v", c.values, c.better, got, c.want)
		}
	}
}

// A change that no digit shows is none, however sure its sign is.
func TestVerdictOfRounding(t *testing.T) {
	s := &Summary{Metrics: []Metric{{Name: "energy.rmse", Better: string(metric.Lower), Ref: string(metric.Target)}}}
	for want, by := range map[string]float64{"no change seen": 1e-7, "worse when moved": 1e-4} {
		c := &Curve{
			Orbit:  Estimate{N: 8, Mean: Number(0.25 + by)},
			Change: Estimate{N: 8, Mean: Number(by), Lo: Number(0.9 * by), Hi: Number(1.1 * by)},
		}
		if got := s.Verdict(c, 1e-4); got != want {
			t.Errorf("0.25 that rises by %g: %q, want %q", by, got, want)
		}
	}
}
