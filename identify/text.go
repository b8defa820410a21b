package identify

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"nero/present/words"
)

// block is a part of the report: a title, a sentence on how to read it, and a table or list.
type block struct {
	title, about string
	head         []string
	rows         [][]string
}

// blocks are the report below its first sentence, the same for every form.
func (r *Result) blocks() []block {
	var out []block
	add := func(b block) {
		if len(b.rows) > 0 {
			out = append(out, b)
		}
	}
	b := block{title: "Symmetries", about: "Open ones are for a test.", head: []string{
		"group", "how sure", "why",
		"rule",
	}}
	for _, f := range r.Factors {
		b.rows = append(b.rows, []string{f.Group, f.Sureness, f.Why, f.Rule})
	}
	add(b)
	b = block{
		title: "No symmetries", about: "A model whose answer stays the same under these has lost something.",
		head: []string{"what", "why", "rule"},
	}
	for _, n := range r.Not {
		b.rows = append(b.rows, []string{n.What, n.Why, n.Rule})
	}
	add(b)
	b = block{
		title: "Together", about: "Groups that do not commute have joint motions that no direct product holds; each " +
			"is " +
			"tested by itself. The number is the largest difference between the two orders, in pixels or units of " +
			"length.",
		head: []string{"one", "other", "commute", "difference"},
	}
	for _, p := range r.Pairs {
		b.rows = append(b.rows, []string{p.A, p.B, yesNo(p.Commute), words.Number(p.Apart)})
	}
	add(b)
	b = block{title: "Properties", head: []string{"group", "elements", "dimension", "compact", "abelian", "connected"}}
	for _, p := range r.Properties {
		order := "no end"
		if p.Order > 0 {
			order = strconv.Itoa(p.Order)
		}
		b.rows = append(b.rows, []string{
			p.Group, order, strconv.Itoa(p.Dimension), yesNo(p.Compact), yesNo(p.Abelian), yesNo(p.Connected),
		})
	}
	add(b)
	b = block{title: "Mind", head: []string{"what", "rule"}}
	for _, w := range r.Warnings {
		b.rows = append(b.rows, []string{w.Text, w.Rule})
	}
	add(b)
	b = block{
		title: "Then, in the folder of the studies", about: "Data first: a model cannot be asked for what its data " +
			"contradict.",
		head: []string{"command"},
	}
	for _, c := range r.Commands {
		b.rows = append(b.rows, []string{c})
	}
	add(b)
	return out
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// WriteText writes the report for a terminal.
func (r *Result) WriteText(to io.Writer) error {
	var s strings.Builder
	s.WriteString(words.Wrap(words.Line(r.Sentence), width, 2))
	for _, b := range r.blocks() {
		fmt.Fprintf(&s, "\n%s\n", b.title)
		if b.about != "" {
			s.WriteString(words.Wrap("  "+b.about, width, 0))
		}
		for _, row := range b.rows {
			switch {
			case len(row) == 1:
				fmt.Fprintf(&s, "  %s\n", words.Line(row[0]))
			case b.head[0] == "group" && len(row) == 6:
				fmt.Fprintf(&s, "  %-14s %s\n", words.Line(row[0]), property(row))
			default:
				last := len(row) - 1
				line := fmt.Sprintf("  %s and %s commute: %s (%s)", row[0], row[1], row[last-1], row[last])
				if b.head[last] == "rule" {
					line = "  " + strings.Join(row[:last], ", ") + " [" + row[last] + "]"
				}
				s.WriteString(words.Wrap(words.Text(line), width, 4))
			}
		}
	}
	_, err := io.WriteString(to, s.String())
	return err
}

// property is a line of properties.
func property(row []string) string {
	has := func(what, is string) string {
		if is == "yes" {
			return what
		}
		return "not " + what
	}
	elements := row[1] + " elements"
	if row[1] == "no end" {
		elements = "no end of elements"
	}
	return fmt.Sprintf("%s, %s dimensions, %s, %s, %s", elements, row[2], has("compact", row[3]), has("abelian",
		row[4]),
		has("connected", row[5]))
}

// width is that of the narrowest terminal in common use.
const width = 80

// WriteMarkdown writes the report as Markdown, the answers at its end.
func (r *Result) WriteMarkdown(to io.Writer) error {
	var s strings.Builder
	fmt.Fprintf(&s, "# Symmetry\n\n%s\n", words.Markdown(r.Sentence))
	for _, b := range r.blocks() {
		fmt.Fprintf(&s, "\n## %s\n", b.title)
		if b.about != "" {
			fmt.Fprintf(&s, "\n%s\n", words.Markdown(b.about))
		}
		s.WriteString("\n")
		if len(b.head) == 1 {
			lines := make([]string, len(b.rows))
			for i, row := range b.rows {
				lines[i] = row[0]
			}
			s.WriteString(words.Block("sh", strings.Join(lines, "\n")) + "\n")
			continue
		}
		fmt.Fprintf(&s, "| %s |\n|%s\n", strings.Join(b.head, " | "), strings.Repeat(" --- |", len(b.head)))
		for _, row := range b.rows {
			cells := make([]string, len(row))
			for i, c := range row {
				cells[i] = words.Markdown(c)
			}
			fmt.Fprintf(&s, "| %s |\n", strings.Join(cells, " | "))
		}
	}
	fmt.Fprintf(&s, "\n## Answers\n\n%s", words.Block("yaml", strings.TrimRight(string(r.Answers.Write()), "\n")))
	_, err := io.WriteString(to, s.String())
	return err
}

// WriteHTML writes the report as a page that stands alone.
func (r *Result) WriteHTML(to io.Writer) error {
	var s strings.Builder
	s.WriteString(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>Symmetry</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; display: block; overflow-x: auto }
th, td { text-align: left; vertical-align: top; padding: .3rem .8rem .3rem 0; border-bottom: 1px solid color-mix(in srgb, currentColor 25%, transparent) }
pre { overflow-x: auto }
</style></head><body><main>
`)
	fmt.Fprintf(&s, "<h1>Symmetry</h1>\n<p>%s</p>\n", words.HTML(r.Sentence))
	for _, b := range r.blocks() {
		fmt.Fprintf(&s, "<h2>%s</h2>\n", words.HTML(b.title))
		if b.about != "" {
			fmt.Fprintf(&s, "<p>%s</p>\n", words.HTML(b.about))
		}
		s.WriteString("<table><thead><tr>")
		for _, h := range b.head {
			fmt.Fprintf(&s, `<th scope="col">%s</th>`, words.HTML(h))
		}
		s.WriteString("</tr></thead><tbody>\n")
		for _, row := range b.rows {
			s.WriteString("<tr>")
			for _, c := range row {
				if len(row) == 1 {
					c = "<code>" + words.HTML(c) + "</code>"
				} else {
					c = words.HTML(c)
				}
				fmt.Fprintf(&s, "<td>%s</td>", c)
			}
			s.WriteString("</tr>\n")
		}
		s.WriteString("</tbody></table>\n")
	}
	fmt.Fprintf(&s, "<h2>Answers</h2>\n<pre>%s</pre>\n</main></body></html>\n", words.HTML(string(r.Answers.Write())))
	_, err := io.WriteString(to, s.String())
	return err
}
