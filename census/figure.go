package census

import (
	"fmt"
	"math"
	"strings"

	"nero/present/words"
)

// figureStyle is what the figure needs beside the style of all pages.
const figureStyle = `:root{--mark:#0b62a4;--twin:#b65c00}
@media(prefers-color-scheme:dark){:root{--mark:#6cb6f5;--twin:#f0a35a}}
svg{width:100%;height:auto}
svg text{fill:var(--quiet);font-size:11px}
`

// figure draws the AUC of each element with its interval, and that of its twin beside it.
func (r *Report) figure() string {
	out := &strings.Builder{}
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
	return out.String()
}
