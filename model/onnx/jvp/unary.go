package jvp

import (
	"math"

	"nero/model/onnx"
)

// unaryRules are the functions of one number, d = f'(x)·dx.
func unaryRules() map[string]rule {
	all := map[string]rule{}
	// add takes what dx is multiplied by, computed from the input x and the output y.
	add := func(op, attrs string, slope func(c *call, x, y string) string) {
		all[op] = rule{attrs: attrs, inputs: 1, push: func(c *call) ([]string, error) {
			return one(c.op("Mul", c.t[0], slope(c, c.in[0], c.out())))
		}}
	}
	add("Abs", "", func(c *call, x, _ string) string { return c.op("Sign", x) })
	add("Exp", "", func(_ *call, _, y string) string { return y })
	add("Log", "", func(c *call, x, _ string) string { return c.op("Reciprocal", x) })
	add("Sqrt", "", func(c *call, _, y string) string { return c.op("Div", c.num(.5), y) })
	add("Reciprocal", "", func(c *call, _, y string) string { return c.op("Neg", c.op("Mul", y, y)) })
	add("Erf", "", func(c *call, x, _ string) string {
		return c.op("Mul", c.op("Exp", c.op("Neg", c.op("Mul", x, x))), c.num(2/math.Sqrt(math.Pi)))
	})
	add("Sin", "", func(c *call, x, _ string) string { return c.op("Cos", x) })
	add("Cos", "", func(c *call, x, _ string) string { return c.op("Neg", c.op("Sin", x)) })
	add("Tan", "", func(c *call, _, y string) string { return c.op("Add", c.op("Mul", y, y), c.num(1)) })
	add("Sinh", "", func(c *call, x, _ string) string { return c.op("Cosh", x) })
	add("Cosh", "", func(c *call, x, _ string) string { return c.op("Sinh", x) })
	root := func(c *call, v string) string { return c.op("Reciprocal", c.op("Sqrt", v)) }
	add("Asin", "", func(c *call, x, _ string) string { return root(c, c.op("Sub", c.num(1), c.op("Mul", x, x))) })
	add("Acos", "", func(c *call, x, _ string) string {
		return c.op("Neg", root(c, c.op("Sub", c.num(1), c.op("Mul", x, x))))
	})
	add("Atan", "", func(c *call, x,
		_ string,
	) string {
		return c.op("Reciprocal", c.op("Add", c.op("Mul", x, x), c.num(1)))
	})
	add("Asinh", "", func(c *call, x, _ string) string { return root(c, c.op("Add", c.op("Mul", x, x), c.num(1))) })
	add("Acosh", "", func(c *call, x, _ string) string { return root(c, c.op("Sub", c.op("Mul", x, x), c.num(1))) })
	add("Atanh", "", func(c *call, x,
		_ string,
	) string {
		return c.op("Reciprocal", c.op("Sub", c.num(1), c.op("Mul", x, x)))
	})

	add("Tanh", "", func(c *call, _, y string) string { return c.op("Sub", c.num(1), c.op("Mul", y, y)) })
	add("Sigmoid", "", sigmoidSlope)
	add("Softplus", "", func(c *call, x, _ string) string { return c.op("Sigmoid", x) })
	add("Softsign", "", func(c *call, x, _ string) string {
		s := c.op("Reciprocal", c.op("Add", c.op("Abs", x), c.num(1)))
		return c.op("Mul", s, s)
	})
	// y = x·tanh(s), s = softplus(x): y' = tanh(s) + x·(1 - tanh²(s))·sigmoid(x)
	add("Mish", "", func(c *call, x, _ string) string {
		th := c.op("Tanh", c.op("Softplus", x))
		rest := c.op("Mul", c.op("Sub", c.num(1), c.op("Mul", th, th)), c.op("Sigmoid", x))
		return c.op("Add", th, c.op("Mul", x, rest))
	})
	add("Gelu", "approximate", geluSlope)
	// y = x·max(0, min(1, x/6 + 1/2))
	add("HardSwish", "", func(c *call, x, _ string) string {
		inner := c.op("Add", c.op("Div", x, c.num(3)), c.num(.5))
		return c.where(c.op("Less", x, c.num(-3)), c.num(0), c.where(c.op("Greater", x, c.num(3)), c.num(1), inner))
	})
	add("HardSigmoid", "alpha beta", func(c *call, x, _ string) string {
		v := c.op("Add", c.op("Mul", x, c.num(c.attr("alpha", .2))), c.num(c.attr("beta", .5)))
		inside := c.op("And", c.op("Greater", v, c.num(0)), c.op("Less", v, c.num(1)))
		return c.where(inside, c.num(c.attr("alpha", .2)), c.num(0))
	})
	add("Elu", "alpha", func(c *call, x, _ string) string {
		return c.where(c.op("Greater", x, c.num(0)), c.num(1), c.op("Mul", c.op("Exp", x), c.num(c.attr("alpha", 1))))
	})
	add("Celu", "alpha", func(c *call, x, _ string) string {
		return c.where(c.op("Greater", x, c.num(0)), c.num(1), c.op("Exp", c.op("Div", x, c.num(c.attr("alpha", 1)))))
	})
	add("Selu", "alpha gamma", func(c *call, x, _ string) string {
		alpha, gamma := c.attr("alpha", 1.67326319217681884765625), c.attr("gamma", 1.05070102214813232421875)
		return c.where(c.op("Greater", x, c.num(0)), c.num(gamma), c.op("Mul", c.op("Exp", x), c.num(alpha*gamma)))
	})
	// These select instead of multiplying, so that a tangent that is not finite does not become NaN where the slope is
	// 0.
	all["Relu"] = rule{inputs: 1, push: func(c *call) ([]string, error) {
		// The output tells as much as the input, which an engine can then forget: it fuses Relu with the layer before.
		return one(c.where(c.op("Greater", c.out(), c.num(0)), c.t[0], c.num(0)))
	}}
	all["ThresholdedRelu"] = rule{attrs: "alpha", inputs: 1, push: func(c *call) ([]string, error) {
		return one(c.where(c.op("Greater", c.in[0], c.num(c.attr("alpha", 1))), c.t[0], c.num(0)))
	}}
	all["LeakyRelu"] = rule{attrs: "alpha", inputs: 1, push: func(c *call) ([]string, error) {
		return one(c.where(c.op("Greater", c.in[0], c.num(0)), c.t[0],
			c.op("Mul", c.t[0], c.num(c.attr("alpha", .01)))))
	}}
	all["Shrink"] = rule{attrs: "bias lambd", inputs: 1, push: func(c *call) ([]string, error) {
		return one(c.where(c.op("Greater", c.op("Abs", c.in[0]), c.num(c.attr("lambd", .5))), c.t[0], c.num(0)))
	}}
	all["Clip"] = rule{inputs: 1, push: clip}
	return all
}

