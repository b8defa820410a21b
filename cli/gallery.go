package cli

import (
	"context"
	"fmt"
	"math"

	"nero/audit"
	"nero/data/space"
)

// gallery shows the worst case of each judged set: what the model was fed unmoved and moved, and for outputs that are pictures what
// it answered, pulled back, and where the two answers differ. Cases that have no picture are left out.
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
	a, ok := still.(*space.Image)
	b, ok2 := moved.(*space.Image)
	if !ok || !ok2 {
		return nil, nil //nolint:nilnil // a case without pictures is no case
	}
	lo, hi := span(a.Pix, b.Pix)
	c := &audit.Case{
		Title: fmt.Sprintf("%s: the largest error, %.3g", set.Name, set.Rel.Max), Where: set.At,
		Note:     "Pictures as the model is fed them, before its scale, mean and deviation are taken out.",
		Pictures: []audit.Picture{shot("unmoved", a, lo, hi), shot("moved by "+set.At.Label, b, lo, hi)},
	}
	ys, err := s.Predictor.Predict(ctx, []space.Value{still, moved})
	if err != nil {
		return nil, err
	}
	home, err := s.Plan.Out.Apply(s.Plan.Group.Inv(set.At.Element), ys[1])
	if err != nil {
		return nil, err
	}
	switch f := ys[0].(type) {
	case *space.Image:
		if z, ok := home.(*space.Image); ok && z.C == f.C && z.H == f.H && z.W == f.W {
			lo, hi := span(f.Pix, z.Pix)
			d := &space.Image{C: f.C, H: f.H, W: f.W, Pix: make([]float64, len(f.Pix))}
			for i := range d.Pix {
				d.Pix[i] = math.Abs(z.Pix[i] - f.Pix[i])
			}
			_, most := span(d.Pix)
			c.Pictures = append(c.Pictures, shot("answer unmoved", f, lo, hi), shot("answer moved, brought back", z, lo, hi), shot(fmt.Sprintf("difference, white is %.2g", most), d, 0, most))
		}
	case *space.Mask:
		if z, ok := home.(*space.Mask); ok && z.H == f.H && z.W == f.W {
			d := space.NewImage(1, f.H, f.W)
			for i, l := range f.Label {
				if l != z.Label[i] {
					d.Pix[i] = 1
				}
			}
			c.Pictures = append(c.Pictures, shot("pixels whose label differs", d, 0, 1))
		}
	case *space.Scores:
		c.Note += fmt.Sprintf(" Answer unmoved: class %d; moved: class %d.", audit.Class(f), audit.Class(home))
	}
	return c, nil
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
