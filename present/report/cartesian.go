package report

import (
	"math"
	"slices"

	"nero/present/view"

	"gonum.org/v1/plot/vg"
)

// box is the place of a plot with straight axes.
type box struct {
	x, y, w, h float64
	// between the frame and the ends of the horizontal scale, for marks
	pad float64
}

func (b box) at(u, v float64) pt {
	return pt{b.x + b.pad + float64((b.w-2*b.pad)*u), b.y + float64(b.h*(1-min(max(v, 0), 1)))}
}

// cartesian draws a line plot, or a strip of elements in the order of the plan.
func (d *drawing) cartesian(p *view.Panel, x, y, w float64, small bool) float64 {
	f, pal := d.f, d.pal
	tick := style{size: smallSize - 0.5, color: pal.muted, align: right, middle: true}
	left := 0.0
	for _, t := range f.Scale.Ticks {
		left = max(left, d.ruler.width(t.Label, tick))
	}
	left += 22 // and the label of the axis
	h := 240.0
	if small {
		h = 150
	}
	b := box{x: x + left, y: y + 8, w: w - left - 10, h: h, pad: 10}
	d.do(func(pn *pen) {
		for _, t := range f.Scale.Ticks {
			q := pt{b.x, b.at(0, f.Scale.Pos(t.At)).y}
			pn.line([]pt{q, {b.x + b.w, q.y}}, pal.grid, 0.8, nil)
			pn.text(pt{q.x - 5, q.y}, t.Label, tick)
		}
		pn.line([]pt{{b.x, b.y}, {b.x, b.y + b.h}, {b.x + b.w, b.y + b.h}}, pal.rim, 1, nil)
		pn.vertical(pt{x + 9, b.y + b.h/2}, pn.clip(f.Scale.Label, style{size: smallSize}, b.h),
			style{size: smallSize, color: pal.muted, align: center})
	})
	if f.Layout.Order != "" {
		return d.strip(p, b, small)
	}
	if p.X != nil { // an axis of its own
		own := *f
		own.X = p.X
		d = &drawing{f: &own, form: d.form, pal: d.pal, fonts: d.fonts, ruler: d.ruler, w: d.w, into: d}
		f = &own
	}
	d.do(func(pn *pen) {
		s := style{size: smallSize - 0.5, color: pal.muted, align: center, middle: true}
		end := math.Inf(-1)
		for _, t := range f.X.Ticks {
			q := b.at(f.X.Pos(t.At), 0)
			half := pn.width(t.Label, s) / 2
			pn.line([]pt{q, {q.x, q.y + 4}}, pal.rim, 1, nil)
			if q.x-half < end+4 {
				continue
			}
			end = q.x + half
			pn.text(pt{q.x, q.y + 12}, t.Label, s)
		}
		pn.text(pt{b.x + b.w/2, b.y + b.h + 28}, f.X.Label,
			style{size: smallSize, color: pal.muted, align: center, middle: true})
	})
	if f.Layout.Binned {
		d.angles(p, b, small)
		return b.y + b.h + 38
	}
	for _, s := range p.Series {
		d.lineBands(s, b, small)
	}
	for _, s := range p.Series {
		d.lineCurve(s, b, small)
	}
	return b.y + b.h + 38
}

// place is where a value of a series lies in the box.
func (d *drawing) place(b box, q view.Point, v float64) pt {
	return b.at(d.f.X.Pos(q.X), d.f.Scale.Pos(v))
}

func (d *drawing) lineBands(s view.Series, b box, small bool) {
	if d.f.Discrete {
		d.do(func(pn *pen) {
			for _, q := range s.Points {
				if d.apart(q) {
					continue
				}
				d.bars(pn, q, s.Model, small, func(v float64) pt {
					at := d.place(b, q, v)
					return pt{at.x + d.shift(s, small), at.y}
				})
			}
		})
		return
	}
	s.Closed = false
	band := func(opacity uint8, low, high func(view.Point) float64) {
		stretches, _ := runs(s, func(q view.Point) bool {
			return d.apart(q) || !math.IsNaN(value(q)) &&
				(math.IsNaN(d.f.Scale.Pos(low(q))) || math.IsNaN(d.f.Scale.Pos(high(q))))
		})
		for _, pts := range stretches {
			var path []pt
			for _, q := range pts {
				path = append(path, d.place(b, q, high(q)))
			}
			for _, q := range slices.Backward(pts) {
				path = append(path, d.place(b, q, low(q)))
			}
			d.do(func(pn *pen) { pn.fill(alpha(d.pal.model(s.Model), opacity), path) })
		}
	}
	if d.f.Spread != "" {
		band(d.pal.band, p10, p90)
	}
	if d.f.Interval != "" {
		band(d.pal.interval, lo, hi)
	}
}

