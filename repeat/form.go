package repeat

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"nero/present/words"

	"github.com/invopop/jsonschema"
)

// Form is a way to write a report.
type Form struct {
	Name string
	// File is what it is called in a folder.
	File  string
	write func(w io.Writer, r *Report) error
}

// Forms are all ways to write a report, the first that of a terminal.
func Forms() []*Form {
	return []*Form{
		{"text", "repeat.txt", writeText},
		{"json", "repeat.json", writeJSON},
		{"markdown", "repeat.md", writeMarkdown},
		{"html", "repeat.html", writeHTML},
	}
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
	hint := ""
	if near, ok := words.Suggest(name, names); ok {
		hint = "; did you mean " + near + "?"
	}
	return nil, fmt.Errorf("%q is no form of the report; want one of %s%s", name, strings.Join(names, ", "), hint)
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
	s.Title = "nero repeat, format " + strconv.Itoa(FormatNumber)
	b, err := json.MarshalIndent(s, "", "  ")
	return append(b, '\n'), err
}

// MarkOf tells a repeat.json from other JSON by its first keys.
const MarkOf = `"times":`

// ReadReport reads a report in JSON; its name is that of the file, for messages.
func ReadReport(name string, b []byte) (*Report, error) {
	const want = "want a repeat.json that nero repeat wrote"
	var r Report
	if err := json.Unmarshal(b, &r); err != nil {
		return nil, fmt.Errorf("%s: %w; %s", name, err, want)
	}
	switch {
	case r.Format != FormatNumber:
		return nil, fmt.Errorf("%s: the format is %d and not %d; %s", name, r.Format, FormatNumber, want)
	case len(r.Models) == 0 || r.Times < 1 || r.Sentence == "":
		return nil, fmt.Errorf("%s: no models; %s", name, want)
	}
	for _, m := range r.Models {
		if m == nil {
			return nil, fmt.Errorf("%s: a model that is null; %s", name, want)
		}
		if slices.Contains(m.Objects, nil) || slices.Contains(m.Given, nil) || len(m.Outcomes) == 0 {
			return nil, fmt.Errorf("%s: what %s answered is not whole; %s", name, words.Line(m.Name), want)
		}
		if err := m.Contract.whole(); err != nil {
			return nil, fmt.Errorf("%s: the contract of %s %w; %s", name, words.Line(m.Name), err, want)
		}
	}
	return &r, nil
}

// whole says what of a contract in a file cannot be.
func (c *Contract) whole() error {
	if c == nil {
		return nil
	}
	if c.Unit != objects && c.Unit != environments {
		return fmt.Errorf("counts %q", c.Unit)
	}
	s := c.Stream
	if s.N < 0 || s.Over < 0 || s.Over > s.N || len(c.Seen) != s.N {
		return fmt.Errorf("has %d objects of which %d failed, and the names of %d", s.N, s.Over, len(c.Seen))
	}
	last := Stage{}
	for _, x := range c.Course {
		if x.N <= last.N || x.N > s.N || x.Over < last.Over || x.Over > s.Over {
			return fmt.Errorf("goes from %d failed of %d to %d of %d, and ends with %d of %d", last.Over, last.N,
				x.Over, x.N, s.Over, s.N)
		}
		last = x
	}
	return nil
}

// ErrOther is that an earlier report asked something else.
var ErrOther = errors.New("the earlier report asked something else")

// Follows tells whether a stream can go on from a report: it has to be of the same contract, and count the same.
func (r *Report) Follows(o Options, things []*Thing) error {
	unit := UnitOf(things)
	for _, m := range r.Models {
		c := m.Contract
		if c == nil || o.Contract == nil {
			return fmt.Errorf("%w: a contract is needed there and here; say audit.contract", ErrOther)
		}
		if c.Unit != unit {
			return fmt.Errorf("%w: it counts %ss, and this one %ss: name environments in both or in none", ErrOther,
				c.Unit, unit)
		}
		if c.Error != Number(o.Contract.Tau) || c.Rate != Number(o.Contract.P) ||
			c.Confidence != Number(o.Contract.Confidence) {
			return fmt.Errorf("%w: an error of %g in %g with confidence %g, and this one %g, %g and %g: say the same",
				ErrOther, c.Error, c.Rate, c.Confidence, o.Contract.Tau, o.Contract.P, o.Contract.Confidence)
		}
	}
	return nil
}

