package repair

import (
	"cmp"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/invopop/jsonschema"

	"nero/audit/document"
	"nero/present/words"
)

// Help is what may be asked for: a line for each method and one for each of its options.
func Help() string {
	var b strings.Builder
	for _, m := range askable() {
		fmt.Fprintf(&b, "  %-9s %s\n", m.Name, m.Doc)
		for _, o := range m.Options {
			fmt.Fprintf(&b, "            %s=%s: %s\n", o.Name, strings.Join(o.says(), "|"), o.Doc)
		}
	}
	return b.String()
}

// Good reports whether every model passes, as it is or repaired.
func (r *Report) Good() bool {
	for _, m := range r.Models {
		if m.Before.Verdict != string(document.Passed) &&
			!slices.ContainsFunc(m.Tried, func(b Bill) bool { return b.passes() }) {
			return false
		}
	}
	return true
}

// Form of a report.
type Form struct {
	Name string
	// Ext is the ending of its files.
	Ext   string
	Write func(r *Report, to io.Writer) error
}

// Forms are those in which a report can be written, the usual one first.
func Forms() []Form {
	return []Form{
		{"text", ".txt", (*Report).writeText},
		{"json", ".json", (*Report).writeJSON},
		{"markdown", ".md", (*Report).writeMarkdown},
		{"html", ".html", (*Report).writeHTML},
	}
}

// ParseForm finds a form by its name.
func ParseForm(name string) (Form, error) {
	var names []string
	for _, f := range Forms() {
		if f.Name == name {
			return f, nil
		}
		names = append(names, f.Name)
	}
	return Form{}, fmt.Errorf("%q is no form of a bill; want %s", name, strings.Join(names, ", "))
}

// writeJSON writes the document of which the others are made.
func (r *Report) writeJSON(to io.Writer) error {
	e := json.NewEncoder(to)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	return e.Encode(r)
}

// Schema is the schema of what [Report] is in JSON (draft 2020-12).
func Schema() ([]byte, error) {
	r := jsonschema.Reflector{DoNotReference: true, Anonymous: true}
	s := r.Reflect(&Report{})
	s.Title = "nero repair, format " + strconv.Itoa(FormatNumber)
	b, err := json.MarshalIndent(s, "", "  ")
	return append(b, '\n'), err
}

// columns are those of the table of bills.
var columns = []string{
	"", "verdict", "error", "worst", "cost", "right at rest", "right over orbit", "lost", "best",
}

// rows are the bills of one model, the model before first, then from the cheapest on.
func (m *Of) rows() [][]string {
	var out [][]string
	for _, b := range append([]Bill{m.Before}, m.ranked()...) {
		name := b.called()
		if b.Refused != "" {
			out = append(out, []string{name, "refused: " + words.Line(b.Refused)})
			continue
		}
		verdict := b.Verdict
		if b.Single != "" && b.Single != b.Verdict {
			verdict += ", at batch 1 " + b.Single
		}
		out = append(out, []string{
			name, verdict, number(b.Error), number(b.Worst), b.Cost.text(), b.Right.text(), b.Moved.text(),
			b.Lost.text(), map[bool]string{true: "*"}[b.Pareto],
		})
	}
	return out
}

// called is the method, with a word where it made another model of a part of the file.
func (b *Bill) called() string {
	name := cmp.Or(b.Method, "as it is")
	if b.Refitted {
		name += " (refitted)"
	}
	return name
}

// ranked are the bills from the cheapest on, of equally cheap ones the most exact first, refused ones last.
func (m *Of) ranked() []Bill {
	all := slices.Clone(m.Tried)
	slices.SortStableFunc(all, func(x, y Bill) int {
		switch {
		case (x.Refused == "") != (y.Refused == ""):
			return map[bool]int{true: -1, false: 1}[x.Refused == ""]
		case x.Cost.known() != y.Cost.known():
			return cmp.Compare(x.Cost.known(), y.Cost.known())
		}
		return cmp.Compare(x.Worst, y.Worst)
	})
	return all
}

// legend says what the columns are.
func (r *Report) legend() []string {
	return []string{
		fmt.Sprintf("%s under %s, that confirm: nothing was learned from them (%s) or chosen by them (%s); at rest "+
			"and "+
			"moved together unless it says at rest", words.Plural(r.Samples, "sample", "samples"), r.Group,
			words.Count(r.Fit), words.Count(r.Choose)),
		"verdict: of audits on the same side, of as many inputs as stand beside each set; error: root mean square, " +
			"worst: the largest, in units of how much answers differ between samples; cost: " +
			"beside the model, measured (predicted); shares with intervals of 95 %; best *: no other is as cheap, as " +
			"exact and as right",
	}
}

// legend begins with what is known of averages that were not built.
func (m *Of) legend(r *Report) []string {
	if t := m.residuals(); t != "" {
		return append([]string{t}, r.legend()...)
	}
	return r.legend()
}

