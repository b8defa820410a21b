// Package lanes does to four numbers at once what plain code does to one, to the same bits: what moves and feeds
// pictures spends its time in these few loops. Where the processor cannot, plain code does it.
package lanes

import (
	"math"

	"nero/internal/elementary"
)

// width is how many numbers go together.
const width = 4

// run is how many numbers are left to plain code where one of them has to be.
const run = 16

// Narrow rounds src to float32.
func Narrow(dst []float32, src []float64) {
	dst = dst[:len(src)]
	n := 0
	if wide() && len(src) >= width {
		n = len(src) - len(src)%width
		narrow(&dst[0], &src[0], n)
	}
	for i, v := range src[n:] {
		dst[n+i] = float32(v)
	}
}

// Widen is src in float64.
func Widen(dst []float64, src []float32) {
	dst = dst[:len(src)]
	n := 0
	if wide() && len(src) >= width {
		n = len(src) - len(src)%width
		widen(&dst[0], &src[0], n)
	}
	for i, v := range src[n:] {
		dst[n+i] = float64(v)
	}
}

// Weigh adds rows to dst, each times its weight, one row after the other: w[0]·x[0], w[1]·x[stride] and so on, as many
// numbers of each as dst has.
func Weigh(dst, x []float64, stride int, w []float64) {
	if len(dst) == 0 || len(w) == 0 {
		return
	}
	x = x[:(len(w)-1)*stride+len(dst)]
	n := 0
	if wide() && len(dst) >= width {
		n = len(dst) - len(dst)%width
		weigh(&dst[0], &x[0], &w[0], n, stride, len(w))
	}
	if n == len(dst) {
		return
	}
	for r, f := range w {
		row := x[r*stride+n:][:len(dst)-n]
		for i, v := range row {
			dst[n+i] += float64(f * v)
		}
	}
}

// Map is the map v·A + B with a bound on what it may be off: (|v·A| + |B|)·Slack.
type Map struct{ A, B, AbsB, Slack float64 }

// Rounded writes the map of src as float32 where all numbers within the bound round alike; it reports whether that is
// so everywhere, NaN apart. Where it is not, some of dst is wrong.
func (m Map) Rounded(dst []float32, src []float64) bool {
	dst = dst[:len(src)]
	n := len(src)
	if wide() && n >= width {
		some := n - n%width
		ok := rounded(&dst[0], &src[0], some, &m)
		if some < n { // the last ones once more, together with those before
			ok = rounded(&dst[n-width], &src[n-width], width, &m) && ok
		}
		return ok
	}
	for i, v := range src {
		t := float64(v * m.A)
		e := float64((math.Abs(t) + m.AbsB) * m.Slack)
		r := t + m.B
		lo, hi := float32(r-e), float32(r+e)
		if math.Float32bits(lo) != math.Float32bits(hi) || math.IsNaN(float64(lo)) {
			return false
		}
		dst[i] = lo
	}
	return true
}

// Line is a straight line over a plane of samples, Stride of which lie in a row: number c of it is read at column
// X + StepX·c and row Y + StepY·c.
type Line struct {
	X, StepX, Y, StepY float64
	Stride             int
}

// at is where number c is read.
func (l *Line) at(c int) (x, y float64) {
	return l.X + float64(l.StepX*float64(c)), l.Y + float64(l.StepY*float64(c))
}

// Bilinear writes numbers c, c+1, ... of a line, interpolated between four samples of s each. All of them have to lie
// in s, none of their coordinates may be negative, and s has fewer than 2³¹ samples.
func (l *Line) Bilinear(dst, s []float64, c int) {
	n := len(dst)
	if wide() && n >= width {
		// Coordinates are monotone, so that the first and the last sample are read at an end of each axis.
		x0, y0 := l.at(c)
		x1, y1 := l.at(c + n - 1)
		i0, i1, j0, j1 := int(x0), int(x1), int(y0), int(y1)
		_ = s[min(j0, j1)*l.Stride+min(i0, i1)]
		_ = s[(max(j0, j1)+1)*l.Stride+max(i0, i1)+1]
		some := n - n%width
		bilinear(&dst[0], &s[0], some, c, l)
		if some < n {
			bilinear(&dst[n-width], &s[0], width, c+n-width, l)
		}
		return
	}
	for i := range dst {
		x, y := l.at(c + i)
		ix, iy := int(x), int(y)
		fx, fy := x-float64(ix), y-float64(iy)
		p := iy*l.Stride + ix
		q := s[p : p+l.Stride+2]
		top := q[0] + float64(fx*(q[1]-q[0]))
		bot := q[l.Stride] + float64(fx*(q[l.Stride+1]-q[l.Stride]))
		dst[i] = top + float64(fy*(bot-top))
	}
}

// Lengths writes the lengths of the vectors with components x and y, as [elementary.Hypot] has them; dst is neither of
// the two.
func Lengths(dst, x, y []float64) {
	n := len(dst)
	x, y = x[:n], y[:n]
	for i := 0; i < n; i += run {
		end := min(i+run, n)
		done := i
		if some := (end - i) / width * width; wide() && some > 0 && lengths(&dst[i], &x[i], &y[i], some) {
			done = i + some
		}
		for k := done; k < end; k++ {
			dst[k] = elementary.Hypot(x[k], y[k])
		}
	}
}

// Angles writes the angles of the vectors with components x and y, as [elementary.Atan2] has them; dst is neither of
// the two. It is quick where all angles are from 0 to 33 degrees.
func Angles(dst, y, x []float64) {
	n := len(dst)
	x, y = x[:n], y[:n]
	for i := 0; i < n; i += run {
		end := min(i+run, n)
		done := i
		if some := (end - i) / width * width; wide() && some > 0 && arcs(&dst[i], &y[i], &x[i], some) {
			done = i + some
		}
		for k := done; k < end; k++ {
			dst[k] = elementary.Atan2(y[k], x[k])
		}
	}
}
