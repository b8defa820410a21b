// Package html writes an audit as one HTML file that opens from disk and asks nothing of anybody: no
// script, no font, no picture from elsewhere, and a content policy that forbids them. It says what the other forms say,
// with plots beside their numbers.
//
// Every plot is drawn once; its colours come from the style sheet, for light and dark screens and for paper. It has a
// title and a sentence for those who do not see it, and a table of its numbers below. Equal audits give equal bytes.
package html

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"nero/audit/document"
	"nero/present/words"
)

//go:embed style.css
var style string

//go:embed page.html
var source string

// Write writes an audit as one page.
func Write(w io.Writer, a *document.Audit) error {
	t, err := template.New("page").Parse(source)
	if err != nil {
		return fmt.Errorf("html: %w", err)
	}
	f := &figures{}
	v := view{
		Title: "Equivariance audit", Style: template.CSS(style),
		Verdict: verdict(a.Models),
	} //nolint:gosec // the style sheet is a part of this package
	sum := sha256.Sum256([]byte(style))
	v.Policy = "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; img-src data:; base-uri 'none'; form-action 'none'"
	v.Words = words.Name(v.Verdict)
	var names []string
	for i := range a.Models {
		names = append(names, a.Models[i].Model)
		v.Models = append(v.Models, modelOf(f, &a.Models[i]))
	}
	if len(names) > 0 {
		v.Title = strings.Join(names, ", ") + ": " + v.Words + " · Equivariance audit"
	}
	if len(a.Models) > 1 {
		v.Overview = overview(a.Models)
	}
	v.Forms = formsOf(a.Forms)
	var b strings.Builder
	if err := t.Execute(&b, v); err != nil {
		return fmt.Errorf("html: %w", err)
	}
	_, err = io.WriteString(w, words.Text(b.String()))
	return err
}

// verdict over models is the worst of theirs.
func verdict(models []document.Model) string {
	rank := []document.Verdict{
		document.Passed, document.NeedsAttention, document.Failed, document.CouldNotRun,
	}
	if len(models) == 0 {
		return string(document.CouldNotRun)
	}
	at := 0
	for _, m := range models {
		i := slices.Index(rank, m.Verdict)
		if m.Error != "" {
			i = len(rank) - 1
		}
		if i < 0 {
			i = 1 // without a verdict nothing has passed
		}
		at = max(at, i)
	}
	return string(rank[at])
}

type view struct {
	Title, Policy, Verdict, Words string
	Style                         template.CSS
	Overview, Forms               *grid
	Models                        []model
}

type model struct {
	ID, Name, Verdict, Words, Error string
	// symmetry that holds, "" if nobody looked
	Largest              string
	Gist                 []string
	Questions            []document.Question
	Diagnoses            []diagnosis
	Plots                []figure
	Sets                 *grid
	Statements           []string
	Gallery              []gallery
	Findings             []finding
	Checks               []check
	Advice               []document.Advice
	Reasons, Certificate []string
	Untested, Caveats    []string
	About                []document.Fact
	Worst                []worst
}

type diagnosis struct {
	document.Diagnosis
	Sure    string
	Meter   string
	Missing string
}

type gallery struct {
	Title, Where, Note, Replay string
	Pictures                   []picture
	Refused                    []string
}

type picture struct {
	Caption string
	W, H    int
	URI     template.URL
}

type finding struct {
	ID, Severity, Message, Check, Category, Location, Worst, Replay string
	Evidence, Remedies                                              []string
}

type check struct {
	ID, Name, Status, Summary, Reason, Doc string
	Verdict                                *chip
	Open                                   bool
	Measures                               []string
	Plots                                  []figure
	Tables                                 []table
	Steps                                  []steps
}

type chip struct{ Class, Words string }

type table struct {
	Note string
	Grid grid
}

type steps struct {
	Set   string
	Steps []document.Step
}

type worst struct{ What, Replay string }

