// Package action says how the elements of a group move the values of a space. Actions are chosen by (group, space) from
// a [Table]; a pair that no rule covers is refused before anything runs.
package action

import (
	"errors"
	"fmt"
	"slices"

	"nero/data/space"
	"nero/symmetry/group"
)

// Action moves values of one space. Implementations compute in float64, never change their argument, and are safe for
// concurrent use.
type Action interface {
	Group() group.Group
	Apply(g group.Element, v space.Value) (space.Value, error)
}

// Exacter tells elements that act without resampling: index permutations, which are exact bit for bit.
type Exacter interface {
	Exact(g group.Element) bool
}

// Preparer is an action that can do the work that depends on the element alone once for many values.
type Preparer interface {
	Prepare(g group.Element, v space.Value) (Mover, error) // v gives the shape; its numbers are not read
}

// Mover is one element of a prepared action. It is safe for concurrent use.
type Mover interface {
	// Move writes g·from into to, which has the shape that Apply would return, and overwrites every number of it.
	Move(to, from space.Value) error
}

// Ragged reports whether a mover takes values of other sizes than that which it was prepared for: other numbers of
// rows, edges or nodes. Sets and graphs differ in them from one sample to the next.
func Ragged(m Mover) bool {
	r, ok := m.(interface{ ragged() bool })
	return ok && r.ragged()
}

// Sized reports whether a mover may be kept for other values of the size that it was prepared for: it moves whatever a
// value of its kind says, and refuses those of another size.
func Sized(m Mover) bool {
	s, ok := m.(interface{ sized() bool })
	return ok && s.sized()
}

// Exact reports whether g acts through a without resampling. An action that does not say resamples.
func Exact(a Action, g group.Element) bool {
	e, ok := a.(Exacter)
	return ok && e.Exact(g)
}

// Kernel names an interpolation rule.
type Kernel string

// The kernels. All but Nearest and Spline are convolutions of the samples; Spline prefilters first.
const (
	Nearest  Kernel = "nearest"
	Bilinear Kernel = "bilinear"
	Bicubic  Kernel = "bicubic" // Keys 1981, a = -1/2
	Lanczos  Kernel = "lanczos" // Lanczos-3, weights normalised to sum 1
	// Spline is the cubic B-spline with recursive prefilter (Unser 1999) of the picture that the border extends.
	Spline Kernel = "spline"
	// Quintic is the interpolating piecewise quintic of six samples: Meijering, Zuiderveld and Viergever 1999.
	Quintic Kernel = "quintic"
	Fourier Kernel = "fourier"      // the trigonometric polynomial through all pixels, of pictures alone
	Area    Kernel = "area"         // the mean over the place of a pixel, of pictures alone
	Up3     Kernel = "up3-bilinear" // enlarged three times, bilinear, shrunk back: blurs, so nothing is exact
)

// Kernels are all kernels, in the order of their cost.
func Kernels() []Kernel {
	var all []Kernel
	for _, k := range interpolations {
		all = append(all, k.name)
	}
	return all
}

// Border names what lies outside the picture.
type Border string

// The border rules.
const (
	Zero     Border = "zero"     // 0 everywhere outside
	Edge     Border = "edge"     // the nearest border pixel
	Reflect  Border = "reflect"  // mirrored about the border pixel's centre: c b | a b c | b a
	Circular Border = "circular" // periodic
)

// Borders are all border rules.
func Borders() []Border { return []Border{Zero, Edge, Reflect, Circular} }

// Options are the choices that an action leaves to the user.
type Options struct {
	// default Bilinear
	Kernel Kernel
	// default Zero, for groups that roll pictures around Circular
	Border Border
	// Window, if not empty, is the size (height, width) of a crop window that moves over a larger picture instead of
	// the picture moving under a border rule: shifts then show real content and every whole step is exact. For signals
	// it is one number, the length.
	Window []int
	// Oriented lets boxes turn: [NewBoxes]. Without it a box that turns becomes its envelope along the axes.
	Oriented bool
	// AtFirst says that the vectors of a field belong to places in the first frame, so that reversing time negates them
	// to first order only: [NewField]. The default is the middle of the time between the frames.
	AtFirst bool
	// Invariant is the user's claim that an output without positions, such as class scores, stays as it is. Without it
	// the rule "invariant" covers nothing.
	Invariant bool
	// Stride is how many samples of a shift of time one number of a signal stands for: [NewSignal]. The default is 1.
	Stride float64
	// Range is the lowest and the highest intensity of pictures, between which colors are changed: [NewColor]. The
	// default is 0 and 255.
	Range []float64
	// Region is the part of a picture that counts. The default is all of it.
	Region Region
}

