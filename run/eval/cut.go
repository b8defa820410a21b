package eval

import (
	"slices"

	"nero/data/space"
	"nero/data/tensor"
	"nero/internal/lanes"
	"nero/model/decode"
	"nero/symmetry/action"
)

// ready is a scaled sample whose numbers are also there as the models read them.
type ready struct {
	space.Value
	floats []float32
}

// cut is a moved sample that is not made but where it is laid out: a window of a photo goes straight into the batch.
type cut struct {
	// of its shape; its numbers are never read
	space.Value
	of    *ready
	mover action.Mover
	move  func(to, from []float32)
}

// whole makes the moved sample.
func (c *cut) whole() (space.Value, error) {
	to := c.Clone()
	return to, c.mover.Move(to, c.of.Value)
}

// straight finds out whether moved samples go straight into batches: if pixels are scaled ahead, every element moves
// them by their places, and all models read them in their own order.
func (e *Evaluation) straight() {
	e.floats = nil
	if e.scaler == nil || len(e.mover) < len(e.Plan.Elements) ||
		slices.ContainsFunc(e.fed, func(m *Model) bool { return !decode.Bare(m.Codec) }) {
		return
	}
	var all []func(to, from []float32)
	for _, m := range e.mover {
		f := action.Floats(m)
		if f == nil {
			return
		}
		all = append(all, f)
	}
	e.floats = all
}

// readied adds the numbers of a scaled sample as the models read them.
func readied(x space.Value) *ready {
	r := &ready{Value: x, floats: make([]float32, size(x))}
	to := r.floats
	for _, m := range images(x) {
		lanes.Narrow(to, m.Pix)
		to = to[len(m.Pix):]
	}
	return r
}

// images are the pictures that a sample consists of.
func images(x space.Value) []*space.Image {
	if f, ok := x.(interface{ Pictures() []*space.Image }); ok {
		return f.Pictures()
	}
	if m, ok := x.(*space.Image); ok {
		return []*space.Image{m}
	}
	return nil
}

// encode lays a batch out.
func (p *predictor) encode(batch []space.Value) ([]tensor.Named, error) {
	n := 0
	for _, v := range batch {
		if _, ok := v.(*cut); ok {
			n++
		}
	}
	if n == len(batch) {
		first := batch[0].(*cut) //nolint:errcheck,forcetypeassert // counted above
		return decode.Lay(p.m.Codec, n, first.Value, p.in, func(i int, dst []float32) {
			c := batch[i].(*cut) //nolint:errcheck,forcetypeassert // counted above
			c.move(dst, c.of.floats)
		})
	}
	if n > 0 { // beside samples of another size, of which windows of the same size were cut
		batch = slices.Clone(batch)
		for i, v := range batch {
			if c, ok := v.(*cut); ok {
				var err error
				if batch[i], err = c.whole(); err != nil {
					return nil, err
				}
			}
		}
	}
	return p.m.Codec.Encode(batch, p.in)
}
