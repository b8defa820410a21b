package audit_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"

	"nero/audit"
	"nero/audit/audittest"
	"nero/audit/check/sweep"
	"nero/data/space"
	"nero/measure/scale"
)

// atLeast fails if k hits out of n are fewer than the share promises, by more than three standard errors.
func atLeast(t *testing.T, what string, k, n int, share float64) {
	t.Helper()
	got, se := float64(k)/float64(n), math.Sqrt(share*(1-share)/float64(n))
	t.Logf("%s: coverage %.4f of nominal %.3f, %d runs", what, got, share, n)
	if got < share-3*se {
		t.Errorf("%s: coverage %.4f, want at least %.3f (3 standard errors are %.4f)", what, got, share, 3*se)
	}
}

// The interval that verdicts rest on covers the truth as often as it says. The truth is known in closed form: for f(x)
// = w·x under C4 and x ~ N(0,1) in the plane, with φ the angle between x and w, the largest error on the orbit is
// ‖w‖‖x‖·max(2|cos φ|, |cos φ| + |sin φ|), whose mean is ‖w‖·√(π/2)·(2 + 2√2)/π.
func TestCoverageOfTheJudgedInterval(t *testing.T) {
	if testing.Short() {
		t.Skip("simulation")
	}
	c4 := cyclic(t, 4)
	w := []float64{0.6, 0.8}
	truth := math.Sqrt(math.Pi/2) * (2 + 2*math.Sqrt2) / math.Pi
	const runs, n = repetitions, 50
	for _, confidence := range []float64{0.8, 0.95} {
		p := policy(t, "")
		p.Confidence = confidence
		absolute, relative := 0, 0
		for k := range runs {
			s := subject("linear", audittest.Linear(w...), invariant(t, c4))
			s.N, s.Sample = n, audittest.Vectors(n, uint64(1000+k))
			var set *audit.Set
			probe := &audit.Check{
				Name: "probe", Doc: "Probe keeps the set.", Requires: []*audit.Check{sweep.Check},
				Run: keep(&set),
			}
			audittest.Audit(t, audittest.Fixture{Subject: s, Policy: p}, probe)
			if i := set.Worst; i.Lo <= truth && truth <= i.Hi { // s is 1 for ‖w‖ = 1
				relative++
			}
			if s := set.Scale; set.Worst.Lo*s <= truth && truth <= set.Worst.Hi*s {
				absolute++
			}
		}
		atLeast(t, fmt.Sprintf("absolute, %g", confidence), absolute, runs, confidence)
		atLeast(t, fmt.Sprintf("relative, %g", confidence), relative, runs, confidence)
	}
}

// Errors are skewed. The intervals that verdicts rest on cover their mean as often as they say where Student's alone
// does not.
func TestCoverageOfSkewedErrors(t *testing.T) {
	if testing.Short() {
		t.Skip("simulation")
	}
	const runs, confidence = repetitions, 0.95
	for _, c := range []struct {
		name  string
		n     int
		draw  func(r *rand.Rand) float64
		truth float64
		// Student's interval is too short
		short bool
	}{
		{"lognormal, σ = 1", 60, func(r *rand.Rand) float64 { return math.Exp(r.NormFloat64()) }, math.Exp(0.5), true},
		{"exponential", 20, func(r *rand.Rand) float64 { return r.ExpFloat64() }, 1, true},
		{"squared normal", 30, func(r *rand.Rand) float64 { x := r.NormFloat64(); return x * x }, 1, true},
		{"normal", 30, func(r *rand.Rand) float64 { return 5 + r.NormFloat64() }, 5, false},
	} {
		r := rand.New(rand.NewPCG(7, uint64(c.n)))
		wide, student := 0, 0
		for k := range runs {
			x := make([]float64, c.n)
			for i := range x {
				x[i] = c.draw(r)
			}
			if i := audit.ErrorInterval(x, confidence, rand.New(rand.NewPCG(uint64(k), 1))); i.Lo <= c.truth &&
				c.truth <= i.Hi {
				wide++
			}
			if i := audit.MeanInterval(x, confidence); i.Lo <= c.truth && c.truth <= i.Hi {
				student++
			}
		}
		atLeast(t, c.name, wide, runs, confidence)
		if share := float64(student) / runs; c.short && share > confidence-0.015 && runs >= 500 {
			t.Errorf("%s: Student's interval covers %.3f, so nothing would be gained", c.name, share)
		}
	}
}

