package report

import (
	"fmt"
	"image/color"
	"math"

	"nero/present/view"
	"nero/present/words"
	"nero/symmetry/group"

	"gonum.org/v1/plot/font"
)

// Options say how a picture looks.
type Options struct {
	// default Light
	Theme Theme
	// in CSS pixels, 320 to 4000; default 760. The height follows
	Width float64
	// Forms of layouts that are not among [Forms]
	Forms []Form
}

// Picture is a drawing in two formats. The PNG has two pixels per unit of the SVG.
type Picture struct {
	SVG, PNG []byte
}

// Draw draws a figure. The same figure and options give the same bytes.
func Draw(f *view.Figure, o Options) (*Picture, error) {
	return paint(f, o, fontCache())
}

// paint is Draw with fonts that are at hand.
func paint(f *view.Figure, o Options, fonts *font.Cache) (*Picture, error) {
	d, err := arrange(f, o, fonts)
	if err != nil {
		return nil, err
	}
	var p Picture
	if p.SVG, err = d.svg(); err != nil {
		return nil, err
	}
	p.PNG, err = d.png()
	return &p, err
}

// drawing is a figure whose parts have their places.
type drawing struct {
	f     *view.Figure
	form  Form
	pal   inks
	fonts *font.Cache
	ruler *pen
	w, h  float64
	ops   []func(*pen)
	// takes the operations; nil for the drawing itself
	into *drawing
}

const (
	margin    = 18.0
	titleSize = 15.0
	bodySize  = 11.5
	smallSize = 10.0
	tinySize  = 8.5
)

func (d *drawing) svg() ([]byte, error) {
	return svg(d.w, d.h, d.f.Title, d.f.Alt, d.fonts, d.paint)
}

func (d *drawing) png() ([]byte, error) {
	return raster(d.w, d.h, d.pal.background, d.fonts, d.paint)
}

func (d *drawing) paint(p *pen) {
	p.rect(0, 0, d.w, d.h, d.pal.background)
	for _, op := range d.ops {
		op(p)
	}
}

func (d *drawing) do(op func(*pen)) {
	if d.into != nil {
		d.into.do(op)
		return
	}
	d.ops = append(d.ops, op)
}

// arrange gives every part of a figure its place, from top to bottom.
func arrange(f *view.Figure, o Options, fonts *font.Cache) (*drawing, error) {
	if o.Theme == "" {
		o.Theme = Light
	}
	if o.Theme != Light && o.Theme != Dark {
		return nil, fmt.Errorf("theme %q: want light or dark", o.Theme)
	}
	if o.Width == 0 {
		o.Width = 760
	}
	if !(o.Width >= 320 && o.Width <= 4000) {
		return nil, fmt.Errorf("width %g: want 320 to 4000", o.Width)
	}
	if f.Layout == nil {
		plain := *f
		plain.Layout = view.Strip
		f = &plain
	}
	d := &drawing{f: f, form: formOf(f.Layout, o.Forms), pal: inksOf(o.Theme), fonts: fonts, w: o.Width}
	d.ruler = &pen{handler: newPenHandler(fonts)}
	y := margin
	y = d.lines(y, f.Title, style{size: titleSize, bold: true, color: d.pal.text}, 20)
	y = d.lines(y+1, f.Subtitle, style{size: bodySize, color: d.pal.muted}, 16)
	y = d.legend(y + 8)
	y = d.panels(y + 8)
	for _, n := range f.Notes {
		y = d.lines(y+2, n, style{size: smallSize, color: d.pal.muted}, 14)
	}
	d.h = math.Ceil(y + margin - 4)
	return d, nil
}

// lines writes a text from y downward, wrapped, and returns where it ends.
func (d *drawing) lines(y float64, t string, s style, height float64) float64 {
	for _, l := range d.ruler.wrap(t, s, d.w-2*margin) {
		base := y + height - float64(0.3*s.size) - 1
		d.do(func(p *pen) { p.text(pt{margin, base}, l, s) })
		y += height
	}
	return y
}

// switchOf is the name of the switch that tells the thin lines of a figure from the others.
func switchOf(f *view.Figure) string {
	for _, a := range f.Axes {
		if a.Switch() {
			return a.Name
		}
	}
	return "mirrored"
}

// entry is a sample of a line or mark with its meaning.
type entry struct {
	label string
	// within 28 units from x, about y
	draw func(p *pen, x, y float64)
}

