package audit

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"nero/audit/document"
	"nero/present/words"
)

// Names of facts in [Report.About] that reports use beyond showing them. The caller fills them in; each may be missing.
const (
	AboutFile   = document.AboutFile
	AboutDigest = document.AboutDigest
	AboutEngine = document.AboutEngine
	AboutData   = document.AboutData
	AboutDate   = document.AboutDate
)

// Fact is the value of the named fact about the circumstances, "" if nobody gave it.
func (r *Report) Fact(name string) string {
	for _, a := range r.About {
		if a.Name == name {
			return a.Value
		}
	}
	return ""
}

// Question is one of the three that people ask of an audit first.
type Question = document.Question

// Questions are the three with their answers: whether the error is real, whether the test is right, and which layer
// breaks the symmetry.
func (r *Report) Questions() []Question {
	return []Question{
		{Question: "Is the error real, or is it rounding or resampling?", Answers: r.isReal()},
		{Question: "Is it tested right?", Answers: r.isRight()},
		{Question: "Which layer breaks it?", Answers: r.whichLayer()},
	}
}

func (r *Report) isReal() []string {
	a := r.Answers()
	for _, s := range r.Sets() {
		if s.Slope != nil {
			a = append(a, s.Name+": "+s.Slope.String())
		}
	}
	for _, s := range r.Sets() {
		if more, ok := r.Policy.Undecided(s); ok && s.Worst.Value <= r.Policy.Threshold {
			t := s.Name + ": too few inputs to decide"
			if more > 0 {
				t += fmt.Sprintf("; %d more would", more)
			}
			a = append(a, t)
		}
	}
	if len(r.Sets()) == 0 {
		a = append(a, "no answer: no set of elements was judged")
	}
	return a
}

// isRight says whether the audit can be believed.
func (r *Report) isRight() []string {
	var a []string
	for _, f := range r.Findings() {
		if f.Category.Wrong {
			a = append(a, "no: "+f.Message)
		}
		if f.Category.Doubt {
			a = append(a, "in doubt: "+f.Message)
		}
	}
	controls := false
	var skipped []string
	demanded, why := r.Policy.unanswered(r.Results)
	for i, name := range demanded {
		a = append(a, fmt.Sprintf("not all of it: %s is required and did not run: %s", r.titled(name), why[i]))
	}
	for _, c := range r.Results {
		controls = controls || c.Check.Name == "controls" && c.Status == Tested
		switch {
		case c.Status != NotTested, slices.Contains(demanded, c.Check.Name),
			c.Check.Family != "" && slices.Contains(demanded, c.Check.Family):
		case r.Policy.requires(c.Check, r.Results):
			a = append(a, fmt.Sprintf("not all of it: %s was not tested: %s", r.titled(c.Check.Name), c.Reason))
		default:
			skipped = append(skipped, r.titled(c.Check.Name))
		}
	}
	if t := r.copies(); t != "" && len(a) > 0 {
		a = append(a, t)
	}
	if len(a) > 0 {
		return a
	}
	if !controls {
		return []string{"not known: the controls were not run"}
	}
	laws := "two motions in a row are their product"
	if r.Views {
		laws = "views that are given have no laws to check"
	}
	t := "yes, the test itself was checked: moving by nothing changes nothing, " + laws +
		", and answers to different inputs differ"
	var seen []string
	for _, s := range r.Sets() {
		if s.Detectable >= 0 && !math.IsInf(s.Detectable, 1) && !r.Policy.hides(s) {
			seen = append(seen, fmt.Sprintf("%s on the %s", num(s.Detectable), s.Name))
		}
	}
	if len(seen) > 0 {
		t += "; a break that was planted was noticed from a size of " + strings.Join(seen, " and of ")
	}
	a = []string{t}
	if t := r.copies(); t != "" {
		a = append(a, t)
	}
	if len(skipped) > 0 {
		a = append(a, "not tested, and not needed for the verdict: "+strings.Join(skipped, ", "))
	}
	return a
}

// titled is what people read of a check, with the name that chooses it: "Gradients (gradient)".
func (r *Report) titled(name string) string {
	for _, x := range r.Results {
		if x.Check.Name == name && x.Check.Title != "" {
			return x.Check.Title + " (" + name + ")"
		}
	}
	return name
}

// layerClues are those that name a layer, the most telling first.
var layerClues = []ClueName{ClueFirstLayer, ClueSingleLayer, ClueOutputLayer, ClueGrows}

// below reports whether everything that was judged is below its limit, decided or not, and nothing else of weight was
// found.
func (r *Report) below() bool {
	sets := r.Sets()
	if len(sets) == 0 ||
		slices.ContainsFunc(sets,
			func(s *Set) bool { return s.NonFinite > 0 || !(s.Worst.Value <= r.Policy.Threshold) }) {
		return false
	}
	return !slices.ContainsFunc(r.Findings(),
		func(f Finding) bool { v := r.Policy.Severity(f); return v == High || v == Medium })
}

