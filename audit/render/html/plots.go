package html

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"html"
	"html/template"
	"image"
	"image/png"
	"math"
	"slices"
	"strconv"
	"strings"

	"nero/audit/document"
	"nero/internal/elementary"
	"nero/present/words"
)

// figure is a plot with its numbers.
type figure struct {
	ID, Title, Note string
	SVG             template.HTML
	Tables          []grid
}

// grid is a table of a page.
type grid struct {
	Caption string
	Head    []cell
	Rows    [][]cell
	// what was left out; may be empty
	Foot string
}

// cell is one field; the first of a row is its heading.
type cell struct {
	Text, Doc string
	Number    bool
}

func word(s string) cell { return cell{Text: s} }

// exact writes a number for a table: six digits.
func exact(x float64) cell {
	switch {
	case math.IsNaN(x):
		return cell{Text: "–", Doc: "undefined", Number: true}
	case math.IsInf(x, 0):
		return cell{Text: "infinite", Number: true}
	}
	return cell{Text: strconv.FormatFloat(x, 'g', 6, 64), Number: true}
}

// Sizes of a drawing in its own units, which a wide screen shows as pixels.
const (
	width  = 420.0
	height = 280.0
)

// figures makes plots with identifiers of their own.
type figures struct {
	n int
	// of every name, so that a page may hold several audits
	prefix string
}

func (f *figures) id(kind string) string {
	f.n++
	return f.prefix + kind + strconv.Itoa(f.n)
}

// wrap puts a drawing into an element with a title and a sentence for those who do not see it.
func (f *figures) wrap(title, note, sentence string, h float64, body string, tables ...grid) figure {
	id := f.id("fig")
	var b strings.Builder
	fmt.Fprintf(&b, `<svg viewBox="0 0 %s %s" role="img" aria-labelledby="%s-t %s-d"><title id="%s-t">%s</title><desc id="%s-d">%s</desc>%s</svg>`,
		px(width), px(h), id, id, id, html.EscapeString(title), id, html.EscapeString(sentence), body)
	return figure{
		ID: id, Title: title, Note: note, SVG: template.HTML(b.String()),
		Tables: tables,
	} //nolint:gosec // every text above is escaped
}

// series is a line or marks.
type series struct {
	name         string
	x, y, lo, hi []float64
	labels       []string
	marks        bool
	// its colour, dash and mark
	style int
}

// level is a line across.
type level struct {
	name  string
	value float64
}

// plot is a line plot before it is drawn.
type plot struct {
	title, note, sentence string
	x, y                  document.Scale
	series                []series
	levels                []level
	// the x axis is an angle in degrees
	turn bool
}

// legend is drawn above a plot; it returns its height.
func legend(p *pen, ss []series, levels []level) float64 {
	x, y := 8.0, 14.0
	entry := func(name string, swatch func()) {
		name = words.Clip(name, 44)
		w := 40 + wide(name)
		if x+w > width && x > 8 {
			x, y = 8, y+17
		}
		swatch()
		p.text("lb", "start", x+28, y, name)
		x += w
	}
	for _, s := range ss {
		entry(s.name, func() {
			if !s.marks {
				p.add(`<path class="s%d" stroke-dasharray="%s" d="M%s %sh22"/>`, s.style%colors, dash(s.style), px(x),
					px(y-4))
			}
			p.mark(s.style, x+11, y-4, 3.2)
		})
	}
	for i, l := range levels {
		entry(l.name, func() { p.add(`<path class="lv%d" d="M%s %sh22"/>`, i%2, px(x), px(y-4)) })
	}
	return y + 8
}