// The ratio of skewed errors to skewed floors: exponential sizes, of mean 3 and 1, in 30 inputs.
func TestCoverageOfSkewedRatios(t *testing.T) {
	if testing.Short() {
		t.Skip("simulation")
	}
	r := rand.New(rand.NewPCG(8, 1))
	const runs, n = repetitions, 30
	hits := 0
	for k := range runs {
		a, b := make([]float64, n), make([]float64, n)
		for i := range a {
			a[i], b[i] = 3*r.ExpFloat64(), r.ExpFloat64()
		}
		if i := audit.FactorInterval(a, b, 0.95, rand.New(rand.NewPCG(uint64(k), 1))); i.Lo <= 3 && 3 <= i.Hi {
			hits++
		}
	}
	atLeast(t, "ratio", hits, runs, 0.95)
}

// The draws decide nothing but themselves: equal generators give equal limits, the limits hold Student's, values that
// are all one have no width, and where one input has all of the error no end is open.
func TestErrorInterval(t *testing.T) {
	draws := func() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfN(rapid.Float64Range(0, 10), 2, 40).Draw(t, "x")
		a, b, s := audit.ErrorInterval(x, 0.95, draws()), audit.ErrorInterval(x, 0.95, draws()),
			audit.MeanInterval(x, 0.95)
		if a != b || a.Value != s.Value || a.N != s.N ||
			!(a.Lo <= max(s.Lo, 0) && a.Lo >= 0 && a.Hi >= s.Hi && a.Hi <= max(s.Hi, slices.Max(x))) ||
			math.IsInf(a.Lo, 0) || math.IsInf(a.Hi, 0) {
			t.Errorf("%+v, again %+v, Student's %+v", a, b, s)
		}
		f, l := audit.FactorInterval(x, x, 0.95, draws()), audit.RatioInterval(x, x, 0.95)
		if !(math.IsNaN(l.Lo) && math.IsNaN(f.Lo)) && !(f.Lo <= l.Lo && f.Hi >= l.Hi && !math.IsInf(f.Hi, 0)) {
			t.Errorf("%+v, linearised %+v", f, l)
		}
	})
	one := make([]float64, 50)
	one[7] = 1
	if i := audit.ErrorInterval(one, 0.95, draws()); i.Hi != 1 || i.Lo != 0 {
		t.Errorf("one input of 50 has the error 1: %+v, want from 0 to the largest value", i)
	}
	for i := range one {
		one[i] = 1e-7 * float64(1+i%5) // rounding of all others, so that no resample is without spread
	}
	one[7] = 0.9
	if i := audit.ErrorInterval(one, 0.95, draws()); !(i.Hi <= 0.9) || !(i.Lo >= 0) {
		t.Errorf("one input of 50 has the error 0.9, the others rounding: %+v, want within [0, 0.9]", i)
	}
	if i := audit.ErrorInterval([]float64{2, 2, 2}, 0.95, draws()); i.Lo != 2 || i.Hi != 2 {
		t.Errorf("three equal values: %+v", i)
	}
	if i := audit.ErrorInterval([]float64{2}, 0.95, draws()); i.Value != 2 || !math.IsNaN(i.Lo) {
		t.Errorf("one value: %+v", i)
	}
}

