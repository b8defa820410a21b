package endtoend

import (
	"fmt"
	"math"

	"nero/audit"
	"nero/audit/check/sweep"
)

// clues hands in what the elements that resample show; exact are the others, nil if there are none.
func clues(p *audit.Pass, sw *sweep.Result, s, exact *audit.Set) {
	p.Clue(sweep.Holds(s, exact))
	sw.Clues(p, s)
	if c, ok := resampling(s); ok {
		p.Clue(c)
	}
	if exact != nil {
		if c, ok := comb(p, s, exact); ok {
			p.Clue(c)
		}
	}
	sw.ShowProfile(p, s, exact)
}

// resampling asks whether the error can be told from what moving the input there and back does.
func resampling(s *audit.Set) (audit.Clue, bool) {
	if math.IsNaN(s.Ratio.Lo) || s.Cause == audit.CauseVacuous || s.NonFinite > 0 {
		return audit.Clue{}, false
	}
	c := audit.Clue{
		Name: audit.ClueResampling, Set: s.Name, Holds: s.Ratio.Lo <= 1,
		Text: fmt.Sprintf("the mean error %.2g is %.2g times its resampling floor %.2g, between %.2g and %.2g",
			s.Mean.Value, s.Ratio.Value, s.Resampling.Mean, s.Ratio.Lo, s.Ratio.Hi),
		Evidence: []audit.Evidence{audit.Measured("error over resampling floor", s.Ratio, "").Against(1)},
	}
	switch {
	case c.Holds && s.Ratio.Hi <= 1:
		c.Strength = 1
	case c.Holds: // the interval holds 1: the more so the less of it is above
		c.Strength = 0.5 + 0.4/max(1, s.Ratio.Value)
	default:
		c.Strength = 1 - 0.5/s.Ratio.Lo
	}
	return c, true
}

// comb asks whether the exact elements hold and those between them do not; ok is false where all hold.
func comb(p *audit.Pass, s, exact *audit.Set) (audit.Clue, bool) {
	held := exact.Verdict == audit.Passed || (exact.Cause == audit.CauseRoundoff && exact.NonFinite == 0)
	broken := s.Worst.Value > p.Policy.Threshold && s.Cause != audit.CauseRoundoff
	if exact.Cause == audit.CauseVacuous || s.NonFinite > 0 || (held && !broken) {
		return audit.Clue{}, false
	}
	c := audit.Clue{
		Name: audit.ClueCleanComb, Holds: held && broken,
		Text: fmt.Sprintf("largest error on the orbit %.2g on the exact elements, %.2g between them", exact.Worst.Value,
			s.Worst.Value),
		Evidence: []audit.Evidence{
			audit.Measured("largest error on the exact elements, mean over inputs", exact.Worst,
				s.Unit).Against(p.Policy.Threshold),
			audit.Measured("largest error between them, mean over inputs", s.Worst, s.Unit).Against(p.Policy.Threshold),
		},
	}
	c.Strength = sweep.Clarity(s.Worst.Value, max(exact.Worst.Value, p.Policy.Threshold))
	if !c.Holds {
		c.Strength = sweep.Clarity(exact.Worst.Value, p.Policy.Threshold)
	}
	return c, true
}