// details are sentences about one bill beyond the table.
func (b *Bill) details(before *Bill) []string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if b.NotFinite != "" {
		add("not finite at %s", b.NotFinite)
	}
	for _, s := range b.Sets {
		add("%s: %s, mean %s (%s to %s), largest %s, floor %s, of %s", s.Set, s.Verdict, number(s.Mean),
			number(s.Low), number(s.High), number(s.Largest), number(s.Floor), words.Plural(s.Inputs, "input",
				"inputs"))
	}
	for k, o := range b.Outputs {
		unit, were := words.Line(strings.TrimSpace(number(o.Spread)+" "+o.Unit)), ""
		if b.Method != "" && k < len(before.Outputs) {
			x := before.Outputs[k]
			were = fmt.Sprintf(" (%s, %s before); answers to samples at rest are %s away from those before",
				number(x.Error), number(x.Worst), number(o.Apart))
		}
		add("%s: error %s, worst %s, in units of %s, rounding makes %s%s", words.Line(o.Name), number(o.Error),
			number(o.Worst), unit, number(o.Floor), were)
	}
	if b.Forces != "" && b.Method == "" {
		add("energy and forces: %s", b.Forces)
	}
	if len(b.Reasons) > 0 && b.Verdict != string(document.Passed) {
		add("why: %s", words.Line(b.Reasons[0]))
	}
	if b.Method == "" {
		return out
	}
	if b.Done != "" {
		add("done: %s", words.Line(b.Done))
	}
	if b.Refitted {
		add("refitted: a layer was learned anew from samples to learn from (fit), so that this is another model " +
			"in part")
	}
	add("%s, %s, version %d of the operators, %s more than before, %s", b.Form, words.Plural(b.Nodes, "node", "nodes"),
		b.Opset, words.Count(b.Added), words.Plural(int(b.Bytes), "byte", "bytes"))
	if b.Cost.Unmeasured != "" {
		add("cost: as the method predicts, for it was not measured: %s", words.Line(b.Cost.Unmeasured))
	}
	agree := ""
	if b.Agree != nil {
		agree = "; the class is the same for " + b.Agree.text()
	}
	uncounted := ""
	if b.Right == nil {
		uncounted = b.uncounted() + "; "
	}
	add("%sanswers to samples at rest are %s away from those before%s", uncounted, number(b.Apart), agree)
	if p := b.Pairs; p != nil {
		add("%s lost, %s won (sign test: p = %.2g)", words.Plural(p.Lost, "sample is", "samples are"),
			words.Count(p.Won), p.P)
	}
	if len(b.Losers) > 0 {
		var parts []string
		for _, l := range b.Losers {
			parts = append(parts, fmt.Sprintf("class %d, %d of %d right (%d)", l.Class, l.After, l.Of, l.Before))
		}
		add("classes that lose: %s", strings.Join(parts, "; "))
	}
	if len(b.Mixed) > 0 {
		var parts []string
		for _, m := range b.Mixed {
			parts = append(parts, fmt.Sprintf("%d as %d: %d (%d)", m.Class, m.Answered, m.After, m.Before))
		}
		add("taken for another: %s", strings.Join(parts, "; "))
	}
	if n := b.Near; n != nil {
		add("near a jump: %s (%s), %s", n.Share.text(), n.Rule, words.Plural(n.Ties, "tie", "ties"))
	}
	if !math.IsNaN(float64(b.Jump)) {
		add("largest change when a sample changes by a thousandth of its length: %s (%s before)", number(b.Jump),
			number(before.Jump))
	}
	if b.Crossing != nil {
		add("largest jump where the method changes its mind: %s", number(*b.Crossing))
	}
	if b.Gradient != "" {
		add("derivatives: %s (before: %s)", b.Gradient, cmp.Or(before.Gradient, "not asked"))
	}
	if b.Forces != "" {
		aside := b.Aside
		if aside != "" {
			aside = "; " + aside
		}
		add("energy and forces: %s (before: %s)%s", b.Forces, cmp.Or(before.Forces, "not asked"), aside)
	}
	if c := b.Chosen; c != nil {
		add("on choose (%s): error %s, %s lost", words.Plural(c.Samples, "sample", "samples"), number(c.Error),
			c.Lost.text())
	}
	return out
}

// number is a number as the tables show it.
func number(n document.Number) string {
	if x := float64(n); math.IsNaN(x) || math.IsInf(x, 0) {
		return "-"
	}
	return fmt.Sprintf("%.2g", float64(n))
}

func (c Cost) text() string {
	measured, predicted := float64(c.Measured), float64(c.Predicted)
	switch {
	case measured > 0 && predicted > 0:
		return fmt.Sprintf("%.2f (%.3g)", measured, predicted)
	case predicted > 0:
		return fmt.Sprintf("- (%.3g)", predicted)
	}
	return "-"
}

// text is the share in per cent with its interval; "-" without labels.
func (s *Share) text() string {
	if s == nil {
		return "-"
	}
	return fmt.Sprintf("%.1f %% (%.1f to %.1f)", 100*s.Value, 100*max(s.Low, -1), 100*min(s.High, 1))
}

