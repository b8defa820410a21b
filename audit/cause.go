package audit

import (
	"fmt"
	"math"
	"strings"
)

// Cause is the one explanation that an elimination leaves for the size of an error.
type Cause string

// The causes in the order in which they are ruled out.
const (
	CauseSpecification Cause = "specification or convention"
	CauseNonFinite     Cause = "non-finite output"
	CauseNonRepeatable Cause = "the model's own noise"
	CauseVacuous       Cause = "vacuous test"
	CauseRoundoff      Cause = "rounding"
	CauseResampling    Cause = "resampling"
	CauseCut           Cause = "cut off at the border"
	CauseViolation     Cause = "real violation"
	CauseNone          Cause = "no error at all"
)

// Step is one step of the elimination with its numbers.
type Step struct {
	Name string
	// the evidence in words
	Text string
	// this step gives the cause; the later ones are not needed
	Named    bool
	Evidence []Evidence
}

// Facts are what an elimination needs to know beyond the set itself.
type Facts struct {
	// "" if the actions are representations, else what is wrong
	ActionLaws string
	// Views says that the elements are views that are listed, which have no laws.
	Views bool
	// variant of the actions that would pass; "" if none
	Convention string
	// outputs do not vary
	Vacuous    bool
	ScaleFloor float64
	// exact elements, when the set is not that set; nil if there are none
	Lattice *Set
}

// Noisy reports whether repeats or batches change an output by more than rounding does: the model is stochastic, or an
// answer depends on its company.
func (p *Policy) Noisy(f Floors) bool {
	r := f.Rounding
	if math.IsNaN(r) {
		r = 0
	}
	return f.noise() > p.RoundingFactor*r
}

// rounding is the rounding floor in the wide sense: with repeats and batches where they change no more than rounding
// does.
func (p *Policy) rounding(f Floors) float64 {
	if p.Noisy(f) {
		return max(0, f.Rounding)
	}
	return f.total()
}

