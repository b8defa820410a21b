package vjp

import (
	"fmt"
	"math"
	"slices"

	"nero/data/tensor"
	"nero/model/onnx"
	"nero/model/onnx/facts"
	"nero/model/onnx/onnxpb"
)

// Short names for the nodes that gradients are made of. Only operators whose form is the same from operator set 16 on
// are used, but for [call.reduce].

func (c *call) op(op string, in ...string) string { return c.b.Op(op, in) }

func (c *call) with(op string, in []string, attrs ...*onnxpb.AttributeProto) string {
	return c.b.Op(op, in, attrs...)
}

func (c *call) add(a, b string) string               { return c.op("Add", a, b) }
func (c *call) sub(a, b string) string               { return c.op("Sub", a, b) }
func (c *call) mul(a, b string) string               { return c.op("Mul", a, b) }
func (c *call) div(a, b string) string               { return c.op("Div", a, b) }
func (c *call) neg(a string) string                  { return c.op("Neg", a) }
func (c *call) where(cond, a, b string) string       { return c.op("Where", cond, a, b) }
func (c *call) reshape(v, shape string) string       { return c.op("Reshape", v, shape) }
func (c *call) like(v, other string) string          { return c.reshape(v, c.shapeOf(other)) }
func (c *call) scale(v string, f float64) string     { return c.mul(v, c.num(f)) }
func (c *call) unsqueeze(v string, ax ...int) string { return c.op("Unsqueeze", v, c.list(ax...)) }

// once makes a value at its first use.
func (s *sweep) once(key string, f func() string) string {
	if v, ok := s.made[key]; ok {
		return v
	}
	v := f()
	s.made[key] = v
	return v
}

// num is a scalar constant of the type of the adjoints.
func (c *call) num(v float64) string {
	return c.once(fmt.Sprintf("num %v %v", c.dt, v), func() string { return c.array([]float64{v}) })
}

// array is a constant of the type of the adjoints; a scalar without a shape.
func (c *call) array(v []float64, shape ...int) string { return c.b.Const(c.store(v, shape...)) }

func (c *call) store(v []float64, shape ...int) tensor.Tensor {
	if c.dt != tensor.Float64 {
		f := make([]float32, len(v))
		for i, x := range v {
			f[i] = float32(x)
		}
		return tensor.FromFloat32(f, shape...)
	}
	t := tensor.New(tensor.Float64, shape...)
	for i, x := range v {
		b := math.Float64bits(x)
		for k := range 8 {
			t.Raw[8*i+k] = byte(b >> (8 * k))
		}
	}
	return t
}

// list is a constant vector of integers.
func (s *sweep) list(v ...int) string {
	return s.once(fmt.Sprint("list ", v), func() string { return s.b.Ints(wide(v)...) })
}

func wide(v []int) []int64 {
	out := make([]int64, len(v))
	for i, x := range v {
		out[i] = int64(x)
	}
	return out
}

func narrow(v []int64) []int {
	out := make([]int, len(v))
	for i, x := range v {
		out[i] = int(x)
	}
	return out
}

// shapeOf is the shape of a value, found while it runs.
func (s *sweep) shapeOf(v string) string {
	return s.once("shape "+v, func() string { return s.b.Op("Shape", []string{v}) })
}

// length is the length of one axis of a value as a vector of one element.
func (s *sweep) length(v string, ax int) string {
	return s.once(fmt.Sprint("length ", ax, " ", v), func() string {
		return s.b.Op("Shape", []string{v}, onnx.AttrInt("start", int64(ax)), onnx.AttrInt("end", int64(ax+1)))
	})
}

// sum reduces axes; none leaves the value.
func (c *call) sum(v string, keep bool, axes ...int) string {
	if len(axes) == 0 {
		return v
	}
	return c.with("ReduceSum", []string{v, c.list(axes...)}, onnx.AttrInt("keepdims", bit(keep)))
}

// reduce is a reduction other than ReduceSum, whose axes moved from an attribute to an input with operator set 18. It
// keeps the axes.
func (c *call) reduce(op, v string, axes ...int) string {
	if c.opset < 18 {
		return c.with(op, []string{v}, onnx.AttrInts("axes", wide(axes)...), onnx.AttrInt("keepdims", 1))
	}
	return c.with(op, []string{v, c.list(axes...)}, onnx.AttrInt("keepdims", 1))
}

