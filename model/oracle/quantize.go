package oracle

import (
	"fmt"
	"math"

	"nero/data/tensor"
)

// quantizeOps convert to and from scaled integers. Rounding to them is part of the model, in every precision.
func quantizeOps() map[string][]entry {
	return map[string][]entry{
		"QuantizeLinear": {{since: 10, least: 2, most: 3, outs: 1, build: func(a *attrs) kernel {
			at := a.int("axis", 1)
			a.ignore("saturate")
			return one(func(c *call) (*value, error) {
				x, err := c.floats(0)
				if err != nil {
					return nil, err
				}
				return c.quantize(x, at)
			})
		}}},
		"DequantizeLinear": {{since: 10, least: 2, most: 3, outs: 1, build: func(a *attrs) kernel {
			at := a.int("axis", 1)
			return one(func(c *call) (*value, error) { return c.dequantize(at) })
		}}},
		"DynamicQuantizeLinear": {{
			since: 11, least: 1, most: 1, outs: 3,
			build: func(*attrs) kernel { return dynamicQuantize },
		}},
	}
}

// steps are scale and zero point of every element: of a tensor, or one of each along an axis. of maps an element to its
// place.
func (c *call) steps(x *value, at int) (scale *value, zero *value, of func(k int) int, err error) {
	if scale, err = c.floats(1); err != nil {
		return nil, nil, nil, err
	}
	zero = c.at(2)
	if zero == nil {
		zero = &value{typ: tensor.Uint8, shape: scale.shape, i: make([]int64, len(scale.f))}
	}
	if zero.float() || zero.typ == tensor.Bool || zero.len() != len(scale.f) {
		return nil, nil, nil, fmt.Errorf("scale %s with the zero point %s", scale, zero)
	}
	if len(scale.f) == 1 {
		return scale, zero, func(int) int { return 0 }, nil
	}
	a, err := axis(at, x.rank())
	if err != nil {
		return nil, nil, nil, err
	}
	_, n, inner := around(x.shape, a)
	if scale.rank() != 1 || len(scale.f) != n {
		return nil, nil, nil, fmt.Errorf("scale %s along axis %d of %s", scale, a, x)
	}
	return scale, zero, func(k int) int { return k / inner % n }, nil
}

func (c *call) quantize(x *value, at int) (*value, error) {
	scale, zero, of, err := c.steps(x, at)
	if err != nil {
		return nil, err
	}
	y, err := c.make(zero.typ, x.shape)
	if err != nil {
		return nil, err
	}
	for k, v := range x.f {
		j := of(k)
		y.i[k] = toInteger(y.typ, math.RoundToEven(v/scale.f[j])+toFloat(zero.typ, zero.i[j]))
	}
	return y, nil
}

func (c *call) dequantize(at int) (*value, error) {
	x, err := c.any(0)
	if err != nil {
		return nil, err
	}
	if !isInteger(x.typ) {
		return nil, fmt.Errorf("input 0 is %s, want integers", x)
	}
	scale, zero, of, err := c.steps(x, at)
	if err != nil {
		return nil, err
	}
	y, err := c.make(scale.typ, x.shape)
	if err != nil {
		return nil, err
	}
	for k, v := range x.i {
		j := of(k)
		y.f[k] = (toFloat(x.typ, v) - toFloat(zero.typ, zero.i[j])) * scale.f[j]
	}
	return y, nil
}

// dynamicQuantize finds scale and zero point of uint8 for the range of its input and zero.
func dynamicQuantize(c *call) ([]*value, error) {
	x, err := c.floats(0)
	if err != nil {
		return nil, err
	}
	var lo, hi float64
	for _, v := range x.f {
		lo, hi = least(v, lo), greatest(v, hi)
	}
	step := (hi - lo) / 255
	zero := 0.0
	if step > 0 {
		zero = clamp(math.RoundToEven(-lo/step), 0, 255)
	}
	scale := &value{typ: tensor.Float32, shape: []int{}, f: []float64{step}}
	point := &value{typ: tensor.Uint8, shape: []int{}, i: []int64{toInteger(tensor.Uint8, zero)}}
	y, err := c.make(tensor.Uint8, x.shape)
	if err != nil {
		return nil, err
	}
	for k, v := range x.f {
		if step > 0 {
			v = math.RoundToEven(v / step)
		}
		y.i[k] = toInteger(tensor.Uint8, v+zero)
	}
	return []*value{y, scale, point}, nil
}
