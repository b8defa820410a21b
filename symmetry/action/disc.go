package action

import (
	"errors"
	"fmt"
	"math"

	"nero/data/space"
	"nero/internal/elementary"
	"nero/symmetry/group"
)

// Region names the part of a picture that counts.
type Region string

// The regions.
const (
	// Whole pictures count, up to their corners.
	Whole Region = ""
	// Disc is the disc inscribed in the picture: pixels whose centres lie at most half its shorter side from its
	// centre. What turns about the centre stays inside, so no border rule has a part in it.
	Disc Region = "disc"
)

// Within is v with zeros outside the region, for values on the pixels of a plane; others, such as scores and boxes, are
// returned as they are.
func (r Region) Within(v space.Value) space.Value {
	if h, w, ok := space.Plane(v); ok && r == Disc {
		if o, ok := space.Reread(v, inscribed(h, w)); ok {
			return o
		}
	}
	return v
}

// inDisc reports whether the pixel at row r and column c lies in the disc inscribed in h×w pixels; in whole numbers, so
// that quarter turns and mirrors take the disc to itself pixel by pixel.
func inDisc(r, c, h, w int) bool {
	y, x, d := 2*r-h+1, 2*c-w+1, min(h, w)
	return y*y+x*x <= d*d
}

// inscribed are the places of h×w pixels that lie in the disc, -1 for the others.
func inscribed(h, w int) []int {
	from := make([]int, h*w)
	for i := range from {
		if from[i] = i; !inDisc(i/w, i%w, h, w) {
			from[i] = -1
		}
	}
	return from
}

// edge is how a disc goes on beyond its edge, for kernels that reach across it: every place outside shows what lies
// nearest on the way to the centre, and of values that are numbers twice that less what lies as far behind, as a
// straight line goes on.
type edge struct {
	// of every place, itself inside the disc
	nearest, behind []int
}

func edgeOf(h, w int) *edge {
	e := &edge{nearest: make([]int, h*w), behind: make([]int, h*w)}
	cy, cx, radius := float64(h-1)/2, float64(w-1)/2, float64(min(h, w))/2
	for i := range e.nearest {
		r, c := i/w, i%w
		y, x := float64(r)-cy, float64(c)-cx
		for s := radius / elementary.Hypot(y, x); !inDisc(r, c, h, w); s -= 0.25 / radius {
			r, c = int(math.Round(cy+float64(s*y))), int(math.Round(cx+float64(s*x)))
		}
		e.nearest[i] = r*w + c
		e.behind[i] = r*w + c // of a disc that has nothing there
		if br, bc := 2*r-i/w, 2*c-i%w; br >= 0 && bc >= 0 && br < h && bc < w && inDisc(br, bc, h, w) {
			e.behind[i] = br*w + bc
		}
	}
	return e
}

func (e *edge) bytes() int {
	if e == nil {
		return 0
	}
	return 8 * (len(e.nearest) + len(e.behind))
}

// on is v with its disc continued beyond its edge.
func (e *edge) on(v space.Value) space.Value {
	near, ok := space.Reread(v, e.nearest)
	if !ok {
		return v
	}
	if _, linear := v.(space.Linear); !linear {
		return near
	}
	behind, _ := space.Reread(v, e.behind)
	x, y := near.Numbers(), behind.Numbers()
	for i := range x {
		x[i] += x[i] - y[i]
	}
	o, err := v.With(x)
	if err != nil {
		return near
	}
	return o
}

// disc is an action of which only what lies in the disc counts: g·v reads nothing of v outside it and is zero outside
// it. The identity blanks the corners, and on values that are zero there this is an action like any other.
type disc struct {
	inner Action
	// a crop window is cut out of a larger picture, and what lies around it is real
	window bool
}

// inDisc makes the action of which only the disc counts, by the rules of t.
func (t Table) inDisc(g group.Group, s space.Spec, o Options) (Action, error) {
	if k := s.Kind.Info(); k == nil || !k.Planar {
		o.Region = Whole
		return t.For(g, s, o)
	}
	return within(g, o, func(o Options) (Action, error) { return t.For(g, s, o) })
}