// writeText writes what to do with each model, and the bills.
func (r *Report) writeText(to io.Writer) error {
	var b strings.Builder
	for i := range r.Models {
		m := &r.Models[i]
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s: %s\n", words.Line(m.Model), words.Line(m.Sentence))
		if len(m.Tried) == 0 {
			continue
		}
		t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		for _, row := range append([][]string{columns}, m.rows()...) {
			_, _ = fmt.Fprintf(t, "  %s\n", strings.TrimRight(strings.Join(row, "\t"), "\t")) // into memory
		}
		_ = t.Flush() // into memory
		for _, x := range append([]Bill{m.Before}, m.ranked()...) {
			if x.Refused != "" {
				continue
			}
			for k, line := range x.details(&m.Before) {
				if k == 0 {
					fmt.Fprintf(&b, "  %s:\n", x.called())
				}
				fmt.Fprintf(&b, "    %s\n", line)
			}
			for line := range strings.Lines(x.Compared) {
				fmt.Fprintf(&b, "    | %s\n", strings.TrimRight(line, "\n"))
			}
		}
		for _, line := range m.legend(r) {
			fmt.Fprintf(&b, "  %s\n", line)
		}
	}
	_, err := io.WriteString(to, b.String())
	return err
}

// writeMarkdown writes the same for pages that are kept with code.
func (r *Report) writeMarkdown(to io.Writer) error {
	var b strings.Builder
	line := func(cells []string) {
		for _, c := range cells {
			b.WriteString("| " + words.Markdown(c) + " ")
		}
		b.WriteString(strings.Repeat("| ", len(columns)-len(cells)) + "|\n")
	}
	fmt.Fprintf(&b, "# Repairs under %s\n", words.Markdown(r.Group))
	for i := range r.Models {
		m := &r.Models[i]
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", words.Markdown(m.Model), words.Markdown(m.Sentence))
		if len(m.Tried) == 0 {
			continue
		}
		b.WriteByte('\n')
		line(columns)
		b.WriteString(strings.Repeat("| --- ", len(columns)) + "|\n")
		for _, row := range m.rows() {
			line(row)
		}
		for _, x := range append([]Bill{m.Before}, m.ranked()...) {
			if x.Refused != "" {
				continue
			}
			fmt.Fprintf(&b, "\n**%s**\n\n", words.Markdown(x.called()))
			for _, d := range x.details(&m.Before) {
				fmt.Fprintf(&b, "- %s\n", words.Markdown(d))
			}
			if x.Compared != "" {
				fmt.Fprintf(&b, "\n```\n%s```\n", strings.ReplaceAll(x.Compared, "```", "'''"))
			}
		}
		b.WriteByte('\n')
		for _, l := range m.legend(r) {
			fmt.Fprintf(&b, "%s\n\n", words.Markdown(l))
		}
	}
	_, err := io.WriteString(to, b.String())
	return err
}

// page is the report as one file that opens from disk and asks nothing of anybody.
var page = template.Must(template.New("repair").Parse(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width">
<title>Repairs under {{.Group}}</title>
<style>
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 72rem; margin: 1rem auto; padding: 0 1rem; color-scheme: light dark }
table { border-collapse: collapse; display: block; overflow-x: auto }
th, td { text-align: left; padding: .2rem .7rem; border-bottom: 1px solid #8886 }
pre { overflow-x: auto }
</style>
<h1>Repairs under {{.Group}}</h1>
{{range .Models}}<h2>{{.Name}}</h2>
<p>{{.Sentence}}</p>
{{with .Residuals}}<p>{{.}}</p>
{{end}}{{if .Rows}}<table>
<tr>{{range $.Columns}}<th scope="col">{{.}}</th>{{end}}</tr>
{{range .Rows}}<tr>{{range .}}<td>{{.}}</td>{{end}}</tr>
{{end}}</table>
{{range .Bills}}<h3>{{.Name}}</h3>
<ul>
{{range .Lines}}<li>{{.}}</li>
{{end}}</ul>
{{if .Compared}}<pre>{{.Compared}}</pre>
{{end}}{{end}}{{end}}{{end}}{{range .Legend}}<p>{{.}}</p>
{{end}}</html>
`))

// writeHTML writes the same as a page.
func (r *Report) writeHTML(to io.Writer) error {
	type bill struct {
		Name, Compared string
		Lines          []string
	}
	type of struct {
		Name, Sentence, Residuals string
		Rows                      [][]string
		Bills                     []bill
	}
	data := struct {
		Group           string
		Columns, Legend []string
		Models          []of
	}{Group: r.Group, Columns: columns, Legend: r.legend()}
	for i := range r.Models {
		m := &r.Models[i]
		x := of{Name: m.Model, Sentence: m.Sentence, Residuals: m.residuals()}
		if len(m.Tried) > 0 {
			x.Rows = m.rows()
		}
		for _, b := range append([]Bill{m.Before}, m.ranked()...) {
			if b.Refused == "" {
				x.Bills = append(x.Bills, bill{b.called(), b.Compared, b.details(&m.Before)})
			}
		}
		data.Models = append(data.Models, x)
	}
	return page.Execute(to, data)
}

// Brief is the name of the model and what to do with it, in one line.
func (m *Of) Brief() string {
	return fmt.Sprintf("%s: %s", words.Line(m.Model), words.Line(m.Sentence))
}
