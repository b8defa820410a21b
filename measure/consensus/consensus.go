// Package consensus finds what a model mostly says about one sample: its answers over an orbit, carried back to the
// frame of the identity, brought together by one rule for each space of answers. It stands in for a label where there
// is none, and beside it where there is. It measures how far a model agrees with itself, never whether it is right.
//
// The rules: scores, images, tensors and fields are averaged, fields also by the vector median; boxes are matched over
// the elements, and of those of one object the coordinates have their median or mean and the class its mode. Rows,
// pairs, signals and frames are averaged; rows of poses and quaternions have their chordal mean (Hartley, Trumpf, Dai
// and Li 2013; Markley, Cheng, Crassidis and Oshman 2007), the yaw of boxes in space its mean direction; the fields of
// records are brought together one by one. Every element counts with the weight that the plan gives it. Masks and edges
// have no rule yet.
package consensus

import (
	"fmt"
	"math"

	"nero/data/space"
)

// The ways in which coordinates and vectors are brought together.
const (
	Mean   = "mean"
	Median = "median"
)

// Weak is the share of contributing elements below which a consensus is weak, unless a study says otherwise.
const Weak = 0.5

// Options choose among the rules.
type Options struct {
	// Mean or Median; "" is the median of boxes and the mean of all else
	Center string
	// share of contributing elements below which the consensus is weak, 0 to 1; 0 is the default 0.5
	Weak float64
	// Key is where the object of interest is, in the frame of the identity: its box comes first. Nil makes it that
	// which most elements find. Only boxes have one.
	Key *space.Box
	// Of describes the answers: the type of rows, which tells poses and quaternions from other numbers, and the fields
	// of records, which must be there for them. Other spaces do not need it.
	Of space.Spec
}

// Answer is what a model said at one element of the plan.
type Answer struct {
	// of the element in the plan
	Index int
	// of the element; 0 or above
	Weight float64
	// Value is the answer in the frame of the identity, nil where there was none. It must not be changed once it is
	// added.
	Value space.Value
	// Window is what the model saw, in the frame of the identity; nil if that was all there is. Boxes that are not
	// wholly inside, by [metric.Within], are cut, and objects that would be are not missed at this element. Only boxes
	// look at it.
	Window *space.Box
}

// Result is a consensus.
type Result struct {
	// Value is the consensus in the frame of the identity; nil if no element contributed. Boxes: the object of interest
	// first, then the others by falling share; if nothing was found where [Options.Key] is, the first is an empty box
	// there, which stands for no reference. A score is the mean of those of its boxes.
	Value space.Value
	// Label is the most probable class of scores, the class of the first box; -1 if there is none.
	Label int
	// Of is the number of elements of the plan. Contributing of them had a part in the consensus; of boxes: in its
	// first box.
	Contributing, Of int
	// Misses of the elements should have contributed and did not: they gave no answer or, of boxes, no box of the first
	// object.
	Misses int
	// Cut is at how many elements an edge of the window cut the first box or left it outside, so that it could not
	// contribute.
	Cut int
	// Bad is at how many elements a number was not finite. They do not contribute.
	Bad int
	// Share is the weight of the contributing elements over that of all that could contribute, those not Cut: the
	// support of the consensus.
	Share float64
	// Share is below the limit: the consensus supports no verdict
	Weak bool
	// Objects say the same of every box in Value; nil for other spaces.
	Objects []Object
	// Spread is how far the answers are from their mean: √ of the weighted mean of the squared distance, the root of
	// the orbit variance; of poses and quaternions the same of the angles of the rows, in degrees; 0 for boxes and
	// records. The Spread of a vector median is NaN.
	Spread float64
	// Fields say the same of the fields of a record, in their order; nil for other spaces.
	Fields []Agreement
}

// Agreement is how far the elements agree about one field of a record.
type Agreement struct {
	Name string
	// as in [Result]
	Label int
	// as in [Result]
	Spread float64
}

// Object is how far the elements agree about one box.
type Object struct {
	Contributing, Misses, Cut int
	// as in [Result]
	Share float64
	// weight of the elements that say its class, over that of the contributing ones
	Votes float64
	// weighted mean of the IoU of their boxes with the consensus
	IoU float64
}

// Accumulator takes answers as they come, in any order: the result is the same to the last bit. A mean needs memory for
// itself and for the answers whose predecessors in the plan have not come; medians and boxes keep all answers.
type Accumulator struct {
	kind    space.Kind
	options Options
	state   []state
	rule    rule
}

// state is what is known of one element.
type state struct {
	weight float64
	was    outcome
}

type outcome int

const (
	absent outcome = iota // not added
	empty                 // added without an answer
	bad                   // a number was not finite
	good
)

// rule brings answers of one space together.
type rule interface {
	// fits says why an answer does not go with those before it.
	fits(v space.Value) error
	// add takes a finite answer that fits; s is what is known with it.
	add(x Answer, s []state)
	// result fills in Value, Label and what is particular to the space; without is an element to leave out, -1 for
	// none, and v what it said.
	result(s []state, weights []float64, without int, v space.Value, r *Result)
}

// New returns an accumulator for answers of one space over a plan of so many elements. The error says that the space
// has no rule, or which option is none.
func New(kind space.Kind, elements int, o Options) (*Accumulator, error) {
	if elements < 1 {
		return nil, fmt.Errorf("consensus: %d elements: want at least 1", elements)
	}
	if !(o.Weak >= 0 && o.Weak <= 1) {
		return nil, fmt.Errorf("consensus: weak is %g: want a share from 0 to 1", o.Weak)
	}
	if o.Weak == 0 {
		o.Weak = Weak
	}
	if o.Center != "" && o.Center != Mean && o.Center != Median {
		return nil, fmt.Errorf("consensus: center is %q: want %s or %s", o.Center, Mean, Median)
	}
	if o.Key != nil && kind != space.KindBoxes {
		return nil, fmt.Errorf("consensus: a key object is for boxes, not for %s", kind)
	}
	of := o.Of
	of.Kind = kind
	r, err := ruleOf(of, o)
	if err != nil {
		return nil, fmt.Errorf("consensus: %w", err)
	}
	return &Accumulator{kind: kind, options: o, state: make([]state, elements), rule: r}, nil
}

