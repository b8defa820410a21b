package watch

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"nero/present/words"
	"nero/run/trend"

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
		{"text", "watch.txt", writeText},
		{"json", "watch.json", writeJSON},
		{"markdown", "watch.md", writeMarkdown},
		{"html", "watch.html", writeHTML},
		{"badge", "watch.badge.json", writeBadge},
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
	if near, ok := words.Suggest(name, names); ok {
		return nil, fmt.Errorf("%q is no form of the report; want one of %s; did you mean %s?", name,
			strings.Join(names, ", "), near)
	}
	return nil, fmt.Errorf("%q is no form of the report; want one of %s", name, strings.Join(names, ", "))
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
	s.Title = "nero watch, format " + strconv.Itoa(FormatNumber)
	b, err := json.MarshalIndent(s, "", "  ")
	return append(b, '\n'), err
}

// badge is the form that badge services read from an endpoint, schema version 1.
type badge struct {
	Version int    `json:"schemaVersion"`
	Label   string `json:"label"`
	Message string `json:"message"`
	Color   string `json:"color"`
}

func writeBadge(w io.Writer, r *Report) error {
	b := badge{Version: 1, Label: "equivariance over releases", Message: string(r.State)}
	switch r.State {
	case trend.Alarm:
		b.Color = "red"
	case trend.OK, trend.Improved:
		b.Color = "brightgreen"
	case trend.Open:
		b.Color = "yellow"
	case trend.Incomparable:
		b.Color = "lightgrey"
	}
	for _, s := range r.Series {
		if s.State == trend.Alarm {
			b.Message = words.Line("alarm since " + s.FirstAlarm.Release)
			break
		}
	}
	return json.NewEncoder(w).Encode(b)
}

// part is a part of a report that people read.
type part struct {
	title string
	text  []string
	// the first row is the head; nil for none
	table [][]string
	notes []string
	// the series that it shows; nil for none
	of *Series
}

// mostPoints is how many releases a table shows: the last ones, the first one and those in alarm.
const mostPoints = 40

// parts are what all forms for people show.
func (r *Report) parts() []part {
	var all []part
	for _, s := range r.Series {
		all = append(all, s.part())
	}
	return append(all, r.rest()...)
}

// title names a series.
func (s *Series) title() string {
	t := s.Metric + " on the " + s.Set
	if s.Model != "" {
		t = s.Model + ": " + t
	}
	return fmt.Sprintf("%s under %s, %s", t, s.Group, s.Evidence)
}

func (s *Series) part() part {
	p := part{title: s.title() + ": " + string(s.State), of: s}
	if f := s.FirstAlarm; f != nil {
		p.text = append(p.text, fmt.Sprintf("First alarm at release %s (%d of %d, %s): %s.", f.Release, f.Place, f.Of,
			words.Plural(f.N, "object", "objects"), f.Message))
		if len(s.Changed) > 0 {
			p.text = append(p.text, "What changed with it: "+strings.Join(s.Changed, "; ")+".")
		}
		if f.Command != "" {
			p.text = append(p.text, "Side by side: "+f.Command)
		}
	}
	if s.Course != nil {
		p.text = append(p.text, s.Course.Sentence)
	}
	if s.Why != "" && s.State != trend.Alarm {
		p.text = append(p.text, words.Capital(s.Why)+".")
	}
	if len(s.Apart) > 0 {
		p.text = append(p.text, "A series of its own: "+strings.Join(s.Apart, "; ")+".")
	}
	if line := s.spark(); line != "" {
		p.text = append(p.text, line)
	}
	head := []string{"release", "objects", "mean", "interval", "change", "interval", "state"}
	if s.Evidence == NewInputs {
		head = []string{"release", "new objects", "failed", "share so far", "interval", "evidence", "state"}
	}
	p.table = [][]string{head}
	left := 0
	for i, x := range s.Points {
		if len(s.Points) > mostPoints && i > 0 && i < len(s.Points)-mostPoints/2 &&
			(x.State != trend.Alarm || len(p.table) > mostPoints/2) {
			left++
			continue
		}
		p.table = append(p.table, s.cells(i))
	}
	if left > 0 {
		p.notes = append(p.notes, words.Plural(left, "release",
			"releases")+" of the middle left out here; the JSON has all.")
	}
	if e := s.Slope; e != nil {
		p.notes = append(p.notes, fmt.Sprintf("Slope: %s per release, %s; a description of all releases and no test.",
			words.Figures(float64(e.Value)), e.text()))
	}
	return p
}

