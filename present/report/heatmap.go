package report

import (
	"iter"
	"math"

	"nero/present/palette"
	"nero/present/view"
	"nero/symmetry/group"
)

// edges are the borders of cells, halfway between neighbours, as fractions of the way.
func edges(cells []view.Cell) []float64 {
	n := len(cells)
	e := make([]float64, n+1)
	if n == 1 {
		return []float64{0, 1}
	}
	for i := 1; i < n; i++ {
		e[i] = (cells[i-1].At + cells[i].At) / 2
	}
	e[0], e[n] = 2*cells[0].At-e[1], 2*cells[n-1].At-e[n-1]
	first, span := e[0], e[n]-e[0]
	for i := range e {
		e[i] = (e[i] - first) / span
	}
	return e
}

// heatMap draws a map: dx to the right, dy down.
func (d *drawing) heatMap(p *view.Panel, x, y, w float64) float64 {
	f, pal := d.f, d.pal
	tick := style{size: smallSize - 0.5, color: pal.muted, align: right, middle: true}
	left := 0.0
	for _, c := range p.Rows {
		left = max(left, d.ruler.width(c.Label, tick))
	}
	left += 22
	xs, ys := edges(p.Cols), edges(p.Rows)
	b := box{x: x + left, y: y + 6, w: w - left - 6}
	b.h = b.w
	if len(p.Cols) > 1 && len(p.Rows) > 1 {
		// Pixels are square, within reason.
		ratio := (p.Rows[len(p.Rows)-1].At - p.Rows[0].At) / (p.Cols[len(p.Cols)-1].At - p.Cols[0].At)
		b.h = b.w * min(max(ratio, 0.3), 1.5)
	} else if len(p.Rows) == 1 && len(p.Cols) > 1 {
		b.h = 0.3 * b.w
	}
	col := index(p.Cols)
	row := index(p.Rows)
	d.do(func(pn *pen) {
		pn.rect(b.x, b.y, b.w, b.h, pal.missing)
		worst := -1
		if len(p.Stats) > 0 {
			worst = p.Stats[0].Element
		}
		for _, s := range p.Series {
			for _, q := range s.Points {
				i, j := col[q.X], row[q.Y]
				cx, cy := snap(b.x+float64(b.w*xs[i])), snap(b.y+float64(b.h*ys[j]))
				cw, ch := snap(b.x+float64(b.w*xs[i+1]))-cx, snap(b.y+float64(b.h*ys[j+1]))-cy
				mid := pt{cx + cw/2, cy + ch/2}
				v := value(q)
				if math.IsNaN(v) || math.IsNaN(f.Scale.Pos(v)) {
					d.absent(pn, mid)
					continue
				}
				c := heatOf(f, v)
				pn.rect(cx, cy, cw, ch, c)
				ink := palette.RGB(0xffffff)
				if float64(0.299*float64(c.R))+float64(0.587*float64(c.G))+float64(0.114*float64(c.B)) > 140 {
					ink = palette.RGB(0x101010)
				}
				r := min(4, 0.4*min(cw, ch))
				if q.X == 0 && q.Y == 0 {
					pn.circle(mid, max(r, 2), ink, 1.4)
				}
				if q.Element == worst {
					pn.cross(mid, max(r, 2), ink, 1.4)
				}
				if q.Wrong {
					pn.circle(mid, max(1, 0.4*r), ink, 0)
				}
			}
		}
		pn.frame(b.x, b.y, b.w, b.h, pal.rim, 1)
		s := style{size: smallSize - 0.5, color: pal.muted, align: center, middle: true}
		wide := 0.0
		for _, c := range p.Cols {
			wide = max(wide, pn.width(c.Label, s))
		}
		for i := range labelled(p.Cols, xs, b.w, wide+6) {
			c, at := p.Cols[i], b.x+b.w*(xs[i]+xs[i+1])/2
			pn.line([]pt{{at, b.y + b.h}, {at, b.y + b.h + 3}}, pal.rim, 1, nil)
			pn.text(pt{at, b.y + b.h + 10}, c.Label, s)
		}
		for j := range labelled(p.Rows, ys, b.h, 13) {
			c, at := p.Rows[j], b.y+b.h*(ys[j]+ys[j+1])/2
			pn.line([]pt{{b.x - 3, at}, {b.x, at}}, pal.rim, 1, nil)
			pn.text(pt{b.x - 5, at}, c.Label, tick)
		}
		axis := style{size: smallSize, color: pal.muted, align: center, middle: true}
		pn.text(pt{b.x + b.w/2, b.y + b.h + 24}, axisName(f, 0, "to the right"), axis)
		axis.middle = false
		pn.vertical(pt{x + 9, b.y + b.h/2}, axisName(f, 1, "down"), axis)
	})
	return b.y + b.h + 32
}

