package metric

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"nero/data/space"
	"nero/internal/elementary"
)

// Confidence is the softmax probability of the true class.
var Confidence = &Metric{
	Name: "confidence", Normalized: true, Movable: true, Ref: Target, Better: Higher, Range: [2]float64{0, 1},
	Spaces: scores,
	Doc:    "probability that the model gives to the true class, p[label]",
	Measure: func(c Case) float64 {
		p, ok := labeled(c)
		if !ok || !normalized(c.Got) {
			return math.NaN()
		}
		return p[c.Label]
	},
}

// Accuracy is 1 where the most probable class is the true one.
var Accuracy = &Metric{
	Name: "accuracy", Binary: true, Movable: true, Ref: Target, Better: Higher, Range: [2]float64{0, 1}, Spaces: scores,
	Doc:  "1 if the most probable class is the true class, else 0; of equal scores the lowest class counts",
	Says: "is right on %s",
	Measure: func(c Case) float64 {
		p, ok := labeled(c)
		if !ok {
			return math.NaN()
		}
		return truth(Top(p) == c.Label)
	},
}

// CrossEntropy is the negative logarithm of the probability of the true class.
var CrossEntropy = &Metric{
	Name: "cross_entropy", Normalized: true, Movable: true, Ref: Target, Better: Lower,
	Range: [2]float64{0, math.Inf(1)}, Unit: "nat", Spaces: scores,
	Doc: "-ln p[label]; from logits by log-sum-exp, so it stays finite where p underflows",
	Measure: func(c Case) float64 {
		if _, ok := labeled(c); !ok || !normalized(c.Got) {
			return math.NaN()
		}
		l, ok := logProbabilities(c.Got)
		if !ok {
			return math.NaN()
		}
		return -l.at(c.Label)
	},
}

// Margin is the distance of the true class's probability from that of the best other class.
var Margin = &Metric{
	Name: "margin", Normalized: true, Movable: true, Ref: Target, Better: Higher, Range: [2]float64{-1, 1},
	Spaces: scores,
	Doc:    "p[label] - max over other classes of p: positive where the answer is right, 0 for a tie",
	Measure: func(c Case) float64 {
		p, ok := labeled(c)
		if !ok || !normalized(c.Got) {
			return math.NaN()
		}
		other := math.Inf(-1)
		for k, v := range p {
			if k != c.Label {
				other = max(other, v)
			}
		}
		if math.IsInf(other, -1) {
			return p[c.Label] // a single class has no rival
		}
		return p[c.Label] - other
	},
}

// TopK is 1 where the true class is among the k most probable. It panics if k < 1.
func TopK(k int) *Metric {
	if k < 1 {
		panic("metric: top-k needs k >= 1")
	}
	return &Metric{
		Title: fmt.Sprintf("right among the best %d", k),
		Name:  fmt.Sprintf("top%d", k), Binary: true, Movable: true, Ref: Target, Better: Higher,
		Range: [2]float64{0, 1}, Spaces: scores,
		Says: fmt.Sprintf("has the right class among its %d best on %%s", k),
		Doc: fmt.Sprintf("1 if fewer than %d classes are more probable than the true class (ties count for lower "+
			"classes), else 0", k),
		Measure: func(c Case) float64 {
			p, ok := labeled(c)
			if !ok {
				return math.NaN()
			}
			before := 0
			for j, v := range p {
				if v > p[c.Label] || v == p[c.Label] && j < c.Label {
					before++
				}
			}
			return truth(before < k)
		},
	}
}