// An interval over pairs instead of inputs would be too short: the test above would notice.
func TestPooledIntervalWouldFail(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	const runs, n, m = 500, 30, 20
	hits := 0
	for range runs {
		var pooled []float64
		for range n {
			a := r.NormFloat64()
			for range m {
				pooled = append(pooled, a+0.3*r.NormFloat64())
			}
		}
		if i := audit.MeanInterval(pooled, 0.95); i.Lo <= 0 && 0 <= i.Hi {
			hits++
		}
	}
	if share := float64(hits) / runs; share > 0.8 {
		t.Errorf("pooled values cover %.2f; the clustered design would not be needed", share)
	}
}

func TestCoverageOfRatios(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 1))
	const runs, n = 4000, 60
	hits := 0
	for range runs {
		a, b := make([]float64, n), make([]float64, n)
		for i := range a {
			size := math.Exp(0.3 * r.NormFloat64()) // inputs differ in size
			a[i], b[i] = size*(3+0.5*r.NormFloat64()), size*(1+0.2*r.NormFloat64())
		}
		if i := audit.RatioInterval(a, b, 0.95); i.Lo <= 3 && 3 <= i.Hi {
			hits++
		}
	}
	atLeast(t, "ratio", hits, runs, 0.94) // the linearisation costs less than a hundredth at this n
}

// By hand: a = 2, 4, 9 over b = 1, 2, 3 is R = 15/6, residuals -1/2, -1, 3/2, standard error √(3.5/2/3)/2, t(0.975, 2)
// = 4.302653.
func TestRatioInterval(t *testing.T) {
	i := audit.RatioInterval([]float64{2, 4, math.NaN(), 9}, []float64{1, 2, 5, 3}, 0.95)
	h := 4.302653 * math.Sqrt(3.5/6) / 2
	if i.Value != 2.5 || math.Abs(i.Hi-2.5-h) > 1e-5 || math.Abs(2.5-i.Lo-h) > 1e-5 || i.N != 3 {
		t.Errorf("%+v, want 2.5 ± %g", i, h)
	}
	for _, i := range []audit.Interval{
		audit.RatioInterval(nil, nil, 0.95), audit.RatioInterval([]float64{1, 2}, []float64{0, 0}, 0.95),
	} {
		if !math.IsNaN(i.Value) || !math.IsNaN(i.Lo) {
			t.Errorf("%+v, want no ratio", i)
		}
	}
	if i := audit.RatioInterval([]float64{3}, []float64{2}, 0.95); i.Value != 1.5 || !math.IsNaN(i.Lo) {
		t.Errorf("one pair: %+v, want no limits", i)
	}
}

// Ratios of errors to their floors are never negative, Student's limits of them may be. What is cut off holds no truth:
// of 4,000 samples with one error in eight the interval covers the ratio 0.01 as often as before.
func TestNotNegative(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 13))
	var whole, cut, below int
	for k := range 4000 {
		a, b := make([]float64, 12), make([]float64, 12)
		for i := range a {
			if b[i] = 1 + r.Float64(); r.IntN(8) == 0 {
				a[i] = 0.12 * r.Float64() * 2
			}
		}
		i := audit.RatioInterval(a, b, 0.95)
		j := i.NotNegative()
		const truth = 0.12 / 8 / 1.5
		holds := func(i audit.Interval) int {
			if i.Lo <= truth && truth <= i.Hi {
				return 1
			}
			return 0
		}
		if whole, cut = whole+holds(i), cut+holds(j); i.Lo < 0 {
			below++
		}
		f := audit.FactorInterval(a, b, 0.95, rand.New(rand.NewPCG(uint64(k), 3)))
		if j.Lo < 0 || j.Hi != i.Hi || f.Lo < 0 {
			t.Fatalf("%+v of %+v, with skewed errors %+v", j, i, f)
		}
	}
	if below < 1000 || cut != whole {
		t.Errorf("%d of 4000 intervals reach below zero; %d hold the truth, cut at zero %d", below, whole, cut)
	}
	if i := audit.RatioInterval(nil, nil, 0.95).NotNegative(); !math.IsNaN(i.Lo) {
		t.Errorf("no limits became %+v", i)
	}
}

