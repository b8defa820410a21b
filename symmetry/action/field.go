package action

import (
	"fmt"

	"nero/data/space"
	"nero/symmetry/group"
)

// Field is the action of a planar group, with time reversal or without, on vector fields; see [NewField].
type Field struct {
	*planar
	rep Representation
}

// NewField is the action (g·F)(p) = A F(g⁻¹p) on vector fields, p -> A·p + t being the group's map: places move as
// those of pictures, see [NewImage], and vectors by A, which also stretches them under a magnification. u is to the
// right and v down, as the axes of the map are, so a quarter turn counter-clockwise carries (u, v) to (v, -u). An
// element that reverses time, see [group.Temporal], negates all vectors.
//
// Lattice elements move by index, swap components and change signs: exact bit for bit. All others resample each
// component with the kernel of o. Negation is the whole truth about reversed time where vectors are given at the middle
// of the time between two frames. With o.AtFirst they are given at places in the first frame; reversed time then has
// its first frame where vectors end, so that negation is right to first order only (an error of about displacement
// times gradient), and elements that reverse time do not count as exact.
//
// A crop window is refused: it says how pictures are cut before a model sees them, and what the model returns moves
// within its own frame; leave it out of the options of an output. For fields in the frame of the uncut pictures see
// [NewTarget].
//
// s.Shape is (2, H, W), -1 or an empty shape admitting any size.
func NewField(g group.Group, s space.Spec, o Options) (*Field, error) {
	if len(o.Window) != 0 {
		return nil, fmt.Errorf(
			"port %q: a field that a model returns moves in its own frame and has no crop window %v: leave the "+
				"window out", s.Name, o.Window)
	}
	return newField(g, s, o)
}

func newField(g group.Group, s space.Spec, o Options) (*Field, error) {
	d, err := dims(s, 3)
	if err != nil {
		return nil, err
	}
	if d[0] >= 0 && d[0] != 2 {
		return nil, fmt.Errorf("port %q: the shape %v has %d components: a field of the plane has 2, u and v", s.Name,
			s.Shape, d[0])
	}
	p, err := newPlanar(g, o, d[1], d[2])
	if err != nil {
		return nil, err
	}
	return &Field{planar: p, rep: vectors(p.group)}, nil
}

// vectors is the representation of a planar group on vectors, odd under time reversal.
func vectors(g group.Planar) Representation {
	return Representation{name: "vector", dim: 2, matrix: func(e group.Element) ([]float64, error) {
		m, err := affineOf(g, e)
		if err != nil {
			return nil, err
		}
		r := []float64{m.a[0][0], m.a[0][1], m.a[1][0], m.a[1][1]}
		if group.Reverses(g, e) {
			for i := range r {
				r[i] = 0 - r[i] // no negative zeros
			}
		}
		return r, nil
	}}
}

// Group is the group that acts.
func (a *Field) Group() group.Group { return a.group }

// Exact tells the elements that act by index and sign.
func (a *Field) Exact(g group.Element) bool {
	return a.exact(g) && (!a.opt.AtFirst || !group.Reverses(a.group, g))
}

// Apply returns the moved field.
func (a *Field) Apply(g group.Element, v space.Value) (space.Value, error) {
	m, err := a.mover(g, v)
	if err != nil {
		return nil, err
	}
	to := space.NewField(m.warp.h, m.warp.w)
	if err := m.Move(to, v); err != nil {
		return nil, err
	}
	return to, nil
}

// Prepare computes what depends on the element and the size of v alone.
func (a *Field) Prepare(g group.Element, v space.Value) (Mover, error) {
	m, err := a.mover(g, v)
	if err != nil {
		return nil, err
	}
	return m, nil
}

func (a *Field) mover(g group.Element, v space.Value) (*fieldMover, error) {
	x, err := asField(v)
	if err != nil {
		return nil, err
	}
	w, err := a.prepare(g, x.H, x.W)
	if err != nil {
		return nil, err
	}
	rho, err := a.rep.on(g, 2)
	if err != nil {
		return nil, err
	}
	return &fieldMover{warp: w, rho: rho}, nil
}

func asField(v space.Value) (*space.Field, error) {
	x, ok := v.(*space.Field)
	if !ok || x == nil {
		return nil, fmt.Errorf("want a field, got %s", describe(v))
	}
	if x.H < 0 || x.W < 0 || len(x.Val) != 2*x.H*x.W {
		return nil, fmt.Errorf("the field has %d numbers, not 2×%d×%d", len(x.Val), x.H, x.W)
	}
	return x, nil
}

type fieldMover struct {
	warp *warp
	rho  channels
}

// sized is true: a field is its numbers.
func (*fieldMover) sized() bool { return true }

// Move writes the moved field. Unless the element only permutes components it borrows memory for one more copy of the
// result.
func (m *fieldMover) Move(to, from space.Value) error {
	d, err := asField(to)
	if err != nil {
		return fmt.Errorf("the result: %w", err)
	}
	s, err := asField(from)
	if err != nil {
		return err
	}
	w := m.warp
	if s.H != w.hs || s.W != w.ws {
		return fmt.Errorf("prepared for 2×%d×%d numbers, the argument has 2×%d×%d", w.hs, w.ws, s.H, s.W)
	}
	if d.H != w.h || d.W != w.w {
		return fmt.Errorf("the result has 2×%d×%d numbers, it needs 2×%d×%d", d.H, d.W, w.h, w.w)
	}
	if shared(d.Val, s.Val) {
		return errAlias
	}
	if m.rho.from != nil {
		w.planes(d.Val, s.Val, 2, m.rho.from)
		return nil
	}
	b := w.scratch.take(len(d.Val))
	defer w.scratch.put(b)
	w.planes(*b, s.Val, 2, nil)
	m.rho.mix(d.Val, *b, w.h*w.w)
	return nil
}
