package aggregate

import (
	"math"
	"math/rand/v2"
	"slices"

	"nero/internal/distribution"
	"nero/internal/elementary"
)

// CurveMean reduces a curve to its mean under the weights, one for each value; nil weighs all alike. It is NaN if any
// value is, even one that weighs nothing: a hole is never averaged away.
func CurveMean(weights []float64) func(curve []float32) float64 {
	return func(curve []float32) float64 { return weighted(curve, weights, func(x float64) float64 { return x }) }
}

func weighted(curve []float32, weights []float64, f func(float64) float64) float64 {
	if weights != nil && len(weights) != len(curve) {
		panic("aggregate: a curve and its weights differ in length")
	}
	sum, total := 0.0, 0.0
	for i, x := range curve {
		w := 1.0
		if weights != nil {
			w = weights[i]
		}
		sum += float64(w * f(float64(x)))
		total += w
	}
	return sum / total
}

// Resample is the interval of a statistic of n samples, and its estimate, the statistic of all of them: whole samples
// are drawn with replacement, so values within one may depend on each other. It holds the percentile interval (Efron
// 1979) and the one corrected for bias and acceleration (BCa: Efron, JASA 82, 1987), which moves the ends for a
// statistic that is biased or skewed; the acceleration is that of leaving out one sample at a time. The tails of both
// are expanded, which makes up for bootstrap intervals being short for few samples (Hesterberg, The American
// Statistician 69, 2015). For the mean of very skewed samples it remains short (its coverage is in
// testdata/coverage.golden), and [StudentBootstrap] is better.
//
// The statistic is told how often each sample was drawn, in a slice that it must not keep or change: what is costly,
// such as sorting, can then be done once for all resamples. The generator alone decides the draws.
//
// The bootstrap is right for smooth statistics and for quantiles away from the ends. For a maximum it is not: no
// resample exceeds what was seen, so the upper end is too low, and [WilksN] says what a maximum may claim. The interval
// is everything if the statistic is NaN on any resample, with fewer than 100 resamples, or with so few samples that all
// of them may well lie on one side of the truth: 2^(1-n) > 1-confidence, which is fewer than 6 for 95 %.
func Resample(n int, statistic func(count []int) float64, resamples int, confidence float64,
	r *rand.Rand,
) (estimate float64, i Interval) {
	count := make([]int, n)
	of := func(drawn []int) float64 {
		clear(count)
		for _, k := range drawn {
			count[k]++
		}
		return statistic(count)
	}
	i = resample(n, of, resamples, confidence, r)
	if n == 0 {
		return math.NaN(), i
	}
	return of(indexes(n)), i
}

// indexes are those of n clusters.
func indexes(n int) []int {
	k := make([]int, n)
	for i := range k {
		k[i] = i
	}
	return k
}

// resample is the interval of a statistic of clusters, which is told the indexes of those drawn.
func resample(n int, statistic func(drawn []int) float64, resamples int, confidence float64, r *rand.Rand) Interval {
	need(confidence)
	// What resamples say lies between the least and the greatest that was seen, and both may lie on one side of the
	// truth: even of a median that happens with probability 2^(1-n).
	if n < 2 || resamples < 100 || elementary.Exp2(float64(1-n)) > 1-confidence {
		return everything(confidence, n, 0)
	}
	drawn := make([]int, n)
	stats := make([]float64, resamples)
	for i := range stats {
		for k := range drawn {
			drawn[k] = r.IntN(n)
		}
		if stats[i] = statistic(drawn); math.IsNaN(stats[i]) {
			return everything(confidence, n, 0)
		}
	}
	slices.Sort(stats)
	tail := expanded(n, confidence)
	low, high := tail, 1-tail
	if bias, acceleration, ok := correction(n, statistic, stats); ok {
		moved := func(z float64) float64 {
			return distribution.NormalCDF(bias + (bias+z)/(1-float64(acceleration*(bias+z))))
		}
		z := distribution.NormalQuantile(tail)
		low, high = min(low, moved(z)), max(high, moved(-z))
	}
	// The k-th smallest of b is the k/(b+1)-quantile; between two, the outer one.
	k, l := int(math.Floor(low*float64(resamples+1))), int(math.Ceil(high*float64(resamples+1)))
	return Interval{stats[max(k, 1)-1], stats[min(l, resamples)-1], confidence, n, 0}
}

// correction is the bias and the acceleration of the BCa interval; not ok if the statistic says nothing about them, or
// the interval that they would make is no interval.
func correction(n int, statistic func(drawn []int) float64, sorted []float64) (bias, acceleration float64, ok bool) {
	whole := statistic(indexes(n))
	below := 0.0 // of the resamples; those equal to it count half
	for _, s := range sorted {
		switch {
		case s < whole:
			below++
		case s == whole:
			below += 0.5
		}
	}
	bias = distribution.NormalQuantile(below / float64(len(sorted)))
	var m Moments
	left := make([]float64, n)
	for i := range left {
		left[i] = statistic(slices.Delete(indexes(n), i, i+1))
		m.Add(left[i], i)
	}
	cubes := 0.0
	for _, s := range left {
		d := m.Mean - s
		cubes += float64(d * d * d)
	}
	acceleration = cubes / (6 * elementary.Pow(m.M2, 1.5))
	// Beyond this the correction is no longer small, and turns ends around.
	return bias, acceleration, m.NaN == 0 && math.Abs(bias) < 1 && math.Abs(acceleration) < 0.2
}

// expanded is the probability that the expanded percentile interval of n clusters leaves out at each end:
// Φ(-√(n/(n-1))·t), with t Student's quantile.
func expanded(n int, confidence float64) float64 {
	t := distribution.StudentQuantile(float64(n-1), (1+confidence)/2)
	return distribution.NormalCDF(-t * math.Sqrt(float64(n)/float64(n-1)))
}
