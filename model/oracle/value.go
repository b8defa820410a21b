package oracle

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"nero/data/tensor"
)

// value is a tensor inside the evaluator. Values are never changed once a node has returned them.
type value struct {
	// as the model declares it
	typ   tensor.DType
	shape []int
	// elements of a floating-point type
	f []float64
	// elements of an integer type or bool (0 and 1); uint64 as its bits
	i []int64
	// f or i belong to another value, which was rounded already
	shared bool
}

func isFloat(d tensor.DType) bool {
	return d == tensor.Float32 || d == tensor.Float64 || d == tensor.Float16 || d == tensor.BFloat16
}

func isInteger(d tensor.DType) bool { return d.Size() > 0 && !isFloat(d) && d != tensor.Bool }

func (v *value) float() bool { return isFloat(v.typ) }

func (v *value) rank() int { return len(v.shape) }

func (v *value) len() int {
	if v.float() {
		return len(v.f)
	}
	return len(v.i)
}

// view is v with another shape of as many elements.
func (v *value) view(shape []int) *value {
	return &value{typ: v.typ, shape: shape, f: v.f, i: v.i, shared: true}
}

// String is type and shape.
func (v *value) String() string {
	if v == nil {
		return "nothing"
	}
	return fmt.Sprintf("%s%v", v.typ, v.shape)
}

// wrap is x as an integer type holds it.
func wrap(d tensor.DType, x int64) int64 {
	switch d {
	case tensor.Int8:
		return int64(int8(x))
	case tensor.Int16:
		return int64(int16(x))
	case tensor.Int32:
		return int64(int32(x))
	case tensor.Uint8:
		return int64(uint8(x))
	case tensor.Uint16:
		return int64(uint16(x))
	case tensor.Uint32:
		return int64(uint32(x))
	case tensor.Bool:
		if x != 0 {
			return 1
		}
		return 0
	case tensor.Int64, tensor.Uint64, tensor.Undefined, tensor.String, tensor.Float16, tensor.BFloat16,
		tensor.Float32, tensor.Float64:
	}
	return x
}

// bounds are the least and the largest number of an integer type, as float64.
func bounds(d tensor.DType) (lo, hi float64) {
	bits := d.Size() * 8
	switch d {
	case tensor.Uint8, tensor.Uint16, tensor.Uint32, tensor.Uint64:
		return 0, math.Ldexp(1, bits) - 1
	case tensor.Int8, tensor.Int16, tensor.Int32, tensor.Int64, tensor.Bool, tensor.Undefined, tensor.String,
		tensor.Float16,
		tensor.BFloat16, tensor.Float32, tensor.Float64:
	}
	return -math.Ldexp(1, bits-1), math.Ldexp(1, bits-1) - 1
}

// toInteger is x as an integer type, truncated, saturating; NaN is 0.
func toInteger(d tensor.DType, x float64) int64 {
	if d == tensor.Bool {
		if x != 0 {
			return 1
		}
		return 0
	}
	if math.IsNaN(x) {
		return 0
	}
	x = math.Trunc(x)
	lo, hi := bounds(d)
	switch {
	case x <= lo:
		if d == tensor.Int64 {
			return math.MinInt64
		}
		return int64(lo)
	case x >= hi:
		if d == tensor.Int64 {
			return math.MaxInt64
		}
		if d == tensor.Uint64 {
			return -1 // the largest, as its bits
		}
		return int64(hi)
	}
	if d == tensor.Uint64 {
		return int64(uint64(x))
	}
	return int64(x)
}

// toFloat is the number that an element of an integer type stands for.
func toFloat(d tensor.DType, x int64) float64 {
	if d == tensor.Uint64 {
		return float64(uint64(x))
	}
	return float64(x)
}

// decode reads a tensor.
func decode(t tensor.Tensor) (*value, error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	v := &value{typ: t.DType, shape: slices.Clone(t.Shape)}
	if isFloat(t.DType) {
		f, err := t.Float64s(nil)
		if err != nil {
			return nil, err
		}
		v.f = f
		return v, nil
	}
	v.i = make([]int64, t.Len())
	le, w := binary.LittleEndian, t.DType.Size()
	for k := range v.i {
		var x int64
		switch b := t.Raw[k*w:]; w {
		case 1:
			x = int64(b[0])
		case 2:
			x = int64(le.Uint16(b))
		case 4:
			x = int64(le.Uint32(b))
		default:
			x = int64(le.Uint64(b))
		}
		v.i[k] = wrap(t.DType, x)
	}
	return v, nil
}

// encode writes a tensor that shares nothing: floats as float64.
func (v *value) encode() tensor.Tensor {
	if v.float() {
		t := tensor.New(tensor.Float64, v.shape...)
		for k, x := range v.f {
			binary.LittleEndian.PutUint64(t.Raw[8*k:], math.Float64bits(x))
		}
		return t
	}
	t := tensor.New(v.typ, v.shape...)
	le, w := binary.LittleEndian, v.typ.Size()
	for k, x := range v.i {
		switch b := t.Raw[k*w:]; w {
		case 1:
			b[0] = byte(x)
		case 2:
			le.PutUint16(b, uint16(x))
		case 4:
			le.PutUint32(b, uint32(x))
		default:
			le.PutUint64(b, uint64(x))
		}
	}
	return t
}

// errMemory is wrapped by errors about values that are too large.
var errMemory = errors.New("more memory than allowed")

// budget counts the elements that a Run holds.
type budget struct{ limit, live, local int }

