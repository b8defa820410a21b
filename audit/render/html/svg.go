package html

import (
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"

	"nero/internal/elementary"
	"nero/present/words"
)

// pen writes SVG. Colours come from classes that the style sheet fills in for light, dark and paper, so that one
// drawing serves all three.
type pen struct{ b strings.Builder }

func (p *pen) add(format string, args ...any) { fmt.Fprintf(&p.b, format, args...) }

// px writes a coordinate with at most one digit after the point: finer is not seen, and the bytes do not depend on the
// processor.
func px(x float64) string {
	s := strings.TrimSuffix(strconv.FormatFloat(x, 'f', 1, 64), ".0")
	if s == "-0" {
		return "0"
	}
	return s
}

func (p *pen) line(class string, x1, y1, x2, y2 float64) {
	p.add(`<line class="%s" x1="%s" y1="%s" x2="%s" y2="%s"/>`, class, px(x1), px(y1), px(x2), px(y2))
}

func (p *pen) rect(class string, x, y, w, h float64) {
	p.add(`<rect class="%s" x="%s" y="%s" width="%s" height="%s"/>`, class, px(x), px(y), px(max(w, 0)), px(max(h, 0)))
}

// text writes one line; anchor is start, middle or end.
func (p *pen) text(class, anchor string, x, y float64, s string) {
	p.add(`<text class="%s" x="%s" y="%s" text-anchor="%s">%s</text>`, class, px(x), px(y), anchor,
		html.EscapeString(s))
}

// tip is a text with its full form, which a browser shows on hover.
func (p *pen) tip(class, anchor string, x, y float64, short, full string) {
	if short == full {
		p.text(class, anchor, x, y, short)
		return
	}
	p.add(`<text class="%s" x="%s" y="%s" text-anchor="%s">%s<title>%s</title></text>`, class, px(x), px(y), anchor,
		html.EscapeString(short), html.EscapeString(full))
}

// mark draws the mark of a style: disc, square, diamond, triangle, cross, ring.
func (p *pen) mark(style int, x, y, r float64) {
	c := style % colors
	switch style % 6 {
	case 0:
		p.add(`<circle class="f%d" cx="%s" cy="%s" r="%s"/>`, c, px(x), px(y), px(r))
	case 1:
		p.rect("f"+strconv.Itoa(c), x-r, y-r, 2*r, 2*r)
	case 2:
		q := float64(1.4 * r)
		p.add(`<path class="f%d" d="M%s %sL%s %sL%s %sL%s %sZ"/>`, c, px(x), px(y-q), px(x+q), px(y), px(x), px(y+q),
			px(x-q), px(y))
	case 3:
		q := float64(1.3 * r)
		p.add(`<path class="f%d" d="M%s %sL%s %sL%s %sZ"/>`, c, px(x), px(y-q), px(x+q), px(y+q), px(x-q), px(y+q))
	case 4:
		p.add(`<path class="s%d" d="M%s %sL%s %sM%s %sL%s %s"/>`, c, px(x-r), px(y-r), px(x+r), px(y+r), px(x-r),
			px(y+r), px(x+r), px(y-r))
	default:
		p.add(`<circle class="s%d" cx="%s" cy="%s" r="%s"/>`, c, px(x), px(y), px(r))
	}
}

// colors is how many colours of series the style sheet has; s0, s1 ... are their lines, f0, f1 ... their areas, b0, b1
// ... their bands.
const colors = 6

// dash is the pattern of the line of a style, so that colour alone tells nothing.
func dash(style int) string {
	return []string{"", "6 3", "2 3", "8 3 2 3", "4 2", "10 3 3 3"}[style%6]
}

// wide is about how wide a text is at 12 px; there is no font to ask.
func wide(s string) float64 { return float64(6.6 * float64(len([]rune(s)))) }

// axis maps numbers to pixels.
type axis struct {
	// of the numbers, lo < hi; of their logarithms if log
	lo, hi float64
	// in pixels
	from, to float64
	log      bool
	// log, and the lowest tick stands for 0 and below
	zero  bool
	ticks []tick
}

type tick struct {
	at    float64
	label string
}

