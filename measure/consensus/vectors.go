package consensus

import (
	"math"
	"slices"

	"nero/data/space"
	"nero/internal/elementary"
)

// vectors keeps fields and takes, at every pixel, the vector median: the point whose summed distance from all vectors
// is least. It does not turn with the axes, unlike the median of each component.
type vectors struct {
	shape shape
	// by index
	kept []Answer
}

func (m *vectors) fits(v space.Value) error { return m.shape.fits(v) }

func (m *vectors) add(x Answer, _ []state) {
	i, _ := slices.BinarySearchFunc(m.kept, x.Index, func(a Answer, k int) int { return a.Index - k })
	m.kept = slices.Insert(m.kept, i, x)
}

func (m *vectors) result(_ []state, _ []float64, without int, _ space.Value, r *Result) {
	var fields [][]float64
	var weights []float64
	for _, x := range m.kept {
		if x.Index != without && x.Weight > 0 {
			fields, weights = append(fields, numbers(x.Value)), append(weights, x.Weight)
		}
	}
	if len(fields) == 0 {
		return
	}
	n := len(fields[0]) / 2
	out := make([]float64, 2*n)
	x, y := make([]float64, len(fields)), make([]float64, len(fields))
	for i := range n {
		for k, f := range fields {
			x[k], y[k] = f[i], f[n+i]
		}
		out[i], out[n+i] = middle(x, y, weights)
	}
	if v, err := m.shape.like.With(out); err == nil {
		r.Value, r.Spread = v, math.NaN()
	}
}

// middle is the weighted geometric median of points of a plane, by Weiszfeld's iteration in the form of Vardi and Zhang
// (PNAS 97, 2000), which does not stop at a point that it happens to meet, to 1e-9 of the spread. Of an even number of
// points on a line every place between the two in the middle is one; the iteration starts at the mean and ends where it
// gets.
func middle(x, y, w []float64) (float64, float64) {
	u, v, total := 0.0, 0.0, 0.0
	for i := range x {
		total += w[i]
		u += float64((x[i] - u) * (w[i] / total))
		v += float64((y[i] - v) * (w[i] / total))
	}
	spread := 0.0
	for i := range x {
		spread = max(spread, elementary.Hypot(x[i]-u, y[i]-v))
	}
	if spread == 0 {
		return x[0], y[0]
	}
	// A point among the others is the median if the pull of all others is less than its weight. If it is as much, as
	// between two points of one weight, it is one of many, and the mean is as good and favors none.
	for i := range x {
		px, py, own := pull(x, y, w, x[i], y[i])
		if elementary.Hypot(px, py) < own*(1-1e-9) {
			return x[i], y[i]
		}
	}
	for range 1000 {
		sx, sy, sum := 0.0, 0.0, 0.0
		for i := range x {
			d := elementary.Hypot(x[i]-u, y[i]-v)
			if d == 0 {
				continue
			}
			sx, sy, sum = sx+float64(w[i]/d*x[i]), sy+float64(w[i]/d*y[i]), sum+w[i]/d
		}
		px, py, own := pull(x, y, w, u, v)
		keep := 0.0 // of the place itself, if it is one of the points
		if p := elementary.Hypot(px, py); p > 0 {
			keep = min(1, own/p)
		}
		a, b := float64((1-keep)*(sx/sum))+float64(keep*u), float64((1-keep)*(sy/sum))+float64(keep*v)
		moved := elementary.Hypot(a-u, b-v)
		u, v = a, b
		if !(moved > 1e-10*spread) {
			break
		}
	}
	return u, v
}

// pull is the sum of weighted unit vectors from a place to the points, and the weight of the points at the place
// itself.
func pull(x, y, w []float64, u, v float64) (px, py, own float64) {
	for i := range x {
		d := elementary.Hypot(x[i]-u, y[i]-v)
		if d == 0 {
			own += w[i]
			continue
		}
		px += float64(w[i] * (x[i] - u) / d)
		py += float64(w[i] * (y[i] - v) / d)
	}
	return px, py, own
}
