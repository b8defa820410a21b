package aggregate

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func near(a, b, tol float64) bool {
	return a == b || math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= tol*max(1, math.Abs(a), math.Abs(b))
}

func of(xs ...float64) Moments {
	var m Moments
	for i, x := range xs {
		m.Add(x, i)
	}
	return m
}

// values draws numbers with repeats, zeros and NaN among them.
func values(t *rapid.T, name string) []float64 {
	return rapid.SliceOfN(rapid.OneOf(rapid.Float64Range(-1e3, 1e3),
		rapid.SampledFrom([]float64{0, 1, 1, -2.5, math.NaN(), math.Copysign(0, -1)})), 0, 30).Draw(t, name)
}

func sameMoments(a, b Moments) bool {
	return a.N == b.N && a.NaN == b.NaN && a.Min == b.Min && a.Max == b.Max && a.ArgMin == b.ArgMin &&
		a.ArgMax == b.ArgMax && near(a.Mean, b.Mean, 1e-12) && near(a.M2, b.M2, 1e-12)
}

func TestMomentsLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var parts [3]Moments
		var whole Moments
		at := 0
		for i := range parts {
			for _, x := range values(t, "values") {
				parts[i].Add(x, at)
				whole.Add(x, at)
				at++
			}
		}
		a, b, c := parts[0], parts[1], parts[2]
		merge := func(x, y Moments) Moments { x.Merge(y); return x }
		left, right := merge(merge(a, b), c), merge(a, merge(b, c))
		if !sameMoments(left, right) {
			t.Fatalf("not associative: %+v, %+v", left, right)
		}
		if x, y := merge(a, b), merge(b, a); !sameMoments(x, y) {
			t.Fatalf("not commutative: %+v, %+v", x, y)
		}
		if !sameMoments(left, whole) {
			t.Fatalf("parts give %+v, the whole %+v", left, whole)
		}
		if x := merge(a, Moments{}); x != a {
			t.Fatalf("merging nothing changes %+v to %+v", a, x)
		}
		if x := merge(Moments{}, a); x != a {
			t.Fatalf("merging into nothing changes %+v to %+v", a, x)
		}
		if again := merge(merge(a, b), c); again != left {
			t.Fatalf("the same fold gives other bits: %+v, %+v", again, left)
		}
	})
}

func TestMomentsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		xs := values(t, "values")
		m := of(xs...)
		n, nan, sum := 0, 0, 0.0
		lo, hi, argLo, argHi := math.Inf(1), math.Inf(-1), 0, 0
		for i, x := range xs {
			if math.IsNaN(x) {
				nan++
				continue
			}
			n++
			sum += x
			if x < lo {
				lo, argLo = x, i
			}
			if x > hi {
				hi, argHi = x, i
			}
		}
		if m.N != n || m.NaN != nan {
			t.Fatalf("counts %+v", m)
		}
		if n == 0 {
			return
		}
		m2 := 0.0
		for _, x := range xs {
			if !math.IsNaN(x) {
				m2 += (x - sum/float64(n)) * (x - sum/float64(n))
			}
		}
		if !near(m.Mean, sum/float64(n), 1e-12) || !near(m.M2, m2, 1e-9) || m.Min != lo || m.Max != hi ||
			m.ArgMin != argLo || m.ArgMax != argHi {
			t.Fatalf("%+v of %v: mean %v, M2 %v, min %v at %d, max %v at %d", m, xs, sum/float64(n), m2, lo, argLo, hi,
				argHi)
		}
	})
}