// newAxis covers all finite values, and a stretch that means nothing if there are none.
func newAxis(values []float64, log bool, from, to float64) axis {
	a := axis{log: log, from: from, to: to}
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		switch {
		case !finite(v):
		case log && v <= 0:
			a.zero = true
		case log:
			lo, hi = min(lo, elementary.Log10(v)), max(hi, elementary.Log10(v))
		default:
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	if log {
		if lo > hi {
			lo, hi = -1, 0
		}
		a.lo, a.hi = math.Floor(lo+1e-9), math.Ceil(hi-1e-9)
		if a.lo >= a.hi {
			a.lo, a.hi = a.lo-1, a.lo+1
		}
		if a.zero {
			a.lo--
		}
		a.logTicks()
		return a
	}
	if lo > hi {
		lo, hi = 0, 1
	}
	if lo == hi {
		d := max(math.Abs(lo)/2, 1e-300)
		if lo == 0 {
			d = 1
		}
		lo, hi = max(lo-d, -math.MaxFloat64), min(hi+d, math.MaxFloat64)
	}
	a.lo, a.hi = lo, hi
	a.linTicks(5)
	return a
}

// pos is where a value stands; values beyond the ends stand at them.
func (a axis) pos(v float64) float64 {
	if a.log {
		if v > 0 {
			v = elementary.Log10(v)
		} else {
			v = math.Inf(-1)
		}
	}
	// By halves, lest the difference of the largest numbers overflow.
	return a.from + float64(unit((v/2-a.lo/2)/(a.hi/2-a.lo/2))*(a.to-a.from))
}

func (a *axis) logTicks() {
	first := a.lo
	if a.zero {
		a.ticks = append(a.ticks, tick{0, "0"})
		first++
	}
	parts := []float64{1}
	if a.hi-first <= 1 {
		parts = []float64{1, 2, 5}
	}
	step := max(1, math.Ceil((a.hi-first)/6))
	for e := math.Ceil(first/step) * step; e <= a.hi; e += step {
		for _, f := range parts {
			if v := f * elementary.Pow(10, e); elementary.Log10(v) <= a.hi+1e-9 {
				label := power(int(e))
				if f != 1 {
					label = short(v)
				}
				a.ticks = append(a.ticks, tick{v, label})
			}
		}
	}
}

// power writes a power of ten: "0.01", "10⁻⁴".
func power(e int) string {
	if -2 <= e && e <= 3 {
		return strconv.FormatFloat(elementary.Pow(10, float64(e)), 'f', -1, 64)
	}
	digits := []rune("⁰¹²³⁴⁵⁶⁷⁸⁹")
	var b strings.Builder
	b.WriteString("10")
	for _, c := range strconv.Itoa(e) {
		if c == '-' {
			b.WriteRune('⁻')
			continue
		}
		b.WriteRune(digits[c-'0'])
	}
	return b.String()
}

// linTicks widens the axis to round numbers and marks about n of them; at the very ends of what a float64 holds it
// marks the ends alone.
func (a *axis) linTicks(n int) {
	a.ticks = []tick{{a.lo, short(a.lo)}, {a.hi, short(a.hi)}}
	span := a.hi - a.lo
	ten := elementary.Pow(10, math.Floor(elementary.Log10(span/float64(n))))
	step := ten
	for _, f := range []float64{1, 2, 2.5, 5, 10} {
		step = f * ten
		if span/step <= float64(n) {
			break
		}
	}
	lo, hi := float64(math.Floor(a.lo/step+1e-9)*step), float64(math.Ceil(a.hi/step-1e-9)*step)
	parts := math.Round((hi - lo) / step)
	if !(step > 0) || !finite(span) || !finite(lo) || !finite(hi) || !(parts >= 1 && parts <= float64(2*n+2)) {
		return
	}
	a.lo, a.hi, a.ticks = lo, hi, nil
	for i := range int(parts) + 1 {
		v := lo + float64(float64(i)*step)
		if math.Abs(v) < step*1e-9 {
			v = 0
		}
		a.ticks = append(a.ticks, tick{v, short(v)})
	}
}

// degrees marks whole parts of a turn.
func (a *axis) degrees() {
	span := a.hi - a.lo
	if span > 1440 {
		return
	}
	a.ticks = nil
	step := 90.0
	for _, s := range []float64{1, 2, 5, 10, 15, 30, 45, 90} {
		if span/s <= 8 {
			step = s
			break
		}
	}
	for v := math.Ceil(a.lo/step) * step; v <= a.hi+1e-9; v += step {
		a.ticks = append(a.ticks, tick{v, short(v) + "°"})
	}
}

// short is a number of an axis.
func short(x float64) string { return words.Tick(x, 6) }

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// unit brings a number into [0, 1]; NaN to 0.
func unit(u float64) float64 {
	if !(u > 0) {
		return 0
	}
	return min(u, 1)
}
