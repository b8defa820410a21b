package action

import (
	"errors"
	"fmt"
	"slices"

	"nero/data/space"
	"nero/symmetry/group"
)

// FrameShift is the action of shifts and reversals of time on pictures in the order of time; see [NewFrameShift].
type FrameShift struct {
	moves *moves
	opt   Options
	// -1 if any
	count int
}

// NewFrameShift is the action of a group that is [group.Shifting] on frames: shifts by whole frames are by index and
// exact; between frames the pictures are weighed with the kernel of o, pixel by pixel. What enters is the border
// rule's, black pictures under [Zero]; a group with a period needs as many frames and moves them around. The reversal
// of time comes first. s.Shape is (T, C, H, W).
func NewFrameShift(g group.Group, s space.Spec, o Options) (*FrameShift, error) {
	d, err := dims(s, 4)
	if err != nil {
		return nil, err
	}
	m, err := takeApart(g)
	if err != nil {
		return nil, err
	}
	if m.shift < 0 {
		return nil, fmt.Errorf("%s does not shift time: %w", g.Name(), errors.ErrUnsupported)
	}
	a := &FrameShift{moves: m, count: d[0]}
	o.Window = nil // of the pictures
	a.opt, _, err = m.timeOptions(o, d[0], s.Name)
	return a, err
}

// Group is the group that acts.
func (a *FrameShift) Group() group.Group { return a.moves.group }

// Exact tells the shifts by whole frames.
func (a *FrameShift) Exact(g group.Element) bool {
	_, parts, err := a.moves.at(g)
	return err == nil && whole(a.moves, parts, a.opt)
}

// Apply returns the moved frames.
func (a *FrameShift) Apply(g group.Element, v space.Value) (space.Value, error) {
	return applyFrames(a, g, v)
}

// Prepare computes what depends on the element and the number of frames alone.
func (a *FrameShift) Prepare(g group.Element, v space.Value) (Mover, error) {
	x, err := asFrames(v)
	if err != nil {
		return nil, err
	}
	if a.count >= 0 && len(x.Images) != a.count {
		return nil, fmt.Errorf("there are %d frames, the action was made for %d", len(x.Images), a.count)
	}
	_, parts, err := a.moves.at(g)
	if err != nil {
		return nil, err
	}
	l, err := a.moves.timeline(parts, a.opt, len(x.Images), 0)
	if err != nil {
		return nil, err
	}
	return &frameShiftMover{line: l, scratch: &a.moves.scratch}, nil
}

// Padded counts the pixels of one channel, in all frames, that the border rule has a part in.
func (a *FrameShift) Padded(g group.Element, v space.Value) (int, error) {
	p, err := a.Prepare(g, v)
	if err != nil || a.moves.turn() > 0 {
		return 0, err
	}
	m, ok := p.(*frameShiftMover)
	x, err := asFrames(v)
	if err != nil || !ok {
		return 0, err
	}
	return m.line.filled() * x.Images[0].H * x.Images[0].W, nil
}

// applyFrames applies an action that leaves the size of frames as it is.
func applyFrames(a Preparer, g group.Element, v space.Value) (space.Value, error) {
	m, err := a.Prepare(g, v)
	if err != nil {
		return nil, err
	}
	x, err := asFrames(v)
	if err != nil {
		return nil, err
	}
	to := &space.Frames{Images: make([]*space.Image, len(x.Images))}
	for i, p := range x.Images {
		to.Images[i] = space.NewImage(p.C, p.H, p.W)
	}
	if f, ok := m.(*flowMover); ok && len(f.warps) > 0 {
		for i, p := range x.Images {
			to.Images[i] = space.NewImage(p.C, f.warps[0].h, f.warps[0].w)
		}
	}
	if err := m.Move(to, v); err != nil {
		return nil, err
	}
	return to, nil
}

type frameShiftMover struct {
	line    *timeline
	scratch *buffers
}

