package shelf

import (
	"math"

	"nero/run/slice"
)

// Likeness is how alike the curve of each sample and the mean curve of some samples are, over the elements of the orbit
// with the weights of the plan. Both lists have a value for every sample of the run, from −1 to 1, and NaN where a
// value is missing and where one of the two curves is level. The page ranks by the same
// (serve/web/src/core/distance.ts).
type Likeness struct {
	// Correlation is Pearson's coefficient, Similarity the universal image quality index of Wang and Bovik (2002): SSIM
	// without its constants, with the whole orbit as one window.
	Correlation, Similarity []float64
}

// Likeness compares the curves of a metric under a model with the mean curve of a set.
func (r *Run) Likeness(model, metric int, set slice.Bits) (*Likeness, error) {
	values, err := r.Curves(model, metric)
	if err != nil {
		return nil, err
	}
	mean, count := make([]float64, r.e), make([]float64, r.e)
	for i := range set.All() {
		for k, v := range values[i*r.e : (i+1)*r.e] {
			if v == v { //nolint:gocritic // no NaN
				mean[k], count[k] = mean[k]+float64(v), count[k]+1
			}
		}
	}
	for k := range mean {
		mean[k] /= count[k]
	}
	l := &Likeness{make([]float64, r.n), make([]float64, r.n)}
	for i := range r.n {
		l.Correlation[i], l.Similarity[i] = alike(values[i*r.e:(i+1)*r.e], mean, r.job.Weights)
	}
	return l, nil
}

// levelSpread is the part of its largest value by less than which a level curve varies: what is left is rounding.
const levelSpread = 1e-6

// alike is the correlation and the structural similarity of two curves. Elements at which the second has no value count
// for neither.
func alike(x []float32, y, weights []float64) (correlation, similarity float64) {
	none := math.NaN()
	weight := func(k int) float64 {
		if weights == nil {
			return 1
		}
		return weights[k]
	}
	n, w, mx, my := 0, 0.0, 0.0, 0.0
	loX, hiX, loY, hiY := math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for k, b := range y {
		if math.IsNaN(b) {
			continue
		}
		a, q := float64(x[k]), weight(k)
		if !finite(x[k]) || math.IsInf(b, 0) {
			return none, none
		}
		n++
		w, mx, my = w+q, mx+float64(q*a), my+float64(q*b)
		loX, hiX, loY, hiY = min(loX, a), max(hiX, a), min(loY, b), max(hiY, b)
	}
	level := func(lo, hi float64) bool { return hi-lo <= levelSpread*max(math.Abs(lo), math.Abs(hi)) }
	if n < 3 || !(w > 0) || level(loX, hiX) || level(loY, hiY) {
		return none, none
	}
	mx, my = mx/w, my/w
	xx, yy, xy := 0.0, 0.0, 0.0
	for k, b := range y {
		if math.IsNaN(b) {
			continue
		}
		a, b, q := float64(x[k])-mx, b-my, weight(k)
		xx, yy, xy = xx+float64(q*float64(a*a)), yy+float64(q*float64(b*b)), xy+float64(q*float64(a*b))
	}
	if !(xx > 0) || !(yy > 0) {
		return none, none
	}
	cut := func(v float64) float64 { return max(-1, min(1, v)) }
	correlation = cut(xy / math.Sqrt(float64(xx*yy)))
	xx, yy, xy = xx/w, yy/w, xy/w
	similarity = 2 * xy / (xx + yy)
	if place := float64(mx*mx) + float64(my*my); place > 0 {
		similarity *= 2 * float64(mx*my) / place
	}
	return correlation, cut(similarity)
}
