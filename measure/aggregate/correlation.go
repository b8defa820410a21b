package aggregate

import (
	"cmp"
	"math"
	"slices"
)

// Correlation says how far two curves over the same elements rise and fall together, such as one sample's metric
// against the target and against the consensus.
type Correlation struct {
	// of the values, -1 to 1; NaN if either curve is constant or fewer than two pairs are there
	Pearson float64
	// of their ranks, equal values sharing the mean of theirs; NaN as above
	Spearman float64
	// elements at which both have a finite number
	N int
	// elements at which one has not: the numbers do not speak for them
	Missing int
}

// Correlate compares two curves. It panics if they differ in length.
func Correlate(a, b []float32) Correlation {
	if len(a) != len(b) {
		panic("aggregate: two curves differ in length")
	}
	var x, y []float64
	for i := range a {
		if d := float64(a[i]) + float64(b[i]); !math.IsNaN(d) && !math.IsInf(d, 0) {
			x, y = append(x, float64(a[i])), append(y, float64(b[i]))
		}
	}
	return Correlation{
		Pearson: pearson(x, y), Spearman: pearson(ranks(x), ranks(y)), N: len(x),
		Missing: len(a) - len(x),
	}
}

// Spearman is the correlation of the ranks of finite numbers, equal ones sharing the mean of theirs; NaN if either side
// is constant or fewer than two pairs are there. It panics if they differ in length.
func Spearman(x, y []float64) float64 {
	if len(x) != len(y) {
		panic("aggregate: two lists differ in length")
	}
	return pearson(ranks(x), ranks(y))
}

// pearson is the product-moment correlation of numbers; NaN if either side is constant.
func pearson(x, y []float64) float64 {
	if len(x) < 2 || slices.Min(x) == slices.Max(x) || slices.Min(y) == slices.Max(y) {
		return math.NaN()
	}
	mx, my := 0.0, 0.0
	for i := range x {
		mx, my = mx+x[i]/float64(len(x)), my+y[i]/float64(len(y))
	}
	xx, yy, xy := 0.0, 0.0, 0.0
	for i := range x {
		dx, dy := x[i]-mx, y[i]-my
		xx, yy, xy = xx+float64(dx*dx), yy+float64(dy*dy), xy+float64(dx*dy)
	}
	return min(max(xy/(math.Sqrt(xx)*math.Sqrt(yy)), -1), 1)
}

// ranks are the positions of numbers in their order, from 1; equal numbers have the mean of theirs.
func ranks(x []float64) []float64 {
	order := indexes(len(x))
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(x[i], x[j]) })
	out := make([]float64, len(x))
	for i := 0; i < len(order); {
		j := i
		for j < len(order) && x[order[j]] == x[order[i]] {
			j++
		}
		for _, k := range order[i:j] {
			out[k] = float64(i+j+1) / 2
		}
		i = j
	}
	return out
}
