package watch

import (
	"fmt"
	"math"
	"strings"

	"nero/present/words"
	"nero/run/trend"
)

// style is that of figures.
const style = `:root{--mark:#0b62a4;--alarm:#b3261e}
@media(prefers-color-scheme:dark){:root{--mark:#6cb6f5;--alarm:#ff8a80}}
svg{width:100%;height:auto}
svg text{fill:var(--quiet);font-size:11px}
`

// mostDrawn is how many releases a figure shows, the last ones.
const mostDrawn = 200

// figure draws the values with their intervals, those in alarm in another colour and form; empty for fewer than two.
func (s *Series) figure() string {
	const wide, high, left, top, bottom = 720.0, 180.0, 60.0, 10.0, 24.0
	points := s.Points[max(0, len(s.Points)-mostDrawn):]
	lo, hi := 0.0, math.Inf(-1)
	for _, p := range points {
		for _, n := range []Number{p.Value, p.Low, p.High} {
			if v := float64(n); !math.IsNaN(v) && !math.IsInf(v, 0) {
				lo, hi = min(lo, v), max(hi, v)
			}
		}
	}
	if math.IsInf(hi, -1) || len(points) < 2 {
		return ""
	}
	out := &strings.Builder{}
	if hi == lo {
		hi = lo + 1
	}
	y := func(v float64) float64 {
		return top + float64((hi-max(lo, min(hi, v)))/(hi-lo)*(high-top-bottom))
	}
	fmt.Fprintf(out, "<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"%s by release; its numbers are in the "+
		"table below\">\n", wide, high, words.HTML(s.Metric))
	for _, v := range []float64{lo, (lo + hi) / 2, hi} {
		fmt.Fprintf(out, "<line x1=\"%.0f\" x2=\"%.0f\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"var(--line)\"/>"+
			"<text x=\"4\" y=\"%.1f\">%s</text>\n", left, wide, y(v), y(v), y(v)+4, words.Figures(v))
	}
	step := (wide - left) / float64(len(points))
	often := (len(points) + 11) / 12
	for i, p := range points {
		x := left + float64(step*(float64(i)+0.5))
		if i%often == 0 {
			fmt.Fprintf(out, "<text x=\"%.1f\" y=\"%.0f\" text-anchor=\"middle\">%s</text>\n", x, high-6,
				words.HTML(words.Clip(p.Release, 12)))
		}
		v := float64(p.Value)
		if math.IsNaN(v) {
			continue
		}
		color := "--mark"
		if p.State == trend.Alarm {
			color = "--alarm"
		}
		if low, up := float64(p.Low), float64(p.High); !math.IsNaN(low) && !math.IsNaN(up) {
			fmt.Fprintf(out, "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"var(%s)\"/>\n", x, x,
				y(low), y(up), color)
		}
		if p.State == trend.Alarm {
			fmt.Fprintf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"8\" height=\"8\" fill=\"var(%s)\"/>\n", x-4, y(v)-4,
				color)
			continue
		}
		fmt.Fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"var(%s)\"/>\n", x, y(v), color)
	}
	out.WriteString("</svg>\n")
	return out.String()
}
