package audit

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"nero/audit/document"
)

// Verdict is the answer of an audit.
type Verdict = document.Verdict

// The verdicts, best first. There is a fourth outcome, that the audit could not run; it is an error and not a verdict.
const (
	Passed         = document.Passed
	NeedsAttention = document.NeedsAttention
	Failed         = document.Failed
)

// FailOn says which verdicts end a program with exit code 1.
type FailOn = document.FailOn

// What ends with exit code 1.
const (
	FailOnAttention = document.FailOnAttention
	FailOnFail      = document.FailOnFail
	FailOnNothing   = document.FailOnNothing
)

// Policy holds the limits, and where they come from.
type Policy struct {
	// name of the context; "" for limits of one's own
	Preset string
	// Threshold is the limit of the relative error, judged on the mean over inputs of the largest error on the orbit.
	Threshold float64
	// of the threshold, in words
	Origin string
	// Confidence of every interval, two-sided; in (0, 1).
	Confidence float64
	// FailureRate is the share of inputs whose largest error may exceed the threshold; in (0, 1).
	FailureRate float64
	FailOn      FailOn
	// Required are the names of optional checks without which there is no PASS; "all" stands for every one. The name of
	// a family asks for one of its checks at least, as does "all": not every question arises for every model.
	Required []string
	// Average is how many repeats are averaged into each prediction; 0 and 1 mean none. A stochastic model audited this
	// way is judged in its mean.
	Average int
	// RoundingFactor is how many times the rounding floor an error may be and still be called rounding. It is above 1
	// because the floor changes only the inputs, while the model rounds after every layer.
	RoundingFactor float64
	// NoiseFactor is the same for the spread of repeats and for changes of batch.
	NoiseFactor float64
}

// Context is a named limit.
type Context struct {
	Name      string
	Threshold float64
	Doc       string
}

// Contexts are the presets of the relative error, the loosest first.
func Contexts() []Context {
	return []Context{
		{"research", 1e-3, "exploring: symmetric to three digits"},
		{"production", 1e-4, "a deployed model whose symmetry users rely on"},
		{"critical", 1e-5, "production where errors are expensive"},
		{"safety", 1e-6, "safety-critical: symmetric to the precision of float32"},
	}
}

// NewPolicy is the policy of a preset, "" for production. A threshold above 0 takes the place of the preset's; a
// confidence of 0 means 0.95.
func NewPolicy(preset string, threshold, confidence float64) (Policy, error) {
	p := Policy{
		Preset: preset, Threshold: threshold, Confidence: confidence, FailureRate: 0.05,
		FailOn: FailOnAttention, RoundingFactor: 10, NoiseFactor: 3,
	}
	if p.Preset == "" {
		p.Preset = "production"
	}
	var names []string
	found := false
	for _, c := range Contexts() {
		names = append(names, c.Name)
		if c.Name != p.Preset {
			continue
		}
		found = true
		if threshold == 0 {
			p.Threshold, p.Origin = c.Threshold, "preset "+c.Name
		} else {
			p.Preset, p.Origin = "", "set by the user"
		}
	}
	if !found {
		return Policy{}, fmt.Errorf("preset %q is unknown; want one of %s", preset, strings.Join(names, ", "))
	}
	if confidence == 0 {
		p.Confidence = 0.95
	}
	if p.Preset == "safety" {
		p.Required = []string{requireAll}
	}
	return p, p.check()
}

func (p *Policy) check() error {
	in01 := func(x float64) bool { return 0 < x && x < 1 }
	switch {
	case !(p.Threshold > 0) || math.IsInf(p.Threshold, 0):
		return fmt.Errorf("threshold is %g; want a relative error above 0", p.Threshold)
	case !in01(p.Confidence):
		return fmt.Errorf("confidence is %g; want a number in (0, 1), such as 0.95", p.Confidence)
	case !in01(p.FailureRate):
		return fmt.Errorf("failure rate is %g; want a number in (0, 1), such as 0.05", p.FailureRate)
	case p.Average < 0:
		return fmt.Errorf("average is %d; want how many repeats to average", p.Average)
	case !(p.RoundingFactor >= 1) || !(p.NoiseFactor >= 1):
		return fmt.Errorf("rounding factor %g, noise factor %g; want at least 1", p.RoundingFactor, p.NoiseFactor)
	}
	switch p.FailOn {
	case FailOnAttention, FailOnFail, FailOnNothing:
		return nil
	}
	return fmt.Errorf("fail-on is %q; want %s, %s or %s", p.FailOn, FailOnAttention, FailOnFail, FailOnNothing)
}

