package discover_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"nero/data/dataset"
	"nero/data/space"
	"nero/discover"
)

// recordings is a subject of signals of noise, and a function of their numbers.
func recordings(n, channels, length int, f func(x []float64) float64) *discover.Subject {
	s := about(n, 1, 1, func([]float64) []float64 { return []float64{0} })
	s.In = space.Spec{Name: "sound", Kind: space.KindSignal, Shape: []int{channels, length}}
	r := rand.New(rand.NewPCG(6, 2))
	for _, side := range [][]dataset.Sample{s.Fit, s.Choose} {
		for i := range side {
			v := space.NewSignal(channels, length, 0)
			for k := range v.Val {
				v.Val[k] = r.NormFloat64()
			}
			side[i].Value = v
		}
	}
	s.Answers = func(_ context.Context, v []space.Value) ([]space.Value, error) {
		out := make([]space.Value, len(v))
		for i := range v {
			out[i] = &space.Rows{N: 1, W: 1, Val: []float64{f(v[i].Numbers())}}
		}
		return out, nil
	}
	return s
}

// The change that a family is held against is blurred in time, each channel by itself. The sum with alternating signs
// sees what is fastest alone, of which the kernel (1, 2, 3, 2, 1)/9 leaves (1/9)² while it leaves 19/81 of all: noise
// of a size moves that sum by √(1/19) of what unblurred noise would. A shift by one turns the sign around, 2 rms(f) in
// √2 rms(f) of a change as large, so the ratio is √2·√19; without the blur it would be √2.
func TestNoiseOfSignals(t *testing.T) {
	t.Parallel()
	const length = 128
	s := recordings(600, 2, length, func(x []float64) float64 {
		sum := 0.0
		for i, v := range x {
			sum += v * float64(1-2*(i%2))
		}
		return sum
	})
	r := row(t, scan(t, s), "shift by 1")
	want := math.Sqrt(2 * 19)
	if got := float64(r.Relative.Value); !(math.Abs(got-want) <= 0.12*want) {
		t.Errorf("a shift by a sample moves the answer %g times as much as noise does, want %g", got, want)
	}
}
