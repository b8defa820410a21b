package audit_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"nero/audit"
	"nero/audit/audittest"
	"nero/audit/check/sweep"
)

// squares are the squared distances of n values of some components from their mean, and the square of the true scale.
type squares struct {
	name string
	n    int
	draw func(r *rand.Rand) []float64
	true float64
}

func (q squares) sample(r *rand.Rand) []float64 {
	x := make([][]float64, q.n)
	var mean []float64
	for i := range x {
		x[i] = q.draw(r)
		if mean == nil {
			mean = make([]float64, len(x[i]))
		}
		for k, v := range x[i] {
			mean[k] += v / float64(q.n)
		}
	}
	out := make([]float64, q.n)
	for i := range x {
		for k, v := range x[i] {
			out[i] += (v - mean[k]) * (v - mean[k])
		}
	}
	return out
}

// The factors hold the true scale as often as they say: for light and heavy tails, and for outputs of many numbers,
// whose squares hardly vary so that the factor of Bessel is what counts.
func TestCoverageOfScales(t *testing.T) {
	if testing.Short() {
		t.Skip("simulation")
	}
	one := func(f func(r *rand.Rand) float64) func(r *rand.Rand) []float64 {
		return func(r *rand.Rand) []float64 { return []float64{f(r)} }
	}
	for _, q := range []squares{
		{"normal", 50, one(func(r *rand.Rand) float64 { return r.NormFloat64() }), 1},
		{"uniform", 20, one(func(r *rand.Rand) float64 { return r.Float64() }), 1. / 12},
		{"exponential", 50, one(func(r *rand.Rand) float64 { return r.ExpFloat64() }), 1},
		{
			"log-normal, σ = 1", 50, one(func(r *rand.Rand) float64 { return math.Exp(r.NormFloat64()) }),
			math.E * (math.E - 1),
		},
		{"two hundred normal numbers", 20, func(r *rand.Rand) []float64 {
			x := make([]float64, 200)
			for k := range x {
				x[k] = r.NormFloat64()
			}
			return x
		}, 200},
	} {
		const runs = max(repetitions/2, 100)
		hits := 0
		for k := range runs {
			r := rand.New(rand.NewPCG(uint64(k), 3))
			x := q.sample(r)
			var square float64
			for _, v := range x {
				square += v / float64(len(x))
			}
			lo, hi := audit.ScaleFactor(x, 0.95, r)
			if f := math.Sqrt(q.true / square); lo <= f && f <= hi {
				hits++
			}
		}
		atLeast(t, fmt.Sprintf("scale of %d, %s", q.n, q.name), hits, runs, 0.95)
	}
}

// A scale has no unit: neither that of the squares nor their order changes the factors, and a higher confidence makes
// them no narrower.
func TestScaleFactor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfN(rapid.Float64Range(0, 100), 2, 40).Draw(t, "x")
		if slices.Max(x) < 1e-3 {
			t.Skip("next to nothing")
		}
		seed := rapid.Uint64().Draw(t, "seed")
		factor := func(x []float64, confidence float64) (lo, hi float64) {
			return audit.ScaleFactor(x, confidence, rand.New(rand.NewPCG(seed, 1)))
		}
		lo, hi := factor(x, 0.95)
		if !(lo > 0 && lo <= 1 && hi >= 1) || math.IsInf(hi, 1) && len(x) > 1 {
			t.Fatalf("[%g, %g] of %g", lo, hi, x)
		}
		scaled := slices.Clone(x)
		for i := range scaled {
			scaled[i] *= 1 << 10 // exact in binary
		}
		if a, b := factor(scaled, 0.95); !near(a, lo) || !near(b, hi) {
			t.Errorf("in another unit [%g, %g], was [%g, %g]", a, b, lo, hi)
		}
		if a, b := factor(x, 0.99); a > lo || b < hi {
			t.Errorf("at 99 %% [%g, %g], at 95 %% [%g, %g]", a, b, lo, hi)
		}
		lo, hi = audit.ScaleFactor(x, 0.95, nil)
		slices.Reverse(x)
		if a, b := audit.ScaleFactor(x, 0.95, nil); !near(a, lo) || !near(b, hi) {
			t.Errorf("in another order [%g, %g], was [%g, %g]", a, b, lo, hi)
		}
	})
	for _, x := range [][]float64{nil, {3}, {0, 0, 0}, {1, math.Inf(1)}} {
		if lo, hi := audit.ScaleFactor(x, 0.95, nil); lo != 0 || !math.IsInf(hi, 1) {
			t.Errorf("%g: [%g, %g], want nothing known", x, lo, hi)
		}
	}
	// Equal squares know all but that the mean is theirs, too; and of 20,000 everything is known.
	if lo, hi := audit.ScaleFactor([]float64{4, 4, 4, 4}, 0.95, nil); lo != 1 || !near(hi, math.Sqrt(4./3)) {
		t.Errorf("equal squares: [%g, %g]", lo, hi)
	}
	r := rand.New(rand.NewPCG(1, 4))
	many := squares{n: 20_000, draw: func(r *rand.Rand) []float64 { return []float64{r.NormFloat64()} }}.sample(r)
	if lo, hi := audit.ScaleFactor(many, 0.95, nil); !(lo > 0.98 && hi < 1.02) {
		t.Errorf("20,000 inputs: [%g, %g]", lo, hi)
	}
}

