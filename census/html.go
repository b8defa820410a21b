package census

import (
	"fmt"
	"io"
	"math"
	"strings"

	"nero/present/words"
)

// style is that of the page: readable in light and dark, on a phone and on paper.
const style = `:root{color-scheme:light dark;--ink:#1c1c1c;--quiet:#666;--line:#ccc;--ground:#fff;
--mark:#0b62a4;--twin:#b65c00}
@media(prefers-color-scheme:dark){:root{--ink:#eee;--quiet:#aaa;--line:#444;--ground:#161616;
--mark:#6cb6f5;--twin:#f0a35a}}
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
	title := words.HTML(r.Data + " under " + r.Group)
	fmt.Fprintf(out, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"+
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"+
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>%s</title>\n"+
		"<style>%s</style></head>\n<body>\n<h1>%s</h1>\n<p class=\"answer\">%s</p>\n", title, style, title,
		words.HTML(r.Sentence))
	if r.Do != "" {
		fmt.Fprintf(out, "<p>%s</p>\n", words.HTML(r.Do))
	}
	for i, p := range r.parts() {
		fmt.Fprintf(out, "<h2>%s</h2>\n", words.HTML(p.title))
		for _, s := range p.text {
			fmt.Fprintf(out, "<p>%s</p>\n", words.HTML(s))
		}
		if i == 1 {
			r.figure(out)
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
	for i, n := range r.Notes {
		if i == 0 {
			out.WriteString("<h2>Notes</h2>\n")
		}
		fmt.Fprintf(out, "<p class=\"note\">%s</p>\n", words.HTML(n))
	}
	out.WriteString("</body></html>\n")
	_, err := io.WriteString(to, out.String())
	return err
}

// figure draws the AUC of each element with its interval, and that of its twin beside it.
func (r *Report) figure(out *strings.Builder) {
	const wide, high, left, top, bottom = 720.0, 220.0, 40.0, 10.0, 24.0
	y := func(a float64) float64 { return top + float64((1-a)*(high-top-bottom)) }
	fmt.Fprintf(out, "<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"AUC by element; its numbers are in the "+
		"table below\">\n", wide, high)
	for _, a := range []float64{0, 0.25, 0.5, 0.75, 1} {
		fmt.Fprintf(out, "<line x1=\"%.0f\" x2=\"%.0f\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"var(--line)\"/>"+
			"<text x=\"4\" y=\"%.1f\">%.2f</text>\n", left, wide, y(a), y(a), y(a)+4, a)
	}
	step := (wide - left) / float64(len(r.Elements))
	mark := func(x float64, a *Area, color string) {
		if a == nil || math.IsNaN(float64(a.Value)) {
			return
		}
		fmt.Fprintf(out, "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"var(%s)\"/>"+
			"<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"var(%s)\"/>\n", x, x, y(float64(a.Low)), y(float64(a.High)),
			color, x, y(float64(a.Value)), color)
	}
	often := (len(r.Elements) + 11) / 12
	for i, e := range r.Elements {
		x := left + float64(step*(float64(i)+0.5))
		mark(x, e.AUC, "--mark")
		mark(x+min(step/4, 8), e.Twin, "--twin")
		if i%often == 0 {
			fmt.Fprintf(out, "<text x=\"%.1f\" y=\"%.0f\" text-anchor=\"middle\">%s</text>\n", x, high-6,
				words.HTML(words.Clip(e.Name, 14)))
		}
	}
	out.WriteString("</svg>\n")
}
