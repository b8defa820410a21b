package decode

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"nero/data/space"
	"nero/data/tensor"
)

// ErrNotLinear marks a codec one of whose sides has no derivative: pixels rounded to integers on the way in, labels on
// the way out.
var ErrNotLinear = errors.New("not differentiable")

// Tangents is what a codec has besides if derivatives can pass through it. The codecs of this package have it.
type Tangents interface {
	// Linear is the linear part of Encode: it lays out changes of the values as changes of the input tensors, in
	// float64, and without the copies that fill up a fixed batch.
	Linear(changes []space.Value) ([]tensor.Named, error)
	// Adjoint is the transpose of Linear. It carries gradients with respect to the input tensors, of one row per value
	// and in float64, back to gradients with respect to the values; like are the values, whose forms it needs.
	Adjoint(grads []tensor.Named, like []space.Value) ([]space.Value, error)
	// Raw is the transpose of Decode without softmax: it carries gradients with respect to predictions to gradients
	// with respect to the model's output, in float64. Where decoding does no more than reorder numbers, which is
	// everywhere but in fields with a scale, it is also its inverse and lays predictions out as the model returns them.
	Raw(predictions []space.Value) (tensor.Named, error)
	// Double is the same codec with float64 in place of the floating-point type that the model reads.
	Double() Codec
	// Plain is the same codec without softmax: scores are the model's own numbers, checked for nothing.
	Plain() Codec
	// BatchAxis says whether the first axis of the inputs counts samples. If not, there is one sample a batch.
	BatchAxis() bool
}

// Linear is the linear part of Encode, see [Tangents]. The error wraps [ErrNotLinear] if the codec has none.
func Linear(c Codec, changes []space.Value) ([]tensor.Named, error) {
	t, ok := c.(Tangents)
	if !ok {
		return nil, fmt.Errorf("the codec %T: %w", c, ErrNotLinear)
	}
	return t.Linear(changes)
}

// Adjoint is the transpose of [Linear], see [Tangents]. The error wraps [ErrNotLinear] if the codec has none.
func Adjoint(c Codec, grads []tensor.Named, like []space.Value) ([]space.Value, error) {
	t, ok := c.(Tangents)
	if !ok {
		return nil, fmt.Errorf("the codec %T: %w", c, ErrNotLinear)
	}
	return t.Adjoint(grads, like)
}

// Raw lays out predictions, or gradients with respect to them, as the model's output, see [Tangents]. The error wraps
// [ErrNotLinear] if decoding is not linear, as with labels and boxes.
func Raw(c Codec, predictions []space.Value) (tensor.Named, error) {
	t, ok := c.(Tangents)
	if !ok {
		return tensor.Named{}, fmt.Errorf("the codec %T: %w", c, ErrNotLinear)
	}
	return t.Raw(predictions)
}

// Double is the codec that feeds float64, for bodies that compute in it. A codec that cannot comes back as it is.
func Double(c Codec) Codec {
	if t, ok := c.(Tangents); ok {
		return t.Double()
	}
	return c
}

// Plain is the codec whose scores are the model's own numbers. A codec that has no such form comes back as it is.
func Plain(c Codec) Codec {
	if t, ok := c.(Tangents); ok {
		return t.Plain()
	}
	return c
}

// BatchAxis says whether the first axis of a codec's inputs counts samples; true for a codec that does not say.
func BatchAxis(c Codec) bool {
	if t, ok := c.(Tangents); ok {
		return t.BatchAxis()
	}
	return true
}

// Rounded makes a tensor out of numbers, each rounded to the nearest of the element type, ties to even. Integers
// saturate, and NaN becomes 0 in them.
func Rounded(d tensor.DType, v []float64, shape ...int) (tensor.Tensor, error) {
	if d.Size() == 0 {
		return tensor.Tensor{}, fmt.Errorf("numbers are not stored as %s", d)
	}
	if n := tensor.Count(shape); n != len(v) {
		return tensor.Tensor{}, fmt.Errorf("%d numbers for the shape %v, which has %d", len(v), shape, n)
	}
	t := tensor.New(d, shape...)
	le := binary.LittleEndian
	for i, x := range v {
		switch d {
		case tensor.Float64:
			le.PutUint64(t.Raw[8*i:], math.Float64bits(x))
		case tensor.Float32:
			le.PutUint32(t.Raw[4*i:], math.Float32bits(float32(x)))
		case tensor.Float16:
			le.PutUint16(t.Raw[2*i:], small(x, 10, 15))
		case tensor.BFloat16:
			le.PutUint16(t.Raw[2*i:], small(x, 7, 127))
		case tensor.Bool:
			if x != 0 {
				t.Raw[i] = 1
			}
		case tensor.Uint8:
			t.Raw[i] = uint8(whole(x, 0, math.MaxUint8))
		case tensor.Int8:
			t.Raw[i] = uint8(int8(whole(x, math.MinInt8, math.MaxInt8)))
		case tensor.Uint16:
			le.PutUint16(t.Raw[2*i:], uint16(whole(x, 0, math.MaxUint16)))
		case tensor.Int16:
			le.PutUint16(t.Raw[2*i:], uint16(int16(whole(x, math.MinInt16, math.MaxInt16))))
		case tensor.Uint32:
			le.PutUint32(t.Raw[4*i:], uint32(whole(x, 0, math.MaxUint32)))
		case tensor.Int32:
			le.PutUint32(t.Raw[4*i:], uint32(int32(whole(x, math.MinInt32, math.MaxInt32))))
		case tensor.Uint64, tensor.Int64:
			// Beyond 2^63 - 1024 a float64 is no int64; nothing in a graph counts so far.
			le.PutUint64(t.Raw[8*i:], uint64(int64(whole(x, math.MinInt64, math.MaxInt64-1023))))
		case tensor.Undefined, tensor.String:
		}
	}
	return t, nil
}