// cutOff reports whether every set that did not pass is explained by what the border cuts off.
func (r *Report) cutOff() bool {
	found := false
	for _, s := range r.Sets() {
		switch {
		case s.Verdict == Passed:
		case s.Cause == CauseCut:
			found = true
		case s.Verdict == Failed:
			return false
		}
	}
	return found
}

// Untestable reports whether the test itself explains every error that was seen, so that there is nothing about the
// model to explain.
func (r *Report) Untestable() bool { return r.Verdict != Failed && r.cutOff() }

func (r *Report) whichLayer() []string {
	if r.Untestable() {
		return []string{"none can be named: what leaves the frame explains the error"}
	}
	if r.below() {
		return []string{"none that matters: no error is above the limit"}
	}
	var a []string
	for _, name := range layerClues {
		for _, c := range r.Clues() {
			if c.Name != name || !c.Holds {
				continue
			}
			t := c.Text
			if c.Location != "" && !strings.Contains(t, c.Location) {
				t = c.Location + ": " + t
			}
			if !slices.Contains(a, t) {
				a = append(a, t)
			}
		}
	}
	if len(a) > 0 {
		return a
	}
	looked := false
	for _, c := range r.Results {
		if !strings.Contains(c.Check.Name, "layer") {
			continue
		}
		if c.Status != Tested {
			return []string{fmt.Sprintf("not known: %s: %s: %s", r.titled(c.Check.Name), c.Status, c.Reason)}
		}
		looked = true
	}
	if looked {
		return []string{"no layer stands out"}
	}
	return []string{"not known: this audit did not look inside the model"}
}

// Caveats say what the verdict does not speak of. None of them is a finding.
func (r *Report) Caveats() []string {
	if r.Error != "" {
		return nil
	}
	var c []string
	between := false
	for _, s := range r.Sets() {
		between = between || !s.Exact
	}
	t := fmt.Sprintf("Every statement is about inputs drawn like the %d that were tested, and about the elements "+
		"that were visited.", r.Inputs)
	if r.Drawn != "" {
		t += " They were drawn with " + r.Drawn + "; shares are of inputs drawn so."
	}
	if between {
		t += " Between these elements nothing was measured."
	}
	c = append(c, t)
	if len(r.Unaudited) > 0 {
		c = append(c, fmt.Sprintf("The model has other outputs, of which nothing is said: %s.",
			strings.Join(r.Unaudited, ", ")))
	}
	if t := r.copies(); t != "" {
		c = append(c, t+", for errors, intervals and certificates alike.")
	}
	if r.Policy.Average > 1 {
		c = append(c, fmt.Sprintf("The model was judged in the mean of %d repeats, not in single answers.",
			r.Policy.Average))
	}
	if r.Added > 0 {
		c = append(c, fmt.Sprintf("Exact elements that the audit added to the plan: %d.", r.Added))
	}
	c = append(c, r.Training...)
	for _, s := range r.Sets() {
		switch {
		case s.NonFinite > 0:
			c = append(c, fmt.Sprintf("The numbers of the %s leave out %s that %s not finite.", s.Name,
				plural(s.NonFinite, "output", "outputs"), isAre(s.NonFinite)))
		case r.Policy.hides(s):
			c = append(c, fmt.Sprintf(
				"How small a break of the %s would be noticed could not be judged: the model's own error hides "+
					"planted ones.", s.Name))
		case math.IsInf(s.Detectable, 1):
			c = append(c, fmt.Sprintf("No planted break of the %s was noticed, however large: the test is blind there.",
				s.Name))
		case math.IsNaN(s.Detectable):
			c = append(c, fmt.Sprintf("How small a break of the %s would be noticed is not known.", s.Name))
		}
	}
	for _, f := range r.Findings() {
		if f.Category == Explanation && !slices.Contains(c, f.Message) {
			c = append(c, f.Message)
		}
	}
	return c
}

func isAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// Certificate is what may be said of the model to others: of each set a bound with its confidence, whatever the
// distribution of the errors, and for whom it holds. Errors that a search found are no part of it. Nil if nothing was
// measured.
func (r *Report) Certificate() []string {
	if r.Error != "" {
		return nil
	}
	var c []string
	for _, s := range r.Sets() {
		if math.IsNaN(s.Exceed.Hi) || s.Exceed.N == 0 || s.NonFinite > 0 || s.Exceed.Hi >= 1 {
			continue // a bound of one says nothing
		}
		what := "relative error"
		switch s.Unit {
		case PixelShare:
			what = "share of differing pixels"
		case BoxShare:
			what = "share of boxes that differ"
		}
		c = append(c, fmt.Sprintf(
			"%s: P(%s > %s at one or more of %s) ≤ %s with confidence %s, over inputs drawn like the %d that were "+
				"tested.",
			s.Name, what, num(r.Policy.Threshold), plural(len(s.Profile), "element", "elements"), percent(s.Exceed.Hi),
			percent(r.Policy.Confidence), s.Exceed.N))
	}
	for _, x := range r.Results {
		c = append(c, x.Certified...)
	}
	if c == nil {
		return nil
	}
	of := "Model " + r.Model
	if d := r.Fact(AboutDigest); d != "" {
		of += " (sha256 " + d + ")"
	}
	of += fmt.Sprintf(", group %s, seed %d, verdict %s.", r.Group, r.Seed, r.Verdict)
	return append([]string{of}, c...)
}

// Advice is something to do next.
type Advice = document.Advice

// Recommendations are what to do next: what the diagnoses advise, the most likely first, then what the findings advise,
// the most severe first, then what is advised beside them, each once.
func (r *Report) Recommendations() []Advice {
	var out []Advice
	add := func(a Advice) {
		if a.Do != "" && !slices.ContainsFunc(out, func(b Advice) bool { return b.Do == a.Do }) {
			out = append(out, a)
		}
	}
	for _, d := range r.Diagnoses {
		add(Advice{Do: d.Fix, Why: fmt.Sprintf("%s (%s)", d.Cause, document.Sure(d.Confidence)), Verify: d.Verify})
	}
	for _, f := range r.Graded() {
		for _, x := range f.Remedies {
			add(Advice{Do: x, Why: fmt.Sprintf("%s (%s)", f.Category.title(), f.Severity)})
		}
	}
	for _, a := range r.Further {
		add(a)
	}
	return out
}

// Graded is a finding with its severity and the check that made it.
type Graded struct {
	Finding
	Severity Severity
	Check    string
	// check, category and a number, such as "endtoend/violation/1"
	ID string
}

// Graded are the findings of all checks with the severity that the policy gives, the most severe first, else in the
// order of the checks.
func (r *Report) Graded() []Graded {
	var out []Graded
	for _, c := range r.Results {
		count := map[*Category]int{}
		for _, f := range c.Findings {
			count[f.Category]++
			out = append(out, Graded{
				f, r.Policy.Severity(f), c.Check.Name,
				fmt.Sprintf("%s/%s/%d", c.Check.Name, f.Category, count[f.Category]),
			})
		}
	}
	rank := []Severity{High, Medium, Low, Note}
	slices.SortStableFunc(out,
		func(a, b Graded) int { return slices.Index(rank, a.Severity) - slices.Index(rank, b.Severity) })
	return out
}

// Replay is the command line that repeats the audit at one place, for a shell: Command with the model and, after
// --replay, the sample, an @ and the coordinates of the element, separated by commas. A sample may hold an @ itself;
// the last one counts. Replay is "" where the command or the place is not known.
func (r *Report) Replay(w Where) string {
	if r.Command == "" || w.Sample == "" || w.Element == nil {
		return ""
	}
	var at []string
	for _, x := range w.Element {
		at = append(at, strconv.FormatFloat(x+0, 'g', -1, 64)) // +0 turns -0 into 0
	}
	// A replay is of one model, of however many the audit was.
	others := regexp.MustCompile(` --only (?:'(?:[^']|'\\'')*'|[^ ']+)`)
	return fmt.Sprintf("%s --only %s --replay %s", others.ReplaceAllString(r.Command, ""), ShellQuote(r.Model),
		ShellQuote(w.Sample+"@"+strings.Join(at, ",")))
}

