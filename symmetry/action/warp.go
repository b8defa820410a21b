package action

import (
	"errors"
	"fmt"
	"math"
	"sync"

	"nero/internal/lanes"
	"nero/symmetry/group"
)

// maxPrecomputed is the largest output, in pixels, for which weights are stored per pixel. With the widest kernel that
// is at most 148 bytes a pixel, so a prepared element holds at most 148 KiB; of larger pictures it holds a table per
// row and column.
const maxPrecomputed = 1024

// maxReach bounds the coordinates that an element may ask for; below it a float64 still resolves a thousandth of a
// pixel.
const maxReach = 1 << 40

// affine is a planar group's map p -> A·p + t.
type affine struct {
	a [2][2]float64
	t [2]float64
}

// checkElement refuses what cannot be an element of gr.
func checkElement(gr group.Group, g group.Element) error {
	return finiteElement(gr, len(gr.Chart()), g)
}

// finiteElement is for callers that know the number n of coordinates: charts of large groups take time to make.
func finiteElement(gr group.Group, n int, g group.Element) error {
	if len(g) != n {
		return fmt.Errorf("element %v has %d coordinates, %s has %d", g, len(g), gr.Name(), n)
	}
	for _, v := range g {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("element %v of %s is not finite", g, gr.Name())
		}
	}
	return nil
}

// affineOf reads the map of g, after checking that g is an element at all.
func affineOf(p group.Planar, g group.Element) (affine, error) {
	if err := checkElement(p, g); err != nil {
		return affine{}, err
	}
	var m affine
	m.a, m.t = p.Affine(g)
	det := float64(m.a[0][0]*m.a[1][1]) - float64(m.a[0][1]*m.a[1][0])
	for _, v := range []float64{det, m.a[0][0], m.a[0][1], m.a[1][0], m.a[1][1], m.t[0], m.t[1]} {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return affine{}, fmt.Errorf("element %v of %s: the map is not finite", g, p.Name())
		}
	}
	if det == 0 {
		return affine{}, fmt.Errorf("element %v of %s: the map has no inverse", g, p.Name())
	}
	return m, nil
}

// permutes reports whether the linear part is a signed permutation, and whether it swaps the axes.
func (m affine) permutes() (swaps, ok bool) {
	unit := func(x float64) bool { return x == 1 || x == -1 }
	a := m.a
	if unit(a[0][0]) && unit(a[1][1]) && a[0][1] == 0 && a[1][0] == 0 {
		return false, true
	}
	return true, unit(a[0][1]) && unit(a[1][0]) && a[0][0] == 0 && a[1][1] == 0
}

// lattice reports whether the map sends the pixel grid of an h×w picture to itself, -1 standing for an unknown length.
func (m affine) lattice(h, w int) bool {
	swaps, ok := m.permutes()
	if !ok || swaps && (h != w || h < 0) {
		return false
	}
	return m.t[0] == math.Trunc(m.t[0]) && m.t[1] == math.Trunc(m.t[1])
}

// warp moves planes of hs×ws samples to planes of h×w samples: out(q) = in(A⁻¹(q-t)), all coordinates from the centres.
// It is immutable but for a pool of buffers, so it is safe for concurrent use.
type warp struct {
	kernel Kernel
	border Border
	// of what is written
	h, w int
	// of what is read
	hs, ws int

	// Column c, row r of the output is read at x = x0 + xc·c + xr·r, y = y0 + yc·c + yr·r.
	x0, xc, xr float64
	y0, yc, yr float64

	// Lattice elements: which sample goes where.
	index *lattice
	// Axis-parallel elements: taps per output row and column. off counts samples from the start of a plane.
	rows, cols *axis
	// Small pictures: taps per pixel.
	small *points

	// All others: which columns of a row read what, see spans.
	reach []reach

	scratch *buffers
}

// reach says of one row of the output: columns [o0,o1) reach the picture, [i0,i1) need no border rule.
type reach struct{ o0, o1, i0, i1 int32 }

// buffers lends memory to movers. It keeps what it gets back, so at most one buffer per concurrent Move exists.
type buffers struct {
	mu   sync.Mutex
	free []*[]float64
}

// take lends n floats with any content; give them back with put.
func (b *buffers) take(n int) *[]float64 {
	b.mu.Lock()
	var p *[]float64
	if k := len(b.free) - 1; k >= 0 {
		p, b.free = b.free[k], b.free[:k]
	}
	b.mu.Unlock()
	if p == nil {
		p = new([]float64)
	}
	if cap(*p) < n {
		*p = make([]float64, n)
	}
	*p = (*p)[:n]
	return p
}