// What is left in float64 may be the rounding of stored weights: of a small rest nobody says that it is no rounding.
func TestSlopeInWords(t *testing.T) {
	for _, c := range []struct {
		single, double float64
		want, never    string
	}{
		{3e-7, 5e-8, "weights leave it that are equal only as far as float32 goes", "is not"},
		{6e-8, 5e-8, "weights leave it that are equal only as far as float32 goes", "violation"},
		{3e-3, 5e-4, "what is left is in the model as it is stored", "float32 goes"},
		{3e-3, 2e-3, "it is not rounding", "float32 goes"},
		{3e-7, 4e-16, "it is rounding", "weights"},
	} {
		s := audit.Slope{Single: audit.Interval{Value: c.single}, Double: audit.Interval{Value: c.double}}
		if got := s.String(); !strings.Contains(got, c.want) || strings.Contains(got, c.never) {
			t.Errorf("%g and %g: %q, want %q and not %q", c.single, c.double, got, c.want, c.never)
		}
	}
}

// The coverage of a Clopper–Pearson interval is a sum of binomial probabilities; it is never below the confidence.
func TestCoverageOfShares(t *testing.T) {
	for _, n := range []int{1, 5, 30, 100} {
		for p := 0.01; p < 1; p += 0.07 {
			var cover float64
			for k := range n + 1 {
				if i := audit.ShareInterval(k, n, 0.95); i.Lo <= p && p <= i.Hi {
					cover += distuv.Binomial{N: float64(n), P: p}.Prob(float64(k))
				}
			}
			if cover < 0.95-1e-9 {
				t.Errorf("n = %d, p = %g: coverage %g", n, p, cover)
			}
		}
	}
	// No failure in n: the two-sided upper limit is 1 - (α/2)^(1/n) (docs/METRICS.md S3 for the one-sided form).
	if i := audit.ShareInterval(0, 59, 0.95); math.Abs(i.Hi-(1-math.Pow(0.025, 1.0/59))) > 1e-9 || i.Lo != 0 {
		t.Errorf("no failure in 59: %v", i)
	}
}

// Student's quantiles of a printed table: t(0.975, 9) = 2.262157, t(0.975, 1) = 12.7062.
func TestMeanInterval(t *testing.T) {
	x := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	i := audit.MeanInterval(x, 0.95)
	h := 2.262157 * math.Sqrt(82.5/9) / math.Sqrt(10)
	if i.Value != 5.5 || math.Abs(i.Hi-5.5-h) > 1e-5 || math.Abs(5.5-i.Lo-h) > 1e-5 || i.N != 10 {
		t.Errorf("%+v, want 5.5 ± %g", i, h)
	}
	if i := audit.MeanInterval([]float64{1, 3, math.NaN()}, 0.95); i.N != 2 || math.Abs(i.Hi-2-12.7062) > 1e-3 {
		t.Errorf("%+v, want 2 ± 12.7062", i)
	}
	if i := audit.MeanInterval([]float64{7}, 0.95); i.Value != 7 || !math.IsNaN(i.Lo) || !math.IsNaN(i.Hi) {
		t.Errorf("one value: %+v, want no limits", i)
	}
	if i := audit.MeanInterval(nil, 0.95); !math.IsNaN(i.Value) {
		t.Errorf("no value: %+v, want NaN", i)
	}
}

// Quantiles as numpy.percentile gives them with method "inverted_cdf" for [0, 1, 4, 9, 16]: 50 % is 4, 80 % would be 9,
// 95 % is 16.
func TestDescribe(t *testing.T) {
	d := audit.Describe([]float64{16, 4, math.NaN(), 0, 9, 1})
	want := audit.Stats{N: 5, Mean: 6, Std: math.Sqrt(174.0 / 4), P50: 4, P95: 16, P99: 16, Max: 16}
	for _, c := range [][2]float64{
		{d.Mean, want.Mean},
		{d.Std, want.Std},
		{d.P50, want.P50},
		{d.P95, want.P95},
		{d.P99, want.P99},
		{d.Max, want.Max},
	} {
		if math.Abs(c[0]-c[1]) > 1e-12 {
			t.Errorf("%+v, want %+v", d, want)
		}
	}
	if d := audit.Describe(nil); d.N != 0 || !math.IsNaN(d.Mean) || !math.IsNaN(d.Max) {
		t.Errorf("nothing: %+v", d)
	}
}

