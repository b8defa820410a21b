package space

import (
	"cmp"
	"math"
	"slices"
)

// portraitSide is the side of a portrait in pixels.
const portraitSide = 64

// Sketched values are no pictures, and a small one shows what they are: points in space as they are seen along z, a
// signal as its trace. It is for lists of many; who looks at one value draws more.
type Sketched interface {
	Value
	// Sketch is a picture of one channel from 0 to 1, which shares no memory with the value; nil where there is
	// nothing to see.
	Sketch() *Image
}

// Portrait is a picture of a value for a list: the first of [Views], or its sketch from 0 to 1; nil where it has
// neither. Sketched reports that it is the latter.
func Portrait(v Value) (m *Image, sketched bool) {
	if m := View(v); m != nil {
		return m, false
	}
	if s, ok := v.(Sketched); ok {
		return s.Sketch(), true
	}
	return nil, false
}

// Sketch shows rows of places: x to the right, y up, near ones (larger z) brighter. Rows that nobody called positions
// are points if there are three numbers in each.
func (r *Rows) Sketch() *Image {
	if r.N == 0 || r.W != 3 || r.Type != "" && r.Type != "positions" {
		return nil
	}
	var lo, hi [3]float64
	for k := range 3 {
		lo[k], hi[k] = math.Inf(1), math.Inf(-1)
		for i := range r.N {
			v := r.Val[i*3+k]
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil
			}
			lo[k], hi[k] = min(lo[k], v), max(hi[k], v)
		}
	}
	wide := max(hi[0]-lo[0], hi[1]-lo[1], hi[2]-lo[2])
	if !(wide > 0) {
		wide = 1
	}
	order := make([]int, r.N) // what is near covers what is far
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(r.Val[a*3+2], r.Val[b*3+2]) })
	radius := min(max(2.2*math.Sqrt(40/float64(r.N)), 0.9), 5.0)
	m := NewImage(1, portraitSide, portraitSide)
	scale := (portraitSide - 2*radius - 2) / wide
	for _, i := range order {
		x := portraitSide/2 + float64((r.Val[i*3]-(lo[0]+hi[0])/2)*scale)
		y := portraitSide/2 - float64((r.Val[i*3+1]-(lo[1]+hi[1])/2)*scale)
		shade := 0.45 + float64(0.55*((r.Val[i*3+2]-lo[2])/max(hi[2]-lo[2], wide/100)))
		for v := max(0, int(y-radius)); v <= min(portraitSide-1, int(y+radius)); v++ {
			for u := max(0, int(x-radius)); u <= min(portraitSide-1, int(x+radius)); u++ {
				dx, dy := float64(u)+0.5-x, float64(v)+0.5-y
				if float64(dx*dx)+float64(dy*dy) <= float64(radius*radius) {
					m.Pix[v*portraitSide+u] = min(shade, 1)
				}
			}
		}
	}
	return m
}

// Sketch is the trace of the first channel, from its least to its largest number.
func (s *Signal) Sketch() *Image {
	if s.T < 2 || s.C < 1 {
		return nil
	}
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, v := range s.Val[:s.T] {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil
		}
		lo, hi = min(lo, v), max(hi, v)
	}
	if !(hi > lo) {
		hi = lo + 1
	}
	row := func(v float64) int {
		return 2 + int(float64((portraitSide-5)*(hi-v))/(hi-lo))
	}
	m := NewImage(1, portraitSide, portraitSide)
	for u := range portraitSide {
		from := u * (s.T - 1) / portraitSide
		to := max(from+1, (u+1)*(s.T-1)/portraitSide)
		top, bottom := portraitSide, 0
		for t := from; t <= min(to, s.T-1); t++ {
			top, bottom = min(top, row(s.Val[t])), max(bottom, row(s.Val[t]))
		}
		for v := top; v <= bottom; v++ {
			m.Pix[v*portraitSide+u] = 1
		}
	}
	return m
}

// Sketch is that of the first field that has one.
func (r *Record) Sketch() *Image {
	for _, f := range r.Values {
		if m, _ := Portrait(f); m != nil {
			return m
		}
	}
	return nil
}
