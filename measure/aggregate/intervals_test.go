package aggregate

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestIntervalsAreTheSame asks one maker of intervals about lists of several lengths, some of them again, with more and
// with fewer resamples than before: what it remembers moves no bit.
func TestIntervalsAreTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		by := NewIntervals(seeded)
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 3))
		for range rapid.IntRange(1, 6).Draw(t, "lists") {
			x := make([]float64, rapid.IntRange(1, 12).Draw(t, "n"))
			for i := range x {
				x[i] = math.Exp(r.NormFloat64())
			}
			if rapid.Bool().Draw(t, "hole") {
				x[0] = math.NaN()
			}
			b := rapid.SampledFrom([]int{99, 100, 150, 300}).Draw(t, "resamples")
			c := rapid.SampledFrom([]float64{0.5, 0.95, 0.999}).Draw(t, "confidence")
			if got, want := by.StudentBootstrap(x, b, c), StudentBootstrap(x, b, c, seeded()); got != want {
				t.Fatalf("of %v: %v, want %v", x, got, want)
			}
			if got, want := by.Mean(of(x...), c), MeanInterval(of(x...), c); got != want {
				t.Fatalf("Student's of %v: %v, want %v", x, got, want)
			}
		}
	})
}

// Of long lists no places are kept.
func TestIntervalsOfLongLists(t *testing.T) {
	by := NewIntervals(seeded)
	short, long := make([]float64, 40), make([]float64, mostPlaces/100+1)
	for _, x := range [][]float64{short, long, short} {
		r := rand.New(rand.NewPCG(4, 4))
		for i := range x {
			x[i] = r.ExpFloat64()
		}
		if got, want := by.StudentBootstrap(x, 100, 0.95), StudentBootstrap(x, 100, 0.95, seeded()); got != want {
			t.Errorf("of %d numbers: %v, want %v", len(x), got, want)
		}
		if len(by.at) > mostPlaces || len(by.at) != 100*len(short) {
			t.Errorf("after %d numbers %d places are kept", len(x), len(by.at))
		}
	}
}

// The least numbers are those at the front of all in order.
func TestLeast(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(rapid.Float64Range(-3, 3), 1, 40).Draw(t, "all")
		all = append(all, math.Inf(1), math.Inf(-1), all[0])
		l := least{k: rapid.IntRange(1, len(all)).Draw(t, "k")}
		for _, v := range all {
			l.add(v)
		}
		slices.Sort(all)
		if !slices.Equal(l.x, all[:l.k]) {
			t.Fatalf("%v, want %v", l.x, all[:l.k])
		}
	})
}
