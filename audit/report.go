package audit

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"nero/audit/document"
	"nero/present/words"
	"nero/symmetry/group"
)

// Status says whether a check answered its question.
type Status = document.Status

// The statuses.
const (
	Tested        = document.Tested
	NotTested     = document.NotTested
	NotApplicable = document.NotApplicable
)

// Result is what one check has to say about one model.
type Result struct {
	Check  *Check
	Status Status
	// of a status other than Tested
	Reason   string
	Measures []Evidence
	Sets     []*Set
	Findings []Finding
	Exhibits []Exhibit
	Clues    []Clue
	// Certified are sentences with their confidence that belong in the certificate.
	Certified []string
	// Gist are sentences of this check that belong above everything else.
	Gist []string
	// the worst that sets and findings of this check leave possible; "" if it was not tested and found nothing, and if
	// it abstained and found nothing
	Verdict Verdict

	abstained bool
}

// Units of errors that are shares: they are not divided by a scale.
const (
	PixelShare = document.PixelShare
	BoxShare   = document.BoxShare
)

// Set is a set of elements that is judged on its own, and what was measured on it over all inputs.
type Set struct {
	// "exact elements", "continuous elements"
	Name string
	// every element acts on the input without resampling
	Exact bool
	// elements that the audit added to the plan
	Added int
	// Inputs is the number of samples, Pairs that of (sample, element) with a finite error, NonFinite that of those
	// without.
	Inputs, Pairs, NonFinite int
	NonFiniteAt              Where
	// Unit of the errors: "" for numbers relative to Scale, [PixelShare] or [BoxShare].
	Unit string
	// Scale is s, the divisor of relative errors, in the unit of the output; 1 for masks.
	Scale float64
	// Rel and Abs describe the pooled errors of all pairs; Component is the largest |component| of any difference.
	Rel, Abs  Stats
	Component float64
	// Mean, Worst and Exceed have one number per input: its mean error over the set, its largest error over the set,
	// and whether the latter exceeds the threshold.
	Mean, Worst, Exceed Interval
	// inputs whose largest error exceeds the threshold
	Exceeding int
	// Means and Largest are the numbers behind Mean and Worst, NaN where no error is finite, and IDs the inputs that
	// they belong to; nil if they are not kept.
	IDs            []string
	Means, Largest []float64
	At             Where
	// Resampling is the error of moving the input there and back, f(ρ(g)⁻¹ρ(g)x) - f(x), and Ratio the error over it.
	// Both are NaN where every element is exact.
	Resampling Stats
	Ratio      Interval
	// Cut says what exact elements cut off at the border of the inputs; nil where nothing leaves the frame.
	Cut    *Cut
	Floors Floors
	// Slope compares the error with that in float64; nil if it was not measured.
	Slope *Slope
	// Detectable is the size of the smallest planted break that this set shows, relative to s; NaN if it was not
	// measured, +Inf if none was detected.
	Detectable float64
	Profile    []Point
	// Fields are the errors of the parts of the output that are judged by themselves, fields of records and channels,
	// nil for outputs of one part. Mean and Worst are those of the part that errs most, but that the ends of Worst hold
	// for all parts together; the errors of pairs and the share of inputs are those of the largest part, pair by pair.
	Fields  []FieldError
	Steps   []Step
	Cause   Cause
	Level   Level
	Verdict Verdict
	Reason  string
	// Supply is how many inputs there are, for who is told that more would decide.
	Supply Supply
}

// Cut is content that leaves the frame of the inputs and that no inverse brings back, and what its loss alone does to
// the answer.
type Cut struct {
	// Share is the share of the energy Σx² of an input that is lost on the way there and back, mean over inputs and
	// elements; Inputs is how many inputs lose some.
	Share  float64
	Inputs int
	// Floor is the relative error f(ρ(g)⁻¹ρ(g)x) - f(x) with that of moving the output there and back, as for
	// [Set.Resampling]; Ratio is the error over it.
	Floor Stats
	Ratio Interval
}

// FieldError is the error of one part of an output, relative to its own scale.
type FieldError struct {
	// such as "energy" or "channel 3"; "" for the scores themselves, beside what they have in common
	Name string
	// it does not vary, so that its errors say nothing
	Still bool
	// s of the field, in its unit
	Scale float64
	Mean  Interval
	// mean over inputs of the largest error
	Worst Interval
	Max   float64
	// of Max
	At Where
}

