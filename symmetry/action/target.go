package action

import (
	"errors"
	"fmt"

	"nero/data/space"
	"nero/symmetry/group"
)

// NewTarget is the rule for targets: it moves what is known about a sample, in the frame of the sample's value, to the
// frame of the value that the action of [NewImage] or [NewFrames] with the same group and options makes of it. Its
// results are compared with what a model says of the moved value. s is of the target.
//
// Without a window the target moves as a prediction does, by [NewBoxes], [NewField], [NewMask] or [NewImage], and boxes
// are cut to the picture, out of which they may have moved, in the way that a window cuts them. With o.Window the value
// is larger than what the model sees, and the target is cut with it: fields, masks and pictures by index; boxes become
//
//	window coordinates: the box less the window's corner, where NewImage puts it under the identity, then moved about the window's centre,
//	clipped to [0, W] and [0, H], and marked Cut if they touched or crossed the edge before;
//	left out if nothing of them is inside, but for the first, the key object, which stays with an area of zero at the edge.
//
// Of masks nobody knows what enters from outside the picture, whatever the border rule shows the model there: those
// pixels become [space.Void], but where pictures go around. With o.Region the pixels outside the region do.
//
// Turned boxes (Angle not 0) are not clipped, only marked. A target that was moved by g comes back to the window
// coordinates of the identity by the inverse of g under [NewBoxes] with the same window, up to what was clipped.
//
// Rows, edges, pairs and records of them move as declared outputs do: forces turn, energies that are unchanged stay.
//
// The error wraps errors.ErrUnsupported for kinds that are no targets with places: labels stay as they are.
func NewTarget(g group.Group, s space.Spec, o Options) (Action, error) {
	if k := s.Kind.Info(); k != nil && k.Planar {
		a, err := within(g, o, func(o Options) (Action, error) { return newTarget(g, s, o) })
		if err == nil && s.Kind == space.KindMask && o.Region != Whole {
			return &regional{Action: a, region: o.Region}, nil
		}
		return a, err
	}
	o.Region = Whole
	return newTarget(g, s, o)
}

func newTarget(g group.Group, s space.Spec, o Options) (Action, error) {
	switch s.Kind {
	case space.KindBoxes:
		return inPlace(g, func(g group.Group) (Action, error) {
			b, err := NewBoxes(g, s, o)
			if err != nil {
				return nil, err
			}
			if _, ok := b.group.(group.Torus); ok && b.opt.Window == nil {
				return b, nil // nothing leaves it
			}
			return &boxTarget{b}, nil
		})
	case space.KindField:
		return inPlace(g, func(g group.Group) (Action, error) { return some(newField(g, s, o)) })
	case space.KindMask:
		return inPlace(g, func(g group.Group) (Action, error) { return newTruth(g, s, o) })
	case space.KindImage:
		return pictures(g, s, o)
	case space.KindVolume:
		return some(NewVolume(g, s, o))
	case space.KindSignal:
		return some(NewSignal(g, s, o))
	case space.KindRows:
		return some(NewRows(g, s, o))
	case space.KindLinks:
		return some(NewLinks(g, s))
	case space.KindPairs:
		return some(NewPairs(g, s, o))
	case space.KindRecord:
		return some(newRecord(g, s, o, true))
	case space.KindFrames, space.KindScores, space.KindText, space.KindTensor:
	}
	return nil, noTargetError{s.Kind}
}

type noTargetError struct{ kind space.Kind }

func (e noTargetError) Error() string {
	return fmt.Sprintf("%s are no target that moves with its picture: use boxes, a field, a mask, an image, rows, a "+
		"signal or a record", e.kind)
}

// Unwrap makes errors.Is find errors.ErrUnsupported, which the text need not repeat.
func (noTargetError) Unwrap() error { return errors.ErrUnsupported }

// boxTarget cuts boxes with a window, or with the picture that they have moved in.
type boxTarget struct{ *Boxes }

// Apply returns the boxes that the window, or the picture, shows at g, in its coordinates.
func (a *boxTarget) Apply(g group.Element, v space.Value) (space.Value, error) {
	x, err := asBoxes(v)
	if err != nil {
		return nil, err
	}
	h, w := x.H, x.W
	oy, ox := 0, 0
	if a.opt.Window != nil {
		wh, ww := a.opt.Window[0], a.opt.Window[1]
		h, w = float64(wh), float64(ww)
		if h > x.H || w > x.W {
			return nil, fmt.Errorf(
				"the window of %d×%d pixels (height×width) does not fit into the frame of the boxes, %g×%g", wh, ww,
				x.H, x.W)
		}
		if x.H != float64(int(x.H)) || x.W != float64(int(x.W)) {
			return nil, fmt.Errorf(
				"the boxes lie in a frame of %g×%g pixels (height×width): a window needs the whole numbers of the "+
					"picture", x.H, x.W)
		}
		oy, ox = corner(int(x.H), wh), corner(int(x.W), ww)
	}
	m, err := a.boxMap(g, h, w)
	if err != nil {
		return nil, err
	}
	out := &space.Boxes{H: h, W: w, Items: make([]space.Box, 0, len(x.Items))}
	for i, b := range x.Items {
		b.X1, b.X2 = b.X1-float64(ox), b.X2-float64(ox)
		b.Y1, b.Y2 = b.Y1-float64(oy), b.Y2-float64(oy)
		b = m.move(b)
		e := envelope(b)
		if i > 0 && (e.X2 <= 0 || e.Y2 <= 0 || e.X1 >= w || e.Y1 >= h) {
			continue
		}
		b.Cut = b.Cut || touches(b, h, w)
		if b.Angle == 0 {
			b.X1, b.X2 = min(max(b.X1, 0), w), min(max(b.X2, 0), w)
			b.Y1, b.Y2 = min(max(b.Y1, 0), h), min(max(b.Y2, 0), h)
		}
		out.Items = append(out.Items, b)
	}
	return out, nil
}
