package twosample

import (
	"cmp"
	"math"
	"slices"

	"nero/internal/distribution"
)

// Confidence is that of all intervals of this package.
const Confidence = 0.95

// AUC is the probability that a classifier gives the moved one of two objects the higher score, ties counting half: 0.5
// is a coin, 1 a classifier that is always right. The interval is of objects.
type AUC struct {
	Value, Low, High float64
	// standard error
	SE float64
	// objects
	N int
}

// Undefined reports whether nothing could be told apart because nothing varies.
func (a AUC) Undefined() bool { return math.IsNaN(a.Value) }

// undefined is the AUC of numbers that are all the same.
func undefined(n int) AUC { return AUC{math.NaN(), 0, 1, math.NaN(), n} }

// scored are the scores that one classifier, which has seen none of them, gives to objects as they are and moved.
type scored struct{ still, moved []float64 }

// auc is the area of one classifier and what each object adds to it: the share of the others' scores that its two
// scores
// beat, less the area twice (DeLong, DeLong and Clarke-Pearson, Biometrics 44, 1988; for objects with several scores
// Obuchowski, Biometrics 53, 1997).
func (s scored) auc() (area float64, parts []float64) {
	n := len(s.still)
	all := make([]int, 2*n) // below n as they are, from n on moved
	for i := range all {
		all[i] = i
	}
	at := func(i int) float64 {
		if i < n {
			return s.still[i]
		}
		return s.moved[i-n]
	}
	slices.SortFunc(all, func(a, b int) int { return cmp.Compare(at(a), at(b)) })
	parts = make([]float64, n)
	still, moved := 0, 0 // so many are below
	for from := 0; from < 2*n; {
		to, ties := from, [2]int{}
		for ; to < 2*n && at(all[to]) == at(all[from]); to++ {
			ties[all[to]/n]++
		}
		for _, i := range all[from:to] {
			if i < n { // the moved ones that beat it
				parts[i] += (float64(n-moved-ties[1]) + float64(ties[1])/2) / float64(n)
			} else { // those as they are that it beats
				parts[i-n] += (float64(still) + float64(ties[0])/2) / float64(n)
			}
		}
		still, moved, from = still+ties[0], moved+ties[1], to
	}
	sum := 0.0
	for _, p := range parts {
		sum += p
	}
	area = sum / float64(2*n)
	for i := range parts {
		parts[i] -= 2 * area
	}
	return area, parts
}

// pool brings the areas of several classifiers together, each weighing as much as it has objects: scores of different
// classifiers are never compared with each other.
//
// The variance is twice the sum of those of the classifiers. They are no independent witnesses: where nothing is to be
// told, a classifier points to where its objects happen to lie, so what part k says of the classifier of the others is
// a
// sum over the other parts l of something that is the same for (k, l) and (l, k). Every term is in the area twice,
// which
// has twice the variance that it would have if they were different ones. Where there is a lot to be told the
// classifiers
// hardly depend on chance, and the interval is wider than it had to be.
func pool(folds []scored) AUC { return pooled(folds, 2) }

// pooled is the same with the factor of the variance; it is 1 where one classifier has learned from other objects.
func pooled(folds []scored, factor float64) AUC {
	n := 0
	for _, f := range folds {
		n += len(f.still)
	}
	out := AUC{N: n}
	variance := 0.0
	for _, f := range folds {
		m := len(f.still)
		area, parts := f.auc()
		w := float64(m) / float64(n)
		out.Value += float64(w * area)
		squares := 0.0
		for _, p := range parts {
			squares += float64(p * p)
		}
		variance += float64(w*w) * squares / float64(m*(m-1))
	}
	out.SE = math.Sqrt(factor * variance)
	z := distribution.NormalQuantile((1 + Confidence) / 2)
	out.Low, out.High = max(out.Value-float64(z*out.SE), 0), min(out.Value+float64(z*out.SE), 1)
	if out.SE == 0 { // no object was on the wrong side, which of so many leaves three in n possible
		most := min(3/float64(n), 1)
		out.Low, out.High = max(out.Value-most, 0), min(out.Value+most, 1)
	}
	return out
}