// Scaled counts the inputs whose largest error exceeds the threshold, and how many do so at both limits of the scale.
// Largest gives the error of an input over the scale times a factor that it is told how to choose.
func (s *Set) Scaled(largest func(i int, factor func(lo, hi float64) float64) float64, n int, p Policy) {
	known, least, most := 0, 0, 0
	s.Exceeding = 0
	for i := range n {
		x := largest(i, func(float64, float64) float64 { return 1 })
		if math.IsNaN(x) {
			continue
		}
		known++
		if x > p.Threshold {
			s.Exceeding++
		}
		if largest(i, func(_, hi float64) float64 { return hi }) > p.Threshold {
			least++
		}
		if largest(i, func(lo, _ float64) float64 { return lo }) > p.Threshold {
			most++
		}
	}
	s.Exceed = ShareInterval(s.Exceeding, known, p.Confidence)
	s.Exceed.Lo = min(s.Exceed.Lo, ShareInterval(least, known, p.Confidence).Lo)
	s.Exceed.Hi = max(s.Exceed.Hi, ShareInterval(most, known, p.Confidence).Hi)
}

// Field is the part that errs most, as judged; "" if outputs are one part.
func (s *Set) Field() string {
	best := -1
	for i, f := range s.Fields {
		if best < 0 || f.Worst.Value > s.Fields[best].Worst.Value {
			best = i
		}
	}
	if best < 0 {
		return ""
	}
	return s.Fields[best].Name
}

// Floors are relative errors that have nothing to do with the symmetry.
type Floors struct {
	// largest change between repeats of one input
	Repeat float64
	// largest change with position and size of the batch
	Batch float64
	// Rounding is the largest change when every input moves by one ulp, or the noise of the evaluation itself where
	// that is larger.
	Rounding float64
}

// noise is the floor of the model's own variability.
func (f Floors) noise() float64 { return max(f.Repeat, f.Batch) }

// total is the rounding floor in the wide sense: the largest of all. NaN, a floor that was not measured, does not
// count.
func (f Floors) total() float64 {
	var t float64
	for _, x := range []float64{f.Repeat, f.Batch, f.Rounding} {
		if x > t {
			t = x
		}
	}
	return t
}

// Point is one element of the orbit profile; the errors are relative.
type Point struct {
	Element        group.Element
	Label          string
	Exact, Added   bool
	N, NonFinite   int
	Mean, P95, Max float64
	// mean of the resampling floor, NaN for exact elements
	Resampling float64
}

// Report is the outcome of an audit of one model.
type Report struct {
	Model   string
	Verdict Verdict
	// why the verdict is not better, each led by the verdict that it alone gives; for PASS why it is PASS
	Reasons []string
	// Further is what whoever made the audit advises beside checks and diagnoses.
	Further []Advice
	// why the audit could not run; the verdict is then ""
	Error  string
	Policy Policy
	Group  string
	// what a mean over the plan is over
	Measure string
	// Planned is the number of elements of the plan, Added that of exact elements that the audit added.
	Planned, Added int
	Inputs         int
	// Views says that the elements are views that are listed, which have no laws.
	Views bool
	// Given is the number of inputs that were chosen, Distinct that of those that are no copies of others. Inputs is
	// below it where an audit stopped early.
	Given, Distinct int
	// Ports are the inputs and outputs with their actions, Unaudited the outputs of the model that were left out.
	Ports     []Port
	Unaudited []string
	// Architecture is nil where there is no graph to look at.
	Architecture *Architecture
	Author       string
	// Training says what the file holds that belongs to training, and what of it was not tested; nil for nothing.
	Training []string
	// how the inputs were chosen where that is no plain draw
	Drawn string
	// form and unit of the output
	Output  string
	Scale   float64
	Seed    uint64
	Results []*Result
	// questions that this audit does not ask
	Outside []string
	// About says what was audited and where: file, digest, engine, data. In the order in which it is shown.
	About []About
	// Basis is what this audit must share with another to be compared with it in pairs, beyond what the report says
	// itself: data, actions, engine settings. In the order in which differences are told.
	Basis []About
	// Setting is what the audit is about, and Graph what the graph of the model says of it where no check looks.
	Setting Setting
	Graph   []Clue
	// Diagnoses explain the errors, the most likely first; nil if nobody was asked or nothing needs explaining.
	Diagnoses []Diagnosis
	// Command is the command line that repeats the audit, such as "nero audit study.yaml", already quoted for a shell;
	// "" if there is none. See [Report.Replay].
	Command string
	// groups that the program knows beside those of package catalog
	known []group.Group
	// Largest is the largest group that holds, whatever was claimed, such as "SO(3) × S(64)", and Beyond what stands
	// above it and fails, such as "O(3): handedness"; empty if nobody looked.
	Largest string
	Beyond  []string
	// Forms compares the exported forms of the model with the first of them, which is this one; nil if there are no
	// others.
	Forms []FormOf
	// Gallery shows worst cases as pictures.
	Gallery []Case
}

