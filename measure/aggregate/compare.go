package aggregate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"nero/internal/distribution"
	"nero/internal/elementary"
)

// StudentBootstrap is the bootstrap-t interval of the mean of independent values, one per input, widened to hold
// Student's interval: each resample gives a t value, and their quantiles take the place of Student's (Efron 1979; Hall,
// Annals of Statistics 16, 1988, shows it to be right to the second order). It corrects for skewness, which
// [MeanInterval] does not: errors are skewed, and their mean is mostly underestimated. NaN values are left out and
// counted as missing. The generator alone decides the draws. With fewer than two numbers, an infinite one or fewer than
// 100 resamples it is everything.
//
// [Intervals] has the same of many lists, in less time.
func StudentBootstrap(values []float64, resamples int, confidence float64, r *rand.Rand) Interval {
	return studentBootstrap(values, resamples, confidence, MeanInterval, func(n int) places { return drawn(n, r) })
}

func studentBootstrap(values []float64, resamples int, confidence float64, mean func(Moments, float64) Interval,
	draws func(n int) places,
) Interval {
	need(confidence)
	x := make([]float64, 0, len(values))
	var m Moments
	for i, v := range values {
		m.Add(v, i)
		if !math.IsNaN(v) {
			x = append(x, v)
		}
	}
	iv := mean(m, confidence)
	if math.IsInf(iv.Low, 0) || resamples < 100 {
		return everything(confidence, m.N, m.NaN)
	}
	if m.M2 == 0 {
		return iv // all values are one
	}
	// Deviations and their squares are those of the values, whichever resample has them.
	squares := make([]float64, len(x))
	for i := range x {
		x[i] -= m.Mean
		squares[i] = float64(x[i] * x[i])
	}
	n, next := float64(len(x)), draws(len(x))
	t := studentised(resamples, confidence, func() (estimate, se float64) {
		sum, square := 0.0, 0.0
		for _, at := range next() {
			sum += x[at]
			square += squares[at]
		}
		mean := sum / n
		return mean, math.Sqrt(max(0, square/n-float64(mean*mean)) / (n - 1))
	})
	iv.Low, iv.High = min(iv.Low, m.Mean-float64(t[1]*m.StdErr())), max(iv.High, m.Mean-float64(t[0]*m.StdErr()))
	return iv
}

// studentised is the two quantiles of the quotients of deviations and their standard errors in resamples. A resample
// without spread says nothing about its error and counts at its end, infinitely far out.
func studentised(resamples int, confidence float64, draw func() (deviation, se float64)) [2]float64 {
	t := make([]float64, resamples)
	for i := range t {
		d, se := draw()
		if t[i] = d / se; math.IsNaN(t[i]) {
			t[i] = 0 // no deviation, no spread
		}
	}
	// The k-th smallest of b is the k/(b+1)-quantile.
	k := int(math.Floor((1 - confidence) / 2 * float64(resamples+1)))
	if k < 1 {
		return [2]float64{math.Inf(-1), math.Inf(1)}
	}
	low, high := least{k: k}, least{k: k}
	for _, x := range t {
		low.add(x)
		high.add(-x)
	}
	return [2]float64{low.x[k-1], -high.x[k-1]}
}

// least are the k smallest of the numbers that were added, in order. Where few are asked for, almost all others are
// seen to be larger at once; sorting all of them takes as long as drawing them.
type least struct {
	k int
	x []float64
}

func (l *least) add(v float64) {
	if len(l.x) == l.k {
		if v >= l.x[l.k-1] {
			return
		}
		l.x = l.x[:l.k-1]
	}
	at, _ := slices.BinarySearch(l.x, v)
	l.x = slices.Insert(l.x, at, v)
}

// Verdict is what a comparison of errors says.
type Verdict int

// The verdicts. NoEvidence is not equality: for that, compare the interval of the difference with a margin.
const (
	NoEvidence Verdict = iota
	Improved           // the errors after are smaller
	Worse              // the errors after are larger
)

// String is the verdict in words.
func (v Verdict) String() string {
	switch v {
	case NoEvidence:
		return "no clear difference"
	case Improved:
		return "improved"
	case Worse:
		return "worse"
	}
	return fmt.Sprintf("Verdict(%d)", int(v))
}

// Comparison is how errors of the same inputs differ between two models, or one model before and after a change.
type Comparison struct {
	// means over the inputs at which both have a number; NaN without any
	Before, After float64
	// of the mean of after - before
	Difference Interval
	// of the mean before by the mean after: above 1 is an improvement; see [FactorInterval]
	Factor Interval
	// by the difference: improved if all of its interval is below 0
	Verdict Verdict
}

// Compare compares errors in pairs: before and after hold one number per input, of the same inputs in the same order
// and reduced over the same elements, see [PairedMean] (docs/METRICS.md S7). The difference has its [StudentBootstrap]
// interval. Inputs at which either is NaN are left out and counted as missing. It panics if the lengths differ.
func Compare(before, after []float64, resamples int, confidence float64, r *rand.Rand) Comparison {
	a, b, missing := pairs(before, after)
	c := Comparison{Before: meanOf(a), After: meanOf(b)}
	d := make([]float64, len(a))
	for i := range a {
		d[i] = b[i] - a[i]
	}
	c.Difference = StudentBootstrap(d, resamples, confidence, r)
	c.Difference.Missing = missing
	c.Factor = FactorInterval(before, after, resamples, confidence, r)
	switch c.Difference.Decide(0) {
	case Below:
		c.Verdict = Improved
	case Above:
		c.Verdict = Worse
	case Undecided:
	}
	return c
}