func (f *figures) plot(l plot) figure {
	p := &pen{}
	top := legend(p, l.series, l.levels)
	h := height + top
	left, right, bottom := 58.0, width-14, h-44
	var xs, ys []float64
	for _, s := range l.series {
		xs = append(xs, s.x...)
		ys = append(append(append(ys, s.y...), s.lo...), s.hi...)
	}
	for _, v := range l.levels {
		if !l.y.Log || v.value > 0 {
			ys = append(ys, v.value)
		}
	}
	x, y := newAxis(xs, l.x.Log, left, right), newAxis(ys, l.y.Log, bottom, top+8)
	if l.turn {
		x.degrees()
	}
	frame(p, x, y, l.x.Heading(), l.y.Heading())
	for i, v := range l.levels {
		if finite(v.value) {
			at := y.pos(v.value)
			p.line("lv"+strconv.Itoa(i%2), left, at, right, at)
		}
	}
	for _, s := range l.series {
		if len(s.lo) == len(s.x) && len(s.hi) == len(s.x) {
			band(p, s, x, y)
		}
	}
	for _, s := range l.series {
		dots(p, s, x, y)
	}
	return f.wrap(l.title, l.note, l.sentence, h, p.b.String(), numbersOf(l))
}

// dots draws the line, the marks and the labels of a series.
func dots(p *pen, s series, x, y axis) {
	r := radius(len(s.x))
	if !s.marks {
		if d := path(s, x, y); d != "" {
			p.add(`<path class="s%d" stroke-dasharray="%s" d="%s"/>`, s.style%colors, dash(s.style), d)
		}
	} else {
		r = max(r, 2.4)
	}
	for k := range s.x {
		if !finite(s.x[k]) || !finite(s.y[k]) {
			continue
		}
		ax, ay := x.pos(s.x[k]), y.pos(s.y[k])
		if r > 0 {
			p.mark(s.style, ax, ay, r)
		}
		if s.marks && len(s.labels) <= 8 && k < len(s.labels) {
			anchor := "start"
			if ax > (x.from+x.to)/2 {
				anchor = "end"
			}
			p.tip("lb halo", anchor, ax, ay-8, words.Clip(s.labels[k], 24), s.labels[k])
		}
	}
}

// radius of the dots of a line with n points; many points have none.
func radius(n int) float64 {
	if n <= 40 {
		return 2.4
	}
	return 0
}

// path joins the points of a series; unknown ones break it.
func path(s series, x, y axis) string {
	var b strings.Builder
	to := "M"
	for k := range s.x {
		if !finite(s.x[k]) || !finite(s.y[k]) {
			to = "M"
			continue
		}
		b.WriteString(to + px(x.pos(s.x[k])) + " " + px(y.pos(s.y[k])))
		to = "L"
	}
	return b.String()
}

// band draws the limits of a series: an area below a line, bars below marks.
func band(p *pen, s series, x, y axis) {
	var up, down []string
	for k := range s.x {
		if !finite(s.x[k]) || !finite(s.lo[k]) || !finite(s.hi[k]) {
			continue
		}
		at, lo, hi := x.pos(s.x[k]), y.pos(s.lo[k]), y.pos(s.hi[k])
		if s.marks {
			p.line("s"+strconv.Itoa(s.style%colors), at, lo, at, hi)
			continue
		}
		up, down = append(up, px(at)+" "+px(hi)), append(down, px(at)+" "+px(lo))
	}
	if len(up) > 1 {
		slices.Reverse(down)
		p.add(`<path class="b%d" d="M%sZ"/>`, s.style%colors, strings.Join(append(up, down...), "L"))
	}
}

// frame draws grid, axes and their names.
func frame(p *pen, x, y axis, xname, yname string) {
	for _, t := range y.ticks {
		at := y.pos(t.at)
		p.line("gr", x.from, at, x.to, at)
		p.text("tk", "end", x.from-6, at+4, t.label)
	}
	for _, t := range x.ticks {
		at := x.pos(t.at)
		p.line("gr", at, y.from, at, y.to)
		p.text("tk", "middle", at, y.from+16, t.label)
	}
	p.line("ax", x.from, y.from, x.to, y.from)
	p.line("ax", x.from, y.from, x.from, y.to)
	p.tip("lb", "middle", (x.from+x.to)/2, y.from+34, words.Clip(xname, 52), xname)
	upright(p, (y.from+y.to)/2, yname)
}

// upright writes the name of a vertical axis.
func upright(p *pen, mid float64, name string) {
	p.add(`<g transform="rotate(-90 14 %s)">`, px(mid))
	p.tip("lb", "middle", 14, mid, words.Clip(name, 40), name)
	p.add(`</g>`)
}