// legend says which line is which model, and what bands and marks mean.
func (d *drawing) legend(y float64) float64 {
	f, pal := d.f, d.pal
	var models, marks []entry
	if !f.Layout.Colored {
		for _, k := range f.Legend {
			models = append(models, entry{k.Name, func(p *pen, x, y float64) {
				c := pal.model(k.Model)
				switch {
				case f.Layout.Order != "":
				case f.Discrete:
					p.line([]pt{{x, y}, {x + 28, y}}, alpha(c, guide), 1, dash(k.Model))
				default:
					p.line([]pt{{x, y}, {x + 28, y}}, c, 2, dash(k.Model))
				}
				p.mark(pt{x + 14, y}, k.Model, 3.6, c, pal.background, false)
			}})
		}
	}
	swatch := func(opacity ...uint8) func(p *pen, x, y float64) {
		return func(p *pen, x, y float64) {
			for _, o := range opacity {
				p.rect(x+2, y-5, 24, 10, alpha(pal.muted, o))
			}
		}
	}
	if f.Spread != "" {
		marks = append(marks, entry{f.Spread, swatch(2 * pal.band)})
	}
	if f.Interval != "" && f.Dense {
		marks = append(marks, entry{f.Interval, swatch(hairline)})
	} else if f.Interval != "" {
		marks = append(marks, entry{f.Interval, swatch(2*pal.band, 2*pal.interval-40)})
	}
	has := d.contents()
	if d.form.legend != nil {
		marks = append(marks, d.form.legend(d)...)
	} else {
		marks = append(marks, d.exactMarks(has)...)
		marks = append(marks, d.mirrorMarks()...)
	}
	if has.wrong {
		marks = append(marks,
			entry{"wrong class", func(p *pen, x, y float64) { p.cross(pt{x + 14, y}, 3, pal.muted, 1.2) }})
	}
	if has.gap {
		marks = append(marks, entry{"no value", func(p *pen, x, y float64) { d.absent(p, pt{x + 14, y}) }})
	}
	if f.Layout.Colored {
		marks = append(marks,
			entry{"identity", func(p *pen, x, y float64) { p.circle(pt{x + 14, y}, 4, pal.text, 1.4) }},
			entry{"worst", func(p *pen, x, y float64) { p.cross(pt{x + 14, y}, 3.4, pal.text, 1.4) }})
	}
	y = d.entries(y, models, style{size: bodySize, color: pal.text, middle: true}, 19)
	return d.entries(y, marks, style{size: smallSize, color: pal.muted, middle: true}, 17)
}

// exactMarks say how exact elements are told from others.
func (d *drawing) exactMarks(has contents) []entry {
	f, pal := d.f, d.pal
	if f.Layout.Colored {
		return nil
	}
	switch {
	case f.Exact && has.hollow:
		return []entry{{"filled: exact element; hollow: resampled", func(p *pen, x, y float64) {
			p.mark(pt{x + 8, y}, 0, 3.6, pal.muted, pal.background, false)
			p.mark(pt{x + 20, y}, 0, 3.6, pal.muted, pal.background, true)
		}}}
	case f.Exact && f.Comb:
		return []entry{{"exact element (no resampling), apart from the curve", func(p *pen, x, y float64) {
			p.mark(pt{x + 14, y}, 0, 3.6, pal.muted, pal.background, false)
		}}}
	case f.Exact:
		return []entry{{"exact element (no resampling)", func(p *pen, x, y float64) {
			p.mark(pt{x + 14, y}, 0, 3.6, pal.muted, pal.background, false)
		}}}
	}
	return nil
}

// mirrorMarks say how elements beyond a switch are told from others.
func (d *drawing) mirrorMarks() []entry {
	f, pal := d.f, d.pal
	line := func(width float64) func(p *pen, x, y float64) {
		return func(p *pen, x, y float64) { p.line([]pt{{x, y}, {x + 28, y}}, pal.muted, width, nil) }
	}
	switch {
	case !f.Mirrored:
		return nil
	case !f.Layout.Round && f.Axes[0].Kind != group.KindTurn:
		return []entry{{"thin: " + switchOf(f), line(1)}}
	}
	return []entry{{"turned only", line(2.4)}, {"mirrored, then turned", line(1)}}
}