// take reserves the elements of a shape until the node ends.
func (b *budget) take(shape []int) (int, error) {
	n, err := tensor.CheckedCount(shape, max(b.limit-b.live-b.local, 0))
	if err != nil {
		return 0, fmt.Errorf("a tensor of shape %v: %w (limit of Options.Elements: %d elements, %d in use): %w", shape,
			errMemory, b.limit, b.live+b.local, err)
	}
	b.local += n
	return n, nil
}

// scratch is working memory.
func (b *budget) scratch(shape ...int) ([]float64, error) {
	n, err := b.take(shape)
	if err != nil {
		return nil, err
	}
	return make([]float64, n), nil
}

// make makes a value of zeros.
func (b *budget) make(typ tensor.DType, shape []int) (*value, error) {
	n, err := b.take(shape)
	if err != nil {
		return nil, err
	}
	v := &value{typ: typ, shape: slices.Clone(shape)}
	if v.float() {
		v.f = make([]float64, n)
	} else {
		v.i = make([]int64, n)
	}
	return v, nil
}

// vector makes a one-dimensional int64 value.
func vector(x []int) *value {
	v := &value{typ: tensor.Int64, shape: []int{len(x)}, i: make([]int64, len(x))}
	for k, n := range x {
		v.i[k] = int64(n)
	}
	return v
}

// strides of a shape, in elements.
func strides(shape []int) []int {
	s := make([]int, len(shape))
	n := 1
	for k := len(shape) - 1; k >= 0; k-- {
		s[k] = n
		n *= shape[k]
	}
	return s
}

// spread are the strides with which a tensor is read when it is broadcast to shape: 0 along axes that it repeats.
func spread(from, shape []int) []int {
	s, own, d := make([]int, len(shape)), strides(from), len(shape)-len(from)
	for k := range from {
		if from[k] != 1 {
			s[d+k] = own[k]
		}
	}
	return s
}

// broadcast is the shape to which shapes extend each other, by ONNX's and NumPy's rule.
func broadcast(shapes ...[]int) ([]int, error) {
	rank := 0
	for _, s := range shapes {
		rank = max(rank, len(s))
	}
	out := make([]int, rank)
	for k := range out {
		out[k] = 1
	}
	for _, s := range shapes {
		d := rank - len(s)
		for k, n := range s {
			switch {
			case n == out[d+k] || n == 1:
			case out[d+k] == 1:
				out[d+k] = n
			default:
				return nil, fmt.Errorf("shapes %v do not broadcast", shapes)
			}
		}
	}
	return out, nil
}

// walk calls f for every index of shape in row-major order, with the offsets that the strides give. f must not keep at.
func walk(shape []int, strides [][]int, f func(at []int)) {
	at := make([]int, len(strides))
	if slices.Contains(shape, 0) {
		return
	}
	index := make([]int, len(shape))
	for {
		f(at)
		k := len(shape) - 1
		for ; k >= 0; k-- {
			index[k]++
			for j, s := range strides {
				at[j] += s[k]
			}
			if index[k] < shape[k] {
				break
			}
			for j, s := range strides {
				at[j] -= s[k] * shape[k]
			}
			index[k] = 0
		}
		if k < 0 {
			return
		}
	}
}

// rows is walk without the last axis, whose length and strides it returns to f with each row. Axes that lie one after
// another in all operands count as one: the order of the numbers is the same, and rows are as long as they can be.
func rows(shape []int, strides [][]int, f func(at []int, n int, step []int)) {
	shape, strides = joined(shape, strides)
	if len(shape) == 0 {
		f(make([]int, len(strides)), 1, make([]int, len(strides)))
		return
	}
	last := len(shape) - 1
	step, outer := make([]int, len(strides)), make([][]int, len(strides))
	for j, s := range strides {
		step[j], outer[j] = s[last], s[:last]
	}
	if shape[last] == 0 {
		return
	}
	walk(shape[:last], outer, func(at []int) { f(at, shape[last], step) })
}

// joined takes axes together whose places are walked through without a jump in all operands, and leaves axes of length
// 1 out.
func joined(shape []int, strides [][]int) ([]int, [][]int) {
	var lengths []int
	steps := make([][]int, len(strides))
	for k, d := range shape {
		if d == 1 {
			continue
		}
		last := len(lengths) - 1
		through := last >= 0
		for j, s := range strides {
			through = through && steps[j][last] == s[k]*d
		}
		if through {
			lengths[last] *= d
		} else {
			lengths = append(lengths, d)
			last++
		}
		for j, s := range strides {
			steps[j] = append(steps[j][:last], s[k])
		}
	}
	return lengths, steps
}

// product is the number of elements of a shape that exists.
func product(shape []int) int { return tensor.Count(shape) }

// axis checks an axis of a tensor and counts negative ones from the end.
func axis(a, rank int) (int, error) {
	if a < -rank || a >= rank {
		return 0, fmt.Errorf("axis %d of a tensor with %d axes", a, rank)
	}
	if a < 0 {
		a += rank
	}
	return a, nil
}

// axes checks several axes, which must differ.
func axes(list []int, rank int) ([]int, error) {
	out := make([]int, len(list))
	for k, a := range list {
		n, err := axis(a, rank)
		if err != nil {
			return nil, err
		}
		if slices.Contains(out[:k], n) {
			return nil, fmt.Errorf("axes %v name one axis twice", list)
		}
		out[k] = n
	}
	return out, nil
}