// Move writes the moved frames. Between frames under the kernel Spline it borrows memory for a copy of all frames.
func (m *frameShiftMover) Move(to, from space.Value) error {
	d, s, err := framePair(to, from)
	if err != nil {
		return err
	}
	if len(s.Images) != m.line.limit {
		return fmt.Errorf("prepared for %d frames, the argument has %d", m.line.limit, len(s.Images))
	}
	size := len(s.Images[0].Pix)
	read := func(i int) []float64 { return s.Images[i].Pix }
	if m.line.kernel == Spline && !m.line.whole {
		b := m.scratch.take(size * len(s.Images))
		defer m.scratch.put(b)
		for i, x := range s.Images {
			copy((*b)[i*size:], x.Pix)
		}
		prefilterRows(m.line.border, *b, len(s.Images), size)
		read = func(i int) []float64 { return (*b)[i*size : (i+1)*size] }
	}
	var idx [maxTaps]int32
	var w [maxTaps]float64
	for i, x := range d.Images {
		n := m.line.taps(i, &idx, &w)
		if n == 1 && w[0] == 1 {
			copy(x.Pix, read(int(idx[0])))
			continue
		}
		clear(x.Pix)
		for j := range n {
			if w[j] != 0 {
				axpy(x.Pix, w[j], read(int(idx[j])))
			}
		}
	}
	return nil
}

// framePair is frames of one size to write and to read.
func framePair(to, from space.Value) (d, s *space.Frames, err error) {
	if d, err = asFrames(to); err != nil {
		return nil, nil, fmt.Errorf("the result: %w", err)
	}
	if s, err = asFrames(from); err != nil {
		return nil, nil, err
	}
	if x, y := d.Images[0], s.Images[0]; len(d.Images) != len(s.Images) || x.C != y.C || x.H != y.H || x.W != y.W {
		return nil, nil, fmt.Errorf("the result has %d frames of %d×%d×%d numbers, it needs %d of %d×%d×%d",
			len(d.Images), x.C, x.H, x.W, len(s.Images), y.C, y.H, y.W)
	}
	return d, s, framesShare(d, s)
}

func framesShare(d, s *space.Frames) error {
	for _, x := range d.Images {
		for _, y := range s.Images {
			if shared(x.Pix, y.Pix) {
				return errAlias
			}
		}
	}
	return nil
}

// Flow is the action of a group of flows on pictures in the order of time; see [NewFlow].
type Flow struct {
	group group.Flowing
	inner *planar
	// -1 if any
	count int
	c     int
}

// NewFlow is the action of a [group.Flowing] on frames: frame t, counted from 0, moves as [NewImage] moves a picture by
// the element that the flow has reached at t. The flow's inner group must act on the plane. s.Shape is (T, C, H, W).
func NewFlow(g group.Group, s space.Spec, o Options) (*Flow, error) {
	d, err := dims(s, 4)
	if err != nil {
		return nil, err
	}
	f, ok := g.(group.Flowing)
	if !ok {
		return nil, fmt.Errorf("%s does not flow: %w", g.Name(), errors.ErrUnsupported)
	}
	p, err := newPlanar(f.Inner(), o, d[2], d[3])
	if err != nil {
		return nil, fmt.Errorf("%s: %w", g.Name(), err)
	}
	return &Flow{group: f, inner: p, count: d[0], c: d[1]}, nil
}

// Group is the group that acts.
func (a *Flow) Group() group.Group { return a.group }

// Exact tells the velocities that move every frame by index. Without a number of frames in the spec it asks for the
// first 16.
func (a *Flow) Exact(g group.Element) bool {
	if checkElement(a.group, g) != nil {
		return false
	}
	n := a.count
	if n < 0 {
		n = 16
	}
	for t := range n {
		if !a.inner.exact(a.group.At(g, float64(t))) {
			return false
		}
	}
	return true
}

// Apply returns the moved frames, each of the frames' or the window's size.
func (a *Flow) Apply(g group.Element, v space.Value) (space.Value, error) {
	return applyFrames(a, g, v)
}

// Prepare computes what depends on the element and the size of v alone: as much memory as for one picture per frame.
func (a *Flow) Prepare(g group.Element, v space.Value) (Mover, error) {
	m, err := a.mover(g, v)
	if err != nil {
		return nil, err
	}
	return m, nil
}