// KL is the Kullback-Leibler divergence of the prediction at g from that at the identity. Every class adds p ln(p/q) -
// p + q, which is never negative and sums to the divergence where p and q sum to 1: probabilities that a model has
// rounded do not, and plain p ln(p/q) would then be below 0 for predictions that are nearly equal.
var KL = &Metric{
	Title: "KL divergence from the unmoved answer",
	Name:  "kl", Normalized: true, Ref: Self, Better: Lower, Range: [2]float64{0, math.Inf(1)}, Unit: "nat",
	Spaces: scores,
	Doc: "sum over classes of p ln(p/q) - p + q, p the prediction at the identity, q at g; from logits by " +
		"log-sum-exp",
	Measure: func(c Case) float64 {
		want, one := logProbabilities(c.Want)
		got, two := logProbabilities(c.Got)
		if !one || !two || len(want.of.Val) != len(got.of.Val) {
			return math.NaN()
		}
		d := 0.0
		for k := range want.of.Val {
			lp, lq := want.at(k), got.at(k)
			p, q := elementary.Exp(lp), elementary.Exp(lq)
			if p != 0 { // 0 ln 0 = 0; NaN != 0, so it is not skipped
				d += float64(p * (lp - lq))
			}
			d += q - p
		}
		if d < 0 {
			return 0 // equal distributions, rounded
		}
		return d
	},
}

// Agreement is 1 where the predicted class is that at the identity.
var Agreement = &Metric{
	Title: "same class as unmoved",
	Name:  "agreement", Binary: true, Ref: Self, Better: Higher, Range: [2]float64{0, 1}, Spaces: scores,
	Doc: "1 if the most probable class is the same as at the identity, else 0; rises with accuracy, so read it " +
		"beside it",
	Says:    "keeps its class on %s",
	Measure: func(c Case) float64 { return same(c.Got, c.Want) },
}

// Flip is 1 where the predicted class differs from that at the neighboring element of the plan.
var Flip = &Metric{
	Title: "class flips along the orbit",
	Name:  "flip", Binary: true, Ref: Self, Better: Lower, Range: [2]float64{0, 1}, Spaces: scores,
	Doc: "1 if the most probable class differs from that at the preceding element of the plan (the last one for " +
		"the first), else 0",
	Steps:   true,
	Measure: func(c Case) float64 { return 1 - same(c.Got, c.Prev) },
}

// EffectiveInvariance is how sure the model is of a class that it keeps.
var EffectiveInvariance = &Metric{
	Name: "effective_invariance", Normalized: true, Ref: Self, Better: Higher, Range: [2]float64{0, 1}, Spaces: scores,
	Doc: "√(p·q) with p and q the probabilities of the predicted class at the identity and at g if the class is " +
		"the same, " +
		"else 0 (Deng, Gould and Zheng 2022); of equal scores the lowest class counts",
	Measure: func(c Case) float64 {
		x, y, ok := space.Both[*space.Scores](c.Got, c.Want)
		if !ok || len(x.Val) != len(y.Val) || !x.Probabilities || !y.Probabilities {
			return math.NaN()
		}
		i, j := Top(x.Val), Top(y.Val)
		switch {
		case i < 0 || j < 0:
			return math.NaN()
		case i != j:
			return 0
		}
		return math.Sqrt(float64(x.Val[i] * y.Val[j]))
	},
}

// ofScores tells evidence of scores, which never counts pixels, from that of masks.
func ofScores(e []Evidence) bool {
	return len(e) > 0 && !slices.ContainsFunc(e, func(x Evidence) bool { return x.Pixels != nil })
}

// ClassAccuracy is the mean over classes of the share that is right, so that rare classes count as much as others.
var ClassAccuracy = classAccuracy()

func classAccuracy() *Metric {
	m := ofPixels(Metric{
		Name: "class_accuracy",
		Doc: "mean over classes of the share that has its class: of scores of the samples of each class (balanced " +
			"accuracy, Brodersen et al. 2010; of one sample 1 or 0), of masks of the pixels of each class in the " +
			"truth, " +
			"summed over samples first (mean accuracy of Long et al. 2015)",
	}, -1, func(ts tallies) float64 { return ts.mean(tally.recall) })
	ofMasks, pooled, sorted := m.Measure, m.Pooled, m.sorted
	m.Spaces = slices.Concat(scores, masks)
	m.Measure = func(c Case) float64 {
		if _, ok := scoresOf(c.Got); ok {
			return Accuracy.Measure(c)
		}
		return ofMasks(c)
	}
	m.Pooled = func(e []Evidence) float64 {
		if ofScores(e) {
			return perClass(e)
		}
		return pooled(e)
	}
	m.sorted = func(e []Evidence) func(count []int) float64 {
		if ofScores(e) {
			return func(count []int) float64 {
				var drawn []Evidence
				for i, n := range count {
					for range n {
						drawn = append(drawn, e[i])
					}
				}
				return perClass(drawn)
			}
		}
		return sorted(e)
	}
	return m
}

