package action

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"nero/data/space"
	"nero/symmetry/group"
)

// planar is what the actions on pixel grids share.
type planar struct {
	group group.Planar
	opt   Options
	// of the grid that is read, -1 if any
	h, w    int
	scratch buffers
}

// planeError is the error for a group that does not act on the plane. It wraps [errors.ErrUnsupported].
type planeError struct{ name string }

func (e planeError) Error() string {
	text := e.name + " does not act on the plane by affine maps"
	factors := strings.Split(e.name, " x ")
	timeless := slices.DeleteFunc(slices.Clone(factors), func(f string) bool { return f == "Time" })
	slices.Sort(timeless)
	// The factors of a direct product must commute; turns and shifts do not.
	if joint := map[string]string{
		"C4 T(2,Z)": "p4", "D4 T(2,Z)": "p4m", "SO(2) T(2)": "SE(2)", "O(2) T(2)": "E(2)",
	}[strings.Join(timeless, " ")]; joint != "" {
		text += ", because turns and shifts do not commute; their joint motions are the group " + joint
		if len(timeless) < len(factors) {
			text += " x Time"
		}
	}
	return text
}

// Unwrap makes errors.Is find errors.ErrUnsupported, which the text need not repeat.
func (planeError) Unwrap() error { return errors.ErrUnsupported }

func newPlanar(g group.Group, o Options, h, w int) (*planar, error) {
	p, ok := g.(group.Planar)
	if !ok {
		return nil, planeError{g.Name()}
	}
	if t, ok := g.(group.Torus); ok {
		if o.Border == "" {
			o.Border = Circular
		}
		ph, pw := t.Period()
		if o.Border != Circular || len(o.Window) > 0 {
			return nil, fmt.Errorf("%s rolls pictures around: it needs the border rule %s and no window, not %q and %v",
				g.Name(), Circular, o.Border, o.Window)
		}
		if h >= 0 && h != ph || w >= 0 && w != pw {
			right := ""
			if h > 0 && w > 0 {
				right = fmt.Sprintf("; the group for it is Roll(%d,%d)", h, w)
			}
			return nil, fmt.Errorf("%s rolls pictures of %d×%d pixels (height×width), the picture has %s×%s%s",
				g.Name(), ph, pw, length(h), length(w), right)
		}
		h, w = ph, pw
	}
	o, err := o.check()
	if err != nil {
		return nil, err
	}
	if o.Window != nil && (h >= 0 && o.Window[0] > h || w >= 0 && o.Window[1] > w) {
		return nil, fmt.Errorf(
			"window %v (height, width): the picture has only %d×%d pixels; take a smaller group.window or larger "+
				"pictures", o.Window, h, w)
	}
	return &planar{group: p, opt: o, h: h, w: w}, nil
}

// exact tells the elements that move pixels by index; see NewImage.
func (p *planar) exact(g group.Element) bool {
	m, err := affineOf(p.group, g)
	if err != nil || p.opt.Kernel.rule().never {
		return false
	}
	if p.opt.Window != nil {
		return m.lattice(p.opt.Window[0], p.opt.Window[1])
	}
	return m.lattice(p.h, p.w)
}

// prepare makes the warp of g for a grid of h×w samples.
func (p *planar) prepare(g group.Element, h, w int) (*warp, error) {
	if p.h >= 0 && h != p.h || p.w >= 0 && w != p.w {
		return nil, fmt.Errorf("the picture has %d×%d pixels (height×width), the action was made for %s×%s", h, w,
			length(p.h), length(p.w))
	}
	m, err := affineOf(p.group, g)
	if err != nil {
		return nil, err
	}
	o, err := newWarp(m, p.opt, h, w, &p.scratch)
	if err != nil {
		return nil, fmt.Errorf("element %v of %s: %w", g, p.group.Name(), err)
	}
	return o, nil
}

func length(n int) string {
	if n < 0 {
		return "any"
	}
	return strconv.Itoa(n)
}

// dims reads the lengths that a spec fixes; -1 stands for any. An empty shape fixes none.
func dims(s space.Spec, rank int) ([]int, error) {
	if len(s.Shape) == 0 {
		o := make([]int, rank)
		for i := range o {
			o[i] = -1
		}
		return o, nil
	}
	if len(s.Shape) != rank {
		return nil, fmt.Errorf("port %q: a value of kind %s has %d axes, not the shape %v", s.Name, s.Kind, rank,
			s.Shape)
	}
	for _, d := range s.Shape {
		if d == 0 || d < -1 {
			return nil, fmt.Errorf("port %q: the shape %v has the length %d", s.Name, s.Shape, d)
		}
	}
	return s.Shape, nil
}

// Image is the action of a planar group on pictures; see [NewImage].
type Image struct {
	*planar
	// -1 if any
	channels int
}

