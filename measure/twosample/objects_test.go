package twosample

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// apart is the mean distance of the answers of two parts.
func apart(first, second [][]float64) func(i, j int) float64 {
	return func(i, j int) float64 {
		sum := 0.0
		for _, x := range first[i] {
			for _, y := range second[j] {
				sum += math.Abs(x - y)
			}
		}
		return sum / float64(len(first[i])*len(second[j]))
	}
}

// Three objects have six orders: of the six, one is as close as what is always the same, and of two equal objects two.
func TestTellApartByHand(t *testing.T) {
	for _, c := range []struct {
		first, second []float64
		same, other   float64
		orders        float64 // of six, as close as the data
	}{
		{[]float64{0, 1, 3}, []float64{0, 1, 3}, 0, 2, 1},
		{[]float64{0, 0, 3}, []float64{0, 0, 3}, 0, 2, 2},
		{[]float64{0, 0, 0}, []float64{0, 0, 0}, 0, 0, 6},
		{[]float64{0, 1, 3}, []float64{3, 1, 0}, 2, 1, 6}, // the furthest of all
	} {
		var a, b [][]float64
		for i := range c.first {
			a, b = append(a, c.first[i:i+1]), append(b, c.second[i:i+1])
		}
		got := TellApart(3, apart(a, b), rand.New(rand.NewPCG(1, 1)))
		if got.Same != c.same || got.Other != c.other || got.Objects != 3 || !(math.Abs(got.P-c.orders/6) < 0.05) {
			t.Errorf("%v, %v: %+v", c.first, c.second, got)
		}
	}
	nan := func(i, j int) float64 { return math.Sqrt(float64(i-j) * float64(j-i)) } // NaN of two objects
	if got := TellApart(5, nan, rand.New(rand.NewPCG(1, 1))); got.Same != 0 || !math.IsNaN(got.Other) || got.P <= 0.05 {
		t.Errorf("distances that nobody knows: %+v", got)
	}
	for n := range 2 {
		if got := TellApart(n, func(int, int) float64 { return 0 }, rand.New(rand.NewPCG(1, 1))); !math.IsNaN(got.P) {
			t.Errorf("%d objects: %+v", n, got)
		}
	}
}

// Another unit and another order of the objects change nothing but the draws: the distances are what they are.
func TestTellApartLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 8).Draw(t, "objects")
		x := rapid.SliceOfN(rapid.Float64Range(-5, 5), 2*n, 2*n).Draw(t, "answers")
		distance := func(i, j int) float64 { return math.Abs(x[i] - x[n+j]) }
		one := TellApart(n, distance, rand.New(rand.NewPCG(3, 4)))
		eight := TellApart(n, func(i, j int) float64 { return 8 * distance(i, j) }, rand.New(rand.NewPCG(3, 4)))
		back := TellApart(n, func(i, j int) float64 { return distance(n-1-i, n-1-j) }, rand.New(rand.NewPCG(3, 4)))
		if eight.Same != 8*one.Same || eight.Other != 8*one.Other || !(one.P > 0 && one.P <= 1) {
			t.Fatalf("%+v, eight times %+v", one, eight)
		}
		if !(math.Abs(back.Same-one.Same) < 1e-12) || !(math.Abs(back.Other-one.Other) < 1e-12) {
			t.Fatalf("%+v, backwards %+v", one, back)
		}
	})
}

// Noise alone is told from what depends on the object at the level that was asked for, also where all objects share
// what
// a seed draws, and where answers about one object have noise in common; small effects are found.
func TestTellApartLevelAndPower(t *testing.T) {
	const sets, objects, each = 150, 40, 4
	for name, c := range map[string]struct {
		effect   float64 // of the object, in deviations of one answer
		common   bool    // of all objects, by the number of the answer
		low, top int
	}{
		"noise":              {0, false, 1, 15},
		"noise of seeds":     {0, true, 1, 15},
		"a fifth of it":      {0.5, false, 135, 150},
		"seeds and a little": {0.5, true, 90, 150},
	} {
		found := 0
		for k := range sets {
			r := rand.New(rand.NewPCG(uint64(k), 17))
			var seeds [2 * each]float64
			for s := range seeds {
				if c.common {
					seeds[s] = 3 * r.NormFloat64()
				}
			}
			parts := [2][][]float64{}
			for range objects {
				mean := c.effect * r.NormFloat64()
				for p := range parts {
					var answers []float64
					for s := range each {
						answers = append(answers, mean+seeds[p*each+s]+r.NormFloat64())
					}
					parts[p] = append(parts[p], answers)
				}
			}
			if TellApart(objects, apart(parts[0], parts[1]), r).P <= 0.05 {
				found++
			}
		}
		t.Logf("%s: %d of %d", name, found, sets)
		if found < c.low || found > c.top {
			t.Errorf("%s: p is at most 0.05 in %d of %d, want %d to %d", name, found, sets, c.low, c.top)
		}
	}
}
