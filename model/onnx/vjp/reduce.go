package vjp

import (
	"errors"

	"nero/model/onnx"
	"nero/model/onnx/facts"
)

var reduceAttrs = []string{"axes", "keepdims", "noop_with_empty_axes"}

// reduction: all operators Reduce*.
func reduction(c *call) error {
	given, _, err := c.param("axes", 1)
	if err != nil {
		return err
	}
	rank, x, y, op := len(c.si), c.in[0], c.out[0], c.n.GetOpType()
	axes := upTo(rank)
	switch {
	case len(given) > 0:
		axes = nil
		for _, a := range given {
			k, err := facts.Axis(a, rank)
			if err != nil {
				return err
			}
			axes = append(axes, k)
		}
	case onnx.Int(c.n, "noop_with_empty_axes", 0) != 0:
		return errors.New("its rule does not know noop_with_empty_axes")
	}
	if err := c.only(0); err != nil {
		return err
	}
	d := c.d
	if onnx.Int(c.n, "keepdims", 1) == 0 && rank > 0 {
		d, y = c.unsqueeze(d, axes...), c.unsqueeze(y, axes...)
	}
	spread := func(v string) string { return c.op("Expand", v, c.shapeOf(x)) }
	switch op {
	case "ReduceSum":
		c.give(0, spread(d))
	case "ReduceMean":
		c.give(0, spread(c.div(d, c.ratio(x, y))))
	case "ReduceMax", "ReduceMin": // the elements that tie share the cotangent
		hit := c.cast(c.op("Equal", x, y))
		c.give(0, c.mul(hit, c.div(d, c.sum(hit, true, axes...))))
	case "ReduceProd":
		// the product of all other elements: y/x without zeros; with one zero, the product of the rest there and 0
		// elsewhere
		zero := c.op("Equal", x, c.num(0))
		filled := c.where(zero, c.num(1), x)
		rest := c.reduce("ReduceProd", filled, axes...)
		count := c.sum(c.cast(zero), true, axes...)
		others := c.sub(count, c.cast(zero)) // zeros among the other elements
		c.give(0, c.mul(d, c.where(c.op("Equal", others, c.num(0)), c.div(rest, filled), c.num(0))))
	case "ReduceSumSquare":
		c.give(0, c.mul(d, c.scale(x, 2)))
	case "ReduceL1":
		c.give(0, c.mul(d, c.op("Sign", x)))
	case "ReduceL2": // x/|x|, 0 for x = 0
		c.give(0, c.mul(x, c.where(c.op("Equal", y, c.num(0)), c.num(0), c.div(d, y))))
	case "ReduceLogSum":
		c.give(0, spread(c.div(d, c.op("Exp", y))))
	case "ReduceLogSumExp":
		c.give(0, c.mul(d, c.op("Exp", c.sub(x, y))))
	}
	return nil
}

// ratio is the number of elements of a divided by that of b, found while it runs.
func (c *call) ratio(a, b string) string {
	return c.cast(c.op("Div", c.op("Size", a), c.op("Size", b)))
}

func cumSum(c *call) error {
	c.give(0, c.with("CumSum", []string{c.d, c.in[1]}, onnx.AttrInt("exclusive", onnx.Int(c.n, "exclusive", 0)),
		onnx.AttrInt("reverse", 1-onnx.Int(c.n, "reverse", 0))))
	return c.only(0)
}

// topK puts the adjoint of the values back to where they were.
func topK(c *call) error {
	for len(c.n.GetOutput()) < 2 {
		c.n.Output = append(c.n.Output, "")
	}
	if c.n.Output[1] == "" {
		c.n.Output[1] = c.free("indices:" + c.out[0])
	}
	ax, err := c.axisAttr(-1, len(c.si))
	if err != nil {
		return err
	}
	c.give(0, c.with("ScatterElements", []string{c.zeros(c.in[0]), c.n.GetOutput()[1], c.d},
		onnx.AttrInt("axis", int64(ax))))
	return nil
}
