package embedding

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

// A unit changes no digit, and leaves ordinary features as they are.
func TestUnit(t *testing.T) {
	x := normal(9, 4, source(1))
	nan, inf := mat.NewDense(1, 1, []float64{math.NaN()}), mat.NewDense(1, 1, []float64{math.Inf(-1)})
	for _, c := range []struct {
		power    int
		ordinary bool
	}{{0, true}, {90, true}, {-90, true}, {500, false}, {-500, false}, {1018, false}, {-1020, false}} {
		y := mat.DenseCopyOf(x)
		y.Apply(func(_, _ int, v float64) float64 { return math.Ldexp(v, c.power) }, x)
		u := Unit(nil, y, nan, inf)
		z := In(u, y)
		if (u == 1) != c.ordinary || (z == y) != c.ordinary {
			t.Errorf("2^%d: the unit is %g", c.power, u)
		}
		if c.ordinary {
			continue
		}
		most := mat.Max(z)
		for i := range 9 {
			for j := range 4 {
				if z.At(i, j)*u != y.At(i, j) {
					t.Errorf("2^%d: %g is %g in %g", c.power, y.At(i, j), z.At(i, j), u)
				}
			}
		}
		if !(most < 2) || !(most > -2) {
			t.Errorf("2^%d: %g in %g", c.power, most, u)
		}
	}
	if u := Unit(mat.NewDense(1, 2, nil)); u != 1 {
		t.Errorf("the unit of 0 is %g", u)
	}
	if z := In(0x1p-1074, mat.NewDense(1, 1, []float64{0x1p-1074})); z.At(0, 0) != 1 {
		t.Errorf("the smallest number in itself is %g", z.At(0, 0))
	}
}

// However far out others lie, what is apart is apart.
func TestFar(t *testing.T) {
	for _, size := range []float64{1, 1e-160, 1e-300, 1e160, 1e300} {
		if got := far([]float64{3 * size, 1}, []float64{0, 1}); !isNear(got/size, 3, 1e-12) {
			t.Errorf("%g: %g", size, got)
		}
		if got := far([]float64{3 * size, -size}, []float64{0, 3 * size}); !isNear(got/size, 5, 1e-12) {
			t.Errorf("%g: %g", size, got)
		}
	}
	if got := far([]float64{2, 1}, []float64{2, 1}); got != 0 {
		t.Errorf("one and the same is %g apart", got)
	}
	if got := far([]float64{math.NaN(), 1}, []float64{2, 1}); !math.IsNaN(got) {
		t.Errorf("NaN is %g apart", got)
	}
}

// Correlations by hand, whether there are more units or more samples.
func TestCorrelations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, d := rapid.IntRange(6, 14).Draw(t, "samples"), rapid.IntRange(2, 20).Draw(t, "units")
		seed := rapid.Uint64().Draw(t, "seed")
		x, y := normal(n, d, source(seed)), normal(n, d, source(seed+1))
		y.Add(y, x)
		groups := objects(upTo(n))
		own, off := correlations(x, y, groups, Options{Seed: 1})
		a, b := standard(x), standard(y)
		var c mat.Dense
		c.Mul(a.T(), b)
		trace, square := mat.Trace(&c)/float64(d), 0.0
		for j := range d {
			for k := range d {
				if j != k {
					square += c.At(j, k) * c.At(j, k) / float64(d*(d-1))
				}
			}
		}
		square -= (1 - square) / float64(n-2)
		if !isNear(own.Value, trace, 1e-9) || !isNear(off.Value, square, 1e-9) {
			t.Fatalf("%+v and %+v, want %g and %g", own, off, trace, square)
		}
		for _, e := range []Estimate{own, off} {
			if !(e.Interval.Low < e.Interval.High) {
				t.Fatalf("the interval %+v", e)
			}
		}
	})
}

// Units that have nothing to do with each other are so of few samples, too, where the mean square of correlations is
// 1/(n - 1); and samples of one object count as one. Intervals are as wide as those of leaving one object out.
func TestUnrelatedUnits(t *testing.T) {
	const n, d = 24, 8
	mean, wide, jack := 0.0, 0.0, 0.0
	for seed := range uint64(40) {
		x, y := normal(n, d, source(seed)), normal(n, d, source(seed+500))
		_, off := correlations(x, y, objects(upTo(n)), Options{Seed: seed})
		mean += off.Value / 40
		var twice []int
		for i := range 2 * n {
			twice = append(twice, i%n)
		}
		_, again := correlations(Stack(x, x), Stack(y, y), objects(twice), Options{Seed: seed})
		if !isNear(again.Value, off.Value, 1e-9) {
			t.Fatalf("each sample twice: %+v, once %+v", again, off)
		}
		z := normal(n, d, source(seed+900))
		z.Add(z, x)
		own, _ := correlations(x, z, objects(upTo(n)), Options{Seed: seed})
		wide += (own.Interval.High - own.Interval.Low) / 40
		var values []float64
		for i := range n {
			var rest []int
			for k := range n {
				if k != i {
					rest = append(rest, k)
				}
			}
			one, _ := correlations(choose(x, rest), choose(z, rest), objects(upTo(n-1)), Options{Seed: seed})
			values = append(values, float64(n)*own.Value-float64(n-1)*one.Value)
		}
		i := pseudo(values, Options{})
		jack += (i.High - i.Low) / 40
	}
	if !(math.Abs(mean) < 0.004) { // 1/23 is 0.043; each has a standard deviation of about 0.01
		t.Errorf("units that have nothing to do with each other have %g", mean)
	}
	if !(wide/jack > 0.85) || !(wide/jack < 1.15) {
		t.Errorf("intervals are %g wide, by leaving one out %g", wide, jack)
	}
	still := normal(n, 1, source(1))
	if own, off := correlations(still, still, objects(upTo(n)), Options{}); !isNear(own.Value, 1, 1e-12) ||
		!math.IsNaN(off.Value) || !math.IsInf(off.Interval.High, 1) {
		t.Errorf("one unit: %+v, %+v", own, off)
	}
}
