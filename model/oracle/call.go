package oracle

import (
	"fmt"
	"slices"

	"nero/data/tensor"
)

// at is input k; nil if the node does not have it.
func (c *call) at(k int) *value {
	if k >= len(c.in) {
		return nil
	}
	return c.in[k]
}

// any is input k, which must be there.
func (c *call) any(k int) (*value, error) {
	if v := c.at(k); v != nil {
		return v, nil
	}
	return nil, fmt.Errorf("input %d is missing", k)
}

// floats is input k, which must be there and of a floating-point type.
func (c *call) floats(k int) (*value, error) {
	v, err := c.any(k)
	if err != nil {
		return nil, err
	}
	if !v.float() {
		return nil, fmt.Errorf("input %d is %s, want a floating-point type", k, v)
	}
	return v, nil
}

// ints is input k, which must be there and of an integer type, as numbers of moderate size: larger ones are cut to
// ±2^40, as the end of a slice may be written as the largest integer.
func (c *call) ints(k int) ([]int, error) {
	v, err := c.any(k)
	if err != nil {
		return nil, err
	}
	if !isInteger(v.typ) || v.rank() > 1 {
		return nil, fmt.Errorf("input %d is %s, want a list of integers", k, v)
	}
	out := make([]int, len(v.i))
	for j, x := range v.i {
		out[j] = int(max(min(x, size), -size))
	}
	return out, nil
}

// int is input k, which must be a single integer.
func (c *call) int(k int) (int, error) {
	v, err := c.any(k)
	if err != nil {
		return 0, err
	}
	if !isInteger(v.typ) || len(v.i) != 1 {
		return 0, fmt.Errorf("input %d is %s, want one integer", k, v)
	}
	return int(max(min(v.i[0], size), -size)), nil
}

// float is input k, which must be a single floating-point number; def if it is not there.
func (c *call) float(k int, def float64) (float64, error) {
	v := c.at(k)
	if v == nil {
		return def, nil
	}
	if !v.float() || len(v.f) != 1 {
		return 0, fmt.Errorf("input %d is %s, want one floating-point number", k, v)
	}
	return v.f[0], nil
}

// same checks that inputs are of one type.
func (c *call) same(a, b *value) error {
	if a.typ == b.typ || a.float() && b.float() {
		return nil
	}
	return fmt.Errorf("inputs are %s and %s, want one type", a, b)
}

// partial is a sum on its way: in a run that rounds, machines keep it in float32.
func (r *runner) partial(x float64) float64 {
	if r.round == Float64 {
		return x
	}
	return float64(float32(x))
}

// apply makes a value of a function of every element.
func (c *call) apply(x *value, f func(float64) float64) (*value, error) {
	y, err := c.make(x.typ, x.shape)
	if err != nil {
		return nil, err
	}
	for k, v := range x.f {
		y.f[k] = f(v)
	}
	return y, nil
}

// gather fills a value of the given shape with elements of x at the offsets that walking with strides gives, from base
// on.
func (c *call) gather(x *value, shape, strides []int, base int) (*value, error) {
	y, err := c.make(x.typ, shape)
	if err != nil {
		return nil, err
	}
	k := 0
	rows(shape, [][]int{strides}, func(at []int, n int, step []int) {
		o, s := at[0]+base, step[0]
		switch {
		case y.float() && s == 1:
			copy(y.f[k:k+n], x.f[o:o+n])
		case y.float():
			for j := range n {
				y.f[k+j] = x.f[o+j*s]
			}
		default:
			for j := range n {
				y.i[k+j] = x.i[o+j*s]
			}
		}
		k += n
	})
	return y, nil
}

// truth makes a bool value.
func (c *call) truth(shape []int) (*value, error) { return c.make(tensor.Bool, shape) }

// copyRange copies n elements of src from s on to dst from d on. Both are of one kind.
func copyRange(dst *value, d int, src *value, s, n int) {
	if dst.float() {
		copy(dst.f[d:d+n], src.f[s:s+n])
	} else {
		copy(dst.i[d:d+n], src.i[s:s+n])
	}
}

// clone is a copy that may be changed.
func (c *call) clone(x *value) (*value, error) {
	y, err := c.make(x.typ, x.shape)
	if err != nil {
		return nil, err
	}
	copyRange(y, 0, x, 0, x.len())
	return y, nil
}

// around splits a shape at an axis: elements before, along and after.
func around(shape []int, a int) (outer, n, inner int) {
	return product(shape[:a]), shape[a], product(shape[a+1:])
}

// with is a copy of the shape with another length along an axis.
func with(shape []int, a, n int) []int {
	s := slices.Clone(shape)
	s[a] = n
	return s
}
