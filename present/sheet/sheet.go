// Package sheet writes what a command found for people: an answer, then parts with sentences, a table and notes, as the
// text of a terminal, as Markdown and as one HTML page.
package sheet

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"nero/present/words"
)

// Sheet is what people read. All of its texts may come from outside: each form writes them so that they have no meaning
// of their own in it.
type Sheet struct {
	// Title heads Markdown and the page.
	Title string
	// Answer is what was found, in a few sentences: each begins a line of text, elsewhere they follow each other.
	Answer []string
	Parts  []Part
	// Style is what the figures of the page need beside the style of all pages; empty for nothing.
	Style string
}

// Part is a part of a sheet.
type Part struct {
	Title string
	// Text is what stands before the table. Text for a terminal leaves out what the answer says.
	Text []string
	// Table has its head in the first row; nil for none.
	Table [][]string
	// Notes are what stands below it, on how to read it.
	Notes []string
	// Figure is drawn before the table of the page, as SVG in which texts are escaped; empty for none.
	Figure string
}

// columns is the width that text keeps to.
const columns = 100

// few is of how many columns a table may hold sentences.
const few = 4

// WriteText writes a sheet for a terminal. Only tables of more than four columns may be wider than 100 columns.
func (s *Sheet) WriteText(to io.Writer) error {
	out := &strings.Builder{}
	for _, a := range s.Answer {
		out.WriteString(words.Wrap(words.Line(a), columns, 0))
	}
	for _, p := range s.Parts {
		fmt.Fprintf(out, "\n%s\n", words.Line(p.Title))
		for _, t := range p.Text {
			if !slices.Contains(s.Answer, t) {
				out.WriteString(words.Wrap("  "+words.Line(t), columns, 2))
			}
		}
		grid(out, p.Table)
		for _, n := range p.Notes {
			out.WriteString(words.Wrap("  "+words.Line(n), columns, 2))
		}
	}
	_, err := io.WriteString(to, out.String())
	return err
}

// grid writes a table with columns as wide as their widest cell. Where that is wider than text may be, a table of a few
// columns, which hold sentences, has its rows below each other.
func grid(out *strings.Builder, rows [][]string) {
	var wide []int
	for _, row := range rows {
		for j, cell := range row {
			if j == len(wide) {
				wide = append(wide, 0)
			}
			wide[j] = max(wide[j], utf8.RuneCountInString(words.Line(cell)))
		}
	}
	total := 2
	for _, w := range wide {
		total += w + 2
	}
	if total > columns && len(wide) <= few {
		for _, row := range rows[1:] {
			text := row[0]
			if rest := slices.DeleteFunc(slices.Clone(row[1:]), func(c string) bool { return c == "" }); len(rest) > 0 {
				text += ": " + strings.Join(rest, " — ")
			}
			out.WriteString(words.Wrap("  "+words.Line(text), columns, 2))
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

// WriteMarkdown writes a sheet as Markdown.
func (s *Sheet) WriteMarkdown(to io.Writer) error {
	out := &strings.Builder{}
	fmt.Fprintf(out, "# %s\n\n**%s**\n", words.Markdown(s.Title), words.Markdown(strings.Join(s.Answer, " ")))
	for _, p := range s.Parts {
		fmt.Fprintf(out, "\n## %s\n", words.Markdown(p.Title))
		for _, t := range p.Text {
			fmt.Fprintf(out, "\n%s\n", words.Markdown(t))
		}
		for i, row := range p.Table {
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
		for _, n := range p.Notes {
			fmt.Fprintf(out, "\n%s\n", words.Markdown(n))
		}
	}
	_, err := io.WriteString(to, out.String())
	return err
}

// style is that of all pages: readable in light and dark, on a phone and on paper.
const style = `:root{color-scheme:light dark;--ink:#1c1c1c;--quiet:#666;--line:#ccc;--ground:#fff}
@media(prefers-color-scheme:dark){:root{--ink:#eee;--quiet:#aaa;--line:#444;--ground:#161616}}
body{font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--ground);max-width:60rem;
margin:2rem auto;padding:0 1rem}
.answer{font-size:1.15rem;font-weight:600}
table{border-collapse:collapse;display:block;overflow-x:auto;margin:.75rem 0}
th,td{text-align:left;vertical-align:top;padding:.2rem .8rem .2rem 0;border-bottom:1px solid var(--line)}
.note{color:var(--quiet);font-size:.9rem}
`

// WriteHTML writes a sheet as one page that opens from disk and asks nothing of anybody.
func (s *Sheet) WriteHTML(to io.Writer) error {
	out := &strings.Builder{}
	title := words.HTML(s.Title)
	fmt.Fprintf(out, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"+
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"+
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>%s</title>\n"+
		"<style>%s</style></head>\n<body>\n<h1>%s</h1>\n<p class=\"answer\">%s</p>\n", title, style+s.Style, title,
		words.HTML(strings.Join(s.Answer, " ")))
	for _, p := range s.Parts {
		fmt.Fprintf(out, "<h2>%s</h2>\n", words.HTML(p.Title))
		for _, t := range p.Text {
			fmt.Fprintf(out, "<p>%s</p>\n", words.HTML(t))
		}
		out.WriteString(p.Figure)
		for k, row := range p.Table {
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
		if len(p.Table) > 0 {
			out.WriteString("</table>\n")
		}
		for _, n := range p.Notes {
			fmt.Fprintf(out, "<p class=\"note\">%s</p>\n", words.HTML(n))
		}
	}
	out.WriteString("</body></html>\n")
	_, err := io.WriteString(to, out.String())
	return err
}