func modelOf(f *figures, r *document.Model) model {
	m := model{
		ID: f.id("model"), Name: r.Model, Error: r.Error, Largest: r.Largest, Verdict: verdict([]document.Model{*r}),
	}
	m.Words = words.Name(m.Verdict)
	if r.Error != "" {
		return m
	}
	m.Gist = r.Gist
	m.Questions, m.Reasons, m.Certificate, m.Caveats, m.Advice = r.Questions, r.Reasons, r.Certificate, r.Caveats,
		r.Advice
	for _, d := range r.Diagnoses {
		v := diagnosis{
			Diagnosis: d, Sure: whole(d.Confidence), Missing: strings.Join(d.Settle, "; "),
			Meter: strconv.FormatFloat(unit(float64(d.Confidence)), 'f', 3, 64),
		}
		m.Diagnoses = append(m.Diagnoses, v)
	}
	m.Plots = f.profile(r, r.Sets())
	m.Sets = setsOf(r)
	for _, s := range r.Sets() {
		m.Statements = append(m.Statements, s.Name+": "+s.Statement)
	}
	for _, c := range r.Gallery {
		m.Gallery = append(m.Gallery, galleryOf(c))
	}
	for _, g := range r.Findings() {
		v := finding{
			ID: f.id("finding"), Severity: string(g.Severity), Message: g.Message, Check: g.Check,
			Category: g.Kind(), Location: g.Location, Remedies: g.Remedies, Replay: g.Replay,
		}
		if g.Worst != nil {
			v.Worst = g.Worst.String()
		}
		for _, e := range g.Evidence {
			v.Evidence = append(v.Evidence, e.Text)
		}
		m.Findings = append(m.Findings, v)
	}
	for i := range r.Checks {
		c := &r.Checks[i]
		m.Checks = append(m.Checks, checkOf(f, c))
		if c.Status != document.Tested {
			m.Untested = append(m.Untested, fmt.Sprintf("%s: %s: %s", c.Check, c.Status, c.Reason))
		}
	}
	for _, o := range r.Outside {
		m.Untested = append(m.Untested, "not part of this audit: "+o)
	}
	for _, w := range r.WorstCases {
		t := w.What + ": " + w.Where.String()
		if !math.IsNaN(float64(w.Value)) {
			t += ", " + w.Value.String()
		}
		m.Worst = append(m.Worst, worst{t, w.Replay})
	}
	m.About = about(r)
	return m
}

// whole writes a confidence in whole percents.
func whole(x document.Number) string { return document.Sure(unit(float64(x))) }

// about is the specification with sizes, limits and their origin, and the circumstances.
func about(r *document.Model) []document.Fact {
	elements := words.Plural(r.Claim.Elements, "element", "elements")
	if r.Claim.Measure != "" {
		elements += " (" + r.Claim.Measure + ")"
	}
	if r.Claim.Added > 0 {
		elements += fmt.Sprintf(", %d exact added by the audit", r.Claim.Added)
	}
	out := append(r.Specification(), []document.Fact{
		{Name: "group", Value: r.Claim.Group},
		{Name: "elements", Value: elements},
		{Name: "inputs", Value: strconv.Itoa(r.Claim.Inputs)},
		{Name: "output", Value: r.Claim.Output},
		{Name: "scale of the output", Value: r.Claim.Scale.String()},
		{Name: "threshold", Value: r.Policy.Threshold.String() + " (" + r.Policy.Origin + ")"},
		{Name: "inputs that may exceed it", Value: percent(r.Policy.FailureRate)},
		{Name: "confidence", Value: percent(r.Policy.Confidence)},
		{Name: "seed", Value: strconv.FormatUint(r.Claim.Seed, 10)},
	}...)
	if r.Policy.Average > 1 {
		out = append(out, document.Fact{Name: "repeats averaged", Value: strconv.Itoa(r.Policy.Average)})
	}
	for _, a := range r.About {
		if !slices.Contains(out, a) {
			out = append(out, a)
		}
	}
	out = append(out, document.Fact{Name: "score of this audit", Value: r.Score.String()})
	if r.Command != "" {
		out = append(out, document.Fact{Name: "command", Value: r.Command})
	}
	return out
}

// overview has a row per model.
func overview(models []document.Model) *grid {
	g := &grid{Caption: "Models", Head: []cell{
		word("model"), word("verdict"), word("most likely cause"),
		{Text: "largest error per input", Number: true},
		word("why"),
	}}
	for i := range models {
		m := &models[i]
		cause, size, why := "", "", m.Error
		if len(m.Diagnoses) > 0 {
			cause = m.Diagnoses[0].Cause + ", " + whole(m.Diagnoses[0].Confidence)
		}
		if m.Error == "" {
			most := document.Number(math.NaN())
			for _, s := range m.Sets() {
				if !(most >= s.Worst.Value) {
					most = s.Worst.Value
				}
			}
			size = most.String()
			if len(m.Reasons) > 0 {
				why = m.Reasons[0]
			}
		}
		g.Rows = append(g.Rows, []cell{
			word(m.Model), word(words.Name(verdict(models[i : i+1]))), word(cause),
			{Text: size, Number: true},
			word(why),
		})
	}
	return g
}

// formsOf has a row per form of one model; nil where none were compared.
func formsOf(f *document.Forms) *grid {
	if f == nil {
		return nil
	}
	g := &grid{Caption: "Forms of " + f.Of, Foot: f.Note()}
	number := func(i int) bool { return i > 1 } // after name and verdict
	for i, h := range document.FormsHead() {
		g.Head = append(g.Head, cell{Text: h, Number: number(i)})
	}
	for k := range f.Forms {
		var row []cell
		for i, c := range f.Forms[k].Cells() {
			row = append(row, cell{Text: c, Number: number(i)})
		}
		row[0].Doc = f.Forms[k].Error
		g.Rows = append(g.Rows, row)
	}
	return g
}

func percent(n document.Number) string { return words.Percent(float64(n)) }

