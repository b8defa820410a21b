// Package table writes tables of text and numbers as CSV, JSON Lines, Markdown and LaTeX. The same table gives the same
// bytes. Text may hold any Unicode, and no cell can break out of its place.
package table

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"nero/present/words"
)

// Format is a way to write a table. Its text is the extension of the file's name.
type Format string

// The formats.
const (
	// CSV is RFC 4180 with line feeds: the names of the columns, then the rows; see [Write] about formulas.
	CSV      Format = "csv"
	JSONL    Format = "jsonl" // one object per row, its keys in the order of the columns; null for what is missing
	Markdown Format = "md"    // a table of GitHub Flavored Markdown below its title
	LaTeX    Format = "tex"   // a tabular that needs no package, below a comment with its title
)

// Formats lists the formats.
func Formats() []Format { return []Format{CSV, JSONL, Markdown, LaTeX} }

// ParseFormat reads the name of a format.
func ParseFormat(name string) (Format, error) {
	if f := Format(name); slices.Contains(Formats(), f) {
		return f, nil
	}
	return "", fmt.Errorf("format %.40q: expected csv, jsonl, md or tex", name)
}

// Type is the media type of a format.
func (f Format) Type() string {
	switch f {
	case CSV:
		return "text/csv; charset=utf-8; header=present"
	case JSONL:
		return "application/jsonl"
	case Markdown:
		return "text/markdown; charset=utf-8; variant=GFM"
	case LaTeX:
		return "application/x-latex"
	}
	return "text/plain; charset=utf-8"
}

// Column is a column of a table.
type Column struct {
	// unique within the table
	Name string
	// Text says that the cells are text, which stands at the left.
	Text bool
}

// Table is a table. A cell is a string, a bool, an int, a float32 or a float64; nil and numbers that are NaN or
// infinite are missing.
type Table struct {
	// a sentence or less, for Markdown and LaTeX; may be empty
	Title   string
	Columns []Column
	// Rows yields one cell per column. A row may share memory with the next one.
	Rows iter.Seq[[]any]
}

// Write writes a table. CSV and JSON Lines hold every number with the shortest digits that give it back; Markdown and
// LaTeX, which people read, with four significant digits, and integers in full.
//
// A text of CSV that a spreadsheet would take for a formula, because it begins with = + - @, their full-width forms, a
// tab or a line break, gets an apostrophe before it, the spreadsheets' own sign for text. Numbers never do. The other
// formats hold text as it is, but that Markdown has it as [words.Markdown] says, and that in LaTeX control characters
// become spaces and invalid UTF-8 becomes U+FFFD.
//
// The error is that of w, or says which row has another number of cells than the table has columns, or a cell of
// another type.
func Write(w io.Writer, f Format, t *Table) error {
	for i, c := range t.Columns {
		if slices.ContainsFunc(t.Columns[:i], func(o Column) bool { return o.Name == c.Name }) {
			return fmt.Errorf("table: column %q is there twice", c.Name)
		}
	}
	b := bufio.NewWriter(w)
	var row func([]any) error
	var end func() error
	switch f {
	case CSV:
		row, end = csvRows(b, t)
	case JSONL:
		row, end = jsonRows(b, t)
	case Markdown:
		row, end = markdownRows(b, t)
	case LaTeX:
		row, end = latexRows(b, t)
	default:
		_, err := ParseFormat(string(f))
		return err
	}
	n := 0
	for cells := range t.Rows {
		n++
		if len(cells) != len(t.Columns) {
			return fmt.Errorf("table: row %d has %d cells, and there are %d columns", n, len(cells), len(t.Columns))
		}
		for i, c := range cells {
			switch c.(type) {
			case nil, string, bool, int, float32, float64:
			default:
				return fmt.Errorf("table: row %d, column %q: a cell of type %T", n, t.Columns[i].Name, c)
			}
		}
		if err := row(cells); err != nil {
			return err
		}
	}
	if err := end(); err != nil {
		return err
	}
	return b.Flush()
}

// exact writes a number with the shortest digits that give it back, "" for what is missing.
func exact(cell any) string {
	switch v := cell.(type) {
	case bool:
		return strconv.FormatBool(v)
	case int:
		return strconv.Itoa(v)
	case float32:
		return float(float64(v), 32)
	case float64:
		return float(v, 64)
	}
	return ""
}

func float(v float64, bits int) string {
	if missing(v) {
		return ""
	}
	return strconv.FormatFloat(v, 'g', -1, bits)
}

func missing(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }

// rounded writes a number for people, "" for what is missing.
func rounded(cell any) string {
	var v float64
	switch c := cell.(type) {
	case float32:
		v = float64(c)
	case float64:
		v = c
	default:
		return exact(cell)
	}
	if missing(v) {
		return ""
	}
	s := strconv.FormatFloat(v, 'g', 4, 64)
	if math.Abs(v) >= 1e4 && math.Abs(v) < 1e7 { // 12345, not 1.234e+04
		s = strconv.FormatFloat(v, 'f', 0, 64)
	}
	return s
}

// formula tells whether a spreadsheet would take a text for a formula or a command.
func formula(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return s != "" && strings.ContainsRune("=+-@\t\r\n＝＋－＠", r)
}

// Plain is a text as it stands in a cell of CSV, where no spreadsheet takes it for a formula; see [Write].
func Plain(s string) string {
	if formula(s) {
		return "'" + s
	}
	return s
}