func (d *drawing) lineCurve(s view.Series, b box, small bool) {
	col := d.pal.model(s.Model)
	s.Closed = false
	line := d.lineColor(s)
	stretches, _ := runs(s, d.apart)
	for _, pts := range stretches {
		var path []pt
		for _, q := range pts {
			path = append(path, d.place(b, q, value(q)))
		}
		d.do(func(pn *pen) { pn.line(path, line, d.lineWidth(s, small), dash(s.Model)) })
	}
	// The teeth of several models stand side by side.
	beside := func(q pt) pt { return pt{q.x + d.shift(s, small), q.y} }
	if d.f.Comb {
		d.do(func(pn *pen) {
			for _, q := range s.Points {
				if v := d.f.Scale.Pos(value(q)); d.apart(q) && !math.IsNaN(v) {
					top := beside(d.place(b, q, value(q)))
					pn.line([]pt{top, {top.x, b.y + b.h}}, alpha(col, 150), 1, nil)
				}
			}
		})
	}
	at := func(q view.Point) pt {
		if d.apart(q) || d.f.Discrete {
			return beside(d.place(b, q, value(q)))
		}
		return d.place(b, q, value(q))
	}
	d.marks(s, stretches, small, at,
		func(q view.Point) pt { return b.at(d.f.X.Pos(q.X), 1) })
}

// hairline is the opacity of intervals that stand too close to be bars: together they look like a band.
const hairline = 70

// strip draws marks side by side: between two elements in the order of a plan there is nothing to draw.
func (d *drawing) strip(p *view.Panel, b box, small bool) float64 {
	pal := d.pal
	n := 0
	for _, s := range p.Series {
		n = max(n, len(s.Points))
	}
	if n == 0 {
		return b.y + b.h + 12
	}
	slot := b.w / float64(n)
	models := float64(len(p.Series))
	r := 3.4
	if small {
		r = 2.4
	}
	r = max(1.2, min(r, 0.4*slot/models))
	where := func(i, k int) float64 {
		off := 0.0
		if models > 1 {
			off = (float64(i)/(models-1) - 0.5) * min(0.5*slot, 4*r*(models-1))
		}
		return b.x + float64((float64(k)+0.5)*slot) + off
	}
	label := style{size: smallSize - 1, color: pal.muted, align: right}
	step := max(1, int(math.Ceil(12/slot)))
	if d.f.Dense {
		const names = 20
		step = max(step, (n+names-1)/names)
	}
	const most = 170.0
	longest := 0.0
	for k, q := range p.Series[0].Points {
		if k%step == 0 {
			longest = max(longest, min(most, d.ruler.width(q.Tick, label)))
		}
	}
	d.do(func(pn *pen) {
		for k, q := range p.Series[0].Points {
			if k%step == 0 {
				x := b.x + float64((float64(k)+0.5)*slot)
				pn.line([]pt{{x, b.y + b.h}, {x, b.y + b.h + 4}}, pal.rim, 1, nil)
				pn.vertical(pt{x + 3, b.y + b.h + 8}, pn.clip(q.Tick, label, most), label)
			}
		}
		for i, s := range p.Series {
			col := pal.model(s.Model)
			for k, q := range s.Points {
				x, v := where(i, k), value(q)
				if math.IsNaN(v) {
					d.absent(pn, pt{x, b.y})
					continue
				}
				bar := func(low, high float64, opacity uint8, width float64) {
					u, w := d.f.Scale.Pos(low), d.f.Scale.Pos(high)
					if !math.IsNaN(u) && !math.IsNaN(w) {
						pn.line([]pt{{x, b.at(0, u).y}, {x, b.at(0, w).y}}, alpha(col, opacity), width, nil)
					}
				}
				if d.f.Spread != "" {
					bar(p10(q), p90(q), 2*pal.band, 2*r)
				}
				if d.f.Interval != "" && d.f.Dense {
					bar(lo(q), hi(q), hairline, min(1, slot))
				} else if d.f.Interval != "" {
					bar(lo(q), hi(q), 200, max(1, 0.5*r))
				}
				at := pt{x, b.at(0, d.f.Scale.Pos(v)).y}
				pn.mark(at, s.Model, r, col, pal.background, d.f.Exact && !q.Exact && r > 1.6)
				if q.Wrong {
					pn.cross(at, r+1, col, 1)
				}
			}
		}
		pn.text(pt{b.x + b.w/2, b.y + b.h + longest + 24}, d.stripLabel(step),
			style{size: smallSize, color: pal.muted, align: center, middle: true})
	})
	return b.y + b.h + longest + 34
}

func (d *drawing) stripLabel(step int) string {
	t := d.f.Layout.Order
	if step > 1 {
		t += ", not all named"
	}
	return t
}

// vertical writes a text that reads upward. An end-aligned text ends at its point.
func (p *pen) vertical(q pt, t string, s style) {
	w := p.width(t, s)
	down := 0.0
	switch s.align {
	case center:
		down = w / 2
	case right:
		down = w
	case left:
	}
	ts := p.textStyle(s)
	p.c.Push()
	p.c.SetColor(s.color)
	p.c.Translate(p.at(pt{q.x, q.y + down}))
	p.c.Rotate(math.Pi / 2)
	p.c.FillString(p.handler.Fonts.Lookup(ts.Font, ts.Font.Size), vg.Point{}, t)
	p.c.Pop()
}
