package audit

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// columns is the width that text keeps to, for terminals and logs.
const columns = 100

// Text writes reports for people: first the verdicts with the three questions and the most likely cause, then a table,
// then what was found, what was measured, and what was not tested. No line is longer than 100 columns.
func Text(w io.Writer, reports ...*Report) error {
	t := &text{}
	for _, r := range reports {
		t.head(r)
	}
	t.table(reports)
	for _, r := range reports {
		t.details(r, len(reports) > 1)
	}
	_, err := io.WriteString(w, printable(t.b.String()))
	return err
}

// printable replaces what would move a cursor, colour a terminal or turn the direction of writing: names come from
// files.
func printable(s string) string {
	return strings.Map(func(c rune) rune {
		if c != '\n' && unicode.IsControl(c) || '\u202a' <= c && c <= '\u202e' || '\u2066' <= c && c <= '\u2069' {
			return '\ufffd'
		}
		return c
	}, s)
}

// oneLine is a text from outside within a line.
func oneLine(s string) string { return strings.Join(strings.Fields(printable(s)), " ") }

type text struct{ b strings.Builder }

// line writes s, broken at spaces, continuation lines indented by more.
func (t *text) line(indent int, s string) {
	const hang = 2
	pad := strings.Repeat(" ", indent)
	width := columns - indent
	first := true
	for line := range strings.Lines(s) {
		line = strings.TrimRight(line, "\n")
		for {
			head, rest := cut(line, width)
			t.b.WriteString(strings.TrimRight(pad+head, " ") + "\n")
			if first {
				pad, width, first = pad+strings.Repeat(" ", hang), width-hang, false
			}
			if rest == "" {
				break
			}
			line = rest
		}
	}
}

// cut takes as many words as fit; a word that is too long is broken.
func cut(s string, width int) (head, rest string) {
	if utf8.RuneCountInString(s) <= width {
		return s, ""
	}
	r := []rune(s)
	at := width
	for i := width; i > width/3; i-- {
		if r[i] == ' ' {
			at = i
			break
		}
	}
	return string(r[:at]), strings.TrimLeft(string(r[at:]), " ")
}

