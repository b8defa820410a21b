package audit

import (
	"fmt"
	"math"
	"strings"

	"nero/present/words"
)

// Gist is what the audit found in a few plain sentences, for people who read no more: first what checks say of answers,
// such as how many stay right, then how far each set of elements is off, and what explains it. Nil if the audit could
// not run.
func (r *Report) Gist() []string {
	if r.Error != "" {
		return nil
	}
	var g []string
	for _, x := range r.Results {
		g = append(g, x.Gist...)
	}
	sets := r.Sets()
	for i, s := range sets {
		g = append(g, r.Policy.gist(s, i > 0))
	}
	return g
}

// gist says of a set how far the answers are off and what explains it; other tells that a set was spoken of before.
func (p *Policy) gist(s *Set, other bool) string {
	at := "At " + s.which(other)
	switch s.Cause {
	case CauseSpecification:
		return at + " the claim is in doubt, not the model: " + s.Steps[len(s.Steps)-1].Text + "."
	case CauseNonFinite:
		return fmt.Sprintf("%s %s not finite, first %s.", at, plural(s.NonFinite, "output is", "outputs are"),
			s.NonFiniteAt)
	case CauseVacuous:
		why := "the outputs do not vary"
		if s.Inputs == 1 {
			why = oneInput
		}
		return at + " nothing can be said: " + why + "."
	case CauseNone:
		return at + " the answers are equal bit for bit."
	case CauseNonRepeatable, CauseRoundoff, CauseResampling, CauseCut, CauseViolation:
	}
	limit, whose := "limit ", "it is the model"
	if s.Worst.Value <= p.Threshold {
		limit, whose = "below the limit ", "that little is the model's own"
	}
	off := fmt.Sprintf("%s the answers are off by %s (%s%s)", at, s.usual(s.Worst.Value), limit, num(p.Threshold))
	mean := ""
	if !s.Exact && !s.unmoved() && !math.IsNaN(s.Ratio.Value) {
		mean = fmt.Sprintf("in the mean %s times what interpolation alone does (%s to %s)", num(s.Ratio.Value),
			num(s.Ratio.Lo), num(s.Ratio.Hi))
	}
	switch {
	case s.Cause == CauseNonRepeatable:
		return off + ", as they are when nothing is moved: the model's own noise."
	case s.Cause == CauseRoundoff:
		return off + ": rounding."
	case s.Cause == CauseResampling:
		return off + ", " + mean + ": that says nothing about the model."
	case s.Cause == CauseCut:
		return fmt.Sprintf("%s, in the mean %s times what leaves the frame does alone (%s to %s): "+
			"that says nothing about the model.", off, num(s.Cut.Ratio.Value), num(s.Cut.Ratio.Lo), num(s.Cut.Ratio.Hi))
	case mean != "":
		return off + ", " + mean + ": " + whose + "."
	case s.Exact || s.unmoved():
		return off + ". Nothing is interpolated there: " + whose + "."
	}
	return off + ". Rounding does not explain it; what interpolation does is not known."
}

// which are the elements of a set: their names if there are few.
func (s *Set) which(other bool) string {
	const few = 3
	if n := len(s.Profile); n <= few {
		var names []string
		for _, e := range s.Profile {
			names = append(names, e.Label)
		}
		return words.List(names)
	}
	n := fmt.Sprintf("%d elements", len(s.Profile))
	switch {
	case s.Exact && !other:
		return "the " + n + " that need no interpolation"
	case other:
		return "the other " + n
	}
	return "the " + n
}

// usual is an error as a share of how far answers to different inputs lie apart, or in a unit of its own.
func (s *Set) usual(x float64) string {
	const least, whole = 1e-3, 1
	switch {
	case s.Shares():
		return s.size(x)
	case x >= least && x < whole:
		return percent(x) + " of their spread over the inputs"
	}
	return num(x) + " times their spread over the inputs"
}

// amount is an error in the form that [Set.usual] gives the one beside it, without what it is a share or a multiple of.
func (s *Set) amount(x, beside float64) string {
	if strings.Contains(s.usual(beside), "%") {
		return percent(x)
	}
	return num(x)
}