func (d *drawing) entries(y float64, es []entry, s style, height float64) float64 {
	x := margin
	for i, e := range es {
		label := d.ruler.clip(e.label, s, d.w-2*margin-34)
		w := 34 + d.ruler.width(label, s)
		if i > 0 && x+w > d.w-margin {
			x, y = margin, y+height
		}
		at := pt{x, y + height/2}
		d.do(func(p *pen) {
			e.draw(p, at.x, at.y)
			p.text(pt{at.x + 34, at.y}, label, s)
		})
		x += w + 20
	}
	if len(es) > 0 {
		y += height
	}
	return y
}

// contents is what the legend has to explain.
type contents struct{ wrong, gap, hollow bool }

func (d *drawing) contents() contents {
	var c contents
	for _, p := range d.f.Panels {
		for _, s := range p.Series {
			c.hollow = c.hollow || d.marked(s)
			for _, q := range s.Points {
				c.wrong = c.wrong || q.Wrong
				c.gap = c.gap || math.IsNaN(float64(q.Value))
			}
		}
	}
	return c
}

// few is the number of elements up to which every one gets a mark.
const few = 24

// marked reports whether every element of a series gets a mark and not only the exact ones.
func (d *drawing) marked(s view.Series) bool {
	return d.f.Layout.Order != "" || len(s.Points) <= few
}

// absent is the sign for an element without a value.
func (d *drawing) absent(p *pen, q pt) { p.cross(q, 2.4, d.pal.muted, 1) }

// panels arranges the plots in rows and returns where they end.
func (d *drawing) panels(y float64) float64 {
	f := d.f
	n := len(f.Panels)
	if n == 0 {
		return y
	}
	inner := d.w - 2*margin
	if n == 1 {
		return d.single(y, inner)
	}
	least, most := d.form.Least, d.form.Most
	if d.form.Roomy > 0 && n <= 4 {
		least = d.form.Roomy
	}
	cols := max(1, min(n, most, int(inner/least)))
	if f.Layout.Colored && !f.Layout.Cut && len(f.Legend) > 1 && len(f.Legend) <= cols {
		cols = len(f.Legend) // one row per slice or sample
	}
	const gap = 10.0
	w := (inner - float64(gap*float64(cols-1))) / float64(cols)
	for i := 0; i < n; i += cols {
		row := f.Panels[i:min(i+cols, n)]
		head := 0.0
		for j := range row {
			head = max(head, d.headHeight(&row[j], w))
		}
		bottom := y
		for j := range row {
			x := margin + float64(float64(j)*(w+gap))
			d.head(&row[j], x, y, w)
			bottom = max(bottom, d.plot(&row[j], x, y+head, w, true))
		}
		y = bottom + 10
	}
	if f.Layout.Colored {
		y = d.bar(y)
	}
	return y
}

// single draws the only plot large, with its summary beside it.
func (d *drawing) single(y, inner float64) float64 {
	p := &d.f.Panels[0]
	if d.form.Wide {
		head := 0.0
		if p.Picture != nil || p.Note != "" {
			head = d.headHeight(p, inner)
			d.head(p, margin, y, inner)
		}
		y = d.plot(p, margin, y+head, inner, false)
		return d.stats(p, margin, y+8, min(inner, 520))
	}
	plot := min(400, inner)
	side := inner - plot - 24
	beside := side >= 230
	bottom := d.plot(p, margin, y, plot, false)
	if d.f.Layout.Colored {
		bottom = d.bar(bottom + 6)
	}
	if !beside {
		y = bottom
		if p.Picture != nil || p.Note != "" {
			d.head(p, margin, y, inner)
			y += d.headHeight(p, inner)
		}
		return d.stats(p, margin, y+4, inner)
	}
	x := margin + plot + 24
	top := y + 20
	if p.Picture != nil || p.Note != "" {
		d.head(p, x, top, side)
		top += d.headHeight(p, side)
	}
	return max(bottom, d.stats(p, x, top, side))
}

const pictureSize = 60.0

func (d *drawing) headHeight(p *view.Panel, w float64) float64 {
	title, note := d.headText(p, w)
	h := float64(15*float64(len(title))) + float64(13*float64(len(note))) + 6
	if p.Picture != nil {
		h = max(h, pictureSize+8)
	}
	return h
}

