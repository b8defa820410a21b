// Package diagnosis explains what an audit saw. It weighs the clues that the checks handed in against a table of causes
// and names the most likely one with its confidence, what speaks for and against it, what would decide, and how to
// verify the fix.
//
// Each cause is a hypothesis. A clue that was seen adds its weight times its strength to the hypotheses that it speaks
// for and takes it from those that it speaks against; a clue that was looked for and not seen does the opposite, by
// less. Weights are natural logarithms of likelihood ratios, judged once and checked against planted faults
// (audit/mutation), so a score is a log-odds and confidences are the posterior over all causes and the hypothesis that
// it is none of them.
package diagnosis

import (
	"slices"
	"strings"

	"nero/audit"
	"nero/internal/elementary"
)

// Weight is how much a clue says about a cause.
type Weight struct {
	Clue audit.ClueName
	// added where the clue was seen: above 0 speaks for, below 0 against
	For float64
	// added where it was looked for and not seen
	Not float64
}

// Rule is one cause.
type Rule struct {
	// lower-case letters, digits and dashes
	ID string
	// in words
	Cause string
	Prior float64
	// one of them must have been seen
	Needs []audit.ClueName
	// all of them must have been seen
	Musts []audit.ClueName
	// Where says in which settings the cause can be at work; nil for all.
	Where func(s audit.Setting) bool
	// Elsewhere takes the place of Fix where the inputs are no pictures; "" for the same.
	Elsewhere string
	// Excuse is the cause that a set which did not pass must have by elimination, for causes that are not the model's
	// fault; "" for any.
	Excuse audit.Cause
	// Quiet says that the cause can be at work while every element holds in the forward pass.
	Quiet bool
	// Everywhere says that the cause is no layer's, so none is named.
	Everywhere bool
	Weigh      []Weight
	Fix        string
	Verify     string
	// Instead is what to say in place of Cause and Fix where a clue was seen.
	Instead []Instead
	// Benign says that the model is not at fault: the test, the data or the arithmetic is.
	Benign bool
}

// Instead is a cause that a clue tells in another way.
type Instead struct {
	Clue       audit.ClueName
	Cause, Fix string
}

// least is the confidence below which an explanation is not worth a line.
const least = 0.04

// most is how many explanations are named.
const most = 4

// Explain names the causes of what a report holds, the most likely first; nil if nothing is wrong and nothing needs
// explaining.
func Explain(r *audit.Report) []audit.Diagnosis {
	if !wrong(r) {
		return nil
	}
	var rules []Rule
	for _, q := range Fitting(r.Setting) {
		if r.Untestable() && !q.Benign {
			continue
		}
		if q.Excuse == "" || excused(r, q.Excuse) {
			rules = append(rules, q)
		}
	}
	return Weigh(rules, r.Clues())
}

// Fitting are the rules whose causes can be at work in a setting.
func Fitting(s audit.Setting) []Rule {
	var out []Rule
	for _, q := range Rules() {
		if q.Where != nil && !q.Where(s) {
			continue
		}
		if q.Elsewhere != "" && !s.Picture() {
			q.Fix = q.Elsewhere
		}
		out = append(out, q)
	}
	return out
}

// excused reports whether a set that did not pass has the cause by elimination. Rounding explains no FAIL: where one
// set is rounding and another fails, what fails is to be explained.
func excused(r *audit.Report, c audit.Cause) bool {
	if c == audit.CauseRoundoff && r.Verdict == audit.Failed {
		return false
	}
	for _, s := range r.Sets() {
		if s.Verdict != audit.Passed && s.Cause == c {
			return true
		}
	}
	return false
}

// wrong reports whether there is something to explain: an error that is not excused by PASS, or a finding that says
// more than a note.
func wrong(r *audit.Report) bool {
	if r.Error != "" {
		return false
	}
	if r.Verdict == audit.Failed {
		return true
	}
	for _, x := range r.Sets() {
		if x.Verdict != audit.Passed && !(x.Worst.Value <= r.Policy.Threshold) {
			return true // undecided below the limit wants more inputs and no explanation
		}
	}
	for _, f := range r.Findings() {
		if s := r.Policy.Severity(f); s == audit.High || s == audit.Medium {
			return true
		}
	}
	return false
}

