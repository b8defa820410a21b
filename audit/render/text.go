package render

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"nero/audit/document"
	"nero/present/words"
)

// Text is for people at a terminal: first the verdicts with the three questions and the most likely cause, then a
// table, then what was found, what was measured, and what was not tested. No line is longer than 100 columns.
var Text = Format{Name: "text", File: "audit.txt", Doc: "words and tables for a terminal", Render: writeText}

// columns is the width that text keeps to, for terminals and logs.
const columns = 100

func writeText(w io.Writer, a *document.Audit) error { return Screen(w, a, columns) }

// leastColumns is the width below which text is not made narrower: its tables would be towers of letters.
const leastColumns = 60

// Screen writes [Text] for a terminal of so many columns. It is no wider than the file, and 0 is the width of the file.
func Screen(w io.Writer, a *document.Audit, width int) error {
	t := &text{}
	if width > 0 {
		t.narrow = min(max(width, leastColumns), columns)
	}
	for i := range a.Models {
		t.head(&a.Models[i])
	}
	t.table(a.Models)
	t.forms(a.Forms)
	for i := range a.Models {
		t.details(&a.Models[i], len(a.Models) > 1)
	}
	_, err := io.WriteString(w, words.Text(t.b.String()))
	return err
}

type text struct {
	b strings.Builder
	// that no line is wider than, 0 for [columns]
	narrow int
}

// width is that which no line exceeds.
func (t *text) width() int { return cmp.Or(t.narrow, columns) }

// line writes s, broken at spaces, continuation lines indented by more.
func (t *text) line(indent int, s string) {
	hang := 2
	for line := range strings.Lines(s) {
		t.b.WriteString(words.Wrap(strings.Repeat(" ", indent)+line, t.width(), hang))
		indent, hang = indent+hang, 0
	}
	if s == "" {
		t.b.WriteString("\n")
	}
}

// pad fills s up to n runes.
func pad(s string, n int, right bool) string {
	fill := strings.Repeat(" ", max(0, n-utf8.RuneCountInString(s)))
	if right {
		return fill + s
	}
	return s + fill
}

// holds says in the line of the verdict which symmetry was found, if somebody looked.
func holds(m *document.Model) string {
	if m.Largest == "" {
		return ""
	}
	return "; the largest symmetry that holds, of those tried, is " + m.Largest
}

// head is what must be read first.
func (t *text) head(m *document.Model) {
	if m.Error != "" {
		t.line(0, fmt.Sprintf("%s: could not run: %s", m.Model, m.Error))
		t.b.WriteString("\n")
		return
	}
	t.line(0, fmt.Sprintf("%s: %s", m.Model, m.Verdict)+holds(m))
	for _, g := range m.Gist {
		t.line(2, g)
	}
	for _, q := range m.Questions {
		t.line(2, q.Question)
		for _, a := range q.Answers {
			t.line(4, a)
		}
	}
	if len(m.Diagnoses) > 0 {
		d := m.Diagnoses[0]
		t.line(2, "Most likely cause")
		t.line(4, d.String())
		if d.Fix != "" {
			t.line(4, "what to do: "+d.Fix)
		}
		if d.Verify != "" {
			t.line(4, "how to see that it helped: "+d.Verify)
		}
		var rest []string
		for _, d := range m.Diagnoses[1:] {
			rest = append(rest, d.String())
		}
		if len(rest) > 0 {
			t.line(4, "else: "+strings.Join(rest, "; "))
		}
	}
	t.b.WriteString("\n")
}

// table has a row per model and set.
func (t *text) table(models []document.Model) {
	rows := [][]string{{"model", "elements", "mean", "p95", "max", "largest per input", "floor", "verdict"}}
	masks := false
	for i := range models {
		m := &models[i]
		for _, s := range m.Sets() {
			masks = masks || s.Shares()
			rows = append(rows, []string{
				m.Model, strings.TrimSuffix(s.Name, " elements"), s.Relative.Mean.String(), s.Relative.P95.String(),
				s.Relative.Max.String(), s.Worst.Limits(), s.Expected().String(), string(s.Verdict),
			})
		}
	}
	if len(rows) > 1 {
		t.grid(0, rows, 2, 3, 4, 5, 6)
		t.line(0, "Errors are relative to the scale s of the outputs. Largest per input: interval of its mean over "+
			"inputs, which says nothing of those too rare to be among the tested. "+
			"Floor: what rounding does on exact elements, what resampling does on others.")
		if masks {
			t.line(0, sharesNote(models))
		}
		t.b.WriteString("\n")
	}
}

