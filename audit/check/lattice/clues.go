package lattice

import (
	"fmt"
	"math"
	"slices"

	"nero/audit"
	"nero/audit/check/sweep"
	"nero/symmetry/group"
)

// clues hands in what the exact elements show.
func clues(p *audit.Pass, sw *sweep.Result, s *audit.Set) {
	if !slices.ContainsFunc(p.Elements, func(e audit.Element) bool { return !e.Exact }) {
		p.Clue(sweep.Holds(s))
		sw.ShowProfile(p, s)
	}
	if c := s.Cut; c != nil {
		p.Clue(audit.Clue{
			Name: audit.ClueCut, Set: s.Name, Holds: s.Cause == audit.CauseCut, Strength: 1, Location: "border",
			Text: fmt.Sprintf("%s of the energy of the inputs leaves the frame; the error is %.3g times what that "+
				"does "+
				"alone, interval [%.3g, %.3g]", audit.Percent(c.Share), c.Ratio.Value, c.Ratio.Lo, c.Ratio.Hi),
			Evidence: []audit.Evidence{audit.Measured("error over that of what is cut off", c.Ratio, "").Against(1)},
		})
	}
	if c, ok := handedness(p, s); ok {
		p.Clue(c)
	}
	sw.Clues(p, s)
}

// handedness asks whether the elements that keep the orientation hold and those that reverse it do not; ok is false
// where there are not both kinds, or nothing is broken.
func handedness(p *audit.Pass, s *audit.Set) (c audit.Clue, ok bool) {
	G, planar := p.Subject.Plan.Group.(group.Planar)
	if !planar || s.NonFinite > 0 || !(s.Worst.Value > p.Policy.Threshold) || s.Cause == audit.CauseRoundoff ||
		s.Cause == audit.CauseVacuous {
		return c, false
	}
	keep, reverse := 0.0, 0.0 // largest mean errors
	broken, mirrors, turns := 0, 0, 0
	for _, pt := range s.Profile {
		a, _ := G.Affine(pt.Element)
		det := float64(a[0][0]*a[1][1]) - float64(a[0][1]*a[1][0])
		switch {
		case math.IsNaN(pt.Mean):
		case det > 0:
			turns++
			keep = max(keep, pt.Mean)
		default:
			mirrors++
			reverse = max(reverse, pt.Mean)
			if pt.Mean > p.Policy.Threshold {
				broken++
			}
		}
	}
	if turns == 0 || mirrors == 0 {
		return c, false
	}
	floor := p.Policy.RoundingFactor * max(s.Floors.Rounding, s.Floors.Repeat, s.Floors.Batch, 0)
	limit := max(p.Policy.Threshold, floor)
	c = audit.Clue{
		Name: audit.ClueHandedness, Set: s.Name, Holds: keep <= limit && broken == mirrors && reverse > 3*keep,
		Text: fmt.Sprintf("mean error up to %.2g at the %d elements that keep the orientation, up to %.2g at the %d "+
			"that reverse it (%d broken)",
			keep, turns, reverse, mirrors, broken),
		Evidence: []audit.Evidence{
			audit.Number("largest mean error at turns", keep, s.Unit).Against(limit),
			audit.Number("largest mean error at mirrors", reverse, s.Unit).Against(limit),
		},
	}
	if c.Holds {
		c.Location, c.Strength = "mirrors", sweep.Clarity(reverse, limit)
	} else {
		c.Strength = sweep.Clarity(keep, limit)
	}
	return c, true
}
