package audit

import (
	"fmt"
	"math"
)

// Slope compares the error of a set in the model's own arithmetic with that in float64, on the same inputs and
// elements. From float32 to float64 rounding shrinks by about 2²⁹; a violation of the symmetry does not.
type Slope struct {
	// largest error on the elements, mean over inputs, as the model computes
	Single Interval
	// the same in float64
	Double Interval
	// Apart is the largest distance of the two outputs themselves, relative to s: what rounding does to the model,
	// measured and not estimated.
	Apart    float64
	Inputs   int
	Elements int
}

// What a slope says.
const (
	// From this factor on it is rounding: violations do not shrink at all, rounding by 2²⁹ less what float64 loses.
	shrinks = 1 << 12
	stays   = 4 // up to this factor it is a violation
	nothing = shrinks * 0x1p-53
	// Weights that ought to be equal and were computed apart agree as far as float32 goes, to half of 2⁻²³ of
	// themselves, and a model hands on a few times that. Arithmetic in float64 reads the same weights, so that it does
	// not take this away, and yet it is rounding: that of whoever stored them.
	stored = 16 * 0x1p-24
)

// Rounding reports whether float64 takes the error away.
func (s *Slope) Rounding() bool {
	return s.Single.Value > 0 && s.Double.Value <= s.Single.Value/shrinks
}

// Violation reports whether float64 leaves the error as it is. An error of the size of float64's own rounding is none
// that it leaves, however small that of the model is: one that sums in a symmetric order has no error at all.
func (s *Slope) Violation() bool {
	return s.Double.Value > nothing && s.Double.Value >= s.Single.Value/stays
}

// only reports whether float64 leaves nothing but rounding.
func (s *Slope) only() bool { return s.Rounding() || s.Double.Value <= nothing }

// Factor is by how much float64 shrinks the error; infinite if it takes it away.
func (s *Slope) Factor() float64 {
	if s.Double.Value == 0 {
		if s.Single.Value == 0 {
			return math.NaN()
		}
		return math.Inf(1)
	}
	return s.Single.Value / s.Double.Value
}

// String says what the slope shows.
func (s *Slope) String() string {
	switch {
	case s.Single.Value == 0 && s.Double.Value == 0:
		return "the error is 0 in single and in double precision"
	case math.IsNaN(s.Single.Value) || math.IsNaN(s.Double.Value):
		return "the errors in the two precisions are not both known"
	case s.Rounding():
		return fmt.Sprintf("in double precision the error falls from %s to %s: it is rounding", num(s.Single.Value),
			num(s.Double.Value))
	case s.Double.Value <= nothing:
		return fmt.Sprintf("in double precision the error is %s, and %s before: both are rounding", num(s.Double.Value),
			num(s.Single.Value))
	case s.Violation() && s.Double.Value <= stored:
		return fmt.Sprintf("in double precision the error stays %s (%s before): it does not come from the arithmetic, "+
			"and is as small as weights leave it that are equal only as far as float32 goes", num(s.Double.Value),
			num(s.Single.Value))
	case s.Violation():
		return fmt.Sprintf("in double precision the error stays %s (%s before): it is not rounding",
			num(s.Double.Value), num(s.Single.Value))
	}
	rest := "what is left is in the model as it is stored"
	if s.Double.Value <= stored {
		rest = "what is left is as small as weights leave it that are equal only as far as float32 goes"
	}
	return fmt.Sprintf("in double precision the error falls %s-fold, from %s to %s: that part is rounding of the "+
		"arithmetic, and %s", num(s.Factor()), num(s.Single.Value), num(s.Double.Value), rest)
}
