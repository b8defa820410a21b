package census

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"nero/present/words"
)

// columns is the width that text keeps to.
const columns = 100

func writeText(to io.Writer, r *Report) error {
	out := &strings.Builder{}
	out.WriteString(words.Wrap(words.Line(r.Sentence), columns, 0))
	if r.Do != "" {
		out.WriteString(words.Wrap(words.Line(r.Do), columns, 0))
	}
	for _, p := range r.parts() {
		fmt.Fprintf(out, "\n%s\n", words.Line(p.title))
		for _, s := range p.text {
			out.WriteString(words.Wrap("  "+words.Line(s), columns, 0))
		}
		grid(out, p.table)
		for _, s := range p.notes {
			out.WriteString(words.Wrap("  "+words.Line(s), columns, 0))
		}
	}
	if len(r.Notes) > 0 {
		out.WriteString("\n")
		for _, n := range r.Notes {
			out.WriteString(words.Wrap("note: "+words.Line(n), columns, 6))
		}
	}
	_, err := io.WriteString(to, out.String())
	return err
}

// grid writes a table whose last column is wrapped where the line would be too long; a table with long texts in several
// columns has them below each other.
func grid(out *strings.Builder, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	wide := make([]int, len(rows[0]))
	for _, row := range rows {
		for j, cell := range row {
			wide[j] = max(wide[j], utf8.RuneCountInString(words.Line(cell)))
		}
	}
	total := 2
	for _, w := range wide {
		total += w + 2
	}
	if total > columns && len(wide) <= 4 {
		for _, row := range rows[1:] {
			var cells []string
			for _, cell := range row[1:] {
				if cell != "" {
					cells = append(cells, words.Line(cell))
				}
			}
			out.WriteString(words.Wrap("  "+words.Line(row[0])+": "+strings.Join(cells, " — "), columns, 2))
		}
		return
	}
	for _, row := range rows {
		line := &strings.Builder{}
		for j, cell := range row {
			cell = words.Line(cell)
			line.WriteString(cell + strings.Repeat(" ", wide[j]-utf8.RuneCountInString(cell)+2))
		}
		out.WriteString("  " + strings.TrimRight(line.String(), " ") + "\n")
	}
}

func writeMarkdown(to io.Writer, r *Report) error {
	out := &strings.Builder{}
	fmt.Fprintf(out, "# %s under %s\n\n**%s**", words.Markdown(r.Data), words.Markdown(r.Group),
		words.Markdown(r.Sentence))
	if r.Do != "" {
		out.WriteString(" " + words.Markdown(r.Do))
	}
	out.WriteString("\n")
	for _, p := range r.parts() {
		fmt.Fprintf(out, "\n## %s\n", words.Markdown(p.title))
		for _, s := range p.text {
			fmt.Fprintf(out, "\n%s\n", words.Markdown(s))
		}
		for i, row := range p.table {
			if i == 0 {
				out.WriteString("\n")
			}
			out.WriteString("|")
			for _, cell := range row {
				out.WriteString(" " + words.Markdown(cell) + " |")
			}
			out.WriteString("\n")
			if i == 0 {
				out.WriteString("|" + strings.Repeat(" --- |", len(row)) + "\n")
			}
		}
		for _, s := range p.notes {
			fmt.Fprintf(out, "\n%s\n", words.Markdown(s))
		}
	}
	for i, n := range r.Notes {
		if i == 0 {
			out.WriteString("\n## Notes\n\n")
		}
		fmt.Fprintf(out, "- %s\n", words.Markdown(n))
	}
	_, err := io.WriteString(to, out.String())
	return err
}
