package aggregate

import (
	"math"
	"slices"

	"nero/internal/distribution"
	"nero/internal/elementary"
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

// Decision is on which side of a limit a quantity has been shown to be.
type Decision int

// The decisions.
const (
	Undecided Decision = iota
	Below
	Above
)

// Decide compares an interval with a limit: Below if its upper end is below, Above if its lower end is above. An
// interval with a NaN end decides nothing.
func (i Interval) Decide(limit float64) Decision {
	switch {
	case math.IsNaN(i.Low) || math.IsNaN(i.High):
		return Undecided
	case i.High < limit:
		return Below
	case i.Low > limit:
		return Above
	}
	return Undecided
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
// Then use [StudentBootstrap], or [MeanSequence] for numbers in a known range. One number per input: values of one
// input are not independent, see [Cluster]. With fewer than two numbers, or an infinite one, it is everything.
func MeanInterval(m Moments, confidence float64) Interval {
	return meanInterval(m, confidence, distribution.StudentQuantile)
}

func meanInterval(m Moments, confidence float64, student func(freedom, p float64) float64) Interval {
	need(confidence)
	se := m.StdErr()
	if m.N < 2 || !finite(m.Mean) || !finite(se) {
		return everything(confidence, m.N, m.NaN)
	}
	t := student(float64(m.N-1), (1+confidence)/2)
	return Interval{m.Mean - float64(t*se), m.Mean + float64(t*se), confidence, m.N, m.NaN}
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
		return elementary.Pow(tail, 1/float64(n))
	default:
		return distribution.InvRegIncBeta(float64(k), float64(n-k+1), tail)
	}
}

// betaHigh is the p at which k or fewer successes in n have the given probability.
func betaHigh(k, n int, tail float64) float64 {
	switch k {
	case n:
		return 1
	case 0:
		return -elementary.Expm1(elementary.Log(tail) / float64(n))
	default:
		return distribution.InvRegIncBeta(float64(k+1), float64(n-k), 1-tail)
	}
}

// WilksN is the smallest number of independent values of which the largest is at least the beta-quantile of their
// population with the given confidence: the least n with 1 - betaⁿ >= confidence (Wilks, Annals of Mathematical
// Statistics 12, 1941; docs/METRICS.md S4). Both are in (0,1).
func WilksN(beta, confidence float64) int {
	need(beta)
	need(confidence)
	n := int(math.Ceil(elementary.Log1p(-confidence) / elementary.Log(beta)))
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
	return -elementary.Expm1(float64(n) * elementary.Log(beta))
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