func (b *buffers) put(p *[]float64) {
	b.mu.Lock()
	b.free = append(b.free, p)
	b.mu.Unlock()
}

// axis holds n taps for each row or column of the output.
type axis struct {
	off []int32
	wt  []float64
}

// points holds n taps per axis for each pixel that any sample reaches.
type points struct {
	// the first sample's number; -1: taken from off; -2: outside
	base []int32
	// for each pixel with base -1, the rows' starts, then the columns
	off    []int32
	wx, wy []float64
}

// corner is where a window of w samples begins on an axis of n: in the middle, rounded towards the beginning.
func corner(n, w int) int { return (n - w) / 2 }

// newWarp prepares a map for pictures of hs×ws pixels; window is nil or the size of the crop window that is returned.
func newWarp(m affine, o Options, hs, ws int, scratch *buffers) (*warp, error) {
	if hs < 1 || ws < 1 {
		return nil, fmt.Errorf("the picture has %d rows and %d columns", hs, ws)
	}
	if hs > math.MaxInt32/ws {
		return nil, fmt.Errorf("the picture has %d rows and %d columns: more than 2³¹ pixels", hs, ws)
	}
	w := &warp{kernel: o.Kernel, border: o.Border, h: hs, w: ws, hs: hs, ws: ws, scratch: scratch}
	oy, ox := 0, 0 // the window's corner under the identity
	if o.Window != nil {
		w.h, w.w = o.Window[0], o.Window[1]
		if w.h > hs || w.w > ws {
			return nil, fmt.Errorf("the window of %d×%d pixels (height×width) does not fit into the picture of %d×%d",
				w.h, w.w, hs, ws)
		}
		oy, ox = corner(hs, w.h), corner(ws, w.w)
	}
	if max(math.Abs(m.t[0]), math.Abs(m.t[1])) > maxReach {
		return nil, fmt.Errorf("the shift by (%g, %g) pixels is too far", m.t[0], m.t[1])
	}
	det := float64(m.a[0][0]*m.a[1][1]) - float64(m.a[0][1]*m.a[1][0])
	w.xc, w.xr = m.a[1][1]/det, -m.a[0][1]/det
	w.yc, w.yr = -m.a[1][0]/det, m.a[0][0]/det
	cx, cy := float64(w.w-1)/2, float64(w.h-1)/2
	w.x0 = float64(ox) + (cx - float64(w.xc*(cx+m.t[0])) - float64(w.xr*(cy+m.t[1])))
	w.y0 = float64(oy) + (cy - float64(w.yc*(cx+m.t[0])) - float64(w.yr*(cy+m.t[1])))
	if !o.Kernel.rule().never && m.lattice(w.h, w.w) {
		w.byIndex(m, oy, ox)
		return w, nil
	}
	reach := max(math.Abs(w.x0)+float64(math.Abs(w.xc)*float64(w.w))+float64(math.Abs(w.xr)*float64(w.h)),
		math.Abs(w.y0)+float64(math.Abs(w.yc)*float64(w.w))+float64(math.Abs(w.yr)*float64(w.h)))
	if !(reach <= maxReach) {
		return nil, errors.New("the element moves points too far apart to be followed")
	}
	switch {
	case w.kernel.rule().whole != nil || w.kernel == Nearest:
	case w.xr == 0 && w.yc == 0:
		w.cols = w.along(w.x0, w.xc, w.w, ws, 1)
		w.rows = w.along(w.y0, w.yr, w.h, hs, ws)
	case w.xc == 0 && w.yr == 0:
		w.rows = w.along(w.x0, w.xr, w.h, ws, 1)
		w.cols = w.along(w.y0, w.yc, w.w, hs, ws)
	case w.kernel.taps() > 2 && w.h*w.w <= maxPrecomputed:
		w.small = w.perPixel()
		return w, nil
	}
	if w.rows == nil {
		w.reach = w.spans()
	}
	return w, nil
}

// along tabulates the taps of n outputs that read one axis of limit samples at start + step·i.
func (w *warp) along(start, step float64, n, limit, stride int) *axis {
	t := w.kernel.taps()
	a := &axis{off: make([]int32, n*t), wt: make([]float64, n*t)}
	var idx [maxTaps]int32
	var wt [maxTaps]float64
	for i := range n {
		axisTaps(w.kernel, w.border, start+float64(step*float64(i)), limit, &idx, &wt)
		for j := range t {
			a.off[i*t+j] = idx[j] * int32(stride)
			a.wt[i*t+j] = wt[j]
		}
	}
	return a
}

