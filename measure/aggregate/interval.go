package aggregate

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/stat/distuv"
)

// Interval is a confidence interval: the procedure that made it covers the true value with at least its confidence,
// under the assumptions that it names. An end that nothing bounds is infinite; an interval made of too little holds
// everything.
type Interval struct {
	Low, High float64
	// in (0,1)
	Confidence float64
	// independent values that it is made of
	N int
	// values that were NaN and had to be left out: the interval does not speak for them
	Missing int
}

// everything is the interval of somebody who knows nothing.
func everything(confidence float64, n, missing int) Interval {
	return Interval{math.Inf(-1), math.Inf(1), confidence, n, missing}
}

// need panics unless 0 < confidence < 1: the limits of a study see to that.
func need(confidence float64) {
	if !(confidence > 0 && confidence < 1) {
		panic("aggregate: confidence is not between 0 and 1")
	}
}

// MeanInterval is Student's interval for the mean of the population that the numbers were drawn from independently:
// mean ± t·s/√n with t the (1+confidence)/2 quantile of Student's distribution with n-1 degrees of freedom (Student,
// Biometrika 6, 1908). It is exact for normal numbers and asymptotically right for others; for skewed ones it is short:
// of intervals of 0.95, about 0.90 hold the mean of 10 exponential numbers, and 0.86 that of 20 lognormal ones (σ = 1).
// Then use [StudentBootstrap], or [BettingInterval] for numbers in a known range. One number per input: values of one
// input are not independent, see [Cluster]. With fewer than two numbers, or an infinite one, it is everything.
func MeanInterval(m Moments, confidence float64) Interval {
	need(confidence)
	se := m.StdErr()
	if m.N < 2 || !finite(m.Mean) || !finite(se) {
		return everything(confidence, m.N, m.NaN)
	}
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(m.N - 1)}.Quantile((1 + confidence) / 2)
	return Interval{m.Mean - t*se, m.Mean + t*se, confidence, m.N, m.NaN}
}

// Wilson is Wilson's score interval for a probability of which k of n independent trials were successes (Wilson, JASA
// 22, 1927). Its coverage is close to nominal on average over probabilities. Without trials it is [0,1].
func Wilson(k, n int, confidence float64) Interval {
	need(confidence)
	trials(k, n)
	if n == 0 {
		return Interval{0, 1, confidence, 0, 0}
	}
	z := distuv.UnitNormal.Quantile((1 + confidence) / 2)
	p, m := float64(k)/float64(n), float64(n)
	mid := (p + z*z/(2*m)) / (1 + z*z/m)
	half := z / (1 + z*z/m) * math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	i := Interval{max(0, mid-half), min(1, mid+half), confidence, n, 0}
	if k == 0 {
		i.Low = 0 // not a rounding error above it
	}
	if k == n {
		i.High = 1
	}
	return i
}

// ClopperPearson is the exact interval for a probability of which k of n independent trials were successes (Clopper and
// Pearson, Biometrika 26, 1934; docs/METRICS.md S3): its coverage is at least nominal for every probability. Without
// trials it is [0,1].
func ClopperPearson(k, n int, confidence float64) Interval {
	need(confidence)
	trials(k, n)
	tail := (1 - confidence) / 2
	return Interval{betaLow(k, n, tail), betaHigh(k, n, tail), confidence, n, 0}
}

// ClopperPearsonUpper is the one-sided exact upper limit for a probability of which k of n independent trials were
// successes. With k = 0 it is 1 - (1-confidence)^(1/n); without trials it is 1.
func ClopperPearsonUpper(k, n int, confidence float64) float64 {
	need(confidence)
	trials(k, n)
	return betaHigh(k, n, 1-confidence)
}

func trials(k, n int) {
	if k < 0 || k > n {
		panic("aggregate: more successes than trials")
	}
}

// betaLow is the p at which k or more successes in n have the given probability.
func betaLow(k, n int, tail float64) float64 {
	switch k {
	case 0:
		return 0
	case n:
		return math.Pow(tail, 1/float64(n))
	default:
		return distuv.Beta{Alpha: float64(k), Beta: float64(n - k + 1)}.Quantile(tail)
	}
}

// betaHigh is the p at which k or fewer successes in n have the given probability.
func betaHigh(k, n int, tail float64) float64 {
	switch k {
	case n:
		return 1
	case 0:
		return -math.Expm1(math.Log(tail) / float64(n))
	default:
		return distuv.Beta{Alpha: float64(k + 1), Beta: float64(n - k)}.Quantile(1 - tail)
	}
}

// WilksN is the smallest number of independent values of which the largest is at least the beta-quantile of their
// population with the given confidence: the least n with 1 - betaⁿ >= confidence (Wilks, Annals of Mathematical
// Statistics 12, 1941; docs/METRICS.md S4). Both are in (0,1).
func WilksN(beta, confidence float64) int {
	need(beta)
	need(confidence)
	n := int(math.Ceil(math.Log1p(-confidence) / math.Log(beta)))
	for n > 1 && WilksConfidence(beta, n-1) >= confidence {
		n--
	}
	for WilksConfidence(beta, n) < confidence {
		n++
	}
	return n
}

