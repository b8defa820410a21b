package trend

import (
	"math"
	"math/rand/v2"
	"slices"

	"nero/internal/distribution"
	"nero/internal/elementary"
	"nero/measure/aggregate"
)

// leastCourse is how many releases a course is taken of: of fewer no order says anything.
const leastCourse = 4

// Course is Spearman's rank correlation between the order of releases and the means over the objects that have a number
// in every one, with an interval: -1 where an error falls from each release to the next, 1 where it grows. NaN with
// fewer than four releases, with no such object, or where the means are all the same.
//
// The interval is wide enough for both that are drawn: objects, by the bootstrap with 200 draws, and releases, by
// Fisher's transform with the variance (1 + ρ²/2)/(n - 3) of Bonett and Wright (Psychometrika 65, 2000). A perfect
// order has no finite transform, and takes that of the next best order of n releases, 1 - 12/(n(n² - 1)).
// Like a slope it describes a training, and is no test that may be repeated.
func Course(releases [][]float64, confidence float64, r *rand.Rand) (rho float64, i aggregate.Interval) {
	n := len(releases)
	i = aggregate.Interval{Low: math.Inf(-1), High: math.Inf(1), Confidence: confidence}
	if n < leastCourse {
		return math.NaN(), i
	}
	objects := everywhere(releases)
	if len(objects) == 0 {
		return math.NaN(), i
	}
	order, means := make([]float64, n), make([]float64, n)
	for k := range order {
		order[k] = float64(k)
	}
	const draws = 200
	rho, i = aggregate.Resample(len(objects), func(count []int) float64 {
		clear(means)
		for o, c := range count {
			if c == 0 {
				continue
			}
			for k := range releases {
				means[k] += float64(float64(c) * releases[k][objects[o]])
			}
		}
		return aggregate.Spearman(order, means)
	}, draws, confidence, r)
	if math.IsNaN(rho) {
		return rho, i
	}
	low, high := ofReleases(rho, n, confidence)
	i.Low, i.High = max(min(i.Low, low), -1), min(max(i.High, high), 1)
	return rho, i
}

// ofReleases is the interval of a rank correlation of n releases.
func ofReleases(rho float64, n int, confidence float64) (low, high float64) {
	m := float64(n)
	most := 1 - 12/(m*(float64(m*m)-1))
	at := max(min(rho, most), -most)
	z := float64(distribution.NormalQuantile((1+confidence)/2) * math.Sqrt((1+float64(float64(at*at)/2))/(m-3)))
	center := elementary.Atanh(at)
	low, high = elementary.Tanh(center-z), elementary.Tanh(center+z)
	return min(low, rho), max(high, rho)
}

// everywhere are the objects that have a finite number in every release.
func everywhere(releases [][]float64) []int {
	var out []int
	for o := range releases[0] {
		if !slices.ContainsFunc(releases, func(of []float64) bool {
			return math.IsNaN(of[o]) || math.IsInf(of[o], 0)
		}) {
			out = append(out, o)
		}
	}
	return out
}
