package aggregate

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

func seeded() *rand.Rand { return rand.New(rand.NewPCG(8, 9)) }

func TestStudentBootstrap(t *testing.T) {
	x := []float64{0.1, 0.2, 0.15, 0.3, 0.1, 0.12, 2.4, 0.2, 0.18, 0.5, 0.05, 0.9}
	a, s := StudentBootstrap(x, 999, 0.95, seeded()), MeanInterval(of(x...), 0.95)
	if a != StudentBootstrap(x, 999, 0.95, seeded()) {
		t.Error("the same seed gives another interval")
	}
	if a.Low > s.Low || a.High < s.High {
		t.Errorf("%+v does not hold Student's %+v", a, s)
	}
	if m := of(x...).Mean; !(a.High-m > 1.3*(m-a.Low)) {
		t.Errorf("%+v does not lean to the side on which %v may be too small", a, m)
	}
	holes := append([]float64{math.NaN()}, x...)
	if b := StudentBootstrap(holes, 999, 0.95, seeded()); b.Missing != 1 || b.N != len(x) || b.High != a.High {
		t.Errorf("a NaN: %+v", b)
	}
	if b := StudentBootstrap([]float64{3, 3, 3}, 999, 0.95, seeded()); b.Low != 3 || b.High != 3 {
		t.Errorf("one value three times: %+v", b)
	}
	for name, b := range map[string]Interval{
		"one":               StudentBootstrap(x[:1], 999, 0.95, seeded()),
		"infinite":          StudentBootstrap([]float64{1, 2, math.Inf(1)}, 999, 0.95, seeded()),
		"few resamples":     StudentBootstrap(x, 99, 0.95, seeded()),
		"too sure for them": StudentBootstrap(x, 100, 0.999, seeded()),
	} {
		if !math.IsInf(b.Low, -1) || !math.IsInf(b.High, 1) {
			t.Errorf("%s: %+v", name, b)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		x := make([]float64, rapid.IntRange(4, 20).Draw(t, "n"))
		for i := range x {
			x[i] = float64(rapid.IntRange(0, 80).Draw(t, "eighths")) / 8
		}
		a, sure := StudentBootstrap(x, 199, 0.8, seeded()), StudentBootstrap(x, 199, 0.95, seeded())
		if sure.Low > a.Low || sure.High < a.High {
			t.Fatalf("more confidence is shorter: %+v, %+v", sure, a)
		}
		moved := make([]float64, len(x))
		for i, v := range x {
			moved[i] = 4*v + 64
		}
		if m := StudentBootstrap(moved, 199, 0.8, seeded()); !near(m.Low, 4*a.Low+64, 1e-9) ||
			!near(m.High, 4*a.High+64, 1e-9) {
			t.Fatalf("%+v moved to %+v", a, m)
		}
	})
}

func TestCompare(t *testing.T) {
	r := seeded()
	before, after := exponential.sample(r, 60), make([]float64, 60)
	for i, x := range before {
		after[i] = x/4 + 0.01*r.Float64()
	}
	c := Compare(before, after, 999, 0.95, r)
	if c.Verdict != Improved || !(c.Difference.High < 0) || !c.Factor.holds(c.Before/c.After) ||
		!(c.Factor.Low > 3.5 && c.Factor.High < 4.1) {
		t.Errorf("a quarter: %+v", c)
	}
	if back := Compare(after, before, 999, 0.95, r); back.Verdict != Worse || !(back.Factor.High < 0.3) {
		t.Errorf("four times: %+v", back)
	}
	// Pairing finds what two separate intervals cannot: the spread over inputs is common to both.
	for i, x := range before {
		after[i] = x - 0.02 + 0.02*r.NormFloat64()
	}
	if c := Compare(before, after, 999, 0.95, r); c.Verdict != Improved {
		t.Errorf("a little, at every input: %+v", c)
	}
	if a, b := MeanInterval(of(before...), 0.95), MeanInterval(of(after...), 0.95); a.Low > b.High {
		t.Fatal("not a test of pairing")
	}
	if c := Compare(before, before, 999, 0.95, r); c.Verdict != NoEvidence || c.Difference.Low != 0 ||
		c.Difference.High != 0 || !near(c.Factor.Low, 1, 1e-6) || !near(c.Factor.High, 1, 1e-6) {
		t.Errorf("the same: %+v", c)
	}
	other := exponential.sample(r, 60)
	if c := Compare(before, other, 999, 0.95, r); c.Verdict != NoEvidence || !c.Factor.holds(1) {
		t.Errorf("another draw: %+v", c)
	}
	holes := append([]float64{math.NaN()}, before...)
	if c := Compare(holes, append([]float64{1000}, after...), 999, 0.95, r); c.Difference.Missing != 1 ||
		c.Factor.Missing != 1 || c.Difference.N != 60 || c.Before > 2 || c.After > 2 {
		t.Errorf("a NaN: %+v", c)
	}
	if c := Compare(nil, nil, 999, 0.95, r); c.Verdict != NoEvidence || !math.IsNaN(c.Before) ||
		!math.IsInf(c.Difference.High, 1) {
		t.Errorf("nothing: %+v", c)
	}
	if s := NoEvidence.String() + Improved.String() + Worse.String() +
		Verdict(5).String(); s != "no clear differenceimprovedworseVerdict(5)" {
		t.Error(s)
	}
}