// numbersOf is the table below a plot: one row per point.
func numbersOf(l plot) grid {
	g := grid{
		Caption: l.title + ": numbers",
		Head: []cell{
			word("series"),
			{Text: l.x.Heading(), Number: true},
			{Text: l.y.Heading(), Number: true},
		},
	}
	limits, labels := false, false
	for _, s := range l.series {
		limits = limits || len(s.lo) > 0
		labels = labels || len(s.labels) > 0
	}
	if limits {
		g.Head = append(g.Head, cell{Text: "from", Number: true}, cell{Text: "to", Number: true})
	}
	if labels {
		g.Head = append(g.Head, word("at"))
	}
	at := func(v []float64, k int) cell {
		if k < len(v) {
			return exact(v[k])
		}
		return word("")
	}
	for _, s := range l.series {
		for k := range s.x {
			row := []cell{word(s.name), exact(s.x[k]), exact(s.y[k])}
			if limits {
				row = append(row, at(s.lo, k), at(s.hi, k))
			}
			if labels {
				t := ""
				if k < len(s.labels) {
					t = s.labels[k]
				}
				row = append(row, word(t))
			}
			g.Rows = append(g.Rows, row)
		}
	}
	for _, v := range l.levels {
		row := []cell{word(v.name), word(""), exact(v.value)}
		for len(row) < len(g.Head) {
			row = append(row, word(""))
		}
		g.Rows = append(g.Rows, row)
	}
	return g
}

// floats are numbers to draw.
func floats(ns []document.Number) []float64 {
	out := make([]float64, len(ns))
	for i, n := range ns {
		out[i] = float64(n)
	}
	return out
}

// curve draws an exhibit.
func (f *figures) curve(e document.Exhibit) figure {
	c := e.Curve
	l := plot{title: e.Title, note: e.Note, x: c.X, y: c.Y}
	var xs, ys []float64
	for i, s := range c.Series {
		n := min(len(s.X), len(s.Y))
		t := series{name: s.Name, x: floats(s.X[:n]), y: floats(s.Y[:n]), marks: s.Marks, labels: s.Labels, style: i}
		if len(s.Lo) >= n && len(s.Hi) >= n {
			t.lo, t.hi = floats(s.Lo[:n]), floats(s.Hi[:n])
		}
		l.series = append(l.series, t)
		xs, ys = append(xs, t.x...), append(ys, t.y...)
	}
	l.sentence = fmt.Sprintf("%s over %s, %d series", c.Y.Heading(), c.X.Heading(), len(l.series))
	if lo, hi := ends(ys); lo <= hi {
		l.sentence += fmt.Sprintf(", from %s to %s", words.Figures(lo), words.Figures(hi))
	}
	l.sentence += "."
	if v := document.Or(c.Limit); finite(v) && len(l.series) > 0 {
		l.levels = []level{{"limit " + words.Figures(v), v}}
	}
	lo, hi := ends(xs)
	l.turn = c.X.Unit == "deg" && !c.X.Log && 40 < hi-lo && hi-lo <= 720
	return f.plot(l)
}

// ends are the smallest and the largest finite value; lo > hi if there is none.
func ends(values []float64) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if finite(v) {
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	return lo, hi
}

// mostRows is up to how many elements have a row of their own in the profile of a group with several coordinates.
const mostRows = 40

// point is an element of a profile with the set that it belongs to.
type point struct {
	*document.Point
	at  []float64
	set *document.Set
}

// profile draws the error over the orbit: elements that resample as lines, exact ones as marks of their own (the comb),
// with the floors and the threshold.
func (f *figures) profile(r *document.Model, sets []*document.Set) []figure {
	var pts []point
	for _, s := range sets {
		for i := range s.Profile {
			pts = append(pts, point{&s.Profile[i], floats(s.Profile[i].Coordinates), s})
		}
	}
	if len(pts) == 0 {
		return nil
	}
	var chart []document.Axis
	if len(r.Claim.Axes) == len(pts[0].at) {
		chart = r.Claim.Axes
	}
	name := "Error along the orbit of " + r.Claim.Group
	worst := slices.MaxFunc(pts, func(a, b point) int { return compare(most(a), most(b)) })
	sentence := fmt.Sprintf("Mean and largest %s over inputs at %s; largest %s at %s; threshold %s.",
		errorName(pts[0].set.Unit), words.Plural(len(pts), "element", "elements"), worst.Max, worst.Element,
		r.Policy.Threshold)
	dims := len(pts[0].at)
	for _, p := range pts {
		if len(p.at) != dims {
			dims = 0 // made by hand, and not by a group
		}
	}
	var fig figure
	switch {
	case dims == 1:
		fig = f.orbit(r, pts, chart, name, sentence)
	case len(pts) <= mostRows:
		fig = f.rows(r, pts, name, sentence)
	case dims == 2 && square(pts):
		fig = f.plane(pts, chart, name, sentence)
	default:
		fig = f.ranked(r, pts, name, sentence)
	}
	fig.Tables = []grid{profileTable(pts)}
	return []figure{fig}
}

