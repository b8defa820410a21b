package vjp

import (
	"fmt"

	"nero/data/tensor"
	"nero/model/onnx"
)

// sampler follows one coordinate of a grid.
type sampler struct {
	// of the two pixels around it, as a whole number of the adjoints' type
	low string
	// how far it lies past that one; "" for the nearest pixel, which is low
	frac string
	// derivative of the position by the grid's number, 0 where it was clamped
	slope  string
	length int
}

// gridSample: bilinear or nearest sampling of N×C×H×W at N×H'×W'×2 positions in -1..1, x first.
func gridSample(c *call) error {
	mode, padding := onnx.String(c.n, "mode", "bilinear"), onnx.String(c.n, "padding_mode", "zeros")
	switch {
	case len(c.si) != 4:
		return fmt.Errorf("its rule knows pictures, not an input of shape %v", c.si)
	case mode != "bilinear" && mode != "linear" && mode != "nearest":
		return fmt.Errorf("its rule does not know mode=%q", mode)
	case padding != "zeros" && padding != "border":
		return fmt.Errorf("its rule does not know padding_mode=%q", padding)
	case mode == "nearest" && c.wants(1):
		return fmt.Errorf("the derivative by the positions is 0 with mode=%q", mode)
	}
	n, height, width := c.list(0, -1), c.si[2], c.si[3]
	coordinate := func(k, length int) sampler {
		pick := c.with("Gather", []string{c.in[1], c.b.Const(tensor.FromInt64([]int64{int64(k)}))},
			onnx.AttrInt("axis", 3))
		g := c.reshape(pick, n) // N×P
		return c.sample(g, length, mode, padding)
	}
	xs, ys := coordinate(0, width), coordinate(1, height)
	flat := c.reshape(c.in[0], c.list(0, 0, -1)) // N×C×HW
	d := c.reshape(c.d, c.list(0, 0, -1))        // N×C×P
	zero := c.zeros(flat)
	var dx, dy, image string
	total := func(sum, v string) string {
		if sum == "" {
			return v
		}
		return c.add(sum, v)
	}
	corners := []int{0, 1}
	if mode == "nearest" {
		corners = []int{0}
	}
	for _, j := range corners {
		for _, i := range corners {
			wx, sx := c.weight(xs, i)
			wy, sy := c.weight(ys, j)
			px, inX := c.pixel(xs, i)
			py, inY := c.pixel(ys, j)
			inside := c.cast(c.op("And", inX, inY))
			at := c.add(c.mul(py, c.num(float64(width))), px)
			// positions are the same for all channels
			index := c.with("Cast", []string{c.op("Expand", c.unsqueeze(at, 1), c.shapeOf(d))},
				onnx.AttrInt("to", int64(tensor.Int64)))
			if c.wants(0) {
				w := inside
				if mode != "nearest" {
					w = c.mul(inside, c.mul(wx, wy))
				}
				image = total(image, c.with("ScatterElements", []string{zero, index, c.mul(d, c.unsqueeze(w, 1))},
					onnx.AttrInt("axis", 2), onnx.AttrString("reduction", "add")))
			}
			if c.wants(1) {
				v := c.with("GatherElements", []string{flat, index}, onnx.AttrInt("axis", 2))
				v = c.mul(c.sum(c.mul(v, d), false, 1), inside) // N×P
				dx, dy = total(dx, c.mul(v, c.mul(sx, wy))), total(dy, c.mul(v, c.mul(wx, sy)))
			}
		}
	}
	if c.wants(0) {
		c.give(0, c.like(image, c.in[0]))
	}
	if c.wants(1) {
		both := c.with("Concat", []string{c.unsqueeze(c.mul(dx, xs.slope), 2), c.unsqueeze(c.mul(dy, ys.slope), 2)},
			onnx.AttrInt("axis", 2))
		c.give(1, c.like(both, c.in[1]))
	}
	return nil
}

// sample finds where a coordinate g in -1..1 falls among length pixels.
func (c *call) sample(g string, length int, mode, padding string) sampler {
	l := float64(length)
	slope, offset := l/2, (l-1)/2 // pixel centres at -1+1/l, ...
	if onnx.Int(c.n, "align_corners", 0) != 0 {
		slope = (l - 1) / 2 // at -1, ..., 1
	}
	x := c.add(c.scale(g, slope), c.num(offset))
	s := sampler{slope: c.num(slope), length: length}
	if padding == "border" {
		inside := c.op("And", c.op("Greater", x, c.num(0)), c.op("Less", x, c.num(l-1)))
		s.slope = c.where(inside, s.slope, c.num(0))
		x = c.op("Min", c.op("Max", x, c.num(0)), c.num(l-1))
	}
	if mode == "nearest" {
		s.low = c.op("Round", x) // half to even, as the operator does
		return s
	}
	s.low = c.op("Floor", x)
	s.frac = c.sub(x, s.low)
	return s
}

// weight is that of pixel low+i and its derivative by the position.
func (c *call) weight(s sampler, i int) (w, slope string) {
	switch {
	case s.frac == "":
		return c.num(1), c.num(0)
	case i == 0:
		return c.sub(c.num(1), s.frac), c.num(-1)
	}
	return s.frac, c.num(1)
}

// pixel is low+i, moved inside, and whether it was inside.
func (c *call) pixel(s sampler, i int) (p, inside string) {
	p = s.low
	if i > 0 {
		p = c.add(p, c.num(float64(i)))
	}
	last := c.num(float64(s.length - 1))
	inside = c.op("And", c.op("GreaterOrEqual", p, c.num(0)), c.op("LessOrEqual", p, last))
	return c.op("Min", c.op("Max", p, c.num(0)), last), inside
}
