// Package page writes the reports of an audit as one HTML file that opens from disk and asks nothing of anybody: no
// script, no font, no picture from elsewhere, and a content policy that forbids them. It says what the other forms say,
// with plots beside their numbers.
//
// Every plot is drawn once; its colours come from the style sheet, for light and dark screens and for paper. It has a
// title and a sentence for those who do not see it, and a table of its numbers below. Equal reports give equal bytes.
package page

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
	"unicode"

	"nero/audit"
)

//go:embed style.css
var style string

//go:embed page.html
var source string

// HTML writes reports as one page.
func HTML(w io.Writer, reports ...*audit.Report) error {
	t, err := template.New("page").Parse(source)
	if err != nil {
		return fmt.Errorf("page: %w", err)
	}
	f := &figures{}
	v := view{
		Title: "Equivariance audit", Style: template.CSS(style),
		Verdict: verdict(reports...),
	} //nolint:gosec // the style sheet is a part of this package
	sum := sha256.Sum256([]byte(style))
	v.Policy = "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; img-src data:; base-uri 'none'; form-action 'none'"
	v.Words = words(v.Verdict)
	var names []string
	for _, r := range reports {
		names = append(names, r.Model)
		v.Models = append(v.Models, modelOf(f, r))
	}
	if len(names) > 0 {
		v.Title = strings.Join(names, ", ") + ": " + v.Words + " · Equivariance audit"
	}
	if len(reports) > 1 {
		v.Overview = overview(reports)
	}
	var b strings.Builder
	if err := t.Execute(&b, v); err != nil {
		return fmt.Errorf("page: %w", err)
	}
	_, err = io.WriteString(w, harmless(b.String()))
	return err
}

// harmless replaces characters that would turn the direction of writing or that no page may hold.
func harmless(s string) string {
	return strings.Map(func(c rune) rune {
		if c != '\n' && c != '\t' && unicode.IsControl(c) || '\u202a' <= c && c <= '\u202e' || '\u2066' <= c &&
			c <= '\u2069' {
			return '\ufffd'
		}
		return c
	}, s)
}

const couldNotRun = "COULD_NOT_RUN"

// verdict over reports is the worst of theirs.
func verdict(reports ...*audit.Report) string {
	rank := []string{string(audit.Passed), string(audit.NeedsAttention), string(audit.Failed), couldNotRun}
	if len(reports) == 0 {
		return couldNotRun
	}
	at := 0
	for _, r := range reports {
		v := string(r.Verdict)
		if r.Error != "" {
			v = couldNotRun
		}
		i := slices.Index(rank, v)
		if i < 0 {
			i = 1 // without a verdict nothing has passed
		}
		at = max(at, i)
	}
	return rank[at]
}

// words of a verdict.
func words(v string) string { return strings.ReplaceAll(v, "_", " ") }

type view struct {
	Title, Policy, Verdict, Words string
	Style                         template.CSS
	Overview                      *grid
	Models                        []model
}

type model struct {
	ID, Name, Verdict, Words, Error string
	// symmetry that holds, "" if nobody looked
	Largest              string
	Questions            []audit.Question
	Diagnoses            []diagnosis
	Plots                []figure
	Sets                 *grid
	Statements           []string
	Gallery              []gallery
	Findings             []finding
	Checks               []check
	Advice               []audit.Advice
	Reasons, Certificate []string
	Untested, Caveats    []string
	About                []audit.About
	Worst                []worst
}

type diagnosis struct {
	audit.Diagnosis
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
	Steps []audit.Step
}

type worst struct{ What, Replay string }

