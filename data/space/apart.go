package space

import (
	"math"

	"nero/internal/elementary"
)

// ErrorMap is how far a field is from another by place: the end-point error, the length of the difference of the
// vectors, as means over blocks.
type ErrorMap struct {
	H, W int
	// row by row; NaN where no difference is finite
	Val []float32
	// over all places whose difference is finite, NaN if there is none
	Mean float64
}

// Errors compares two fields. Blocks are so large that neither side of the map has more than most numbers. It is nil
// where there are no two fields of one size.
func Errors(got, want Value, most int) *ErrorMap {
	a, ok := got.(*Field)
	b, both := want.(*Field)
	if !ok || !both || a.H != b.H || a.W != b.W {
		return nil
	}
	return a.errors(b, most)
}

func (f *Field) errors(want *Field, most int) *ErrorMap {
	h, w := f.H, f.W
	side := max(1, (max(h, w)+most-1)/most)
	m := &ErrorMap{H: (h + side - 1) / side, W: (w + side - 1) / side, Mean: math.NaN()}
	m.Val = make([]float32, m.H*m.W)
	sums, counts := make([]float64, len(m.Val)), make([]int, len(m.Val))
	total, n := 0.0, 0
	u, v, s, t := f.U(), f.V(), want.U(), want.V()
	for y := range h {
		for x := range w {
			i := y*w + x
			d := elementary.Hypot(u[i]-s[i], v[i]-t[i])
			if math.IsNaN(d) || math.IsInf(d, 0) {
				continue
			}
			at := y/side*m.W + x/side
			sums[at] += d
			counts[at]++
			total += d
			n++
		}
	}
	for at := range m.Val {
		m.Val[at] = float32(sums[at] / float64(counts[at])) // NaN of none
	}
	if n > 0 {
		m.Mean = total / float64(n)
	}
	return m
}
