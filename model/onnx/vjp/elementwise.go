package vjp

import (
	"errors"
	"fmt"
	"math"

	"nero/model/onnx"
)

// unary makes a rule out of the adjoint of the input, given the input and the output.
func unary(f func(c *call, x, y string) string) func(*call) error {
	return func(c *call) error {
		c.give(0, f(c, c.in[0], c.out[0]))
		return nil
	}
}

func (c *call) alpha(def float64) float64 { return float64(onnx.Float(c.n, "alpha", float32(def))) }

func (c *call) positive(x string) string { return c.op("Greater", x, c.num(0)) }

// oneMinusSquare is 1 - x².
func (c *call) oneMinusSquare(x string) string { return c.sub(c.num(1), c.mul(x, x)) }

func identity(c *call) error {
	c.give(0, c.d)
	return nil
}

func dropout(c *call) error {
	if c.has(2) {
		if t, ok := c.ints(c.in[2]); !ok || len(t) != 1 || t[0] != 0 {
			return errors.New("it is in training mode (its input training_mode is not the constant false): export " +
				"the model in evaluation mode")
		}
	}
	c.give(0, c.d)
	return c.only(0)
}

// cast: conversions between floating-point types.
func cast(c *call) error {
	from, err := c.element(c.in[0])
	if err != nil {
		return err
	}
	d := c.d
	if from != c.dt {
		d = c.with("Cast", []string{d}, onnx.AttrInt("to", int64(from)))
	}
	c.give(0, d)
	return nil
}

func addRule(c *call) error {
	for i := range c.in {
		c.giveTo(i, func() string { return c.d })
	}
	return nil
}

func subRule(c *call) error {
	c.giveTo(0, func() string { return c.d })
	c.giveTo(1, func() string { return c.neg(c.d) })
	return nil
}

func mulRule(c *call) error {
	c.giveTo(0, func() string { return c.mul(c.d, c.in[1]) })
	c.giveTo(1, func() string { return c.mul(c.d, c.in[0]) })
	return nil
}

func divRule(c *call) error {
	c.giveTo(0, func() string { return c.div(c.d, c.in[1]) })
	c.giveTo(1, func() string { return c.neg(c.div(c.mul(c.d, c.out[0]), c.in[1])) })
	return nil
}

// pow: ∂x^p/∂x = p·x^(p-1), 0 for p = 0; ∂x^p/∂p = x^p·log x, 0 for x = 0 <= p.
func pow(c *call) error {
	x, p := c.in[0], c.in[1]
	if c.real(p) && c.types[p] != c.types[x] || !c.real(p) && c.need[p] {
		return fmt.Errorf("base and exponent differ in type (%s and %s)", c.types[x], c.types[p])
	}
	if !c.real(p) {
		p = c.cast(p)
	}
	if e, ok := c.floats(c.in[1]); ok && len(e) == 1 && len(c.so) == len(c.si) {
		switch e[0] {
		case 1:
			c.give(0, c.d)
		case 2:
			c.give(0, c.mul(c.d, c.scale(x, 2)))
		case 0:
			c.give(0, c.zeros(x))
		default:
			c.give(0, c.mul(c.d, c.scale(c.op("Pow", x, c.num(e[0]-1)), e[0])))
		}
	} else {
		c.giveTo(0, func() string {
			e := c.mul(p, c.op("Pow", x, c.sub(p, c.num(1))))
			return c.mul(c.d, c.where(c.op("Equal", p, c.num(0)), c.num(0), e))
		})
	}
	c.giveTo(1, func() string {
		zero := c.op("And", c.op("Equal", x, c.num(0)), c.op("GreaterOrEqual", p, c.num(0)))
		return c.mul(c.d, c.where(zero, c.num(0), c.mul(c.out[0], c.op("Log", x))))
	})
	return nil
}

func sumRule(c *call) error { return addRule(c) }

func meanRule(c *call) error {
	d := c.scale(c.d, 1/float64(len(c.in)))
	for i := range c.in {
		c.giveTo(i, func() string { return d })
	}
	return nil
}

// extreme: Max and Min of several values, element by element. Those that tie share the cotangent equally.
func extreme(c *call) error {
	if len(c.in) == 1 {
		return identity(c)
	}
	hit := make([]string, len(c.in))
	for i, v := range c.in {
		hit[i] = c.cast(c.op("Equal", v, c.out[0]))
	}
	share := c.div(c.d, c.op("Sum", hit...))
	for i := range c.in {
		c.giveTo(i, func() string { return c.mul(share, hit[i]) })
	}
	return nil
}

func whereRule(c *call) error {
	c.giveTo(1, func() string { return c.where(c.in[0], c.d, c.num(0)) })
	c.giveTo(2, func() string { return c.where(c.in[0], c.num(0), c.d) })
	return nil
}

// clip passes the cotangent where min <= x <= max.
func clip(c *call) error {
	d := c.d
	if c.has(1) {
		d = c.where(c.op("GreaterOrEqual", c.in[0], c.in[1]), d, c.num(0))
	}
	if c.has(2) {
		d = c.where(c.op("LessOrEqual", c.in[0], c.in[2]), d, c.num(0))
	}
	c.give(0, d)
	return c.only(0)
}

