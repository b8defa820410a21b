package audit

import (
	"math"
	"math/rand/v2"
	"slices"

	"nero/internal/distribution"
	"nero/internal/elementary"
	"nero/measure/aggregate"
)

// Interval is an estimate with its confidence limits. The limits are NaN where the data allow none; NaN limits decide
// nothing.
type Interval struct {
	Value, Lo, Hi float64
	// independent inputs behind it
	N int
}

// NotNegative cuts off what lies below zero, for a quantity that is never negative, such as an error, a norm or a ratio
// of two: Student's limits are symmetric and know nothing of that. It holds the truth exactly where the whole interval
// did. Limits that are NaN stay.
func (i Interval) NotNegative() Interval {
	if i.Lo < 0 {
		i.Lo = 0
	}
	if i.Hi < 0 {
		i.Hi = 0
	}
	return i
}

// noInterval is an estimate about which nothing can be said.
func noInterval() Interval { return Interval{Value: math.NaN(), Lo: math.NaN(), Hi: math.NaN()} }

// MeanInterval is the interval of the mean of independent values, one per input, by [aggregate.MeanInterval]: values of
// one input at several elements depend on each other and must be reduced to one number first. NaN values are left out;
// fewer than two values, or an infinite one, have no limits.
func MeanInterval(x []float64, confidence float64) Interval {
	var m aggregate.Moments
	for i, v := range x {
		m.Add(v, i)
	}
	if m.N == 0 {
		return noInterval()
	}
	iv := Interval{Value: m.Mean, Lo: math.NaN(), Hi: math.NaN(), N: m.N}
	if a := aggregate.MeanInterval(m, confidence); !math.IsInf(a.Low, 0) && !math.IsInf(a.High, 0) {
		iv.Lo, iv.Hi = a.Low, a.High
	}
	return iv
}

// RatioInterval is the interval of E a / E b over inputs, from one pair per input: the ratio of the means R with
// Student's limits on the linearised residuals a - R·b (Cochran 1977, Sampling Techniques, 6.4). Pairs with NaN are
// left out. A mean of b that is not above zero has no ratio.
func RatioInterval(a, b []float64, confidence float64) Interval {
	r, spread, mean, n := ratio(a, b)
	iv := Interval{Value: r, Lo: math.NaN(), Hi: math.NaN(), N: n}
	if n < 2 {
		return iv
	}
	h := tQuantile(confidence, n-1) * spread / mean
	iv.Lo, iv.Hi = r-h, r+h
	return iv
}

// RatioChance is the p-value against "E a / E b is at most 1": at most (1-c)/2 where the lower end of [RatioInterval]
// with the confidence c is at least 1. It is 1 where there is no interval.
func RatioChance(a, b []float64) float64 {
	r, spread, mean, n := ratio(a, b)
	switch t := (r - 1) * mean / spread; {
	case n < 2 || math.IsNaN(t):
		return 1
	case math.IsInf(t, 0):
		if t > 0 {
			return 0
		}
		return 1
	default:
		return distribution.StudentSurvival(float64(n-1), t)
	}
}

// ratio is the ratio of means over pairs without NaN, the standard error of the mean residual a - r·b, the mean of b,
// and how many pairs there are; NaN and no pairs where the mean of b is not above zero.
func ratio(a, b []float64) (r, spread, mean float64, n int) {
	var sa, sb float64
	for i := range a {
		if !math.IsNaN(a[i]) && !math.IsNaN(b[i]) {
			n, sa, sb = n+1, sa+a[i], sb+b[i]
		}
	}
	if n == 0 || !(sb > 0) {
		return math.NaN(), math.NaN(), math.NaN(), 0
	}
	r = sa / sb
	var ss float64
	for i := range a {
		if !math.IsNaN(a[i]) && !math.IsNaN(b[i]) {
			d := a[i] - float64(r*b[i])
			ss += float64(d * d)
		}
	}
	m := float64(n)
	return r, math.Sqrt(ss / (m - 1) / m), sb / m, n
}

