package render

import (
	"slices"
	"strings"
	"unicode/utf8"

	"nero/present/words"
)

// grid is a table in columns, of which the first row is the heads.
type grid struct {
	rows [][]string
	// which columns hold numbers: they are never broken, and stand at the right
	right  []bool
	indent int
}

const (
	gap = 2 // between columns
	// mostWord is how long a word is kept whole in a column that has to be narrow.
	mostWord = 16
)

// write keeps to so many columns. Where a table is wider, words are wrapped in their columns; where that is not enough,
// the last columns stand below each row with their heads. Nothing is left out, and no number is broken.
func (g *grid) write(b *strings.Builder, most int) {
	if len(g.rows) == 0 || len(g.rows[0]) == 0 {
		return
	}
	width, least := g.widths()
	room := most - g.indent
	side := len(width) // columns that stand side by side
	for side > 1 && total(least[:side])+gap*(side-1) > room {
		side--
	}
	for total(width[:side])+gap*(side-1) > room {
		j, slack := 0, 0
		for k := range side {
			if s := width[k] - least[k]; s > 0 && (slack == 0 || width[k] > width[j]) {
				j, slack = k, s
			}
		}
		if slack == 0 {
			break
		}
		width[j]--
	}
	if side == 1 {
		width[0] = min(width[0], room)
	}
	for i, r := range g.rows {
		g.row(b, r[:side], width)
		if i == 0 || side == len(r) {
			continue
		}
		var rest []string
		for j, c := range r[side:] {
			if c != "" {
				rest = append(rest, g.rows[0][side+j]+" "+c)
			}
		}
		if len(rest) > 0 {
			b.WriteString(words.Wrap(strings.Repeat(" ", g.indent+4)+strings.Join(rest, "; "), most, 2))
		}
	}
}

// widths are how wide each column is, and how wide it has to be.
func (g *grid) widths() (width, least []int) {
	width, least = make([]int, len(g.rows[0])), make([]int, len(g.rows[0]))
	for i, r := range g.rows {
		for j, c := range r {
			n := utf8.RuneCountInString(c)
			width[j] = max(width[j], n)
			if i > 0 && g.right[j] {
				least[j] = max(least[j], n)
				continue
			}
			for w := range strings.FieldsSeq(c) {
				least[j] = max(least[j], min(utf8.RuneCountInString(w), mostWord))
			}
		}
	}
	return width, least
}

// row writes the cells of a row side by side, on as many lines as the longest needs.
func (g *grid) row(b *strings.Builder, cells []string, width []int) {
	lines := make([][]string, len(cells))
	n := 1
	for j, c := range cells {
		lines[j] = strings.Split(strings.TrimRight(words.Wrap(c, max(width[j], 1), 0), "\n"), "\n")
		n = max(n, len(lines[j]))
	}
	for k := range n {
		var out []string
		for j := range cells {
			c := ""
			if k < len(lines[j]) {
				c = lines[j][k]
			}
			out = append(out, pad(c, width[j], g.right[j]))
		}
		line := strings.Repeat(" ", g.indent) + strings.Join(out, strings.Repeat(" ", gap))
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}

// grid writes rows as a table, of which the first are the heads; the named columns hold numbers.
func (t *text) grid(indent int, rows [][]string, right ...int) {
	if len(rows) == 0 {
		return
	}
	g := grid{rows: rows, right: make([]bool, len(rows[0])), indent: indent}
	for j := range g.right {
		g.right[j] = slices.Contains(right, j)
	}
	g.write(&t.b, t.width())
}