func bit(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func (c *call) transpose(v string, perm ...int) string {
	if slices.IsSorted(perm) {
		return v
	}
	return c.with("Transpose", []string{v}, onnx.AttrInts("perm", wide(perm)...))
}

// swap exchanges the last two of r axes.
func (c *call) swap(v string, r int) string {
	p := upTo(r)
	p[r-1], p[r-2] = p[r-2], p[r-1]
	return c.transpose(v, p...)
}

// upTo is 0, 1, ..., n-1.
func upTo(n int) []int {
	p := make([]int, n)
	for i := range p {
		p[i] = i
	}
	return p
}

// without is 0..rank-1 but for the axes given.
func without(rank int, axes ...int) []int {
	return slices.DeleteFunc(upTo(rank), func(i int) bool { return slices.Contains(axes, i) })
}

// filled is a slice of n times v.
func filled(n, v int) []int {
	p := make([]int, n)
	for i := range p {
		p[i] = v
	}
	return p
}

// zeros has the shape of a value.
func (c *call) zeros(like string) string { return c.full(like, 0) }

func (c *call) full(like string, v float64) string {
	return c.with("ConstantOfShape", []string{c.shapeOf(like)},
		onnx.AttrTensor("value", onnx.Stored("", c.store([]float64{v}, 1))))
}

// cast converts to the type of the adjoints.
func (c *call) cast(v string) string {
	return c.with("Cast", []string{v}, onnx.AttrInt("to", int64(c.dt)))
}

// to sums an adjoint of the shape sh, over the axes along which v was broadcast to sh.
func (c *call) to(d string, sh []int, v string) string {
	t := c.shapes[v]
	k := len(sh) - len(t)
	var ax []int
	for i := range sh {
		if i < k || t[i-k] == 1 && sh[i] != 1 {
			ax = append(ax, i)
		}
	}
	if len(ax) == 0 {
		return d
	}
	if k == 0 {
		return c.sum(d, true, ax...)
	}
	if d = c.sum(d, len(ax) > k, ax...); len(ax) > k {
		d = c.like(d, v)
	}
	return d
}

// giveTo gives input i an adjoint of the shape of the output, summed where the input was broadcast.
func (c *call) giveTo(i int, d func() string) {
	if c.wants(i) {
		c.give(i, c.to(d(), c.so, c.in[i]))
	}
}

// axisAttr is the attribute "axis".
func (c *call) axisAttr(def int64, rank int) (int, error) {
	return facts.Axis(onnx.Int(c.n, "axis", def), rank)
}

// ints are the elements of a value that is stored, or put together from stored ones as exporters do.
func (s *sweep) ints(v string) ([]int64, bool) {
	f, ok := s.floats(v)
	out := make([]int64, len(f))
	for i, x := range f {
		out[i] = int64(max(min(x, 1<<62), -1<<62))
	}
	return out, ok
}

func (s *sweep) floats(v string) ([]float64, bool) {
	if t := s.stored[v]; t != nil {
		x, err := onnx.Value(t)
		if err != nil {
			return nil, false
		}
		f, err := x.Float64s(nil)
		return f, err == nil
	}
	n := s.maker[v]
	if n == nil || !standard(n) {
		return nil, false
	}
	switch n.GetOpType() {
	case "Constant":
		if a := onnx.Attr(n, "value_ints"); a != nil {
			f := make([]float64, len(a.GetInts()))
			for i, x := range a.GetInts() {
				f[i] = float64(x)
			}
			return f, true
		}
		if a := onnx.Attr(n, "value_int"); a != nil {
			return []float64{float64(a.GetI())}, true
		}
		if a := onnx.Attr(n, "value_float"); a != nil {
			return []float64{float64(a.GetF())}, true
		}
		if a := onnx.Attr(n, "value_floats"); a != nil {
			f := make([]float64, len(a.GetFloats()))
			for i, x := range a.GetFloats() {
				f[i] = float64(x)
			}
			return f, true
		}
	case "Identity", "Unsqueeze", "Squeeze", "Reshape", "Flatten":
		return s.floats(n.GetInput()[0])
	case "Concat":
		if len(s.shapes[v]) != 1 {
			return nil, false
		}
		var all []float64
		for _, i := range n.GetInput() {
			f, ok := s.floats(i)
			if !ok {
				return nil, false
			}
			all = append(all, f...)
		}
		return all, true
	}
	return nil, false
}

// param reads integers that are an attribute in old operator sets and input i in new ones. given is false if neither is
// there.
func (c *call) param(name string, i int) (v []int64, given bool, err error) {
	if a := onnx.Attr(c.n, name); a != nil {
		return a.GetInts(), true, nil
	}
	if !c.has(i) {
		return nil, false, nil
	}
	v, ok := c.ints(c.in[i])
	if !ok {
		return nil, true, fmt.Errorf("its %s are computed while it runs", name)
	}
	return v, true, nil
}

// index numbers the elements of a value in row-major order, in its own shape.
func (c *call) index(v string) string {
	return c.once("index "+v, func() string {
		n := c.op("Size", v)
		zero, one := c.b.Const(tensor.FromInt64([]int64{0})), c.b.Const(tensor.FromInt64([]int64{1}))
		return c.like(c.op("Range", zero, n, one), v)
	})
}

// scatter is the adjoint of any operator that only picks elements of v: index holds, for each element of the adjoint d,
// which element of v it was.
func (c *call) scatter(v, index, d string) string {
	flat := c.list(-1)
	z := c.reshape(c.zeros(v), flat)
	s := c.with("ScatterElements", []string{z, c.reshape(index, flat), c.reshape(d, flat)}, onnx.AttrInt("axis", 0),
		onnx.AttrString("reduction", "add"))
	return c.like(s, v)
}

// repeat runs the node's operator once more, on another first input.
func (c *call) repeat(first string) string {
	in := slices.Clone(c.in)
	in[0] = first
	return c.with(c.n.GetOpType(), in, c.n.GetAttribute()...)
}
