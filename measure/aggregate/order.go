package aggregate

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"
)

// QuantileBound is a one-sided limit for a quantile of the population that values were drawn from independently. It is
// one of the values, and needs no assumption about their distribution.
type QuantileBound struct {
	// NaN if the values are too few; ±Inf if NaN values stand where the limit would
	Limit float64
	// the limit is the Rank-th largest value (upper) or smallest (lower); 0 if the values are too few
	Rank int
	// values, one per input, NaN among them
	N int
	// values that were NaN: they count as worst
	Missing int
	// confidence that the rank attains: at least what was asked for, 0 if the values are too few
	Confidence float64
	// the fewest values for which there is such a limit, of the rank asked for
	Need int
}

// OrderConfidence is the confidence with which the k-th largest of n independent values is at least the beta-quantile
// of their population: the probability of at most n-k successes in n trials of probability beta, the regularised
// incomplete beta function I(1-beta; k, n-k+1) (Wilks, Annals of Mathematical Statistics 12, 1941; docs/METRICS.md S4).
// It is exact for continuous populations and a lower limit for others. beta is in (0,1), k at least 1; with n < k it is
// 0. The k-th smallest is at most the beta-quantile with OrderConfidence(1-beta, n, k).
func OrderConfidence(beta float64, n, k int) float64 {
	need(beta)
	switch {
	case k < 1:
		panic("aggregate: ranks count from 1")
	case n < k:
		return 0
	case k == 1:
		return WilksConfidence(beta, n)
	}
	return mathext.RegIncBeta(float64(k), float64(n-k+1), 1-beta)
}

// OrderN is the smallest number of independent values of which the k-th largest is at least the beta-quantile of their
// population with the given confidence; k = 1 is [WilksN]. Equally, it is the number of inputs that show, with that
// confidence, that a failure has at most the probability 1-beta when k-1 of them fail. Beta and confidence are in
// (0,1), k at least 1.
func OrderN(beta, confidence float64, k int) int {
	need(beta)
	need(confidence)
	if k <= 1 {
		if k < 1 {
			panic("aggregate: ranks count from 1")
		}
		return WilksN(beta, confidence)
	}
	lo, hi := k-1, 2*k // the confidence of lo is 0 and rises with n
	for OrderConfidence(beta, hi, k) < confidence {
		lo, hi = hi, 2*hi
	}
	for hi-lo > 1 {
		if mid := lo + (hi-lo)/2; OrderConfidence(beta, mid, k) >= confidence {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}

// OrderRank is the largest k for which the k-th largest of n independent values is at least the beta-quantile of their
// population with the given confidence, and 0 if n is below [WilksN]. It depends on n alone and not on the values, so
// choosing it costs no confidence.
func OrderRank(beta, confidence float64, n int) int {
	need(beta)
	need(confidence)
	lo, hi := 0, n+1 // the confidence falls as k grows
	for hi-lo > 1 {
		if mid := lo + (hi-lo)/2; OrderConfidence(beta, n, mid) >= confidence {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// QuantileUpper is an upper limit for the beta-quantile of the population that the values, one per input, were drawn
// from independently: with the given confidence, at least the share beta of the population is at or below it. It is the
// k-th largest value; k = 0 takes the largest k that the confidence allows, which gives the lowest limit, and k = 1 is
// the certificate of Wilks. A NaN counts as larger than any number. The values need no order. Beta and confidence are
// in (0,1).
func QuantileUpper(values []float64, k int, beta, confidence float64) QuantileBound {
	need(beta)
	need(confidence)
	n := len(values)
	b := QuantileBound{Limit: math.NaN(), N: n, Need: OrderN(beta, confidence, max(k, 1))}
	x := make([]float64, 0, n)
	for _, v := range values {
		if math.IsNaN(v) {
			b.Missing++
			v = math.Inf(1)
		}
		x = append(x, v)
	}
	if k == 0 {
		k = OrderRank(beta, confidence, n)
	}
	if n < b.Need {
		return b
	}
	slices.Sort(x)
	b.Limit, b.Rank, b.Confidence = x[n-k], k, OrderConfidence(beta, n, k)
	return b
}

// QuantileLower is a lower limit for the beta-quantile, the mirror image of [QuantileUpper]: the k-th smallest value, a
// NaN counting as smaller than any number. With it a quantile is shown to be above a tolerance.
func QuantileLower(values []float64, k int, beta, confidence float64) QuantileBound {
	mirror := make([]float64, len(values))
	for i, v := range values {
		mirror[i] = -v
	}
	b := QuantileUpper(mirror, k, 1-beta, confidence)
	b.Limit = -b.Limit
	return b
}
