package vjp

import (
	"errors"
	"fmt"
	"math"

	"nero/data/tensor"
	"nero/model/onnx"
	"nero/model/onnx/facts"
)

// most bounds the elements of a constant that a rule makes.
const most = 1 << 26

// resize: along every axis resizing is a matrix, which is made here; the adjoint is multiplied by its transpose.
func resize(c *call) error {
	r := len(c.si)
	r1 := resizing{
		mode: onnx.String(c.n, "mode", "nearest"), coordinates: onnx.String(c.n, "coordinate_transformation_mode",
			"half_pixel"),
		nearest: onnx.String(c.n, "nearest_mode", "round_prefer_floor"),
		cubic:   float64(onnx.Float(c.n, "cubic_coeff_a", -.75)),
		exclude: onnx.Int(c.n, "exclude_outside", 0) != 0,
	}
	if onnx.Int(c.n, "antialias", 0) != 0 {
		return errors.New("its rule does not know antialias")
	}
	axes := upTo(r)
	if a := onnx.Attr(c.n, "axes"); a != nil {
		axes = nil
		for _, v := range a.GetInts() {
			k, err := facts.Axis(v, r)
			if err != nil {
				return err
			}
			axes = append(axes, k)
		}
	}
	if len(c.so) != r {
		return fmt.Errorf("shapes %v and %v do not fit each other", c.si, c.so)
	}
	scales := make([]float64, r)
	for a := range scales {
		scales[a] = float64(c.so[a]) / float64(c.si[a])
	}
	if c.has(2) && tensor.Count(c.shapes[c.in[2]]) > 0 { // given, they need not be the ratio of the lengths
		given, ok := c.floats(c.in[2])
		if !ok || len(given) != len(axes) {
			return errors.New("its scales are computed while it runs")
		}
		for i, a := range axes {
			scales[a] = float64(float32(given[i]))
		}
	} else if policy := onnx.String(c.n, "keep_aspect_ratio_policy", "stretch"); policy != "stretch" {
		return fmt.Errorf("its rule does not know keep_aspect_ratio_policy=%q", policy)
	}
	d := c.d
	for _, a := range axes {
		if scales[a] == 1 && c.si[a] == c.so[a] {
			continue
		}
		if a == 0 {
			return errors.New("it resizes the batch axis")
		}
		if _, err := tensor.CheckedCount([]int{c.si[a], c.so[a]}, most); err != nil {
			return fmt.Errorf("axis %d is too long: %w", a, err)
		}
		m, err := r1.matrix(c.si[a], c.so[a], scales[a])
		if err != nil {
			return err
		}
		d = c.along(d, m, c.so[a], c.si[a], a, r)
	}
	c.give(0, d)
	return c.only(0)
}

// along multiplies an axis of d, which has r axes, by the transpose of the out × in matrix m.
func (c *call) along(d string, m []float64, out, in, a, r int) string {
	turned := make([]float64, len(m))
	for i := range out {
		for j := range in {
			turned[j*out+i] = m[i*in+j]
		}
	}
	switch a {
	case r - 1:
		return c.op("MatMul", d, c.array(m, out, in))
	case r - 2:
		return c.op("MatMul", c.array(turned, in, out), d)
	}
	p := upTo(r)
	p[a], p[r-1] = r-1, a
	return c.transpose(c.op("MatMul", c.transpose(d, p...), c.array(m, out, in)), p...)
}

// resizing is how an axis is sampled anew, as the specification of Resize has it.
type resizing struct {
	mode, coordinates, nearest string
	cubic                      float64
	exclude                    bool
}

// matrix has one row per new element, one column per old one.
func (z resizing) matrix(in, out int, scale float64) ([]float64, error) {
	m := make([]float64, out*in)
	for o := range out {
		x, err := z.position(o, in, out, scale)
		if err != nil {
			return nil, err
		}
		put := func(i int, w float64) { m[o*in+min(max(i, 0), in-1)] += w }
		switch z.mode {
		case "nearest":
			i, err := z.round(x)
			if err != nil {
				return nil, err
			}
			put(i, 1)
		case "linear":
			x = min(max(x, 0), float64(in-1))
			f := math.Floor(x)
			put(int(f), 1-(x-f))
			put(int(f)+1, x-f)
		case "cubic":
			f := math.Floor(x)
			var w [4]float64
			total := 0.
			for k := range w {
				w[k] = keys(x-f-float64(k-1), z.cubic)
				if i := int(f) + k - 1; z.exclude && (i < 0 || i >= in) {
					w[k] = 0
				}
				total += w[k]
			}
			for k := range w {
				if z.exclude {
					w[k] /= total
				}
				put(int(f)+k-1, w[k])
			}
		default:
			return nil, fmt.Errorf("its rule does not know mode=%q", z.mode)
		}
	}
	return m, nil
}

// keys is the cubic convolution kernel of Keys, "Cubic convolution interpolation for digital image processing", IEEE
// Trans. ASSP 29 (1981), with parameter a.
func keys(x, a float64) float64 {
	switch x = math.Abs(x); {
	case x <= 1:
		return float64((float64((a+2)*x)-(a+3))*x*x) + 1
	case x < 2:
		return float64((float64((float64(a*x)-float64(5*a))*x)+float64(8*a))*x) - float64(4*a)
	}
	return 0
}

// position is where a new element lies among the old ones. It is computed in float32, as engines do.
func (z resizing) position(o, in, out int, scale float64) (float64, error) {
	x, s := float32(o), float32(scale)
	switch z.coordinates {
	case "half_pixel":
		return float64((x+.5)/s - .5), nil
	case "pytorch_half_pixel":
		if out == 1 {
			return 0, nil
		}
		return float64((x+.5)/s - .5), nil
	case "half_pixel_symmetric":
		adjusted := float64(out) / (scale * float64(in))
		center := float64(in) / 2
		return float64(center*(1-adjusted)) + (float64(o)+.5)/scale - .5, nil
	case "asymmetric":
		return float64(x / s), nil
	case "align_corners":
		if out == 1 {
			return 0, nil
		}
		return float64(x * float32(in-1) / float32(out-1)), nil
	}
	return 0, fmt.Errorf("its rule does not know coordinate_transformation_mode=%q", z.coordinates)
}

func (z resizing) round(x float64) (int, error) {
	switch z.nearest {
	case "round_prefer_floor":
		return int(math.Ceil(x - .5)), nil
	case "round_prefer_ceil":
		return int(math.Floor(x + .5)), nil
	case "floor":
		return int(math.Floor(x)), nil
	case "ceil":
		return int(math.Ceil(x)), nil
	}
	return 0, fmt.Errorf("its rule does not know nearest_mode=%q", z.nearest)
}
