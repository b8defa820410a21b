package action

import (
	"fmt"

	"nero/data/space"
	"nero/symmetry/group"
)

// Mask is the action of a planar group on label masks; see [NewMask].
type Mask struct {
	*planar
	outside int32
}

// NewMask is the action of [NewImage] on masks. Labels are never averaged, so the kernel is [Nearest] whatever o says;
// under the border rule [Zero] the label outside the picture is outside. s.Shape is (H, W).
func NewMask(g group.Group, s space.Spec, o Options, outside int32) (*Mask, error) {
	if err := still(g, "a single mask"); err != nil {
		return nil, err
	}
	d, err := dims(s, 2)
	if err != nil {
		return nil, err
	}
	o.Kernel = Nearest
	p, err := newPlanar(g, o, d[0], d[1])
	if err != nil {
		return nil, err
	}
	return &Mask{planar: p, outside: outside}, nil
}

// Group is the group that acts.
func (a *Mask) Group() group.Group { return a.group }

// Exact tells the elements that act by index.
func (a *Mask) Exact(g group.Element) bool { return a.exact(g) }

// Apply returns the moved mask, of the mask's or the window's size.
func (a *Mask) Apply(g group.Element, v space.Value) (space.Value, error) {
	m, err := a.mover(g, v)
	if err != nil {
		return nil, err
	}
	to := &space.Mask{H: m.warp.h, W: m.warp.w, Label: make([]int32, m.warp.h*m.warp.w)}
	if err := m.Move(to, v); err != nil {
		return nil, err
	}
	return to, nil
}

// Prepare computes what depends on the element and the size of v alone.
func (a *Mask) Prepare(g group.Element, v space.Value) (Mover, error) {
	m, err := a.mover(g, v)
	if err != nil {
		return nil, err
	}
	return m, nil
}

func (a *Mask) mover(g group.Element, v space.Value) (*maskMover, error) {
	x, err := asMask(v)
	if err != nil {
		return nil, err
	}
	w, err := a.prepare(g, x.H, x.W)
	if err != nil {
		return nil, err
	}
	return &maskMover{warp: w, outside: a.outside}, nil
}

func asMask(v space.Value) (*space.Mask, error) {
	x, ok := v.(*space.Mask)
	if !ok || x == nil {
		return nil, fmt.Errorf("want a mask, got %s", describe(v))
	}
	if x.H < 0 || x.W < 0 || len(x.Label) != x.H*x.W {
		return nil, fmt.Errorf("the mask has %d labels, not %d×%d", len(x.Label), x.H, x.W)
	}
	return x, nil
}

type maskMover struct {
	warp    *warp
	outside int32
}

// Move writes the moved mask.
func (m *maskMover) Move(to, from space.Value) error {
	d, err := asMask(to)
	if err != nil {
		return err
	}
	s, err := asMask(from)
	if err != nil {
		return err
	}
	w := m.warp
	if s.H != w.hs || s.W != w.ws {
		return fmt.Errorf("prepared for %d×%d labels, the argument has %d×%d", w.hs, w.ws, s.H, s.W)
	}
	if d.H != w.h || d.W != w.w {
		return fmt.Errorf("the result has %d×%d labels, it needs %d×%d", d.H, d.W, w.h, w.w)
	}
	if shared(d.Label, s.Label) {
		return errAlias
	}
	gather(w, d.Label, s.Label, 1, nil, m.outside)
	return nil
}
