package aggregate

import (
	"math"

	"nero/internal/distribution"
	"nero/internal/elementary"
)

// LogEvidence is the logarithm of the evidence of a tally against "the probability is at most p": Robbins' mixture of
// likelihood ratios against p alone, with the weights of Jeffreys cut to the side above p (Annals of Mathematical
// Statistics 41, 1970; docs/METRICS.md):
//
//	E = ∫ (q/p)^k ((1-q)/(1-p))^(n-k) π(q) dq over q from p to 1, π(q) ∝ 1/√(q(1-q))
//
// If the probability is at most p whatever came before, E is a supermartingale that begins at 1, so the probability
// that it ever reaches 1/α is at most α (Ville): one may look after every object and stop when one likes. A tally holds
// all that there is to keep for that. Where the likelihood ratio at p is as good as the best one by hundreds of orders
// of magnitude, the result is a lower limit. p is in (0,1).
func LogEvidence(p float64, t Tally) float64 {
	need(p)
	trials(t.Over, t.N)
	k, n := float64(t.Over), float64(t.N)
	return distribution.Lbeta(k+0.5, n-k+0.5) + logBeta(n-k+0.5, k+0.5, 1-p) - logLikelihood(p, k, n) -
		elementary.Log(math.Pi*distribution.RegIncBeta(0.5, 0.5, 1-p))
}

// other is the tally of what did not fail.
func (t Tally) other() Tally { return Tally{N: t.N, Over: t.N - t.Over} }

// logBeta is ln I_x(a,b). Where that underflows it is the first term of the series of DLMF 8.17.8, of which all are
// positive: a lower limit.
func logBeta(a, b, x float64) float64 {
	if i := distribution.RegIncBeta(a, b, x); i > 0 {
		return elementary.Log(i)
	}
	return float64(a*elementary.Log(x)) + float64(b*elementary.Log1p(-x)) - elementary.Log(a) -
		distribution.Lbeta(a, b)
}
