package action

// lattice is how an element that moves samples by index reads them: which line of the source gives which row of the
// result, and which sample of that line which column. It holds a few numbers, whatever the size of the picture, and a
// row is copied in pieces.
type lattice struct {
	// lines are columns of the source
	swaps bool
	// Row r of the result reads line row.index(r); a number out of range is the border rule's.
	row ruler
	// of every row
	parts []run
	// pixels of the result that lie outside the picture
	bare int
}

// ruler numbers the samples that an axis is read at: from, from+step, ..., with step 1 or -1.
type ruler struct {
	from, step int
	// samples of the axis that is read
	limit int
}

// inside counts the first n samples that exist.
func (u ruler) inside(n int) int {
	lo, hi := -u.from, u.limit-u.from
	if u.step < 0 {
		lo, hi = u.from-u.limit+1, u.from+1
	}
	return max(min(hi, n)-max(lo, 0), 0)
}

// run is columns [from, to) of the result, which read samples src, src+step, ... of a line; -1 for outside.
type run struct {
	from, to, src, step int32
}

// byIndex plans a lattice element, in whole numbers throughout.
func (w *warp) byIndex(m affine, oy, ox int) {
	along := func(sign float64, t float64, corner, n, limit int) ruler {
		if sign < 0 {
			return ruler{corner + n - 1 + int(t), -1, limit}
		}
		return ruler{corner - int(t), 1, limit}
	}
	l := &lattice{}
	var col ruler
	if l.swaps, _ = m.permutes(); l.swaps {
		// x' = a01·y + tx, so the column read follows from the row written: x = a10·(y' - ty), y = a01·(x' - tx).
		l.row = along(m.a[1][0], m.t[1], ox, w.h, w.ws)
		col = along(m.a[0][1], m.t[0], oy, w.w, w.hs)
	} else {
		l.row = along(m.a[1][1], m.t[1], oy, w.h, w.hs)
		col = along(m.a[0][0], m.t[0], ox, w.w, w.ws)
	}
	l.parts = w.border.runs(col, w.w)
	l.bare = w.h*w.w - l.row.inside(w.h)*col.inside(w.w)
	w.index = l
}

// runs cuts n columns into pieces that read their samples in steps of 1, -1 or 0.
func (b Border) runs(u ruler, n int) []run {
	var out []run
	for i := 0; i < n; {
		at := func(i int) int32 { return int32(b.index(u.from+u.step*i, u.limit)) }
		r := run{from: int32(i), src: at(i)}
		if i++; i < n && r.src >= 0 {
			if d := at(i) - r.src; d >= -1 && d <= 1 && at(i) >= 0 {
				r.step = d
			}
		}
		for ; i < n; i++ {
			k := at(i)
			if (k < 0) != (r.src < 0) || k >= 0 && k != r.src+r.step*(int32(i)-r.from) {
				break
			}
		}
		r.to = int32(i)
		out = append(out, r)
	}
	return out
}

// moved writes one plane of the result from one of the source.
func moved[T any](w *warp, d, s []T, outside T) {
	l := w.index
	stride := 1
	if l.swaps {
		stride = w.ws
	}
	for r := range w.h {
		row := d[r*w.w : (r+1)*w.w]
		line := w.border.index(l.row.from+l.row.step*r, l.row.limit)
		if line < 0 {
			fill(row, outside)
			continue
		}
		if !l.swaps {
			line *= w.ws
		}
		for _, p := range l.parts {
			to := row[p.from:p.to]
			switch at := line + int(p.src)*stride; {
			case p.src < 0:
				fill(to, outside)
			case p.step == 0:
				fill(to, s[at])
			case p.step == 1 && stride == 1:
				copy(to, s[at:at+len(to)])
			default:
				by := int(p.step) * stride
				for c := range to {
					to[c] = s[at]
					at += by
				}
			}
		}
	}
}

func fill[T any](d []T, v T) {
	for i := range d {
		d[i] = v
	}
}

// bare counts the pixels of the result that the border rule has a part in.
func (w *warp) bare() int {
	if w.index != nil {
		return w.index.bare
	}
	if bare := w.kernel.rule().bare; bare != nil {
		return bare(w)
	}
	all := w.h * w.w
	if w.rows != nil {
		x, y := ruled{w.x0, w.xc, w.ws}, ruled{w.y0, w.yr, w.hs}
		if w.xc == 0 && w.xr != 0 { // the row written chooses the column read
			x, y = ruled{w.y0, w.yc, w.hs}, ruled{w.x0, w.xr, w.ws}
		}
		return all - x.inside(w.kernel, w.w)*y.inside(w.kernel, w.h)
	}
	spans := w.spans()
	if w.kernel != Up3 {
		for _, in := range spans {
			all -= int(in.i1 - in.i0)
		}
		return all
	}
	for r := range w.h { // five rows and columns of the fine raster make a pixel
		lo, hi := 0, w.w
		for _, in := range spans[3*r : 3*r+5] {
			lo, hi = max(lo, (int(in.i0)+2)/3), min(hi, (int(in.i1)-2)/3)
		}
		all -= max(hi-lo, 0)
	}
	return all
}

// ruled is an axis of limit samples that is read at from, from+step, ...
type ruled struct {
	from, step float64
	limit      int
}

// inside counts the first n positions all of whose taps exist, apart from those of weight 0.
func (u ruled) inside(k Kernel, n int) int {
	var idx [maxTaps]int32
	var wt [maxTaps]float64
	count := 0
	for i := range n {
		s := u.from + float64(u.step*float64(i))
		if !(s >= 0 && s <= float64(u.limit-1)) {
			continue
		}
		count++
		// Circular numbers every tap, so that a tap beyond the border shows by its number.
		axisTaps(k, Circular, s, u.limit, &idx, &wt)
		first := int(s) - (k.taps()-1)/2
		for j := range k.taps() {
			if wt[j] != 0 && int(idx[j]) != first+j {
				count--
				break
			}
		}
	}
	return count
}

// bytes is roughly what the plan holds.
func (w *warp) bytes() int {
	n := 320
	if w.index != nil {
		n += 64 + 16*len(w.index.parts)
	}
	for _, a := range []*axis{w.rows, w.cols} {
		if a != nil {
			n += 48 + 4*len(a.off) + 8*len(a.wt)
		}
	}
	if p := w.small; p != nil {
		n += 96 + 4*len(p.base) + 4*len(p.off) + 8*len(p.wx) + 8*len(p.wy)
	}
	return n + 16*len(w.reach)
}