func TestFactor(t *testing.T) {
	zero := make([]float64, 30)
	some := exponential.sample(seeded(), 30)
	for name, c := range map[string]struct {
		i      Interval
		lo, hi float64
	}{
		"none after":  {FactorInterval(some, zero, 199, 0.95, seeded()), 0, math.Inf(1)},
		"none before": {FactorInterval(zero, some, 199, 0.95, seeded()), 0, math.Inf(1)},
		"negative": {
			FactorInterval(some, append([]float64{-1}, some[1:]...), 199, 0.95, seeded()), math.Inf(-1),
			math.Inf(1),
		},
		"infinite": {
			FactorInterval(some, append([]float64{math.Inf(1)}, some[1:]...), 199, 0.95, seeded()),
			math.Inf(-1), math.Inf(1),
		},
		"one":       {FactorInterval(some[:1], some[:1], 199, 0.95, seeded()), math.Inf(-1), math.Inf(1)},
		"resamples": {FactorInterval(some, some, 99, 0.95, seeded()), math.Inf(-1), math.Inf(1)},
	} {
		if c.i.Low != c.lo || c.i.High != c.hi {
			t.Errorf("%s: %+v", name, c.i)
		}
	}
	// Fieller by hand: before 3, 5, 4 and after 1, 1, 1: the ratio is the mean of before, with Student's limits
	// 4 ± 4.3026527·√(1/3) (t of 2 degrees of freedom). With 3 inputs the bootstrap only widens it.
	i := FactorInterval([]float64{3, 5, 4}, []float64{1, 1, 1}, 199, 0.95, seeded())
	if h := 4.302652729911275 * math.Sqrt(1.0/3); i.Low > 4-h+1e-12 || i.High < 4+h-1e-12 {
		t.Errorf("%+v does not hold 4 ± %v", i, h)
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(5, 15).Draw(t, "n")
		a := rapid.SliceOfN(rapid.Float64Range(0.5, 3), n, n).Draw(t, "before")
		b := rapid.SliceOfN(rapid.Float64Range(0.5, 3), n, n).Draw(t, "after")
		i, sure := FactorInterval(a, b, 199, 0.8, seeded()), FactorInterval(a, b, 199, 0.95, seeded())
		if !i.holds(meanOf(a)/meanOf(b)) && i.High-i.Low > 1e-9 {
			t.Fatalf("%+v does not hold the ratio %v", i, meanOf(a)/meanOf(b))
		}
		if sure.Low > i.Low || sure.High < i.High {
			t.Fatalf("more confidence is shorter: %+v, %+v", sure, i)
		}
		scaled := make([]float64, n)
		for k, x := range a {
			scaled[k] = 8 * x
		}
		if s := FactorInterval(scaled, b, 199, 0.8, seeded()); !near(s.Low, 8*i.Low, 1e-6) ||
			!near(s.High, 8*i.High, 1e-6) {
			t.Fatalf("%+v scaled to %+v", i, s)
		}
	})
}

func TestPairedMean(t *testing.T) {
	nan := float32(math.NaN())
	a, b, n := PairedMean([]float32{1, nan, 3, 100}, []float32{2, 50, 4, nan}, nil)
	if a != 2 || b != 3 || n != 2 {
		t.Errorf("holes: %v, %v, %d", a, b, n)
	}
	if a, b, n = PairedMean([]float32{1, 2}, []float32{3, 5}, []float64{3, 1}); a != 1.25 || b != 3.5 || n != 2 {
		t.Errorf("weights: %v, %v, %d", a, b, n)
	}
	if a, b, n = PairedMean([]float32{nan}, []float32{1}, nil); !math.IsNaN(a) || !math.IsNaN(b) || n != 0 {
		t.Errorf("nothing: %v, %v, %d", a, b, n)
	}
}

func TestQuotient(t *testing.T) {
	// By hand: means 4 and 2, their variances 1/3 each, their covariance 1/6: 1/48 - 1/24 + 1/12 = 1/16.
	var q quotient
	for _, p := range [][2]float64{{3, 1}, {5, 2}, {4, 3}} {
		q.add(p[0], p[1])
	}
	if ratio, se := q.log(); !near(ratio, math.Ln2, 1e-12) || !near(se, 0.25, 1e-12) {
		t.Errorf("logarithm %v, standard error %v", ratio, se)
	}
}

// skewed are errors of which few are large.
var skewed = []float64{0.4, 0.5, 0.45, 0.6, 0.4, 0.42, 1.9, 0.5, 0.48, 0.8, 0.35, 1.1}

func TestFactorLeans(t *testing.T) {
	ones := make([]float64, len(skewed))
	for i := range ones {
		ones[i] = 1
	}
	m := of(skewed...)
	// The mean after is likely too small, so the factor is likely too large: the lower end goes beyond Fieller's.
	i, fieller := FactorInterval(ones, skewed, 999, 0.95, seeded()), 1/MeanInterval(m, 0.95).High
	if !(i.Low < 0.9*fieller) {
		t.Errorf("%+v, Fieller's lower end is %v", i, fieller)
	}
}