// perPixel tabulates the taps of every output pixel.
func (w *warp) perPixel() *points {
	t, n := w.kernel.taps(), w.h*w.w
	p := &points{base: make([]int32, n), wx: make([]float64, n*t), wy: make([]float64, n*t)}
	var xi, yi [maxTaps]int32
	var wx, wy [maxTaps]float64
	for r, in := range w.spans() {
		bx, by, ax, ay := w.row(w.raster(), r)
		for c := range w.w {
			q := r*w.w + c
			if c < int(in.o0) || c >= int(in.o1) {
				p.base[q] = -2
				continue
			}
			axisTaps(w.kernel, w.border, step(bx, ax, c), w.ws, &xi, &wx)
			axisTaps(w.kernel, w.border, step(by, ay, c), w.hs, &yi, &wy)
			copy(p.wx[q*t:], wx[:t])
			copy(p.wy[q*t:], wy[:t])
			if c >= int(in.i0) && c < int(in.i1) {
				p.base[q] = yi[0]*int32(w.ws) + xi[0]
				continue
			}
			p.base[q] = -1
			for _, v := range yi[:t] {
				p.off = append(p.off, v*int32(w.ws))
			}
			p.off = append(p.off, xi[:t]...)
		}
	}
	return p
}

// raster is the grid on which the output is computed: that of its pixels, or a third as wide.
type raster struct {
	rows, cols int
	// row and column i lie at from + step·i
	from, step float64
}

func (w *warp) raster() raster {
	if w.kernel == Up3 {
		return raster{3*w.h + 2, 3*w.w + 2, -2. / 3, 1. / 3} // two more on each side for the filter that shrinks
	}
	return raster{w.h, w.w, 0, 1}
}

// row returns where row r of a raster starts to read and how far its columns step. A column i is read at step(b, a, i).
func (w *warp) row(g raster, r int) (bx, by, ax, ay float64) {
	y := step(g.from, g.step, r)
	bx = w.x0 + float64(w.xr*y) + float64(w.xc*g.from)
	by = w.y0 + float64(w.yr*y) + float64(w.yc*g.from)
	return bx, by, w.xc * g.step, w.yc * g.step
}

// step is b+a·i. The conversion forbids a fused multiply-add, which would make the result depend on the place in the
// code, and the bounds that spans finds must hold where the picture is read.
func step(b, a float64, i int) float64 { return b + float64(a*float64(i)) }

// spans splits the rows of a raster. The source coordinates are monotone in the column, also after rounding, so both
// sets are intervals.
func (w *warp) spans() []reach {
	half := float64(w.kernel.taps() / 2)
	lo, hi := half-1, half // all taps inside: lo <= s < n-hi
	m := half              // a tap inside: -m <= s < n-1+m
	switch w.kernel {
	case Nearest:
		lo, hi, m = -0.5, 0.5, 0.5
	case Spline:
		m += splineTail
	case Bilinear, Bicubic, Lanczos, Quintic, Area, Fourier, Up3:
	}
	g := w.raster()
	o := make([]reach, g.rows)
	for r := range o {
		bx, by, ax, ay := w.row(g, r)
		common := func(lo, hi float64) (int, int) { // columns with lo <= s < n-hi on both axes
			x0, x1 := span(bx, ax, lo, float64(w.ws)-hi, g.cols)
			y0, y1 := span(by, ay, lo, float64(w.hs)-hi, g.cols)
			return max(x0, y0), min(x1, y1)
		}
		o0, o1 := 0, g.cols
		if w.border == Zero {
			if o0, o1 = common(-m, 1-m); o0 >= o1 {
				continue
			}
		}
		i0, i1 := common(lo, hi)
		if i0, i1 = max(i0, o0), min(i1, o1); i0 >= i1 {
			i0, i1 = o0, o0
		}
		o[r] = reach{int32(o0), int32(o1), int32(i0), int32(i1)}
	}
	return o
}

// span is the interval of i in [0,n) with lo <= b+a·i < hi, in the arithmetic of float64; empty as (0, 0).
func span(b, a, lo, hi float64, n int) (int, int) {
	var i0, i1 int
	switch {
	case a > 0:
		i0 = first(b, a, lo, n, func(v float64) bool { return v >= lo })
		i1 = first(b, a, hi, n, func(v float64) bool { return v >= hi })
	case a < 0:
		i0 = first(b, a, hi, n, func(v float64) bool { return v < hi })
		i1 = first(b, a, lo, n, func(v float64) bool { return v < lo })
	case lo <= b && b < hi:
		i1 = n
	}
	if i0 >= i1 {
		return 0, 0
	}
	return i0, i1
}

