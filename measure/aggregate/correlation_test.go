package aggregate

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

func TestCorrelate(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	// Reference: scipy 1.17.1, stats.pearsonr and stats.spearmanr.
	for _, c := range []struct {
		a, b              []float32
		pearson, spearman float64
		n, missing        int
	}{
		{[]float32{1, 2, 3, 4, 5}, []float32{2, 1, 4, 3, 7}, 0.8241633836921339, 0.7999999999999999, 5, 0},
		{[]float32{1, 2, 2, 3, 9}, []float32{5, 4, 4, 4, -1}, -0.9918763885820335, -0.9176629354822471, 5, 0},
		{[]float32{1, nan, 2, 3, inf, 5}, []float32{1, 7, 8, nan, 2, 27}, 0.9997874827305723, 1.0, 3, 3},
		{[]float32{0.1, 0.1, 0.1}, []float32{1, 2, 3}, math.NaN(), math.NaN(), 3, 0},
		{[]float32{1}, []float32{2}, math.NaN(), math.NaN(), 1, 0},
		{nil, nil, math.NaN(), math.NaN(), 0, 0},
	} {
		got := Correlate(c.a, c.b)
		same := func(a, b float64) bool { return math.Abs(a-b) < 1e-12 || math.IsNaN(a) && math.IsNaN(b) }
		if !same(got.Pearson, c.pearson) || !same(got.Spearman, c.spearman) || got.N != c.n ||
			got.Missing != c.missing {
			t.Errorf("%v %v: %+v", c.a, c.b, got)
		}
	}
}

// What does not vary has no correlation, however its mean is rounded.
func TestCorrelateConstant(t *testing.T) {
	for n := range 60 {
		a, b := make([]float32, n), make([]float32, n)
		for i := range a {
			a[i], b[i] = 0.7, float32(i)
		}
		if c := Correlate(a, b); !math.IsNaN(c.Pearson) || !math.IsNaN(c.Spearman) {
			t.Errorf("%d values: %+v", n, c)
		}
	}
}

// A rising map of one side keeps the ranks, a straight one also the product-moment correlation; a falling one changes
// the sign.
func TestCorrelateLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(3, 20).Draw(t, "n")
		a, b, line, cube, swapped := make([]float32, n), make([]float32, n), make([]float32, n), make([]float32, n),
			make([]float32, n)
		for i := range a {
			a[i], b[i] = float32(rapid.IntRange(-9, 9).Draw(t, "a")), float32(rapid.IntRange(-9, 9).Draw(t, "b"))
			line[i], cube[i], swapped[i] = 4*a[i]-3, a[i]*a[i]*a[i], -a[i]
		}
		c := Correlate(a, b)
		near := func(x, y float64) bool { return math.Abs(x-y) < 1e-9 || math.IsNaN(x) && math.IsNaN(y) }
		if !near(c.Pearson, Correlate(line, b).Pearson) || !near(c.Spearman, Correlate(cube, b).Spearman) ||
			!near(c.Pearson, -Correlate(swapped, b).Pearson) ||
			!near(c.Spearman, Correlate(b, a).Spearman) || math.Abs(c.Pearson) > 1 {
			t.Fatalf("%v %v: %+v", a, b, c)
		}
	})
}

// The mean by counts is the mean by values, so both bootstraps must give the same interval from the same draws.
func TestResampleIsBootstrap(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	clusters := make([][]float64, 30)
	for i := range clusters {
		clusters[i] = []float64{math.Exp(r.NormFloat64())}
	}
	mean := func(values []float64) float64 {
		s := 0.0
		for _, v := range values {
			s += v
		}
		return s / float64(len(values))
	}
	byCount := func(count []int) float64 {
		s, n := 0.0, 0
		for i, c := range count {
			s, n = s+float64(c)*clusters[i][0], n+c
		}
		return s / float64(n)
	}
	want := bootstrap(clusters, mean, 500, 0.9, rand.New(rand.NewPCG(1, 2)))
	estimate, got := Resample(len(clusters), byCount, 500, 0.9, rand.New(rand.NewPCG(1, 2)))
	if !(math.Abs(got.Low-want.Low) < 1e-12) || !(math.Abs(got.High-want.High) < 1e-12) || got.N != 30 ||
		!(got.Low < estimate && estimate < got.High) ||
		!(math.Abs(estimate-byCount(func() []int {
			c := make([]int, 30)
			for i := range c {
				c[i] = 1
			}
			return c
		}())) < 1e-12) {
		t.Errorf("%g in %+v, want %+v", estimate, got, want)
	}
	if estimate, i := Resample(0, byCount, 500, 0.9, r); !math.IsNaN(estimate) || !math.IsInf(i.Low, -1) {
		t.Errorf("nothing: %g in %+v", estimate, i)
	}
	if estimate, i := Resample(30, func(count []int) float64 {
		if count[0] == 0 {
			return math.NaN()
		}
		return byCount(count)
	}, 500, 0.9, r); math.IsNaN(estimate) || !math.IsInf(i.High, 1) {
		t.Errorf("undefined on a resample: %g in %+v", estimate, i)
	}
}

// With few samples all resamples lie on one side of the truth too often for the interval to be worth its name; it says
// nothing then.
func TestResampleOfFew(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	rms := func(x []float64) func(count []int) float64 {
		return func(count []int) float64 {
			s, n := 0.0, 0
			for i, k := range count {
				s, n = s+float64(k)*x[i]*x[i], n+k
			}
			return math.Sqrt(s / float64(n))
		}
	}
	for _, c := range []struct {
		n          int
		confidence float64
		all        bool
	}{
		{2, 0.95, true},
		{5, 0.95, true},
		{6, 0.95, false},
		{4, 0.9, true},
		{5, 0.9, false},
		{7, 0.99, true},
		{8, 0.99, false},
	} {
		const trials = 300
		held, wide := 0, 0
		for range trials {
			x := make([]float64, c.n)
			for i := range x {
				x[i] = r.NormFloat64()
			}
			_, i := Resample(c.n, rms(x), 200, c.confidence, r)
			if i.Low <= 1 && 1 <= i.High {
				held++
			}
			if math.IsInf(i.Low, -1) && math.IsInf(i.High, 1) {
				wide++
			}
		}
		if c.all != (wide == trials) || !c.all && wide > 0 {
			t.Errorf("%d samples at %g: everything %d times of %d", c.n, c.confidence, wide, trials)
		}
		// short for skewed statistics of few, but no longer by half
		if share := float64(held) / trials; share < c.confidence-0.14 {
			t.Errorf("%d samples: intervals of %g hold the truth with %g", c.n, c.confidence, share)
		}
	}
}