func csvRows(b *bufio.Writer, t *Table) (func([]any) error, func() error) {
	w := csv.NewWriter(b)
	out := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		out[i] = Plain(c.Name)
	}
	line := func() error {
		if len(out) == 1 && out[0] == "" { // an empty line is no row to readers
			w.Flush()
			_, err := b.WriteString("\"\"\n")
			return err
		}
		return w.Write(out)
	}
	first := line()
	return func(cells []any) error {
			if first != nil {
				return first
			}
			for i, c := range cells {
				if s, ok := c.(string); ok {
					out[i] = Plain(s)
				} else {
					out[i] = exact(c)
				}
			}
			return line()
		}, func() error {
			w.Flush()
			return w.Error()
		}
}

func jsonRows(b *bufio.Writer, t *Table) (func([]any) error, func() error) {
	text := func(s string) ([]byte, error) {
		var o strings.Builder
		e := json.NewEncoder(&o)
		e.SetEscapeHTML(false)
		err := e.Encode(s)
		return []byte(strings.TrimSuffix(o.String(), "\n")), err
	}
	keys := make([][]byte, len(t.Columns))
	var failed error
	for i, c := range t.Columns {
		k, err := text(c.Name)
		if err != nil {
			failed = err
		}
		keys[i] = append(k, ':')
	}
	return func(cells []any) error {
		for i, c := range cells {
			sep := byte(',')
			if i == 0 {
				sep = '{'
			}
			_ = b.WriteByte(sep) // a bufio.Writer keeps its first error until Flush
			_, _ = b.Write(keys[i])
			if s, ok := c.(string); ok {
				v, err := text(s)
				if err != nil {
					return err
				}
				_, _ = b.Write(v)
			} else if v := exact(c); v == "" {
				_, _ = b.WriteString("null")
			} else {
				_, _ = b.WriteString(v)
			}
		}
		if len(cells) == 0 {
			_ = b.WriteByte('{')
		}
		_, err := b.WriteString("}\n")
		return err
	}, func() error { return failed }
}

// plain is a text on one line without control characters.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

func markdownRows(b *bufio.Writer, t *Table) (func([]any) error, func() error) {
	if t.Title != "" {
		_, _ = b.WriteString(words.Markdown(t.Title) + "\n\n") // a bufio.Writer keeps its first error until Flush
	}
	line := func(cell func(i int) string) error {
		for i := range t.Columns {
			_, _ = b.WriteString("| " + cell(i) + " ")
		}
		_, err := b.WriteString("|\n")
		return err
	}
	_ = line(func(i int) string { return words.Markdown(t.Columns[i].Name) }) // errors come back from Flush
	_ = line(func(i int) string {
		if t.Columns[i].Text {
			return ":---"
		}
		return "---:"
	})
	return func(cells []any) error {
		return line(func(i int) string {
			if s, ok := cells[i].(string); ok {
				return words.Markdown(s)
			}
			return rounded(cells[i])
		})
	}, func() error { return nil }
}

// marks are the characters that LaTeX reads as something else, or prints as something else in its old fonts. A bracket
// or a star behind the end of a row would be an argument of it.
var marks = map[rune]string{
	'\\': `\textbackslash{}`, '{': `\{`, '}': `\}`, '$': `\$`, '&': `\&`, '#': `\#`, '%': `\%`, '_': `\_`,
	'^': `\textasciicircum{}`, '~': `\textasciitilde{}`, '<': `\textless{}`, '>': `\textgreater{}`, '|': `\textbar{}`,
	'`': `\textasciigrave{}`, '[': `{[}`, ']': `{]}`, '*': `{*}`, '-': `-{}`, '"': `\textquotedbl{}`, '\'': `'{}`,
	'\u00a0': `\nobreakspace{}`, '°': `\textdegree{}`, '×': `\texttimes{}`, '±': `\textpm{}`, 'µ': `\textmu{}`,
}

func latex(s string) string {
	var o strings.Builder
	for _, r := range plain(s) {
		if m, ok := marks[r]; ok {
			o.WriteString(m)
		} else {
			o.WriteRune(r)
		}
	}
	return o.String()
}

// formulaOf writes a number of rounded for LaTeX, with a real minus and power of ten.
func formulaOf(s string) string {
	if s == "" || s == "true" || s == "false" {
		return s
	}
	m, e, power := strings.Cut(s, "e")
	if !power {
		return "$" + s + "$"
	}
	n, err := strconv.Atoi(e)
	if err != nil {
		return s
	}
	return fmt.Sprintf(`$%s\times 10^{%d}$`, m, n)
}

func latexRows(b *bufio.Writer, t *Table) (func([]any) error, func() error) {
	if t.Title != "" {
		_, _ = b.WriteString("% " + plain(t.Title) + "\n") // a bufio.Writer keeps its first error until Flush
	}
	_, _ = b.WriteString(`\begin{tabular}{`)
	for _, c := range t.Columns {
		_ = b.WriteByte(map[bool]byte{true: 'l', false: 'r'}[c.Text])
	}
	_, _ = b.WriteString("}\n\\hline\n")
	line := func(cell func(i int) string) error {
		for i := range t.Columns {
			if i > 0 {
				_, _ = b.WriteString(" & ")
			}
			_, _ = b.WriteString(cell(i))
		}
		_, err := b.WriteString(" \\\\\n")
		return err
	}
	_ = line(func(i int) string { return latex(t.Columns[i].Name) })
	_, _ = b.WriteString("\\hline\n")
	return func(cells []any) error {
			return line(func(i int) string {
				if s, ok := cells[i].(string); ok {
					return latex(s)
				}
				return formulaOf(rounded(cells[i]))
			})
		}, func() error {
			_, err := b.WriteString("\\hline\n\\end{tabular}\n")
			return err
		}
}