// part is a part of a report that people read.
type part struct {
	title string
	text  []string
	// the first row is the head; nil for none
	table [][]string
	notes []string
}

// text is an estimate with its interval, as shares or as sizes.
func (e *Estimate) text(say func(float64) string) string {
	if e == nil {
		return ""
	}
	if math.IsInf(float64(e.Low), 0) || math.IsNaN(float64(e.Low)) {
		return say(float64(e.Value)) + " (any)"
	}
	return fmt.Sprintf("%s (%s to %s)", say(float64(e.Value)), say(float64(e.Low)), say(float64(e.High)))
}

// doc is what an outcome means.
func (c *Count) doc() string {
	for _, o := range Outcomes() {
		if o.Name == c.Name {
			return o.Doc
		}
	}
	return ""
}

func (m *Model) size() func(float64) string {
	if m.Answers == "numbers" {
		return words.Figures
	}
	return words.Percent
}

// bar draws a share of the widest as blocks.
func bar(x, widest float64) string {
	const cells = 20
	if !(x > 0) || !(widest > 0) || math.IsInf(x, 0) {
		return ""
	}
	eighths := int(math.Round(float64(x/widest) * cells * 8))
	rest := []string{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"}
	return strings.Repeat("█", eighths/8) + rest[eighths%8]
}

func (m *Model) parts(r *Report) []part {
	head := part{title: m.Name}
	if m.Place != "" && m.Place != m.Name {
		head.title += ", " + m.Place
	}
	head.title += ": " + string(m.Verdict)
	if len(m.Reasons) > 0 {
		head.text = append(head.text, words.Capital(strings.Join(m.Reasons, "; "))+".")
	}
	if m.Cached != "" {
		head.text = append(head.text, words.Capital(m.Cached)+".")
	}
	if len(m.Outcomes) > 1 || m.Outcomes[0].Name != Answered.Name {
		head.table = [][]string{{"outcome", "questions", "share", "what it is", "the first"}}
		for _, o := range m.Outcomes {
			first := ""
			if o.Why != "" {
				first = fmt.Sprintf("%s, %s: %s", o.Object, o.View, o.Why)
			}
			head.table = append(head.table, []string{
				words.Name(o.Name), strconv.Itoa(o.N), words.Percent(float64(o.Share)), o.doc(), first,
			})
		}
		head.notes = append(head.notes, "What is no answer is in no number below.")
	}
	all := []part{head}
	if m.Repeats != nil {
		all = append(all, m.Repeats.part(r, m))
	}
	if m.Given != nil {
		all = append(all, m.strip(r))
	}
	if m.Contract != nil {
		all = append(all, m.Contract.part())
	}
	return append(all, m.worst())
}

func (r *Repeats) part(of *Report, m *Model) part {
	p := part{title: "The same again, " + strconv.Itoa(of.Times) + " times", table: [][]string{{
		"of repeats",
		"interval",
	}}}
	add := func(name, value string) { p.table = append(p.table, []string{name, value}) }
	add("agreement of two answers", r.Agreement.text(words.Percent))
	add("entropy, bits", r.Entropy.text(words.Figures))
	add("objects all of whose answers are equal", r.Full.text(words.Percent))
	if r.Spread != nil {
		add("deviation over the centred scale", r.Spread.text(words.Figures))
	}
	if c := r.Correct; c != nil {
		add("accuracy of one answer", c.One.text(words.Percent))
		add("accuracy of the most frequent", c.Mode.text(words.Percent))
		add("at least one of them right", c.Best.text(words.Percent))
		wrong := "No most frequent answer is wrong."
		if c.Errors.N > 0 {
			wrong = c.Errors.text(words.Percent) + " of errors are consistent errors: asking again does not find them."
		}
		p.text = append(p.text, fmt.Sprintf("%s Consistent and right %d, consistent and wrong %d, varying and right "+
			"%d, "+
			"varying and wrong %d objects.", wrong, c.ConsistentRight, c.ConsistentWrong, c.VaryingRight,
			c.VaryingWrong))
	}
	if r.Digits != nil {
		var shares []string
		for k, x := range r.Digits {
			shares = append(shares, fmt.Sprintf("%d: %s", k+1, words.Percent(float64(x))))
		}
		p.notes = append(p.notes, "Numbers with so many significant digits in common: "+strings.Join(shares, ", ")+".")
	}
	if len(m.Given) > 0 {
		p.notes = append(p.notes, "Of the view "+of.Reference+", with which the others are compared.")
	}
	if r.Tied > 0 {
		p.notes = append(p.notes, words.Plural(r.Tied, "object", "objects")+
			" without a single most frequent answer; the first of them is taken.")
	}
	if r.Few > 0 {
		p.notes = append(p.notes, words.Plural(r.Few, "object", "objects")+" with fewer than two answers.")
	}
	return p
}

// strip is the ranked strip of views: there is no order among them but how much they differ.
func (m *Model) strip(r *Report) part {
	p := part{title: "Views, by how much they are answered otherwise than " + r.Reference}
	if o := m.OverViews; o != nil {
		p.text = append(p.text, "Two answers to different views of one object are equal in "+o.text(words.Percent)+".")
	}
	say := m.size()
	widest := 1.0
	if m.Answers == "numbers" {
		widest = 0
		for _, v := range m.Given {
			if v.Difference != nil && float64(v.Difference.Value) > widest && !math.IsInf(float64(v.Difference.Value),
				0) {
				widest = float64(v.Difference.Value)
			}
		}
	}
	head := []string{"view", "objects", "", "differ", "more than by chance", "p (Holm)"}
	accuracy := false
	for _, v := range m.Given {
		accuracy = accuracy || v.Accuracy != nil
	}
	if accuracy {
		head = append(head, "right")
	}
	p.table = [][]string{append(head, "state")}
	for _, v := range m.Given {
		row := []string{v.Name, strconv.Itoa(v.Objects), "", v.Difference.text(say), v.Excess.text(words.Figures), ""}
		if v.Difference != nil {
			row[2] = bar(float64(v.Difference.Value), widest)
		}
		if v.PHolm != nil {
			row[5] = words.Figures(float64(*v.PHolm))
		}
		if accuracy {
			row = append(row, v.Accuracy.text(words.Percent))
		}
		state := v.State
		if v.Reference {
			state = "reference"
		}
		p.table = append(p.table, append(row, state))
	}
	effect := "what differs more than by chance"
	if r.Times < 2 {
		effect = "what differs (each view was asked once, and nothing is known of chance)"
	}
	p.notes = append(p.notes, fmt.Sprintf("A view is the same if the interval of %s lies below %s, and differs if it "+
		"lies "+
		"above; a large p shows nothing. The intervals of all views hold together.", effect,
		words.Figures(float64(r.Threshold))))
	return p
}

func (c *Contract) part() part {
	many := c.Unit + "s"
	p := part{title: fmt.Sprintf("Contract: an error above %s in at most %s of %s, with confidence %s",
		words.Figures(float64(c.Error)), words.Percent(float64(c.Rate)), many, words.Percent(float64(c.Confidence)))}
	p.table = [][]string{{"", "state", many, "above", "what is shown"}}
	limits := fmt.Sprintf("the share lies above %s and below %s", words.Percent(float64(*c.Fixed.Low)),
		words.Percent(float64(*c.Fixed.High)))
	if c.Fixed.Need > 0 {
		limits += fmt.Sprintf("; about %s decide", words.Plural(c.Fixed.Need, c.Unit, many))
	}
	p.table = append(p.table, []string{
		"these " + many, c.Fixed.State, strconv.Itoa(c.Fixed.N),
		strconv.Itoa(c.Fixed.Over),
		limits,
	})
	evidence := fmt.Sprintf("evidence that it is kept 1e%s, that it is broken 1e%s, due at %s",
		tens(float64(*c.Stream.LogKept)), tens(float64(*c.Stream.LogBroken)),
		words.Figures(1/(1-float64(c.Confidence))))
	if c.Stream.DecidedAt > 0 {
		evidence += "; decided after " + words.Plural(c.Stream.DecidedAt, c.Unit, many)
	}
	p.table = append(p.table, []string{
		"all so far", c.Stream.State, strconv.Itoa(c.Stream.N),
		strconv.Itoa(c.Stream.Over),
		evidence,
	})
	note := "The error of an object is its largest over views and repeats, from the most frequent answer to the " +
		"reference"
	if c.Unit == environments {
		note += "; that of an environment is the mean of its objects"
	}
	p.notes = append(p.notes, note+".")
	if c.Stream.Known > 0 {
		p.notes = append(p.notes, words.Plural(c.Stream.Known, c.Unit+" was",
			many+" were")+" known before: no new evidence.")
	}
	if c.LeftOut > 0 {
		p.notes = append(p.notes, words.Plural(c.LeftOut, c.Unit+" has", many+" have")+" no answer to the reference.")
	}
	return p
}

// tens is an exponent of ten for a natural logarithm.
func tens(log float64) string { return words.Minus(strconv.FormatFloat(log/math.Ln10, 'f', 1, 64)) }

// mostObjects is how many objects people are shown.
const mostObjects = 10

// worst are the objects that agree least.
func (m *Model) worst() part {
	p := part{title: "Objects that agree least"}
	left := 0
	for _, o := range m.Objects {
		if len(o.Views) == 0 {
			continue
		}
		if len(p.table) > mostObjects {
			left++
			continue
		}
		if p.table == nil {
			p.table = [][]string{{"object", "of repeats", "over views", "mostly", "otherwise"}}
		}
		var others []string
		for _, v := range o.Views {
			if v.Differ > 0 {
				others = append(others, fmt.Sprintf("%s %d of %d: %s", v.View, v.Differ, v.Asked, words.Clip(v.Answer,
					24)))
			}
			if v.Without > 0 {
				others = append(others, fmt.Sprintf("%s %d of %d without an answer", v.View, v.Without, v.Asked))
			}
		}
		p.table = append(p.table, []string{
			words.Clip(o.Name, 24), words.Percent(float64(o.Agreement)), words.Percent(float64(o.OverViews)),
			words.Clip(o.Mode, 32), strings.Join(others, "; "),
		})
	}
	if p.table == nil {
		p.text = append(p.text, "None: every answer about an object is the same.")
	}
	if left > 0 {
		p.notes = append(p.notes, fmt.Sprintf("And %d more, which the JSON has.", left))
	}
	return p
}

func (r *Report) parts() []part {
	var all []part
	for _, m := range r.Models {
		all = append(all, m.parts(r)...)
	}
	return all
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
		for _, s := range p.notes {
			out.WriteString(words.Wrap("  "+words.Line(s), columns, 2))
		}
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
	fmt.Fprintf(out, "# Asked again\n\n**%s**\n", words.Markdown(r.Sentence))
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
	_, err := io.WriteString(to, out.String())
	return err
}

// style is that of the page: readable in light and dark, on a phone and on paper.
const style = `:root{color-scheme:light dark;--ink:#1c1c1c;--quiet:#666;--line:#ccc;--ground:#fff}
@media(prefers-color-scheme:dark){:root{--ink:#eee;--quiet:#aaa;--line:#444;--ground:#161616}}
body{font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--ground);max-width:60rem;
margin:2rem auto;padding:0 1rem}
.answer{font-size:1.15rem;font-weight:600}
table{border-collapse:collapse;display:block;overflow-x:auto;margin:.75rem 0}
th,td{text-align:left;vertical-align:top;padding:.2rem .8rem .2rem 0;border-bottom:1px solid var(--line)}
.note{color:var(--quiet);font-size:.9rem}
`

// writeHTML writes one page that opens from disk and asks nothing of anybody.
func writeHTML(to io.Writer, r *Report) error {
	out := &strings.Builder{}
	fmt.Fprintf(out, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"+
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"+
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>Asked again</title>\n"+
		"<style>%s</style></head>\n<body>\n<h1>Asked again</h1>\n<p class=\"answer\">%s</p>\n", style,
		words.HTML(r.Sentence))
	for _, p := range r.parts() {
		fmt.Fprintf(out, "<h2>%s</h2>\n", words.HTML(p.title))
		for _, s := range p.text {
			fmt.Fprintf(out, "<p>%s</p>\n", words.HTML(s))
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
	out.WriteString("</body></html>\n")
	_, err := io.WriteString(to, out.String())
	return err
}
