package action

import (
	"fmt"
	"math"

	"nero/data/space"
	"nero/symmetry/group"
)

// Boxes is the action of a planar group on boxes; see [NewBoxes].
type Boxes struct {
	*planar
}

// NewBoxes is the action of a planar group on boxes in the frame of a picture or window of given size, about the
// frame's centre (W/2, H/2). The frame stays as it is, like that of a picture under [NewImage]: under a quarter turn of
// a rectangle boxes may come to lie outside. Boxes are neither clipped nor left out, scores and labels stay.
//
// Where the element keeps the axes (shifts, mirrors, quarter turns, magnifications, stretches along the axes) corners
// are mapped, without any loss. Under other elements, such as a turn by 30 degrees, the result depends on o.Oriented:
//
//   - with it, rotations and magnifications turn the box: its sides keep their length, or all grow by the same factor,
//     and Box.Angle, between -45 and 45 degrees, says the rest. That is without loss too.
//   - without it, and under maps that make no rectangle of a rectangle, such as shears, the result is the envelope: the
//     smallest box along the axes that holds the mapped corners. Envelopes grow with each step, so these elements do
//     not compose, and going there and back does not return to the box; [Boxes.Encloses] tells them.
//
// Inverted boxes, with a side of negative length, stay inverted where the element keeps the axes; elsewhere that side
// counts as zero.
//
// Boxes of a [group.Torus] move around the joined sides as a whole: their centres come to lie in [0, W) and [0, H).
//
// With o.Window the frame is the model's crop window, which values must fit; it moves nothing by itself, because the
// boxes that a model returns are in window coordinates whatever was cut out. Boxes that touch or cross the window's
// edge before they are moved become Cut: what is beyond the edge is not known; and the result says in Seen where the
// window was, in the frame that the boxes were moved to: turned where the element turns, even without o.Oriented. See
// [NewTarget] for boxes in the frame of the uncut picture.
//
// Without a window the same holds where the element carries the frame of the picture to another place, as shifts do:
// what has left the picture was not seen. A torus has no edge.
//
// s.Shape is (boxes), of which any number is taken. Groups that reverse time are refused.
func NewBoxes(g group.Group, s space.Spec, o Options) (*Boxes, error) {
	if err := still(g, "a set of boxes"); err != nil {
		return nil, err
	}
	if _, err := dims(s, 1); err != nil {
		return nil, err
	}
	p, err := newPlanar(g, o, -1, -1)
	if err != nil {
		return nil, err
	}
	return &Boxes{planar: p}, nil
}

// Group is the group that acts.
func (a *Boxes) Group() group.Group { return a.group }

// Exact tells the lattice elements: quarter turns, mirrors and whole shifts, under which coordinates that are whole
// numbers, or halves and so on, compose bit for bit. Other elements that are without loss round; see [Boxes.Encloses].
func (a *Boxes) Exact(g group.Element) bool {
	m, err := affineOf(a.group, g)
	return err == nil && m.lattice(1, 1)
}

// Encloses reports whether g replaces boxes along the axes by their envelopes, so that it is an approximation.
func (a *Boxes) Encloses(g group.Element) bool {
	m, err := affineOf(a.group, g)
	if err != nil || m.keepsAxes() {
		return false
	}
	_, ok := m.similar()
	return !ok || !a.opt.Oriented
}

// Apply returns the moved boxes, in the same order.
func (a *Boxes) Apply(g group.Element, v space.Value) (space.Value, error) {
	x, err := inFrame(v)
	if err != nil {
		return nil, err
	}
	if a.h >= 0 && (x.H != float64(a.h) || x.W != float64(a.w)) {
		return nil, fmt.Errorf(
			"the boxes lie in a frame of %g×%g pixels (height×width), the group %s rolls frames of %d×%d", x.H, x.W,
			a.group.Name(), a.h, a.w)
	}
	if w := a.opt.Window; w != nil && (x.H != float64(w[0]) || x.W != float64(w[1])) {
		return nil, fmt.Errorf(
			"the boxes lie in a frame of %g×%g pixels (height×width), the window has %d×%d: boxes of a model are in "+
				"window coordinates", x.H, x.W, w[0], w[1])
	}
	m, err := a.boxMap(g, x.H, x.W)
	if err != nil {
		return nil, err
	}
	out := &space.Boxes{H: x.H, W: x.W, Items: make([]space.Box, len(x.Items))}
	leaves := a.opt.Window != nil || m.leaves(x.H, x.W)
	for i, b := range x.Items {
		y := m.move(b)
		if leaves && touches(b, x.H, x.W) {
			y.Cut = true
		}
		out.Items[i] = y
	}
	if seen := x.Seen; seen != nil || leaves {
		if seen == nil {
			seen = &space.Box{X2: x.W, Y2: x.H}
		}
		out.Seen = m.window(*seen)
	}
	return out, nil
}