// compare orders numbers; NaN comes first.
func compare(a, b float64) int {
	switch {
	case math.IsNaN(a) && math.IsNaN(b):
		return 0
	case math.IsNaN(a) || a < b:
		return -1
	case math.IsNaN(b) || a > b:
		return 1
	}
	return 0
}

func errorName(unit string) string {
	if unit != "" {
		return "error, " + unit
	}
	return "relative error"
}

func profileTable(pts []point) grid {
	g := grid{Caption: "Error at each element", Head: []cell{
		word("element"), word("set"),
		{Text: "inputs", Number: true},
		{Text: "mean", Number: true},
		{Text: "p95", Number: true},
		{Text: "largest", Number: true},
		{Text: "floor", Doc: "mean resampling floor", Number: true},
		word("state"),
	}}
	for _, p := range pts {
		g.Rows = append(g.Rows, []cell{
			word(p.Element), word(p.set.Name),
			{Text: strconv.Itoa(p.N), Number: true},
			exact(mean(p)),
			exact(float64(p.P95)),
			exact(most(p)),
			exact(floor(p)),
			word(p.State),
		})
	}
	return g
}

// column takes one number of every point.
func column(pts []point, f func(point) float64) []float64 {
	out := make([]float64, len(pts))
	for i, p := range pts {
		out[i] = f(p)
	}
	return out
}

func mean(p point) float64  { return float64(p.Mean) }
func most(p point) float64  { return float64(p.Max) }
func floor(p point) float64 { return float64(p.Resampling) }

// levels are the threshold and the rounding floor.
func levels(r *document.Model, pts []point) []level {
	var ls []level
	if t := r.Policy.Threshold; t > 0 {
		ls = append(ls, level{"threshold " + t.String(), float64(t)})
	}
	rounding := 0.0
	for _, p := range pts {
		if v := float64(p.set.Rounding); finite(v) {
			rounding = max(rounding, v)
		}
	}
	if rounding > 0 {
		ls = append(ls, level{"rounding floor " + words.Figures(rounding), rounding})
	}
	return ls
}

// orbit is the profile of a group with one coordinate.
func (f *figures) orbit(r *document.Model, pts []point, chart []document.Axis, name, sentence string) figure {
	pts = slices.Clone(pts)
	at := func(p point) float64 { return p.at[0] }
	slices.SortStableFunc(pts, func(a, b point) int { return compare(at(a), at(b)) })
	var between, comb []point
	for _, p := range pts {
		if p.Exact {
			comb = append(comb, p)
		} else {
			between = append(between, p)
		}
	}
	l := plot{
		title: name, sentence: sentence, x: document.Scale{Name: "element"},
		y: document.Scale{Name: errorName(pts[0].set.Unit), Log: true}, levels: levels(r, pts),
	}
	if chart != nil {
		l.x = document.Scale{Name: chart[0].Name, Unit: chart[0].Unit}
		l.turn = chart[0].Angle
	}
	if len(between) > 0 {
		l.series = append(l.series,
			series{name: "mean over inputs", x: column(between, at), y: column(between, mean)},
			series{name: "largest", x: column(between, at), y: column(between, most), style: 1})
		if slices.ContainsFunc(between, func(p point) bool { return p.Resampling > 0 }) {
			l.series = append(l.series,
				series{name: "resampling floor", x: column(between, at), y: column(between, floor), style: 5})
		}
	}
	if len(comb) > 0 {
		l.series = append(l.series,
			series{name: "exact: mean", x: column(comb, at), y: column(comb, mean), marks: true, style: 2},
			series{name: "exact: largest", x: column(comb, at), y: column(comb, most), marks: true, style: 3})
	}
	if len(between) > 0 && len(comb) > 0 {
		l.note = "Diamonds and triangles are elements that act without resampling; they must hold before anything " +
			"between them can."
	}
	return f.plot(l)
}

