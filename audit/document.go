package audit

import (
	"bytes"
	"image/png"
	"math"

	"nero/audit/document"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

// number is how a document holds a float.
type number = document.Number

// Document is what reports have to say, as plain data: every number, every sentence and every verdict, ready to be
// written into a file or to be read by people in one of the forms of audit/render.
func Document(reports ...*Report) *document.Audit {
	d := &document.Audit{Format: document.Format, Exit: ExitCode(reports...), Models: []document.Model{}}
	for _, r := range reports {
		d.Models = append(d.Models, model(r))
	}
	d.Verdict = document.Overall(d.Models)
	d.Forms = formsOf(reports)
	return d
}

func model(r *Report) document.Model {
	m := document.Model{
		Largest: r.Largest, Beyond: r.Beyond,
		Model: r.Model, Verdict: r.Verdict, Error: r.Error, Gist: r.Gist(), Reasons: list(r.Reasons),
		Answers: list(r.Answers()), Outside: list(r.Outside),
		Claim: document.Claim{
			Group: r.Group, Elements: r.Planned, Added: r.Added, Measure: r.Measure, Inputs: r.Inputs, Output: r.Output,
			Scale: number(r.Scale), Seed: r.Seed, Axes: axes(r),
		},
		Policy: document.Policy{
			Preset: r.Policy.Preset, Threshold: number(r.Policy.Threshold), Origin: r.Policy.Origin,
			Confidence: number(r.Policy.Confidence), FailureRate: number(r.Policy.FailureRate),
			FailOn: r.Policy.FailOn, Average: r.Policy.Average,
		},
		Checks: []document.Check{},
	}
	if r.Error != "" {
		m.Verdict = document.CouldNotRun
	}
	whole(&m, r)
	m.Claim.Symmetry, m.Claim.Ports, m.Claim.Unaudited = symmetryOf(r.Ports), r.Ports, r.Unaudited
	if r.copies() != "" {
		m.Claim.Given = r.Given
	}
	m.Author, m.Architecture, m.Anomalies, m.FollowUps = r.Author, r.Architecture, r.Anomalies(), r.FollowUps()
	graded := map[string][]Graded{}
	for _, f := range r.Graded() {
		graded[f.Check] = append(graded[f.Check], f)
	}
	for _, c := range r.Results {
		j := document.Check{
			Check: c.Check.Name, Title: c.Check.Title,
			Family: c.Check.Family, Summary: c.Check.Summary(), Doc: c.Check.Doc, Status: c.Status,
			Reason:   c.Reason,
			Required: r.Policy.requires(c.Check, r.Results), Verdict: c.Verdict,
			Measures: evidences(c.Measures), Sets: []document.Set{}, Findings: []document.Finding{},
			Exhibits: []document.Exhibit{}, Clues: clues(c.Clues),
		}
		for _, s := range c.Sets {
			j.Sets = append(j.Sets, setOf(r, s))
		}
		for _, f := range graded[c.Check.Name] {
			j.Findings = append(j.Findings, document.Finding{
				Category: f.Category.Name, Title: f.Category.other(), Set: f.Set, Message: f.Message,
				Location: f.Location,
				Evidence: evidences(f.Evidence), Worst: where(f.Worst), Remedies: list(f.Remedies), ID: f.ID,
				Severity: f.Severity, Replay: r.Replay(f.Worst),
			})
		}
		if len(c.Findings) > 0 && len(j.Findings) > 0 {
			if first := c.Check.Name + "/" + c.Findings[0].Category.Name + "/1"; first != j.Findings[0].ID {
				j.First = first
			}
		}
		for _, e := range c.Exhibits {
			j.Exhibits = append(j.Exhibits, exhibitOf(e))
		}
		m.Checks = append(m.Checks, j)
	}
	return m
}

// axes are those of a group whose elements a plot can show.
func axes(r *Report) []document.Axis {
	g, err := catalog.Parse(r.Group, r.known...)
	if err != nil || len(g.Chart()) > 2 {
		return nil
	}
	var out []document.Axis
	for _, a := range g.Chart() {
		out = append(out, document.Axis{Name: a.Name, Unit: a.Unit, Angle: a.Form() == group.FormAngle})
	}
	return out
}

func imageOf(p Picture) document.Image {
	out := document.Image{Caption: p.Caption, Width: p.W, Height: p.H}
	m, err := p.Image()
	if err != nil {
		out.Refused = err.Error()
		return out
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		out.Refused = err.Error()
		return out
	}
	out.PNG = b.Bytes()
	return out
}

// whole fills in what belongs to no single check.
func whole(m *document.Model, r *Report) {
	m.About, m.Questions, m.Diagnoses, m.Advice = list(r.About), []document.Question{}, []document.Diagnosis{},
		list(r.Recommendations())
	m.WorstCases, m.Gallery, m.Basis = []document.Worst{}, []document.Case{}, r.Basis
	m.Certificate, m.Caveats, m.Command = list(r.Certificate()), list(r.Caveats()), r.Command
	x := r.Score()
	m.Score = document.Score{
		Total: number(x.Total), Thoroughness: number(x.Thoroughness), ErrorAnalysis: number(x.ErrorAnalysis),
		Diagnosis: number(x.Diagnosis), Advice: number(x.Advice), Documentation: number(x.Documentation),
	}
	if r.Error == "" {
		m.Questions = r.Questions()
	}
	for _, d := range r.Diagnoses {
		j := document.Diagnosis{
			ID: d.ID, Cause: d.Cause, Confidence: number(d.Confidence), Location: d.Location, For: clues(d.For),
			Against: clues(d.Against),
			Missing: []string{}, Settle: r.Settles(&d), Fix: d.Fix, Verify: d.Verify,
		}
		for _, n := range d.Missing {
			j.Missing = append(j.Missing, string(n))
		}
		m.Diagnoses = append(m.Diagnoses, j)
	}
	for _, w := range r.WorstCases() {
		m.WorstCases = append(m.WorstCases, document.Worst{
			What: w.What, Where: *where(w.Where), Value: number(w.Value), Replay: r.Replay(w.Where),
		})
	}
	for _, g := range r.Gallery {
		j := document.Case{
			Title: g.Title, Where: where(g.Where), Note: g.Note, Pictures: []string{}, Replay: r.Replay(g.Where),
		}
		for _, p := range g.Pictures {
			j.Pictures = append(j.Pictures, p.Caption)
			j.Images = append(j.Images, imageOf(p))
		}
		m.Gallery = append(m.Gallery, j)
	}
}

func clues(cs []Clue) []document.Clue {
	out := []document.Clue{}
	for _, c := range cs {
		out = append(out, document.Clue{
			Name: string(c.Name), Holds: c.Holds, Strength: number(c.Strength), Text: c.Text, Check: c.Check,
			Location: c.Location, Set: c.Set, Evidence: evidences(c.Evidence),
		})
	}
	return out
}

func exhibitOf(e Exhibit) document.Exhibit {
	j := document.Exhibit{Name: e.Name, Title: e.Title, Note: e.Note}
	if t := e.Table; t != nil {
		j.Table = &document.Table{Columns: list(t.Columns), Rows: [][]document.Cell{}}
		for _, r := range t.Rows {
			j.Table.Rows = append(j.Table.Rows, list(r))
		}
	}
	if c := e.Curve; c != nil {
		j.Curve = &document.Curve{
			X: c.X, Y: c.Y, Limit: document.Optional(c.Limit), Series: []document.Series{},
		}
		for _, s := range c.Series {
			j.Curve.Series = append(j.Curve.Series, document.Series{
				Name: s.Name, Marks: s.Marks, X: list(numbers(s.X)), Y: list(numbers(s.Y)), Lo: numbers(s.Lo),
				Hi: numbers(s.Hi), Labels: s.Labels,
			})
		}
	}
	if m := e.Map; m != nil {
		j.Map = &document.Map{
			Height: m.H, Width: m.W, Unit: m.Unit, Diverging: m.Diverging, Values: list(numbers(m.Val)),
		}
	}
	return j
}

// list is never null in JSON.
func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

func evidences(es []Evidence) []document.Evidence {
	out := []document.Evidence{}
	for _, e := range es {
		out = append(out, document.Evidence{
			Name: e.Name, Value: number(e.Value), Text: e.String(), Lo: document.Optional(e.Lo),
			Hi: document.Optional(e.Hi), Limit: document.Optional(e.Limit), Unit: e.Unit,
		})
	}
	return out
}

func where(w Where) *document.Where {
	if w.Index < 0 && w.Label == "" {
		return nil
	}
	return &document.Where{Sample: w.Sample, Index: w.Index, Element: w.Label, Coordinates: numbers(w.Element)}
}

func numbers(x []float64) []number {
	var out []number
	for _, v := range x {
		out = append(out, number(v))
	}
	return out
}

func stats(s Stats) document.Stats {
	return document.Stats{
		N: s.N, Mean: number(s.Mean), Std: number(s.Std), P50: number(s.P50), P95: number(s.P95), P99: number(s.P99),
		Max: number(s.Max),
	}
}

func interval(i Interval) document.Interval {
	return document.Interval{Value: number(i.Value), Lo: number(i.Lo), Hi: number(i.Hi), N: i.N}
}

func setOf(r *Report, s *Set) document.Set {
	j := document.Set{
		Name: s.Name, Exact: s.Exact, Verdict: s.Verdict, Reason: s.Reason, Level: string(s.Level),
		Cause: string(s.Cause), Statement: r.Statement(s), Inputs: s.Inputs, Pairs: s.Pairs, NonFinite: s.NonFinite,
		NonFiniteAt: where(s.NonFiniteAt), Scale: number(s.Scale), Unit: s.Unit, Relative: stats(s.Rel),
		Absolute: stats(s.Abs), Component: number(s.Component), Mean: interval(s.Mean), Worst: interval(s.Worst),
		Exceed: interval(s.Exceed), Exceeding: s.Exceeding, At: where(s.At), Rounding: number(s.Floors.Rounding),
		Floor: document.Optional(r.Policy.floor(s)), Repeat: number(s.Floors.Repeat), Batch: number(s.Floors.Batch),
		Resampling: stats(s.Resampling),
		Ratio:      interval(s.Ratio), Detectable: number(s.Detectable), Detected: detectable(&r.Policy, s),
		Steps: []document.Step{}, Profile: []document.Point{},
	}
	for _, f := range s.Fields {
		j.Fields = append(j.Fields, document.Field{
			Name: f.Name, Scale: number(f.Scale), Mean: interval(f.Mean), Worst: interval(f.Worst), Max: number(f.Max),
			At: where(f.At),
		})
	}
	if sl := s.Slope; sl != nil {
		j.Slope = &document.Slope{
			Text: sl.String(), Single: interval(sl.Single), Double: interval(sl.Double), Apart: number(sl.Apart),
			Factor: number(sl.Factor()), Inputs: sl.Inputs, Elements: sl.Elements,
		}
	}
	if s.IDs != nil {
		j.PerInput = &document.PerInput{Samples: s.IDs, Mean: numbers(s.Means), Largest: numbers(s.Largest)}
	}
	for _, x := range s.Steps {
		j.Steps = append(j.Steps, document.Step{
			Name: x.Name, Text: x.Text, Named: x.Named, Evidence: evidences(x.Evidence),
		})
	}
	for _, p := range s.Profile {
		j.Profile = append(j.Profile, document.Point{
			Element: p.Label, Coordinates: list(numbers(p.Element)), Exact: p.Exact, Added: p.Added, N: p.N,
			NonFinite: p.NonFinite, Mean: number(p.Mean), P95: number(p.P95), Max: number(p.Max),
			Resampling: number(p.Resampling), State: r.Policy.State(s, p),
		})
	}
	return j
}

func detectable(p *Policy, s *Set) string {
	switch {
	case p.hides(s):
		return "hidden by the model's own error"
	case math.IsNaN(s.Detectable):
		return "not known"
	case math.IsInf(s.Detectable, 1):
		return "none"
	}
	return num(s.Detectable)
}