// within wraps what is made for values on a plane; g has to keep the disc.
func within(g group.Group, o Options, of func(o Options) (Action, error)) (Action, error) {
	if o.Region != Disc {
		return of(o)
	}
	if err := keepsDisc(g); err != nil {
		return nil, err
	}
	window := len(o.Window) > 0
	o.Region = Whole
	if !window && o.Kernel.rule().whole == nil {
		o.Border = Edge // read where disc and border meet alone, by kernels that reach beyond both
	}
	a, err := of(o)
	if err != nil {
		return nil, err
	}
	switch a.(type) {
	case *Chain, *Flow, *FrameShift:
		return nil, fmt.Errorf("the mask disc is for groups of the plane, and %s changes times or colors as well; "+
			"leave group.mask out", g.Name())
	}
	if _, grid := OptionsOf(a); !grid {
		return a, nil // boxes, and what stays as it is
	}
	return &disc{inner: a, window: window}, nil
}

// keepsDisc refuses groups that move points of the disc out of it.
func keepsDisc(g group.Group) error {
	no := func() error {
		return fmt.Errorf("the mask disc is for turns and mirrors about the centre, and %s moves what lies in the "+
			"disc out of it; leave group.mask out", g.Name())
	}
	p, ok := g.(group.Planar)
	if _, torus := g.(group.Torus); torus {
		return no()
	}
	if !ok {
		return nil // what does not move places keeps the disc; the rules refuse the rest
	}
	elements, _, err := group.Preset(g, nil)
	if err != nil {
		return no() // no bounds, so it moves points as far as anyone likes
	}
	for _, e := range elements {
		a, t := p.Affine(e)
		const rounding = 1e-9
		for i := range 2 {
			if !(math.Abs(elementary.Hypot(a[0][i], a[1][i])-1) <= rounding) || !(math.Abs(t[i]) <= rounding) {
				return no()
			}
		}
	}
	return nil
}

// Group is the group that acts.
func (a *disc) Group() group.Group { return a.inner.Group() }

// Exact tells the elements that act by index: the disc goes to itself pixel by pixel.
func (a *disc) Exact(g group.Element) bool { return Exact(a.inner, g) }

// Padded is 0: nothing in the disc comes from outside it.
func (a *disc) Padded(group.Element, space.Value) (int, error) { return 0, nil }

// formula reports whether a picture is drawn where it is moved, and never read between its pixels.
func formula(v space.Value) bool {
	m := space.Picture(v)
	return m != nil && m.Formula != nil
}

// Apply returns the moved value, zero outside the disc.
func (a *disc) Apply(g group.Element, v space.Value) (space.Value, error) {
	x := v
	if h, w, ok := space.Plane(v); ok && !a.window && !formula(v) {
		x = edgeOf(h, w).on(v)
	}
	y, err := a.inner.Apply(g, x)
	if err != nil {
		return nil, err
	}
	return Disc.Within(y), nil
}

// Prepare does what depends on the element and the size of v alone.
func (a *disc) Prepare(g group.Element, v space.Value) (Mover, error) {
	h, w, ok := space.Plane(v)
	p, prepares := a.inner.(Preparer)
	if !prepares {
		return nil, fmt.Errorf("the action of %s cannot be prepared: %w", a.Group().Name(), errors.ErrUnsupported)
	}
	m, err := p.Prepare(g, v)
	if err != nil || !ok {
		return m, err
	}
	d := &discMover{inner: m}
	if !a.window {
		d.edge = edgeOf(h, w)
	}
	return d, nil
}

// discMover moves values of one size.
type discMover struct {
	inner Mover
	// nil for a window, around which there is more of the picture
	edge *edge
}

// Move writes the moved value.
func (m *discMover) Move(to, from space.Value) error {
	x := from
	if m.edge != nil && !formula(from) {
		x = m.edge.on(from)
	}
	if err := m.inner.Move(to, x); err != nil {
		return err
	}
	if h, w, ok := space.Plane(to); ok {
		space.Blank(to, inscribed(h, w))
	}
	return nil
}