// rows is the profile of a few elements: a row for each, from its mean to its largest error.
func (f *figures) rows(r *document.Model, pts []point, name, sentence string) figure {
	p := &pen{}
	ls := levels(r, pts)
	names := []series{{name: "mean over inputs", marks: true}, {name: "largest", marks: true, style: 1}}
	resampled := slices.ContainsFunc(pts, func(q point) bool { return q.Resampling > 0 })
	if resampled {
		names = append(names, series{name: "resampling floor", marks: true, style: 5})
	}
	top := legend(p, names, ls) + 8
	const row, right = 19.0, width - 14
	left := 60.0
	for _, q := range pts {
		left = min(max(left, wide(q.Element)+30), 200)
	}
	bottom := top + float64(row*float64(len(pts))) + 6
	values := append(column(pts, mean), column(pts, most)...)
	if resampled {
		for _, q := range pts {
			if !q.Exact {
				values = append(values, floor(q))
			}
		}
	}
	for _, l := range ls {
		values = append(values, l.value)
	}
	x := newAxis(values, true, left, right)
	for _, t := range x.ticks {
		p.line("gr", x.pos(t.at), top, x.pos(t.at), bottom)
		p.text("tk", "middle", x.pos(t.at), bottom+16, t.label)
	}
	for i, l := range ls {
		p.line("lv"+strconv.Itoa(i%2), x.pos(l.value), top, x.pos(l.value), bottom)
	}
	for i, q := range pts {
		y := top + float64(row*(float64(i)+0.5)) + 3
		label := q.Element
		if q.Exact {
			label += " ◆"
		}
		p.tip("tk", "end", left-8, y+4, words.Clip(label, 28), label)
		p.line("gr", left, y, right, y)
		if mean, most := mean(q), most(q); finite(mean) && finite(most) {
			p.line("s0", x.pos(mean), y, x.pos(most), y)
			p.mark(0, x.pos(mean), y, 4)
			p.mark(1, x.pos(most), y, 3.6)
		}
		if resampled && finite(floor(q)) {
			p.mark(5, x.pos(floor(q)), y, 3.6)
		}
	}
	p.line("ax", left, bottom, right, bottom)
	p.text("lb", "middle", (left+right)/2, bottom+34, errorName(pts[0].set.Unit))
	note := ""
	if slices.ContainsFunc(pts, func(q point) bool { return q.Exact }) {
		note = "Elements with ◆ act without resampling."
	}
	return f.wrap(name, note, sentence, bottom+42, p.b.String())
}

// square reports whether the elements stand on a grid without many gaps.
func square(pts []point) bool {
	xs, ys := coordinates(pts)
	return len(xs)*len(ys) <= 4*len(pts)
}

func coordinates(pts []point) (xs, ys []float64) {
	xs, ys = column(pts, func(p point) float64 { return p.at[0] }),
		column(pts, func(p point) float64 { return p.at[1] })
	slices.Sort(xs)
	slices.Sort(ys)
	return slices.Compact(xs), slices.Compact(ys)
}

// plane is the profile of many elements with two coordinates: a square for each.
func (f *figures) plane(pts []point, chart []document.Axis, name, sentence string) figure {
	xs, ys := coordinates(pts)
	m := raster{h: len(ys), w: len(xs), unit: "log₁₀ of the mean error", values: make([]float64, len(xs)*len(ys))}
	for i := range m.values {
		m.values[i] = math.NaN()
	}
	for _, p := range pts {
		i, _ := slices.BinarySearch(xs, p.at[0])
		j, _ := slices.BinarySearch(ys, p.at[1])
		if p.Mean > 0 {
			m.values[j*len(xs)+i] = elementary.Log10(mean(p))
		}
	}
	xname, yname := "first coordinate", "second coordinate"
	if chart != nil {
		xname, yname = chart[0].Heading(), chart[1].Heading()
	}
	return f.raster(name, "Squares without colour have an error of 0 or were not visited; the identity is not.",
		sentence, m, named{xname, xs}, named{yname, ys})
}

