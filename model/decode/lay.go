package decode

import (
	"fmt"
	"slices"
	"unsafe"

	"nero/data/space"
	"nero/data/tensor"
)

// Bare reports whether c lays a picture, or frames, out as its numbers in their own order, rounded to float32 and
// nothing more, in one input: [Lay] feeds such a codec.
func Bare(c Codec) bool {
	k, ok := c.(*codec)
	if !ok || len(k.e) != 1 {
		return false
	}
	e := k.e[0]
	if e.dtype != tensor.Float32 || e.order != "" {
		return false
	}
	for i := range e.norm {
		if !e.norm[i].plain {
			return false
		}
	}
	const c3, area = 3, 100
	for t := range e.frames {
		for k := range c3 {
			if at, stride := e.place(t, k, c3, area); at != (t*c3+k)*area || stride != 1 {
				return false
			}
		}
	}
	return true
}

// Lay is Encode of a codec that is [Bare] for n values like one, whose numbers put writes. They are those that Encode
// would round the values to. buf may be what a former call returned.
func Lay(c Codec, n int, one space.Value, buf []tensor.Named, put func(i int, dst []float32)) ([]tensor.Named, error) {
	k, ok := c.(*codec)
	if !ok || !Bare(c) {
		return nil, fmt.Errorf("a codec %T does more than lay numbers out", c)
	}
	if most := k.BatchLimit(); most > 0 && n > most {
		return nil, fmt.Errorf("%d samples for a model that takes %d at a time", n, most)
	}
	e := k.e[0]
	var of *space.Image
	for t := range e.frames {
		m, err := e.picture(one, t)
		if err != nil {
			return nil, fmt.Errorf("the sample %w", err)
		}
		if of == nil {
			of = m
		}
		if err := e.check(m, of.H, of.W); err != nil {
			return nil, err
		}
	}
	rows := max(n, e.batch)
	if len(buf) != 1 || !e.fits(buf[0], rows, of.C, of.H, of.W) {
		buf = []tensor.Named{{Name: e.name, Tensor: tensor.New(e.dtype, e.dims(nil, rows, of.C, of.H, of.W)...)}}
	}
	all := unsafe.Slice((*float32)(unsafe.Pointer(&buf[0].Raw[0])), len(buf[0].Raw)/4)
	size := len(all) / rows
	for i := range rows {
		dst := all[i*size : (i+1)*size]
		if i < n {
			put(i, dst)
		} else { // a fixed batch axis is filled up with the last sample, as by Encode
			copy(dst, all[(n-1)*size:])
		}
	}
	return buf, nil
}

// Alike reports whether two codecs of pictures lay all samples out to the same bytes under the same names. Of other
// codecs it knows nothing.
func Alike(a, b Codec) bool {
	x, ok := a.(*codec)
	y, same := b.(*codec)
	return ok && same && slices.EqualFunc(x.e, y.e, func(d, e *encoder) bool {
		return d.name == e.name && d.dtype == e.dtype && d.axes == e.axes && d.nhwc == e.nhwc &&
			d.c == e.c && d.h == e.h && d.w == e.w && d.frames == e.frames && d.batch == e.batch &&
			d.from == e.from && d.order == e.order && d.spec.Frames == e.spec.Frames && slices.Equal(d.norm, e.norm)
	})
}