// perClass is the mean over the labels that there are of the mean value of the samples with it.
func perClass(e []Evidence) float64 {
	sum, n := map[int]float64{}, map[int]int{}
	for _, x := range e {
		sum[x.Label] += x.Value // NaN stays
		n[x.Label]++
	}
	mean := 0.0
	for _, l := range slices.Sorted(maps.Keys(n)) {
		mean += sum[l] / float64(n[l])
	}
	return mean / float64(len(n))
}

// classification lists the metrics of scores: first those that need labels, then those that compare a model with
// itself.
func classification() []*Metric {
	return []*Metric{
		Confidence, Accuracy, ClassAccuracy, WorstOf(Accuracy), CrossEntropy, Margin, TopK(2), TopK(3), TopK(5), KL,
		Agreement, EffectiveInvariance, Flip,
	}
}

// parseTopK reads "top7".
func parseTopK(name string) (*Metric, bool) {
	digits, ok := strings.CutPrefix(name, "top")
	if !ok {
		return nil, false
	}
	k, err := strconv.Atoi(digits)
	if err != nil || k < 1 || k > 1000 || strconv.Itoa(k) != digits {
		return nil, false
	}
	return TopK(k), true
}

// Top is the index of the largest score, the lowest of equal ones; -1 if there is none or one of them is NaN.
func Top(p []float64) int {
	best := -1
	for k, v := range p {
		if math.IsNaN(v) {
			return -1
		}
		if best < 0 || v > p[best] {
			best = k
		}
	}
	return best
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// labeled returns the scores if they can be compared with the label.
func labeled(c Case) ([]float64, bool) {
	s, ok := scoresOf(c.Got)
	if !ok || c.Label < 0 || c.Label >= len(s.Val) || Top(s.Val) < 0 {
		return nil, false
	}
	return s.Val, true
}

// same is 1 where two predictions of as many classes have the same top class.
func same(a, b space.Value) float64 {
	x, y, ok := space.Both[*space.Scores](a, b)
	if !ok || len(x.Val) != len(y.Val) {
		return math.NaN()
	}
	i, j := Top(x.Val), Top(y.Val)
	if i < 0 || j < 0 {
		return math.NaN()
	}
	return truth(i == j)
}

// normalized reports whether v holds probabilities.
func normalized(v space.Value) bool {
	s, ok := scoresOf(v)
	return ok && s.Probabilities
}

// scoresOf is v as scores.
func scoresOf(v space.Value) (*space.Scores, bool) {
	s, ok := v.(*space.Scores)
	return s, ok && s != nil
}

// logs are the logarithms of the probabilities of scores, each computed when it is asked for.
type logs struct {
	of *space.Scores
	// of logits: the largest, and the logarithm of the sum of exponentials below it
	top, sum float64
}

// logProbabilities are ln p; false if v has no probabilities.
func logProbabilities(v space.Value) (logs, bool) {
	s, ok := scoresOf(v)
	if !ok || !s.Probabilities {
		return logs{}, false
	}
	l := logs{of: s, top: math.Inf(-1)}
	for _, r := range s.Raw {
		l.top = max(l.top, r)
	}
	for _, r := range s.Raw {
		l.sum += elementary.Exp(r - l.top)
	}
	l.sum = elementary.Log(l.sum)
	return l, true
}

// at is that of a class.
func (l logs) at(k int) float64 {
	if l.of.Raw == nil {
		return elementary.Log(l.of.Val[k])
	}
	return l.of.Raw[k] - l.top - l.sum
}
