package space

import (
	"fmt"
	"math"
	"slices"

	"nero/data/tensor"
	"nero/internal/elementary"
)

// KindScores is the name of this kind.
const KindScores Kind = "scores"

var scoresKind = Info{
	Kind: KindScores, Doc: "one number per class: logits, probabilities", Linear: true,
	Zero: func(d []int) Value { return &Scores{Val: make([]float64, d[0])} },
}

// Scores is one number per class.
type Scores struct {
	Val []float64
	// Raw are the model's own numbers where Val was derived from them (softmax), nil where Val is what the model
	// returned. Errors are measured on them: a saturated softmax would hide a change.
	Raw []float64
	// Probabilities tells normalised scores (each in [0,1], sum 1) from logits.
	Probabilities bool
}

// Kind is [KindScores].
func (*Scores) Kind() Kind { return KindScores }

// Output is what the model returned: Raw where it is kept, else Val. It shares memory.
func (s *Scores) Output() []float64 {
	if s.Raw != nil {
		return s.Raw
	}
	return s.Val
}

// Parts is one float64 array of shape (classes), a copy.
func (s *Scores) Parts() []tensor.Named { return []tensor.Named{part("scores", s.Val, len(s.Val))} }

// Dims is (classes).
func (s *Scores) Dims() []int { return []int{len(s.Val)} }

// Form is such as "scores 10".
func (s *Scores) Form() string { return fmt.Sprintf("scores %d", len(s.Val)) }

// Clone is a copy.
func (s *Scores) Clone() Value {
	return &Scores{Val: slices.Clone(s.Val), Raw: slices.Clone(s.Raw), Probabilities: s.Probabilities}
}

// Like is as many zeros, without Raw.
func (s *Scores) Like() Value {
	return &Scores{Val: make([]float64, len(s.Val)), Probabilities: s.Probabilities}
}

// Numbers are Val; what the model itself returned is [Scores.Output].
func (s *Scores) Numbers() []float64 { return s.Val }

// With is scores of other values, without Raw, which would contradict them.
func (s *Scores) With(x []float64) (Value, error) {
	return &Scores{Val: x, Probabilities: s.Probabilities}, fits(s, len(s.Val), x)
}

// Bytes is 8 for each number.
func (s *Scores) Bytes() int { return 8 * (len(s.Val) + len(s.Raw)) }

// Softmax turns logits into probabilities; probabilities come back as they are.
func (s *Scores) Softmax() Value {
	if s.Probabilities || len(s.Val) == 0 {
		return s
	}
	o := &Scores{Val: make([]float64, len(s.Val)), Probabilities: true}
	top := math.Inf(-1)
	for _, x := range s.Val {
		top = max(top, x) // max keeps NaN
	}
	var sum float64
	for i, x := range s.Val {
		o.Val[i] = elementary.Exp(x - top)
		sum += o.Val[i]
	}
	for i := range o.Val {
		o.Val[i] /= sum
	}
	return o
}

// Class is the index of the largest score, the first of equals; -1 if there is none or one of them is NaN.
func (s *Scores) Class() int {
	best := -1
	for i, x := range s.Val {
		if math.IsNaN(x) {
			return -1
		}
		if best < 0 || x > s.Val[best] {
			best = i
		}
	}
	return best
}

// Top is Class.
func (s *Scores) Top() int { return s.Class() }

// Centred is the scores without what all of them have in common, their mean, which the softmax does not see, and that
// mean. It is not ok for a single score, and for probabilities.
func (s *Scores) Centred() (rest Value, common float64, ok bool) {
	if s.Probabilities || len(s.Val) < 2 {
		return s, 0, false
	}
	for _, x := range s.Val {
		common += x / float64(len(s.Val))
	}
	o := &Scores{Val: make([]float64, len(s.Val))}
	for i, x := range s.Val {
		o.Val[i] = x - common
	}
	return o, common, true
}