// rotationWays are how rows are averaged of which some numbers are a rotation.
var rotationWays = map[string]way{
	space.TypePoses: {rotation: 9}, space.TypeQuaternions: {rotation: 4}, space.TypeBoxes: {plain: 6, rotation: 1},
	space.TypeBoxesQuaternion: {plain: 6, rotation: 4}, space.TypeBoxesMatrix: {plain: 6, rotation: 9},
	space.TypeBoxes6D: {plain: 6, rotation: 6},
}

// ruleOf is the rule for answers of a spec.
func ruleOf(of space.Spec, o Options) (rule, error) {
	kind := of.Kind.Info()
	switch {
	case of.Kind == space.KindBoxes:
		return &boxes{median: o.Center != Mean, key: o.Key}, nil
	case of.Kind == space.KindRecord:
		return newRecord(of, o)
	case of.Kind == space.KindField && o.Center == Median:
		return &vectors{}, nil
	case kind != nil && kind.Linear:
		if o.Center == Median {
			return nil, fmt.Errorf("center is %s: %s have a mean only", Median, of.Kind)
		}
		if w, ok := rotationWays[of.Type]; ok && of.Kind == space.KindRows {
			return newRotations(w), nil
		}
		return newMean(), nil
	}
	return nil, fmt.Errorf(
		"there is no rule for answers of space %s; boxes, field, frames, image, pairs, record, rows, scores, signal "+
			"and tensor have one", of.Kind)
}

// Add takes the answer at an element. The error says that it does not belong here: an element twice or not in the plan,
// another space or size.
func (a *Accumulator) Add(x Answer) error {
	switch {
	case x.Index < 0 || x.Index >= len(a.state):
		return fmt.Errorf("consensus: element %d is not in a plan of %d", x.Index, len(a.state))
	case a.state[x.Index].was != absent:
		return fmt.Errorf("consensus: element %d comes twice", x.Index)
	case !(x.Weight >= 0) || math.IsInf(x.Weight, 1):
		return fmt.Errorf("consensus: element %d has the weight %g: want a finite number, 0 or above", x.Index,
			x.Weight)
	}
	s := state{weight: x.Weight, was: empty}
	if x.Value != nil {
		if k := x.Value.Kind(); k != a.kind {
			return fmt.Errorf("consensus: element %d: an answer of space %s among those of space %s", x.Index, k,
				a.kind)
		}
		if err := a.rule.fits(x.Value); err != nil {
			return fmt.Errorf("consensus: element %d: %w", x.Index, err)
		}
		if s.was = bad; space.Finite(x.Value) {
			s.was = good
		}
	}
	if a.state[x.Index] = s; s.was == good {
		a.rule.add(x, a.state)
	}
	return nil
}

// Keeps reports whether the answer at an element is kept, so that it must not be changed yet; nil keeps none.
func (a *Accumulator) Keeps(index int) bool {
	if a == nil {
		return false
	}
	m, ok := a.rule.(interface{ keeps(index int) bool })
	return !ok || m.keeps(index)
}

// Result is the consensus of the answers so far. Elements that have not been added count as misses of the weight that
// the others have on the average.
func (a *Accumulator) Result() Result { return a.result(-1, nil) }

// Without is the consensus of all elements but one, with which the answer there can be compared without being part of
// what it is compared with. The answer is what was added; of boxes and vector medians, which are kept, it may be nil.
// Of boxes it is found among the objects of all elements. It panics if the element is not in the plan, or an answer
// that contributed to a mean is not given.
func (a *Accumulator) Without(index int, answer space.Value) Result {
	_ = a.state[index]
	return a.result(index, answer)
}

func (a *Accumulator) result(without int, v space.Value) Result {
	r := Result{Label: -1, Of: len(a.state)}
	weights := filled(a.state)
	total, have := 0.0, 0.0
	for i, s := range a.state {
		if i == without {
			r.Of--
			continue
		}
		total += weights[i]
		switch s.was {
		case bad:
			r.Bad++
		case good:
			r.Contributing++
			have += weights[i]
		case absent, empty:
			r.Misses++
		}
	}
	r.Share = ratio(have, total)
	if a.rule.result(a.state, weights, without, v, &r); r.Value == nil {
		r.Share = 0 // rotations that cancel each other
	}
	r.Weak = !(r.Share >= a.options.Weak) || r.Contributing == 0
	return r
}

// filled are the weights of all elements: those that have not been added have the average one.
func filled(states []state) []float64 {
	known, sum := 0, 0.0
	for _, s := range states {
		if s.was != absent {
			known, sum = known+1, sum+s.weight
		}
	}
	weights := make([]float64, len(states))
	for i, s := range states {
		if weights[i] = s.weight; s.was == absent {
			weights[i] = sum / float64(max(known, 1))
		}
	}
	return weights
}

// ratio is a/b, and 0 where there is nothing to divide.
func ratio(a, b float64) float64 {
	if !(b > 0) {
		return 0
	}
	return min(a/b, 1)
}

// numbers are what is averaged of an answer: of scores the probabilities, not what they were computed from; nil for an
// answer that has no mean.
func numbers(v space.Value) []float64 {
	if _, ok := v.(space.Linear); ok {
		return v.Numbers()
	}
	return nil
}