// setsOf has a column per judged set.
func setsOf(m *document.Model) *grid {
	sets := m.Sets()
	if len(sets) == 0 {
		return nil
	}
	g := &grid{Caption: "What was measured. Errors are relative to the scale of the outputs, intervals are of means " +
		"over inputs.", Head: []cell{word("quantity")}}
	for _, s := range sets {
		g.Head = append(g.Head, word(s.Name))
	}
	row := func(name, doc string, f func(*document.Set) string) {
		line := []cell{{Text: name, Doc: doc}}
		for _, s := range sets {
			line = append(line, word(f(s)))
		}
		g.Rows = append(g.Rows, line)
	}
	row("verdict", "", func(s *document.Set) string { return words.Name(string(s.Verdict)) })
	row("why", "", func(s *document.Set) string { return s.Reason })
	row("cause of its size", "", func(s *document.Set) string { return s.Cause })
	row("level", "", func(s *document.Set) string { return s.Level })
	row("inputs × elements", "n × m",
		func(s *document.Set) string { return fmt.Sprintf("%d × %d", s.Inputs, len(s.Profile)) })
	row("largest error per input", "mean over inputs of the largest error on the orbit",
		func(s *document.Set) string { return s.Worst.String() })
	row("inputs above the limit", "", func(s *document.Set) string {
		return fmt.Sprintf("%d of %d: %s in [%s, %s]", s.Exceeding, s.Worst.N, percent(s.Exceed.Value),
			percent(s.Exceed.Lo), percent(s.Exceed.Hi))
	})
	row("mean, sd", "over all pairs",
		func(s *document.Set) string { return fmt.Sprintf("%s, %s", s.Relative.Mean, s.Relative.Std) })
	row("p50, p95, p99", "over all pairs", func(s *document.Set) string {
		return fmt.Sprintf("%s, %s, %s", s.Relative.P50, s.Relative.P95, s.Relative.P99)
	})
	row("largest, where", "", func(s *document.Set) string { return fmt.Sprintf("%s, %s", s.Relative.Max, s.At) })
	row("absolute mean, max", "in the unit of the output",
		func(s *document.Set) string {
			if len(s.Fields) > 0 {
				return "–" // parts with units of their own, which the table of parts has
			}
			return fmt.Sprintf("%s, %s", s.Absolute.Mean, s.Absolute.Max)
		})
	row("floor of rounding", "", func(s *document.Set) string { return s.Rounding.String() })
	row("floors of repeats, batches", "",
		func(s *document.Set) string { return fmt.Sprintf("%s, %s", s.Repeat, s.Batch) })
	row("floor of resampling", "", func(s *document.Set) string {
		if s.Exact {
			return "none: nothing is resampled"
		}
		return fmt.Sprintf("%s; error over it %s", s.Resampling.Mean, s.Ratio)
	})
	row("in float64", "", func(s *document.Set) string {
		if s.Slope == nil {
			return "not measured"
		}
		return s.Slope.Text
	})
	row("detectable", "smallest planted break that was noticed", func(s *document.Set) string {
		if s.Detected != "" {
			return s.Detected
		}
		if math.IsNaN(float64(s.Detectable)) {
			return "not known"
		}
		return s.Detectable.String()
	})
	return g
}

func galleryOf(c document.Case) gallery {
	g := gallery{Title: c.Title, Note: c.Note, Replay: c.Replay}
	if w := c.Where; w != nil && w.Index >= 0 && (w.Sample != "" || w.Element != "") {
		g.Where = w.String()
	}
	for _, p := range c.Images {
		if p.Refused != "" {
			g.Refused = append(g.Refused, p.Refused)
			continue
		}
		uri := template.URL(dataURI(p.PNG)) //nolint:gosec // base64 cannot leave its attribute
		g.Pictures = append(g.Pictures, picture{p.Caption, p.Width, p.Height, uri})
	}
	return g
}

func checkOf(f *figures, c *document.Check) check {
	v := check{
		ID: f.id("check"), Name: c.Heading(), Status: string(c.Status), Summary: c.Summary, Reason: c.Reason,
	}
	if doc := strings.Join(strings.Fields(c.Doc), " "); doc != v.Summary {
		v.Doc = doc
	}
	if c.Judges() {
		v.Verdict = &chip{string(c.Verdict), words.Name(string(c.Verdict))}
	}
	v.Open = len(c.Exhibits) > 0
	for _, e := range c.Measures {
		v.Measures = append(v.Measures, e.Text)
	}
	for _, e := range c.Exhibits {
		switch {
		case e.Table != nil:
			if fig, ok := f.bars(e); ok {
				v.Plots = append(v.Plots, fig)
				break
			}
			v.Tables = append(v.Tables, table{e.Note, tableOf(e)})
		case e.Curve != nil:
			v.Plots = append(v.Plots, f.curve(e))
		case e.Map != nil:
			v.Plots = append(v.Plots, f.mapOf(e))
		}
	}
	for i := range c.Sets {
		if s := &c.Sets[i]; len(s.Steps) > 0 {
			v.Steps = append(v.Steps, steps{s.Name, s.Steps})
		}
	}
	return v
}
