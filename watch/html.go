package watch

import (
	"fmt"
	"io"
	"math"
	"strings"

	"nero/present/words"
	"nero/run/trend"
)

// style is that of the page: readable in light and dark, on a phone and on paper.
const style = `:root{color-scheme:light dark;--ink:#1c1c1c;--quiet:#666;--line:#ccc;--ground:#fff;
--mark:#0b62a4;--alarm:#b3261e}
@media(prefers-color-scheme:dark){:root{--ink:#eee;--quiet:#aaa;--line:#444;--ground:#161616;
--mark:#6cb6f5;--alarm:#ff8a80}}
body{font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--ground);max-width:60rem;
margin:2rem auto;padding:0 1rem}
.answer{font-size:1.15rem;font-weight:600}
table{border-collapse:collapse;display:block;overflow-x:auto;margin:.75rem 0}
th,td{text-align:left;vertical-align:top;padding:.2rem .8rem .2rem 0;border-bottom:1px solid var(--line)}
.note{color:var(--quiet);font-size:.9rem}
svg{width:100%;height:auto}
svg text{fill:var(--quiet);font-size:11px}
`

// writeHTML writes one page that opens from disk and asks nothing of anybody.
func writeHTML(to io.Writer, r *Report) error {
	out := &strings.Builder{}
	fmt.Fprintf(out, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"+
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"+
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>Releases</title>\n"+
		"<style>%s</style></head>\n<body>\n<h1>Releases</h1>\n<p class=\"answer\">%s</p>\n", style,
		words.HTML(r.Sentence))
	for _, p := range r.parts() {
		fmt.Fprintf(out, "<h2>%s</h2>\n", words.HTML(p.title))
		for _, s := range p.text {
			fmt.Fprintf(out, "<p>%s</p>\n", words.HTML(s))
		}
		if p.of != nil {
			p.of.figure(out)
		}
		for k, row := range p.table {
			cell := "td"
			if k == 0 {
				cell = "th"
				out.WriteString("<table>\n")
			}
			out.WriteString("<tr>")
			for _, text := range row {
				fmt.Fprintf(out, "<%s>%s</%s>", cell, words.HTML(text), cell)
			}
			out.WriteString("</tr>\n")
		}
		if len(p.table) > 0 {
			out.WriteString("</table>\n")
		}
		for _, s := range p.notes {
			fmt.Fprintf(out, "<p class=\"note\">%s</p>\n", words.HTML(s))
		}
	}
	out.WriteString("</body></html>\n")
	_, err := io.WriteString(to, out.String())
	return err
}

// mostDrawn is how many releases a figure shows, the last ones.
const mostDrawn = 200

// figure draws the values with their intervals, those in alarm in another colour and form.
func (s *Series) figure(out *strings.Builder) {
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
		return
	}
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
				y(low),
				y(up), color)
		}
		if p.State == trend.Alarm {
			fmt.Fprintf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"8\" height=\"8\" fill=\"var(%s)\"/>\n", x-4, y(v)-4,
				color)
			continue
		}
		fmt.Fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"var(%s)\"/>\n", x, y(v), color)
	}
	out.WriteString("</svg>\n")
}
