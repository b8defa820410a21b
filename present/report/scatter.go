package report

import (
	"math"

	"nero/internal/elementary"
	"nero/present/view"
)

// scatter draws elements where their shifts lie, dx to the right and dy down, coloured by value. Elements that share a
// shift stand around it by their angle.
func (d *drawing) scatter(p *view.Panel, x, y, w float64) float64 {
	f, pal := d.f, d.pal
	tick := style{size: smallSize - 0.5, color: pal.muted, align: right, middle: true}
	left := 0.0
	for _, t := range f.Y.Ticks {
		left = max(left, d.ruler.width(t.Label, tick))
	}
	left += 22
	b := box{x: x + left, y: y + 6, w: w - left - 6}
	b.h = b.w * min(max((f.Y.Hi-f.Y.Lo)/(f.X.Hi-f.X.Lo), 0.3), 1.5)
	var pts []view.Point
	for _, s := range p.Series {
		pts = append(pts, s.Points...)
	}
	ring, r := rings(pts, b)
	pad := ring + r + 4
	at := func(q view.Point) pt {
		c := pt{b.x + pad + float64((b.w-2*pad)*f.X.Pos(q.X)), b.y + pad + float64((b.h-2*pad)*f.Y.Pos(q.Y))}
		sin, cos := elementary.Sincos(q.Turn * math.Pi / 180)
		return pt{c.x + float64(ring*cos), c.y - float64(ring*sin)}
	}
	worst := -1
	if len(p.Stats) > 0 {
		worst = p.Stats[0].Element
	}
	mirrored := len(p.Series) > 0 && p.Series[0].Mirrored
	d.do(func(pn *pen) {
		pn.rect(b.x, b.y, b.w, b.h, pal.missing)
		for _, q := range pts {
			v := value(q)
			if math.IsNaN(v) || math.IsNaN(f.Scale.Pos(v)) {
				d.absent(pn, at(q))
				continue
			}
			pn.circle(at(q), r, heatOf(f, v), 0)
		}
		// Above the dots of neighbours.
		for _, q := range pts {
			if q.X == 0 && q.Y == 0 && q.Turn == 0 && !mirrored {
				if v := f.Scale.Pos(value(q)); !math.IsNaN(v) {
					pn.circle(at(q), r, heatOf(f, value(q)), 0)
				}
				pn.circle(at(q), r+1.5, pal.text, 1.4)
			}
			if q.Element == worst {
				pn.cross(at(q), r+2, pal.text, 1.4)
			}
			if q.Wrong {
				pn.circle(at(q), max(1, 0.35*r), pal.background, 0)
			}
		}
		pn.frame(b.x, b.y, b.w, b.h, pal.rim, 1)
		s := style{size: smallSize - 0.5, color: pal.muted, align: center, middle: true}
		end := math.Inf(-1)
		for _, t := range f.X.Ticks {
			q, half := b.x+pad+float64((b.w-2*pad)*f.X.Pos(t.At)), pn.width(t.Label, s)/2
			pn.line([]pt{{q, b.y + b.h}, {q, b.y + b.h + 3}}, pal.rim, 1, nil)
			if q-half < end+4 {
				continue
			}
			end = q + half
			pn.text(pt{q, b.y + b.h + 10}, t.Label, s)
		}
		end = math.Inf(-1)
		for _, t := range f.Y.Ticks {
			q := b.y + pad + float64((b.h-2*pad)*f.Y.Pos(t.At))
			pn.line([]pt{{b.x - 3, q}, {b.x, q}}, pal.rim, 1, nil)
			if q < end+12 {
				continue
			}
			end = q
			pn.text(pt{b.x - 5, q}, t.Label, tick)
		}
		axis := style{size: smallSize, color: pal.muted, align: center, middle: true}
		pn.text(pt{b.x + b.w/2, b.y + b.h + 24}, axisName(f, 0, "to the right"), axis)
		axis.middle = false
		pn.vertical(pt{x + 9, b.y + b.h/2}, axisName(f, 1, "down"), axis)
	})
	return b.y + b.h + 32
}

// rings is how far from its shift a dot stands, 0 if no two elements share one, and the radius of a dot.
func rings(pts []view.Point, b box) (ring, r float64) {
	shared := map[[2]float64]int{}
	most := 0
	cols, rows := map[float64]bool{}, map[float64]bool{}
	for _, q := range pts {
		k := [2]float64{q.X, q.Y}
		shared[k]++
		most = max(most, shared[k])
		cols[q.X], rows[q.Y] = true, true
	}
	if most < 2 {
		return 0, min(max(0.3*math.Sqrt(b.w*b.h/float64(max(1, len(pts)))), 1.5), 6)
	}
	ring = 0.34 * min(b.w/float64(len(cols)), b.h/float64(len(rows)))
	return ring, min(max(0.8*math.Pi*ring/float64(most), 1), float64(0.4*ring)+0.5)
}