func (a *Flow) mover(g group.Element, v space.Value) (*flowMover, error) {
	x, err := asFrames(v)
	if err != nil {
		return nil, err
	}
	if a.count >= 0 && len(x.Images) != a.count {
		return nil, fmt.Errorf("there are %d frames, the action was made for %d", len(x.Images), a.count)
	}
	if a.c >= 0 && x.Images[0].C != a.c {
		return nil, fmt.Errorf("the frames have %d channels, the action was made for %d", x.Images[0].C, a.c)
	}
	if err := checkElement(a.group, g); err != nil {
		return nil, err
	}
	m := &flowMover{c: x.Images[0].C, warps: make([]*warp, len(x.Images))}
	for t := range m.warps {
		if m.warps[t], err = a.inner.prepare(a.group.At(g, float64(t)), x.Images[0].H, x.Images[0].W); err != nil {
			return nil, fmt.Errorf("frame %d: %w", t+1, err)
		}
	}
	return m, nil
}

// Padded counts the pixels of one channel that the border rule has a part in, of the frame that has most.
func (a *Flow) Padded(g group.Element, v space.Value) (int, error) {
	m, err := a.mover(g, v)
	if err != nil {
		return 0, err
	}
	if _, ok := a.inner.group.(group.Torus); ok {
		return 0, nil
	}
	most := 0
	for _, w := range m.warps {
		most = max(most, w.bare())
	}
	return most, nil
}

type flowMover struct {
	// of each frame
	warps []*warp
	c     int
}

// Move writes the moved frames.
func (m *flowMover) Move(to, from space.Value) error {
	d, err := asFrames(to)
	if err != nil {
		return fmt.Errorf("the result: %w", err)
	}
	s, err := asFrames(from)
	if err != nil {
		return err
	}
	w := m.warps[0]
	if x := s.Images[0]; len(s.Images) != len(m.warps) || x.C != m.c || x.H != w.hs || x.W != w.ws {
		return fmt.Errorf("prepared for %d frames of %d×%d×%d numbers, the argument has %d of %d×%d×%d", len(m.warps),
			m.c, w.hs, w.ws, len(s.Images), x.C, x.H, x.W)
	}
	if x := d.Images[0]; len(d.Images) != len(m.warps) || x.C != m.c || x.H != w.h || x.W != w.w {
		return fmt.Errorf("the result has %d frames of %d×%d×%d numbers, it needs %d of %d×%d×%d", len(d.Images), x.C,
			x.H, x.W, len(m.warps), m.c, w.h, w.w)
	}
	if err := framesShare(d, s); err != nil {
		return err
	}
	for t, w := range m.warps {
		w.planes(d.Images[t].Pix, s.Images[t].Pix, m.c, nil)
	}
	return nil
}

// Chain is the action of a product whose factors do different things to pictures, one after the other: motions of the
// plane, shifts or flows of time, colors. Its steps commute, because the factors do.
type Chain struct {
	moves *moves
	steps []link
	// at the end, if any
	color *Color
}

// link is the action of some of the factors.
type link struct {
	act  Action
	prep Preparer
	pick func(parts []group.Element) group.Element
}

// restrict is the group made of some of the factors.
func (m *moves) restrict(keep []int) (group.Group, func(parts []group.Element) group.Element, error) {
	pick := func(parts []group.Element) group.Element {
		var e group.Element
		for _, i := range keep {
			e = append(e, parts[i]...)
		}
		return e
	}
	if len(keep) == len(m.factors) {
		return m.group, pick, nil
	}
	if len(keep) == 1 {
		return m.factors[keep[0]], pick, nil
	}
	var some []group.Group
	for _, i := range keep {
		some = append(some, m.factors[i])
	}
	g, err := group.Product(some...)
	return g, pick, err
}

// planes are the factors that act on the plane of a picture, those that only reverse time among them.
func (m *moves) planes() []int {
	var out []int
	for i, f := range m.factors {
		if _, ok := f.(group.Planar); ok && i != m.flow && i != m.shift {
			out = append(out, i)
		}
	}
	return out
}