func prelu(c *call) error {
	x, slope := c.in[0], c.in[1]
	pos := c.positive(x)
	c.giveTo(0, func() string { return c.where(pos, c.d, c.mul(c.d, slope)) })
	c.giveTo(1, func() string { return c.where(pos, c.num(0), c.mul(c.d, x)) })
	return nil
}

// relu passes the adjoint where its output is positive.
func relu(c *call, _, y string) string {
	if c.masked[y] == c.parts[y] {
		return c.d
	}
	return c.where(c.positive(y), c.d, c.num(0))
}

// erf: 2/√π·exp(-x²).
func erf(c *call, x, _ string) string {
	return c.mul(c.d, c.scale(c.op("Exp", c.neg(c.mul(x, x))), 2/math.Sqrt(math.Pi)))
}

// softsign: 1/(1+|x|)².
func softsign(c *call, x, _ string) string {
	a := c.add(c.num(1), c.op("Abs", x))
	return c.div(c.d, c.mul(a, a))
}

// mish: x·tanh(s) with s = softplus(x); derivative tanh(s) + x·(1-tanh²(s))·sigmoid(x).
func mish(c *call, x, _ string) string {
	t := c.op("Tanh", c.op("Softplus", x))
	return c.mul(c.d, c.add(t, c.mul(c.mul(x, c.op("Sigmoid", x)), c.oneMinusSquare(t))))
}

// hardSwish: 0 below -3, 1 above 3, x/3 + 1/2 between (both ends included).
func hardSwish(c *call, x, _ string) string {
	mid := c.add(c.scale(x, 1./3), c.num(.5))
	f := c.where(c.op("Greater", x, c.num(3)), c.num(1), mid)
	return c.mul(c.d, c.where(c.op("Less", x, c.num(-3)), c.num(0), f))
}

func leakyRelu(c *call, x, _ string) string {
	return c.where(c.positive(x), c.d, c.scale(c.d, c.alpha(.01)))
}

func thresholdedRelu(c *call, x, _ string) string {
	return c.where(c.op("Greater", x, c.num(c.alpha(1))), c.d, c.num(0))
}

// elu: α·(exp(x)-1) below 0, so that the derivative is y + α there.
func elu(c *call, x, y string) string {
	return c.where(c.positive(x), c.d, c.mul(c.d, c.add(y, c.num(c.alpha(1)))))
}

// celu: α·(exp(x/α)-1) below 0.
func celu(c *call, x, y string) string {
	return c.where(c.positive(x), c.d, c.mul(c.d, c.add(c.scale(y, 1/c.alpha(1)), c.num(1))))
}

// selu: γ·x above 0, γ·α·(exp(x)-1) below.
func selu(c *call, x, y string) string {
	a := c.alpha(1.67326319217681884765625)
	g := float64(onnx.Float(c.n, "gamma", 1.05070102214813232421875))
	return c.where(c.positive(x), c.scale(c.d, g), c.mul(c.d, c.add(y, c.num(g*a))))
}

// hardSigmoid: clip(α·x+β, 0, 1); the derivative is 0 at both ends.
func hardSigmoid(c *call, _, y string) string {
	in := c.op("And", c.positive(y), c.op("Less", y, c.num(1)))
	return c.where(in, c.scale(c.d, c.alpha(.2)), c.num(0))
}

// shrink: x+bias below -lambd, x-bias above lambd, 0 between.
func shrink(c *call, x, _ string) string {
	l := c.num(float64(onnx.Float(c.n, "lambd", .5)))
	return c.where(c.op("Greater", c.op("Abs", x), l), c.d, c.num(0))
}

// gelu: x·Φ(x), exactly or by a hyperbolic tangent.
func gelu(c *call) error {
	x := c.in[0]
	switch a := onnx.String(c.n, "approximate", "none"); a {
	case "none":
		phi := c.scale(c.add(c.num(1), c.op("Erf", c.scale(x, math.Sqrt(.5)))), .5)
		density := c.scale(c.op("Exp", c.scale(c.mul(x, x), -.5)), 1/math.Sqrt(2*math.Pi))
		c.give(0, c.mul(c.d, c.add(phi, c.mul(x, density))))
	case "tanh": // x/2·(1+tanh(u)), u = √(2/π)·(x + 0.044715·x³)
		k, q := math.Sqrt(2/math.Pi), .044715
		xx := c.mul(x, x)
		t := c.op("Tanh", c.mul(x, c.add(c.num(k), c.scale(xx, k*q))))
		du := c.add(c.num(k), c.scale(xx, 3*k*q))
		c.give(0, c.mul(c.d, c.scale(c.add(c.add(c.num(1), t), c.mul(c.mul(x, du), c.oneMinusSquare(t))), .5)))
	default:
		return fmt.Errorf("its rule does not know approximate=%q", a)
	}
	return nil
}
