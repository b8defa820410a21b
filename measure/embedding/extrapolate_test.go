package embedding

import (
	"errors"
	"math"
	"testing"
)

func TestExtrapolation(t *testing.T) {
	steps := []float64{-4, -3, -2, -1, 0, 1, 2, 3, 4}
	for _, c := range []struct {
		name string
		of   func(object []float64, t float64) []float64
		far  bool
	}{
		{"affine", func(x []float64, t float64) []float64 {
			return []float64{x[0] + 2*t, x[0] - t, x[1] + 0.5}
		}, true},
		{"bent", func(x []float64, t float64) []float64 {
			return []float64{math.Sin(t / 1.3), 0.1 * x[0], x[1]}
		}, false},
	} {
		of := func(seed uint64) *Path { return &Path{T: steps, Orbits: planted(40, steps, seed, c.of)} }
		got, err := Extrapolate(of(1), of(2), of(3), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !(got.Inside.Value > 0.9) || got.Half != 2 || got.Fitted != 5 || got.Beyond != 4 {
			t.Errorf("%s: %+v", c.name, got)
		}
		if c.far != (got.Outside.Value > 0.99) || !c.far && !(got.Outside.Value < 0.8) {
			t.Errorf("%s: beyond the range R² is %g", c.name, got.Outside.Value)
		}
	}
	short := []float64{0, 1, 2}
	p := &Path{T: short, Orbits: planted(10, short, 1, func(x []float64, t float64) []float64 {
		return []float64{x[0], t}
	})}
	if _, err := Extrapolate(p, p, p, Options{}); !errors.Is(err, ErrGenerator) {
		t.Errorf("three elements: %v", err)
	}
}