// pictures is the action on images and frames, whichever of its factors move them.
func pictures(g group.Group, s space.Spec, o Options) (Action, error) {
	frames := s.Kind == space.KindFrames
	plain := func(g group.Group) (Action, error) {
		if frames {
			return some(NewFrames(g, s, o))
		}
		return some(NewImage(g, s, o))
	}
	m, err := takeApart(g)
	if err != nil {
		return nil, err
	}
	if m.flow < 0 && m.shift < 0 && len(m.color) == 0 {
		return onPlane(m, plain)
	}
	if !frames && (m.flow >= 0 || m.shift >= 0) {
		return nil, fmt.Errorf(
			"%s moves what changes in time, and a single picture has none: say frames for pictures in the order of "+
				"time: %w", g.Name(), errors.ErrUnsupported)
	}
	if len(m.other) > 0 || m.dim > 2 {
		return plain(g)
	}
	if m.flow >= 0 && len(m.spatial) > 0 && !slices.Equal(m.spatial, []int{m.flow}) {
		return nil, fmt.Errorf("%s: flows do not commute with motions of the plane, so their product does not act: %w",
			g.Name(), errors.ErrUnsupported)
	}
	if _, _, err := m.timeOptions(Options{}, -1, s.Name); err != nil {
		return nil, err
	}
	a := &Chain{moves: m}
	add := func(keep []int, of func(g group.Group) (Action, error)) error {
		sub, pick, err := m.restrict(keep)
		if err != nil {
			return err
		}
		act, err := of(sub)
		if err != nil {
			return err
		}
		p, ok := act.(Preparer)
		if !ok {
			return fmt.Errorf("no action of %s in a product: %w", sub.Name(), errors.ErrUnsupported)
		}
		a.steps = append(a.steps, link{act, p, pick})
		return nil
	}
	if keep := m.planes(); len(keep) > 0 {
		err = add(keep, plain)
	}
	if m.shift >= 0 && err == nil {
		later := s
		if len(o.Window) == 2 && len(later.Shape) == 4 {
			later.Shape = append(slices.Clone(s.Shape[:2]), o.Window...)
		}
		err = add([]int{m.shift}, func(g group.Group) (Action, error) { return some(NewFrameShift(g, later, o)) })
	}
	if m.flow >= 0 && err == nil {
		err = add([]int{m.flow}, func(g group.Group) (Action, error) { return some(NewFlow(g, s, o)) })
	}
	if err != nil {
		return nil, err
	}
	if len(m.color) > 0 {
		if a.color, err = newColor(m, s, o); err != nil {
			return nil, err
		}
		if len(a.steps) == 0 {
			return a.color, nil
		}
	}
	if len(a.steps) == 1 && a.color == nil && len(m.factors) == 1 {
		return a.steps[0].act, nil
	}
	return a, nil
}

// onPlane is the action of those factors that move the plane, on values that have places alone; the other factors, such
// as colors and permutations, leave them as they are. of is asked for the whole group where all its factors move the
// plane, or none, so that its refusals speak of it.
func onPlane(m *moves, of func(g group.Group) (Action, error)) (Action, error) {
	if _, ok := m.group.(group.Planar); ok || len(m.other) > 0 || m.dim > 2 {
		return of(m.group)
	}
	keep := m.planes()
	if len(keep) == 0 || len(keep) == len(m.factors) {
		return of(m.group)
	}
	sub, pick, err := m.restrict(keep)
	if err != nil {
		return nil, err
	}
	act, err := of(sub)
	if err != nil {
		return nil, err
	}
	p, ok := act.(Preparer)
	if !ok {
		return &partial{m, act, pick}, nil
	}
	return &Chain{moves: m, steps: []link{{act, p, pick}}}, nil
}

// inPlace is the action on values that have places and no colors: those that no factor moves stay if the factors say
// that they leave places alone.
func inPlace(g group.Group, of func(g group.Group) (Action, error)) (Action, error) {
	m, err := takeApart(g)
	if err != nil {
		return nil, err
	}
	if len(m.color) == len(m.factors) {
		return Trivial{G: g}, nil
	}
	return onPlane(m, of)
}

// partial is the action of some factors of a group, where it cannot be prepared.
type partial struct {
	moves *moves
	act   Action
	pick  func(parts []group.Element) group.Element
}

