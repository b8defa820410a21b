package decode

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"unsafe"

	"nero/data/space"
	"nero/data/tensor"
)

// describe fills in what a sample is.
func (c *record) describe() {
	moving := 0
	for _, f := range c.feeds {
		if f.constant() {
			continue
		}
		moving++
		s := f.spec
		if f.x.Ranked && f.img == nil {
			s.Shape = f.shape(c.batched)
		}
		if f.Field == "" {
			s.Name = f.x.Name
			c.in = s
		} else {
			c.in.Fields = append(c.in.Fields, s)
		}
	}
	if len(c.in.Fields) > 0 {
		if c.in.Kind = space.KindRecord; c.whole.Kind != "" && !c.whole.IsRecord() {
			c.in = c.in.Fields[0] // data without fields: the one value, whatever its name
		}
	}
}

// shape is that of a sample's value, as far as data and model know it.
func (f *feed) shape(batched bool) []int {
	e := f.k.fed.known(f.spec)
	declared := f.x.Sizes()
	if batched {
		declared = declared[1:]
	}
	if f.form.axes == "*" {
		return declared
	}
	take := func(i, n int) {
		if i < len(e.shape) && e.shape[i] < 0 && n > 0 {
			e.shape[i] = n
		}
	}
	for i, a := range []byte(f.form.axes) {
		n := declared[i]
		switch a {
		case 'r', 'c', 'i':
			if f.Pad == 0 {
				take(0, n)
				if a == 'i' {
					take(1, n)
				}
			}
		case 'w':
			take(len(e.shape)-1, n)
		case 'e', 't', 'D':
			take(1, n)
		case 'H':
			take(2, n)
		case 'W':
			take(3, n)
		}
	}
	switch {
	case f.form.axes == "f" && len(e.shape) == 2 && e.shape[0] > 0 && declared[0] > 0 && f.Pad == 0:
		take(1, declared[0]/e.shape[0])
	case f.form.axes == "f" && len(e.shape) == 2 && e.shape[1] > 0 && declared[0] > 0 && f.Pad == 0:
		take(0, declared[0]/e.shape[1])
	}
	return e.shape
}

func (c *record) In() space.Spec { return c.in }

// BatchLimit is the batch that the model is fixed to; 0 if it is free.
func (c *record) BatchLimit() int { return c.batch }

// Notes say what was guessed.
func (c *record) Notes() []string { return c.notes }

// BatchAxis says whether the first axis of the inputs counts samples.
func (c *record) BatchAxis() bool { return c.batched }

// value is what an input is fed with out of a sample.
func (f *feed) value(v space.Value) (space.Value, error) {
	r, ok := v.(*space.Record)
	switch {
	case ok && f.Field == "":
		return nil, fmt.Errorf("is a record; say which field goes to input %q", f.x.Name)
	case ok:
		if len(r.Names) != len(r.Values) {
			return nil, fmt.Errorf("is a record of %d names and %d values", len(r.Names), len(r.Values))
		}
		w := r.Field(f.Field)
		if w == nil {
			return nil, fmt.Errorf("has no field %q", f.Field)
		}
		return w, nil
	case v == nil:
		return nil, errors.New("is nothing")
	}
	return v, nil
}

// together tells whether all inputs have one shape for two samples; where one is refused it says no.
func (c *record) together(a, b space.Value) bool {
	for _, f := range c.feeds {
		if f.constant() {
			continue
		}
		x, err := f.value(a)
		y, err2 := f.value(b)
		if err != nil || err2 != nil || x == nil || y == nil {
			return false
		}
		if f.Pad > 0 { // whatever has nodes has as many
			p, ok := x.(space.Counted)
			q, too := y.(space.Counted)
			if !ok || !too || p.Columns() != q.Columns() {
				return false
			}
			continue
		}
		if !slices.Equal(x.Dims(), y.Dims()) {
			return false
		}
	}
	return true
}

// lengths are those of a value of the right kind.
func (f *feed) lengths(v space.Value) (extent, error) {
	if v == nil || v.Kind() != f.Kind {
		return extent{}, fmt.Errorf("field %q: is %s, want %s", cmpName(f.InputField), kindOf(v), f.Kind)
	}
	if f.k.fed.check != nil {
		if err := f.k.fed.check(v); err != nil {
			return extent{}, fmt.Errorf("field %q: %w", cmpName(f.InputField), err)
		}
	}
	return extent{v.Dims()}, nil
}

// content is the numbers of a value and its lengths.
func (f *feed) content(v space.Value) ([]float64, extent, error) {
	bad := func(form string, a ...any) ([]float64, extent, error) {
		return nil, extent{}, fmt.Errorf("field %q: %w", cmpName(f.InputField), fmt.Errorf(form, a...))
	}
	e, err := f.lengths(v)
	if err != nil {
		return nil, e, err
	}
	x := v.Numbers()
	if n := tensor.Count(e.shape); n != len(x) {
		return bad("%d numbers for the shape %v", len(x), e.shape)
	}
	return x, e, nil
}