// requireAll stands for every check.
const requireAll = "all"

// requires reports whether there is no PASS without the check, given what came of all of them.
func (p *Policy) requires(c *Check, results []*Result) bool {
	if !c.Optional || slices.Contains(p.Required, c.Name) {
		return true
	}
	if !slices.Contains(p.Required, requireAll) && (c.Family == "" || !slices.Contains(p.Required, c.Family)) {
		return false
	}
	return c.Family == "" || !slices.ContainsFunc(results, func(r *Result) bool {
		return r.Check.Family == c.Family && r.Status == Tested
	})
}

// unanswered are the demands of the policy, by name, that no result meets, each with the reason: a check that was
// asked for and did not run is not a pass, be it that nobody asked its question, that it could not be answered, or that
// it does not arise. "all" demands nothing of the last kind.
func (p *Policy) unanswered(results []*Result) (names, why []string) {
	for _, name := range p.Required {
		if name == requireAll || slices.Contains(names, name) {
			continue
		}
		reason, met := "it is no part of this audit", false
		for _, r := range results {
			switch {
			case r.Check.Name != name && r.Check.Family != name:
			case r.Status == Tested:
				met = true
			case r.Check.Name == name:
				reason = fmt.Sprintf("%s: %s", r.Status, r.Reason)
			default:
				reason = fmt.Sprintf("none of its checks ran; the last, %s, is %s: %s", r.Check.Name, r.Status,
					r.Reason)
			}
		}
		if !met {
			names, why = append(names, name), append(why, reason)
		}
	}
	return names, why
}

// Level describes the size of a relative error in a word. It decides nothing.
type Level string

// The levels. The first bound grows with the unit roundoff of the model's type.
const (
	LevelExact       Level = "exact"       // below 1e-6 in float32
	LevelExcellent   Level = "excellent"   // below 1e-4
	LevelApproximate Level = "approximate" // below 1e-2: investigate
	LevelBroken      Level = "broken"      // above: fix
	LevelPrecision   Level = "precision too low to decide"
	LevelUndefined   Level = "undefined"
)

// LevelOf is the level of a relative error in arithmetic of unit roundoff u.
func LevelOf(e, u float64) Level {
	exact := 1e-6 * max(1, u/float32Roundoff)
	switch {
	case math.IsNaN(e):
		return LevelUndefined
	case e < exact && exact >= 1e-4:
		return LevelPrecision
	case e < exact:
		return LevelExact
	case e < 1e-4:
		return LevelExcellent
	case e < 1e-2:
		return LevelApproximate
	}
	return LevelBroken
}