func (s *Series) cells(i int) []string {
	x := s.Points[i]
	iv := Estimate{x.Value, x.Low, x.High}
	state := string(x.State)
	if s.Evidence == SameInputs && x.Change == nil && x.State == trend.Open {
		state = words.Line(x.Why)
	} else if x.Why != "" {
		state += " (" + x.Why + ")"
	}
	if s.Evidence == NewInputs {
		objects := strconv.Itoa(x.N)
		if x.Repeated > 0 {
			objects += fmt.Sprintf(", %d known", x.Repeated)
		}
		return []string{
			x.Release, objects, strconv.Itoa(x.Failed), words.Percent(float64(x.Value)), iv.text(),
			evidence(float64(s.LogE[i])), state,
		}
	}
	n := strconv.Itoa(x.N)
	if x.Missing > 0 {
		n += fmt.Sprintf(", %d without", x.Missing)
	}
	row := []string{x.Release, n, words.Figures(float64(x.Value)), iv.text(), "", "", state}
	if x.Change != nil {
		row[4], row[5] = words.Figures(float64(x.Change.Value)), x.Change.text()
	}
	return row
}

// text is an interval.
func (e *Estimate) text() string {
	if math.IsNaN(float64(e.Low)) || math.IsInf(float64(e.Low), 0) && math.IsInf(float64(e.High), 0) {
		return "any"
	}
	return words.Figures(float64(e.Low)) + " to " + words.Figures(float64(e.High))
}

// mostSpark is how many releases a line of blocks shows.
const mostSpark = 60

// spark draws the last releases as blocks, from 0 to the largest where no value is negative.
func (s *Series) spark() string {
	blocks := []rune("▁▂▃▄▅▆▇█")
	points := s.Points[max(0, len(s.Points)-mostSpark):]
	lo, hi := 0.0, math.Inf(-1)
	for _, p := range points {
		if v := float64(p.Value); !math.IsNaN(v) {
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	if math.IsInf(hi, -1) || len(points) < 2 {
		return ""
	}
	out := &strings.Builder{}
	for _, p := range points {
		v := float64(p.Value)
		switch {
		case math.IsNaN(v):
			out.WriteRune('×')
		case hi == lo:
			out.WriteRune(blocks[0])
		default:
			out.WriteRune(blocks[min(int(float64((v-lo)/(hi-lo))*float64(len(blocks))), len(blocks)-1)])
		}
	}
	return fmt.Sprintf("%s  %s to %s", out, words.Figures(lo), words.Figures(hi))
}

// rest are the limits of the judgement, and what was left out.
func (r *Report) rest() []part {
	p := part{title: "How it is judged", text: []string{
		fmt.Sprintf("%s and %s, ordered by %s.", words.Plural(r.Audits, "audit", "audits"),
			words.Plural(r.Runs, "run", "runs"), r.By),
		fmt.Sprintf("Same inputs: each release against the reference (%s), object by object; a change for the "+
			"worse of up to %s is allowed. The probability of any false alarm of a study is at most %s, however "+
			"many releases there are.", r.Reference, words.Percent(float64(r.Allow)),
			words.Percent(float64(r.Alarm))),
		fmt.Sprintf("New inputs: at most %s of them may have an error above the limit; the evidence against that "+
			"adds up, and an alarm stays.", words.Percent(float64(r.Rate))),
	}}
	if r.Copies > 0 {
		p.notes = append(p.notes, words.Plural(r.Copies, "file holds",
			"files hold")+" what another one holds, and counts "+
			"for nothing.")
	}
	all := []part{p}
	if len(r.Skipped) > 0 {
		s := part{title: "Left out", table: [][]string{{"file", "why"}}}
		const most = 20
		for _, x := range r.Skipped[:min(most, len(r.Skipped))] {
			s.table = append(s.table, []string{x.File, x.Why})
		}
		if n := len(r.Skipped) - most; n > 0 {
			s.notes = append(s.notes, fmt.Sprintf("And %d more.", n))
		}
		all = append(all, s)
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
	fmt.Fprintf(out, "# Releases\n\n**%s**\n", words.Markdown(r.Sentence))
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
