package action

import (
	"nero/data/space"
	"nero/symmetry/group"
)

// Padder is an action that knows how much of a moved value the border rule makes up.
type Padder interface {
	// Padded counts the pixels of g·v, of one channel and frame, that the border rule has a part in: those that are
	// read outside the picture, or so near its border that the kernel reaches beyond it. v gives the size; its numbers
	// are not read.
	Padded(g group.Element, v space.Value) (int, error)
}

// Leaves reports whether the picture, or the crop window that moves over it, leaves the given content at g, so that the
// border rule fills in: a study may refuse such elements or mark them. It is false for actions without a border: those
// that are no [Padder], and groups that roll pictures around.
//
// What is filled in is the choice of [Border]: zeros, the nearest pixel, the periodic continuation, or the true
// reflection c b | a b c | b a, which repeats neither the border pixel nor the picture. Whether a crop window leaves
// the picture depends on the element and the sizes alone.
func Leaves(a Action, g group.Element, v space.Value) (bool, error) {
	p, ok := a.(Padder)
	if !ok {
		return false, nil
	}
	n, err := p.Padded(g, v)
	return n > 0, err
}

// padded is for values of h×w samples.
func (p *planar) padded(g group.Element, h, w int) (int, error) {
	m, err := p.prepare(g, h, w)
	if err != nil {
		return 0, err
	}
	if _, ok := p.group.(group.Torus); ok {
		return 0, nil
	}
	return m.bare(), nil
}

// Padded counts the pixels of one channel that the border rule has a part in. Of splines, which reach everywhere, the
// four nearest samples count.
func (a *Image) Padded(g group.Element, v space.Value) (int, error) {
	x, err := asImage(v)
	if err != nil {
		return 0, err
	}
	return a.padded(g, x.H, x.W)
}

// Padded counts the pixels of one frame and channel that the border rule has a part in, as of an image.
func (a *Frames) Padded(g group.Element, v space.Value) (int, error) {
	x, err := asFrames(v)
	if err != nil {
		return 0, err
	}
	return a.padded(g, x.Images[0].H, x.Images[0].W)
}

// Padded counts the labels that the border rule makes up.
func (a *Mask) Padded(g group.Element, v space.Value) (int, error) {
	x, err := asMask(v)
	if err != nil {
		return 0, err
	}
	return a.padded(g, x.H, x.W)
}

// Padded counts the vectors that the border rule has a part in.
func (a *Field) Padded(g group.Element, v space.Value) (int, error) {
	x, err := asField(v)
	if err != nil {
		return 0, err
	}
	return a.padded(g, x.H, x.W)
}

// Bytes is roughly how much memory a prepared element holds, so that a caller can tell how many to keep: some hundred
// for an element that moves pixels by index, such as whole steps of a crop window, up to 150 KiB where it knows
// weights. It is 0 for movers of other packages.
func Bytes(m Mover) int {
	switch m := m.(type) {
	case *discMover:
		return Bytes(m.inner) + m.edge.bytes()
	case *imageMover:
		return m.warp.bytes()
	case *maskMover:
		return m.warp.bytes()
	case *framesMover:
		return m.warp.bytes()
	case *fieldMover:
		return m.warp.bytes()
	case *volumeMover:
		return 320 + 8*(len(m.index[0])+len(m.index[1])+len(m.index[2]))
	case *rowsMover:
		return 64 + m.row.bytes() + m.places.bytes()
	case *linksMover:
		return 32 + m.places.bytes()
	case *pairsMover:
		return 64 + m.row.bytes() + m.places.bytes()
	case *signalMover:
		n := 160 + m.row.bytes()
		for _, r := range m.flow {
			n += 8 + r.bytes()
		}
		return n
	case *frameShiftMover:
		return 128
	case *flowMover:
		n := 64
		for _, w := range m.warps {
			n += w.bytes()
		}
		return n
	case *colorMover:
		return 128
	case *chainMover:
		n := 128
		for _, s := range m.steps {
			n += Bytes(s)
		}
		for _, v := range m.between {
			n += 8 * numbers(v.Dims())
		}
		return n
	case *recordMover:
		n := 64
		for _, f := range m.moves {
			n += Bytes(f)
		}
		return n
	case *tensorMover:
		n := 8 * (len(m.rho.from) + len(m.rho.mat))
		if m.warp != nil {
			n += m.warp.bytes()
		}
		return n
	}
	return 0
}

func numbers(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}
