package report

import (
	"slices"

	"nero/present/view"
)

// Form is how the figures of a layout are drawn. A new layout has one in [Forms], or is handed in by [Options].
type Form struct {
	Layout *view.Layout
	// Draw draws one plot into a width, from its top left corner downward, and returns where it ends; small says that
	// it is one of several.
	Draw func(c *Canvas, p *view.Panel, x, y, w float64, small bool) (bottom float64)
	// least width of one of several plots, in CSS pixels
	Least float64
	// the same of up to four; 0 for Least
	Roomy float64
	// plots in a row at most
	Most int
	// a plot alone takes the whole width
	Wide bool

	// what marks mean, in place of the usual words; nil for those
	legend func(d *drawing) []entry
}

// Forms are how the layouts of reports are drawn.
func Forms() []Form {
	lines := func(c *Canvas, p *view.Panel, x, y, w float64, small bool) float64 {
		return c.d.cartesian(p, x, y, w, small)
	}
	wide := func(l *view.Layout) Form { return Form{Layout: l, Draw: lines, Least: 300, Most: 2, Wide: true} }
	angle := wide(view.Angle)
	angle.legend = (*drawing).angleMarks
	return []Form{
		{
			Layout: view.Polar, Least: 140, Roomy: 210, Most: 5,
			Draw: func(c *Canvas, p *view.Panel, x, y, w float64, small bool) float64 {
				return c.d.polar(p, x, y, w, small)
			},
		},
		wide(view.Line), wide(view.Strip), angle, wide(view.Ranked), wide(view.Axes),
		{
			Layout: view.HeatMap, Least: 220, Most: 3,
			Draw: func(c *Canvas, p *view.Panel, x, y, w float64, _ bool) float64 { return c.d.heatMap(p, x, y, w) },
		},
		{
			Layout: view.Scatter, Least: 220, Most: 3,
			Draw: func(c *Canvas, p *view.Panel, x, y, w float64, _ bool) float64 { return c.d.scatter(p, x, y, w) },
		},
		{
			Layout: view.Discs, Least: 170, Most: 3,
			Draw: func(c *Canvas, p *view.Panel, x, y, w float64, _ bool) float64 { return c.d.discs(p, x, y, w) },
		},
	}
}

// formOf is the form of a layout, that of a strip for one that has none.
func formOf(l *view.Layout, more []Form) Form {
	all := append(slices.Clone(more), Forms()...)
	for _, want := range []*view.Layout{l, view.Strip} {
		if i := slices.IndexFunc(all, func(f Form) bool { return f.Layout == want }); i >= 0 {
			return all[i]
		}
	}
	return Form{}
}

// Canvas is what a plot is drawn on, in CSS pixels from the top left corner of the picture.
type Canvas struct{ d *drawing }

// Figure is what is drawn.
func (c *Canvas) Figure() *view.Figure { return c.d.f }

// Line joins points in the colour and the dash of a model.
func (c *Canvas) Line(model int, points ...[2]float64) {
	c.d.do(func(p *pen) {
		pts := make([]pt, len(points))
		for i, q := range points {
			pts[i] = pt{q[0], q[1]}
		}
		p.line(pts, c.d.pal.model(model), 2, dash(model))
	})
}

// Mark puts the mark of a model at a point.
func (c *Canvas) Mark(model int, x, y float64) {
	c.d.do(func(p *pen) { p.mark(pt{x, y}, model, 3.6, c.d.pal.model(model), c.d.pal.background, false) })
}

// Text writes a text that begins at a point.
func (c *Canvas) Text(x, y float64, text string) {
	c.d.do(func(p *pen) { p.text(pt{x, y}, text, style{size: smallSize, color: c.d.pal.muted}) })
}

// angleMarks say what lines and marks mean where elements lie at the angle of their rotation.
func (d *drawing) angleMarks() []entry {
	pal := d.pal
	marks := []entry{{"median of 15° each; thinner: the worst", func(p *pen, x, y float64) {
		p.line([]pt{{x, y - 2}, {x + 28, y - 2}}, pal.muted, 2, nil)
		p.line([]pt{{x, y + 3}, {x + 28, y + 3}}, pal.muted, 1, nil)
	}}}
	if d.f.Mirrored {
		marks = append(marks, entry{"hollow, thin: inverted", func(p *pen, x, y float64) {
			p.mark(pt{x + 14, y}, 0, 3.6, pal.muted, pal.background, true)
		}})
	}
	return marks
}
