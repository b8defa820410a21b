package report

import (
	"bytes"
	"fmt"
	"html"
	"image"
	"image/color"
	"image/png"
	"math"
	"regexp"
	"strings"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/font/liberation"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// pt is a point of a picture: x to the right, y down, in units that a browser shows as one CSS pixel.
type pt struct{ x, y float64 }

// pen draws on a canvas whose y axis points up, as if it pointed down.
type pen struct {
	c       draw.Canvas
	h       float64
	handler text.Plain
}

func newPen(c vg.CanvasSizer, h float64, fonts *font.Cache) *pen {
	return &pen{c: draw.New(c), h: h, handler: text.Plain{Fonts: fonts}}
}

func fontCache() *font.Cache { return font.NewCache(liberation.Collection()) }

func (p *pen) at(q pt) vg.Point { return vg.Point{X: vg.Length(q.x), Y: vg.Length(p.h - q.y)} }

// align says which part of a text stands at its point.
type align int

const (
	left align = iota
	center
	right
)

// style is how a text looks.
type style struct {
	size  float64
	bold  bool
	color color.Color
	align align
	// middle centres the text about its point in height; otherwise the point is on the baseline.
	middle bool
}

func (p *pen) textStyle(s style) text.Style {
	f := font.Font{Typeface: "Liberation", Variant: "Sans", Size: vg.Length(s.size)}
	if s.bold {
		f.Weight = xfont.WeightBold
	}
	return text.Style{Color: s.color, Font: f, Handler: p.handler}
}

// width is how wide a text is drawn.
func (p *pen) width(t string, s style) float64 { return p.textStyle(s).Width(t).Points() }

// text writes one line.
func (p *pen) text(q pt, t string, s style) {
	if t == "" {
		return
	}
	switch s.align {
	case center:
		q.x -= p.width(t, s) / 2
	case right:
		q.x -= p.width(t, s)
	case left:
	}
	if s.middle {
		q.y += float64(0.36 * s.size) // half the height of a digit
	}
	ts := p.textStyle(s)
	p.c.SetColor(s.color)
	p.c.FillString(p.handler.Fonts.Lookup(ts.Font, ts.Font.Size), p.at(q), t)
}

// clip shortens a text to a width.
func (p *pen) clip(t string, s style, width float64) string {
	if p.width(t, s) <= width {
		return t
	}
	r := []rune(t)
	for len(r) > 1 && p.width(string(r)+"…", s) > width {
		r = r[:len(r)-1]
	}
	return string(r) + "…"
}

// wrap breaks a text into lines of at most a width.
func (p *pen) wrap(t string, s style, width float64) []string {
	var lines []string
	line := ""
	for w := range strings.FieldsSeq(t) {
		w = p.clip(w, s, width)
		next := w
		if line != "" {
			next = line + " " + w
		}
		if line != "" && p.width(next, s) > width {
			lines = append(lines, line)
			next = w
		}
		line = next
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// line strokes an open path.
func (p *pen) line(pts []pt, c color.Color, width float64, dashes []vg.Length) {
	if len(pts) < 2 {
		return
	}
	p.c.SetColor(c)
	p.c.SetLineWidth(vg.Length(width))
	p.c.SetLineDash(dashes, 0)
	p.c.Stroke(p.path(pts, false))
}

// fill fills closed paths. A second path cuts a hole if it turns the other way.
func (p *pen) fill(c color.Color, paths ...[]pt) {
	var all vg.Path
	for _, pts := range paths {
		all = append(all, p.path(pts, true)...)
	}
	if len(all) == 0 {
		return
	}
	p.c.SetColor(c)
	p.c.Fill(all)
}

func (p *pen) path(pts []pt, closed bool) vg.Path {
	var path vg.Path
	for i, q := range pts {
		if i == 0 {
			path.Move(p.at(q))
			continue
		}
		path.Line(p.at(q))
	}
	if closed && len(path) > 0 {
		path.Close()
	}
	return path
}

// circle strokes or fills a circle.
func (p *pen) circle(q pt, r float64, c color.Color, width float64) {
	var path vg.Path
	center := p.at(q)
	path.Move(vg.Point{X: center.X + vg.Length(r), Y: center.Y})
	path.Arc(center, vg.Length(r), 0, 2*math.Pi)
	path.Close()
	p.c.SetColor(c)
	if width == 0 {
		p.c.Fill(path)
		return
	}
	p.c.SetLineWidth(vg.Length(width))
	p.c.SetLineDash(nil, 0)
	p.c.Stroke(path)
}

// rect fills a rectangle.
func (p *pen) rect(x, y, w, h float64, c color.Color) {
	p.fill(c, []pt{{x, y}, {x + w, y}, {x + w, y + h}, {x, y + h}})
}

// frame strokes a rectangle.
func (p *pen) frame(x, y, w, h float64, c color.Color, width float64) {
	p.line([]pt{{x, y}, {x + w, y}, {x + w, y + h}, {x, y + h}, {x, y}}, c, width, nil)
}

// mark draws the marker of model i: disc, square, triangle, diamond. A hollow one is filled with the background.
func (p *pen) mark(q pt, i int, r float64, c, background color.Color, hollow bool) {
	if i%4 == 0 {
		p.circle(q, r, c, 0)
		if hollow {
			p.circle(q, r-1.2, background, 0)
		}
		return
	}
	shape := func(r float64) []pt {
		switch i % 4 {
		case 1:
			s := float64(0.88 * r)
			return []pt{{q.x - s, q.y - s}, {q.x + s, q.y - s}, {q.x + s, q.y + s}, {q.x - s, q.y + s}}
		case 2:
			s := float64(1.2 * r)
			return []pt{
				{q.x, q.y - s},
				{q.x + float64(0.87*s), q.y + float64(0.5*s)},
				{q.x - float64(0.87*s), q.y + float64(0.5*s)},
			}
		}
		s := float64(1.25 * r)
		return []pt{{q.x, q.y - s}, {q.x + s, q.y}, {q.x, q.y + s}, {q.x - s, q.y}}
	}
	p.fill(c, shape(r))
	if hollow {
		p.fill(background, shape(r-1.4))
	}
}

// cross draws an x.
func (p *pen) cross(q pt, r float64, c color.Color, width float64) {
	p.line([]pt{{q.x - r, q.y - r}, {q.x + r, q.y + r}}, c, width, nil)
	p.line([]pt{{q.x - r, q.y + r}, {q.x + r, q.y - r}}, c, width, nil)
}

// image puts a picture into a square, its pixels kept apart and not blurred.
func (p *pen) image(img image.Image, x, y, size float64) {
	b := img.Bounds()
	if b.Dx() < 1 || b.Dy() < 1 {
		return
	}
	w, h := size, size
	if b.Dx() > b.Dy() {
		h = size * float64(b.Dy()) / float64(b.Dx())
	} else {
		w = size * float64(b.Dx()) / float64(b.Dy())
	}
	const dense = 3 // pixels per unit
	out := image.NewNRGBA(image.Rect(0, 0, int(math.Ceil(w*dense)), int(math.Ceil(h*dense))))
	for j := range out.Rect.Dy() {
		for i := range out.Rect.Dx() {
			out.Set(i, j, img.At(b.Min.X+i*b.Dx()/out.Rect.Dx(), b.Min.Y+j*b.Dy()/out.Rect.Dy()))
		}
	}
	x, y = x+(size-w)/2, y+(size-h)/2
	p.c.DrawImage(vg.Rectangle{Min: p.at(pt{x, y + h}), Max: p.at(pt{x + w, y})}, out)
}

// header is the beginning of an SVG document as the library writes it: its size in points, which a browser would
// enlarge, and a remark about the program that made it.
var header = regexp.MustCompile(`(?s)^<\?xml.*?<svg .*?>\n`)

// svg renders a drawing as a document that says what it shows.
func svg(w, h float64, title, desc string, fonts *font.Cache, paint func(*pen)) ([]byte, error) {
	c := vgsvg.NewWith(vgsvg.UseWH(vg.Length(w), vg.Length(h)))
	paint(newPen(c, h, fonts))
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return nil, err
	}
	at := header.FindIndex(b.Bytes())
	if at == nil {
		return nil, fmt.Errorf("the SVG library writes another header than it used to: %.80q", b.String())
	}
	head := fmt.Sprintf(
		`<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="%g" height="%g" viewBox="0 0 %g %g" role="img">
<title>%s</title>
<desc>%s</desc>
`, w, h, w, h, html.EscapeString(title), html.EscapeString(desc))
	body := strings.NewReplacer(
		// The widths are those of Liberation Sans; Arial and Helvetica have the same.
		"font-family:Liberation Sans;font-variant:normal;", "font-family:'Liberation Sans',Arial,Helvetica,sans-serif;",
		"font-style:normal;", "", "data:image/jpg;", "data:image/png;", // what the library embeds is a PNG
	).Replace(b.String()[at[1]:])
	return []byte(head + body), nil
}

// raster renders a drawing with two pixels per unit.
func raster(w, h float64, background color.Color, fonts *font.Cache, paint func(*pen)) ([]byte, error) {
	const unitsPerInch = 72
	c := vgimg.NewWith(vgimg.UseWH(vg.Length(w), vg.Length(h)), vgimg.UseDPI(2*unitsPerInch),
		vgimg.UseBackgroundColor(background))
	paint(newPen(c, h, fonts))
	var b bytes.Buffer
	err := png.Encode(&b, c.Image())
	return b.Bytes(), err
}

func newPenHandler(fonts *font.Cache) text.Plain { return text.Plain{Fonts: fonts} }
