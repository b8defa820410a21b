package jvp

import (
	"nero/model/onnx"
)

// normRules are the normalizations.
func normRules() map[string]rule {
	return map[string]rule{
		"LayerNormalization":    {attrs: "axis epsilon stash_type", inputs: 3, least: 2, push: layerNorm},
		"InstanceNormalization": {attrs: "epsilon", inputs: 3, least: 3, push: instanceNorm},
		"GroupNormalization":    {attrs: "epsilon num_groups stash_type", inputs: 3, least: 3, push: groupNorm},
		"BatchNormalization":    {attrs: "epsilon momentum training_mode", inputs: 5, least: 5, push: batchNorm},
		"LpNormalization":       {attrs: "axis p", inputs: 1, push: lpNorm},
	}
}

// meanOver averages along axes, which are kept with the length 1.
func (s *state) meanOver(v string, axes ...int64) string {
	if s.opset >= 18 {
		return s.b.Op("ReduceMean", []string{v, s.b.Ints(axes...)}, onnx.AttrInt("keepdims", 1))
	}
	return s.b.Op("ReduceMean", []string{v}, onnx.AttrInts("axes", axes...), onnx.AttrInt("keepdims", 1))
}

// whiten is h = (x - m)·s with the mean m along axes and s = 1/√(variance + ε), and its tangent
// dh = s·(dx - mean(dx) - h·mean(h·dx)), "" if dx is.
func (c *call) whiten(x, dx string, eps float64, axes ...int64) (h, dh string) {
	centered := c.op("Sub", x, c.meanOver(x, axes...))
	variance := c.meanOver(c.op("Mul", centered, centered), axes...)
	s := c.op("Reciprocal", c.op("Sqrt", c.op("Add", variance, c.num(eps))))
	h = c.op("Mul", centered, s)
	if dx == "" {
		return h, ""
	}
	away := c.op("Mul", h, c.meanOver(c.op("Mul", h, dx), axes...))
	return h, c.op("Mul", s, c.op("Sub", c.op("Sub", dx, c.meanOver(dx, axes...)), away))
}

// affine is the tangent of h·scale + bias.
func (c *call) affine(h, dh, scale, dscale, dbias string) string {
	a, b := "", ""
	if dh != "" {
		a = c.op("Mul", dh, scale)
	}
	if dscale != "" {
		b = c.op("Mul", h, dscale)
	}
	return c.sum(a, b, dbias)
}

// reshaped gives v the shape s; "" stays "".
func (c *call) reshaped(v, s string) string {
	if v == "" {
		return ""
	}
	return c.op("Reshape", v, s)
}

// tangentOf is that of input i, "" if it is absent or stands still.
func (c *call) tangentOf(i int) string {
	if c.has(i) {
		return c.t[i]
	}
	return ""
}

// layerNorm normalizes over the trailing axes, which are taken as one.
func layerNorm(c *call) ([]string, error) {
	if onnx.Int(c.n, "stash_type", 1) != 1 {
		return nil, c.refuse("stash_type other than 1")
	}
	flat := func(v string) string {
		if v == "" {
			return ""
		}
		return c.b.Op("Flatten", []string{v}, onnx.AttrInt("axis", onnx.Int(c.n, "axis", -1)))
	}
	x := c.in[0]
	h, dh := c.whiten(flat(x), flat(c.tangentOf(0)), c.attr("epsilon", 1e-5), 1)
	h, dh = c.reshaped(h, c.shapeOf(x)), c.reshaped(dh, c.shapeOf(x))
	t := c.affine(h, dh, c.in[1], c.tangentOf(1), c.tangentOf(2))
	if !c.has(0) && !c.has(1) {
		t = c.op("Expand", t, c.shapeOf(c.out()))
	}
	return one(t)
}

// channels brings [N C ...] to [N C L].
func (c *call) channels(v string) string { return c.reshaped(v, c.b.Ints(0, 0, -1)) }

// column brings a vector to [C 1].
func (c *call) column(v string) string { return c.reshaped(v, c.b.Ints(-1, 1)) }

func instanceNorm(c *call) ([]string, error) {
	h, dh := c.whiten(c.channels(c.in[0]), c.channels(c.tangentOf(0)), c.attr("epsilon", 1e-5), 2)
	return one(c.perChannel(h, dh))
}

