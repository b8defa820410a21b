package action

import (
	"fmt"
	"math"

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

// Overhang is how many rows and columns an element reads beyond a window of h×w pixels, on the side where that is
// more: what a picture needs around the window so that the border rule has no part in it. Kernels that read
// everywhere, such as splines, count by their nearest samples. Both are 0 for groups that do not move places, and for
// those that roll pictures around.
func Overhang(gr group.Group, g group.Element, h, w int, k Kernel) (rows, cols int, err error) {
	if _, torus := gr.(group.Torus); torus {
		return 0, 0, nil
	}
	p, ok := gr.(group.Planar)
	if !ok {
		f, ok := gr.(group.Factored)
		if !ok {
			return 0, 0, nil
		}
		parts := f.Split(g)
		for i, part := range f.Factors() {
			r, c, err := Overhang(part, parts[i], h, w, k)
			if err != nil {
				return 0, 0, err
			}
			rows, cols = max(rows, r), max(cols, c)
		}
		return rows, cols, nil
	}
	m, err := affineOf(p, g)
	if err != nil {
		return 0, 0, err
	}
	det := float64(m.a[0][0]*m.a[1][1]) - float64(m.a[0][1]*m.a[1][0])
	half := [2]float64{float64(w-1) / 2, float64(h-1) / 2}
	taps := float64(k.taps() / 2)
	var most [2]float64
	for _, sx := range []float64{-1, 1} {
		for _, sy := range []float64{-1, 1} {
			x, y := float64(sx*half[0])-m.t[0], float64(sy*half[1])-m.t[1]
			at := [2]float64{
				(float64(m.a[1][1]*x) - float64(m.a[0][1]*y)) / det,
				(float64(m.a[0][0]*y) - float64(m.a[1][0]*x)) / det,
			}
			for i, v := range at {
				// Beyond the outermost pixel, which is read alone where the place is a pixel's.
				over := math.Abs(v) - half[i]
				if near := math.Round(over); math.Abs(over-near) <= rounding || k == Nearest {
					over = near
				} else {
					over = math.Floor(over) + taps
				}
				most[i] = max(most[i], over)
			}
		}
	}
	if max(most[0], most[1]) > maxReach {
		return 0, 0, fmt.Errorf("element %v of %s reads too far away", g, gr.Name())
	}
	return int(most[1]), int(most[0]), nil
}

// rounding is by how many pixels a place that is read may miss a pixel's centre and still be it.
const rounding = 1e-9

// Uncut is the action without its crop window: it returns moved pictures whole, so that they can be moved on. It is
// false for actions that have no window.
func Uncut(a Action) (Action, bool) {
	return rewindowed(a, func(p *planar) *planar {
		o := p.opt
		o.Window = nil
		return &planar{group: p.group, opt: o, h: p.h, w: p.w}
	})
}

// Around is the action on what a crop window shows, as on a torus: what leaves at one side enters at the other. With it
// a moved window is moved back so that what stayed in sight stands where it stood, and what entered stands where that
// was which left. It is false for actions that have no window.
func Around(a Action) (Action, bool) {
	return rewindowed(a, func(p *planar) *planar {
		o := p.opt
		o.Window, o.Border = nil, Circular
		return &planar{group: p.group, opt: o, h: -1, w: -1}
	})
}

// rewindowed is an action on pictures by another plane, where it has a window.
func rewindowed(a Action, f func(*planar) *planar) (Action, bool) {
	switch a := a.(type) {
	case *Image:
		if len(a.opt.Window) > 0 {
			return &Image{planar: f(a.planar), channels: a.channels}, true
		}
	case *Frames:
		if len(a.opt.Window) > 0 {
			return &Frames{planar: f(a.planar), count: a.count, channels: a.channels}, true
		}
	case *disc: // what lies around the window is real, and counts once the window is cut
		return rewindowed(a.inner, f)
	case *factors:
		if others, ok := rewindowed(a.others, f); ok {
			return &factors{g: a.g, others: others, rest: a.rest, own: a.own, at: a.at}, true
		}
	}
	return a, false
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
		return 64 + m.row.bytes() + m.places.bytes() + m.columns.bytes()
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