// first is the smallest i in [0,n] with i == n or past(b+a·i), where past turns true once near b+a·i = v and stays
// true.
func first(b, a, v float64, n int, past func(float64) bool) int {
	i := int(math.Ceil(min(max((v-b)/a, 0), float64(n))))
	for i > 0 && past(step(b, a, i-1)) {
		i--
	}
	for i < n && !past(step(b, a, i)) {
		i++
	}
	return i
}

// planes writes n planes; plane k is the moved plane from[k], or plane k if from is nil.
func (w *warp) planes(dst, src []float64, n int, from []int) {
	if w.index != nil || w.kernel == Nearest {
		gather(w, dst, src, n, from, 0)
		return
	}
	if w.kernel == Spline {
		size := w.hs * w.ws
		b := w.scratch.take(n * size)
		defer w.scratch.put(b)
		copy(*b, src)
		for k := range n {
			prefilter(w.border, (*b)[k*size:(k+1)*size], w.hs, w.ws)
		}
		src = *b
	}
	switch whole := w.kernel.rule().whole; {
	case whole != nil:
		whole(w, dst, src, n, from)
	case w.rows != nil:
		w.separable(dst, src, n, from)
	case w.small != nil:
		w.stored(dst, src, n, from)
	case w.kernel == Bilinear:
		w.bilinear(dst, src, n, from)
	default:
		w.direct(dst, src, n, from)
	}
}

// source is plane k of src as planes sees it.
func (w *warp) source(src []float64, k int, from []int) []float64 {
	if from != nil {
		k = from[k]
	}
	size := w.hs * w.ws
	return src[k*size : (k+1)*size : (k+1)*size]
}

// gather moves by sample numbers: lattice elements, and the nearest kernel.
func gather[T any](w *warp, dst, src []T, n int, from []int, outside T) {
	size := w.hs * w.ws
	for k := range n {
		j := k
		if from != nil {
			j = from[k]
		}
		s, d := src[j*size:(j+1)*size], dst[k*w.h*w.w:(k+1)*w.h*w.w]
		if w.index != nil {
			moved(w, d, s, outside)
			continue
		}
		for r := range w.h {
			nearest(w, d[r*w.w:(r+1)*w.w], s, r, outside)
		}
	}
}

// nearest moves row r of a plane with the nearest kernel; halves round to the right and down.
func nearest[T any](w *warp, d, s []T, r int, outside T) {
	in := w.reach[r]
	bx, by, ax, ay := w.row(w.raster(), r)
	for c := range d {
		if c < int(in.o0) || c >= int(in.o1) {
			d[c] = outside
			continue
		}
		if c >= int(in.i0) && c < int(in.i1) {
			x, y := int(step(bx, ax, c)+0.5), int(step(by, ay, c)+0.5) // not below 0 here
			d[c] = s[min(y, w.hs-1)*w.ws+min(x, w.ws-1)]
			continue
		}
		x := w.border.index(int(math.Floor(step(bx, ax, c)+0.5)), w.ws)
		y := w.border.index(int(math.Floor(step(by, ay, c)+0.5)), w.hs)
		if x < 0 || y < 0 {
			d[c] = outside
			continue
		}
		d[c] = s[y*w.ws+x]
	}
}

// bilinear moves with the bilinear kernel, computing weights on the way.
func (w *warp) bilinear(dst, src []float64, n int, from []int) {
	for k := range n {
		s := w.source(src, k, from)
		for r := range w.h {
			w.bilinearRow(dst[(k*w.h+r)*w.w:][:w.w], s, w.raster(), r)
		}
	}
}

// bilinearRow writes one row of a raster.
func (w *warp) bilinearRow(d, s []float64, g raster, r int) {
	in := w.reach[r]
	bx, by, ax, ay := w.row(g, r)
	clear(d[:in.o0])
	clear(d[in.o1:])
	w.brim(d[in.o0:in.i0], s, int(in.o0), bx, ax, by, ay)
	line := lanes.Line{X: bx, StepX: ax, Y: by, StepY: ay, Stride: w.ws}
	line.Bilinear(d[in.i0:in.i1], s, int(in.i0))
	w.brim(d[in.i1:in.o1], s, int(in.i1), bx, ax, by, ay)
}

