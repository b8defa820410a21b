package jvp

import (
	"nero/model/onnx"
)

// arithmeticRules are the operators on several numbers, with broadcasting.
func arithmeticRules() map[string]rule {
	return map[string]rule{
		"Add": {inputs: 2, push: func(c *call) ([]string, error) { return one(total(c)) }},
		"Sum": {inputs: -1, push: func(c *call) ([]string, error) { return one(total(c)) }},
		"Mean": {inputs: -1, push: func(c *call) ([]string, error) {
			return one(c.op("Div", total(c), c.num(float64(len(c.in)))))
		}},
		"Sub": {inputs: 2, push: func(c *call) ([]string, error) {
			switch {
			case c.has(0) && c.has(1):
				return one(c.op("Sub", c.t[0], c.t[1]))
			case c.has(0):
				return one(c.spread(c.t[0], c.in[0]))
			}
			return one(c.spread(c.op("Neg", c.t[1]), c.in[1]))
		}},
		"Mul": {inputs: 2, least: 2, push: func(c *call) ([]string, error) {
			a, b := "", ""
			if c.has(0) {
				a = c.op("Mul", c.t[0], c.in[1])
			}
			if c.has(1) {
				b = c.op("Mul", c.in[0], c.t[1])
			}
			return one(c.sum(a, b))
		}},
		// y = a/b: dy = (da - y·db)/b
		"Div": {inputs: 2, least: 2, push: func(c *call) ([]string, error) {
			switch {
			case !c.has(1):
				return one(c.op("Div", c.t[0], c.in[1]))
			case !c.has(0):
				return one(c.op("Div", c.op("Neg", c.op("Mul", c.out(), c.t[1])), c.in[1]))
			}
			return one(c.op("Div", c.op("Sub", c.t[0], c.op("Mul", c.out(), c.t[1])), c.in[1]))
		}},
		"Pow": {inputs: 2, least: 2, push: pow},
		"Min": {inputs: -1, push: extreme},
		"Max": {inputs: -1, push: extreme},
		// x where x > 0, else slope·x
		"PRelu": {inputs: 2, least: 2, push: func(c *call) ([]string, error) {
			up := c.op("Greater", c.in[0], c.num(0))
			a, b := "", ""
			if c.has(0) {
				a = c.where(up, c.t[0], c.op("Mul", c.t[0], c.in[1]))
			}
			if c.has(1) {
				b = c.where(up, c.num(0), c.op("Mul", c.in[0], c.t[1]))
			}
			return one(c.sum(a, b))
		}},
		"Where": {inputs: 3, least: 3, push: func(c *call) ([]string, error) {
			switch {
			case c.has(1) && c.has(2):
				return one(c.where(c.in[0], c.t[1], c.t[2]))
			case c.has(1): // spread first: the other one may be larger
				return one(c.where(c.in[0], c.spread(c.t[1], c.in[1]), c.num(0)))
			}
			return one(c.where(c.in[0], c.num(0), c.spread(c.t[2], c.in[2])))
		}},
	}
}

// total adds the tangents of all inputs, in the shape of the output.
func total(c *call) string {
	t, moving, last := "", 0, ""
	for i := range c.in {
		if c.has(i) {
			t = c.sum(t, c.t[i])
			moving++
			last = c.in[i]
		}
	}
	switch {
	case moving == len(c.in):
		return t
	case moving == 1:
		return c.spread(t, last)
	}
	return c.op("Expand", t, c.shapeOf(c.out()))
}

// extreme shares equally among the inputs that have the extreme value, as PyTorch does.
func extreme(c *call) ([]string, error) {
	if len(c.in) == 1 {
		return one(c.t[0])
	}
	part, count := "", ""
	for i, v := range c.in {
		is := c.op("Equal", v, c.out())
		count = c.sum(count, c.where(is, c.num(1), c.num(0)))
		if c.has(i) {
			part = c.sum(part, c.where(is, c.t[i], c.num(0)))
		}
	}
	return one(c.op("Div", part, count))
}

// pow is y = x^p: dy = p·x^(p-1)·dx + y·log(x)·dp. The first term is 0 for p = 0, the second for x = 0, as in PyTorch.
func pow(c *call) ([]string, error) {
	x, p, y := c.in[0], c.in[1], c.out()
	a, b := "", ""
	if c.has(0) {
		a = c.op("Mul", c.t[0], powSlope(c))
	}
	if c.has(1) {
		if t := c.types[x]; t != c.types[p] {
			return nil, c.refuse("a moving exponent of another type than the base")
		}
		still := c.op("Equal", x, c.num(0))
		l := c.op("Log", c.where(still, c.num(1), x))
		b = c.op("Mul", c.op("Mul", y, l), c.t[1])
	}
	return one(c.sum(a, b))
}

// powSlope is p·x^(p-1), in the shape of the output where the exponent is larger than the base.
func powSlope(c *call) string {
	x, p := c.in[0], c.in[1]
	if t := c.constant(1); t != nil {
		if v, err := onnx.Value(t); err == nil {
			if f, err := v.Float64s(nil); err == nil && len(f) == 1 && len(v.Shape) == 0 {
				switch f[0] {
				case 1:
					return c.num(1)
				case 2:
					return c.op("Mul", x, c.num(2))
				case 3:
					return c.op("Mul", c.op("Mul", x, x), c.num(3))
				}
			}
		}
	}
	if c.types[p] != c.dt {
		p = c.b.Op("Cast", []string{p}, onnx.AttrInt("to", int64(c.dt)))
	}
	slope := c.op("Mul", p, c.op("Pow", x, c.op("Sub", p, c.num(1))))
	return c.where(c.op("Equal", p, c.num(0)), c.num(0), slope)
}