// WilksConfidence is the confidence 1 - betaⁿ with which the largest of n independent values is at least the
// beta-quantile of their population. beta is in (0,1).
func WilksConfidence(beta float64, n int) float64 {
	need(beta)
	return -math.Expm1(float64(n) * math.Log(beta))
}

// QuantileInterval is the distribution-free interval for the q-quantile, 0 < q < 1, of the population that the values
// were drawn from independently: between two of them, chosen by the binomial distribution (Hahn and Meeker, Statistical
// Intervals, 1991, section 5.2). Its coverage is at least nominal. An end is infinite where the values are too few. The
// values need no order; NaN among them are counted as missing and may lie anywhere: they widen both ends.
func QuantileInterval(values []float64, q, confidence float64) Interval {
	need(q)
	need(confidence)
	x := make([]float64, 0, len(values))
	for _, v := range values {
		if !math.IsNaN(v) {
			x = append(x, v)
		}
	}
	slices.Sort(x)
	n, missing := len(values), len(values)-len(x)
	out := everything(confidence, n, missing)
	if n == 0 {
		return out
	}
	tail := (1 - confidence) / 2
	below := distuv.Binomial{N: float64(n), P: q} // how many values are below the quantile
	// The k-th smallest is a lower limit if fewer than k values are below the quantile with probability at most tail.
	lo := sort.Search(n, func(k int) bool { return below.CDF(float64(k)) > tail })
	// The k-th smallest is an upper limit if k or more are below it with probability at most tail.
	hi := 1 + sort.Search(n, func(k int) bool { return 1-below.CDF(float64(k)) <= tail })
	// Had the missing values been small, the k-th smallest would be among them or nearer the front; had they been
	// large, the k-th largest likewise.
	if lo -= missing; lo >= 1 {
		out.Low = x[lo-1]
	}
	if hi <= len(x) {
		out.High = x[hi-1]
	}
	return out
}

// ErrNotBounded says that a bound for numbers in [0,R] was asked about numbers that are not.
var ErrNotBounded = errors.New("aggregate: not in the range that the bound assumes")

// HoeffdingUpper is an upper limit for the mean of a population in [0,r] from which the numbers were drawn
// independently: mean + r·√(ln(1/δ)/(2n)), δ = 1-confidence (Hoeffding, JASA 58, 1963; docs/METRICS.md S5). The range r
// is fixed before the data are seen. The error wraps [ErrNotBounded] if a number is outside the range or NaN, or there
// is none.
func HoeffdingUpper(m Moments, r, confidence float64) (float64, error) {
	need(confidence)
	if err := bounded(m, r); err != nil {
		return math.NaN(), err
	}
	return min(r, m.Mean+r*math.Sqrt(-math.Log1p(-confidence)/(2*float64(m.N)))), nil
}

// BernsteinUpper is the empirical Bernstein upper limit for the same mean as [HoeffdingUpper], which is lower when the
// variance V is far below r²: mean + √(2V·ln(2/δ)/n) + 7r·ln(2/δ)/(3(n-1)), δ = 1-confidence (Maurer and Pontil, COLT
// 2009, theorem 4; docs/METRICS.md S5). With one number it is r.
func BernsteinUpper(m Moments, r, confidence float64) (float64, error) {
	need(confidence)
	if err := bounded(m, r); err != nil {
		return math.NaN(), err
	}
	if m.N < 2 {
		return r, nil
	}
	l, n := math.Log(2/(1-confidence)), float64(m.N)
	return min(r, m.Mean+math.Sqrt(2*m.Variance()*l/n)+7*r*l/(3*(n-1))), nil
}

func bounded(m Moments, r float64) error {
	switch {
	case m.NaN > 0:
		return fmt.Errorf("%w: %d values are NaN", ErrNotBounded, m.NaN)
	case m.N == 0:
		return fmt.Errorf("%w: there are none", ErrNotBounded)
	case !(r > 0) || math.IsInf(r, 0) || !(m.Min >= 0 && m.Max <= r):
		return fmt.Errorf("%w: they lie in [%g, %g], the range is [0, %g]", ErrNotBounded, m.Min, m.Max, r)
	}
	return nil
}

// Holm adjusts p-values for asking many questions: comparing an adjusted value with α keeps the probability of any
// false rejection at most α, whatever the questions have to do with each other (Holm, Scandinavian Journal of
// Statistics 6, 1979; docs/METRICS.md S7). The result has the order of the argument. A NaN counts as a question whose
// answer is 1.
func Holm(p []float64) []float64 {
	order := make([]int, len(p))
	out := make([]float64, len(p))
	for i, v := range p {
		order[i], out[i] = i, v
		if !(v <= 1) {
			out[i] = 1
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case out[a] < out[b]:
			return -1
		case out[a] > out[b]:
			return 1
		default:
			return 0
		}
	})
	last := 0.0
	for rank, i := range order {
		last = max(last, min(1, float64(len(p)-rank)*out[i]))
		out[i] = last
	}
	return out
}