// About is one fact about the circumstances of an audit.
type About = document.Fact

// Clues are the clues of all checks, in order, and those of the graph.
func (r *Report) Clues() []Clue {
	c := slices.Clone(r.Graph)
	for _, x := range r.Results {
		c = append(c, x.Clues...)
	}
	return c
}

// Sets are the judged sets of all checks, in order.
func (r *Report) Sets() []*Set {
	var s []*Set
	for _, c := range r.Results {
		s = append(s, c.Sets...)
	}
	return s
}

// Findings are the findings of all checks, in order.
func (r *Report) Findings() []Finding {
	var f []Finding
	for _, c := range r.Results {
		f = append(f, c.Findings...)
	}
	return f
}

// Append adds what somebody found after the audit ran, such as a comparison with another, and concludes again.
func (r *Report) Append(c *Result) {
	r.Results = append(r.Results, c)
	r.Reasons = nil
	r.conclude()
}

// CouldNotRun is the report of an audit that ended with an error.
func CouldNotRun(model string, p Policy, err error) *Report {
	return &Report{Model: model, Policy: p, Error: err.Error(), Scale: math.NaN()}
}

// Answers say for each set of elements, in a sentence, whether its error is real.
func (r *Report) Answers() []string {
	var a []string
	for _, s := range r.Sets() {
		a = append(a, fmt.Sprintf("%s (%s): %s", s.Name, elements(s), r.Policy.answer(s)))
	}
	return a
}

// Statement says what is known of a set, with what confidence and of whom: a limit of the share of inputs, whatever
// their errors' distribution. It speaks of inputs drawn like these and of the elements that were visited, and of
// nothing else.
func (r *Report) Statement(s *Set) string {
	if math.IsNaN(s.Exceed.Hi) || s.Exceed.N == 0 || math.IsNaN(s.Worst.Value) {
		return "nothing can be said about other inputs"
	}
	t := fmt.Sprintf("with confidence %s, between %s and %s of inputs like these have an error above %s at one or "+
		"more of the %s",
		percent(r.Policy.Confidence), percent(s.Exceed.Lo), percent(s.Exceed.Hi), num(r.Policy.Threshold),
		plural(len(s.Profile), "element", "elements"))
	switch {
	case r.Policy.hides(s):
		t += "; how small a break this audit would notice could not be judged: the model's own error hides planted ones"
	case math.IsInf(s.Detectable, 1):
		t += "; no planted break was noticed, however large"
	case s.Detectable >= 0:
		t += "; a planted break of size " + num(s.Detectable) +
			" would have been noticed, the audit is blind to smaller ones"
	}
	return t
}

// reach is how far above the threshold the smallest planted break that was noticed may be before the model's own error
// is to blame.
const reach = 10

// hides reports whether the model's own error is what keeps planted breaks of the size of the limit from being noticed.
func (p *Policy) hides(s *Set) bool {
	return s.Detectable > reach*p.Threshold*(1+1e-9) && s.Worst.Value > p.Threshold
}

// size writes an error in the unit of the set.
func (s *Set) size(x float64) string {
	switch s.Unit {
	case PixelShare:
		return num(x) + " of the pixels"
	case BoxShare:
		return num(x) + " of the boxes"
	}
	return num(x)
}

// Shares reports whether errors are shares, with a unit of their own and no scale.
func (s *Set) Shares() bool { return s.Unit == PixelShare || s.Unit == BoxShare }

// State says in a word how an element fares: "holds" if no error is above the limit, "rounding" and "noise" where these
// explain the largest, "broken" if the mean is above the limit, "broken for some inputs" otherwise.
func (p *Policy) State(s *Set, pt Point) string {
	switch {
	case pt.NonFinite > 0:
		return "not finite"
	case math.IsNaN(pt.Max):
		return "undefined"
	case pt.Max <= p.Threshold:
		return "holds"
	case pt.Max <= p.RoundingFactor*p.rounding(s.Floors):
		return "rounding"
	case p.Noisy(s.Floors) && pt.Max <= p.NoiseFactor*s.Floors.noise():
		return "noise"
	case pt.Mean > p.Threshold:
		return "broken"
	}
	return "broken for some inputs"
}

func elements(s *Set) string {
	const most = 4
	if len(s.Profile) > most {
		return strconv.Itoa(len(s.Profile))
	}
	var t []string
	for _, p := range s.Profile {
		t = append(t, p.Label)
	}
	return strings.Join(t, "; ")
}

// num, percent and plural are how every report writes a number, a share and a count.
func num(x float64) string { return words.Figures(x) }

func percent(x float64) string { return words.Percent(x) }

func plural(n int, one, many string) string { return words.Plural(n, one, many) }