func TestSpreadIsTwoPass(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, d := rapid.IntRange(1, 20).Draw(t, "n"), rapid.IntRange(1, 5).Draw(t, "d")
		offset := rapid.Float64Range(-1e6, 1e6).Draw(t, "offset")
		var all [][]float64
		var s scale.Spread
		for range n {
			x := rapid.SliceOfN(rapid.Float64Range(-100, 100), d, d).Draw(t, "x")
			for i := range x {
				x[i] += offset
			}
			all = append(all, x)
			if err := s.Add(&space.Tensor{Shape: []int{d}, Val: x}); err != nil {
				t.Fatal(err)
			}
		}
		var want float64
		for i := range d {
			var mean float64
			for _, x := range all {
				mean += x[i] / float64(n)
			}
			for _, x := range all {
				want += (x[i] - mean) * (x[i] - mean) / float64(n)
			}
		}
		if math.Abs(s.Scale()-math.Sqrt(want)) > 1e-8*math.Abs(offset)+1e-9 {
			t.Errorf("scale %g, want %g", s.Scale(), math.Sqrt(want))
		}
	})
}

// Masks have no scale: the share of differing pixels is an error by itself. Equal masks are told from those that vary.
func TestSpreadOfMasks(t *testing.T) {
	mask := func(l ...int32) space.Value { return &space.Mask{H: 1, W: len(l), Label: l} }
	for _, c := range []struct {
		masks []space.Value
		want  float64
	}{
		{[]space.Value{mask(1, 2, 3), mask(1, 2, 3)}, 0},
		{[]space.Value{mask(1, 2, 3)}, 0},
		{[]space.Value{mask(1, 2, 3), mask(1, 2, 3), mask(1, 2, 4)}, 1},
		{[]space.Value{mask(1, 2, 3), mask(3, 3, 3)}, 1},
	} {
		var s scale.Spread
		for _, m := range c.masks {
			if err := s.Add(m); err != nil {
				t.Fatal(err)
			}
		}
		if s.Scale() != c.want || s.RMS() != 1 {
			t.Errorf("%d masks: scale %g, size %g; want %g and 1", len(c.masks), s.Scale(), s.RMS(), c.want)
		}
	}
}

func TestCompare(t *testing.T) {
	v := func(x ...float64) space.Value { return &space.Tensor{Shape: []int{len(x)}, Val: x} }
	for _, c := range []struct {
		name      string
		a, b      space.Value
		norm, top float64
	}{
		{"pythagoras", v(3, 0), v(0, 4), 5, 4},
		{"equal", v(1, 2), v(1, 2), 0, 0},
		{"huge", v(3e200, 0), v(0, 4e200), 5e200, 4e200},
		{"tiny", v(3e-200, 0), v(0, 4e-200), 5e-200, 4e-200},
		{"nan", v(math.NaN(), 0), v(0, 0), math.NaN(), math.NaN()},
		{"infinite", v(math.Inf(1)), v(0), math.NaN(), math.NaN()},
		{"equal infinities", v(math.Inf(1)), v(math.Inf(1)), math.NaN(), math.NaN()},
		{
			"masks", &space.Mask{H: 1, W: 3, Label: []int32{1, 2, 3}}, &space.Mask{H: 1, W: 3, Label: []int32{1, 5, 0}},
			2.0 / 3, 1,
		},
	} {
		d, err := scale.Compare(c.a, c.b)
		same := func(x, y float64) bool { return x == y || math.Abs(x/y-1) < 1e-12 || math.IsNaN(x) && math.IsNaN(y) }
		if err != nil || !same(d.Norm, c.norm) || !same(d.Max, c.top) {
			t.Errorf("%s: %+v, %v; want %g, %g", c.name, d, err, c.norm, c.top)
		}
	}
	if _, err := scale.Compare(v(1), v(1, 2)); err == nil {
		t.Error("values of different length were compared")
	}
	if _, err := scale.Compare(v(1), &space.Scores{Val: []float64{1}}); err == nil {
		t.Error("values of different kind were compared")
	}
}

