package metric

import (
	"math"
	"math/rand/v2"
	"testing"

	"nero/data/space"
	"nero/internal/elementary"
)

// Of features that have nothing to do with the sample, the mean square of the ratio is 1: they are as far away as those
// of another one.
func TestFeatureRatio(t *testing.T) {
	const n, d = 400, 5
	r := rand.New(rand.NewPCG(2, 3))
	draw := func() *space.Scores {
		y := &space.Scores{}
		for range d {
			y.Val = append(y.Val, 7+2*elementary.Normal(r))
		}
		return y
	}
	s := 2 * math.Sqrt(d) // of normal numbers with the deviation 2, about their mean
	square, own := 0.0, 0.0
	for range n {
		x := draw()
		v := FeatureRatio.Measure(Case{Got: draw(), Want: x, Scale: s})
		square += v * v / n
		own = max(own, FeatureRatio.Measure(Case{Got: x, Want: x, Scale: s}))
	}
	// The deviation of the mean square is √(2/(n d)).
	if math.Abs(square-1) > 4*math.Sqrt(2.0/(n*d)) || own != 0 {
		t.Errorf("mean square %g, of features that stay %g", square, own)
	}
	if v := FeatureRatio.Measure(Case{Got: draw(), Want: draw(), Scale: 0}); !math.IsNaN(v) {
		t.Errorf("features that never vary: %g", v)
	}
}