// ShellQuote writes a word so that a POSIX shell reads it back as it is: between single quotes unless all its
// characters are harmless.
func ShellQuote(s string) string {
	harmless := func(c rune) bool {
		return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
			strings.ContainsRune("_-./,:@%+=", c)
	}
	if s != "" && !strings.ContainsFunc(s, func(c rune) bool { return !harmless(c) }) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// Worst is a worst case with its size.
type Worst struct {
	// set or finding
	What  string
	Where Where
	// relative error; NaN if the finding has no number
	Value float64
}

// WorstCases are the places where the errors of sets and findings are largest, each place once.
func (r *Report) WorstCases() []Worst {
	var out []Worst
	add := func(w Worst) {
		if w.Where.Index < 0 || slices.ContainsFunc(out, func(o Worst) bool {
			return o.Where.Index == w.Where.Index && o.Where.Sample == w.Where.Sample && o.Where.Label == w.Where.Label
		}) {
			return
		}
		out = append(out, w)
	}
	for _, s := range r.Sets() {
		if s.NonFinite > 0 {
			add(Worst{s.Name + ", not finite", s.NonFiniteAt, math.NaN()})
		}
		if s.Pairs > 0 && s.Rel.Max > 0 {
			what := s.Name
			if f := s.largest(); f != nil && f.Name != "" {
				what += ", in " + f.Name
			}
			add(Worst{what, s.At, s.Rel.Max})
		}
	}
	for _, f := range r.Graded() {
		v := math.NaN()
		if len(f.Evidence) > 0 {
			v = f.Evidence[0].Value
		}
		add(Worst{fmt.Sprintf("%s: %s", f.Check, f.Category.title()), f.Worst, v})
	}
	return out
}

// largest is the part of the output whose error at the worst pair is that of the set, nil where there is one part.
func (s *Set) largest() *FieldError {
	var out *FieldError
	for i := range s.Fields {
		if f := &s.Fields[i]; f.At.Index == s.At.Index && f.At.Label == s.At.Label && (out == nil || f.Max > out.Max) {
			out = f
		}
	}
	return out
}

// Score says how good the audit itself is, from 1 to 5; 3 and more is good. It judges the audit and not the model.
type Score struct {
	// the parts weighted by .25, .25, .25, .15 and .10
	Total float64
	// Thoroughness: how many of the questions that arise were answered. ErrorAnalysis: intervals, floors, float64,
	// detectable size and worst case of each set. Diagnosis: whether errors are explained, how surely, where, and on
	// what evidence. Advice: how many findings and diagnoses say what to do. Documentation: whether model, digest,
	// engine, data, date and command are named.
	Thoroughness, ErrorAnalysis, Diagnosis, Advice, Documentation float64
}

// Score is the score of this audit; all 1 if it could not run.
func (r *Report) Score() Score {
	s := Score{1, 1, 1, 1, 1, 1}
	if r.Error != "" {
		return s
	}
	grade := func(facts ...bool) float64 {
		n := 0
		for _, f := range facts {
			if f {
				n++
			}
		}
		if len(facts) == 0 {
			return 5 // nothing was wanted
		}
		return 1 + 4*float64(n)/float64(len(facts))
	}
	var asked, known, advised []bool
	for _, c := range r.Results {
		if c.Status != NotApplicable {
			asked = append(asked, c.Status == Tested)
		}
	}
	for range r.Outside {
		asked = append(asked, false)
	}
	s.Thoroughness = grade(append(asked, len(r.Results) > 0)...)
	for _, x := range r.Sets() {
		known = append(known, !math.IsNaN(x.Worst.Hi), !math.IsNaN(x.Floors.Rounding),
			x.Exact || !math.IsNaN(x.Resampling.Mean), x.Slope != nil,
			!math.IsNaN(x.Detectable), x.At.Index >= 0 || x.Rel.Max == 0)
	}
	s.ErrorAnalysis = grade(append(known, len(r.Sets()) > 0)...)
	s.Diagnosis = 5
	if len(r.Diagnoses) > 0 {
		d := r.Diagnoses[0]
		s.Diagnosis = grade(true, d.Confidence >= 0.5, d.Location != "", len(d.For) > 1, len(d.Missing) == 0)
	} else if r.Verdict != Passed {
		s.Diagnosis = 1
	}
	for _, f := range r.Graded() {
		if f.Severity != Note {
			advised = append(advised, len(f.Remedies) > 0)
		}
	}
	for _, d := range r.Diagnoses {
		advised = append(advised, d.Fix != "" && d.Verify != "")
	}
	s.Advice = grade(advised...)
	s.Documentation = grade(r.Fact(AboutFile) != "", r.Fact(AboutDigest) != "", r.Fact(AboutEngine) != "",
		r.Fact(AboutData) != "", r.Fact(AboutDate) != "", r.Command != "")
	s.Total = float64(.25*s.Thoroughness) + float64(.25*s.ErrorAnalysis) + float64(.25*s.Diagnosis) +
		float64(.15*s.Advice) + float64(.10*s.Documentation)
	return s
}

// Figures writes a number as every report does: three digits, "undefined" for NaN.
func Figures(x float64) string { return num(x) }

// Percent writes a share in percents with one digit after the point.
func Percent(x float64) string { return percent(x) }

// String is the number with its name, interval, unit and limit.
func (e Evidence) String() string {
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
	switch {
	case e.Unit == "deg":
		s += "°"
	case e.Unit != "":
		s += " " + words.Unit(e.Unit)
	}
	if !math.IsNaN(e.Limit) {
		s += ", limit " + num(e.Limit)
	}
	return s
}

// String is the estimate with its limits, "0.5 in [0.4, 0.6]".
func (i Interval) String() string { return interval(i).String() }