func TestSoftmax(t *testing.T) {
	raw := &space.Scores{Val: []float64{1000, 1000 + math.Log(3)}}
	got := audit.Softmax(raw).(*space.Scores) //nolint:errcheck // scores in, scores out
	if !got.Probabilities || math.Abs(got.Val[0]-0.25) > 1e-12 || math.Abs(got.Val[1]-0.75) > 1e-12 {
		t.Errorf("%+v, want 1/4, 3/4", got)
	}
}

func TestOutputUnits(t *testing.T) {
	c4 := cyclic(t, 4)
	model := func(raw bool) audit.Predictor {
		return audittest.Pointwise(func(v space.Value) space.Value {
			x := v.Numbers()
			logits := &space.Scores{Val: []float64{x[0]*x[0] + x[1]*x[1], 0}}
			if !raw {
				return logits
			}
			p := audit.Softmax(logits).(*space.Scores) //nolint:errcheck // scores in, scores out
			p.Raw = logits.Val
			return p
		})
	}
	scale := func(m audit.Predictor, unit string) float64 {
		s := subject("m", m, invariant(t, c4))
		s.OutputUnit = unit
		return run(t, s).Scale
	}
	for _, raw := range []bool{false, true} {
		a, l, p := scale(model(raw), audit.AsReturned), scale(model(raw), audit.Logits),
			scale(model(raw), audit.Probabilities)
		if a != l || !(p < 0.5 && l > 1) {
			t.Errorf("raw %t: scales %g, %g, %g; want logits by default and probabilities below 1/2", raw, a, l, p)
		}
	}
	s := subject("m", audittest.Pointwise(func(space.Value) space.Value {
		return &space.Scores{Val: []float64{0.5, 0.5}, Probabilities: true}
	}), invariant(t, c4))
	s.OutputUnit = audit.Logits
	if _, err := audit.Run(t.Context(), s, policy(t, ""), []*audit.Check{sweep.Check}, audit.Options{}); err == nil {
		t.Error("logits were made of probabilities")
	}
}

// keep is a Run that stores the exact set.
func keep(into **audit.Set) func(context.Context, *audit.Pass) (any, error) {
	return func(_ context.Context, p *audit.Pass) (any, error) {
		*into = audit.ResultOf[*sweep.Result](p, sweep.Check).Set(p, true)
		return *into, nil
	}
}

// The p-value of a ratio and its interval are two computations of one decision.
func TestRatioChance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 12).Draw(t, "n")
		a := rapid.SliceOfN(rapid.Float64Range(0, 3), n, n).Draw(t, "a")
		b := rapid.SliceOfN(rapid.Float64Range(0.5, 1.5), n, n).Draw(t, "b")
		c := rapid.Float64Range(0.5, 0.999).Draw(t, "confidence")
		lo, p := audit.RatioInterval(a, b, c).Lo, audit.RatioChance(a, b)
		if (lo > 1) != (p < (1-c)/2) && math.Abs(lo-1) > 1e-9 && math.Abs(p-(1-c)/2) > 1e-9 {
			t.Fatalf("lower end %g with confidence %g, p-value %g", lo, c, p)
		}
	})
	nan := math.NaN()
	for want, x := range map[float64][2][]float64{
		0: {{3, 3}, {1, 1}}, // no spread, far above
		1: {{1, nan}, {1, 1}},
	} {
		if p := audit.RatioChance(x[0], x[1]); p != want {
			t.Errorf("%v: %g, want %g", x, p, want)
		}
	}
	if p := audit.RatioChance([]float64{1, 1}, []float64{1, 1}); p != 1 {
		t.Errorf("equal numbers: %g, want 1", p)
	}
}