func whole(x, lo, hi float64) float64 {
	if math.IsNaN(x) {
		return 0
	}
	return math.RoundToEven(min(max(x, lo), hi))
}

// float64s makes a float64 tensor.
func float64s(name string, v []float64, shape ...int) (tensor.Named, error) {
	t, err := Rounded(tensor.Float64, v, shape...)
	return tensor.Named{Name: name, Tensor: t}, err
}

// derivative is the encoder of changes: the same layout, in float64, without the means.
func (e *encoder) derivative() (*encoder, error) {
	if e.dtype == tensor.Uint8 {
		return nil, fmt.Errorf("input %q is uint8: %w", e.name, ErrNotLinear)
	}
	d := e.as(tensor.Float64)
	d.batch, d.norm = 0, nil
	for _, n := range e.norm {
		d.norm = append(d.norm, newNorm(n.scale, 0, n.std))
	}
	return d, nil
}

// as is the encoder with another element type.
func (e *encoder) as(t tensor.DType) *encoder {
	d := &encoder{port: e.port, spec: e.spec, from: e.from, order: e.order, norm: e.norm}
	d.dtype = t
	return d
}

func (c *codec) Linear(changes []space.Value) ([]tensor.Named, error) {
	if !c.BatchAxis() && len(changes) != 1 {
		return nil, fmt.Errorf("%d samples for input %q, which has no batch axis", len(changes), c.e[0].name)
	}
	out := make([]tensor.Named, len(c.e))
	for k, e := range c.e {
		d, err := e.derivative()
		if err != nil {
			return nil, err
		}
		one, err := d.encode(changes, nil)
		if err != nil {
			return nil, err
		}
		out[k] = one[0]
	}
	return out, nil
}

