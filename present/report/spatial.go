package report

import (
	"fmt"
	"math"

	"nero/present/view"
)

// discs draws one plane of rotations of space: ring sectors around the identity, coloured by value.
func (d *drawing) discs(p *view.Panel, x, y, w float64) float64 {
	const label = 18.0
	pal, f := d.pal, d.f
	c := disc{r: min(w/2-26, 130)}
	c.center = pt{x + w/2, y + label + c.r}
	pts := p.Series[0].Points
	outer := 1.0
	for _, s := range p.Sectors {
		outer = max(outer, s.Outer)
	}
	at := func(psi, turn float64) pt { return c.at(psi, turn/outer) }
	worst := -1
	if len(p.Stats) > 0 {
		worst = p.Stats[0].Element
	}
	d.do(func(pn *pen) {
		for _, s := range p.Sectors {
			q := pts[s.Point]
			v := value(q)
			col := pal.missing
			if !math.IsNaN(v) && !math.IsNaN(f.Scale.Pos(v)) {
				col = heatOf(f, v)
			}
			pn.fill(col, ring(s, at))
			if q.Wrong {
				pn.circle(at((s.From+s.To)/2, (s.Inner+s.Outer)/2), 0.9, pal.background, 0)
			}
		}
		pn.circle(c.center, c.r, pal.rim, 1)
		tick := style{size: tinySize, color: pal.muted, align: center, middle: true}
		for a := 0; a < 360; a += 90 {
			q := disc{c.center, c.r + 12}.at(float64(a), 1)
			pn.text(q, fmt.Sprintf("%d°", a), tick)
		}
		pn.circle(c.center, 3.4, pal.text, 1.2)
		for _, s := range p.Sectors {
			if pts[s.Point].Element == worst {
				pn.cross(at((s.From+s.To)/2, (s.Inner+s.Outer)/2), 3.4, pal.text, 1.4)
				break
			}
		}
	})
	return c.center.y + c.r + label + 4
}

// ring is the outline of a sector, its arcs in steps of at most 4 degrees.
func ring(s view.Sector, at func(psi, turn float64) pt) []pt {
	var path []pt
	n := max(1, int(math.Ceil((s.To-s.From)/4)))
	for k := range n + 1 {
		path = append(path, at(s.From+(s.To-s.From)*float64(k)/float64(n), s.Outer))
	}
	if s.Inner <= 0 {
		if s.To-s.From < 359.9 {
			path = append(path, at(0, 0))
		}
		return path
	}
	for k := n; k >= 0; k-- {
		path = append(path, at(s.From+(s.To-s.From)*float64(k)/float64(n), s.Inner))
	}
	return path
}

// angles draws values against the angle of the rotation: a mark for each element, the median of each part of the range
// as a line and the worst value as a thin one.
func (d *drawing) angles(p *view.Panel, b box, small bool) {
	r := 2.4
	for _, s := range p.Series {
		if len(s.Points) > 200 || small {
			r = 1.3
		}
	}
	for i, s := range p.Series {
		col := d.pal.model(s.Model)
		d.do(func(pn *pen) {
			for _, q := range s.Points {
				if v := value(q); !math.IsNaN(v) && !math.IsNaN(d.f.Scale.Pos(v)) {
					pn.mark(d.place(b, q, v), s.Model, r, alpha(col, 120), d.pal.background, s.Mirrored)
				}
			}
			line := func(of func(view.Bin) float64, width float64) {
				var path []pt
				for _, n := range p.Bins {
					if n.Series == i {
						path = append(path, b.at(d.f.X.Pos((n.Lo+n.Hi)/2), d.f.Scale.Pos(of(n))))
					}
				}
				pn.line(path, col, width, dash(s.Model))
			}
			width := 2.0
			if s.Mirrored {
				width = 1
			}
			line(func(n view.Bin) float64 { return float64(n.Median) }, width)
			line(func(n view.Bin) float64 { return float64(n.Worst) }, 0.5*width)
		})
	}
}