func TestMomentsSpecial(t *testing.T) {
	// Reference: numpy 2.4.6, scipy 1.17.1: mean, var(ddof=1), std(ddof=1), stats.sem.
	m := of(0.1, 0.35, 0.2, 0.9, 0.55, 0.41, 0.33, 0.78)
	for i, c := range [][2]float64{
		{m.Mean, 0.4525},
		{m.Variance(), 0.07604999999999999},
		{m.Std(), 0.2757716446627535},
		{m.StdErr(), 0.09749999999999998},
		{m.RMS(), 0.5208646657242166},
	} {
		if !near(c[0], c[1], 1e-14) {
			t.Errorf("%d: %v, want %v", i, c[0], c[1])
		}
	}
	// A large offset must not drown the spread: the textbook formula gives 0 or less here.
	if v := of(1e9+4, 1e9+7, 1e9+13, 1e9+16).Variance(); !near(v, 30, 1e-9) {
		t.Errorf("variance at an offset of 1e9: %v, want 30", v)
	}
	if m := of(1, math.Inf(1), 2); !math.IsInf(m.Mean, 1) || !math.IsNaN(m.Variance()) || m.Max != math.Inf(1) ||
		m.ArgMax != 1 || m.N != 3 {
		t.Errorf("an infinity: %+v", m)
	}
	if m := of(math.Inf(-1), math.Inf(1)); !math.IsNaN(m.Mean) {
		t.Errorf("opposite infinities: %+v", m)
	}
	a, b := of(1, math.Inf(1)), of(2, 3)
	a.Merge(b)
	b.Merge(of(1, math.Inf(1)))
	if !math.IsInf(a.Mean, 1) || !math.IsInf(b.Mean, 1) || !math.IsNaN(a.M2) || !math.IsNaN(b.M2) || a.N != 4 {
		t.Errorf("merging with an infinity: %+v, %+v", a, b)
	}
	if m := of(math.NaN(), math.NaN()); m.N != 0 || m.NaN != 2 || !math.IsNaN(m.RMS()) || !math.IsNaN(m.StdErr()) {
		t.Errorf("only NaN: %+v", m)
	}
	if !math.IsNaN(of(1).Variance()) {
		t.Error("one number has a variance")
	}
	tie := of(5, 2, 5, 2)
	other := Moments{}
	other.Add(5, 7)
	other.Merge(tie)
	if tie.ArgMax != 0 || tie.ArgMin != 1 || other.ArgMax != 0 {
		t.Errorf("ties: %+v, %+v", tie, other)
	}
}

// exactly is the k-th smallest of n values, k = ⌈q·n⌉ (at least 1): type 1 of Hyndman and Fan, The American
// Statistician 50 (1996).
func exactly(values []float64, q float64) float64 {
	x := slices.Sorted(slices.Values(values))
	return x[max(1, int(math.Ceil(q*float64(len(x)))))-1]
}

// bootstrap resamples clusters for a statistic of all their values.
func bootstrap(clusters [][]float64, statistic func(values []float64) float64, resamples int, confidence float64,
	r *rand.Rand,
) Interval {
	return resample(len(clusters), func(drawn []int) float64 {
		var x []float64
		for _, k := range drawn {
			x = append(x, clusters[k]...)
		}
		return statistic(x)
	}, resamples, confidence, r)
}

func TestSketchAccuracy(t *testing.T) {
	number := rapid.OneOf(rapid.Float64Range(-1e6, 1e6), rapid.Float64Range(0, 1), rapid.Float64(),
		rapid.SampledFrom([]float64{0, 1, 1, -1, 0.5, math.MaxFloat64, -math.MaxFloat64, math.Inf(1), 5e-324}))
	rapid.Check(t, func(t *rapid.T) {
		xs := rapid.SliceOfN(number, 1, 60).Draw(t, "values")
		var s Sketch
		for _, x := range xs {
			s.Add(x)
		}
		s.Add(math.NaN())
		q := rapid.Float64Range(0, 1).Draw(t, "q")
		got, want := s.Quantile(q), exactly(xs, q)
		switch {
		case got == want:
		case math.Abs(want) < 0x1p-1022 && got == 0:
		case !(math.Abs(got-want) <= SketchAccuracy*math.Abs(want)*(1+1e-12)):
			t.Fatalf("quantile %v of %v: %v, exactly %v", q, xs, got, want)
		}
		if s.Quantile(0) != slices.Min(xs) || s.Quantile(1) != slices.Max(xs) {
			t.Fatal("the ends are not exact")
		}
		if s.n != len(xs) || s.nan != 1 {
			t.Fatalf("counts %d, %d", s.n, s.nan)
		}
	})
	var none Sketch
	for _, q := range []float64{0, 0.5, math.NaN()} {
		if !math.IsNaN(none.Quantile(q)) {
			t.Error("the sketch of nothing has quantiles")
		}
	}
	none.Add(1)
	for _, q := range []float64{-0.1, 1.1, math.NaN()} {
		if !math.IsNaN(none.Quantile(q)) {
			t.Errorf("quantile %v is %v", q, none.Quantile(q))
		}
	}
}