func sigmoidSlope(c *call, _, y string) string { return c.op("Mul", y, c.op("Sub", c.num(1), y)) }

// geluSlope is that of x·Φ(x), Φ(x) + x·φ(x), or of its approximation by tanh (D. Hendrycks and K. Gimpel,
// arXiv:1606.08415).
func geluSlope(c *call, x, _ string) string {
	x2 := c.op("Mul", x, x)
	if onnx.String(c.n, "approximate", "none") == "tanh" {
		// y = x/2·(1 + t), t = tanh(k·(x + a·x³)): y' = (1 + t)/2 + x/2·(1 - t²)·k·(1 + 3a·x²)
		const a = 0.044715
		k := math.Sqrt(2 / math.Pi)
		t := c.op("Tanh", c.op("Mul", c.op("Mul", x, c.num(k)), c.op("Add", c.op("Mul", x2, c.num(a)), c.num(1))))
		inner := c.op("Mul", c.op("Add", c.op("Mul", x2, c.num(3*a)), c.num(1)), c.num(k/2))
		rest := c.op("Mul", c.op("Mul", x, inner), c.op("Sub", c.num(1), c.op("Mul", t, t)))
		return c.op("Add", c.op("Mul", c.op("Add", t, c.num(1)), c.num(.5)), rest)
	}
	cdf := c.op("Mul", c.op("Add", c.op("Erf", c.op("Mul", x, c.num(math.Sqrt2/2))), c.num(1)), c.num(.5))
	pdf := c.op("Mul", c.op("Exp", c.op("Mul", x2, c.num(-.5))), c.num(1/math.Sqrt(2*math.Pi)))
	return c.op("Add", cdf, c.op("Mul", x, pdf))
}

// clip passes what lies between the limits, themselves included.
func clip(c *call) ([]string, error) {
	t := c.t[0]
	if len(c.in) > 1 && c.in[1] != "" {
		t = c.where(c.op("Less", c.in[0], c.in[1]), c.num(0), t)
	}
	if len(c.in) > 2 && c.in[2] != "" {
		t = c.where(c.op("Greater", c.in[0], c.in[2]), c.num(0), t)
	}
	return one(t)
}