// brim writes columns first, first+1, ... of a row that are near or beyond the border: a sixth of a small picture.
func (w *warp) brim(d, s []float64, first int, bx, ax, by, ay float64) {
	if w.border != Zero {
		for i := range d {
			d[i] = w.bilinearAt(s, step(bx, ax, first+i), step(by, ay, first+i))
		}
		return
	}
	hs, ws := w.hs, w.ws
	for i := range d {
		x, y := step(bx, ax, first+i), step(by, ay, first+i)
		ix, iy := int(x), int(y)
		if float64(ix) > x { // below 0
			ix--
		}
		if float64(iy) > y {
			iy--
		}
		fx, fy := x-float64(ix), y-float64(iy)
		left, right := ix >= 0, ix+1 < ws
		var a, b, p, q float64 // 0 outside
		if at := iy*ws + ix; iy >= 0 {
			if left {
				a = s[at]
			}
			if right {
				b = s[at+1]
			}
		}
		if at := (iy+1)*ws + ix; iy+1 < hs {
			if left {
				p = s[at]
			}
			if right {
				q = s[at+1]
			}
		}
		top, bot := a+float64(fx*(b-a)), p+float64(fx*(q-p))
		d[i] = top + float64(fy*(bot-top))
	}
}

// bilinearAt reads a plane near or beyond the border.
func (w *warp) bilinearAt(s []float64, x, y float64) float64 {
	fx, fy := math.Floor(x), math.Floor(y)
	ix, iy := int(fx), int(fy)
	fx, fy = x-fx, y-fy
	x0, x1, y0, y1 := ix, ix+1, iy, iy+1
	if uint(ix) >= uint(w.ws-1) {
		x0, x1 = w.border.index(x0, w.ws), w.border.index(x1, w.ws)
	}
	if uint(iy) >= uint(w.hs-1) {
		y0, y1 = w.border.index(y0, w.hs), w.border.index(y1, w.hs)
	}
	var top, bot float64
	if y0 >= 0 {
		top = pair(s[y0*w.ws:], x0, x1, fx)
	}
	if y1 >= 0 {
		bot = pair(s[y1*w.ws:], x0, x1, fx)
	}
	return top + float64(fy*(bot-top))
}

// pair reads a row between samples i and j, of which a negative one is outside.
func pair(s []float64, i, j int, f float64) float64 {
	var a, b float64
	if i >= 0 {
		a = s[i]
	}
	if j >= 0 {
		b = s[j]
	}
	return a + float64(f*(b-a))
}

// weighted is Σ wy[i]·wx[j]·s[yo[i]+xo[j]].
func weighted(s []float64, yo, xo []int32, wy, wx []float64) float64 {
	var sum float64
	wy, wx = wy[:len(yo)], wx[:len(xo)]
	for i, y := range yo {
		var line float64
		for j, x := range xo {
			line += float64(wx[j] * s[y+x])
		}
		sum += float64(wy[i] * line)
	}
	return sum
}

// block is weighted for the samples that start at p, row by row.
func block(s []float64, p, stride int, wy, wx []float64) float64 {
	if len(wx) == 4 && len(wy) == 4 {
		a := s[p : p+4 : p+4]
		b := s[p+stride : p+stride+4 : p+stride+4]
		c := s[p+2*stride : p+2*stride+4 : p+2*stride+4]
		d := s[p+3*stride : p+3*stride+4 : p+3*stride+4]
		w0, w1, w2, w3 := wx[0], wx[1], wx[2], wx[3]
		return float64(wy[0]*(float64(w0*a[0])+float64(w1*a[1])+float64(w2*a[2])+float64(w3*a[3]))) +
			float64(wy[1]*(float64(w0*b[0])+float64(w1*b[1])+float64(w2*b[2])+float64(w3*b[3]))) +
			float64(wy[2]*(float64(w0*c[0])+float64(w1*c[1])+float64(w2*c[2])+float64(w3*c[3]))) +
			float64(wy[3]*(float64(w0*d[0])+float64(w1*d[1])+float64(w2*d[2])+float64(w3*d[3])))
	}
	var sum float64
	for _, u := range wy {
		var line float64
		for j, v := range s[p : p+len(wx)] {
			line += float64(wx[j] * v)
		}
		sum += float64(u * line)
		p += stride
	}
	return sum
}

