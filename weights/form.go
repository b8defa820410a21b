package weights

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"nero/present/words"

	"github.com/invopop/jsonschema"
)

// Form is a way to write a report.
type Form struct {
	Name  string
	write func(w io.Writer, r *Report) error
}

// Forms are all ways to write a report, the first that of a terminal.
func Forms() []*Form {
	return []*Form{{"text", writeText}, {"json", writeJSON}, {"markdown", writeMarkdown}}
}

// FindForm finds a form by its name.
func FindForm(name string) (*Form, error) {
	var names []string
	for _, f := range Forms() {
		if f.Name == name {
			return f, nil
		}
		names = append(names, f.Name)
	}
	near := ""
	if s, ok := words.Suggest(name, names); ok {
		near = "; did you mean " + s + "?"
	}
	return nil, fmt.Errorf("%q is no form of the report; want one of %s%s", name, strings.Join(names, ", "), near)
}

// Write writes a report.
func (f *Form) Write(w io.Writer, r *Report) error { return f.write(w, r) }

func writeJSON(w io.Writer, r *Report) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	e.SetEscapeHTML(false)
	return e.Encode(r)
}

// Schema is the schema of what [Report] is in JSON (draft 2020-12).
func Schema() ([]byte, error) {
	r := jsonschema.Reflector{DoNotReference: true, Anonymous: true}
	s := r.Reflect(&Report{})
	s.Title = "nero weights, format " + strconv.Itoa(FormatNumber)
	b, err := json.MarshalIndent(s, "", "  ")
	return append(b, '\n'), err
}

// part is a part of a report that people read.
type part struct {
	title string
	text  []string
	// the first row is the head; nil for none
	table [][]string
}

// parts are what all forms for people show.
func (r *Report) parts() []part {
	var all []part
	if r.Aligned != nil {
		all = append(all, r.Aligned.parts()...)
	}
	if r.Canonical != nil {
		all = append(all, r.Canonical.part())
	}
	if len(r.Symmetries) > 0 {
		all = append(all, r.symmetries())
	}
	all = append(all, r.axes())
	if len(r.Gaps) > 0 {
		p := part{
			title: "Not looked into", text: []string{"What these nodes read and make is taken to stay as it is."},
			table: [][]string{{"node", "operator", "why"}},
		}
		for _, g := range r.Gaps {
			p.table = append(p.table, []string{g.Node, g.Op, g.Why})
		}
		all = append(all, p)
	}
	return append(all, r.how())
}

func (r *Report) symmetries() part {
	p := part{
		title: "Symmetries", text: []string{"Each was applied with a random element; the error is the largest change " +
			"of " +
			"an answer over the centred scale s of the output."},
		table: [][]string{{"what", "where", "units", "error", "state"}},
	}
	for _, s := range r.Symmetries {
		where := s.Where
		if s.Before != "" {
			where += " before " + s.Before
		}
		n := strconv.Itoa(s.Units)
		if s.Blocks > 1 {
			n += " in each of " + strconv.Itoa(s.Blocks)
		}
		p.table = append(p.table, []string{s.Kind, where, n, s.text(), s.note()})
	}
	return p
}

// text is an error in words.
func (a Apart) text() string {
	switch {
	case a.Bad != "":
		return "undefined"
	case a.Equal:
		return "0, bit for bit"
	}
	return words.Figures(float64(a.Error))
}

// note is the state with what belongs to it.
func (s *Symmetry) note() string {
	text := string(s.State)
	if s.UpTo == "epsilon" {
		text += ", up to epsilon " + words.Figures(float64(s.Epsilon))
	}
	if s.Radial != nil {
		text += ", gradient along the weights " + words.Figures(float64(*s.Radial))
	}
	if s.Alone != nil {
		text += "; the weights alone: " + s.Alone.text()
	}
	if s.Why != "" {
		text += " (" + s.Why + ")"
	}
	return text
}

func (r *Report) axes() part {
	p := part{title: "Axes", table: [][]string{{"axis", "first at", "units", "stored tensors", "blocks"}}}
	stay := map[string]int{}
	var order []string
	for _, a := range r.Axes {
		if a.Fixed != "" {
			if stay[a.Fixed]++; stay[a.Fixed] == 1 {
				order = append(order, a.Fixed)
			}
			continue
		}
		blocks := ""
		if a.Blocks > 1 {
			blocks = fmt.Sprintf("in each of %d of axis %s", a.Blocks, strings.Trim(fmt.Sprint(a.Within), "[]"))
		}
		p.table = append(p.table, []string{
			strconv.Itoa(a.Index), a.Name, strconv.Itoa(a.Units), strconv.Itoa(len(a.Stored)), blocks,
		})
	}
	if len(p.table) == 1 {
		p.table = nil
	}
	for _, why := range order {
		p.text = append(p.text, fmt.Sprintf("%s: %s.", words.Plural(stay[why], "axis keeps its order",
			"axes keep their order"), why))
	}
	return p
}

func (r *Report) how() part {
	return part{title: "How it is judged", text: []string{fmt.Sprintf(
		"%s, %s, seed %d. Scales are powers of two, which round nothing. A move holds where no answer moves by more "+
			"than %g s. A scale before a normaliser is exact up to epsilon where the error stays as the scale grows, "+
			"and grows with its square as it falls.", words.Plural(r.Probes, "probe", "probes"), r.From, r.Seed,
		mostError)}}
}

// columns is the width that text keeps to.
const columns = 100

func writeText(to io.Writer, r *Report) error {
	out := &strings.Builder{}
	out.WriteString(words.Wrap(words.Line(r.Sentence), columns, 0))
	for _, p := range r.parts() {
		fmt.Fprintf(out, "\n%s\n", words.Line(p.title))
		for _, s := range p.text {
			out.WriteString(words.Wrap("  "+words.Line(s), columns, 2))
		}
		grid(out, p.table)
	}
	_, err := io.WriteString(to, out.String())
	return err
}

// grid writes a table; the last column may be as long as it likes.
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
	fmt.Fprintf(out, "# Weights\n\n**%s**\n", words.Markdown(r.Sentence))
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
	}
	_, err := io.WriteString(to, out.String())
	return err
}
