package oracle

import (
	"fmt"
	"math"

	"nero/data/tensor"
	"nero/model/onnx/onnxpb"
)

// typeOps make values or change their type.
func typeOps() map[string][]entry {
	constant := func(a *attrs) kernel {
		v := constantOf(a)
		return one(func(c *call) (*value, error) {
			out := v.view(v.shape)
			if v.float() && c.round != Float64 { // rounded like any node's output, and v is shared by all runs
				return c.clone(v)
			}
			return out, nil
		})
	}
	drop := func(a *attrs) kernel {
		ratio := a.float("ratio", 0.5)
		a.ignore("consumed_inputs")
		if a.opset < 7 && !a.flag("is_test", false) && ratio != 0 {
			a.fail("is_test=0: a training mode that draws at random")
		}
		return dropout(a)
	}
	return map[string][]entry{
		"Identity": {{since: 1, least: 1, most: 1, outs: 1, build: func(*attrs) kernel {
			return one(func(c *call) (*value, error) { return c.in[0].view(c.in[0].shape), nil })
		}}},
		"Cast": {{since: 6, least: 1, most: 1, outs: 1, build: func(a *attrs) kernel {
			to := elementType(a, "to", 0)
			a.ignore("saturate") // of conversions to 8-bit floats
			return one(func(c *call) (*value, error) { return c.cast(c.in[0], to) })
		}}},
		"CastLike": {{since: 15, least: 2, most: 2, outs: 1, build: func(a *attrs) kernel {
			a.ignore("saturate")
			return one(func(c *call) (*value, error) { return c.cast(c.in[0], c.in[1].typ) })
		}}},
		"Constant": {{since: 1, outs: 1, build: constant}},
		"ConstantOfShape": {{since: 9, least: 1, most: 1, outs: 1, build: func(a *attrs) kernel {
			v := a.tensor("value")
			if v == nil {
				v = &value{typ: tensor.Float32, shape: []int{1}, f: []float64{0}}
			}
			if v.len() != 1 {
				a.fail("attribute value has %d elements, want 1", v.len())
			}
			return one(func(c *call) (*value, error) { return c.filled(v) })
		}}},
		"EyeLike": {{since: 9, least: 1, most: 1, outs: 1, build: func(a *attrs) kernel {
			to, k := elementType(a, "dtype", tensor.Undefined), a.int("k", 0)
			return one(func(c *call) (*value, error) { return c.eye(to, k) })
		}}},
		"Range": {{since: 11, least: 3, most: 3, outs: 1, build: func(*attrs) kernel { return one(sequence) }}},
		"Dropout": {
			{since: 1, least: 1, most: 1, outs: 2, build: drop},
			{since: 12, least: 1, most: 3, outs: 2, build: func(a *attrs) kernel {
				a.ignore("seed")
				return dropout(a)
			}},
		},
		"Shape": {{since: 1, least: 1, most: 1, outs: 1, build: func(a *attrs) kernel {
			start, end, whole := a.int("start", 0), a.int("end", 0), !a.has("end")
			return one(func(c *call) (*value, error) {
				s := c.in[0].shape
				cut := func(k int) int {
					if k < 0 {
						k += len(s)
					}
					return min(max(k, 0), len(s))
				}
				lo, hi := cut(start), cut(end)
				if whole {
					hi = len(s)
				}
				return vector(s[lo:max(lo, hi)]), nil
			})
		}}},
		"Size": {{since: 1, least: 1, most: 1, outs: 1, build: func(*attrs) kernel {
			return one(func(c *call) (*value, error) {
				return &value{typ: tensor.Int64, shape: []int{}, i: []int64{int64(c.in[0].len())}}, nil
			})
		}}},
	}
}

// elementType reads an attribute that names an element type.
func elementType(a *attrs, name string, def tensor.DType) tensor.DType {
	if !a.has(name) && def == tensor.Undefined && name != "to" {
		a.ignore(name)
		return def
	}
	n := a.int(name, int(def))
	if d := tensor.DType(n); int(d) == n && d.Size() > 0 {
		return d
	}
	a.fail("element type %s", onnxpb.TensorProto_DataType(n))
	return tensor.Float32
}

// constantOf is the value of a Constant node.
func constantOf(a *attrs) *value {
	switch {
	case a.has("value"):
		if v := a.tensor("value"); v != nil {
			return v
		}
	case a.has("value_float"):
		return &value{typ: tensor.Float32, shape: []int{}, f: []float64{a.float("value_float", 0)}}
	case a.has("value_floats"):
		f := a.floats("value_floats")
		return &value{typ: tensor.Float32, shape: []int{len(f)}, f: f}
	case a.has("value_int"):
		p := a.get("value_int", onnxpb.AttributeProto_INT)
		return &value{typ: tensor.Int64, shape: []int{}, i: []int64{p.GetI()}}
	case a.has("value_ints"):
		p := a.get("value_ints", onnxpb.AttributeProto_INTS)
		return &value{typ: tensor.Int64, shape: []int{len(p.GetInts())}, i: p.GetInts()}
	default:
		a.fail("no value of numbers")
	}
	return &value{typ: tensor.Float32, shape: []int{0}}
}

