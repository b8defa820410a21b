package action

import "math"

// area is the mean over the place of a pixel: an element moves the square of a pixel to a parallelogram of the picture
// that is read, in which every pixel of it is a square of one intensity. Constants are kept, and under motions that
// keep areas so is the sum of a picture that does not reach the border. Shrinking by a whole number is the mean of
// blocks. It has no taps along an axis, so that volumes and signals do not take it.
var area = interpolation{name: Area, taps: 2, whole: (*warp).areal, bare: (*warp).arealBare}

// sliver is the smallest share of a pixel that counts. What is below it is roundoff of the corners.
const sliver = 1e-12

// polygon is up to four corners of a parallelogram after four cuts.
type polygon struct {
	x, y [8]float64
	n    int
}

// cut keeps the part with sign·(coordinate - at) >= 0, of y if upright, else of x: Sutherland and Hodgman, Commun. ACM
// 17 (1974) 32.
func (p *polygon) cut(upright bool, at, sign float64) {
	var q polygon
	for i := range p.n {
		j := (i + 1) % p.n
		a, b := p.x[i], p.x[j]
		if upright {
			a, b = p.y[i], p.y[j]
		}
		a, b = float64(sign*(a-at)), float64(sign*(b-at))
		if a >= 0 {
			q.add(p.x[i], p.y[i])
		}
		if (a > 0) != (b > 0) && a != 0 && b != 0 {
			t := a / (a - b)
			q.add(p.x[i]+float64(t*(p.x[j]-p.x[i])), p.y[i]+float64(t*(p.y[j]-p.y[i])))
		}
	}
	*p = q
}

func (p *polygon) add(x, y float64) {
	if p.n < len(p.x) {
		p.x[p.n], p.y[p.n] = x, y
		p.n++
	}
}

// area is the area of the polygon.
func (p *polygon) area() float64 {
	sum := 0.0
	for i := range p.n { // about the first corner, so that the numbers are small
		j := (i + 1) % p.n
		sum += float64((p.x[i]-p.x[0])*(p.y[j]-p.y[0])) - float64((p.x[j]-p.x[0])*(p.y[i]-p.y[0]))
	}
	return math.Abs(sum) / 2
}

// overlap visits the pixels of the source that pixel (row r, column c) of the result covers, also those outside, each
// with its share. Shares sum to 1 up to roundoff and slivers.
func (w *warp) overlap(r, c int, visit func(row, col int, share float64)) {
	x := w.x0 + float64(w.xr*float64(r)) + float64(w.xc*float64(c))
	y := w.y0 + float64(w.yr*float64(r)) + float64(w.yc*float64(c))
	whole := polygon{n: 4}
	low, high := [2]float64{x, y}, [2]float64{x, y}
	for i, s := range [4][2]float64{{-0.5, -0.5}, {0.5, -0.5}, {0.5, 0.5}, {-0.5, 0.5}} {
		px, py := x+float64(s[0]*w.xc)+float64(s[1]*w.xr), y+float64(s[0]*w.yc)+float64(s[1]*w.yr)
		whole.x[i], whole.y[i] = px, py
		low[0], low[1] = min(low[0], px), min(low[1], py)
		high[0], high[1] = max(high[0], px), max(high[1], py)
	}
	all := whole.area()
	for row := int(math.Floor(low[1] + 0.5)); row <= int(math.Ceil(high[1]-0.5)); row++ {
		strip := whole
		strip.cut(true, float64(row)-0.5, 1)
		strip.cut(true, float64(row)+0.5, -1)
		if strip.n < 3 {
			continue
		}
		for col := int(math.Floor(low[0] + 0.5)); col <= int(math.Ceil(high[0]-0.5)); col++ {
			p := strip
			p.cut(false, float64(col)-0.5, 1)
			p.cut(false, float64(col)+0.5, -1)
			if share := p.area() / all; p.n >= 3 && share > sliver {
				visit(row, col, share)
			}
		}
	}
}

// areal writes n planes.
func (w *warp) areal(dst, src []float64, n int, from []int) {
	for r := range w.h {
		for c := range w.w {
			for k := range n {
				dst[(k*w.h+r)*w.w+c] = 0
			}
			total := 0.0
			w.overlap(r, c, func(row, col int, share float64) {
				total += share
				y, x := w.border.index(row, w.hs), w.border.index(col, w.ws)
				if y < 0 || x < 0 {
					return
				}
				for k := range n {
					dst[(k*w.h+r)*w.w+c] += float64(share * w.source(src, k, from)[y*w.ws+x])
				}
			})
			for k := range n {
				dst[(k*w.h+r)*w.w+c] /= total
			}
		}
	}
}

// arealBare counts the pixels of the result that cover what lies outside.
func (w *warp) arealBare() int {
	count := 0
	for r := range w.h {
		for c := range w.w {
			out := false
			w.overlap(r, c, func(row, col int, _ float64) {
				out = out || row < 0 || col < 0 || row >= w.hs || col >= w.ws
			})
			if out {
				count++
			}
		}
	}
	return count
}