func TestSketchMerge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var parts [3]Sketch
		var whole Sketch
		for i := range parts {
			for _, x := range values(t, "values") {
				parts[i].Add(x)
				whole.Add(x)
			}
		}
		for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 2, 0}} {
			var s Sketch
			for _, i := range order {
				s.Merge(&parts[i])
			}
			if !reflect.DeepEqual(s, whole) {
				t.Fatalf("order %v gives %v, want %v", order, s, whole)
			}
		}
	})
}

func TestMeanInterval(t *testing.T) {
	m := of(0.1, 0.35, 0.2, 0.9, 0.55, 0.41, 0.33, 0.78)
	// Reference: scipy 1.17.1, stats.t.interval.
	for c, want := range map[float64][2]float64{
		0.9: {0.2677785860037244, 0.6372214139962755}, 0.95: {0.22194913546970363, 0.6830508645302964},
		0.99: {0.11130037850832708, 0.793699621491673},
	} {
		i := MeanInterval(m, c)
		if !near(i.Low, want[0], 1e-9) || !near(i.High, want[1], 1e-9) || i.N != 8 || i.Missing != 0 ||
			i.Confidence != c {
			t.Errorf("%v: %+v, want %v", c, i, want)
		}
	}
	m.Add(math.NaN(), 8)
	if i := MeanInterval(m, 0.95); i.Missing != 1 {
		t.Errorf("a NaN is not reported: %+v", i)
	}
	for _, m := range []Moments{{}, of(1), of(1, 2, math.Inf(1)), of(math.NaN(), 1)} {
		if i := MeanInterval(m, 0.95); !math.IsInf(i.Low, -1) || !math.IsInf(i.High, 1) {
			t.Errorf("%+v gives %+v", m, i)
		}
	}
}

func TestProportions(t *testing.T) {
	// Reference: scipy 1.17.1: beta.ppf(α/2, k, n-k+1) and beta.isf(α/2, k+1, n-k), because binomtest stops after six
	// digits.
	for _, c := range []struct {
		k, n  int
		c     float64
		exact [2]float64
	}{
		{0, 10, .95, [2]float64{0, 0.3084971078187607}},
		{10, 10, .95, [2]float64{0.6915028921812392, 1}},
		{3, 10, .95, [2]float64{0.0667395111777345, 0.6524528500599973}},
		{17, 1000, .95, [2]float64{0.009933512592716534, 0.027079496864851366}},
		{500, 1000, .99, [2]float64{0.45885255330704494, 0.5411474466929551}},
		{1, 100000, .95, [2]float64{2.531780477933316e-07, 5.571516034774275e-05}},
		{999000, 1000000, .95, [2]float64{0.9989360818926848, 0.9990609987920499}},
		{50, 72, .9, [2]float64{0.5932161185258555, 0.7832264849424923}},
	} {
		rel := func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Abs(b) }
		e := ClopperPearson(c.k, c.n, c.c)
		if !rel(e.Low, c.exact[0]) || !rel(e.High, c.exact[1]) {
			t.Errorf("%d of %d: exact %+v, want %v", c.k, c.n, e, c.exact)
		}
	}
	if i := ClopperPearson(0, 0, 0.95); i.Low != 0 || i.High != 1 {
		t.Errorf("no trials: %+v", i)
	}
}

