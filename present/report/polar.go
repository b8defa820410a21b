package report

import (
	"fmt"
	"math"

	"nero/internal/elementary"
	"nero/present/view"
)

// disc is the place of a polar plot.
type disc struct {
	center pt
	r      float64
}

// at is the point at an angle in degrees, counter-clockwise from the right, and a fraction of the radius.
func (c disc) at(angle, u float64) pt {
	sin, cos := elementary.Sincos(angle * math.Pi / 180)
	u = min(max(u, 0), 1)
	return pt{c.center.x + float64(c.r*u*cos), c.center.y - float64(c.r*u*sin)}
}

// polar draws a polar plot.
func (d *drawing) polar(p *view.Panel, x, y, w float64, small bool) float64 {
	label, every, size := 22.0, 45, smallSize
	if small {
		label, size = 15, tinySize
		if w < 180 {
			every = 90
		}
	}
	side := 26.0 // room for "180°"
	if small {
		side = 22
	}
	c := disc{r: w/2 - side}
	c.center = pt{x + w/2, y + label + c.r}
	pal, f := d.pal, d.f
	d.do(func(pn *pen) {
		for _, t := range f.Scale.Ticks {
			u := f.Scale.Pos(t.At)
			if u > 0.001 {
				col, width := pal.grid, 0.8
				if u > 0.999 {
					col, width = pal.rim, 1
				}
				pn.circle(c.center, c.r*u, col, width)
			}
		}
		for a := 0; a < 360; a += 45 {
			pn.line([]pt{c.at(float64(a), 0), c.at(float64(a), 1)}, pal.grid, 0.8, nil)
		}
		pn.circle(c.center, c.r, pal.rim, 1)
		for a := 0; a < 360; a += every {
			q := disc{c.center, c.r + float64(0.55*label)}.at(float64(a), 1)
			s := style{size: size, color: pal.muted, align: center, middle: true}
			t := fmt.Sprintf("%d°", a)
			switch {
			case a < 90 || a > 270:
				s.align = left
				q.x = disc{c.center, c.r + 5}.at(float64(a), 1).x
			case a > 90 && a < 270:
				s.align = right
				q.x = disc{c.center, c.r + 5}.at(float64(a), 1).x
			}
			pn.text(q, t, s)
		}
	})
	for _, s := range p.Series {
		d.polarBands(s, c, small)
	}
	for _, s := range p.Series {
		d.polarCurve(s, c, small)
	}
	ray := d.ray()
	d.do(func(pn *pen) {
		s := style{size: size - 0.5, color: pal.muted, align: center, middle: true}
		for i, t := range f.Scale.Ticks {
			u := f.Scale.Pos(t.At)
			last := len(f.Scale.Ticks) - 1
			crowded := small && (last-i)%2 == 1 || w < 180 && i != last
			if u < 0.05 && !f.Scale.Zero || crowded {
				continue
			}
			halo(pn, c.at(ray, u), t.Label, s, pal.background)
		}
	})
	return c.center.y + c.r + label
}

// ray is the direction, between the labelled angles, in which labels of the rings cover the least of the curves; the
// same in all plots of a figure.
func (d *drawing) ray() float64 {
	best, least, unit := 0.0, math.Inf(1), disc{r: 1}
	for _, a := range []float64{67.5, 112.5, 22.5, 157.5, 202.5, 247.5, 292.5, 337.5} {
		covered := 0.0
		for _, p := range d.f.Panels {
			for _, s := range p.Series {
				stretches, closed := runs(s, d.apart)
				for _, pts := range stretches {
					for _, q := range d.arc(pts, closed, unit, value) {
						for _, t := range d.f.Scale.Ticks {
							const room = 0.09 // of the radius
							label := unit.at(a, d.f.Scale.Pos(t.At))
							covered += max(0, 1-elementary.Hypot(q.x-label.x, q.y-label.y)/room)
						}
					}
				}
			}
		}
		if covered < least-1e-9 {
			best, least = a, covered
		}
	}
	return best
}