func (t *text) details(m *document.Model, named bool) {
	if m.Error != "" {
		return
	}
	if named {
		t.line(0, m.Model)
	}
	for _, why := range m.Reasons {
		t.line(0, why)
	}
	scale := "s = " + m.Claim.Scale.String()
	if sets := m.Sets(); len(sets) > 0 && sets[0].Shares() {
		scale = "errors are " + strings.Replace(sets[0].Unit, "share", "shares", 1)
	}
	t.line(0, fmt.Sprintf("%s, %s%s; %s, seed %d; output %s, %s", m.Claim.Group,
		count(m.Claim.Elements, "element", "elements"), inBrackets(m.Claim.Measure, m.Claim.Added),
		count(m.Claim.Inputs, "input", "inputs"), m.Claim.Seed, m.Claim.Output, scale))
	t.line(0, fmt.Sprintf("limit %s (%s), %s of the inputs may exceed it; confidence %s", m.Policy.Threshold,
		m.Policy.Origin, percent(m.Policy.FailureRate), percent(m.Policy.Confidence)))
	for _, x := range slices.Concat(m.Specification(), m.About) {
		t.line(0, x.Name+": "+x.Value)
	}
	for _, s := range m.Sets() {
		t.set(s)
	}
	t.diagnoses(m)
	t.findings(m)
	for i := range m.Checks {
		c := &m.Checks[i]
		if len(c.Measures) == 0 && len(c.Exhibits) == 0 {
			continue
		}
		t.line(0, titled(c))
		for _, e := range c.Measures {
			t.line(2, e.Text)
		}
		for k := range c.Exhibits {
			t.exhibit(&c.Exhibits[k])
		}
	}
	t.worst(m)
	var advice []string
	for i, a := range m.Advice {
		advice = append(advice, fmt.Sprintf("%d. %s: %s", i+1, a.Why, a.Do))
	}
	t.paragraph("what to do next", advice)
	t.paragraph("certificate", m.Certificate)
	t.paragraph("caveats", m.Caveats)
	t.untested(m)
	t.b.WriteString("\n")
}

// paragraph writes a heading and sentences below it.
func (t *text) paragraph(head string, sentences []string) {
	if len(sentences) == 0 {
		return
	}
	t.line(0, head)
	for _, s := range sentences {
		t.line(2, s)
	}
}

// diagnoses says of each explanation what speaks for and against it.
func (t *text) diagnoses(m *document.Model) {
	if len(m.Diagnoses) == 0 {
		return
	}
	t.line(0, "causes")
	for _, d := range m.Diagnoses {
		t.line(2, d.String())
		for _, c := range d.For {
			t.line(4, "for: "+c.String())
		}
		for _, c := range d.Against {
			t.line(4, "against: "+c.String())
		}
		if len(d.Settle) > 0 {
			t.line(4, "a test that would settle it: "+strings.Join(d.Settle, "; "))
		}
		if d.Fix != "" {
			t.line(4, "fix: "+d.Fix)
		}
		if d.Verify != "" {
			t.line(4, "verify: "+d.Verify)
		}
	}
}

// findings lists them all, the most severe first.
func (t *text) findings(m *document.Model) {
	all := m.Findings()
	if len(all) == 0 {
		return
	}
	t.line(0, "findings")
	for _, f := range all {
		s := fmt.Sprintf("%s %s: %s", f.Severity, f.Kind(), f.Message)
		if f.Location != "" && !strings.Contains(f.Message, f.Location) {
			s += " (" + f.Location + ")"
		}
		t.line(2, s)
		for _, e := range f.Evidence {
			t.line(4, e.Text)
		}
		for _, r := range f.Remedies {
			t.line(4, "try: "+r)
		}
	}
}

// worst lists the worst cases with the commands that repeat them.
func (t *text) worst(m *document.Model) {
	if len(m.WorstCases) == 0 {
		return
	}
	t.line(0, "worst cases")
	for _, w := range m.WorstCases {
		t.line(2, worst(w))
		if w.Replay != "" {
			// Not broken into lines: it is there to be copied.
			t.b.WriteString("    " + w.Replay + "\n")
		}
	}
}

// worst is a worst case with its size.
func worst(w document.Worst) string {
	s := w.What + ": " + w.Where.String()
	if !math.IsNaN(float64(w.Value)) {
		s += ", " + w.Value.String()
	}
	return s
}