func TestWilks(t *testing.T) {
	// 59, 299 and 459 are the sample sizes of Wilks 1941 that every handbook lists.
	for _, c := range []struct {
		beta, gamma float64
		want        int
	}{
		{0.95, 0.95, 59},
		{0.99, 0.95, 299},
		{0.99, 0.99, 459},
		{0.95, 0.99, 90},
		{0.5, 0.5, 1},
		{0.5, 0.75, 2},
		{0.9, 0.9, 22},
		{0.999, 0.95, 2995},
	} {
		if got := WilksN(c.beta, c.gamma); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		b, g := rapid.Float64Range(0.01, 0.9999).Draw(t, "beta"), rapid.Float64Range(0.01, 0.9999).Draw(t, "gamma")
		n := WilksN(b, g)
		if !(WilksConfidence(b, n) >= g) || n > 1 && WilksConfidence(b, n-1) >= g {
			t.Fatalf("%d is not the least", n)
		}
	})
}

func TestHolm(t *testing.T) {
	// Reference: Holm's definition, worked out with numpy 2.4.6: running maximum of (m-i)·p(i) over the sorted values.
	got := Holm([]float64{0.01, 0.04, 0.03, 0.005, 0.5, 0.02})
	for i, want := range []float64{0.05, 0.09, 0.09, 0.03, 0.5, 0.08} {
		if !near(got[i], want, 1e-12) {
			t.Errorf("%d: %v, want %v", i, got[i], want)
		}
	}
	if got := Holm([]float64{math.NaN(), 0.01}); got[0] != 1 || got[1] != 0.02 {
		t.Errorf("NaN: %v", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SliceOf(rapid.Float64Range(0, 1)).Draw(t, "p")
		adjusted := Holm(p)
		for i := range p {
			if !(adjusted[i] >= p[i] && adjusted[i] <= 1) {
				t.Fatalf("%v became %v", p[i], adjusted[i])
			}
			for j := range p {
				if p[i] < p[j] && adjusted[i] > adjusted[j] {
					t.Fatalf("the order changed: %v, %v", p, adjusted)
				}
			}
		}
	})
}

func TestCurveMean(t *testing.T) {
	nan := float32(math.NaN())
	for name, c := range map[string][2]float64{
		"alike":   {CurveMean(nil)([]float32{1, 2, 3, 4}), 2.5},
		"mean":    {CurveMean([]float64{1, 0, 0, 1})([]float32{1, 2, 3, 4}), 2.5},
		"hole":    {CurveMean([]float64{0, 1, 1, 1})([]float32{nan, 0, 0, 0}), math.NaN()},
		"no mean": {CurveMean(nil)(nil), math.NaN()},
	} {
		if !near(c[0], c[1], 1e-12) {
			t.Errorf("%s: %v, want %v", name, c[0], c[1])
		}
	}
}