// check returns the options with defaults filled in.
func (o Options) check() (Options, error) {
	if o.Kernel == "" {
		o.Kernel = Bilinear
	}
	if o.Border == "" {
		o.Border = Zero
	}
	if !slices.Contains(Kernels(), o.Kernel) {
		return o, fmt.Errorf("kernel %q is not known: use one of %v", o.Kernel, Kernels())
	}
	if o.Region != Whole {
		return o, fmt.Errorf("mask %q: actions that are made one by one know whole pictures; take them from a table "+
			"of rules", o.Region)
	}
	if !slices.Contains(Borders(), o.Border) {
		return o, fmt.Errorf("border %q is not known: use one of %v", o.Border, Borders())
	}
	if len(o.Window) == 0 {
		o.Window = nil
		return o, nil
	}
	if len(o.Window) != 2 || o.Window[0] < 1 || o.Window[1] < 1 {
		return o, fmt.Errorf("window %v: give two positive numbers, height and width in pixels", o.Window)
	}
	return o, nil
}

// Rule makes the action of a group on a space.
type Rule struct {
	Name, Doc string
	Space     space.Kind
	// Commutes says that what the rule does commutes with all that other rules do to values of the space, as a change
	// of every color by itself does with motions of the plane. Its groups may then stand in any product.
	Commutes bool
	// New returns errors.ErrUnsupported, wrapped with the reason, when the rule does not cover the group.
	New func(g group.Group, s space.Spec, o Options) (Action, error)
}

// Table is the list of rules that a program is built with.
type Table []Rule

// Doc says in words how values of a kind are moved, by the first rule for them; "" if there is none.
func (t Table) Doc(k space.Kind) string {
	for _, r := range t {
		if r.Space == k {
			return r.Doc
		}
	}
	return ""
}

// For returns the action of g on values of s: that of the first rule that covers the pair, or of several where g is a
// product and the rules commute.
// The error wraps errors.ErrUnsupported when none does.
func (t Table) For(g group.Group, s space.Spec, o Options) (Action, error) {
	if o.Region == Disc {
		return t.inDisc(g, s, o)
	}
	var why []error
	for _, r := range t {
		if r.Space != s.Kind {
			continue
		}
		a, err := r.New(g, s, o)
		if err == nil {
			return a, nil
		}
		if !errors.Is(err, errors.ErrUnsupported) {
			return nil, err
		}
		why = append(why, fmt.Errorf("rule %s: %w", r.Name, err))
	}
	if a, err := t.factored(g, s, o); a != nil || err != nil {
		return a, err
	}
	// Every reason wraps errors.ErrUnsupported; where there is one, its words need no other.
	switch len(why) {
	case 0:
		return nil, fmt.Errorf("no action of %s on %s: %w", g.Name(), s.Kind, errors.ErrUnsupported)
	case 1:
		return nil, fmt.Errorf("no action of %s on %s: %w", g.Name(), s.Kind, why[0])
	}
	return nil, fmt.Errorf("no action of %s on %s:\n%w", g.Name(), s.Kind, errors.Join(why...))
}

// Trivial leaves every value as it is. An output with this action is claimed to be invariant: a claim that the user
// makes by name, never a fallback.
type Trivial struct{ G group.Group }

// Group is the group that acts trivially.
func (t Trivial) Group() group.Group { return t.G }

// Apply returns v itself.
func (t Trivial) Apply(_ group.Element, v space.Value) (space.Value, error) { return v, nil }

// Exact is always true.
func (t Trivial) Exact(group.Element) bool { return true }
