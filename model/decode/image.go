package decode

import (
	"fmt"

	"nero/data/space"
)

// imageKind is pictures.
var imageKind = kind{
	of:  space.KindImage,
	fed: &fed{pictures: true},
	one: readDecoded,
	decoded: &decoded{
		ways: []string{raw}, usual: raw,
		batched: func(shape []int) bool { return len(shape) == 4 },
		fits: func(_ *decoder, s []int, what string) error {
			if len(s) != 2 && len(s) != 3 {
				return fmt.Errorf("%s has %d axes per sample; an image has channels, height and width; set "+
					"output.space: scores or tensor", what, len(s))
			}
			return nil
		},
		spec: func(d *decoder, s []int, o *space.Spec) {
			o.Shape = []int{-1, -1, -1}
			if s != nil {
				c, h, w := d.grid(s)
				o.Shape = []int{c, h, w}
			}
		},
		split: func(d *decoder, val []float64, s []int, n int, what shaped) ([]space.Value, error) {
			return each(val, s, n, what, func(v []float64) (space.Value, error) { return d.image(v, s), nil })
		},
		raw: func(d *decoder, v []float64, dims []int) ([]float64, []int, error) {
			c, h, w := dims[0], dims[1], dims[2]
			s := d.sampleShapeOrNil()
			if d.nhwc && (s == nil || len(s) == 3) {
				return transposed(v, c, h*w), []int{h, w, c}, nil
			}
			if len(s) == 2 {
				return fill(v, []int{h, w}, h, w)
			}
			return fill(v, []int{c, h, w}, c, h, w)
		},
	},
}

// image copies or transposes one sample into planes.
func (d *decoder) image(v []float64, s []int) *space.Image {
	c, h, w := d.grid(s)
	if !d.nhwc || len(s) == 2 || c == 1 {
		return &space.Image{C: c, H: h, W: w, Pix: v}
	}
	m := space.NewImage(c, h, w)
	for k := range c {
		for i, p := 0, m.Plane(k); i < len(p); i++ {
			p[i] = v[i*c+k]
		}
	}
	return m
}