// Weigh ranks the rules by their clues. Confidences are posteriors: with those of rules that are not listed and with
// that of an unknown cause they sum to one.
func Weigh(rules []Rule, clues []audit.Clue) []audit.Diagnosis {
	best := strongest(clues)
	type scored struct {
		d     audit.Diagnosis
		score float64
	}
	var all []scored
	for _, q := range rules {
		if !needed(q, best) {
			continue
		}
		for _, o := range q.Instead {
			if best[o.Clue].Holds {
				q.Cause, q.Fix = o.Cause, o.Fix
			}
		}
		s := scored{score: q.Prior, d: audit.Diagnosis{ID: q.ID, Cause: q.Cause, Fix: q.Fix, Verify: q.Verify}}
		for _, w := range q.Weigh {
			c, looked := best[w.Clue]
			if !looked {
				if w.For >= decides {
					s.d.Missing = append(s.d.Missing, w.Clue)
				}
				continue
			}
			add := w.Not * c.Strength
			if c.Holds {
				add = w.For * c.Strength
			}
			s.score += add
			switch {
			case add > 0:
				s.d.For = append(s.d.For, c)
			case add < 0:
				s.d.Against = append(s.d.Against, c)
			}
		}
		if c := best[audit.ClueForwardHolds]; c.Holds && !q.Quiet {
			s.score -= float64(unseen * c.Strength)
			s.d.Against = append(s.d.Against, c)
		}
		if !q.Everywhere {
			s.d.Location = location(q, best)
		}
		all = append(all, s)
	}
	total := 1.0 // the unknown cause has the score 0
	for _, s := range all {
		total += elementary.Exp(s.score)
	}
	var out []audit.Diagnosis
	for _, s := range all {
		s.d.Confidence = elementary.Exp(s.score) / total
		out = append(out, s.d)
	}
	// Equal confidences keep the order of the rules.
	slices.SortStableFunc(out, func(a, b audit.Diagnosis) int {
		switch {
		case a.Confidence > b.Confidence:
			return -1
		case a.Confidence < b.Confidence:
			return 1
		}
		return 0
	})
	n := 0
	for n < len(out) && n < most && out[n].Confidence >= least {
		n++
	}
	return out[:n]
}

// unseen is what a forward pass that holds takes from causes that would have broken it.
const unseen = 6

// decides is the weight from which a clue that nobody looked for is named as one that would decide.
const decides = 2

// strongest keeps one clue of each name: one that was seen before one that was not, and the stronger of two.
func strongest(clues []audit.Clue) map[audit.ClueName]audit.Clue {
	best := map[audit.ClueName]audit.Clue{}
	for _, c := range clues {
		if !(c.Strength > 0) {
			continue
		}
		c.Strength = min(c.Strength, 1)
		b, ok := best[c.Name]
		if ok && c.Name == audit.ClueForwardHolds && c.Holds != b.Holds {
			// It holds where every check that looked says so.
			if !c.Holds {
				best[c.Name] = c
			}
			continue
		}
		if !ok || (c.Holds && !b.Holds) || (c.Holds == b.Holds && c.Strength > b.Strength) {
			best[c.Name] = c
		}
	}
	return best
}

func needed(q Rule, best map[audit.ClueName]audit.Clue) bool {
	for _, n := range q.Musts {
		if !best[n].Holds {
			return false
		}
	}
	for _, n := range q.Needs {
		if best[n].Holds {
			return true
		}
	}
	return len(q.Needs) == 0
}

// location is where the clues that a rule needs point, else where any of those that speak for it does.
func location(q Rule, best map[audit.ClueName]audit.Clue) string {
	for _, n := range q.Needs {
		if c := best[n]; c.Holds && c.Location != "" {
			return c.Location
		}
	}
	var at []string
	for _, w := range q.Weigh {
		if c := best[w.Clue]; c.Holds && w.For > 0 && c.Location != "" && !slices.Contains(at, c.Location) {
			at = append(at, c.Location)
		}
	}
	if len(at) == 0 {
		return ""
	}
	return strings.TrimSpace(at[0])
}
