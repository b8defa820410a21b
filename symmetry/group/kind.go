package group

import "slices"

// Kind says what a coordinate of an element does. Layouts, texts, marks and buttons are chosen by the kind of an axis,
// never by its name. A group sets the kinds of its axes where it makes its chart; the kinds below are those of the
// groups of this house, and another package may add a kind of its own as one more value.
type Kind struct {
	// one word or two, such as "turn"
	Name string `json:"name"`
	// how its numbers behave: number, switch, angle, factor, pixels, samples, length, whole
	Form Form `json:"form"`
	// what elements that differ in the coordinate are called together, such as "rotations"; "" for the axis's own name
	Many string `json:"-"`
	// what raising and what lowering the coordinate is called, such as "turn left" and "turn right"; "" where the name
	// of the axis says enough. A switch has only the first.
	Ways [2]string `json:"-"`
	// the same for a button, where there is little room: "→" and "←"
	Signs [2]string `json:"-"`
}

// Form is how the numbers of a coordinate behave: what they are written with, how far they reach, whether they add or
// multiply.
type Form string

// The forms. [FormNumber] is that of an axis without a kind.
const (
	FormNumber  Form = "number"  // any number; they need not have a unit
	FormSwitch  Form = "switch"  // 0 or 1
	FormAngle   Form = "angle"   // degrees
	FormFactor  Form = "factor"  // above 0, and 1 at the identity; ratios count
	FormPixels  Form = "pixels"  // a distance in a picture
	FormSamples Form = "samples" // a time in samples or frames
	FormLength  Form = "length"  // a distance in the unit of the data
	FormWhole   Form = "whole"   // whole numbers from 0 that count or number something
)

// The kinds of the built-in groups.
var (
	// KindTurn is an angle of rotation in the plane, or about the one axis that a group has, counter-clockwise.
	KindTurn = &Kind{Name: "turn", Form: FormAngle, Many: "rotations", Ways: [2]string{"turn left", "turn right"}}
	// KindRotate is the coordinate of the generator of rotations among others that commute with it.
	KindRotate = &Kind{Name: "rotate", Form: FormAngle, Many: "rotations", Ways: [2]string{"turn left", "turn right"}}
	// KindArc is the coordinate of a rotation that happens together with motions that do not commute with it.
	KindArc = &Kind{Name: "arc", Form: FormAngle}
	// KindVector is one of the three components of a rotation vector of space. They stand side by side as x, y, z.
	KindVector = &Kind{Name: "vector", Form: FormAngle, Many: "rotations"}
	// KindPhase is an angle that turns no direction of space.
	KindPhase = &Kind{Name: "phase", Form: FormAngle}
	// KindMirror exchanges left and right.
	KindMirror = &Kind{
		Name: "mirror", Form: FormSwitch, Many: "mirrors",
		Ways: [2]string{"mirror left and right"}, Signs: [2]string{"mirror ↔"},
	}
	// KindInversion sends every point p of space to -p.
	KindInversion = &Kind{
		Name: "inversion", Form: FormSwitch, Many: "inversions",
		Ways: [2]string{"invert through the origin"}, Signs: [2]string{"invert"},
	}
	// KindReversal puts samples of a signal in the opposite order, about the moment that its shift says.
	KindReversal = &Kind{
		Name: "reversal", Form: FormSwitch, Many: "reversals",
		Ways: [2]string{"reverse time"}, Signs: [2]string{"reverse"},
	}
	// KindTimeReversal puts frames in the opposite order and gives velocities the opposite sign.
	KindTimeReversal = &Kind{
		Name: "time reversal", Form: FormSwitch, Many: "time reversal",
		Ways: [2]string{"reverse time"}, Signs: [2]string{"time"},
	}
	// KindRight is a shift of a picture to the right.
	KindRight = &Kind{
		Name: "right", Form: FormPixels, Many: "shifts",
		Ways: [2]string{"shift right", "shift left"}, Signs: [2]string{"→", "←"},
	}
	// KindDown is a shift of a picture downward.
	KindDown = &Kind{
		Name: "down", Form: FormPixels, Many: "shifts",
		Ways: [2]string{"shift down", "shift up"}, Signs: [2]string{"↓", "↑"},
	}
	// KindDriftRight is the coordinate of the generator of shifts to the right, among others that act at the same time:
	// not the shift of the result.
	KindDriftRight = &Kind{
		Name: "drift right", Form: FormPixels, Many: "shifts",
		Ways: [2]string{"shift right", "shift left"}, Signs: [2]string{"→", "←"},
	}
	// KindDriftDown is that of shifts downward.
	KindDriftDown = &Kind{
		Name: "drift down", Form: FormPixels, Many: "shifts",
		Ways: [2]string{"shift down", "shift up"}, Signs: [2]string{"↓", "↑"},
	}
	// KindLength is one of the three components of a shift of space. They stand side by side as x, y, z.
	KindLength = &Kind{Name: "length", Form: FormLength, Many: "shifts"}
	// KindDelay is a shift of time.
	KindDelay = &Kind{Name: "delay", Form: FormSamples, Many: "shifts"}
	// KindScale is a magnification.
	KindScale = &Kind{Name: "scale", Form: FormFactor, Many: "scalings"}
	// KindFactor is any other factor, such as that of a stretch or of contrast.
	KindFactor = &Kind{Name: "factor", Form: FormFactor}
	// KindBoost is a rapidity.
	KindBoost = &Kind{Name: "boost", Form: FormNumber}
	// KindVelocity is the motion of one frame, in the unit of its axis.
	KindVelocity = &Kind{Name: "velocity", Form: FormNumber}
	// KindNumber is a coordinate of which there is no more to say, such as a slope or a brightness.
	KindNumber = &Kind{Name: "number", Form: FormNumber}
	// KindPlace is where a row goes, counted from 0. The places of all rows stand side by side.
	KindPlace = &Kind{Name: "place", Form: FormWhole, Many: "permutations"}
	// KindChannel is where a channel of pictures goes, counted from 0. The places of all channels stand side by side.
	KindChannel = &Kind{Name: "channel", Form: FormWhole}
	// KindIndex is the number of an element in a list of them all.
	KindIndex = &Kind{Name: "index", Form: FormWhole}
)