// separable moves with taps per row and per column.
func (w *warp) separable(dst, src []float64, n int, from []int) {
	t := w.kernel.taps()
	for k := range n {
		s := w.source(src, k, from)
		d := dst[k*w.h*w.w:][:w.h*w.w]
		for r := range w.h {
			ro, rw := w.rows.off[r*t:(r+1)*t], w.rows.wt[r*t:(r+1)*t]
			for c := range w.w {
				d[r*w.w+c] = weighted(s, ro, w.cols.off[c*t:(c+1)*t], rw, w.cols.wt[c*t:(c+1)*t])
			}
		}
	}
}

// stored moves with taps per pixel.
func (w *warp) stored(dst, src []float64, n int, from []int) {
	t, p := w.kernel.taps(), w.small
	for k := range n {
		s := w.source(src, k, from)
		d := dst[k*w.h*w.w:][:w.h*w.w]
		off := p.off
		for q, base := range p.base {
			wx, wy := p.wx[q*t:(q+1)*t], p.wy[q*t:(q+1)*t]
			switch {
			case base >= 0:
				d[q] = block(s, int(base), w.ws, wy, wx)
			case base == -1:
				d[q] = weighted(s, off[:t], off[t:2*t], wy, wx)
				off = off[2*t:]
			default:
				d[q] = 0
			}
		}
	}
}

// direct moves with the wider kernels, computing weights once for all planes on the way.
func (w *warp) direct(dst, src []float64, n int, from []int) {
	var xi, yi [maxTaps]int32
	var wx, wy [maxTaps]float64
	t, weigh := w.kernel.taps(), w.kernel.rule().weigh
	lead := float64(t/2 - 1)
	for r, in := range w.reach {
		bx, by, ax, ay := w.row(w.raster(), r)
		for k := range n {
			d := dst[(k*w.h+r)*w.w:][:w.w]
			clear(d[:in.o0])
			clear(d[in.o1:])
		}
		for c := int(in.o0); c < int(in.o1); c++ {
			x, y := step(bx, ax, c), step(by, ay, c)
			if c >= int(in.i0) && c < int(in.i1) {
				ix, iy := int(x-lead), int(y-lead) // not negative here
				wx, wy = weigh(x-lead-float64(ix)), weigh(y-lead-float64(iy))
				p := iy*w.ws + ix
				for k := range n {
					dst[(k*w.h+r)*w.w+c] = block(w.source(src, k, from), p, w.ws, wy[:t], wx[:t])
				}
				continue
			}
			axisTaps(w.kernel, w.border, x, w.ws, &xi, &wx)
			axisTaps(w.kernel, w.border, y, w.hs, &yi, &wy)
			for j := range t {
				yi[j] *= int32(w.ws)
			}
			for k := range n {
				dst[(k*w.h+r)*w.w+c] = weighted(w.source(src, k, from), yi[:t], xi[:t], wy[:t], wx[:t])
			}
		}
	}
}

// enlarged moves a picture that was enlarged three times by bilinear interpolation, and shrinks the result back with a
// triangle filter three pixels wide: weights (1 2 3 2 1)/9 per axis, the anti-aliased bilinear reduction of imaging
// libraries.
//
// The enlarged picture is never made. Its pixels lie a third of a pixel apart and include the pixel centres, so inside
// each cell of the grid bilinear interpolation of it is bilinear interpolation of the picture itself; what remains to
// compute is the picture read at three positions per pixel and axis, and the filter. The border rule is applied to the
// picture.
func (w *warp) enlarged(dst, src []float64, n int, from []int) {
	g := w.raster()
	b := w.scratch.take(g.cols + 5*w.w)
	defer w.scratch.put(b)
	line, lines := (*b)[:g.cols], (*b)[g.cols:]
	for k := range n {
		s := w.source(src, k, from)
		next := 0 // the fine row that is computed next; the last five are kept, shrunk to the output's columns
		for r := range w.h {
			for ; next < 3*r+5; next++ {
				w.bilinearRow(line, s, g, next)
				l := lines[next%5*w.w:][:w.w]
				for c := range l {
					q := line[3*c : 3*c+5]
					l[c] = (q[0] + q[4] + 2*(q[1]+q[3]) + float64(3*q[2])) / 9
				}
			}
			row := func(j int) []float64 { return lines[(3*r+j)%5*w.w:][:w.w] }
			a0, a1, a2, a3, a4 := row(0), row(1), row(2), row(3), row(4)
			d := dst[(k*w.h+r)*w.w:][:w.w]
			for c := range d {
				d[c] = (a0[c] + a4[c] + 2*(a1[c]+a3[c]) + float64(3*a2[c])) / 9
			}
		}
	}
}