// snap is the nearest edge of a pixel of the PNG, so that no background shines through between cells.
func snap(v float64) float64 { return math.Round(2*v) / 2 }

// labelled yields the cells whose labels fit side by side: every k-th, with that of 0 among them; of uneven cells those
// that keep the distance.
func labelled(cells []view.Cell, edges []float64, length, room float64) iter.Seq[int] {
	zero, narrowest := 0, math.Inf(1)
	mid := func(i int) float64 { return length * (edges[i] + edges[i+1]) / 2 }
	for i, c := range cells {
		if c.At == 0 {
			zero = i
		}
		if i > 0 {
			narrowest = min(narrowest, mid(i)-mid(i-1))
		}
	}
	even := len(cells) < 2 || narrowest >= 0.99*(mid(len(cells)-1)-mid(0))/float64(len(cells)-1)
	return func(yield func(int) bool) {
		if even {
			step := 1
			if len(cells) > 1 {
				step = max(1, int(math.Ceil(room/narrowest)))
			}
			for i := zero % step; i < len(cells); i += step {
				if !yield(i) {
					return
				}
			}
			return
		}
		// Outward from 0, first to the right.
		last := mid(zero)
		if !yield(zero) {
			return
		}
		for i := zero + 1; i < len(cells); i++ {
			if mid(i) >= last+room {
				last = mid(i)
				if !yield(i) {
					return
				}
			}
		}
		last = mid(zero)
		for i := zero - 1; i >= 0; i-- {
			if mid(i) <= last-room {
				last = mid(i)
				if !yield(i) {
					return
				}
			}
		}
	}
}

func axisName(f *view.Figure, i int, way string) string {
	for _, a := range f.Axes {
		if a.Form() != group.FormPixels {
			continue
		}
		if i == 0 {
			return a.Name + " in " + a.Unit + ", " + way
		}
		i--
	}
	return ""
}

func index(cells []view.Cell) map[float64]int {
	m := map[float64]int{}
	for i, c := range cells {
		m[c.At] = i
	}
	return m
}

// bar draws the scale of colours.
func (d *drawing) bar(y float64) float64 {
	f, pal := d.f, d.pal
	const steps = 64
	w := min(300, d.w-2*margin-44)
	x := margin + 22
	d.do(func(pn *pen) {
		pn.text(pt{x, y + 10}, f.Scale.Label, style{size: smallSize, color: pal.muted})
		for i := range steps {
			u := float64((float64(i) + 0.5) / steps)
			if f.Better == "lower" {
				u = 1 - u
			}
			pn.rect(x+float64(w*float64(i)/steps), y+16, float64(w/steps)+0.3, 10, heat(u))
		}
		for _, t := range f.Scale.Ticks {
			at := x + float64(w*f.Scale.Pos(t.At))
			pn.line([]pt{{at, y + 26}, {at, y + 29}}, pal.rim, 1, nil)
			pn.text(pt{at, y + 36}, t.Label, style{
				size: smallSize - 0.5, color: pal.muted, align: center,
				middle: true,
			})
		}
	})
	return y + 46
}
