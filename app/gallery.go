package app

import (
	"context"
	"fmt"
	"math"
	"slices"

	"nero/audit"
	"nero/data/space"
	"nero/internal/elementary"
	"nero/measure/metric"
)

// gallery shows the worst case of each judged set: what the model was fed unmoved and moved, and for outputs that are
// pictures what it answered, pulled back, and where the two answers differ. Cases that have no picture are left out.
func gallery(ctx context.Context, s *audit.Subject, r *audit.Report) ([]audit.Case, error) {
	var out []audit.Case
	for _, set := range r.Sets() {
		if set.At.Index < 0 || set.At.Element == nil {
			continue
		}
		c, err := worstCase(ctx, s, set)
		if err != nil {
			return nil, err
		}
		if c != nil {
			out = append(out, *c)
		}
	}
	return out, nil
}

func worstCase(ctx context.Context, s *audit.Subject, set *audit.Set) (*audit.Case, error) {
	x, err := s.Sample(set.At.Index)
	if err != nil {
		return nil, err
	}
	still, err := s.Plan.In.Apply(s.Plan.Group.Identity(), x.Value)
	if err != nil {
		return nil, err
	}
	moved, err := s.Plan.In.Apply(set.At.Element, x.Value)
	if err != nil {
		return nil, err
	}
	a, b := frames(still), frames(moved)
	if len(a) == 0 || len(b) == 0 {
		return nil, nil //nolint:nilnil // a case without pictures is no case
	}
	var all [][]float64
	for _, m := range append(slices.Clone(a), b...) {
		all = append(all, m.Pix)
	}
	lo, hi := span(all...)
	c := &audit.Case{
		Title: fmt.Sprintf("%s: the largest error, %.3g", set.Name, set.Rel.Max), Where: set.At,
		Note: "Pictures as the model is fed them, before its scale, mean and deviation are taken out.",
	}
	for k, list := range [][]*space.Image{a, b} {
		caption := []string{"unmoved", "moved by " + set.At.Label}[k]
		for t, m := range list {
			if len(list) > 1 {
				c.Pictures = append(c.Pictures, shot(fmt.Sprintf("%s, frame %d of %d", caption, t+1, len(list)), m, lo,
					hi))
			} else {
				c.Pictures = append(c.Pictures, shot(caption, m, lo, hi))
			}
		}
	}
	ys, err := s.Predictor.Predict(ctx, []space.Value{still, moved})
	if err != nil {
		return nil, err
	}
	home, err := s.Plan.Out.Apply(s.Plan.Group.Inv(set.At.Element), ys[1])
	if err != nil {
		return nil, err
	}
	if f, z, ok := space.Both[*space.Image](ys[0], home); ok && z.Form() == f.Form() {
		lo, hi := span(f.Pix, z.Pix)
		d := &space.Image{C: f.C, H: f.H, W: f.W, Pix: make([]float64, len(f.Pix))}
		for i := range d.Pix {
			d.Pix[i] = math.Abs(z.Pix[i] - f.Pix[i])
		}
		_, most := span(d.Pix)
		c.Pictures = append(c.Pictures, shot("answer unmoved", f, lo, hi),
			shot("answer moved, brought back", z, lo, hi),
			shot(fmt.Sprintf("difference, white is %.2g", most), d, 0, most))
	}
	if f, z, ok := space.Both[*space.Mask](ys[0], home); ok && z.Form() == f.Form() {
		d := space.NewImage(1, f.H, f.W)
		for i, l := range f.Label {
			if l != z.Label[i] {
				d.Pix[i] = 1
			}
		}
		c.Pictures = append(c.Pictures, shot("pixels whose label differs", d, 0, 1))
	}
	if f, z, ok := space.Both[*space.Field](ys[0], home); ok && z.Form() == f.Form() {
		p, q, d := speed(f, nil), speed(z, nil), speed(f, z)
		lo, hi := span(p.Pix, q.Pix)
		_, most := span(d.Pix)
		c.Note += " Of vectors the lengths are shown, of their difference its length."
		c.Pictures = append(c.Pictures, shot("lengths of the vectors, unmoved", p, lo, hi),
			shot("moved, brought back", q, lo, hi),
			shot(fmt.Sprintf("length of the difference, white is %.2g", most), d, 0, most))
	}
	if f, z, ok := space.Both[*space.Boxes](ys[0], home); ok {
		d := metric.Between(z, f)
		c.Note += fmt.Sprintf(
			" Boxes of the unmoved picture are green, those of the moved one, brought back, red: %d match, %d "+
				"are missed, %d are new, %d are left out.",
			d.Matched, d.Missed, d.Extra, d.Left)
		c.Pictures = append(c.Pictures, withBoxes("answers on the unmoved picture", shot("", a[0], lo, hi), f, z))
	}
	if f := ys[0]; f.Kind() == space.KindScores {
		c.Note += fmt.Sprintf(" Answer unmoved: class %s; moved: class %s.", s.ClassName(audit.Class(f)),
			s.ClassName(audit.Class(home)))
	}
	return c, nil
}

