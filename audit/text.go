package audit

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// columns is the width that text keeps to, for terminals and logs.
const columns = 100

// Text writes reports for people: first the verdicts and whether each error is real, then a table, then what was found and what was
// not tested. No line is longer than 100 columns.
func Text(w io.Writer, reports ...*Report) error {
	t := &text{}
	for _, r := range reports {
		t.head(r)
	}
	t.table(reports)
	for _, r := range reports {
		t.details(r, len(reports) > 1)
	}
	_, err := io.WriteString(w, t.b.String())
	return err
}

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

// head is what must be read first.
func (t *text) head(r *Report) {
	if r.Error != "" {
		t.line(0, fmt.Sprintf("%s: could not run: %s", r.Model, r.Error))
		t.b.WriteString("\n")
		return
	}
	t.line(0, fmt.Sprintf("%s: %s", r.Model, r.Verdict))
	t.line(2, "Is the error real, or is it rounding or resampling?")
	for _, a := range r.Answers() {
		t.line(4, a)
	}
	if len(r.Sets()) == 0 {
		t.line(4, "no answer: no set of elements was judged")
	}
	t.b.WriteString("\n")
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
			masks = masks || s.Unit == PixelShare
			if !some {
				var names []string
				for _, h := range header {
					names = append(names, h.name)
				}
				row(names...)
				some = true
			}
			floor := r.Policy.rounding(s.Floors)
			if !s.Exact {
				floor = s.Resampling.Mean
			}
			row(r.Model, strings.TrimSuffix(s.Name, " elements"), num(s.Rel.Mean), num(s.Rel.P95), num(s.Rel.Max),
				limits(s.Worst), num(floor), string(s.Verdict))
		}
	}
	if some {
		t.line(0, "Errors are relative to the scale s of the outputs. Largest per input: interval of its mean over inputs. "+
			"Floor: what rounding does on exact elements, what resampling does on others.")
		if masks {
			t.line(0, "Errors of masks are shares of differing pixels, without a scale.")
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
	if sets := r.Sets(); len(sets) > 0 && sets[0].Unit == PixelShare {
		scale = "errors are shares of pixels"
	}
	t.line(0, fmt.Sprintf("%s, %s%s; %s, seed %d; output %s, %s", r.Group, plural(r.Planned, "element", "elements"), inBrackets(r.Measure, r.Added),
		plural(r.Inputs, "input", "inputs"), r.Seed, r.Output, scale))
	t.line(0, fmt.Sprintf("limit %s (%s), %s of the inputs may exceed it; confidence %s", num(r.Policy.Threshold), r.Policy.Origin,
		percent(r.Policy.FailureRate), percent(r.Policy.Confidence)))
	for _, s := range r.Sets() {
		t.set(r, s)
	}
	for _, c := range r.Results {
		if len(c.Findings) == 0 && (len(c.Measures) == 0 || c.Check.Name != "decision") {
			continue
		}
		t.line(0, c.Check.Name)
		if c.Check.Name == "decision" {
			for _, e := range c.Measures {
				t.line(2, evidence(e))
			}
		}
		for _, f := range c.Findings {
			t.finding(f)
		}
	}
	t.untested(r)
	t.b.WriteString("\n")
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
		t.line(2, fmt.Sprintf("%s; mean %s, sd %s, p50 %s, p95 %s, p99 %s over %d pairs; absolute max %s, component %s",
			worst, num(s.Rel.Mean), num(s.Rel.Std), num(s.Rel.P50), num(s.Rel.P95), num(s.Rel.P99), s.Pairs, num(s.Abs.Max), num(s.Component)))
		t.line(2, fmt.Sprintf("per input: mean %s in %s, largest %s in %s; above the limit %d of %d, %s in [%s, %s]",
			num(s.Mean.Value), limits(s.Mean), num(s.Worst.Value), limits(s.Worst), s.Exceeding, s.Worst.N,
			percent(s.Exceed.Value), percent(s.Exceed.Lo), percent(s.Exceed.Hi)))
	}
	t.elements(r, s)
	floors := fmt.Sprintf("floors: rounding %s, repeats %s, batches %s", num(s.Floors.Rounding), num(s.Floors.Repeat), num(s.Floors.Batch))
	if !s.Exact {
		floors += fmt.Sprintf(", resampling %s (error over it %s in %s)", num(s.Resampling.Mean), num(s.Ratio.Value), limits(s.Ratio))
	}
	t.line(2, floors)
	t.line(2, r.Statement(s))
	if s.NonFinite > 0 {
		t.line(2, fmt.Sprintf("%s not finite, first %s", plural(s.NonFinite, "output is", "outputs are"), s.NonFiniteAt))
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
			t.line(4, fmt.Sprintf("%s  %s (mean %s, max %s)", pad(p.Label, min(wide, 40), false), state, num(p.Mean), num(p.Max)))
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

func (t *text) finding(f Finding) {
	t.line(2, fmt.Sprintf("%s: %s", f.Category, f.Message))
	for _, e := range f.Evidence {
		t.line(4, evidence(e))
	}
	for _, r := range f.Remedies {
		t.line(4, "try: "+r)
	}
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