// ranked is the profile of many elements with several coordinates: by size.
func (f *figures) ranked(r *document.Model, pts []point, name, sentence string) figure {
	pts = slices.Clone(pts)
	slices.SortStableFunc(pts, func(a, b point) int { return compare(mean(b), mean(a)) })
	var rank []float64
	for i := range pts {
		rank = append(rank, float64(i+1))
	}
	return f.plot(plot{
		title: name, sentence: sentence, note: "Elements in the order of their mean error; the table names them.",
		x: document.Scale{Name: "rank"}, y: document.Scale{Name: errorName(pts[0].set.Unit), Log: true},
		series: []series{
			{name: "mean over inputs", x: rank, y: column(pts, mean)},
			{name: "largest", x: rank, y: column(pts, most), style: 1},
		},
		levels: levels(r, pts),
	})
}

// named is an axis of a raster: what it is called, and its steps.
type named struct {
	name string
	at   []float64
}

// mostCells is up to how many numbers of a map the page lists; the JSON form has them all.
const mostCells = 4096

// raster is a map to be drawn.
type raster struct {
	h, w      int
	unit      string
	diverging bool
	// row by row
	values []float64
}

// mapOf draws an exhibit.
func (f *figures) mapOf(e document.Exhibit) figure {
	m := raster{e.Map.Height, e.Map.Width, e.Map.Unit, e.Map.Diverging, floats(e.Map.Values)}
	if m.h < 1 || m.w < 1 || len(m.values) != m.h*m.w {
		return f.wrap(e.Title, e.Note, "An empty map.", 40, `<text class="lb" x="8" y="24">nothing is known</text>`)
	}
	at := -1
	for i, v := range m.values {
		if finite(v) && (at < 0 || math.Abs(v) > math.Abs(m.values[at])) {
			at = i
		}
	}
	sentence := "Nothing is known."
	if at >= 0 {
		lo, hi := ends(m.values)
		sentence = fmt.Sprintf("%d rows, %d columns, from %s to %s %s, farthest from 0 at row %d, column %d.",
			m.h, m.w, words.Figures(lo), words.Figures(hi), m.unit, at/m.w, at%m.w)
	}
	steps := func(n int) []float64 {
		out := make([]float64, n)
		for i := range out {
			out[i] = float64(i)
		}
		return out
	}
	return f.raster(e.Title, e.Note, sentence, m, named{"column", steps(m.w)}, named{"row", steps(m.h)})
}

func (f *figures) raster(name, note, sentence string, m raster, xs, ys named) figure {
	h := newHeat(m.values, m.diverging)
	const left, top, right = 52.0, 12.0, 88.0
	w := width - left - right
	tall := w * float64(m.h) / float64(m.w)
	if tall > 300 {
		w, tall = w*300/tall, 300
	}
	w, tall = max(w, 12), max(tall, 24)
	bottom := top + tall
	p := &pen{}
	p.rect("un", left, top, w, tall)
	p.picture(left, top, w, tall, h.raster(m.values, m.w, m.h))
	steps := func(n named, each func(u float64, label string)) {
		for k := 0; k < len(n.at); k += max(1, (len(n.at)+5)/6) {
			each((float64(k)+0.5)/float64(len(n.at)), short(n.at[k]))
		}
	}
	steps(xs, func(u float64, label string) { p.text("tk", "middle", left+float64(w*u), bottom+15, label) })
	steps(ys, func(u float64, label string) { p.text("tk", "end", left-6, top+float64(tall*u)+4, label) })
	p.tip("lb", "middle", left+max(w, 40)/2, bottom+32, words.Clip(xs.name, 40), xs.name)
	upright(p, top+tall/2, ys.name)
	at := left + w + 16
	p.picture(at, top, 12, tall, h.bar(64))
	scale := axis{lo: h.lo, hi: h.hi, from: bottom, to: top}
	marks := []float64{h.lo, h.lo/2 + h.hi/2, h.hi}
	if tall < 60 {
		marks = []float64{h.lo, h.hi}
	}
	for _, v := range marks {
		p.text("tk", "start", at+17, scale.pos(v)+4, words.Figures(v))
	}
	if m.unit != "" {
		p.tip("lb", "end", width-4, bottom+32, words.Clip(m.unit, 24), m.unit)
	}
	return f.wrap(name, note, sentence, bottom+40, p.b.String(), mapTable(name, m, xs, ys))
}