// perChannel finishes a normalization from h of the shape [N C L]: scale and bias are vectors of length C.
func (c *call) perChannel(h, dh string) string {
	t := c.affine(h, dh, c.column(c.in[1]), c.column(c.tangentOf(1)), c.column(c.tangentOf(2)))
	if !c.has(0) && !c.has(1) {
		t = c.op("Expand", t, c.op("Shape", h))
	}
	return c.reshaped(t, c.shapeOf(c.in[0]))
}

// groupNorm has a scale a group before version 21, a scale a channel since.
func groupNorm(c *call) ([]string, error) {
	if onnx.Int(c.n, "stash_type", 1) != 1 {
		return nil, c.refuse("stash_type other than 1")
	}
	groups := c.b.Ints(0, onnx.Int(c.n, "num_groups", 1), -1)
	h, dh := c.whiten(c.reshaped(c.in[0], groups), c.reshaped(c.tangentOf(0), groups), c.attr("epsilon", 1e-5), 2)
	if c.opset >= 21 {
		whole := c.shapeOf(c.in[0])
		h, dh = c.channels(c.reshaped(h, whole)), c.channels(c.reshaped(dh, whole))
	}
	return one(c.perChannel(h, dh))
}

// batchNorm uses that the operator is linear in x for scale, mean and variance at rest, and linear in scale and bias:
// in inference the derivative is the operator itself, on other inputs.
func batchNorm(c *call) ([]string, error) {
	if onnx.Int(c.n, "training_mode", 0) != 0 {
		if c.has(3) || c.has(4) {
			return nil, c.refuse(
				"in training mode its mean and variance inputs do not enter the output that is known here")
		}
		h, dh := c.whiten(c.channels(c.in[0]), c.channels(c.tangentOf(0)), c.attr("epsilon", 1e-5), 0, 2)
		return one(c.perChannel(h, dh))
	}
	eps := onnx.AttrFloat("epsilon", float32(c.attr("epsilon", 1e-5)))
	scale, mean, variance := c.in[1], c.in[3], c.in[4]
	null := c.zeros(c.in[2])
	a, b := "", ""
	if c.has(0) {
		a = c.b.Op("BatchNormalization", []string{c.t[0], scale, null, c.zeros(mean), variance}, eps)
	}
	if c.has(1) || c.has(2) || c.has(3) || c.has(4) {
		v := c.op("Add", variance, c.num(c.attr("epsilon", 1e-5)))
		ds, db := c.tangentOf(1), c.tangentOf(2)
		if c.has(4) { // d(v^-1/2) = -1/2·v^-1·v^-1/2·dv
			ds = c.sum(ds, c.op("Mul", c.op("Mul", scale, c.num(-.5)), c.op("Div", c.t[4], v)))
		}
		if c.has(3) {
			db = c.sum(db, c.op("Neg", c.op("Div", c.op("Mul", scale, c.t[3]), c.op("Sqrt", v))))
		}
		if ds == "" {
			ds = c.zeros(scale)
		}
		if db == "" {
			db = null
		}
		b = c.b.Op("BatchNormalization", []string{c.in[0], ds, db, mean, variance}, eps)
	}
	return one(c.sum(a, b))
}

// lpNorm is y = x/n with the norm n along an axis: dy = (dx - y·dn)/n, 0 where n is.
func lpNorm(c *call) ([]string, error) {
	axis := onnx.Int(c.n, "axis", -1)
	x, dx, y := c.in[0], c.t[0], c.out()
	var n, dn string
	switch p := onnx.Int(c.n, "p", 2); p {
	case 1:
		n = c.sumOver(c.op("Abs", x), axis)
		dn = c.sumOver(c.op("Mul", c.op("Sign", x), dx), axis)
	case 2:
		n = c.op("Sqrt", c.sumOver(c.op("Mul", x, x), axis))
		dn = c.sumOver(c.op("Mul", y, dx), axis)
	default:
		return nil, c.refuse("a norm other than 1 and 2")
	}
	null := c.op("Equal", n, c.num(0))
	t := c.op("Div", c.op("Sub", dx, c.op("Mul", y, dn)), c.where(null, c.num(1), n))
	return one(c.where(null, c.num(0), t))
}
