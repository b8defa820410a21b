package action

import (
	"errors"
	"fmt"

	"nero/data/space"
	"nero/symmetry/group"
)

// stillError is why groups that reverse time do not act on what has no time.
type stillError struct{ group, what string }

func (e stillError) Error() string {
	return fmt.Sprintf("%s reverses time, and %s has none: say frames for pictures in the order of time, or choose a "+
		"group without Time", e.group, e.what)
}

// Unwrap makes errors.Is find errors.ErrUnsupported, which the text need not repeat.
func (stillError) Unwrap() error { return errors.ErrUnsupported }

// still refuses groups that reverse time.
func still(g group.Group, what string) error {
	if _, ok := g.(group.Temporal); ok {
		return stillError{g.Name(), what}
	}
	return nil
}

// Frames is the action of a planar group, with time reversal or without, on pictures in the order of time; see
// [NewFrames].
type Frames struct {
	*planar
	// -1 if any
	count, channels int
}

// NewFrames is the action on sequences of pictures: every frame moves as [NewImage] moves a picture, with the same
// kernel, border and window, and an element that reverses time, see [group.Temporal], also reverses the order of the
// frames. One plan of where to read serves all frames.
//
// s.Shape is (T, C, H, W), -1 or an empty shape admitting any length.
func NewFrames(g group.Group, s space.Spec, o Options) (*Frames, error) {
	d, err := dims(s, 4)
	if err != nil {
		return nil, err
	}
	p, err := newPlanar(g, o, d[2], d[3])
	if err != nil {
		return nil, err
	}
	return &Frames{planar: p, count: d[0], channels: d[1]}, nil
}

// Group is the group that acts.
func (a *Frames) Group() group.Group { return a.group }

// Exact tells the elements that act by index, as of pictures. The order of frames is always exact.
func (a *Frames) Exact(g group.Element) bool { return a.exact(g) }

// Apply returns the moved frames, each of the frames' or the window's size.
func (a *Frames) Apply(g group.Element, v space.Value) (space.Value, error) {
	m, err := a.mover(g, v)
	if err != nil {
		return nil, err
	}
	to := &space.Frames{Images: make([]*space.Image, m.count)}
	for i := range to.Images {
		to.Images[i] = space.NewImage(m.c, m.warp.h, m.warp.w)
	}
	if err := m.Move(to, v); err != nil {
		return nil, err
	}
	return to, nil
}

// Prepare computes what depends on the element and the size of v alone: as much memory as for one picture.
func (a *Frames) Prepare(g group.Element, v space.Value) (Mover, error) {
	m, err := a.mover(g, v)
	if err != nil {
		return nil, err
	}
	return m, nil
}

func (a *Frames) mover(g group.Element, v space.Value) (*framesMover, error) {
	x, err := asFrames(v)
	if err != nil {
		return nil, err
	}
	if a.count >= 0 && len(x.Images) != a.count {
		return nil, fmt.Errorf("there are %d frames, the action was made for %d", len(x.Images), a.count)
	}
	m := x.Images[0]
	if a.channels >= 0 && m.C != a.channels {
		return nil, fmt.Errorf("the frames have %d channels, the action was made for %d", m.C, a.channels)
	}
	w, err := a.prepare(g, m.H, m.W)
	if err != nil {
		return nil, err
	}
	return &framesMover{warp: w, count: len(x.Images), c: m.C, backwards: group.Reverses(a.group, g)}, nil
}

func asFrames(v space.Value) (*space.Frames, error) {
	x, ok := v.(*space.Frames)
	if !ok || x == nil {
		return nil, fmt.Errorf("want frames, got %s", describe(v))
	}
	if len(x.Images) == 0 {
		return nil, errors.New("there are no frames: at least one is needed")
	}
	for i, m := range x.Images {
		if _, err := asImage(m); err != nil {
			return nil, fmt.Errorf("frame %d of %d: %w", i+1, len(x.Images), err)
		}
		if f := x.Images[0]; m.C != f.C || m.H != f.H || m.W != f.W {
			return nil, fmt.Errorf(
				"frame %d has %d×%d×%d numbers (channels×height×width), frame 1 has %d×%d×%d: all frames need one size",
				i+1, m.C, m.H, m.W, f.C, f.H, f.W)
		}
	}
	return x, nil
}

type framesMover struct {
	warp      *warp
	count, c  int
	backwards bool
}

// Move writes the moved frames.
func (m *framesMover) Move(to, from space.Value) error {
	d, err := asFrames(to)
	if err != nil {
		return fmt.Errorf("the result: %w", err)
	}
	s, err := asFrames(from)
	if err != nil {
		return err
	}
	w := m.warp
	if x := s.Images[0]; len(s.Images) != m.count || x.C != m.c || x.H != w.hs || x.W != w.ws {
		return fmt.Errorf("prepared for %d frames of %d×%d×%d numbers, the argument has %d of %d×%d×%d", m.count, m.c,
			w.hs, w.ws, len(s.Images), x.C, x.H, x.W)
	}
	if x := d.Images[0]; len(d.Images) != m.count || x.C != m.c || x.H != w.h || x.W != w.w {
		return fmt.Errorf("the result has %d frames of %d×%d×%d numbers, it needs %d of %d×%d×%d", len(d.Images), x.C,
			x.H, x.W, m.count, m.c, w.h, w.w)
	}
	for _, x := range d.Images {
		for _, y := range s.Images {
			if shared(x.Pix, y.Pix) {
				return errAlias
			}
		}
	}
	for i, x := range d.Images {
		k := i
		if m.backwards {
			k = m.count - 1 - i
		}
		w.planes(x.Pix, s.Images[k].Pix, m.c, nil)
	}
	return nil
}