// Group is the whole group.
func (a *partial) Group() group.Group { return a.moves.group }

// Exact asks the factors that act.
func (a *partial) Exact(g group.Element) bool {
	_, parts, err := a.moves.at(g)
	return err == nil && Exact(a.act, a.pick(parts))
}

// Apply moves by the factors that act.
func (a *partial) Apply(g group.Element, v space.Value) (space.Value, error) {
	_, parts, err := a.moves.at(g)
	if err != nil {
		return nil, err
	}
	return a.act.Apply(a.pick(parts), v)
}

// Group is the group that acts.
func (a *Chain) Group() group.Group { return a.moves.group }

// Exact tells the elements that are exact in every step.
func (a *Chain) Exact(g group.Element) bool {
	_, parts, err := a.moves.at(g)
	if err != nil {
		return false
	}
	for _, s := range a.steps {
		if !Exact(s.act, s.pick(parts)) {
			return false
		}
	}
	return a.color == nil || a.color.Exact(g)
}

// Apply takes all steps.
func (a *Chain) Apply(g group.Element, v space.Value) (space.Value, error) {
	_, parts, err := a.moves.at(g)
	if err != nil {
		return nil, err
	}
	for _, s := range a.steps {
		if v, err = s.act.Apply(s.pick(parts), v); err != nil {
			return nil, err
		}
	}
	if a.color == nil {
		return v, nil
	}
	m, err := a.color.mover(g)
	if err != nil {
		return nil, err
	}
	return v, m.paint(v, v)
}

// Padded counts what the border rules of the steps have a part in, of the step that has most.
func (a *Chain) Padded(g group.Element, v space.Value) (int, error) {
	_, parts, err := a.moves.at(g)
	if err != nil {
		return 0, err
	}
	most := 0
	for i, s := range a.steps {
		e := s.pick(parts)
		if p, ok := s.act.(Padder); ok {
			n, err := p.Padded(e, v)
			if err != nil {
				return 0, err
			}
			most = max(most, n)
		}
		if i+1 < len(a.steps) {
			if v, err = s.act.Apply(e, v); err != nil {
				return 0, err
			}
		}
	}
	return most, nil
}

// Ends are those of the range of its colors, see [Clipper].
func (a *Chain) Ends() (lo, hi float64) {
	if a.color == nil {
		return 0, 0
	}
	return a.color.Ends()
}

// Clipped counts the numbers that the colors of g·v lost, see [Clipper].
func (a *Chain) Clipped(g group.Element, v space.Value) (int, error) {
	if a.color == nil {
		return 0, nil
	}
	_, parts, err := a.moves.at(g)
	if err != nil {
		return 0, err
	}
	for _, s := range a.steps {
		if v, err = s.act.Apply(s.pick(parts), v); err != nil {
			return 0, err
		}
	}
	return a.color.Clipped(g, v)
}

// Prepare prepares every step.
func (a *Chain) Prepare(g group.Element, v space.Value) (Mover, error) {
	_, parts, err := a.moves.at(g)
	if err != nil {
		return nil, err
	}
	m := &chainMover{}
	for i, s := range a.steps {
		e := s.pick(parts)
		p, err := s.prep.Prepare(e, v)
		if err != nil {
			return nil, err
		}
		m.steps = append(m.steps, p)
		if i+1 < len(a.steps) {
			if v, err = s.act.Apply(e, v); err != nil {
				return nil, err
			}
			m.between = append(m.between, v)
		}
	}
	if a.color != nil {
		if m.color, err = a.color.mover(g); err != nil {
			return nil, err
		}
	}
	return m, nil
}

type chainMover struct {
	steps []Mover
	// of the shapes between steps; their numbers are not read
	between []space.Value
	color   *colorMover
}

// Move takes all steps. With more than one it makes copies for what is between them.
func (m *chainMover) Move(to, from space.Value) error {
	for i, s := range m.steps {
		next := to
		if i < len(m.between) {
			next = m.between[i].Clone()
		}
		if err := s.Move(next, from); err != nil {
			return err
		}
		from = next
	}
	if m.color == nil {
		return nil
	}
	return m.color.paint(to, to)
}
