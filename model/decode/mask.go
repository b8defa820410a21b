package decode

import (
	"fmt"
	"math"

	"nero/data/space"
)

// maskKind is a label for every pixel.
var maskKind = kind{
	of:  space.KindMask,
	one: readDecoded,
	decoded: &decoded{
		ways:    []string{argmax, threshold, raw},
		classes: masked,
		batched: func(shape []int) bool { return len(shape) == 4 },
		fits: func(d *decoder, s []int, what string) error {
			if len(s) != 2 && len(s) != 3 {
				return fmt.Errorf("%s has %d axes per sample; a mask has classes, height and width; set output.space: "+
					"scores or tensor", what, len(s))
			}
			if c := d.classes(s); d.how == argmax && c == 1 {
				return fmt.Errorf("%s has one class, whose argmax is always 0; set output.decode: threshold with "+
					"output.threshold if it holds scores of an object, raw if it holds labels, or output.space: image",
					what)
			} else if (d.how == raw || d.how == threshold) && c > 1 {
				return fmt.Errorf("%s has %d classes; set output.decode: argmax", what, c)
			}
			return nil
		},
		spec: func(d *decoder, s []int, o *space.Spec) {
			o.Shape = []int{-1, -1}
			if s != nil {
				_, h, w := d.grid(s)
				o.Shape = []int{h, w}
			}
		},
		split: func(d *decoder, val []float64, s []int, n int, what shaped) ([]space.Value, error) {
			return each(val, s, n, what, func(v []float64) (space.Value, error) { return d.mask(v, s) })
		},
	},
}

// classes is the length of a mask's class axis: 1 without one, -1 if free.
func (d *decoder) classes(s []int) int {
	switch {
	case len(s) != 3:
		return 1
	case d.nhwc:
		return s[2]
	}
	return s[0]
}

// masked is how many classes masks have, 0 if that is not known.
func masked(d *decoder) int {
	s := d.sampleShapeOrNil()
	switch {
	case d.how == threshold:
		return 2
	case s == nil || d.classes(s) < 2:
		return 0
	}
	return d.classes(s)
}

// mask finds the label of every pixel; -1 where a score or a label is NaN, the lowest label where several tie.
func (d *decoder) mask(v []float64, s []int) (*space.Mask, error) {
	c, h, w := d.grid(s)
	m := &space.Mask{H: h, W: w, Label: make([]int32, h*w)}
	if c == 1 {
		for i, x := range v {
			switch {
			case math.IsNaN(x):
				m.Label[i] = -1
			case d.how == threshold:
				if x > d.threshold {
					m.Label[i] = 1
				}
			case x != math.RoundToEven(x) || math.Abs(x) > math.MaxInt32:
				return nil, fmt.Errorf(
					"pixel %d holds %g, which is no label; set output.decode: threshold if these are scores of an "+
						"object, or output.space: image", i, x)
			default:
				m.Label[i] = int32(x)
			}
		}
		return m, nil
	}
	step, stride := h*w, 1 // from class to class, from pixel to pixel
	if d.nhwc {
		step, stride = 1, c
	}
	for i := range m.Label {
		top, label := v[i*stride], int32(0)
		for k := 1; k < c; k++ {
			x := v[i*stride+k*step]
			if math.IsNaN(x) || math.IsNaN(top) {
				label = -1
				break
			}
			if x > top {
				top, label = x, int32(k)
			}
		}
		m.Label[i] = label
	}
	return m, nil
}