// Explain finds the cause of the error of a set by elimination: specification or convention, non-finite,
// non-repeatable, vacuous, exact elements, rounding, resampling, what the border cuts off, real violation. It fills
// Steps and Cause and leaves the rest alone. The cause explains the size of the error whether or not that is above a
// limit.
func (p *Policy) Explain(s *Set, f Facts) {
	s.Steps, s.Cause = nil, ""
	step := func(named bool, c Cause, name, text string, ev ...Evidence) bool {
		s.Steps = append(s.Steps, Step{Name: name, Text: text, Named: named, Evidence: ev})
		if named {
			s.Cause = c
		}
		return named
	}
	e := s.Worst.Value
	worst := Measured("largest error on the orbit, mean over inputs", s.Worst, "")
	switch {
	case f.ActionLaws != "":
		step(true, CauseSpecification, "specification", f.ActionLaws)
		return
	case f.Convention != "":
		step(true, CauseSpecification, "specification", "another convention passes: "+f.Convention)
		return
	}
	lawful := "the actions are representations; no other convention is known to pass"
	if f.Views {
		lawful = "given, no laws: the answer is claimed to stay, and views that are listed have no convention"
	}
	step(false, "", "specification", lawful)
	if step(s.NonFinite > 0, CauseNonFinite, "non-finite",
		fmt.Sprintf("%s of %d not finite", plural(s.NonFinite, "output", "outputs"), s.NonFinite+s.Pairs),
		Number("non-finite outputs", float64(s.NonFinite), "")) {
		return
	}
	vary := fmt.Sprintf("outputs vary by %s, rounding alone gives %s", num(s.Scale), num(f.ScaleFloor))
	switch {
	case s.Inputs == 1:
		vary = oneInput
	case s.Unit == PixelShare && f.Vacuous:
		vary = "the masks of all inputs are equal"
	case s.Unit == PixelShare:
		vary = "the masks of different inputs differ"
	case s.Unit == BoxShare && f.Vacuous:
		vary = "the boxes of all inputs are equal"
	case s.Unit == BoxShare:
		vary = "the boxes of different inputs differ"
	}
	if step(f.Vacuous, CauseVacuous, "vacuous", vary,
		Number("scale s", s.Scale, "output").Against(f.ScaleFloor)) {
		return
	}
	if e == 0 {
		step(true, CauseNone, "error", "the error is exactly 0", worst)
		return
	}
	noise := s.Floors.noise()
	if step(p.Noisy(s.Floors) && e <= p.NoiseFactor*noise, CauseNonRepeatable, "non-repeatable",
		fmt.Sprintf("repeats differ by %s, batches by %s; error %s", num(s.Floors.Repeat), num(s.Floors.Batch), num(e)),
		Number("repeat floor", s.Floors.Repeat, ""), Number("batch floor", s.Floors.Batch, "")) {
		return
	}
	if f.Lattice != nil {
		step(false, "", "exact elements",
			fmt.Sprintf("error %s on the exact elements, %s here", num(f.Lattice.Worst.Value), num(e)),
			Measured("largest error on exact elements, mean over inputs", f.Lattice.Worst, ""))
	}
	floor := p.rounding(s.Floors)
	rounded := e <= p.RoundingFactor*floor
	text := "the error is " + times(s, e, floor)
	ev := []Evidence{worst, Number("rounding floor", floor, "").Against(p.RoundingFactor * floor)}
	if sl := s.Slope; sl != nil {
		// What float64 shows outweighs what the floor suggests: a model that jumps has a floor as large as its jumps.
		rounded = (rounded && !sl.Violation()) || sl.Rounding()
		text += "; " + sl.String()
		ev = append(ev, Measured("error in float64", sl.Double, ""))
	}
	if step(rounded, CauseRoundoff, "rounding", text, ev...) {
		return
	}
	if !s.Exact {
		text := fmt.Sprintf("the mean error, %s, is %s what interpolation alone would cause (%s)", num(s.Mean.Value),
			fold(s.Ratio), p.between(s.Ratio))
		// Without limits nothing is indistinguishable: an unknown floor excuses no error.
		switch {
		case s.unmoved():
			text = "moving the input there and back changes nothing"
		case math.IsNaN(s.Ratio.Value):
			text = "the elements resample, but their floor is not known"
		}
		// What resamples nothing is excused by nothing: a few large errors make the interval of the ratio as wide as
		// they please, and reach below 1.
		if step(!s.unmoved() && s.Ratio.Lo <= 1, CauseResampling, "resampling", text,
			Measured("error over resampling floor", s.Ratio, "").Against(1)) {
			return
		}
	}
	if c := s.Cut; c != nil {
		text := fmt.Sprintf(
			"%s of the energy of the inputs leaves the frame; the mean error, %s, is %s what that "+
				"alone would cause (%s)", percent(c.Share), num(s.Mean.Value), fold(c.Ratio), p.between(c.Ratio))
		if step(p.CutOff(s), CauseCut, "border", text,
			Measured("error over that of what is cut off", c.Ratio, "").Against(1),
			Number("energy that leaves the frame", c.Share, "share")) {
			return
		}
	}
	step(true, CauseViolation, "real violation", "nothing else explains the error", worst)
}

// oneInput is what to say of an audit of a single input.
const oneInput = "one input has no spread to measure errors against; give at least two"

// times holds an error against the rounding floor. A floor of 0 is no divisor: rounding changes no pixel of a mask.
func times(s *Set, e, floor float64) string {
	switch {
	case floor > 0:
		return fmt.Sprintf("%s, %s times what rounding can cause (%s)", s.size(e), num(e/floor), num(floor))
	case s.Unit == PixelShare:
		return s.size(e) + "; rounding changes no pixel"
	case s.Unit == BoxShare:
		return s.size(e) + "; rounding changes no box"
	}
	return num(e) + "; rounding changes nothing"
}

// unmoved reports whether moving the input there and back changes the output by no more than rounding does: coordinates
// are not resampled.
func (s *Set) unmoved() bool { return s.Resampling.Max <= max(1e-12, s.Floors.Rounding) }

