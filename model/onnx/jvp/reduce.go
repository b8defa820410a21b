package jvp

import (
	"slices"

	"nero/model/onnx"
	"nero/model/onnx/onnxpb"
)

// reduceRules are the reductions that are not linear.
func reduceRules() map[string]rule {
	all := map[string]rule{}
	// add takes the tangent from the input x, the output y with all axes kept, and dx.
	add := func(op string, push func(c *call, x, y, dx string) string) {
		all[op] = rule{attrs: "axes keepdims noop_with_empty_axes", inputs: 1, push: func(c *call) ([]string, error) {
			if onnx.Int(c.n, "noop_with_empty_axes", 0) != 0 && c.axes() == "" {
				return nil, c.refuse("noop_with_empty_axes without axes")
			}
			return one(push(c, c.in[0], c.kept(), c.t[0]))
		}}
	}
	extreme := func(c *call, x, y, dx string) string { // equal shares, as torch.amax
		is := c.op("Equal", x, y)
		return c.op("Div", c.reduce(c.where(is, dx, c.num(0))), c.reduce(c.where(is, c.num(1), c.num(0))))
	}
	add("ReduceMax", extreme)
	add("ReduceMin", extreme)
	add("ReduceL1", func(c *call, x, _, dx string) string { return c.reduce(c.op("Mul", c.op("Sign", x), dx)) })
	// y = √Σx²: dy = Σ x·dx / y, 0 at 0
	add("ReduceL2", func(c *call, x, y, dx string) string {
		null := c.op("Equal", y, c.num(0))
		return c.reduce(c.op("Mul", c.op("Div", x, c.where(null, c.num(1), y)), dx))
	})
	add("ReduceSumSquare", func(c *call, x, _, dx string) string {
		return c.op("Mul", c.reduce(c.op("Mul", x, dx)), c.num(2))
	})
	add("ReduceLogSum", func(c *call, x, _, dx string) string { return c.op("Div", c.reduce(dx), c.reduce(x)) })
	add("ReduceLogSumExp", func(c *call, x, y, dx string) string {
		return c.reduce(c.op("Mul", c.op("Exp", c.op("Sub", x, y)), dx))
	})
	add("ReduceProd", func(c *call, x, _, dx string) string {
		// With z factors that are zero: Π·Σ dx/x without any, the product of the others times dx with one, else 0.
		null := c.op("Equal", x, c.num(0))
		safe := c.where(null, c.num(1), x)
		rest := c.b.Op("ReduceProd", append([]string{safe}, c.in[1:]...), c.n.GetAttribute()...)
		zeros := c.reduce(c.where(null, c.num(1), c.num(0)))
		none := c.reduce(c.where(null, c.num(0), c.op("Div", dx, safe)))
		single := c.reduce(c.where(null, dx, c.num(0)))
		sum := c.where(c.op("Less", zeros, c.num(.5)), none, c.where(c.op("Less", zeros, c.num(1.5)), single, c.num(0)))
		return c.op("Mul", rest, sum)
	})
	all["Softmax"] = rule{attrs: "axis", inputs: 1, push: func(c *call) ([]string, error) {
		y := c.out()
		return one(c.op("Mul", y, c.op("Sub", c.t[0], c.sumOver(c.op("Mul", y, c.t[0]), onnx.Int(c.n, "axis", -1)))))
	}}
	all["LogSoftmax"] = rule{attrs: "axis", inputs: 1, push: func(c *call) ([]string, error) {
		return one(c.op("Sub", c.t[0], c.sumOver(c.op("Mul", c.op("Exp", c.out()), c.t[0]), onnx.Int(c.n, "axis", -1))))
	}}
	return all
}

// sumOver adds along axes, which are kept with the length 1.
func (s *state) sumOver(v string, axes ...int64) string {
	return s.b.Op("ReduceSum", []string{v, s.b.Ints(axes...)}, onnx.AttrInt("keepdims", 1))
}

// axes are the axes of a reduction, as a value; "" for all axes.
func (c *call) axes() string {
	if a := onnx.Attr(c.n, "axes"); a != nil {
		return c.b.Ints(a.GetInts()...)
	}
	if len(c.in) > 1 {
		return c.in[1]
	}
	return ""
}

// reduce adds over the axes of the node, which keep or lose their axes as in the node.
func (c *call) reduce(v string) string {
	in := []string{v}
	if a := c.axes(); a != "" {
		in = append(in, a)
	}
	return c.b.Op("ReduceSum", in, onnx.AttrInt("keepdims", onnx.Int(c.n, "keepdims", 1)))
}

// kept is the output of the node with all axes kept.
func (c *call) kept() string {
	if onnx.Int(c.n, "keepdims", 1) == 1 {
		return c.out()
	}
	attrs := slices.DeleteFunc(slices.Clone(c.n.GetAttribute()),
		func(a *onnxpb.AttributeProto) bool { return a.GetName() == "keepdims" })
	return c.b.Op(c.n.GetOpType(), c.in, append(attrs, onnx.AttrInt("keepdims", 1))...)
}
