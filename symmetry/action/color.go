package action

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"nero/data/space"
	"nero/symmetry/group"
)

// Clipper is an action that cuts numbers which leave their range, and knows how many: where it is not 0 an element
// loses what its inverse cannot bring back.
type Clipper interface {
	// Clipped counts the numbers of g·v, of all channels and frames, that were cut.
	Clipped(g group.Element, v space.Value) (int, error)
	// Ends are the lowest and the highest number that is not cut; equal where nothing is.
	Ends() (lo, hi float64)
}

// Color is the action of a group on the channels of pictures; see [NewColor].
type Color struct {
	moves  *moves
	frames bool
	// channels, -1 if any
	c      int
	lo, hi float64
	exact  []group.Coloring
}

// NewColor is the action of groups that are [group.Coloring] on images and frames: every pixel changes for itself, and
// places stay. Intensities are taken as numbers in [0, 1] between the ends of o.Range, which are 0 and 255 unless it
// says otherwise, and what leaves the range is cut, see [Clipper]. Elements that only permute channels are exact. s is
// of kind image, shape (C, H, W), or frames, (T, C, H, W).
func NewColor(g group.Group, s space.Spec, o Options) (*Color, error) {
	m, err := takeApart(g)
	if err != nil {
		return nil, err
	}
	if len(m.color) != len(m.factors) {
		return nil, fmt.Errorf("%s does more than to change colors: %w", g.Name(), errors.ErrUnsupported)
	}
	return newColor(m, s, o)
}

func newColor(m *moves, s space.Spec, o Options) (*Color, error) {
	a := &Color{moves: m, frames: s.Kind == space.KindFrames, lo: 0, hi: 255}
	rank := 3
	if a.frames {
		rank = 4
	} else if s.Kind != space.KindImage {
		return nil, fmt.Errorf("port %q: colors are of images and frames, not of %s: %w", s.Name, s.Kind,
			errors.ErrUnsupported)
	}
	d, err := dims(s, rank)
	if err != nil {
		return nil, err
	}
	a.c = d[rank-3]
	if len(o.Range) != 0 {
		if len(o.Range) != 2 || !(o.Range[0] < o.Range[1]) || math.IsInf(o.Range[1]-o.Range[0], 0) {
			return nil, fmt.Errorf("port %q: the range of intensities %v: want two numbers, the lowest and the highest",
				s.Name, o.Range)
		}
		a.lo, a.hi = o.Range[0], o.Range[1]
	}
	for _, i := range m.color {
		f, ok := m.factors[i].(group.Coloring)
		if !ok {
			continue
		}
		a.exact = append(a.exact, f)
		if want := f.Channels(); want > 0 && a.c >= 0 && want != a.c {
			return nil, fmt.Errorf("port %q: %s is for pictures of %d channels, these have %d: %w", s.Name, f.Name(),
				want, a.c, errors.ErrUnsupported)
		}
	}
	return a, a.commute()
}

// commute tries whether the factors do, on a few elements and pixels whose values are far from the ends of the range.
func (a *Color) commute() error {
	for k, f := range a.exact {
		for _, g := range a.exact[:k] {
			n := max(f.Channels(), g.Channels(), 1)
			for i, e := range someElements(f, 8) {
				for j, h := range someElements(g, 8) {
					p, q := make([]float64, n), make([]float64, n)
					for c := range p {
						p[c] = 0.3 + float64(0.05*float64((3*c+i+j)%7))
						q[c] = p[c]
					}
					f.Color(e, p)
					g.Color(h, p)
					g.Color(h, q)
					f.Color(e, q)
					if !(differ(p, q) <= 1e-9) {
						return fmt.Errorf("%s: %s and %s do not commute, so their product does not act: %w",
							a.moves.group.Name(), g.Name(), f.Name(), errors.ErrUnsupported)
					}
				}
			}
		}
	}
	return nil
}

// Group is the group that acts.
func (a *Color) Group() group.Group { return a.moves.group }

// Exact tells the elements that only permute channels.
func (a *Color) Exact(g group.Element) bool {
	m, err := a.mover(g)
	return err == nil && m.channels(max(a.c, 1)) != nil
}

// Apply returns the picture, or the frames, in other colors.
func (a *Color) Apply(g group.Element, v space.Value) (space.Value, error) {
	m, err := a.mover(g)
	if err != nil {
		return nil, err
	}
	if err := a.check(v); err != nil {
		return nil, err
	}
	to := v.Clone()
	return to, m.paint(to, v)
}

// Prepare looks at the element.
func (a *Color) Prepare(g group.Element, v space.Value) (Mover, error) {
	m, err := a.mover(g)
	if err != nil {
		return nil, err
	}
	return m, a.check(v)
}

// Ends are those of the range of intensities.
func (a *Color) Ends() (lo, hi float64) { return a.lo, a.hi }

