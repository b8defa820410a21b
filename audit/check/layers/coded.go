package layers

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"nero/data/space"
	"nero/data/tensor"
	"nero/measure/scale"
	"nero/model/decode"
	"nero/model/interior"
	"nero/symmetry/action"
	"nero/symmetry/feature"
)

// double is a batch of one array in float64.
func double(name string, shape []int, x []float64) tensor.Named {
	t := tensor.New(tensor.Float64, append([]int{1}, shape...)...)
	for i, v := range x {
		binary.LittleEndian.PutUint64(t.Raw[8*i:], math.Float64bits(v))
	}
	return tensor.Named{Name: name, Tensor: t}
}

// coded is the representation on an output array that its codec reads as values of another layout or unit, such as
// fields with v before u: the declared action between decoding and laying out again. Nil if decoding is not one number
// to one number.
func (l *look) coded(shape []int, out action.Action) *feature.Rep {
	c := decode.Double(l.codec)
	wrap := func(x []float64) (space.Value, error) {
		v, err := c.Decode([]tensor.Named{double(l.output, shape, x)}, 1)
		if err != nil {
			return nil, err
		}
		return v[0], nil
	}
	lay := func(v space.Value) ([]float64, error) {
		if err := known(v); err != nil {
			return nil, err
		}
		t, err := decode.Raw(c, []space.Value{v})
		if err != nil {
			return nil, err
		}
		return t.Float64s(nil)
	}
	// Laying out is the transpose of decoding: on ones both together give the square of each number's factor.
	ones := make([]float64, size(shape))
	for i := range ones {
		ones[i] = 1
	}
	v, err := wrap(ones)
	if err != nil {
		return nil
	}
	factor, err := lay(v)
	if err != nil || len(factor) != len(ones) {
		return nil
	}
	for _, f := range factor {
		if !(f > 0) {
			return nil
		}
	}
	return l.frame.Given(shape, out, func(x []float64) space.Value {
		v, err := wrap(x)
		if err != nil {
			return nil
		}
		return v
	}, func(v space.Value) ([]float64, error) {
		x, err := lay(v)
		if err != nil {
			return nil, err
		}
		if len(x) != len(factor) {
			return nil, errors.New("the action on the output changes its form")
		}
		for i := range x {
			x[i] /= factor[i]
		}
		return x, nil
	})
}

// frames is the representation on the array that a model reads several pictures from, one after another along an axis
// of channels or of time; nil for other arrays.
func (l *look) frames(shape []int, in action.Action) *feature.Rep {
	like := l.samples[0]
	_, counted := like.(space.Counted)
	dims, fits := like.Dims(), func(v space.Value) bool { return v.Form() == like.Form() }
	switch {
	case counted:
		if len(like.Numbers()) != size(shape) {
			return nil
		}
	case like.Kind() == space.KindFrames:
		n := len(shape)
		if n < 3 || shape[n-2] != dims[2] || shape[n-1] != dims[3] || size(shape) != size(dims) || dims[0] == 0 {
			return nil
		}
		fits = func(v space.Value) bool { return v.Kind() == like.Kind() && v.Dims()[0] == dims[0] }
	default:
		return nil
	}
	return l.frame.Given(shape, in, func(x []float64) space.Value {
		w, err := like.With(x)
		if err != nil {
			return nil
		}
		return w
	}, func(v space.Value) ([]float64, error) {
		if !fits(v) {
			return nil, fmt.Errorf("%w: the action on the input changes its form", scale.ErrForm)
		}
		return v.Numbers(), nil
	})
}

// agrees reports whether a representation on the array k of a cut carries the unmoved arrays to the moved ones.
func (l *look) agrees(rep *feature.Rep, x, gx [][]interior.Array, k int) bool {
	m := len(l.elements)
	for i := range x {
		for j, e := range l.elements {
			y, err := rep.Apply(e.G, x[i][k].Val)
			if err != nil || !(distance(y, gx[i*m+j][k].Val) <= 1e-6*(1+distance(y, make([]float64, len(y))))) {
				return false
			}
		}
	}
	return true
}
