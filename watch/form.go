package watch

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"nero/present/sheet"
	"nero/present/words"
	"nero/run/trend"
)

// Base is what a report is called in a folder, without the ending of its form.
const Base = "watch"

// Forms are all ways to write a report, the first that of a terminal.
func Forms() []*sheet.Form[*Report] {
	return append(sheet.Forms((*Report).sheet), &sheet.Form[*Report]{
		Name: "badge", Ending: ".badge.json", Write: writeBadge,
	})
}

// Schema is the schema of what [Report] is in JSON.
func Schema() ([]byte, error) { return sheet.Schema("watch", FormatNumber, &Report{}) }

// sheet is what people read.
func (r *Report) sheet() *sheet.Sheet {
	return &sheet.Sheet{Title: "Releases", Answer: []string{r.Sentence}, Parts: r.parts(), Style: style}
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
	case Empty:
		b.Color, b.Message = "orange", "the last release says nothing"
	case NotFinite:
		b.Color, b.Message = "orange", "errors are not finite"
	}
	if s := r.alarmed(func(s *Series) bool { return s.State == trend.Alarm }); s != nil {
		b.Message = words.Line("alarm since " + s.FirstAlarm.Release)
	}
	return json.NewEncoder(w).Encode(b)
}

// mostPoints is how many releases a table shows: the last ones, the first one and those in alarm.
const mostPoints = 40

// parts are what all forms for people show.
func (r *Report) parts() []sheet.Part {
	var all []sheet.Part
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

func (s *Series) part() sheet.Part {
	p := sheet.Part{Title: s.title() + ": " + string(s.State), Figure: s.figure()}
	if f := s.FirstAlarm; f != nil {
		p.Text = append(p.Text, fmt.Sprintf("First alarm at release %s (%d of %d, %s): %s.", f.Release, f.Place, f.Of,
			words.Plural(f.N, "object", "objects"), f.Message))
		if len(s.Changed) > 0 {
			p.Text = append(p.Text, "What changed with it: "+strings.Join(s.Changed, "; ")+".")
		}
		if f.Command != "" {
			p.Text = append(p.Text, "Side by side: "+f.Command)
		}
	}
	if s.Course != nil {
		p.Text = append(p.Text, s.Course.Sentence)
	}
	switch {
	case s.Why == "" || s.State == trend.Alarm:
	case s.State == Empty, s.State == NotFinite:
		p.Text = append(p.Text, "Release "+s.Points[len(s.Points)-1].Release+": "+s.Why+".")
	default:
		p.Text = append(p.Text, words.Capital(s.Why)+".")
	}
	if len(s.Apart) > 0 {
		p.Text = append(p.Text, "A series of its own: "+strings.Join(s.Apart, "; ")+".")
	}
	if line := s.spark(); line != "" {
		p.Text = append(p.Text, line)
	}
	head := []string{"release", "objects", "mean", "interval", "change", "interval", "state"}
	if s.Evidence == NewInputs {
		head = []string{"release", "new objects", "failed", "share so far", "interval", "evidence", "state"}
	}
	p.Table = [][]string{head}
	left := 0
	for i, x := range s.Points {
		if len(s.Points) > mostPoints && i > 0 && i < len(s.Points)-mostPoints/2 &&
			(x.State != trend.Alarm || len(p.Table) > mostPoints/2) {
			left++
			continue
		}
		p.Table = append(p.Table, s.cells(i))
	}
	if left > 0 {
		p.Notes = append(p.Notes, words.Plural(left, "release", "releases")+
			" of the middle left out here; the JSON has all.")
	}
	if e := s.Slope; e != nil {
		p.Notes = append(p.Notes, fmt.Sprintf("Slope: %s per release, %s; a description of all releases and no test.",
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
	if x.State == Empty {
		return []string{x.Release, strconv.Itoa(x.N + x.Missing), "", "", "", "", state}
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
func (r *Report) rest() []sheet.Part {
	p := sheet.Part{Title: "How it is judged", Text: []string{
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
		p.Notes = append(p.Notes, words.Plural(r.Copies, "file holds", "files hold")+
			" what another one holds, and counts for nothing.")
	}
	p.Notes = append(p.Notes, r.Notes...)
	all := []sheet.Part{p}
	if len(r.Skipped) > 0 {
		s := sheet.Part{Title: "Left out", Table: [][]string{{"file", "why"}}}
		const most = 20
		for _, x := range r.Skipped[:min(most, len(r.Skipped))] {
			s.Table = append(s.Table, []string{x.File, x.Why})
		}
		if n := len(r.Skipped) - most; n > 0 {
			s.Notes = append(s.Notes, fmt.Sprintf("And %d more.", n))
		}
		all = append(all, s)
	}
	return all
}