// Clipped counts the numbers that leave the range by more than roundoff.
func (a *Color) Clipped(g group.Element, v space.Value) (int, error) {
	m, err := a.mover(g)
	if err != nil {
		return 0, err
	}
	if err := a.check(v); err != nil {
		return 0, err
	}
	n := 0
	for _, x := range images(v) {
		if m.channels(x.C) != nil {
			continue
		}
		p := make([]float64, x.C)
		for i := range x.H * x.W {
			m.pixel(p, x, i)
			for _, y := range p {
				if !(y >= -1e-9 && y <= 1+1e-9) {
					n++
				}
			}
		}
	}
	return n, nil
}

func (a *Color) check(v space.Value) error {
	var c int
	if a.frames {
		x, err := asFrames(v)
		if err != nil {
			return err
		}
		c = x.Images[0].C
	} else {
		x, err := asImage(v)
		if err != nil {
			return err
		}
		c = x.C
	}
	if a.c >= 0 && c != a.c {
		return fmt.Errorf("the picture has %d channels, the action was made for %d", c, a.c)
	}
	for _, f := range a.exact {
		if want := f.Channels(); want > 0 && want != c {
			return fmt.Errorf("%s is for pictures of %d channels, this one has %d", f.Name(), want, c)
		}
	}
	return nil
}

// images are the pictures of a value.
func images(v space.Value) []*space.Image {
	switch v := v.(type) {
	case *space.Image:
		return []*space.Image{v}
	case *space.Frames:
		return v.Images
	}
	return nil
}

func (a *Color) mover(g group.Element) (*colorMover, error) {
	_, parts, err := a.moves.at(g)
	if err != nil {
		return nil, err
	}
	m := &colorMover{of: a}
	for _, i := range a.moves.color {
		m.parts = append(m.parts, parts[i])
	}
	return m, nil
}

type colorMover struct {
	of    *Color
	parts []group.Element
}

// color changes one pixel of numbers in [0, 1].
func (m *colorMover) color(p []float64) {
	for i, f := range m.of.exact {
		f.Color(m.parts[i], p)
	}
}

// pixel is pixel i of a picture in its new color, not clipped.
func (m *colorMover) pixel(p []float64, x *space.Image, i int) {
	n, size := x.H*x.W, m.of.hi-m.of.lo
	for c := range p {
		p[c] = (x.Pix[c*n+i] - m.of.lo) / size
	}
	m.color(p)
}

// channels is the permutation of c channels that the element is, channel k coming from channels[k]; nil if it is none.
func (m *colorMover) channels(c int) []int {
	for _, f := range m.of.exact {
		if n := f.Channels(); n > 0 {
			c = n
		}
	}
	from := make([]int, c)
	for try := range 3 {
		p, before := make([]float64, c), make([]float64, c)
		for i := range p {
			p[i] = math.Mod(0.137+float64(0.389*float64(i))+float64(0.211*float64(try)*float64(i+1)), 1)
			before[i] = p[i]
		}
		m.color(p)
		for i, v := range p {
			k := slices.Index(before, v)
			if k < 0 || try > 0 && k != from[i] {
				return nil
			}
			from[i] = k
		}
	}
	return from
}

// Move writes the picture or the frames in other colors.
func (m *colorMover) Move(to, from space.Value) error {
	if err := m.of.check(from); err != nil {
		return err
	}
	if err := m.of.check(to); err != nil {
		return fmt.Errorf("the result: %w", err)
	}
	d, s := images(to), images(from)
	if len(d) != len(s) {
		return fmt.Errorf("the result has %d frames, it needs %d", len(d), len(s))
	}
	for i, x := range s {
		if y := d[i]; y.C != x.C || y.H != x.H || y.W != x.W {
			return fmt.Errorf("the result has %d×%d×%d numbers, it needs %d×%d×%d", y.C, y.H, y.W, x.C, x.H, x.W)
		}
		for _, y := range d {
			if shared(x.Pix, y.Pix) {
				return errAlias
			}
		}
	}
	return m.paint(to, from)
}

// paint writes new colors, of pictures of one size; to and from may be the same.
func (m *colorMover) paint(to, from space.Value) error {
	d, s := images(to), images(from)
	if len(d) != len(s) {
		return errors.New("colors of other pictures")
	}
	a := m.of
	for i, x := range s {
		n := x.H * x.W
		p, q := make([]float64, x.C), make([]float64, x.C)
		if from := m.channels(x.C); from != nil {
			for j := range n {
				for c := range p {
					p[c] = x.Pix[c*n+j]
				}
				for c, k := range from {
					d[i].Pix[c*n+j] = p[k]
				}
			}
			continue
		}
		for j := range n {
			m.pixel(q, x, j)
			for c, v := range q {
				d[i].Pix[c*n+j] = a.lo + float64(min(max(v, 0), 1)*(a.hi-a.lo))
			}
		}
	}
	return nil
}
