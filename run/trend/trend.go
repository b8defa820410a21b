// Package trend says of numbers that come release after release whether they become worse, with errors that one may
// trust however often one looks. It knows objects and numbers, neither models nor files.
//
// There are two kinds of evidence, and they are never mixed. Where the same objects are asked each time, nothing is
// sampled again: a release is compared with a reference in pairs ([Against]), at a level of its own ([Level]), so that
// all looks together keep the one that was asked for. Where the objects are new each time, they are evidence that adds
// up ([Stream]).
package trend

import (
	"math"
	"math/rand/v2"
	"slices"

	"nero/measure/aggregate"
)

// Level is the share of a level that the k-th question gets, from 1: 6/(π²k²) of it, which is all of it together.
func Level(alpha float64, k int) float64 { return alpha * weight(k) }

// weight is 6/(π²k²).
func weight(k int) float64 { return 6 / (math.Pi * math.Pi * float64(k) * float64(k)) }

// State is what is said of a release, and of a series.
type State string

// The states. OK is shown, not assumed: that nothing speaks for a change is Open.
const (
	OK       State = "ok"       // it is shown to be no worse than allowed
	Alarm    State = "alarm"    // it is shown to be worse than allowed
	Improved State = "improved" // it is shown to be better
	Open     State = "open"     // neither is shown
	// Incomparable: it cannot be asked, for a reason that stands beside it.
	Incomparable State = "incomparable"
)

// Pair is a comparison of a release with the reference.
type Pair struct {
	// means over the objects that have a finite number both times, NaN without any
	Before, After float64
	// of the mean of after - before, at the level of the comparison
	Change aggregate.Interval
	// places of the objects that had a finite number and have none now
	Lost  []int
	State State
	// Few says that the objects with a number both times are fewer than [LeastObjects], and show nothing for that.
	Few bool
}

// LeastObjects is the fewest objects whose changes say something of others. Of two objects both change alike by chance
// in a quarter of all cases where half of all become worse and half as much better, and their spread is nothing; of six
// in one of 64.
const LeastObjects = 6

// Question is how a release is compared with the reference.
type Question struct {
	// Higher says that larger numbers are better.
	Higher bool
	// Allow is the relative change for the worse that is none yet.
	Allow float64
	// Level is the probability that a release that is no worse than allowed is called worse, and that one which is
	// the same is called better.
	Level float64
}

// tails are how far a bootstrap is trusted: the confidence whose ends so many resamples still know.
type tails struct {
	resamples int
	reach     float64
}

// What is said at all takes 1,000 resamples, five of them beyond each end; an alarm has to stand 4,000, four of them
// beyond.
func rough() tails { return tails{1000, 0.99} }
func fine() tails  { return tails{4000, 0.998} }

// Against compares the numbers of a release with those of the reference, both in the order of the same objects. An
// object that had a finite number and has none now is an alarm: it is no better than the worst. All comparisons of a
// series may share what makes the intervals.
func Against(before, after []float64, q Question, by *aggregate.Intervals) Pair {
	var p Pair
	var a, b []float64
	for i, x := range before {
		switch y := after[i]; {
		case math.IsNaN(x) || math.IsInf(x, 0):
		case math.IsNaN(y) || math.IsInf(y, 0):
			p.Lost = append(p.Lost, i)
		default:
			a, b = append(a, x), append(b, y)
		}
	}
	change, loss := make([]float64, len(a)), make([]float64, len(a))
	for i := range a {
		change[i] = b[i] - a[i]
		worse := change[i]
		if q.Higher {
			worse = -worse
		}
		loss[i] = worse - float64(q.Allow*math.Abs(a[i]))
	}
	p.Before, p.After = mean(a), mean(b)
	p.Change = interval(change, q.Level, rough(), by)
	p.Change.Missing = len(p.Lost)
	beyond := interval(loss, q.Level, rough(), by)
	if beyond.Low > 0 {
		beyond = interval(loss, q.Level, fine(), by)
	}
	better := p.Change.High < 0
	if q.Higher {
		better = p.Change.Low > 0
	}
	same := len(a) > 0 && !slices.ContainsFunc(change, func(d float64) bool { return d != 0 })
	p.Few = len(a) > 0 && len(a) < LeastObjects && !same
	switch {
	case p.Few && len(p.Lost) == 0:
		p.State = Open
	case len(p.Lost) > 0, beyond.Low > 0:
		p.State = Alarm
	case better:
		p.State = Improved
	case same, len(a) > 0 && beyond.High <= 0:
		p.State = OK
	default:
		p.State = Open
	}
	return p
}

