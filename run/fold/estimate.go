package fold

import (
	"math"

	"nero/measure/aggregate"
	"nero/measure/metric"
)

// EstimateOf is a mean over samples with its interval at a confidence in (0,1), for values of a metric: Clopper and
// Pearson's where every value is 0 or 1, which binary says, else Student's t. The interval ends where the range of the
// metric does; of nothing all is NaN.
//
// Where all n values are the same, v, Student's interval has no width, which would claim certainty of a handful of
// samples. If the metric is bounded, [a, b], more can be said: a sample has the value v with a probability of at least
// q, the lower limit for n of n successes, and is at worst at either end of the range otherwise, so the mean lies in
// [qv + (1-q)a, qv + (1-q)b].
func EstimateOf(m aggregate.Moments, of *metric.Metric, binary bool, confidence float64) Estimate {
	e := Estimate{
		N: m.N, Mean: Number(math.NaN()), SD: Number(math.NaN()), Lo: Number(math.NaN()),
		Hi: Number(math.NaN()),
	}
	if m.N == 0 {
		return e
	}
	e.Mean, e.SD = Number(m.Mean), Number(m.Std())
	i := aggregate.MeanInterval(m, confidence)
	a, b := of.Range[0], of.Range[1]
	switch {
	case binary:
		i = aggregate.ClopperPearson(int(math.Round(m.Mean*float64(m.N))), m.N, confidence)
	case m.N > 1 && m.Min == m.Max && !math.IsInf(a, 0) && !math.IsInf(b, 0):
		q := aggregate.ClopperPearson(m.N, m.N, confidence).Low
		i.Low, i.High = float64(q*m.Mean)+float64((1-q)*a), float64(q*m.Mean)+float64((1-q)*b)
	}
	e.Lo, e.Hi = Number(max(i.Low, a)), Number(min(i.High, b))
	return e
}
