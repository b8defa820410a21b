package probe

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"nero/symmetry/group"
)

// ErrElement marks coordinates that are no element of the run's group, or too far out to be of use. The error is an
// [*ElementError], which says more.
var ErrElement = errors.New("no element of the group")

// How far out coordinates may lie that the group itself does not bound. Beyond, nothing of a picture is left in its
// frame; what a run has visited is always within.
const (
	mostPixels = 65536 // shifts: the largest picture
	mostSteps  = 1e7   // shifts of time and in space
	mostFactor = 1024  // factors, and their reciprocals
	mostNumber = 1024  // numbers without a unit, such as a slope
)

// ElementError says which coordinate is wrong and what it may be.
type ElementError struct {
	Group string
	// index of the coordinate; -1 if their number is wrong, or all are right and have no element between them
	Axis int
	// of the coordinate, such as "angle"; "" if Axis is -1
	Name string
	// "deg", "px", "factor" or ""
	Unit string
	// as it was given
	Value float64
	// what it may be, both included unless Periodic
	Min, Max float64
	// the coordinate comes in multiples of this; 0 for any number
	Step float64
	// a valid element close to the one that was given; nil if there is none
	Nearest group.Element

	text string
}

// Error names the coordinate, what it is, and what it may be.
func (e *ElementError) Error() string { return e.text }

// Unwrap is [ErrElement].
func (e *ElementError) Unwrap() error { return ErrElement }

// bounds is the range of every coordinate that is taken: that of the chart, and where nothing bounds it, a generous
// one.
func bounds(g group.Group, plan []group.Element) [][2]float64 {
	b := make([][2]float64, len(g.Chart()))
	for i, a := range g.Chart() {
		lo, hi := a.Min, a.Max
		reach := 0.0
		switch a.Form() { //nolint:exhaustive // others are numbers
		case group.FormPixels:
			reach = mostPixels
		case group.FormSamples, group.FormLength:
			reach = mostSteps
		case group.FormAngle:
			reach = 360
		case group.FormFactor:
			lo, hi = max(lo, 1./mostFactor), min(hi, mostFactor)
		default:
			reach = mostNumber
		}
		if math.IsInf(lo, 0) {
			lo = -reach
		}
		if math.IsInf(hi, 0) {
			hi = reach
		}
		for _, e := range plan {
			lo, hi = min(lo, e[i]), max(hi, e[i])
		}
		b[i] = [2]float64{lo, hi}
	}
	return b
}

// element is the canonical form of coordinates that a person gave.
func (s *Service) element(g group.Element) (group.Element, error) {
	grp := s.eval.Plan.Group
	chart, steps := grp.Chart(), group.Steps(grp)
	if len(g) != len(chart) {
		names := make([]string, len(chart))
		for i, a := range chart {
			names[i] = a.Name
			if a.Unit != "" {
				names[i] += " (" + a.Unit + ")"
			}
		}
		return nil, &ElementError{
			Group: grp.Name(), Axis: -1, Value: float64(len(g)), Min: float64(len(chart)), Max: float64(len(chart)),
			text: fmt.Sprintf("%d coordinates are no element of %s: want %d, %v", len(g), grp.Name(), len(chart),
				names),
		}
	}
	for i, a := range chart {
		v, lo, hi := g[i], s.bounds[i][0], s.bounds[i][1]
		e := &ElementError{
			Group: grp.Name(), Axis: i, Name: a.Name, Unit: a.Unit, Value: v, Min: lo, Max: hi,
			Step: steps[i],
		}
		wanted := ""
		switch {
		case math.IsNaN(v) || math.IsInf(v, 0):
			wanted = "a finite number"
		case !a.Periodic && !(v >= lo && v <= hi):
			wanted = "a number"
		case steps[i] > 0 && !stepped(v, steps[i]):
			wanted = fmt.Sprintf("a multiple of %g", steps[i])
		default:
			continue
		}
		e.Nearest = s.nearest(g, steps)
		unit := strings.TrimRight(" "+a.Suffix(), " ")
		e.text = fmt.Sprintf("%s of %s is %g%s: want %s from %g to %g%s", a.Name, grp.Name(), v, unit, wanted, lo, hi,
			unit)
		if e.Nearest != nil {
			e.text += "; the nearest is " + group.Format(grp, e.Nearest)
		}
		return nil, e
	}
	c, err := group.Validate(grp, g)
	if err != nil {
		e := &ElementError{Group: grp.Name(), Axis: -1, Nearest: s.nearest(g, steps), text: err.Error()}
		if e.Nearest != nil {
			e.text += "; near it is " + group.Format(grp, e.Nearest)
		}
		return nil, e
	}
	return c, nil
}

// stepped tells multiples of a step, as exactly as a person types the angles of C7: [group.Validate] has the last word.
func stepped(v, step float64) bool { return math.Abs(v-float64(math.Round(v/step)*step)) <= 1e-3*step }

// nearest is a valid element near coordinates that are none: each within its range and on its step, those that are no
// number as at the identity. It is nil if there is none.
func (s *Service) nearest(g group.Element, steps []float64) group.Element {
	grp := s.eval.Plan.Group
	near, one := slices.Clone(g), grp.Identity()
	for i, a := range grp.Chart() {
		if math.IsNaN(near[i]) || a.Periodic && math.IsInf(near[i], 0) {
			near[i] = one[i]
		}
		lo, hi := s.bounds[i][0], s.bounds[i][1]
		if !a.Periodic {
			near[i] = min(max(near[i], lo), hi)
		}
		if st := steps[i]; st > 0 {
			near[i] = math.Round(near[i]/st) * st
		}
	}
	c, err := group.Validate(grp, near)
	if err != nil {
		return nil
	}
	return c
}

// stored is the index in the plan of the element g, -1 if the plan does not visit it.
func (s *Service) stored(g group.Element) int {
	p := s.eval.Plan
	return slices.IndexFunc(p.Elements, func(h group.Element) bool { return p.Group.Dist(g, h) <= group.Tolerance })
}