// frames are the picture that a value is, the pictures that it holds, or the drawing of a volume; nil for other values.
func frames(v space.Value) []*space.Image { return space.Views(v) }

// speed is the length of every vector of a field, less those of another if there is one.
func speed(f, less *space.Field) *space.Image {
	m := space.NewImage(1, f.H, f.W)
	u, v := f.U(), f.V()
	for i := range m.Pix {
		x, y := u[i], v[i]
		if less != nil {
			x, y = x-less.U()[i], y-less.V()[i]
		}
		m.Pix[i] = elementary.Hypot(x, y)
	}
	return m
}

// withBoxes draws two sets of boxes on a picture, the first green, the second red, each as the rectangle along the axes
// that holds it.
func withBoxes(caption string, p audit.Picture, first, second *space.Boxes) audit.Picture {
	q := audit.Picture{Caption: caption, W: p.W, H: p.H, Pix: p.Pix}
	if len(p.Pix) == p.W*p.H {
		q.Pix = make([]byte, 0, 3*len(p.Pix))
		for _, g := range p.Pix {
			q.Pix = append(q.Pix, g, g, g)
		}
	}
	dot := func(x, y float64, c [3]byte) {
		if i, j := int(math.Floor(x)), int(math.Floor(y)); i >= 0 && j >= 0 && i < q.W && j < q.H {
			copy(q.Pix[3*(j*q.W+i):], c[:])
		}
	}
	for k, set := range []*space.Boxes{first, second} {
		c := [][3]byte{{0, 200, 0}, {230, 30, 30}}[k]
		for _, b := range set.Items {
			if math.IsNaN(b.X1 + b.X2 + b.Y1 + b.Y2) {
				continue
			}
			x1, x2 := max(0, min(b.X1, b.X2)), min(float64(q.W)-0.5, max(b.X1, b.X2))
			y1, y2 := max(0, min(b.Y1, b.Y2)), min(float64(q.H)-0.5, max(b.Y1, b.Y2))
			for x := x1; x <= x2; x++ {
				dot(x, y1, c)
				dot(x, y2, c)
			}
			for y := y1; y <= y2; y++ {
				dot(x1, y, c)
				dot(x2, y, c)
			}
		}
	}
	return q
}

// span is the smallest interval that holds all finite numbers.
func span(lists ...[]float64) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, x := range lists {
		for _, v := range x {
			if !math.IsInf(v, 0) && !math.IsNaN(v) {
				lo, hi = min(lo, v), max(hi, v)
			}
		}
	}
	if !(lo < hi) {
		return lo, lo + 1
	}
	return lo, hi
}

// shot scales a picture to bytes: three channels are red, green and blue, others show the first.
func shot(caption string, m *space.Image, lo, hi float64) audit.Picture {
	n := m.H * m.W
	channels := 1
	if m.C == 3 {
		channels = 3
	}
	p := audit.Picture{Caption: caption, W: m.W, H: m.H, Pix: make([]byte, channels*n)}
	for c := range channels {
		for i := range n {
			v := (m.Pix[c*n+i] - lo) / (hi - lo)
			if !(v >= 0) {
				v = 0
			}
			p.Pix[i*channels+c] = byte(math.Round(255 * min(v, 1)))
		}
	}
	return p
}
