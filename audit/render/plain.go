package render

import (
	"fmt"
	"math"
	"strings"

	"nero/audit/document"
	"nero/present/words"
)

// Bounds of what text shows of an exhibit; the rest is in the other forms.
const (
	mostRows = 40 // of a table
	mostDots = 12 // of a series
	mapWidth = 64 // characters of a map
	mapRows  = 24
)

// exhibit shows a table in columns, a curve in numbers, a map in shades.
func (t *text) exhibit(e *document.Exhibit) {
	t.line(2, e.Title)
	if e.Note != "" {
		t.line(4, e.Note)
	}
	t.plot(e)
}

func (t *text) plot(e *document.Exhibit) {
	switch {
	case e.Table != nil:
		t.rows(e.Table)
	case e.Curve != nil:
		t.curve(e.Curve)
	case e.Map != nil:
		t.shades(e.Map)
	}
}

// rows writes a table in columns.
func (t *text) rows(b *document.Table) {
	head := make([]string, 0, len(b.Columns))
	for _, c := range b.Columns {
		head = append(head, c.Heading())
	}
	grid := [][]string{head}
	var right []int
	for _, r := range b.Rows[:min(len(b.Rows), mostRows)] {
		var line []string
		for j, c := range r {
			if c.Number {
				right = append(right, j)
			}
			line = append(line, words.Line(c.In(b.Columns[j].Unit)))
		}
		grid = append(grid, line)
	}
	t.grid(4, grid, right...)
	if more := len(b.Rows) - mostRows; more > 0 {
		t.line(4, "and "+count(more, "more row", "more rows"))
	}
}

func total(x []int) int {
	n := 0
	for _, v := range x {
		n += v
	}
	return n
}

// curve writes each series in numbers, thinned evenly with its ends kept.
func (t *text) curve(c *document.Curve) {
	t.line(4, fmt.Sprintf("%s over %s", c.Y.Heading(), c.X.Heading()))
	if c.Limit != nil {
		t.line(4, "limit "+c.Limit.String())
	}
	for _, s := range c.Series {
		var dots []string
		n := len(s.X)
		for k := range min(n, mostDots) {
			i := k
			if n > mostDots {
				i = k * (n - 1) / (mostDots - 1)
			}
			d := s.Y[i].String() + " at " + s.X[i].String()
			if c.X.Unit == "deg" {
				d += "°"
			}
			if i < len(s.Labels) && s.Labels[i] != "" {
				d = s.Y[i].String() + " at " + s.Labels[i]
			}
			dots = append(dots, d)
		}
		line := s.Name + ": " + strings.Join(dots, ", ")
		if n > mostDots {
			line += fmt.Sprintf(" (%d of %d)", mostDots, n)
		}
		t.line(4, line)
	}
}

// shade are the steps from nothing to the largest; signed maps have one for each sign.
const (
	shade    = " .:-=+*#%@"
	positive = " .-=+#"
	negative = " ,~<o%"
)

// shades draws a map in characters, each the cell that is farthest from zero among those it covers.
func (t *text) shades(m *document.Map) {
	lo, hi, at := math.Inf(1), math.Inf(-1), -1
	size := func(i int) float64 { return math.Abs(float64(m.Values[i])) }
	for i, n := range m.Values {
		v := float64(n)
		if math.IsNaN(v) {
			continue
		}
		if at < 0 || size(i) > size(at) {
			at = i
		}
		lo, hi = min(lo, v), max(hi, v)
	}
	if at < 0 {
		t.line(4, "nothing is known")
		return
	}
	t.line(4, fmt.Sprintf("%d rows, %d columns; from %s to %s%s, farthest from 0 at row %d, column %d", m.Height,
		m.Width, words.Figures(lo), words.Figures(hi), suffix(m.Unit), at/m.Width, at%m.Width))
	if m.Diverging {
		t.line(4, fmt.Sprintf("negative %s, positive %s", negative[1:], positive[1:]))
	}
	step := max(1, (m.Width+mapWidth-1)/mapWidth, (m.Height+mapRows-1)/mapRows)
	for y := 0; y < m.Height; y += step {
		var b strings.Builder
		for x := 0; x < m.Width; x += step {
			v := math.NaN()
			for j := y; j < min(y+step, m.Height); j++ {
				for i := x; i < min(x+step, m.Width); i++ {
					if w := float64(m.Values[j*m.Width+i]); !math.IsNaN(w) && !(math.Abs(v) >= math.Abs(w)) {
						v = w
					}
				}
			}
			b.WriteByte(shadeOf(v, size(at), m.Diverging))
		}
		t.b.WriteString("    |" + b.String() + "|\n")
	}
}

func shadeOf(v, most float64, signed bool) byte {
	steps := shade
	switch {
	case math.IsNaN(v):
		return '?'
	case signed && v < 0:
		steps = negative
	case signed:
		steps = positive
	}
	if !(most > 0) || math.IsInf(most, 0) {
		return steps[0]
	}
	return steps[min(int(math.Ceil(math.Abs(v)/most*float64(len(steps)-1))), len(steps)-1)]
}

func suffix(unit string) string {
	if unit == "" {
		return ""
	}
	return " " + unit
}