func TestSplitVariance(t *testing.T) {
	z := [4][3][2]float64{
		{{1.0, 1.2}, {2.0, 2.3}, {3.5, 3.1}},
		{{2.0, 1.9}, {2.5, 2.7}, {5.0, 5.2}},
		{{0.5, 0.7}, {1.5, 1.4}, {2.0, 2.6}},
		{{3.0, 3.3}, {3.1, 2.9}, {4.0, 4.4}},
	}
	s := SplitVariance(4, 3, 2, func(i, g, r int) float64 { return z[i][g][r] })
	// Reference: numpy 2.4.6, by the textbook sums.
	for i, c := range [][2]float64{
		{s.SSInput, 15.578333333333344},
		{s.SSElement, 17.31},
		{s.SSInteract, 3.196666666666665},
		{s.SSNoise, 0.54},
	} {
		if !near(c[0], c[1], 1e-12) {
			t.Errorf("%d: %v, want %v", i, c[0], c[1])
		}
	}
	p := s.Split()
	msa, msb, msc, mse := 15.578333333333344/3, 17.31/2, 3.196666666666665/6, 0.54/12
	for name, c := range map[string][2]float64{
		"noise": {p.Noise.Variance, mse}, "interaction": {p.Interaction.Variance, (msc - mse) / 2},
		"element": {p.Element.Variance, (msb - msc) / 8}, "input": {p.Input.Variance, (msa - msc) / 6},
		"share":         {p.Input.Share + p.Element.Share + p.Interaction.Share + p.Noise.Share, 1},
		"element share": {p.Element.Share, 17.31 / 36.625},
	} {
		if !near(c[0], c[1], 1e-12) {
			t.Errorf("%s: %v, want %v", name, c[0], c[1])
		}
	}
	double := s
	double.Add(s)
	if d := double.Split(); !near(d.Element.Variance, 2*p.Element.Variance, 1e-12) ||
		!near(d.Element.Share, p.Element.Share, 1e-12) {
		t.Errorf("two equal components: %+v", d)
	}
	flat := SplitVariance(5, 4, 1, func(i, _, _ int) float64 { return float64(i) }).Split() // equivariant: b = c = 0
	if flat.Element.Variance != 0 || flat.Interaction.Variance != 0 || !near(flat.Input.Variance, 2.5, 1e-12) ||
		!math.IsNaN(flat.Noise.Variance) {
		t.Errorf("an equivariant model: %+v", flat)
	}
	main := SplitVariance(5, 4, 1, func(i, g, _ int) float64 { return float64(i + 10*g) }).Split()
	if !near(main.Interaction.Variance, 0, 1e-12) || !near(main.Element.Variance, 100*5.0/3, 1e-9) {
		t.Errorf("bad for every input alike: %+v", main)
	}
	constant := SplitVariance(3, 3, 2, func(int, int, int) float64 { return 7 }).Split()
	if !math.IsNaN(constant.Element.Share) {
		t.Errorf("a constant output has shares: %+v", constant)
	}
	hole := SplitVariance(3, 3, 2, func(i, g, r int) float64 {
		if i+g+r == 0 {
			return math.NaN()
		}
		return float64(i)
	}).Split()
	if !math.IsNaN(hole.Input.Variance) || !math.IsNaN(hole.Element.Share) || !math.IsNaN(hole.Noise.Variance) {
		t.Errorf("a NaN is averaged away: %+v", hole)
	}
	if neg := SplitVariance(2, 2, 2,
		func(i, g, r int) float64 { return float64((i + g + r) % 2) }).Split(); !neg.Interaction.Negative &&
		!neg.Element.Negative {
		t.Errorf("pure noise shows no negative estimate: %+v", neg)
	}
}

func TestBootstrapSeeded(t *testing.T) {
	clusters := make([][]float64, 20)
	for i := range clusters {
		clusters[i] = []float64{float64(i), float64(i) + 0.5}
	}
	mean := func(x []float64) float64 { return of(x...).Mean }
	a := bootstrap(clusters, mean, 500, 0.9, rand.New(rand.NewPCG(1, 2)))
	if b := bootstrap(clusters, mean, 500, 0.9, rand.New(rand.NewPCG(1, 2))); a != b {
		t.Errorf("the same seed gives %+v and %+v", a, b)
	}
	if b := bootstrap(clusters, mean, 500, 0.9, rand.New(rand.NewPCG(1, 3))); a == b {
		t.Error("the seed does not matter")
	}
	if !(a.Low < 9.75 && a.High > 9.75) || a.N != 20 {
		t.Errorf("%+v", a)
	}
	clusters[3][1] = math.NaN()
	sum := func(x []float64) float64 {
		total := 0.0
		for _, v := range x {
			total += v
		}
		return total
	}
	if b := bootstrap(clusters, sum, 500, 0.9,
		rand.New(rand.NewPCG(1, 2))); !math.IsInf(b.High, 1) {
		t.Errorf("a NaN is resampled away: %+v", b)
	}
	if b := bootstrap(clusters[:1], mean, 500, 0.9, rand.New(rand.NewPCG(1, 2))); !math.IsInf(b.High, 1) {
		t.Errorf("one cluster: %+v", b)
	}
}