func (d *drawing) headText(p *view.Panel, w float64) (title, note []string) {
	if p.Picture != nil {
		w -= pictureSize + 8
	}
	t := p.Title
	n := p.Note
	if len(d.f.Panels) > 1 && d.f.Layout.Colored && len(p.Stats) == 1 && p.Stats[0].Element >= 0 &&
		!p.Series[0].Mirrored {
		s := p.Stats[0]
		n = join(n, fmt.Sprintf("mean %s, %s %s at %s", words.Number(float64(s.Orbit.Mean)), d.worst(),
			words.Number(float64(s.Worst)), s.At))
	}
	if p.N > 0 && len(d.f.Panels) > 1 {
		n = join("n = "+words.Count(p.N), n)
	}
	return d.ruler.wrap(t, d.headStyle(), w), d.ruler.wrap(n, d.noteStyle(), w)
}

func (d *drawing) headStyle() style { return style{size: bodySize, bold: true, color: d.pal.text} }
func (d *drawing) noteStyle() style { return style{size: smallSize, color: d.pal.muted} }

// head writes the title of a plot, with the input beside it.
func (d *drawing) head(p *view.Panel, x, y, w float64) {
	title, note := d.headText(p, w)
	if p.Picture != nil {
		img := p.Picture
		at := pt{x, y}
		d.do(func(p *pen) {
			p.image(img, at.x, at.y, pictureSize)
			p.frame(at.x, at.y, pictureSize, pictureSize, d.pal.rim, 0.7)
		})
		x += pictureSize + 8
	}
	for _, l := range title {
		base := y + 11
		d.do(func(p *pen) { p.text(pt{x, base}, l, d.headStyle()) })
		y += 15
	}
	for _, l := range note {
		base := y + 10
		d.do(func(p *pen) { p.text(pt{x, base}, l, d.noteStyle()) })
		y += 13
	}
}

// plot draws one plot into a width and returns where it ends.
func (d *drawing) plot(p *view.Panel, x, y, w float64, small bool) float64 {
	return d.form.Draw(&Canvas{d}, p, x, y, w, small)
}

// stats is the table beside a single plot.
func (d *drawing) stats(p *view.Panel, x, y, w float64) float64 {
	if len(p.Stats) == 0 {
		return y
	}
	head := style{size: smallSize, color: d.pal.muted, align: right}
	cell := style{size: bodySize, color: d.pal.text, align: right}
	small := style{size: tinySize, color: d.pal.muted, align: right}
	// Columns are right-aligned and as wide as they have to be; the name takes what is left.
	titles := [3]string{"at identity", "mean over orbit", d.worst()}
	type row struct{ above, below [3]string }
	rows := make([]row, len(p.Stats))
	var widths [3]float64
	for i, t := range titles {
		widths[i] = d.ruler.width(t, head)
	}
	height := 22.0
	for k, s := range p.Stats {
		r := &rows[k]
		r.above = [3]string{
			words.Number(float64(s.Identity)), words.Number(float64(s.Orbit.Mean)),
			words.Number(float64(s.Worst)),
		}
		if s.Orbit.N > 1 {
			r.below[1] = interval(float64(s.Orbit.Lo), float64(s.Orbit.Hi))
		}
		if s.At != "" {
			r.below[2] = d.ruler.clip("at "+s.At, small, 0.4*w)
		}
		for i := range titles {
			widths[i] = max(widths[i], d.ruler.width(r.above[i], cell), d.ruler.width(r.below[i], small))
			if r.below[i] != "" {
				height = 33
			}
		}
	}
	var at [3]float64
	end := x + w
	for i := len(at) - 1; i >= 0; i-- {
		at[i] = end
		end -= widths[i] + 14
	}
	base := y + 10
	d.do(func(pn *pen) {
		for i, t := range titles {
			pn.text(pt{at[i], base}, t, head)
		}
		pn.line([]pt{{x, base + 6}, {x + w, base + 6}}, d.pal.grid, 1, nil)
	})
	y += 18
	for k, s := range p.Stats {
		name := style{size: bodySize, bold: true, color: d.pal.text}
		base, rule := y+13, y+height
		label := d.ruler.clip(s.Name, name, end-x-14)
		c := d.pal.model(s.Model)
		d.do(func(pn *pen) {
			pn.mark(pt{x + 5, base - 4}, s.Model, 4, c, d.pal.background, false)
			pn.text(pt{x + 14, base}, label, name)
			for i := range at {
				pn.text(pt{at[i], base}, rows[k].above[i], cell)
				pn.text(pt{at[i], base + 12}, rows[k].below[i], small)
			}
			pn.line([]pt{{x, rule}, {x + w, rule}}, d.pal.grid, 1, nil)
		})
		y = rule
	}
	return y + 4
}