func (c *codec) Adjoint(grads []tensor.Named, like []space.Value) ([]space.Value, error) {
	if len(grads) != len(c.e) {
		if len(c.e) == 1 {
			return nil, fmt.Errorf("%d gradients for the one input %q", len(grads), c.e[0].name)
		}
		return nil, fmt.Errorf("%d gradients for %d inputs", len(grads), len(c.e))
	}
	out := make([]space.Value, len(like))
	for i := range out {
		if f, ok := like[i].(*space.Frames); ok && f != nil {
			out[i] = &space.Frames{Images: make([]*space.Image, len(f.Images))}
		}
	}
	if len(like) == 0 {
		return out, nil
	}
	for k, e := range c.e {
		d, err := e.derivative()
		if err != nil {
			return nil, err
		}
		g := slices.IndexFunc(grads, func(g tensor.Named) bool { return g.Name == e.name })
		if g < 0 {
			if len(c.e) > 1 {
				return nil, fmt.Errorf("no gradient of %q", e.name)
			}
			g = k
		}
		if err := d.adjoint(grads[g].Tensor, like, out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// adjoint carries the gradient of one input back into the pictures that it was made of.
func (e *encoder) adjoint(grad tensor.Tensor, like, out []space.Value) error {
	v, err := grad.Float64s(nil)
	if err != nil {
		return fmt.Errorf("gradient of %q: %w", e.name, err)
	}
	per := len(v) / len(like)
	for i, l := range like {
		for t := range e.frames {
			m, err := e.picture(l, t)
			if err != nil {
				return fmt.Errorf("sample %d of the batch %w", i, err)
			}
			k := e.made(m.C)
			if k == 0 || per != e.frames*k*m.H*m.W || per*len(like) != len(v) {
				return fmt.Errorf("a gradient of %d numbers for %d samples of %d x %d x %d", len(v), len(like), m.C,
					m.H, m.W)
			}
			b := e.back(v[i*per:(i+1)*per], m, t, k)
			if f, ok := out[i].(*space.Frames); ok {
				f.Images[e.from+t] = b
			} else {
				out[i] = b
			}
		}
	}
	return nil
}

// bt601 are the weights with which colour becomes grey.
var bt601 = [3]float64{0.299, 0.587, 0.114} //nolint:gochecknoglobals // a constant

// back is the transpose of image for frame t of one sample with k channels a frame.
func (e *encoder) back(g []float64, like *space.Image, t, k int) *space.Image {
	area := like.H * like.W
	out := space.NewImage(like.C, like.H, like.W)
	for c := range k {
		n := e.scaling(t, c, k)
		f := 1 / (n.scale * n.std)
		at, stride := e.place(t, c, k, area)
		add := func(plane int, w float64) {
			p := out.Plane(plane)
			for i := range p {
				p[i] += float64(w * f * g[at+i*stride])
			}
		}
		switch {
		case e.order == "grey" && like.C == 3:
			for s, w := range bt601 {
				add(s, w)
			}
		case like.C == 1:
			add(0, 1)
		case e.order == "bgr":
			add(2-c, 1)
		default:
			add(c, 1)
		}
	}
	return out
}

// Raw is the transpose of Decode: what does not count of an answer has no part in what is derived from it.
func (c *codec) Raw(predictions []space.Value) (tensor.Named, error) {
	if c.within != nil {
		all := make([]space.Value, len(predictions))
		for i, y := range predictions {
			all[i] = c.within(y)
		}
		predictions = all
	}
	return c.d.raw(predictions)
}

func (c *codec) Double() Codec {
	d := &codec{d: c.d, in: c.in, within: c.within}
	for _, e := range c.e {
		t := tensor.Float64
		if e.dtype == tensor.Uint8 { // rounding to whole numbers is part of what such a model sees
			t = tensor.Uint8
		}
		d.e = append(d.e, e.as(t))
	}
	return d
}

func (c *codec) Plain() Codec { return &codec{e: c.e, d: c.d.plain(), in: c.in, within: c.within} }

func (c *codec) BatchAxis() bool { return c.e[0].axes.n >= 0 }

// plain is the decoder of the model's own numbers.
func (d *decoder) plain() outputs {
	p := *d
	p.how = cmp.Or(d.k.decoded.plain, d.how)
	return &p
}

// raw is the inverse of decode, for the numbers that the model returned.
func (d *decoder) raw(predictions []space.Value) (tensor.Named, error) {
	if len(predictions) == 0 {
		return tensor.Named{}, errors.New("no predictions")
	}
	var all []float64
	var shape []int
	for i, p := range predictions {
		v, s, err := d.rawOne(p)
		if err != nil {
			return tensor.Named{}, fmt.Errorf("output %q, prediction %d: %w", d.name, i, err)
		}
		if i > 0 && !slices.Equal(s, shape) {
			return tensor.Named{}, fmt.Errorf("output %q, prediction %d has the shape %v, the first %v", d.name, i, s,
				shape)
		}
		all, shape = append(all, v...), s
	}
	if d.batched {
		shape = append([]int{len(predictions)}, shape...)
	} else if len(predictions) != 1 {
		return tensor.Named{}, fmt.Errorf("output %q has no batch axis, there are %d predictions", d.name,
			len(predictions))
	}
	return float64s(d.name, all, shape...)
}

// rawOne is one prediction as the model returns it, with its shape.
func (d *decoder) rawOne(p space.Value) ([]float64, []int, error) {
	if l, ok := p.(space.Linear); ok {
		k := d.k
		if cmp.Or(k.makes, k.of) != p.Kind() {
			k = kindFor(p.Kind(), nil)
		}
		if k.decoded != nil && k.decoded.raw != nil {
			return k.decoded.raw(d, l.Output(), p.Dims())
		}
	}
	return nil, nil, fmt.Errorf("%s: %w", kindOf(p), ErrNotLinear)
}

// fill returns v with the declared shape, whose free axes take what is there, or with the shape otherwise if none is
// declared.
func fill(v []float64, declared []int, otherwise ...int) ([]float64, []int, error) {
	if declared == nil {
		return v, otherwise, nil
	}
	known, free := 1, -1
	for i, n := range declared {
		switch {
		case n >= 0:
			known *= n
		case free >= 0:
			declared[i] = 1
		default:
			free = i
		}
	}
	if free >= 0 && known > 0 {
		declared[free] = len(v) / known
		known *= declared[free]
	}
	if known != len(v) {
		return nil, nil, fmt.Errorf("%d numbers for the shape %v", len(v), declared)
	}
	return v, declared, nil
}

var _ Tangents = (*codec)(nil)