// NewImage is the action (g·x)(p) = x(g⁻¹p) of a planar group on pictures: the picture moves as the group's map says,
// points being measured from the centre, which is (n-1)/2 on an axis of n pixels.
//
// Lattice elements are index permutations and exact bit for bit: those with an A of entries 0, ±1 that maps the grid to
// itself (if it swaps the axes the picture must be square) and a t of whole pixels. All others read the picture between
// its pixels with the kernel of o; outside it the border rule holds. Under [Up3] nothing is exact, not even the
// identity, because that path blurs every picture equally. For the other kernels the path that resamples reproduces the
// exact result at lattice elements up to roundoff.
//
// With o.Window the picture is larger than what is returned: the window's centre is the picture's centre, rounded up
// and left to a whole pixel if the lengths differ by an odd number, the window moves by -t, and the group turns about
// the window's centre. Where it leaves the picture the border rule fills in; [Leaves] tells those elements.
//
// A picture that knows the formula it was drawn from, [space.Formula], is drawn anew where the element says, with
// neither kernel nor border: nothing is resampled, and what enters is what the formula has there. Under the border rule
// circular, by which pictures repeat and formulas do not, it moves as any other.
//
// s.Shape is (C, H, W), -1 or an empty shape admitting any length; elements that swap the axes count as exact only if
// the shape says that the picture is square. A [group.Torus] such as Roll(h,w) takes pictures of its own size and the
// rule Circular, which is then the default. The error wraps errors.ErrUnsupported if g does not act on the plane, or
// reverses time: see [NewFrames].
func NewImage(g group.Group, s space.Spec, o Options) (*Image, error) {
	if err := still(g, "a single picture"); err != nil {
		return nil, err
	}
	d, err := dims(s, 3)
	if err != nil {
		return nil, err
	}
	p, err := newPlanar(g, o, d[1], d[2])
	if err != nil {
		return nil, err
	}
	return &Image{planar: p, channels: d[0]}, nil
}

// Group is the group that acts.
func (a *Image) Group() group.Group { return a.group }

// Exact tells the elements that act by index.
func (a *Image) Exact(g group.Element) bool { return a.exact(g) }

// Apply returns the moved picture, of the picture's or the window's size.
func (a *Image) Apply(g group.Element, v space.Value) (space.Value, error) {
	m, err := a.mover(g, v)
	if err != nil {
		return nil, err
	}
	to := space.NewImage(m.c, m.warp.h, m.warp.w)
	if err := m.Move(to, v); err != nil {
		return nil, err
	}
	return to, nil
}

// Prepare computes what depends on the element and the size of v alone. For an element that moves pixels by index the
// mover holds a few numbers, some hundred bytes; for others at most 148 KiB for pictures up to 1024 pixels, and
// 72·(H+W) bytes for larger ones (48·H under Up3).
func (a *Image) Prepare(g group.Element, v space.Value) (Mover, error) {
	m, err := a.mover(g, v)
	if err != nil {
		return nil, err
	}
	return m, nil
}

func (a *Image) mover(g group.Element, v space.Value) (*imageMover, error) {
	x, err := asImage(v)
	if err != nil {
		return nil, err
	}
	if a.channels >= 0 && x.C != a.channels {
		return nil, fmt.Errorf("the picture has %d channels, the action was made for %d", x.C, a.channels)
	}
	w, err := a.prepare(g, x.H, x.W)
	if err != nil {
		return nil, err
	}
	return &imageMover{warp: w, c: x.C}, nil
}

func asImage(v space.Value) (*space.Image, error) {
	x, ok := v.(*space.Image)
	if !ok || x == nil {
		return nil, fmt.Errorf("want an image, got %s", describe(v))
	}
	if x.C < 0 || x.H < 0 || x.W < 0 || len(x.Pix) != x.C*x.H*x.W {
		return nil, fmt.Errorf("the image has %d numbers, not %d×%d×%d", len(x.Pix), x.C, x.H, x.W)
	}
	return x, nil
}

func describe(v space.Value) string {
	if v == nil {
		return "nothing"
	}
	return fmt.Sprintf("%T", v)
}

// errAlias is the answer to a call that would read numbers it has already overwritten.
var errAlias = errors.New("the result must not share memory with the argument")

func shared[T any](a, b []T) bool { return len(a) > 0 && len(b) > 0 && &a[0] == &b[0] }

type imageMover struct {
	warp *warp
	c    int
}

// Move writes the moved picture.
func (m *imageMover) Move(to, from space.Value) error {
	d, err := asImage(to)
	if err != nil {
		return err
	}
	s, err := asImage(from)
	if err != nil {
		return err
	}
	w := m.warp
	if s.C != m.c || s.H != w.hs || s.W != w.ws {
		return fmt.Errorf("prepared for %d×%d×%d numbers, the argument has %d×%d×%d", m.c, w.hs, w.ws, s.C, s.H, s.W)
	}
	if d.C != m.c || d.H != w.h || d.W != w.w {
		return fmt.Errorf("the result has %d×%d×%d numbers, it needs %d×%d×%d", d.C, d.H, d.W, m.c, w.h, w.w)
	}
	if shared(d.Pix, s.Pix) {
		return errAlias
	}
	if d.Formula = nil; s.Formula != nil && w.border != Circular {
		s.Formula.Moved([3]float64{w.x0, w.xc, w.xr}, [3]float64{w.y0, w.yc, w.yr}).Draw(d)
		return nil
	}
	w.planes(d.Pix, s.Pix, m.c, nil)
	return nil
}