// worst is the word for the worst value.
func (d *drawing) worst() string {
	if d.f.Better == "lower" {
		return "highest"
	}
	return "lowest"
}

func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}

// runs cuts points into stretches without gaps. Points for which apart is true stand beside the curve and are no gap.
// The curve of a full turn without gaps is closed.
func runs(s view.Series, apart func(view.Point) bool) (stretches [][]view.Point, closed bool) {
	var cur []view.Point
	gap := false
	for _, q := range s.Points {
		switch {
		case apart(q):
		case math.IsNaN(float64(q.Value)):
			gap = true
			if len(cur) > 0 {
				stretches = append(stretches, cur)
			}
			cur = nil
		default:
			cur = append(cur, q)
		}
	}
	if len(cur) > 0 {
		stretches = append(stretches, cur)
	}
	if !s.Closed || len(stretches) == 0 {
		return stretches, false
	}
	if !gap {
		return stretches, len(stretches[0]) > 1
	}
	valid := func(q view.Point) bool { return apart(q) || !math.IsNaN(float64(q.Value)) }
	if n := len(stretches); n > 1 && valid(s.Points[0]) && valid(s.Points[len(s.Points)-1]) {
		// The turn begins in the middle of a stretch.
		joined := append(append([]view.Point{}, stretches[n-1]...), stretches[0]...)
		stretches = append([][]view.Point{joined}, stretches[1:n-1]...)
	}
	return stretches, false
}

func (d *drawing) apart(q view.Point) bool { return d.f.Comb && q.Exact }

// lineWidth is that of a series.
func (d *drawing) lineWidth(s view.Series, small bool) float64 {
	w := 2.0
	if d.f.Discrete {
		w = 1.4
	}
	if small {
		w = min(w, 1.6)
	}
	if s.Mirrored {
		w = 0.5 * w
	}
	return w
}

// guide is the opacity of lines between elements that have nothing between them.
const guide = 130

// lineColor is that of a series.
func (d *drawing) lineColor(s view.Series) color.NRGBA {
	c := d.pal.model(s.Model)
	if d.f.Discrete {
		c.A = guide
	}
	return c
}

// slot is the room for the marks of a series beside those of others at the same element.
func (d *drawing) slot(small bool) (n int, width float64) {
	n = len(d.f.Legend)
	if d.f.Mirrored {
		n *= 2
	}
	width = min(7, 32/float64(n))
	if small {
		width *= 0.55
	}
	return n, width
}

// shift is how far the marks of a series stand beside their place, so that those of several series do not cover each
// other.
func (d *drawing) shift(s view.Series, small bool) float64 {
	n, width := d.slot(small)
	i := s.Model
	if d.f.Mirrored {
		i *= 2
		if s.Mirrored {
			i++
		}
	}
	return float64((float64(i) - float64(n-1)/2) * width)
}

// bars draws spread and interval at a single element, along the line from one value to another.
func (d *drawing) bars(pn *pen, q view.Point, model int, small bool, at func(v float64) pt) {
	_, wide := d.slot(small)
	narrow := max(1, 0.3*wide)
	bar := func(low, high float64, c color.NRGBA, width float64) {
		if u, w := d.f.Scale.Pos(low), d.f.Scale.Pos(high); !math.IsNaN(u) && !math.IsNaN(w) {
			pn.line([]pt{at(low), at(high)}, c, width, nil)
		}
	}
	c := d.pal.model(model)
	if d.f.Spread != "" {
		bar(float64(q.P10), float64(q.P90), alpha(c, 2*d.pal.band), wide)
	}
	if d.f.Interval != "" {
		bar(float64(q.Lo), float64(q.Hi), alpha(c, 200), narrow)
	}
}

func halo(p *pen, q pt, t string, s style, background color.NRGBA) {
	w := p.width(t, s)
	x := q.x
	switch s.align {
	case center:
		x -= w / 2
	case right:
		x -= w
	case left:
	}
	p.rect(x-1.5, q.y-float64(0.55*s.size), w+3, 1.1*s.size, alpha(background, 190))
	p.text(q, t, s)
}
