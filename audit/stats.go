package audit

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Interval is an estimate with its confidence limits. The limits are NaN where the data allow none; NaN limits decide
// nothing.
type Interval struct {
	Value, Lo, Hi float64
	N             int // independent inputs behind it
}

// noInterval is an estimate about which nothing can be said.
func noInterval() Interval { return Interval{Value: math.NaN(), Lo: math.NaN(), Hi: math.NaN()} }

// MeanInterval is Student's two-sided interval x̄ ± t(1-α/2, n-1)·sd/√n of the mean of independent values, one per input:
// values of one input at several elements depend on each other and must be reduced to one number first. NaN values
// are left out; fewer than two values have no limits.
func MeanInterval(x []float64, confidence float64) Interval {
	n, mean, sd := moments(x)
	if n == 0 {
		return noInterval()
	}
	iv := Interval{Value: mean, Lo: math.NaN(), Hi: math.NaN(), N: n}
	if n < 2 {
		return iv
	}
	h := tQuantile(confidence, n-1) * sd / math.Sqrt(float64(n))
	iv.Lo, iv.Hi = mean-h, mean+h
	return iv
}

// RatioInterval is the interval of E a / E b over inputs, from one pair per input: the ratio of the means R with Student's
// limits on the linearised residuals a - R·b (Cochran 1977, Sampling Techniques, 6.4). Pairs with NaN are left out. A mean of b
// that is not above zero has no ratio.
func RatioInterval(a, b []float64, confidence float64) Interval {
	var n int
	var sa, sb float64
	for i := range a {
		if !math.IsNaN(a[i]) && !math.IsNaN(b[i]) {
			n, sa, sb = n+1, sa+a[i], sb+b[i]
		}
	}
	if n == 0 || !(sb > 0) {
		return noInterval()
	}
	r := sa / sb
	iv := Interval{Value: r, Lo: math.NaN(), Hi: math.NaN(), N: n}
	if n < 2 {
		return iv
	}
	var ss float64
	for i := range a {
		if !math.IsNaN(a[i]) && !math.IsNaN(b[i]) {
			d := a[i] - r*b[i]
			ss += d * d
		}
	}
	m := float64(n)
	h := tQuantile(confidence, n-1) * math.Sqrt(ss/(m-1)/m) / (sb / m)
	iv.Lo, iv.Hi = r-h, r+h
	return iv
}

// ShareInterval is the two-sided Clopper–Pearson interval of a proportion, k of n independent inputs (Clopper & Pearson
// 1934): beta quantiles, so that the coverage is at least the confidence for every n.
func ShareInterval(k, n int, confidence float64) Interval {
	if n == 0 {
		return noInterval()
	}
	a := (1 - confidence) / 2
	iv := Interval{Value: float64(k) / float64(n), Lo: 0, Hi: 1, N: n}
	if k > 0 {
		iv.Lo = distuv.Beta{Alpha: float64(k), Beta: float64(n-k) + 1}.Quantile(a)
	}
	if k < n {
		iv.Hi = distuv.Beta{Alpha: float64(k) + 1, Beta: float64(n - k)}.Quantile(1 - a)
	}
	return iv
}

// tQuantile is the two-sided quantile of Student's distribution.
func tQuantile(confidence float64, df int) float64 {
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(df)}.Quantile(1 - (1-confidence)/2)
}

// moments are the number, mean and sample standard deviation of the values that are not NaN.
func moments(x []float64) (n int, mean, sd float64) {
	var m2 float64
	for _, v := range x {
		if math.IsNaN(v) {
			continue
		}
		n++
		d := v - mean
		mean += d / float64(n)
		m2 += d * (v - mean)
	}
	if n > 1 {
		sd = math.Sqrt(m2 / float64(n-1))
	}
	return n, mean, sd
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
	n, mean, sd := moments(x)
	return Stats{N: n, Mean: mean, Std: sd, P50: quantile(x, 0.5), P95: quantile(x, 0.95), P99: quantile(x, 0.99), Max: x[n-1]}
}

// quantile is the k-th smallest value, k = ⌈q·n⌉, as in package aggregate.
func quantile(sorted []float64, q float64) float64 {
	return sorted[max(1, int(math.Ceil(q*float64(len(sorted)))))-1]
}

// mostInputs bounds the search for a deciding sample size.
const mostInputs = 10_000_000

// meanNeeds is about how many inputs would bring the interval of a mean clear of the limit, if mean and spread stay as they are; 0
// when no number would.
func meanNeeds(iv Interval, limit, confidence float64) int {
	if iv.N < 2 || math.IsNaN(iv.Lo) || !(iv.Value != limit) {
		return 0
	}
	se := (iv.Hi - iv.Value) / tQuantile(confidence, iv.N-1) * math.Sqrt(float64(iv.N))
	gap := math.Abs(iv.Value - limit)
	n := iv.N
	for range 50 { // t depends on n
		next := int(math.Ceil(math.Pow(tQuantile(confidence, max(n-1, 1))*se/gap, 2))) + 1
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

// shareNeeds is about how many inputs would bring the interval of a share clear of the limit, if the share stays as it is.
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
