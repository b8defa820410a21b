package preflight

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// Numbers are counted by their size, whole or not, small or not.
func TestTally(t *testing.T) {
	number := rapid.OneOf(rapid.Float64Range(-4, 4), rapid.Map(rapid.IntRange(-9, 9), func(k int) float64 {
		return float64(k)
	}), rapid.Just(1e300), rapid.Just(math.Inf(-1)))
	rapid.Check(t, func(rt *rapid.T) {
		list := rapid.SliceOfN(number, 0, 20).Draw(rt, "list")
		x := number.Draw(rt, "x")
		want := int32(0)
		for _, y := range list {
			if math.Abs(y) == math.Abs(x) {
				want++
			}
		}
		if got := tallyOf(list).of(x); got != want {
			rt.Errorf("%g is counted %d times in %v, want %d", x, got, list, want)
		}
	})
}