// pad adds rows of zeros.
func (f *feed) pad(x []float64, e extent) ([]float64, extent, error) {
	n := e.shape[0]
	if f.Pad == 0 || n == f.Pad {
		return x, e, nil
	}
	if n > f.Pad {
		return nil, e, fmt.Errorf(
			"field %q has %d rows, pad is %d; raise input.fields pad if the model takes more rows",
			cmpName(f.InputField), n, f.Pad)
	}
	w := e.shape[len(e.shape)-1]
	if f.k.fed.nodes == 1 {
		y := make([]float64, f.Pad*w)
		copy(y, x)
		return y, extent{[]int{f.Pad, w}}, nil
	}
	y := make([]float64, f.Pad*f.Pad*w)
	for i := range n {
		copy(y[i*f.Pad*w:], x[i*n*w:(i+1)*n*w])
	}
	return y, extent{[]int{f.Pad, f.Pad, w}}, nil
}

// dims is the shape of a sample in the input, checked against what the model declares.
func (f *feed) dims(e extent, batched bool) ([]int, error) {
	var declared []int
	if f.x.Ranked {
		if declared = f.x.Sizes(); batched {
			declared = declared[1:]
		}
		if _, _, ok := e.fit(f.form, declared); !ok {
			return nil, f.misfit(e, batched)
		}
	}
	if f.form.axes == "*" {
		return e.shape, nil
	}
	out := make([]int, len(f.form.axes))
	for i, a := range []byte(f.form.axes) {
		out[i] = e.length(a)
	}
	return out, nil
}

// lead is the number of leading groups and the length of each, for transposing.
func (f *feed) lead(e extent) (p, q int) {
	if f.form.turn {
		return e.shape[0], tensor.Count(e.shape[1:])
	}
	if q = e.shape[len(e.shape)-1]; q == 0 {
		return 0, 0
	}
	return tensor.Count(e.shape) / q, q
}

// transposes tells whether the numbers of a value stand in another order in the input.
func (f form) transposes() bool { return f.swap || f.turn }

// put writes numbers into the bytes of a tensor as d.
func put(dst []byte, d tensor.DType, v []float64, p, q int, swap bool) error {
	le := binary.LittleEndian
	if d == tensor.Float32 {
		if !swap {
			p, q = 1, len(v)
		}
		// the machines that engines run on are little-endian
		if !swap && len(v) > 0 && uintptr(unsafe.Pointer(&dst[0]))%4 == 0 {
			to := unsafe.Slice((*float32)(unsafe.Pointer(&dst[0])), len(dst)/4)[:len(v)]
			for i, x := range v {
				to[i] = float32(x)
			}
			return nil
		}
		for i := range p { // of one group, transposing changes nothing
			for k := range q {
				le.PutUint32(dst[4*(k*p+i):], math.Float32bits(float32(v[i*q+k])))
			}
		}
		return nil
	}
	if i, err := fitsType(v, d); err != nil {
		return fmt.Errorf("number %d: %w, the type of the input", i, err)
	}
	if swap {
		v = transposed(v, p, q)
	}
	if d == tensor.Int64 { // whole numbers, by what fitsType says
		for i, x := range v {
			le.PutUint64(dst[8*i:], uint64(int64(x)))
		}
		return nil
	}
	t, err := Rounded(d, v, len(v))
	if err != nil {
		return err
	}
	copy(dst, t.Raw)
	return nil
}

// transposed is a copy of p x q numbers as q x p.
func transposed(v []float64, p, q int) []float64 {
	out := make([]float64, len(v))
	for i := range p {
		for k := range q {
			out[k*p+i] = v[i*q+k]
		}
	}
	return out
}

// Encode lays out the values, see [Codec].
func (c *record) Encode(batch []space.Value, buf []tensor.Named) ([]tensor.Named, error) {
	if len(batch) == 0 {
		return nil, errors.New("an empty batch")
	}
	rows := len(batch)
	if c.batch > 0 {
		if rows > c.batch && !c.batched {
			return nil, fmt.Errorf("%d samples for a model that reads one at a time", rows)
		}
		if rows > c.batch {
			return nil, fmt.Errorf("%d samples for a model whose batch axis is fixed at %d", rows, c.batch)
		}
		rows = c.batch
	}
	if len(buf) != len(c.feeds) {
		buf = make([]tensor.Named, len(c.feeds))
	}
	for k, f := range c.feeds {
		var err error
		if buf[k], err = f.encode(batch, rows, c.batched, f.dtype, buf[k]); err != nil {
			return nil, fmt.Errorf("input %q: %w", f.x.Name, err)
		}
	}
	return buf, nil
}

