package controls

import (
	"cmp"
	"fmt"

	"nero/audit"
)

// Complete gives a set its floors, its detectable size and its cause, hands it in for judgment, and reports a finding
// if it does not pass. Lattice is the set of exact elements when s is the other one, nil if there is none; convention
// names a variant of the actions that would pass, "" if none is known.
func (r *Result) Complete(p *audit.Pass, s, lattice *audit.Set, convention string) {
	s.Floors, s.Detectable = r.Floors, r.Detectable[s.Exact]
	f := r.Facts
	f.Lattice, f.Convention = lattice, convention
	p.Policy.Explain(s, f)
	if p.Judge(s) == audit.Passed {
		return
	}
	finding := audit.Finding{
		Set: s.Name, Location: "output", Worst: s.At,
		Evidence: []audit.Evidence{
			audit.Measured("largest error on the orbit, mean over inputs", s.Worst, s.Unit).Against(p.Policy.Threshold),
			audit.Measured("share of inputs above the threshold", s.Exceed, "").Against(p.Policy.FailureRate),
			audit.Number("largest error", s.Rel.Max, s.Unit),
			audit.Number("rounding floor", s.Floors.Rounding, s.Unit),
		},
	}
	if !s.Exact {
		finding.Evidence = append(finding.Evidence,
			audit.Measured("error over resampling floor", s.Ratio, "").Against(1))
	}
	more, undecided := p.Policy.Undecided(s)
	switch {
	case s.Cause == audit.CauseNonFinite, s.Cause == audit.CauseVacuous:
		return // reported where it was seen
	case s.Cause == audit.CauseSpecification && convention != "":
		finding.Category, finding.Location = audit.Convention, "output action"
		finding.Message = fmt.Sprintf("%s: the error is %.2g as declared; it vanishes if %s", s.Name, s.Worst.Value,
			convention)
		finding.Remedies = []string{"if that is what the model means, declare it; nothing was switched"}
	case undecided && s.Cause != audit.CauseResampling && s.Cause != audit.CauseCut:
		// Whatever explains the error, it is not what stands in the way.
		finding.Category = audit.Undecided
		finding.Message = s.Name + ": " + s.Reason
		finding.Remedies = []string{"use more inputs, or let it through with --fail-on fail"}
		if more > 0 {
			finding.Remedies[0] = s.Supply.More(s.Worst.N+more, more) + ", or --fail-on fail"
		}
	case s.Verdict == audit.NeedsAttention && s.Cause == audit.CauseResampling:
		finding.Category = audit.Resampling
		finding.Message = fmt.Sprintf("%s: error %.2g, which resampling alone explains", s.Name, s.Worst.Value)
		finding.Remedies = []string{
			"judge by the exact elements", "use a finer kernel (bicubic, spline) or smoother inputs",
			"ask for the exact subgroup only",
		}
	case s.Verdict == audit.NeedsAttention && s.Cause == audit.CauseCut:
		finding.Category, finding.Location = audit.CutOff, "border"
		finding.Evidence = append(finding.Evidence,
			audit.Measured("error over that of what is cut off", s.Cut.Ratio, "").Against(1),
			audit.Number("energy that leaves the frame", s.Cut.Share, "share"))
		finding.Message = fmt.Sprintf(
			"%s: the elements move %s of the energy of the inputs out of the frame, and that "+
				"loss alone changes the answer as much as the error, %.2g", s.Name, audit.Percent(s.Cut.Share),
			s.Worst.Value)
		finding.Remedies = []string{
			"use inputs with an empty margin as wide as the largest shift, so that nothing leaves the frame",
			"let what leaves at one side come back at the other: --border circular",
			"or claim smaller shifts",
		}
	case s.Verdict == audit.NeedsAttention && s.Cause == audit.CauseRoundoff:
		finding.Category = audit.Roundoff
		finding.Message = fmt.Sprintf("%s: error %.2g, which rounding alone explains", s.Name, s.Worst.Value)
		finding.Remedies = []string{
			"run the model in float64",
			"allow a larger threshold: this one is below the model's own precision",
		}
	case s.Verdict == audit.NeedsAttention && s.Cause == audit.CauseNonRepeatable:
		finding.Category = audit.Roundoff
		finding.Message = fmt.Sprintf("%s: error %.2g, which the model's own noise explains", s.Name, s.Worst.Value)
		finding.Remedies = []string{"export the model in evaluation mode", "audit the mean of several repeats"}
	case s.Verdict == audit.NeedsAttention:
		finding.Category = audit.Undecided
		finding.Message = s.Name + ": " + s.Reason
		finding.Remedies = []string{"use more inputs"}
	default:
		finding.Category = audit.Violation
		finding.Message = fmt.Sprintf("%s: the model changes its answer by %.2g of its scale, worst %.2g for %s",
			s.Name, s.Worst.Value, s.Rel.Max, s.At)
		if f := s.Field(); f != "" {
			finding.Location = "output " + f
			finding.Message = fmt.Sprintf(
				"%s: the model changes its answer by %.2g of its scale, most in %s, worst %.2g for %s",
				s.Name, s.Worst.Value, f, s.Rel.Max, s.At)
			for _, x := range s.Fields {
				finding.Evidence = append(finding.Evidence,
					audit.Measured("largest error of "+cmp.Or(x.Name, "the scores")+", mean over inputs", x.Worst,
						s.Unit))
			}
		}
		switch s.Unit {
		case audit.PixelShare:
			finding.Message = fmt.Sprintf("%s: the model changes its answer at %.2g of the pixels, worst %.2g for %s",
				s.Name, s.Worst.Value, s.Rel.Max, s.At)
		case audit.BoxShare:
			finding.Message = fmt.Sprintf(
				"%s: the model changes its boxes by %.2g of them, by score and overlap, worst %.2g for %s",
				s.Name, s.Worst.Value, s.Rel.Max, s.At)
		}
		if finding.Remedies = remedies(s, lattice); r.Facts.Views {
			finding.Remedies = []string{
				"look at the worst case: whether the views of that object should have one answer",
				"train with several views of each object, or average the answer over them",
			}
		}
	}
	p.Report(finding)
}

// remedies are what usually helps against a real violation of this kind.
func remedies(s, lattice *audit.Set) []string {
	switch {
	case s.Exact:
		return []string{
			"if the architecture should be symmetric: look for striding, even kernels and one-sided or zero padding, " +
				"which break lattice symmetry",
			"or the weights themselves are not symmetric: a filter that is not its own turn or mirror image breaks " +
				"the symmetry in any layer",
			"if it should not: train with augmentation, or average the answer over the group",
			"check that the output should move as declared",
		}
	case lattice != nil && lattice.Verdict == audit.Passed:
		return []string{
			"the exact elements are clean and the error lies between them: use a finer group or band-limited filters",
			"or claim the exact subgroup only",
		}
	}
	return []string{
		"train with augmentation, use an equivariant architecture, or average the answer over the group",
		"or claim a smaller range of elements",
	}
}