// clip shortens s to n runes, its middle left out.
func clip(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	k := (n - 1) / 2
	return string(r[:k]) + "…" + string(r[len(r)-(n-1-k):])
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
func (r *Report) holds() string {
	if r.Largest == "" {
		return ""
	}
	return "; the largest symmetry that holds is " + r.Largest
}

// head is what must be read first.
func (t *text) head(r *Report) {
	if r.Error != "" {
		t.line(0, fmt.Sprintf("%s: could not run: %s", r.Model, r.Error))
		t.b.WriteString("\n")
		return
	}
	t.line(0, fmt.Sprintf("%s: %s", r.Model, r.Verdict)+r.holds())
	for _, q := range r.Questions() {
		t.line(2, q.Text)
		for _, a := range q.Answers {
			t.line(4, a)
		}
	}
	if len(r.Diagnoses) > 0 {
		d := r.Diagnoses[0]
		t.line(2, "Most likely cause")
		t.line(4, cause(d))
		if d.Fix != "" {
			t.line(4, "what to do: "+d.Fix)
		}
		if d.Verify != "" {
			t.line(4, "how to see that it helped: "+d.Verify)
		}
		var rest []string
		for _, d := range r.Diagnoses[1:] {
			rest = append(rest, cause(d))
		}
		if len(rest) > 0 {
			t.line(4, "else: "+strings.Join(rest, "; "))
		}
	}
	t.b.WriteString("\n")
}

// cause is a diagnosis in a few words: "zero padding, 72% sure, at /conv1".
func cause(d Diagnosis) string {
	s := fmt.Sprintf("%s, %s sure", d.Cause, share(d.Confidence))
	if d.Location != "" {
		s += ", at " + d.Location
	}
	return s
}

var header = []struct {
	name  string
	width int
	right bool
}{
	{"model", 12, false},
	{"elements", 10, false},
	{"mean", 7, true},
	{"p95", 7, true},
	{"max", 7, true},
	{"largest per input", 18, true},
	{"floor", 7, true},
	{"verdict", 15, false},
}

// table has a row per model and set.
func (t *text) table(reports []*Report) {
	row := func(cells ...string) {
		var out []string
		for i, c := range cells {
			h := header[i]
			out = append(out, pad(clip(c, h.width), h.width, h.right))
		}
		t.b.WriteString(strings.TrimRight(strings.Join(out, "  "), " ") + "\n")
	}
	some, masks := false, false
	for _, r := range reports {
		for _, s := range r.Sets() {
			masks = masks || s.Shares()
			if !some {
				var names []string
				for _, h := range header {
					names = append(names, h.name)
				}
				row(names...)
				some = true
			}
			row(r.Model, strings.TrimSuffix(s.Name, " elements"), num(s.Rel.Mean), num(s.Rel.P95), num(s.Rel.Max),
				limits(s.Worst), num(r.Policy.floor(s)), string(s.Verdict))
		}
	}
	if some {
		t.line(0, "Errors are relative to the scale s of the outputs. Largest per input: interval of its mean over "+
			"inputs. "+
			"Floor: what rounding does on exact elements, what resampling does on others.")
		if masks {
			t.line(0, sharesNote(reports))
		}
		t.b.WriteString("\n")
	}
}

func limits(i Interval) string {
	if math.IsNaN(i.Lo) || math.IsNaN(i.Hi) {
		return num(i.Value)
	}
	return "[" + num(i.Lo) + ", " + num(i.Hi) + "]"
}

func (t *text) details(r *Report, named bool) {
	if r.Error != "" {
		return
	}
	if named {
		t.line(0, r.Model)
	}
	for _, why := range r.Reasons {
		t.line(0, why)
	}
	scale := "s = " + num(r.Scale)
	if sets := r.Sets(); len(sets) > 0 && sets[0].Shares() {
		scale = "errors are " + strings.Replace(sets[0].Unit, "share", "shares", 1)
	}
	t.line(0, fmt.Sprintf("%s, %s%s; %s, seed %d; output %s, %s", r.Group, plural(r.Planned, "element", "elements"),
		inBrackets(r.Measure, r.Added),
		plural(r.Inputs, "input", "inputs"), r.Seed, r.Output, scale))
	t.line(0, fmt.Sprintf("limit %s (%s), %s of the inputs may exceed it; confidence %s", num(r.Policy.Threshold),
		r.Policy.Origin,
		percent(r.Policy.FailureRate), percent(r.Policy.Confidence)))
	for _, x := range r.About {
		t.line(0, x.Name+": "+x.Value)
	}
	for _, s := range r.Sets() {
		t.set(r, s)
	}
	t.diagnoses(r)
	t.findings(r)
	for _, c := range r.Results {
		if len(c.Measures) == 0 && len(c.Exhibits) == 0 {
			continue
		}
		t.line(0, c.Check.Name)
		for _, e := range c.Measures {
			t.line(2, evidence(e))
		}
		for _, e := range c.Exhibits {
			t.exhibit(e)
		}
	}
	t.worst(r)
	var advice []string
	for i, a := range r.Recommendations() {
		advice = append(advice, fmt.Sprintf("%d. %s: %s", i+1, a.Why, a.Do))
	}
	t.paragraph("what to do next", advice)
	t.paragraph("certificate", r.Certificate())
	t.paragraph("caveats", r.Caveats())
	t.untested(r)
	t.line(0, "this audit scores itself "+r.Score().String())
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
func (t *text) diagnoses(r *Report) {
	if len(r.Diagnoses) == 0 {
		return
	}
	t.line(0, "causes")
	for _, d := range r.Diagnoses {
		t.line(2, cause(d))
		for _, c := range d.For {
			t.line(4, "for: "+clue(c))
		}
		for _, c := range d.Against {
			t.line(4, "against: "+clue(c))
		}
		if len(d.Missing) > 0 {
			t.line(4, "not looked for, would decide: "+missing(d))
		}
		if d.Fix != "" {
			t.line(4, "fix: "+d.Fix)
		}
		if d.Verify != "" {
			t.line(4, "verify: "+d.Verify)
		}
	}
}

func missing(d Diagnosis) string {
	var names []string
	for _, m := range d.Missing {
		names = append(names, string(m))
	}
	return strings.Join(names, ", ")
}

// clue is a fact with the check that saw it; its numbers are in its text.
func clue(c Clue) string {
	s := c.Text
	if s == "" {
		s = string(c.Name)
		if !c.Holds {
			s = "no " + s
		}
	}
	if c.Check != "" {
		s += " (" + c.Check + ")"
	}
	return s
}

// findings lists them all, the most severe first.
func (t *text) findings(r *Report) {
	all := r.Graded()
	if len(all) == 0 {
		return
	}
	t.line(0, "findings")
	for _, f := range all {
		s := fmt.Sprintf("%s %s: %s", f.Severity, f.Category, f.Message)
		if f.Location != "" && !strings.Contains(f.Message, f.Location) {
			s += " (" + f.Location + ")"
		}
		t.line(2, s)
		for _, e := range f.Evidence {
			t.line(4, evidence(e))
		}
		for _, r := range f.Remedies {
			t.line(4, "try: "+r)
		}
	}
}

// worst lists the worst cases with the commands that repeat them.
func (t *text) worst(r *Report) {
	all := r.WorstCases()
	if len(all) == 0 {
		return
	}
	t.line(0, "worst cases")
	for _, w := range all {
		s := w.What + ": " + w.Where.String()
		if !math.IsNaN(w.Value) {
			s += ", " + num(w.Value)
		}
		t.line(2, s)
		if c := r.Replay(w.Where); c != "" {
			// Not broken into lines: it is there to be copied.
			t.b.WriteString("    " + c + "\n")
		}
	}
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

func (t *text) set(r *Report, s *Set) {
	t.line(0, fmt.Sprintf("%s: %s, %s", s.Name, s.Cause, s.Level))
	if s.Pairs > 0 {
		worst := "worst " + num(s.Rel.Max)
		if s.At.Index >= 0 {
			worst += " for " + s.At.String()
		}
		t.line(2, fmt.Sprintf(
			"%s; mean %s, sd %s, p50 %s, p95 %s, p99 %s over %d pairs; absolute mean %s, max %s, component %s",
			worst, num(s.Rel.Mean), num(s.Rel.Std), num(s.Rel.P50), num(s.Rel.P95), num(s.Rel.P99), s.Pairs,
			num(s.Abs.Mean), num(s.Abs.Max), num(s.Component)))
		t.line(2, fmt.Sprintf("per input: mean %s in %s, largest %s in %s; above the limit %d of %d, %s in [%s, %s]",
			num(s.Mean.Value), limits(s.Mean), num(s.Worst.Value), limits(s.Worst), s.Exceeding, s.Worst.N,
			percent(s.Exceed.Value), percent(s.Exceed.Lo), percent(s.Exceed.Hi)))
	}
	t.elements(r, s)
	floors := fmt.Sprintf("floors: rounding %s, repeats %s, batches %s", num(s.Floors.Rounding), num(s.Floors.Repeat),
		num(s.Floors.Batch))
	if !s.Exact {
		floors += fmt.Sprintf(", resampling %s (error over it %s in %s)", num(s.Resampling.Mean), num(s.Ratio.Value),
			limits(s.Ratio))
	}
	t.line(2, floors)
	if sl := s.Slope; sl != nil {
		t.line(2, fmt.Sprintf("%s; %s at %s, outputs %s apart", sl, plural(sl.Inputs, "input", "inputs"),
			plural(sl.Elements, "element", "elements"), num(sl.Apart)))
	}
	t.line(2, r.Statement(s))
	if s.NonFinite > 0 {
		t.line(2, fmt.Sprintf("%s not finite, first %s", plural(s.NonFinite, "output is", "outputs are"),
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
func (t *text) elements(r *Report, s *Set) {
	if !s.Exact {
		return
	}
	wide := 0
	for i, p := range s.Profile {
		if i < mostElements {
			wide = max(wide, utf8.RuneCountInString(p.Label))
		}
	}
	states := map[string]int{}
	for i, p := range s.Profile {
		state := r.Policy.State(s, p)
		if i < mostElements {
			t.line(4, fmt.Sprintf("%s  %s (mean %s, max %s)", pad(p.Label, min(wide, 40), false), state, num(p.Mean),
				num(p.Max)))
			continue
		}
		states[state]++
	}
	var rest []string
	for _, state := range slices.Sorted(maps.Keys(states)) {
		rest = append(rest, fmt.Sprintf("%s %d", state, states[state]))
	}
	if len(rest) > 0 {
		t.line(4, fmt.Sprintf("and %d more: %s", len(s.Profile)-mostElements, strings.Join(rest, ", ")))
	}
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

// evidence is one number with all that belongs to it.
func evidence(e Evidence) string {
	s := fmt.Sprintf("%s %s", e.Name, num(e.Value))
	if e.Unit == "share" {
		s = fmt.Sprintf("%s %s", e.Name, percent(e.Value))
		if !math.IsNaN(e.Lo) {
			s += fmt.Sprintf(" in [%s, %s]", percent(e.Lo), percent(e.Hi))
		}
		return s
	}
	if !math.IsNaN(e.Lo) {
		s += fmt.Sprintf(" in [%s, %s]", num(e.Lo), num(e.Hi))
	}
	if e.Unit != "" {
		s += " " + e.Unit
	}
	if !math.IsNaN(e.Limit) {
		s += ", limit " + num(e.Limit)
	}
	return s
}

// untested says what the verdict does not speak of.
func (t *text) untested(r *Report) {
	for _, c := range r.Results {
		if c.Status != Tested {
			t.line(0, fmt.Sprintf("%s: %s: %s", c.Status, c.Check.Name, c.Reason))
		}
	}
	if len(r.Outside) > 0 {
		t.line(0, "not part of this audit: "+strings.Join(r.Outside, ", "))
	}
}

// sharesNote says what the errors of masks and boxes are.
func sharesNote(reports []*Report) string {
	for _, r := range reports {
		for _, s := range r.Sets() {
			if s.Unit == BoxShare {
				return "Errors of boxes are shares without a scale: 1 - Σ min(score)·IoU / Σ max(score) over matched " +
					"boxes and those that have no match."
			}
		}
	}
	return "Errors of masks are shares of differing pixels, without a scale."
}