// Judge gives a set its verdict and the reason.
//
// Two statements are held against their limits: the mean over inputs of the largest error on the orbit against the
// threshold, and the share of inputs whose largest error exceeds the threshold against the failure rate. PASS needs
// both upper bounds below their limits, so it needs no correction for there being two. What it claims is the share: no
// bound of the mean holds for inputs that are too rare to be among those tested. One lower bound above its limit is
// FAIL, unless the error cannot be told from rounding, from resampling the input, from what the border cuts off or from
// the model's own noise: then it is NEEDS_ATTENTION, because the test and not the model may be at fault. So is
// everything in between, with the number of inputs that would decide.
func (p *Policy) Judge(s *Set) (Verdict, string) {
	switch {
	case s.NonFinite > 0:
		return Failed, plural(s.NonFinite, "output is", "outputs are") + " not finite"
	case s.Pairs == 0:
		return NeedsAttention, "nothing was measured"
	case s.Cause == CauseVacuous || !(s.Scale > 0) || math.IsNaN(s.Worst.Value):
		if s.Inputs == 1 {
			return NeedsAttention, "vacuous: " + oneInput
		}
		return NeedsAttention, "vacuous: the outputs do not vary, so no error can show"
	}
	mean, share := s.Worst, s.Exceed
	switch {
	case mean.Hi < p.Threshold && share.Hi <= p.FailureRate:
		return Passed, p.passed(s)
	case mean.Lo > p.Threshold || share.Lo > p.FailureRate:
		above := fmt.Sprintf("the answers are off by %s (at least %s; limit %s)", s.usual(mean.Value),
			s.amount(mean.Lo, mean.Value), num(p.Threshold))
		if !(mean.Lo > p.Threshold) {
			above = fmt.Sprintf("the answers to %s of the inputs (at least %s) are off by more than the limit %s",
				percent(share.Value), percent(share.Lo), num(p.Threshold))
		}
		switch s.Cause {
		case CauseResampling:
			return NeedsAttention, "resampling-limited: " + above + ", as interpolation alone would cause"
		case CauseRoundoff:
			return NeedsAttention, "precision too low: " + above + ", as rounding alone would cause"
		case CauseNonRepeatable:
			if s.Floors.Batch > s.Floors.Repeat {
				return NeedsAttention, "noisy: " + above + ", as another batch alone would cause"
			}
			return NeedsAttention, "noisy: " + above + ", as repeats alone would cause"
		case CauseCut:
			return NeedsAttention, "cut off: " + above + ", as what leaves the frame alone would cause"
		case CauseSpecification, CauseNonFinite, CauseVacuous, CauseViolation, CauseNone:
		}
		return Failed, above
	}
	why := fmt.Sprintf("undecided: the answers are off by %s, and the limit %s lies within what is known "+
		"of that (%s to %s)",
		s.usual(mean.Value), num(p.Threshold), s.amount(mean.Lo, mean.Value),
		s.amount(mean.Hi, mean.Value))
	if mean.Hi < p.Threshold {
		why = fmt.Sprintf("undecided: the answers to up to %s of the inputs may be off by more than %s, and %s may",
			percent(share.Hi), num(p.Threshold), percent(p.FailureRate))
	}
	if n := p.needs(s); n > 0 {
		why += "; " + s.Supply.Would(n)
	}
	return NeedsAttention, why
}

// passed says what PASS means: how many inputs of those like the tested ones may err by more than the limit. It says
// nothing of how much these err, so nothing of the mean over all inputs: what is rare enough was not seen.
func (p *Policy) passed(s *Set) string {
	who := "no input"
	if s.Exceeding > 0 {
		who = plural(s.Exceeding, "input", "inputs")
	}
	errs := "errs"
	if s.Exceeding > 1 {
		errs = "err"
	}
	return fmt.Sprintf("%s of %d %s by more than %s, so at most %s of those like them do; largest error %s in the "+
		"mean of those tested", who, s.Exceed.N, errs, num(p.Threshold), percent(s.Exceed.Hi), num(s.Worst.Value))
}

// needs is about how many inputs in all would decide a set that is undecided, 0 when no number would.
func (p *Policy) needs(s *Set) int {
	if s.Worst.Hi < p.Threshold {
		return shareNeeds(s.Exceed, p.FailureRate, p.Confidence)
	}
	return meanNeeds(s.Worst, p.Threshold, p.Confidence)
}

// Undecided reports whether a set has neither passed nor shown an error above a limit, so that more inputs may decide,
// and about how many more; 0 when no number would. It says no where nothing could be measured.
func (p *Policy) Undecided(s *Set) (more int, ok bool) {
	mean, share := s.Worst, s.Exceed
	switch {
	case s.NonFinite > 0, s.Pairs == 0, s.Cause == CauseVacuous, !(s.Scale > 0), math.IsNaN(mean.Value):
		return 0, false
	case mean.Hi < p.Threshold && share.Hi <= p.FailureRate, mean.Lo > p.Threshold, share.Lo > p.FailureRate:
		return 0, false
	}
	return max(0, p.needs(s)-mean.N), true
}

// Exit codes of a program that audits.
const (
	ExitPass   = 0
	ExitFail   = 1
	ExitNotRun = 2
)

// ExitCode is the exit code of a list of reports, the highest of theirs: 0 for PASS; 1 for FAIL and NEEDS_ATTENTION
// unless the policy lets them through; 2 for an audit that could not run, and for no report at all.
func ExitCode(reports ...*Report) int {
	if len(reports) == 0 {
		return ExitNotRun
	}
	code := ExitPass
	for _, r := range reports {
		code = max(code, r.exit())
	}
	return code
}

func (r *Report) exit() int {
	switch {
	case r.Error != "":
		return ExitNotRun
	case r.Policy.FailOn.Ends(r.Verdict):
		return ExitFail
	}
	return ExitPass
}