// encode lays out one input.
func (f *feed) encode(batch []space.Value, rows int, batched bool, d tensor.DType, buf tensor.Named) (tensor.Named,
	error,
) {
	if f.constant() {
		return f.constants(rows, d)
	}
	if f.img != nil {
		return f.pixels(f.img, batch, rows, buf)
	}
	if f.k.fed.words {
		return f.words(batch, rows, batched)
	}
	var shape []int
	var first extent
	one := 0
	for i := range batch {
		v, err := f.value(batch[i])
		if err != nil {
			return buf, fmt.Errorf("sample %d of the batch %w", i, err)
		}
		var x []float64
		var e extent
		if f.k.fed.put != nil {
			e, err = f.lengths(v)
		} else {
			x, e, err = f.content(v)
		}
		tail := false // zeros follow the numbers
		if err == nil && f.Pad > 0 {
			if tail = f.k.fed.nodes == 1 && e.shape[0] < f.Pad && !f.form.transposes(); tail {
				e.shape[0] = f.Pad
			} else {
				x, e, err = f.pad(x, e)
			}
		}
		if err != nil {
			return buf, fmt.Errorf("sample %d of the batch: %w", i, err)
		}
		if i == 0 {
			first = e
			if shape, err = f.dims(e, batched); err != nil {
				return buf, err
			}
			if batched {
				shape = append([]int{rows}, shape...)
			}
			one = tensor.Count(e.shape) * d.Size()
			if buf.Name != f.x.Name || buf.DType != d || !slices.Equal(buf.Shape, shape) || len(buf.Raw) != rows*one {
				buf = tensor.Named{Name: f.x.Name, Tensor: tensor.New(d, shape...)}
			}
		} else if !slices.Equal(e.shape, first.shape) {
			return buf, fmt.Errorf(
				"sample %d of the batch has the shape %v, the first %v; one batch has values of one shape", i, e.shape,
				first.shape)
		}
		if f.k.fed.put != nil {
			if f.k.fed.put(buf.Raw[i*one:(i+1)*one], d, v, f.form.transposes()) {
				continue
			}
			if x, _, err = f.content(v); err != nil {
				return buf, fmt.Errorf("sample %d of the batch: %w", i, err)
			}
		}
		p, q := f.lead(e)
		to := buf.Raw[i*one : (i+1)*one]
		if tail {
			clear(to[len(x)*d.Size():])
		}
		if err := put(to, d, x, p, q, f.form.transposes()); err != nil {
			return buf, fmt.Errorf("sample %d of the batch: field %q: %w", i, cmpName(f.InputField), err)
		}
	}
	for i := len(batch); i < rows; i++ { // a fixed batch axis is filled up with the last sample
		copy(buf.Raw[i*one:(i+1)*one], buf.Raw[(len(batch)-1)*one:len(batch)*one])
	}
	return buf, nil
}

// constants repeats a constant.
func (f *feed) constants(rows int, d tensor.DType) (tensor.Named, error) {
	v, shape := f.fixed, f.Shape
	if f.perSample() {
		v, shape = slices.Repeat(v, rows), append([]int{rows}, shape...)
	}
	t, err := Rounded(d, v, shape...)
	return tensor.Named{Name: f.x.Name, Tensor: t}, err
}

// pixels lays out images or frames.
func (f *feed) pixels(e *encoder, batch []space.Value, rows int, buf tensor.Named) (tensor.Named, error) {
	all := make([]space.Value, rows)
	for i := range all {
		v, err := f.value(batch[min(i, len(batch)-1)])
		if err != nil {
			return buf, fmt.Errorf("sample %d of the batch %w", i, err)
		}
		all[i] = v
	}
	t, err := e.encode(all, []tensor.Named{buf})
	if err != nil {
		return buf, err
	}
	return t[0], nil
}

// moves tells whether changes of samples pass through an input.
func (f *feed) moves() bool { return !f.constant() && floating(f.dtype) }

// Linear is the linear part of Encode. Inputs of integers and constants are not among the results.
func (c *record) Linear(changes []space.Value) ([]tensor.Named, error) {
	if !c.batched && len(changes) != 1 {
		return nil, fmt.Errorf("%d samples for a model that reads one at a time", len(changes))
	}
	if len(changes) == 0 {
		return nil, errors.New("an empty batch")
	}
	var out []tensor.Named
	for _, f := range c.feeds {
		if !f.moves() {
			continue
		}
		var t tensor.Named
		var err error
		if f.img != nil {
			var d *encoder
			if d, err = f.img.derivative(); err == nil {
				t, err = f.pixels(d, changes, len(changes), tensor.Named{})
			}
		} else {
			t, err = f.encode(changes, len(changes), c.batched, tensor.Float64, tensor.Named{})
		}
		if err != nil {
			return nil, fmt.Errorf("input %q: %w", f.x.Name, err)
		}
		out = append(out, t)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("every input holds integers: %w", ErrNotLinear)
	}
	return out, nil
}