func inBrackets(measure string, added int) string {
	var s []string
	if measure != "" {
		s = append(s, measure)
	}
	if added > 0 {
		s = append(s, fmt.Sprintf("%d exact added", added))
	}
	if len(s) == 0 {
		return ""
	}
	return " (" + strings.Join(s, "; ") + ")"
}

func (t *text) set(s *document.Set) {
	t.line(0, fmt.Sprintf("%s: %s, %s", s.Name, s.Cause, s.Level))
	if s.Pairs > 0 {
		worst := "worst " + s.Relative.Max.String()
		if s.At != nil && s.At.Index >= 0 {
			worst += " for " + s.At.String()
		}
		absolute := fmt.Sprintf("absolute mean %s, max %s, component %s", s.Absolute.Mean, s.Absolute.Max, s.Component)
		if len(s.Fields) > 0 {
			absolute = "each part of the output over its own scale"
		}
		t.line(2, fmt.Sprintf("%s; mean %s, sd %s, p50 %s, p95 %s, p99 %s over %d pairs; %s", worst, s.Relative.Mean,
			s.Relative.Std, s.Relative.P50, s.Relative.P95, s.Relative.P99, s.Pairs, absolute))
		t.line(2, fmt.Sprintf("per input: mean %s in %s, largest %s in %s; above the limit %d of %d, %s in [%s, %s]",
			s.Mean.Value, s.Mean.Limits(), s.Worst.Value, s.Worst.Limits(), s.Exceeding, s.Worst.N,
			percent(s.Exceed.Value), percent(s.Exceed.Lo), percent(s.Exceed.Hi)))
	}
	t.elements(s)
	floors := fmt.Sprintf("floors: rounding %s, repeats %s, batches %s", s.Rounding, s.Repeat, s.Batch)
	if !s.Exact {
		floors += fmt.Sprintf(", resampling %s (error over it %s in %s)", s.Resampling.Mean, s.Ratio.Value,
			s.Ratio.Limits())
	}
	t.line(2, floors)
	if sl := s.Slope; sl != nil {
		t.line(2, fmt.Sprintf("%s; %s at %s, outputs %s apart", sl.Text, count(sl.Inputs, "input", "inputs"),
			count(sl.Elements, "element", "elements"), sl.Apart))
	}
	t.line(2, s.Statement)
	if s.NonFinite > 0 {
		t.line(2, fmt.Sprintf("%s not finite, first %s", count(s.NonFinite, "output is", "outputs are"),
			s.NonFiniteAt))
	}
	t.line(2, "by elimination")
	for _, x := range s.Steps {
		mark := "  "
		if x.Named {
			mark = "> "
		}
		t.line(4, mark+x.Name+": "+x.Text)
	}
}

// mostElements is how many exact elements have a line of their own.
const mostElements = 16

// elements says which exact elements hold and which do not.
func (t *text) elements(s *document.Set) {
	if !s.Exact {
		return
	}
	wide := 0
	for i, p := range s.Profile {
		if i < mostElements {
			wide = max(wide, utf8.RuneCountInString(p.Element))
		}
	}
	states := map[string]int{}
	for i, p := range s.Profile {
		if i < mostElements {
			t.line(4, fmt.Sprintf("%s  %s (mean %s, max %s)", pad(p.Element, min(wide, 40), false), p.State,
				p.Mean, p.Max))
			continue
		}
		states[p.State]++
	}
	var rest []string
	for _, state := range slices.Sorted(maps.Keys(states)) {
		rest = append(rest, fmt.Sprintf("%s %d", state, states[state]))
	}
	if len(rest) > 0 {
		t.line(4, fmt.Sprintf("and %d more: %s", len(s.Profile)-mostElements, strings.Join(rest, ", ")))
	}
}

// untested says what the verdict does not speak of.
func (t *text) untested(m *document.Model) {
	for i := range m.Checks {
		if c := &m.Checks[i]; c.Status != document.Tested {
			t.line(0, fmt.Sprintf("%s: %s: %s", c.Status, c.Check, c.Reason))
		}
	}
	if len(m.Outside) > 0 {
		t.line(0, "not part of this audit: "+strings.Join(m.Outside, ", "))
	}
}

// sharesNote says what the errors of masks and boxes are.
func sharesNote(models []document.Model) string {
	for i := range models {
		for _, s := range models[i].Sets() {
			if s.Unit == document.BoxShare {
				return "Errors of boxes are shares without a scale: 1 - Σ min(score)·IoU / Σ max(score) over matched " +
					"boxes and those that have no match."
			}
		}
	}
	return "Errors of masks are shares of differing pixels, without a scale."
}