// tiny is above the numbers that have fewer digits than others.
const tiny = 1e-300

func near(a, b float64) bool { return a == b || math.Abs(a-b) <= 1e-9*math.Abs(b)+tiny }

// The interval over a scale holds the one over its estimate; it scales with the unit, widens with either uncertainty,
// and is never wider than if both were wrong at once.
func TestOver(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Float64Range(0.1, 10).Draw(t, "value")
		i := audit.Interval{
			Value: v, Lo: v * rapid.Float64Range(0, 1).Draw(t, "lo"), Hi: v * rapid.Float64Range(1, 5).Draw(t, "hi"),
		}
		lo, hi := rapid.Float64Range(0.2, 1).Draw(t, "low"), rapid.Float64Range(1, 5).Draw(t, "high")
		r := rapid.Float64Range(-1, 1).Draw(t, "correlation")
		o := i.Over(lo, hi, r)
		below := func(a, b float64) bool { return a <= b*(1+1e-9)+tiny }
		if o.Value != v || !below(o.Lo, i.Lo) || !below(i.Hi, o.Hi) || !below(i.Lo/hi, o.Lo) || !below(o.Hi, i.Hi/lo) {
			t.Fatalf("%+v over [%g, %g], correlation %g, is %+v", i, lo, hi, r, o)
		}
		k := rapid.Float64Range(0.01, 100).Draw(t, "unit")
		if s := (audit.Interval{Value: k * v, Lo: k * i.Lo, Hi: k * i.Hi}).Over(lo, hi, r); !near(s.Lo, k*o.Lo) ||
			!near(s.Hi, k*o.Hi) {
			t.Errorf("in another unit %+v, was %+v", s, o)
		}
		if w := i.Over(lo/1.1, hi*1.1, r); !below(w.Lo, o.Lo) || !below(o.Hi, w.Hi) {
			t.Errorf("of a scale that is known less %+v, was %+v", w, o)
		}
		if w := i.Over(lo, hi, min(r, 0)-0.1); !below(w.Lo, o.Lo) || !below(o.Hi, w.Hi) {
			t.Errorf("with a lower correlation %+v, was %+v", w, o)
		}
		if w := i.Over(lo, hi, math.Abs(r)); w != i.Over(lo, hi, 0) {
			t.Errorf("a correlation above zero counts: %+v", w)
		}
	})
	i := audit.Interval{Value: 2, Lo: 1, Hi: 4}
	for _, x := range []struct {
		i         audit.Interval
		lo, hi, r float64
		want      audit.Interval
	}{
		{i, 1, 1, -0.5, i},
		{i, 0.5, 2, -1, audit.Interval{Value: 2, Lo: 0.5, Hi: 8}}, // both at once
		{i, 0, math.Inf(1), 0, audit.Interval{Value: 2, Lo: 0, Hi: math.Inf(1)}},
		{audit.Interval{Value: 2, Hi: 4}, 1, 2, -0.5, audit.Interval{Value: 2, Hi: 4}},
		{audit.Interval{}, 0.5, 2, 0, audit.Interval{}},
		{audit.Interval{Value: 2, Lo: 2, Hi: 2}, 0.5, 4, 0, audit.Interval{Value: 2, Lo: 0.5, Hi: 4}}, // no spread
		// 3 and 4 standard deviations make 5
		{
			audit.Interval{Value: 1, Lo: math.Exp(-3), Hi: math.Exp(3)},
			math.Exp(-4), math.Exp(4), 0.9,
			audit.Interval{Value: 1, Lo: math.Exp(-5), Hi: math.Exp(5)},
		},
	} {
		if o := x.i.Over(x.lo, x.hi, x.r); o.Value != x.want.Value || !near(o.Lo, x.want.Lo) || !near(o.Hi, x.want.Hi) {
			t.Errorf("%+v over [%g, %g], correlation %g, is %+v, want %+v", x.i, x.lo, x.hi, x.r, o, x.want)
		}
	}
	if o := (audit.Interval{Value: 2, Lo: math.NaN(), Hi: math.NaN()}).Over(0.5, 2, 0); !math.IsNaN(o.Lo) {
		t.Errorf("no interval became %+v", o)
	}
}