// Adjoint is the transpose of Linear. Fields that no derivative reaches are zeros where they hold numbers, and links
// stay as they are.
func (c *record) Adjoint(grads []tensor.Named, like []space.Value) ([]space.Value, error) {
	out := make([]space.Value, len(like))
	for i, l := range like {
		out[i] = still(l)
	}
	reached := false
	for _, f := range c.feeds {
		if !f.moves() {
			continue
		}
		reached = true
		at := slices.IndexFunc(grads, func(g tensor.Named) bool { return g.Name == f.x.Name })
		if at < 0 {
			return nil, fmt.Errorf("no gradient of %q", f.x.Name)
		}
		if err := f.adjoint(grads[at].Tensor, like, out); err != nil {
			return nil, fmt.Errorf("gradient of %q: %w", f.x.Name, err)
		}
	}
	if !reached {
		return nil, fmt.Errorf("every input holds integers: %w", ErrNotLinear)
	}
	return out, nil
}

// still is a value whose numbers are zeros.
func still(v space.Value) space.Value {
	if r, ok := v.(*space.Record); ok {
		out := &space.Record{Names: slices.Clone(r.Names)}
		for _, x := range r.Values {
			out.Values = append(out.Values, still(x))
		}
		return out
	}
	if _, ok := v.(space.Linear); ok {
		return v.Like()
	}
	return v
}

// adjoint adds the gradient of one input to the gradients of the samples: two inputs may be fed with one field.
func (f *feed) adjoint(grad tensor.Tensor, like, out []space.Value) error {
	g, err := grad.Float64s(nil)
	if err != nil {
		return err
	}
	if len(like) == 0 {
		return nil
	}
	per := len(g) / len(like)
	for i, l := range like {
		v, err := f.value(l)
		if err != nil {
			return fmt.Errorf("sample %d of the batch %w", i, err)
		}
		to, err := f.value(out[i])
		if err != nil {
			return fmt.Errorf("sample %d of the batch %w", i, err)
		}
		one := g[i*per : (i+1)*per]
		if f.img != nil {
			if err := f.pixelsBack(one, v, to); err != nil {
				return fmt.Errorf("sample %d of the batch: %w", i, err)
			}
			continue
		}
		x, e, err := f.content(v)
		if err != nil {
			return fmt.Errorf("sample %d of the batch: %w", i, err)
		}
		n := e
		if f.Pad > 0 {
			if _, n, err = f.pad(x, e); err != nil {
				return fmt.Errorf("sample %d of the batch: %w", i, err)
			}
		}
		if per != tensor.Count(n.shape) || per*len(like) != len(g) {
			return fmt.Errorf("%d numbers for %d samples of shape %v", len(g), len(like), n.shape)
		}
		p, q := f.lead(n)
		if f.form.transposes() {
			one = transposed(one, q, p)
		}
		dst, _, err := f.content(to)
		if err != nil {
			return err
		}
		crop(dst, e.shape, one, n.shape)
	}
	return nil
}

// crop adds src without its padding to dst.
func crop(dst []float64, ds []int, src []float64, ss []int) {
	if len(ds) == 3 && ds[0] != ss[0] { // pairs
		line := ds[1] * ds[2]
		for i := range ds[0] {
			for k := range line {
				dst[i*line+k] += src[i*ss[1]*ss[2]+k]
			}
		}
		return
	}
	for i := range dst {
		dst[i] += src[i]
	}
}

// pixelsBack is the transpose of pixels for one sample.
func (f *feed) pixelsBack(g []float64, like, to space.Value) error {
	d, err := f.img.derivative()
	if err != nil {
		return err
	}
	for t := range d.frames {
		m, err := d.picture(like, t)
		if err != nil {
			return err
		}
		k := d.made(m.C)
		if k == 0 || len(g) != d.frames*k*m.H*m.W {
			return fmt.Errorf("%d numbers for %d frames of %d x %d x %d", len(g), d.frames, m.C, m.H, m.W)
		}
		b, err := d.picture(to, t)
		if err != nil {
			return err
		}
		for i, x := range d.back(g, m, t, k).Pix {
			b.Pix[i] += x
		}
	}
	return nil
}

// Double is the codec that feeds float64 where the model reads floating-point numbers.
func (c *record) Double() Codec {
	d := *c
	d.feeds = nil
	for _, f := range c.feeds {
		e := *f
		if floating(e.dtype) {
			e.dtype = tensor.Float64
		}
		if e.img != nil && floating(e.img.dtype) {
			e.img = e.img.as(tensor.Float64)
		}
		d.feeds = append(d.feeds, &e)
	}
	return &d
}