// leaves reports whether the map carries the frame of a picture to another place, so that part of what was seen before
// is not seen after: shifts, magnifications and turns by other than right angles do, on pictures that are not joined at
// their sides.
func (m boxMap) leaves(h, w float64) bool {
	if m.w > 0 {
		return false
	}
	const tolerance = 1e-9 // px
	f := m.window(space.Box{X2: w, Y2: h})
	return f.Angle != 0 || math.Abs(f.X1)+math.Abs(f.Y1)+math.Abs(f.X2-w)+math.Abs(f.Y2-h) > tolerance
}

// inFrame is a set of boxes in a frame that boxes can lie in. Their own numbers may be anything: a prediction that is
// not finite moves to one that is not finite, and whoever measures it says so.
func inFrame(v space.Value) (*space.Boxes, error) {
	x, ok := v.(*space.Boxes)
	if !ok || x == nil {
		return nil, fmt.Errorf("want boxes, got %s", describe(v))
	}
	if !(x.H > 0) || !(x.W > 0) || math.IsInf(x.H, 1) || math.IsInf(x.W, 1) {
		return nil, fmt.Errorf(
			"the boxes lie in a frame of %g×%g pixels (height×width): expected finite numbers above 0", x.H, x.W)
	}
	return x, nil
}

// asBoxes is a set of boxes with finite numbers, as targets are.
func asBoxes(v space.Value) (*space.Boxes, error) {
	x, err := inFrame(v)
	if err != nil {
		return nil, err
	}
	for i, b := range x.Items {
		for k, c := range [...]float64{b.X1, b.Y1, b.X2, b.Y2, b.Angle} {
			if math.IsNaN(c) || math.Abs(c) > maxReach {
				return nil, fmt.Errorf("box %d of %d: %s is %g: expected a finite number of pixels or degrees", i+1,
					len(x.Items), [...]string{"x1", "y1", "x2", "y2", "the angle"}[k], c)
			}
		}
	}
	return x, nil
}

// keepsAxes reports whether the map carries boxes along the axes to such boxes.
func (m affine) keepsAxes() bool {
	return m.a[0][1] == 0 && m.a[1][0] == 0 || m.a[0][0] == 0 && m.a[1][1] == 0
}

// similarity is a map that keeps shapes: a mirror if it mirrors, a turn, a magnification.
type similarity struct {
	// degrees
	scale, angle float64
	mirrors      bool
}

// similar reads the linear part as a similarity.
func (m affine) similar() (similarity, bool) {
	scale, angle, mirrors, ok := group.Similarity(m.a)
	return similarity{scale, angle, mirrors}, ok
}

// boxMap moves boxes in one frame: p -> A·p + off, points measured from the frame's corner.
type boxMap struct {
	affine
	off      [2]float64
	like     similarity
	similar  bool
	keeps    bool
	oriented bool
	// of a torus, else 0
	w, h float64
}

func (a *Boxes) boxMap(g group.Element, h, w float64) (boxMap, error) {
	m, err := affineOf(a.group, g)
	if err != nil {
		return boxMap{}, err
	}
	b := boxMap{affine: m, keeps: m.keepsAxes(), oriented: a.opt.Oriented}
	b.like, b.similar = m.similar()
	c := [2]float64{w / 2, h / 2}
	for i := range 2 {
		b.off[i] = c[i] - (float64(m.a[i][0]*c[0]) + float64(m.a[i][1]*c[1])) + m.t[i]
	}
	if _, ok := a.group.(group.Torus); ok {
		b.h, b.w = h, w
	}
	return b, nil
}