// picture puts a raster of numbers into a frame.
func (p *pen) picture(x, y, w, h float64, m image.Image) {
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		return // encoding a picture of at least one pixel into memory does not fail
	}
	p.add(`<image class="pix" x="%s" y="%s" width="%s" height="%s" preserveAspectRatio="none" href="%s"/>`, px(x),
		px(y), px(w), px(h), dataURI(b.Bytes()))
	p.rect("bx", x, y, w, h)
}

// mapTable lists the numbers of a map, or of its rows where there are too many.
func mapTable(name string, m raster, xs, ys named) grid {
	g := grid{Caption: name + ": numbers"}
	if len(m.values) <= mostCells {
		g.Head = []cell{word(ys.name + ` \ ` + xs.name)}
		for _, x := range xs.at {
			g.Head = append(g.Head, cell{Text: short(x), Number: true})
		}
		for j := range m.h {
			row := []cell{word(short(ys.at[j]))}
			for _, v := range m.values[j*m.w : (j+1)*m.w] {
				row = append(row, cell{Text: words.Figures(v), Number: true})
			}
			g.Rows = append(g.Rows, row)
		}
		return g
	}
	g.Head = []cell{
		word("row"),
		{Text: "mean", Number: true},
		{Text: "smallest", Number: true},
		{Text: "largest", Number: true},
		{Text: "unknown", Number: true},
	}
	for j := range m.h {
		row := m.values[j*m.w : (j+1)*m.w]
		sum, n := 0.0, 0
		for _, v := range row {
			if finite(v) {
				sum, n = sum+v, n+1
			}
		}
		lo, hi := ends(row)
		if n == 0 {
			lo, hi = math.NaN(), math.NaN()
		}
		g.Rows = append(g.Rows, []cell{
			word(short(ys.at[j])), exact(sum / float64(n)), exact(lo), exact(hi),
			{Text: strconv.Itoa(m.w - n), Number: true},
		})
	}
	g.Foot = fmt.Sprintf("A map of %d numbers is listed by its rows here; the JSON form has every number.",
		len(m.values))
	return g
}

// dataURI is a picture inside the page.
func dataURI(png []byte) string {
	return "data:image/png;base64," + base64.StdEncoding.EncodeToString(png)
}

// Bounds of tables that are also drawn as bars.
const (
	fewestBars = 2
	mostBars   = 200
	mostPanels = 3
)

// bars draws the numbers of a table whose first column names its rows, a panel for each of up to three columns. ok is
// false where there is nothing to draw.
func (f *figures) bars(e document.Exhibit) (fig figure, ok bool) {
	t := e.Table
	if len(t.Rows) < fewestBars || len(t.Rows) > mostBars || len(t.Columns) < 2 {
		return figure{}, false
	}
	names := map[string]bool{}
	for _, r := range t.Rows {
		if len(r) != len(t.Columns) || r[0].Number || r[0].Text == "" || names[r[0].Text] {
			return figure{}, false
		}
		names[r[0].Text] = true
	}
	panels := drawable(t)
	if len(panels) == 0 {
		return figure{}, false
	}
	p := &pen{}
	const row, left, top, gap = 18.0, 132.0, 26.0, 16.0
	bottom := top + float64(row*float64(len(t.Rows))) + 4
	for i, r := range t.Rows {
		p.tip("tk", "end", left-8, top+float64(row*(float64(i)+0.5))+5, words.Clip(r[0].Text, 19), r[0].Text)
	}
	each := (width - left - 10 - float64(gap*float64(len(panels)-1))) / float64(len(panels))
	var said []string
	for k, j := range panels {
		from := left + float64(float64(k)*(each+gap))
		b := bar{
			column: t.Columns[j], j: j, class: []string{"f0", "f2", "f3"}[k], from: from, to: from + each,
			top: top, bottom: bottom, row: row,
		}
		said = append(said, b.draw(p, t.Rows))
	}
	sentence := fmt.Sprintf("%d rows. %s.", len(t.Rows), strings.Join(said, "; "))
	return f.wrap(e.Title, e.Note, sentence, bottom+26, p.b.String(), tableOf(e)), true
}