// arc follows the points of a stretch; between two of them the value goes straight with the angle, so that a constant
// is a circle.
func (d *drawing) arc(pts []view.Point, closed bool, c disc, value func(view.Point) float64) []pt {
	var path []pt
	n := len(pts)
	last := n - 1
	if closed {
		last = n
	}
	const step = 3.0 // degrees
	for i := range last {
		a, b := pts[i], pts[(i+1)%n]
		u, v := d.f.Scale.Pos(value(a)), d.f.Scale.Pos(value(b))
		turn := math.Mod(b.X-a.X+360, 360)
		k := max(1, int(math.Ceil(turn/step)))
		for j := range k {
			t := float64(j) / float64(k)
			path = append(path, c.at(a.X+float64(t*turn), u+float64(t*(v-u))))
		}
	}
	if closed {
		return append(path, path[0])
	}
	if n > 0 {
		path = append(path, c.at(pts[last].X, d.f.Scale.Pos(value(pts[last]))))
	}
	return path
}

func (d *drawing) polarBands(s view.Series, c disc, small bool) {
	if d.f.Discrete {
		d.do(func(pn *pen) {
			for _, q := range s.Points {
				d.bars(pn, q, s.Model, small, func(v float64) pt { return d.beside(c, q, s, small, v) })
			}
		})
		return
	}
	band := func(opacity uint8, low, high func(view.Point) float64) {
		stretches, closed := runs(s, func(q view.Point) bool {
			return d.apart(q) || !math.IsNaN(float64(q.Value)) && (math.IsNaN(low(q)) || math.IsNaN(high(q)))
		})
		for _, pts := range stretches {
			outer, inner := d.arc(pts, closed, c, high), d.arc(pts, closed, c, low)
			for i, j := 0, len(inner)-1; i < j; i, j = i+1, j-1 {
				inner[i], inner[j] = inner[j], inner[i]
			}
			col := alpha(d.pal.model(s.Model), opacity)
			if closed {
				d.do(func(pn *pen) { pn.fill(col, outer, inner) })
				continue
			}
			d.do(func(pn *pen) { pn.fill(col, append(append([]pt{}, outer...), inner...)) })
		}
	}
	if d.f.Spread != "" {
		band(d.pal.band, p10, p90)
	}
	if d.f.Interval != "" {
		band(d.pal.interval, lo, hi)
	}
}

// beside is where a value is marked: at its place, or beside it where the marks of models stand side by side.
func (d *drawing) beside(c disc, q view.Point, s view.Series, small bool, v float64) pt {
	at := c.at(q.X, d.f.Scale.Pos(v))
	if !d.f.Discrete {
		return at
	}
	sin, cos := elementary.Sincos(q.X * math.Pi / 180)
	by := d.shift(s, small)
	return pt{at.x - float64(by*sin), at.y - float64(by*cos)}
}

func value(q view.Point) float64 { return float64(q.Value) }
func p10(q view.Point) float64   { return float64(q.P10) }
func p90(q view.Point) float64   { return float64(q.P90) }
func lo(q view.Point) float64    { return float64(q.Lo) }
func hi(q view.Point) float64    { return float64(q.Hi) }

func (d *drawing) polarCurve(s view.Series, c disc, small bool) {
	col := d.lineColor(s)
	stretches, closed := runs(s, d.apart)
	for _, pts := range stretches {
		path := d.arc(pts, closed, c, value)
		d.do(func(pn *pen) { pn.line(path, col, d.lineWidth(s, small), dash(s.Model)) })
	}
	d.marks(s, stretches, small, func(q view.Point) pt { return d.beside(c, q, s, small, value(q)) },
		func(q view.Point) pt { return c.at(q.X, 1) })
}

// marks draws what stands out along a curve: exact elements, all elements where there are few, wrong answers, missing
// values.
func (d *drawing) marks(s view.Series, stretches [][]view.Point, small bool, at, rim func(view.Point) pt) {
	col, all := d.pal.model(s.Model), d.marked(s)
	r := 3.4
	if small {
		r = 2.4
	}
	lonely := map[int]bool{}
	for _, pts := range stretches {
		if len(pts) == 1 {
			lonely[pts[0].Element] = true
		}
	}
	d.do(func(pn *pen) {
		for _, q := range s.Points {
			switch {
			case math.IsNaN(value(q)):
				d.absent(pn, rim(q))
			case math.IsNaN(d.f.Scale.Pos(value(q))): // not on this scale
			case q.Wrong && (!d.f.Exact || !q.Exact):
				pn.cross(at(q), r-0.8, col, 1)
			case d.f.Exact && q.Exact, all, lonely[q.Element]:
				pn.mark(at(q), s.Model, r, col, d.pal.background, d.f.Exact && !q.Exact)
				if q.Wrong {
					pn.cross(at(q), r-0.8, d.pal.background, 1)
				}
			}
		}
	})
}