// cast converts. Narrow floating-point types round whatever the precision of the run, because the model says so.
func (c *call) cast(x *value, to tensor.DType) (*value, error) {
	if x.float() == isFloat(to) && x.typ == to {
		return x.view(x.shape), nil
	}
	y, err := c.make(to, x.shape)
	if err != nil {
		return nil, err
	}
	switch {
	case x.float() && y.float():
		copy(y.f, x.f)
	case y.float():
		for k, v := range x.i {
			y.f[k] = toFloat(x.typ, v)
		}
	case x.float():
		for k, v := range x.f {
			y.i[k] = toInteger(to, v)
		}
	default:
		for k, v := range x.i {
			y.i[k] = wrap(to, v)
		}
	}
	switch to {
	case tensor.Float16:
		Float16.roundAll(y.f)
	case tensor.BFloat16:
		BFloat16.roundAll(y.f)
	case tensor.Undefined, tensor.String, tensor.Float32, tensor.Float64, tensor.Bool, tensor.Int8, tensor.Int16,
		tensor.Int32,
		tensor.Int64,
		tensor.Uint8, tensor.Uint16, tensor.Uint32, tensor.Uint64:
	}
	return y, nil
}

// filled is a tensor of one value, of the shape that input 0 lists.
func (c *call) filled(v *value) (*value, error) {
	shape, err := c.ints(0)
	if err != nil {
		return nil, err
	}
	y, err := c.make(v.typ, shape)
	if err != nil {
		return nil, err
	}
	for k := range y.f {
		y.f[k] = v.f[0]
	}
	for k := range y.i {
		y.i[k] = v.i[0]
	}
	return y, nil
}

func (c *call) eye(to tensor.DType, diagonal int) (*value, error) {
	x := c.in[0]
	if x.rank() != 2 {
		return nil, fmt.Errorf("input 0 is %s, want a matrix", x)
	}
	if to == tensor.Undefined {
		to = x.typ
	}
	y, err := c.make(to, x.shape)
	if err != nil {
		return nil, err
	}
	for i := range x.shape[0] {
		if j := i + diagonal; j >= 0 && j < x.shape[1] {
			if y.float() {
				y.f[i*x.shape[1]+j] = 1
			} else {
				y.i[i*x.shape[1]+j] = 1
			}
		}
	}
	return y, nil
}

// sequence is start, start + delta, ... before limit.
func sequence(c *call) (*value, error) {
	start, limit, delta := c.in[0], c.in[1], c.in[2]
	if start.len() != 1 || limit.len() != 1 || delta.len() != 1 || c.same(start, limit) != nil ||
		c.same(start, delta) != nil || start.typ == tensor.Bool {
		return nil, fmt.Errorf("inputs are %s, %s and %s, want three numbers of one type", start, limit, delta)
	}
	number := func(v *value) float64 {
		if v.float() {
			return v.f[0]
		}
		return toFloat(v.typ, v.i[0])
	}
	n := math.Ceil((number(limit) - number(start)) / number(delta))
	if !(math.Abs(n) < size) {
		return nil, fmt.Errorf("from %g to %g in steps of %g is no sequence", number(start), number(limit),
			number(delta))
	}
	y, err := c.make(start.typ, []int{max(int(n), 0)})
	if err != nil {
		return nil, err
	}
	for k := range y.f {
		y.f[k] = start.f[0] + float64(float64(k)*delta.f[0])
	}
	for k := range y.i {
		y.i[k] = wrap(y.typ, start.i[0]+int64(k)*delta.i[0])
	}
	return y, nil
}

// dropout passes its input on, as it does outside of training.
func dropout(a *attrs) kernel {
	mask := tensor.Bool
	if a.opset < 10 {
		mask = tensor.Undefined // the type of the input
	}
	return func(c *call) ([]*value, error) {
		x, err := c.floats(0)
		if err != nil {
			return nil, err
		}
		if c.at(2) != nil {
			train, err := c.bools(2)
			if err != nil {
				return nil, err
			}
			ratio, err := c.float(1, 0.5)
			if err != nil {
				return nil, err
			}
			if train.len() != 1 {
				return nil, fmt.Errorf("input 2 is %s, want one bool", train)
			}
			if train.i[0] != 0 && ratio != 0 {
				return nil, fmt.Errorf(
					"training mode with the ratio %g draws at random, which is not evaluated here; export the model "+
						"in inference mode", ratio)
			}
		}
		out := []*value{x.view(x.shape), nil}
		if c.outs < 2 {
			return out, nil
		}
		d := mask
		if d == tensor.Undefined {
			d = x.typ
		}
		if out[1], err = c.make(d, x.shape); err != nil {
			return nil, err
		}
		for k := range out[1].f {
			out[1].f[k] = 1
		}
		for k := range out[1].i {
			out[1].i[k] = 1
		}
		return out, nil
	}
}