func (m boxMap) point(x, y float64) (float64, float64) {
	return float64(m.a[0][0]*x) + float64(m.a[0][1]*y) + m.off[0],
		float64(m.a[1][0]*x) + float64(m.a[1][1]*y) + m.off[1]
}

// move is the moved box.
func (m boxMap) move(b space.Box) space.Box {
	switch {
	case m.keeps && (b.Angle == 0 || m.similar):
		b = m.corners(b)
	case m.similar && m.oriented:
		b = m.turn(b)
	default:
		b = m.enclose(b)
	}
	if m.w > 0 {
		x, y := b.Center()
		dx, dy := float64(math.Floor(x/m.w)*m.w), float64(math.Floor(y/m.h)*m.h)
		b.X1, b.X2, b.Y1, b.Y2 = b.X1-dx, b.X2-dx, b.Y1-dy, b.Y2-dy
	}
	return b
}

// window moves what was seen. It turns wherever a rectangle can, whether boxes do or not: its envelope would hold
// places that were never seen.
func (m boxMap) window(b space.Box) *space.Box {
	m.oriented = true
	b = m.move(b)
	return &b
}

// corners maps two corners; a turned box keeps its angle, but for the sign under mirrors: what turns is the rectangle
// that the angle belongs to.
func (m boxMap) corners(b space.Box) space.Box {
	o := b
	o.X1, o.Y1 = m.point(b.X1, b.Y1)
	o.X2, o.Y2 = m.point(b.X2, b.Y2)
	if m.a[0][0]+m.a[0][1] < 0 { // one of the two is 0
		o.X1, o.X2 = o.X2, o.X1
	}
	if m.a[1][0]+m.a[1][1] < 0 {
		o.Y1, o.Y2 = o.Y2, o.Y1
	}
	if b.Angle != 0 && m.like.mirrors {
		o.Angle = -b.Angle
	}
	return o
}

// turn maps centre, sides and angle.
func (m boxMap) turn(b space.Box) space.Box {
	x, y := b.Center()
	x, y = m.point(x, y)
	w, h := (b.X2-b.X1)*m.like.scale, (b.Y2-b.Y1)*m.like.scale
	angle := m.like.angle + b.Angle
	if m.like.mirrors {
		angle = m.like.angle - b.Angle
	}
	// Of the four ways to name a rectangle, the one nearest to the axes.
	quarters := math.Ceil(angle/90 - 0.5)
	angle -= float64(90 * quarters)
	if math.Mod(quarters, 2) != 0 {
		w, h = h, w
	}
	b.X1, b.X2, b.Y1, b.Y2, b.Angle = x-w/2, x+w/2, y-h/2, y+h/2, angle
	return b
}

// enclose is the envelope of the mapped corners.
func (m boxMap) enclose(b space.Box) space.Box {
	x, y := b.Center()
	x, y = m.point(x, y)
	w, h := extent(b)
	sin, cos := group.SinCos(b.Angle)
	// The half sides as vectors, y down: the first one turned is (cos, -sin).
	u, v := [2]float64{cos * w / 2, -sin * w / 2}, [2]float64{sin * h / 2, cos * h / 2}
	var half [2]float64
	for i := range 2 {
		half[i] = math.Abs(float64(m.a[i][0]*u[0])+float64(m.a[i][1]*u[1])) +
			math.Abs(float64(m.a[i][0]*v[0])+float64(m.a[i][1]*v[1]))
	}
	b.X1, b.X2, b.Y1, b.Y2, b.Angle = x-half[0], x+half[0], y-half[1], y+half[1], 0
	return b
}

// extent is the lengths of the sides; 0 for one that is inverted.
func extent(b space.Box) (w, h float64) { return max(b.X2-b.X1, 0), max(b.Y2-b.Y1, 0) }

// envelope is the smallest box along the axes that holds b.
func envelope(b space.Box) space.Box {
	if b.Angle == 0 {
		return b
	}
	return boxMap{affine: affine{a: [2][2]float64{{1, 0}, {0, 1}}}}.enclose(b)
}

// touches reports whether a box reaches the edge of a frame.
func touches(b space.Box, h, w float64) bool {
	b = envelope(b)
	return min(b.X1, b.X2) <= 0 || min(b.Y1, b.Y2) <= 0 || max(b.X1, b.X2) >= w || max(b.Y1, b.Y2) >= h
}