// CutOff reports whether the error cannot be told from what content that leaves the frame does. What changes answers by
// no more than rounding excuses nothing: an error over next to nothing has a ratio as wide as it pleases.
func (p *Policy) CutOff(s *Set) bool {
	return s.Cut != nil && s.Cut.Ratio.Lo <= 1 && s.Cut.Floor.Max > p.RoundingFactor*max(1e-12, s.Floors.Rounding)
}

// floor is what would be there without any violation: resampling where elements resample, rounding elsewhere.
func (p *Policy) floor(s *Set) float64 {
	if s.Exact || s.unmoved() {
		return p.rounding(s.Floors)
	}
	return s.Resampling.Mean
}

// answer says in a few words whether the error of a set is real.
func (p *Policy) answer(s *Set) string {
	e := s.Worst.Value
	floor := p.rounding(s.Floors)
	switch s.Cause {
	case CauseSpecification:
		return "the claim is in doubt, not the model: " + s.Steps[len(s.Steps)-1].Text
	case CauseNonFinite:
		return "real: " + plural(s.NonFinite, "output is", "outputs are") + " not finite, first " +
			s.NonFiniteAt.String()
	case CauseNonRepeatable:
		if s.Floors.Batch > s.Floors.Repeat {
			return fmt.Sprintf("noise: the error is %s, and in other batches the answer to one input differs by %s",
				num(e), num(s.Floors.Batch))
		}
		return fmt.Sprintf("noise: the error is %s, and repeats of one input differ by %s", num(e),
			num(s.Floors.noise()))
	case CauseVacuous:
		if s.Inputs == 1 {
			return "no answer: " + oneInput
		}
		return "no answer: the outputs do not vary"
	case CauseRoundoff:
		return "rounding: the error is " + times(s, e, floor)
	case CauseResampling:
		what, does := "interpolation", "interpolation"
		if strings.HasPrefix(s.Reason, "limited by clipping") {
			what, does = "clipping", "what it cuts off"
		}
		return fmt.Sprintf("%s: the mean error, %s, is %s what %s alone would cause (%s)", what,
			s.size(s.Mean.Value), fold(s.Ratio), does, p.between(s.Ratio))
	case CauseCut:
		return fmt.Sprintf("cut off: the mean error, %s, is %s what leaves the frame would cause alone (%s)",
			s.size(s.Mean.Value), fold(s.Cut.Ratio), p.between(s.Cut.Ratio))
	case CauseNone:
		return "no error: equal bit for bit"
	case CauseViolation:
		switch {
		case s.Exact:
			return fmt.Sprintf("real: the error is %s, and rounding explains %s", s.size(e), most(floor))
		case s.unmoved():
			return fmt.Sprintf("real: the error is %s, rounding explains %s, and interpolation nothing", s.size(e),
				most(floor))
		case math.IsNaN(s.Ratio.Value):
			return fmt.Sprintf("real: the error is %s, and rounding explains %s; what interpolation does is not known",
				s.size(e), most(floor))
		}
		return fmt.Sprintf("real: the mean error, %s, is %s what interpolation alone would cause (%s)",
			s.size(s.Mean.Value), fold(s.Ratio), p.between(s.Ratio))
	}
	return "not explained"
}

// fold is a ratio before what it is a multiple of: "3.53 times".
func fold(ratio Interval) string { return num(ratio.Value) + " times" }

// between says within which limits a number lies, and how surely.
func (p *Policy) between(i Interval) string {
	return fmt.Sprintf("%s interval %s to %s", share(p.Confidence), num(i.Lo), num(i.Hi))
}

// share is a share in percent without a decimal that is none: "95%", "99.5%".
func share(x float64) string {
	return strings.TrimSuffix(strings.TrimSuffix(percent(x), "%"), ".0") + "%"
}

// most says how much of an error something explains.
func most(floor float64) string {
	if floor == 0 {
		return "nothing"
	}
	return "no more than " + num(floor)
}