func modelOf(f *figures, r *audit.Report) model {
	m := model{
		ID: f.id("model"), Name: r.Model, Verdict: verdict(r), Words: words(verdict(r)), Error: r.Error,
		Largest: r.Largest,
	}
	if r.Error != "" {
		return m
	}
	m.Questions, m.Reasons, m.Certificate, m.Caveats, m.Advice = r.Questions(), r.Reasons, r.Certificate(), r.Caveats(),
		r.Recommendations()
	for _, d := range r.Diagnoses {
		v := diagnosis{
			Diagnosis: d, Sure: whole(d.Confidence),
			Meter: strconv.FormatFloat(unit(d.Confidence), 'f', 3, 64),
		}
		var names []string
		for _, n := range d.Missing {
			names = append(names, string(n))
		}
		v.Missing = strings.Join(names, ", ")
		m.Diagnoses = append(m.Diagnoses, v)
	}
	m.Plots = f.profile(r, r.Sets())
	m.Sets = setsOf(r)
	for _, s := range r.Sets() {
		m.Statements = append(m.Statements, s.Name+": "+r.Statement(s))
	}
	for _, c := range r.Gallery {
		m.Gallery = append(m.Gallery, galleryOf(r, c))
	}
	for _, g := range r.Graded() {
		v := finding{
			ID: f.id("finding"), Severity: string(g.Severity), Message: g.Message, Check: g.Check,
			Category: g.Category.Name, Location: g.Location,
			Remedies: g.Remedies, Replay: r.Replay(g.Worst),
		}
		if g.Worst.Index >= 0 || g.Worst.Label != "" {
			v.Worst = g.Worst.String()
		}
		for _, e := range g.Evidence {
			v.Evidence = append(v.Evidence, e.String())
		}
		m.Findings = append(m.Findings, v)
	}
	for _, c := range r.Results {
		m.Checks = append(m.Checks, checkOf(f, c))
		if c.Status != audit.Tested {
			m.Untested = append(m.Untested, fmt.Sprintf("%s: %s: %s", c.Check.Name, c.Status, c.Reason))
		}
	}
	for _, o := range r.Outside {
		m.Untested = append(m.Untested, "not part of this audit: "+o)
	}
	for _, w := range r.WorstCases() {
		t := w.What + ": " + w.Where.String()
		if !math.IsNaN(w.Value) {
			t += ", " + audit.Figures(w.Value)
		}
		m.Worst = append(m.Worst, worst{t, r.Replay(w.Where)})
	}
	m.About = about(r)
	return m
}

// whole writes a confidence in whole percents.
func whole(x float64) string { return strconv.FormatFloat(100*unit(x), 'f', 0, 64) + "%" }

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// about is the specification with sizes, limits and their origin, and the circumstances.
func about(r *audit.Report) []audit.About {
	elements := count(r.Planned, "element", "elements")
	if r.Measure != "" {
		elements += " (" + r.Measure + ")"
	}
	if r.Added > 0 {
		elements += fmt.Sprintf(", %d exact added by the audit", r.Added)
	}
	out := []audit.About{
		{Name: "group", Value: r.Group},
		{Name: "elements", Value: elements},
		{Name: "inputs", Value: strconv.Itoa(r.Inputs)},
		{Name: "output", Value: r.Output},
		{Name: "scale of the output", Value: audit.Figures(r.Scale)},
		{Name: "threshold", Value: audit.Figures(r.Policy.Threshold) + " (" + r.Policy.Origin + ")"},
		{Name: "inputs that may exceed it", Value: audit.Percent(r.Policy.FailureRate)},
		{Name: "confidence", Value: audit.Percent(r.Policy.Confidence)},
		{Name: "seed", Value: strconv.FormatUint(r.Seed, 10)},
	}
	if r.Policy.Average > 1 {
		out = append(out, audit.About{Name: "repeats averaged", Value: strconv.Itoa(r.Policy.Average)})
	}
	for _, a := range r.About {
		if !slices.Contains(out, a) {
			out = append(out, a)
		}
	}
	out = append(out, audit.About{Name: "score of this audit", Value: r.Score().String()})
	if r.Command != "" {
		out = append(out, audit.About{Name: "command", Value: r.Command})
	}
	return out
}

// overview has a row per model.
func overview(reports []*audit.Report) *grid {
	g := &grid{Caption: "Models", Head: []cell{
		word("model"), word("verdict"), word("most likely cause"),
		{Text: "largest error per input", Number: true},
		word("why"),
	}}
	for _, r := range reports {
		cause, size, why := "", "", r.Error
		if len(r.Diagnoses) > 0 {
			cause = r.Diagnoses[0].Cause + ", " + whole(r.Diagnoses[0].Confidence)
		}
		if r.Error == "" {
			most := math.NaN()
			for _, s := range r.Sets() {
				if !(most >= s.Worst.Value) {
					most = s.Worst.Value
				}
			}
			size = audit.Figures(most)
			if len(r.Reasons) > 0 {
				why = r.Reasons[0]
			}
		}
		g.Rows = append(g.Rows, []cell{
			word(r.Model), word(words(verdict(r))), word(cause),
			{Text: size, Number: true},
			word(why),
		})
	}
	return g
}

