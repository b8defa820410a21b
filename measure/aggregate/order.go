package aggregate

import (
	"nero/internal/distribution"
)

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
	return distribution.RegIncBeta(float64(k), float64(n-k+1), 1-beta)
}