// drawable are the columns whose numbers are drawn: up to three that are known and differ, floors only where there is
// room.
func drawable(t *document.Table) []int {
	var panels, floors []int
	for j := 1; j < len(t.Columns); j++ {
		known, differ, first := 0, false, math.NaN()
		for _, r := range t.Rows {
			if !r[j].Number {
				known = 0
				break
			}
			v := r[j].Value
			if !finite(v) {
				continue
			}
			if known == 0 {
				first = v
			}
			differ = differ || v != first
			known++
		}
		switch {
		case known < fewestBars || !differ:
		case strings.Contains(t.Columns[j].Name, "floor"):
			floors = append(floors, j)
		default:
			panels = append(panels, j)
		}
	}
	panels = append(panels, floors...)
	panels = panels[:min(len(panels), mostPanels)]
	slices.Sort(panels)
	return panels
}

// bar is a panel with the bars of one column.
type bar struct {
	column                     document.Column
	j                          int
	class                      string
	from, to, top, bottom, row float64
}

// draw draws the panel and says what its largest is.
func (b bar) draw(p *pen, rows [][]document.Cell) string {
	var values []float64
	least, largest, at := math.Inf(1), math.Inf(-1), 0
	negative := false
	for i, r := range rows {
		v := r[b.j].Value
		if !finite(v) {
			continue
		}
		values = append(values, v)
		negative = negative || v < 0
		if v > 0 {
			least = min(least, v)
		}
		if v > largest {
			largest, at = v, i
		}
	}
	log := !negative && largest/least > 1000
	if !log {
		values = append(values, 0)
	}
	x := newAxis(values, log, b.from, b.to)
	name := b.column.Heading()
	p.tip("lb", "middle", (b.from+b.to)/2, 16, words.Clip(name, int((b.to-b.from)/6.6)), name)
	for i, t := range []tick{x.ticks[0], x.ticks[len(x.ticks)-1]} {
		label := t.label
		if b.column.Unit == "share" && !log {
			label = short(100*t.at) + "%"
		}
		p.line("gr", x.pos(t.at), b.top, x.pos(t.at), b.bottom)
		// inside the panel, clear of its neighbors
		p.text("tk", []string{"start", "end"}[i], x.pos(t.at), b.bottom+15, label)
	}
	origin := x.from
	if !log {
		origin = x.pos(0)
	}
	for i, r := range rows {
		v, y := r[b.j].Value, b.top+float64(b.row*float64(i))+3
		switch {
		case !finite(v):
			p.text("tk", "start", origin+3, y+10, "–")
		case v < 0:
			p.rect("f1", x.pos(v), y, origin-x.pos(v), b.row-5)
		default:
			p.rect(b.class, origin, y, x.pos(v)-origin, b.row-5)
		}
	}
	p.line("ax", origin, b.top, origin, b.bottom)
	return fmt.Sprintf("%s: largest %s at %s", name, document.Cell{Value: largest, Number: true}.In(b.column.Unit),
		rows[at][0].Text)
}

// tableOf is a table as it stands.
func tableOf(e document.Exhibit) grid {
	g := grid{Caption: e.Title}
	for j, c := range e.Table.Columns {
		number := len(e.Table.Rows) > 0 && j < len(e.Table.Rows[0]) && e.Table.Rows[0][j].Number
		g.Head = append(g.Head, cell{Text: c.Heading(), Doc: c.Doc, Number: number})
	}
	for _, r := range e.Table.Rows {
		var row []cell
		for j, c := range r {
			in := ""
			if j < len(e.Table.Columns) {
				in = e.Table.Columns[j].Unit
			}
			row = append(row, cell{Text: c.In(in), Number: c.Number})
		}
		g.Rows = append(g.Rows, row)
	}
	return g
}