func TestExpanded(t *testing.T) {
	// Reference: scipy 1.17.1, norm.cdf(-sqrt(n/(n-1))*t.ppf(0.975, n-1)).
	for n, want := range map[int]float64{
		5: 0.0009541005518824907, 10: 0.008550639024406366,
		100: 0.023064387207087644,
	} {
		if got := expanded(n, 0.95); !near(got, want, 1e-9) {
			t.Errorf("%d clusters: %v, want %v", n, got, want)
		}
	}
}

func TestMisusePanics(t *testing.T) {
	for name, f := range map[string]func(){
		"confidence 1":    func() { MeanInterval(of(1, 2), 1) },
		"confidence NaN":  func() { MeanInterval(of(1, 2), math.NaN()) },
		"3 of 2":          func() { ClopperPearson(3, 2, 0.9) },
		"weights":         func() { CurveMean([]float64{1})([]float32{1, 2}) },
		"empty table":     func() { SplitVariance(0, 1, 1, nil) },
		"different sizes": func() { t := TwoWay{Inputs: 1}; t.Add(TwoWay{}) },
		"rank 0":          func() { OrderConfidence(0.5, 3, 0) },
		"contract":        func() { Contract{1, 2, 0.9}.Judge(Tally{}) },
		"sequence":        func() { Contract{1, 2, 0.9}.Sequence() },
		"4 over of 3":     func() { Contract{1, 0.1, 0.9}.Judge(Tally{N: 3, Over: 4}) },
		"pairs":           func() { Compare([]float64{1}, nil, 100, 0.9, nil) },
		"curves":          func() { PairedMean([]float32{1}, nil, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			f()
		})
	}
}

func TestBootstrapCorrection(t *testing.T) {
	mean := func(x []float64) float64 { return of(x...).Mean }
	// By hand: of 8 resamples one is below the mean 3 and two are equal: Φ⁻¹(2/8). For a mean the acceleration is the
	// sum of cubes by six times the sum of squares to 3/2: 18/(6·14^1.5).
	picked := func(values ...float64) func(drawn []int) float64 {
		return func(drawn []int) float64 {
			var x []float64
			for _, k := range drawn {
				x = append(x, values[k])
			}
			return mean(x)
		}
	}
	bias, acceleration, ok := correction(3, picked(1, 2, 6), []float64{2, 3, 3, 4, 5, 6, 7, 8})
	if !ok || !near(bias, -0.6744897501960817, 1e-12) || !near(acceleration, 3/math.Pow(14, 1.5), 1e-12) {
		t.Errorf("bias %v, acceleration %v, %v", bias, acceleration, ok)
	}
	if _, _, ok := correction(2, picked(1, 1), []float64{1, 1}); ok {
		t.Error("equal clusters say something about the acceleration")
	}
	// Few large values: the upper end moves out, and the lower one stays where the percentile is.
	clusters := make([][]float64, len(skewed))
	for i, x := range skewed {
		clusters[i] = []float64{x}
	}
	got := bootstrap(clusters, mean, 999, 0.95, rand.New(rand.NewPCG(1, 2)))
	r, stats := rand.New(rand.NewPCG(1, 2)), make([]float64, 999)
	for i := range stats {
		x := make([]float64, len(skewed))
		for k := range x {
			x[k] = skewed[r.IntN(len(skewed))]
		}
		stats[i] = mean(x)
	}
	slices.Sort(stats)
	tail := expanded(len(skewed), 0.95)
	low, high := stats[int(math.Floor(1000*tail))-1], stats[int(math.Ceil(1000*(1-tail)))-1]
	if !near(got.Low, low, 1e-12) || !(got.High > high+0.01) {
		t.Errorf("%+v, by percentiles %v to %v", got, low, high)
	}
}