// Kinds are those of the built-in groups.
func Kinds() []*Kind {
	return []*Kind{
		KindTurn, KindRotate, KindArc, KindVector, KindPhase, KindMirror, KindInversion, KindReversal, KindTimeReversal,
		KindRight, KindDown, KindDriftRight, KindDriftDown, KindLength, KindDelay, KindScale, KindFactor, KindBoost,
		KindVelocity, KindNumber, KindPlace, KindChannel, KindIndex,
	}
}

// Form is how the coordinate's numbers behave.
func (a Axis) Form() Form {
	if a.Kind == nil {
		return FormNumber
	}
	return a.Kind.Form
}

// Switch reports whether the coordinate is 0 or 1.
func (a Axis) Switch() bool { return a.Form() == FormSwitch }

// Circle reports whether the coordinate is an angle that goes all the way round.
func (a Axis) Circle() bool { return a.Form() == FormAngle && a.Periodic }

// Rest is where nothing moves: 1 for a factor, else 0. It is the identity's coordinate except among places.
func (a Axis) Rest() float64 {
	if a.Form() == FormFactor {
		return 1
	}
	return 0
}

// First is the first axis of a kind in a chart, -1 if there is none. Later ones, as in products of a group with itself,
// have no name that needs no number.
func First(chart []Axis, k *Kind) int {
	return slices.IndexFunc(chart, func(a Axis) bool { return a.Kind == k })
}

// Places is where the axes of a permutation of rows stand in a chart, side by side; n is 0 if there are none. Of
// several permutations it is the first.
func Places(chart []Axis) (from, n int) {
	if from = First(chart, KindPlace); from < 0 {
		return 0, 0
	}
	rows := int(chart[from].Max) + 1 // a row goes to a place from 0 to Max; of one row, Max is 0.5
	for n < rows && from+n < len(chart) && chart[from+n].Kind == KindPlace {
		n++
	}
	return from, n
}

// Suffix is the unit that stands behind a number of the axis: none behind one that has no unit, and none behind a
// factor.
func (a Axis) Suffix() string {
	if a.Form() == FormFactor {
		return ""
	}
	return a.Unit
}