// setsOf has a column per judged set.
func setsOf(r *audit.Report) *grid {
	sets := r.Sets()
	if len(sets) == 0 {
		return nil
	}
	g := &grid{Caption: "What was measured. Errors are relative to the scale of the outputs, intervals are of means " +
		"over inputs.", Head: []cell{word("quantity")}}
	for _, s := range sets {
		g.Head = append(g.Head, word(s.Name))
	}
	row := func(name, doc string, f func(*audit.Set) string) {
		line := []cell{{Text: name, Doc: doc}}
		for _, s := range sets {
			line = append(line, word(f(s)))
		}
		g.Rows = append(g.Rows, line)
	}
	num := func(f func(*audit.Set) float64) func(*audit.Set) string {
		return func(s *audit.Set) string { return audit.Figures(f(s)) }
	}
	row("verdict", "", func(s *audit.Set) string { return words(string(s.Verdict)) })
	row("why", "", func(s *audit.Set) string { return s.Reason })
	row("cause of its size", "", func(s *audit.Set) string { return string(s.Cause) })
	row("level", "", func(s *audit.Set) string { return string(s.Level) })
	row("inputs × elements", "n × m",
		func(s *audit.Set) string { return fmt.Sprintf("%d × %d", s.Inputs, len(s.Profile)) })
	row("largest error per input", "mean over inputs of the largest error on the orbit",
		func(s *audit.Set) string { return s.Worst.String() })
	row("inputs above the limit", "", func(s *audit.Set) string {
		return fmt.Sprintf("%d of %d: %s in [%s, %s]", s.Exceeding, s.Worst.N, audit.Percent(s.Exceed.Value),
			audit.Percent(s.Exceed.Lo), audit.Percent(s.Exceed.Hi))
	})
	row("mean, sd", "over all pairs",
		func(s *audit.Set) string { return audit.Figures(s.Rel.Mean) + ", " + audit.Figures(s.Rel.Std) })
	row("p50, p95, p99", "over all pairs", func(s *audit.Set) string {
		return audit.Figures(s.Rel.P50) + ", " + audit.Figures(s.Rel.P95) + ", " + audit.Figures(s.Rel.P99)
	})
	row("largest, where", "", func(s *audit.Set) string { return audit.Figures(s.Rel.Max) + ", " + s.At.String() })
	row("absolute mean, max", "in the unit of the output",
		func(s *audit.Set) string { return audit.Figures(s.Abs.Mean) + ", " + audit.Figures(s.Abs.Max) })
	row("floor of rounding", "", num(func(s *audit.Set) float64 { return s.Floors.Rounding }))
	row("floors of repeats, batches", "", func(s *audit.Set) string {
		return audit.Figures(s.Floors.Repeat) + ", " + audit.Figures(s.Floors.Batch)
	})
	row("floor of resampling", "", func(s *audit.Set) string {
		if s.Exact {
			return "none: nothing is resampled"
		}
		return audit.Figures(s.Resampling.Mean) + "; error over it " + s.Ratio.String()
	})
	row("in float64", "", func(s *audit.Set) string {
		if s.Slope == nil {
			return "not measured"
		}
		return s.Slope.String()
	})
	row("detectable", "smallest planted break that was noticed", func(s *audit.Set) string {
		if math.IsNaN(s.Detectable) {
			return "not known"
		}
		return audit.Figures(s.Detectable)
	})
	return g
}

func galleryOf(r *audit.Report, c audit.Case) gallery {
	g := gallery{Title: c.Title, Note: c.Note, Replay: r.Replay(c.Where)}
	if c.Where.Index >= 0 && (c.Where.Sample != "" || c.Where.Label != "") {
		g.Where = c.Where.String()
	}
	for _, p := range c.Pictures {
		m, err := p.Image()
		if err != nil {
			g.Refused = append(g.Refused, err.Error())
			continue
		}
		g.Pictures = append(g.Pictures,
			picture{p.Caption, p.W, p.H, template.URL(dataURI(m))}) //nolint:gosec // made of bytes by this package
	}
	return g
}

func checkOf(f *figures, c *audit.Result) check {
	v := check{
		ID: f.id("check"), Name: c.Check.Name, Status: string(c.Status), Summary: c.Check.Summary(),
		Reason: c.Reason,
	}
	if doc := strings.Join(strings.Fields(c.Check.Doc), " "); doc != v.Summary {
		v.Doc = doc
	}
	if c.Verdict != "" {
		v.Verdict = &chip{string(c.Verdict), words(string(c.Verdict))}
	}
	v.Open = len(c.Exhibits) > 0
	for _, e := range c.Measures {
		v.Measures = append(v.Measures, e.String())
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
	for _, s := range c.Sets {
		if len(s.Steps) > 0 {
			v.Steps = append(v.Steps, steps{s.Name, s.Steps})
		}
	}
	return v
}