// Two normal estimates that pull against each other: without their correlation the interval of the quotient is too
// short.
func TestCoverageOfOver(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	const runs, rho, z = 20_000, -0.8, 1.959964
	with, without := 0, 0
	for range runs {
		a := r.NormFloat64()
		b := rho*a + math.Sqrt(1-rho*rho)*r.NormFloat64()
		v := math.Exp(0.2*a - 0.2*b) // the truth is 1
		i := audit.Interval{Value: v, Lo: v * math.Exp(-0.2*z), Hi: v * math.Exp(0.2*z)}
		lo, hi := math.Exp(-0.2*z), math.Exp(0.2*z)
		if o := i.Over(lo, hi, rho); o.Lo <= 1 && 1 <= o.Hi {
			with++
		}
		if o := i.Over(lo, hi, 0); o.Lo <= 1 && 1 <= o.Hi {
			without++
		}
	}
	atLeast(t, "quotient", with, runs, 0.95)
	if float64(without) > 0.9*runs {
		t.Errorf("without the correlation %d of %d cover, so nothing would be gained", without, runs)
	}
}

// Errors that are the squared distances themselves have the correlation 1 with the scale, the less the more other
// inputs the scale was measured on.
func TestScaleCorrelation(t *testing.T) {
	const n, others = 30, 90
	for _, members := range []int{0, others} {
		s := subject("linear", audittest.Linear(1, 0), invariant(t, cyclic(t, 4)))
		s.N, s.Sample = n, audittest.Vectors(n, 5)
		s.Members, s.Member = members, audittest.Vectors(others, 6)
		var mean float64
		answers := make([]float64, n+members)
		for i := range answers {
			at, k := s.Sample, i
			if i >= n {
				at, k = s.Member, i-n
			}
			x, err := at(k)
			if err != nil {
				t.Fatal(err)
			}
			answers[i] = x.Value.Numbers()[0]
			mean += answers[i] / float64(len(answers))
		}
		want := math.Sqrt(n / float64(n+members))
		probe := &audit.Check{
			Name: "probe", Doc: "Probe asks.", Requires: []*audit.Check{sweep.Check},
			Run: func(_ context.Context, p *audit.Pass) (any, error) {
				errors := make([]float64, n)
				for i := range errors {
					errors[i] = (answers[i] - mean) * (answers[i] - mean)
				}
				if r := p.ScaleCorrelation(0, errors); math.Abs(r-want) > 1e-9 {
					t.Errorf("%d other inputs: correlation %g, want %g", members, r, want)
				}
				for i := range errors {
					errors[i] = 3 - 2*errors[i]
				}
				errors[3] = math.NaN()
				if r := p.ScaleCorrelation(0, errors); math.Abs(r+want) > 1e-9 {
					t.Errorf("%d other inputs: correlation %g, want %g", members, r, -want)
				}
				if r := p.ScaleCorrelation(0, make([]float64, n)); r != 0 {
					t.Errorf("equal errors have the correlation %g", r)
				}
				if r := p.ScaleCorrelation(7, errors); r != 0 {
					t.Errorf("a part that is not there has the correlation %g", r)
				}
				return nil, nil //nolint:nilnil // nothing to hand on
			},
		}
		audittest.Audit(t, audittest.Fixture{Subject: s}, probe)
	}
}