func mean(x []float64) float64 {
	m := moments(x)
	if m.N == 0 {
		return math.NaN()
	}
	return m.Mean
}

func moments(x []float64) (m aggregate.Moments) {
	for i, v := range x {
		m.Add(v, i)
	}
	return m
}

// interval is that of the mean at a level, both sides together: Student's, widened to hold the bootstrap-t interval.
// At levels whose tails no number of resamples reaches, Student's ends move out by the factor by which those of the
// bootstrap do at the last tails that are reached: skewness goes on as it begins. Where Student's interval leaves the
// sign open no wider one decides it, and nothing is drawn.
func interval(x []float64, level float64, of tails, by *aggregate.Intervals) aggregate.Interval {
	m := moments(x)
	out := by.Mean(m, 1-level)
	if !(out.Low > 0) && !(out.High < 0) || m.M2 == 0 {
		return out
	}
	at := min(1-level, of.reach)
	plain := by.Mean(m, at)
	wide := by.StudentBootstrap(x, of.resamples, at)
	out.Low = m.Mean - float64((m.Mean-out.Low)*((m.Mean-wide.Low)/(m.Mean-plain.Low)))
	out.High = m.Mean + float64((out.High-m.Mean)*((wide.High-m.Mean)/(plain.High-m.Mean)))
	return out
}

// mostReleases is how many releases a slope is taken of: of more, that many at equal distances, the last among them.
const mostReleases = 64

// Slope is by how much numbers of the same objects change per release: the median of the slopes between all pairs of
// releases (Theil 1950, Sen 1968) of the means over the objects that have a number in every release, with an interval
// over objects (bootstrap, 200 draws). It is a description and no test: one may not look at it again and again. NaN
// with fewer than three releases or no such object.
func Slope(releases [][]float64, confidence float64, r *rand.Rand) (slope float64, i aggregate.Interval) {
	at := thinned(len(releases))
	var objects []int
	if len(at) >= 3 {
		for o := range releases[0] {
			if !slices.ContainsFunc(at, func(k int) bool { return math.IsNaN(releases[k][o]) }) {
				objects = append(objects, o)
			}
		}
	}
	if len(objects) == 0 {
		return math.NaN(), aggregate.Interval{
			Low: math.Inf(-1), High: math.Inf(1), Confidence: confidence,
		}
	}
	means, slopes := make([]float64, len(at)), make([]float64, 0, len(at)*(len(at)-1)/2)
	const draws = 200
	return aggregate.Resample(len(objects), func(count []int) float64 {
		n := 0
		clear(means)
		for o, c := range count {
			if n += c; c == 0 {
				continue
			}
			for k, release := range at {
				means[k] += float64(float64(c) * releases[release][objects[o]])
			}
		}
		slopes = slopes[:0]
		for k := range at {
			for l := range k {
				slopes = append(slopes, (means[k]-means[l])/float64(at[k]-at[l]))
			}
		}
		slices.Sort(slopes)
		h := len(slopes) / 2
		if len(slopes)%2 == 1 {
			return slopes[h] / float64(n)
		}
		return (slopes[h-1] + slopes[h]) / 2 / float64(n)
	}, draws, confidence, r)
}

// thinned are the releases that a slope is taken of.
func thinned(n int) []int {
	var at []int
	for k := range min(n, mostReleases) {
		at = append(at, n-1-k*n/min(n, mostReleases))
	}
	slices.Reverse(at)
	return at
}