// pairs keeps the pairs without NaN.
func pairs(before, after []float64) (a, b []float64, missing int) {
	if len(before) != len(after) {
		panic("aggregate: pairs of lists that differ in length")
	}
	for i, x := range before {
		if math.IsNaN(x) || math.IsNaN(after[i]) {
			missing++
			continue
		}
		a, b = append(a, x), append(b, after[i])
	}
	return a, b, missing
}

// meanOf is the mean, NaN of nothing.
func meanOf(x []float64) float64 {
	if len(x) == 0 {
		return math.NaN()
	}
	var m Moments
	for i, v := range x {
		m.Add(v, i)
	}
	return m.Mean
}

// PairedMean reduces two curves of one input over the same elements to two means over the elements at which both have a
// number, so that a hole in one does not move the other. Pairs counts those elements; without any the means are NaN. It
// panics if the lengths differ. Weights are those of the elements, nil weighs all alike.
func PairedMean(before, after []float32, weights []float64) (a, b float64, n int) {
	if len(before) != len(after) || weights != nil && len(weights) != len(before) {
		panic("aggregate: curves and weights that differ in length")
	}
	total := 0.0
	for i, x := range before {
		if x != x || after[i] != after[i] {
			continue
		}
		w := 1.0
		if weights != nil {
			w = weights[i]
		}
		a += float64(w * float64(x))
		b += float64(w * float64(after[i]))
		total += w
		n++
	}
	return a / total, b / total, n
}

// FactorInterval is the interval of the mean of before by the mean of after, in pairs, one per input: by how much
// errors became smaller. It holds both Fieller's interval (Journal of the Royal Statistical Society B 16, 1954), which
// is exact for normal errors, and the bootstrap-t interval of the logarithm of the ratio, which allows for their
// skewness. Errors are not negative: if one is, or fewer than two pairs have numbers, or one is infinite, the interval
// is everything. Its upper end is infinite where the errors after cannot be told from none at all. Pairs with a NaN are
// left out and counted as missing.
func FactorInterval(before, after []float64, resamples int, confidence float64, r *rand.Rand) Interval {
	need(confidence)
	a, b, missing := pairs(before, after)
	n := len(a)
	out := everything(confidence, n, missing)
	for i := range a {
		if !(a[i] >= 0 && b[i] >= 0) || math.IsInf(a[i], 0) || math.IsInf(b[i], 0) {
			return out
		}
	}
	if n < 2 || resamples < 100 {
		return out
	}
	out.Low = 0
	all := quotient{}
	for i := range a {
		all.add(a[i], b[i])
	}
	ma, mb := all.a/all.n, all.b/all.n
	if !(ma > 0 && mb > 0) {
		return out
	}
	va, vb, vab := all.variances()
	t := distribution.StudentQuantile(all.n-1, (1+confidence)/2)
	// Fieller: the ratios ρ with (ma - ρ·mb)² <= t²·(va - 2ρ·vab + ρ²·vb).
	p, q, s := float64(mb*mb)-float64(t*t*vb), float64(ma*mb)-float64(t*t*vab), float64(ma*ma)-float64(t*t*va)
	if !(p > 0) {
		return out // the mean after may be 0
	}
	root := math.Sqrt(max(0, float64(q*q)-float64(p*s)))
	out.Low, out.High = max(0, (q-root)/p), (q+root)/p
	theta, se := all.log()
	if se == 0 {
		return out // all ratios are one
	}
	whole := true
	tails := studentised(resamples, confidence, func() (float64, float64) {
		var d quotient
		for range n {
			i := r.IntN(n)
			d.add(a[i], b[i])
		}
		th, e := d.log()
		whole = whole && !math.IsNaN(th)
		if math.IsInf(th, 0) {
			return th, 1
		}
		return th - theta, e
	})
	if !whole {
		return everything(confidence, n, missing) // resamples of nothing but zeros
	}
	out.Low, out.High = min(out.Low, elementary.Exp(theta-float64(tails[1]*se))),
		max(out.High, elementary.Exp(theta-float64(tails[0]*se)))
	return out
}

// quotient sums up pairs.
type quotient struct{ n, a, b, aa, bb, ab float64 }

func (q *quotient) add(a, b float64) {
	q.n++
	q.a += a
	q.b += b
	q.aa += float64(a * a)
	q.bb += float64(b * b)
	q.ab += float64(a * b)
}

// variances are those of the two means, and their covariance.
func (q *quotient) variances() (va, vb, vab float64) {
	d := q.n * (q.n - 1)
	return max(0, q.aa-q.a*q.a/q.n) / d, max(0, q.bb-q.b*q.b/q.n) / d, (q.ab - q.a*q.b/q.n) / d
}

// log is the logarithm of the ratio of the means, and its standard error to first order.
func (q *quotient) log() (ratio, se float64) {
	va, vb, vab := q.variances()
	a, b := q.a/q.n, q.b/q.n
	return elementary.Log(a / b), math.Sqrt(max(0, va/(a*a)-2*vab/(a*b)+vb/(b*b)))
}