// Bounds of the bootstrap: how many resamples there are at most and at least, how many draws are made in all, and from
// how many inputs on there are none, because the mean of so many has lost its skewness.
const (
	mostResamples  = 2000
	leastResamples = 200
	mostDraws      = 4_000_000
	mostSkewed     = mostDraws / leastResamples
)

func resamples(n int) int { return min(mostResamples, mostDraws/max(n, 1)) }

// ErrorInterval is [MeanInterval] widened to hold the bootstrap-t interval, see [aggregate.StudentBootstrap]: errors
// are skewed, and Student's interval of a skewed sample is too short at its upper end. The generator alone decides the
// draws. Beyond the extreme values seen it is no wider than Student's: where one input in many has nearly all of the
// error, most resamples have next to no spread, and their quotients say nothing. Of values none of which is negative no
// end is.
func ErrorInterval(x []float64, confidence float64, r *rand.Rand) Interval {
	iv := MeanInterval(x, confidence)
	if math.IsNaN(iv.Lo) {
		return iv
	}
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, v := range x {
		if !math.IsNaN(v) {
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	if iv.N <= mostSkewed {
		b := aggregate.StudentBootstrap(x, resamples(iv.N), confidence, r)
		iv.Lo, iv.Hi = min(iv.Lo, max(b.Low, lo)), max(iv.Hi, min(b.High, hi))
	}
	if lo >= 0 {
		iv.Lo = max(iv.Lo, 0)
	}
	return iv
}

// Bounds of the interval of a scale: how many resamples there are, and from how many values on there are none.
const (
	scaleResamples  = 400
	mostScaleValues = 2000
)

// ScaleFactor is within which factors of its estimate a scale lies: the root of the mean of x, the squared distances of
// n independent inputs from their mean. It works on m, the logarithm of that mean. With c the standard error of the
// mean over the mean and t Student's quantile, m lies within ±t·c (delta method); each end moves out to that of the
// bootstrap-t interval of m, see [aggregate.StudentBootstrap], by up to another t·c. Two things make a scale look too
// small, and move the upper end alone:
//   - Squares have heavy tails, and of few of them the largest are mostly missing. That none of n inputs was among the
//     largest share p has the probability (1-p)ⁿ, so with half of 1 - confidence left for it, p is at most -ln((1 -
//     confidence)/2)/n. So many values are added, each as far above the largest as that is above the second: where the
//     tail falls like an exponential function both gaps are alike in the mean.
//   - Distances are from the mean of the same inputs, not from the true one, which makes their squares smaller by the
//     factor 1 - 1/n in the mean (Bessel).
//
// Without a generator there is no bootstrap. The upper end is infinite, and the lower 0, with fewer than two values or
// without spread.
func ScaleFactor(x []float64, confidence float64, r *rand.Rand) (lo, hi float64) {
	n := float64(len(x))
	var sum, squares, most, second float64
	for _, v := range x {
		sum, squares = sum+v, squares+float64(v*v)
		most, second = max(most, v), max(second, min(most, v))
	}
	if n < 2 || !(sum > 0) || math.IsInf(squares, 1) {
		return 0, math.Inf(1)
	}
	mean := sum / n
	spread := func(mean, squares float64) float64 {
		return math.Sqrt(max(0, squares/n-float64(mean*mean))/(n-1)) / mean
	}
	se := spread(mean, squares)
	c := float64(tQuantile(confidence, len(x)-1) * se)
	low, high := c, c
	if r != nil && len(x) <= mostScaleValues && c > 0 {
		t := make([]float64, scaleResamples)
		for b := range t {
			var s, q float64
			for range x {
				v := x[r.IntN(len(x))]
				s, q = s+v, q+float64(v*v)
			}
			if t[b] = elementary.Log(s/sum) / spread(s/n, q); math.IsNaN(t[b]) {
				t[b] = 0
			}
		}
		slices.Sort(t)
		k := max(int((1-confidence)/2*(scaleResamples+1)), 1)
		low = max(low, min(t[scaleResamples-k]*se, 2*c))
		high = max(high, min(-t[k-1]*se, 2*c))
	}
	unseen := -elementary.Log((1 - confidence) / 2)
	high += unseen*(most+(most-second)-mean)/sum + elementary.Log(n/(n-1))
	return elementary.Exp(-low / 2), elementary.Exp(high / 2)
}

// Over is the interval of a quantity divided by a scale, i being its interval over the estimate of that scale and lo
// and hi the factors between which the scale lies. It recovers variances from the two intervals (MOVER: Zou and Donner,
// Statistics in Medicine 27, 2008, 1693; with the correlation: Zou, Psychological Methods 12, 2007, 399) on logarithms,
// where the quotient is a difference. With v the value, [a, b] its interval and r the correlation of the two estimates,
// the ends are
//
//	v·exp(-√(ln²(v/a) + ln²(hi) - 2r·ln(v/a)·ln(hi)))
//	v·exp(+√(ln²(b/v) + ln²(lo) + 2r·ln(b/v)·ln(lo)))
//
// where the last logarithm is not above zero. Of r only what makes the interval wider counts: errors that are large
// where answers are near their mean are divided by too little where they are too large. What a positive r would take
// off rests on few inputs with heavy tails. An interval without ends stays as it is, and one of a value that is not
// above zero. A lower end of zero stays.
func (i Interval) Over(lo, hi, r float64) Interval {
	if lo == 1 && hi == 1 || math.IsNaN(i.Lo) || !(i.Value > 0) {
		return i
	}
	if !(r < 0) {
		r = 0
	}
	away := func(x, y float64) float64 {
		if math.IsInf(x, 1) || math.IsInf(y, 1) {
			return math.Inf(1)
		}
		return math.Sqrt(float64(x*x) + float64(y*y) - float64(2*r*x*y))
	}
	down := away(elementary.Log(i.Value/max(i.Lo, 0)), elementary.Log(hi))
	up := away(elementary.Log(i.Hi/i.Value), -elementary.Log(lo))
	i.Lo, i.Hi = i.Value*elementary.Exp(-down), i.Value*elementary.Exp(up)
	return i
}

// correlation of pairs without NaN, 0 where one of the two does not vary.
func correlation(a, b []float64) float64 {
	var n, ma, mb float64
	for i := range a {
		if !math.IsNaN(a[i]) && !math.IsNaN(b[i]) {
			n, ma, mb = n+1, ma+a[i], mb+b[i]
		}
	}
	var va, vb, c float64
	for i := range a {
		if !math.IsNaN(a[i]) && !math.IsNaN(b[i]) {
			x, y := a[i]-ma/n, b[i]-mb/n
			va, vb, c = va+float64(x*x), vb+float64(y*y), c+float64(x*y)
		}
	}
	if r := c / math.Sqrt(va) / math.Sqrt(vb); r >= -1 && r <= 1 {
		return r
	}
	return 0
}

// slack is by how much of itself a ratio may be off for reasons of arithmetic.
const slack = 1e-3

// FactorInterval is [RatioInterval] widened to hold that of [aggregate.FactorInterval], which allows for skewed errors
// and for a mean of b that is not known well. Both lists hold numbers that are not negative. An end that it leaves open
// stays that of RatioInterval. Both ends are moved out by a thousandth of themselves: errors that equal their floor
// have no spread, and rounding alone must not tell them apart.
func FactorInterval(a, b []float64, confidence float64, r *rand.Rand) (iv Interval) {
	iv = RatioInterval(a, b, confidence)
	if math.IsNaN(iv.Lo) {
		return iv
	}
	defer func() {
		iv.Lo, iv.Hi = iv.Lo-float64(slack*math.Abs(iv.Lo)), iv.Hi+float64(slack*math.Abs(iv.Hi))
		iv = iv.NotNegative()
	}()
	if iv.N > mostSkewed {
		return iv
	}
	f := aggregate.FactorInterval(a, b, resamples(iv.N), confidence, r)
	if f.Low > 0 {
		iv.Lo = min(iv.Lo, f.Low)
	}
	if f.High > 0 && !math.IsInf(f.High, 0) {
		iv.Hi = max(iv.Hi, f.High)
	}
	return iv
}

// ShareInterval is the interval of a proportion, k of n independent inputs, by [aggregate.ClopperPearson]: its coverage
// is at least the confidence for every n. Without inputs there is none.
func ShareInterval(k, n int, confidence float64) Interval {
	if n == 0 {
		return noInterval()
	}
	a := aggregate.ClopperPearson(k, n, confidence)
	return Interval{Value: float64(k) / float64(n), Lo: a.Low, Hi: a.High, N: n}
}

// tQuantile is the two-sided quantile of Student's distribution.
func tQuantile(confidence float64, df int) float64 {
	return distribution.StudentQuantile(float64(df), 1-(1-confidence)/2)
}

// Stats describes a list of values. All numbers are NaN when the list is empty.
type Stats struct {
	N                             int
	Mean, Std, P50, P95, P99, Max float64
}

// Describe computes the statistics of the values that are not NaN. It sorts x. Quantiles are values that occur: the
// smallest with at least the share q at or below it (type 1 of Hyndman & Fan 1996).
func Describe(x []float64) Stats {
	x = slices.DeleteFunc(x, math.IsNaN)
	if len(x) == 0 {
		nan := math.NaN()
		return Stats{Mean: nan, Std: nan, P50: nan, P95: nan, P99: nan, Max: nan}
	}
	slices.Sort(x)
	var m aggregate.Moments
	for i, v := range x {
		m.Add(v, i)
	}
	n, sd := len(x), m.Std()
	if n == 1 {
		sd = 0
	}
	return Stats{
		N: n, Mean: m.Mean, Std: sd, P50: quantile(x, 0.5), P95: quantile(x, 0.95), P99: quantile(x, 0.99),
		Max: x[n-1],
	}
}

// quantile is the k-th smallest value, k = ⌈q·n⌉, as in package aggregate.
func quantile(sorted []float64, q float64) float64 {
	return sorted[max(1, int(math.Ceil(q*float64(len(sorted)))))-1]
}

// mostInputs bounds the search for a deciding sample size.
const mostInputs = 10_000_000

// meanNeeds is about how many inputs would bring the interval of a mean clear of the limit, if mean and spread stay as
// they are; 0 when no number would.
func meanNeeds(iv Interval, limit, confidence float64) int {
	if iv.N < 2 || math.IsNaN(iv.Lo) || !(iv.Value != limit) {
		return 0
	}
	se := (iv.Hi - iv.Value) / tQuantile(confidence, iv.N-1) * math.Sqrt(float64(iv.N))
	gap := math.Abs(iv.Value - limit)
	n := iv.N
	for range 50 { // t depends on n
		next := int(math.Ceil(elementary.Pow(tQuantile(confidence, max(n-1, 1))*se/gap, 2))) + 1
		if next <= 0 || next > mostInputs {
			return 0
		}
		if next == n {
			break
		}
		n = next
	}
	return max(n, iv.N+1)
}

// shareNeeds is about how many inputs would bring the interval of a share clear of the limit, if the share stays as it
// is.
func shareNeeds(iv Interval, limit, confidence float64) int {
	if iv.N < 1 || !(iv.Value != limit) {
		return 0
	}
	decides := func(n int) bool {
		s := ShareInterval(int(math.Round(iv.Value*float64(n))), n, confidence)
		return s.Hi <= limit || s.Lo > limit
	}
	lo, hi := iv.N, iv.N*2
	for ; !decides(hi); hi *= 2 {
		if hi > mostInputs {
			return 0
		}
		lo = hi
	}
	for hi-lo > 1 {
		if mid := lo + (hi-lo)/2; decides(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}
