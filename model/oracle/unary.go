package oracle

import (
	"fmt"
	"math"

	"nero/data/tensor"
	"nero/internal/elementary"
)

// unaryOps are functions of one element.
func unaryOps() map[string][]entry {
	ops := map[string][]entry{}
	// plain are functions without attributes, of floating-point numbers.
	for name, f := range map[string]func(float64) float64{
		"Exp": elementary.Exp, "Log": elementary.Log, "Sqrt": math.Sqrt, "Erf": elementary.Erf, "Tanh": elementary.Tanh,
		"Sigmoid":    sigmoid,
		"Reciprocal": func(x float64) float64 { return 1 / x },
		"Softplus":   softplus,
		"Softsign":   func(x float64) float64 { return x / (1 + math.Abs(x)) },
		"Mish":       func(x float64) float64 { return x * elementary.Tanh(softplus(x)) },
		"HardSwish":  func(x float64) float64 { return x * clamp(x/6+0.5, 0, 1) },
		"Floor":      math.Floor, "Ceil": math.Ceil, "Round": math.RoundToEven,
		"Sin": elementary.Sin, "Cos": elementary.Cos, "Tan": elementary.Tan, "Asin": elementary.Asin,
		"Acos": elementary.Acos, "Atan": elementary.Atan,
		"Sinh": elementary.Sinh, "Cosh": elementary.Cosh, "Asinh": elementary.Asinh, "Acosh": elementary.Acosh,
		"Atanh": elementary.Atanh,
	} {
		ops[name] = []entry{{
			since: 1, least: 1, most: 1, outs: 1,
			build: func(*attrs) kernel { return floatKernel(f) },
		}}
	}
	// formed are functions with attributes.
	for name, form := range map[string]func(a *attrs) func(float64) float64{
		"LeakyRelu": func(a *attrs) func(float64) float64 {
			alpha := a.float("alpha", 0.01)
			return func(x float64) float64 {
				if x < 0 {
					return alpha * x
				}
				return x
			}
		},
		"Elu": func(a *attrs) func(float64) float64 { return elu(a.float("alpha", 1), 1, 1) },
		"Selu": func(a *attrs) func(float64) float64 {
			return elu(a.float("alpha", 1.67326319217681884765625), a.float("gamma", 1.05070102214813232421875), 1)
		},
		"Celu": func(a *attrs) func(float64) float64 {
			alpha := a.float("alpha", 1)
			return elu(alpha, 1, alpha)
		},
		"HardSigmoid": func(a *attrs) func(float64) float64 {
			alpha, beta := a.float("alpha", 0.2), a.float("beta", 0.5)
			return func(x float64) float64 { return clamp(float64(alpha*x)+beta, 0, 1) }
		},
		"ThresholdedRelu": func(a *attrs) func(float64) float64 {
			alpha := a.float("alpha", 1)
			return func(x float64) float64 {
				if x <= alpha {
					return 0
				}
				return x
			}
		},
		"Shrink": func(a *attrs) func(float64) float64 {
			lambda, bias := a.float("lambd", 0.5), a.float("bias", 0)
			return func(x float64) float64 {
				switch {
				case x < -lambda:
					return x + bias
				case x > lambda:
					return x - bias
				case math.IsNaN(x):
					return x
				}
				return 0
			}
		},
		"Gelu": func(a *attrs) func(float64) float64 {
			if a.choice("approximate", "none", "tanh") == "tanh" {
				return func(x float64) float64 {
					return 0.5 * x * (1 + elementary.Tanh(math.Sqrt(2/math.Pi)*(x+float64(0.044715*x*x*x))))
				}
			}
			return func(x float64) float64 { return 0.5 * x * elementary.Erfc(-x/math.Sqrt2) }
		},
	} {
		ops[name] = []entry{{
			since: max(map[string]int{"Gelu": 20}[name], 1), least: 1, most: 1, outs: 1,
			build: func(a *attrs) kernel {
				return floatKernel(form(a))
			},
		}}
	}
	since := map[string]int{
		"Erf": 9, "Mish": 18, "HardSwish": 14, "Round": 11, "Sinh": 9, "Cosh": 9, "Asinh": 9, "Acosh": 9, "Atanh": 9,
		"Sin": 7, "Cos": 7, "Tan": 7, "Asin": 7, "Acos": 7, "Atan": 7, "Celu": 12, "Selu": 6, "ThresholdedRelu": 10,
		"Shrink": 9,
	}
	for name, v := range since {
		ops[name][0].since = v
	}
	// both are defined for integers too.
	for name, f := range map[string]struct {
		f func(float64) float64
		i func(int64) int64
	}{
		"Abs": {math.Abs, func(x int64) int64 { return max(x, -x) }},
		"Neg": {func(x float64) float64 { return -x }, func(x int64) int64 { return -x }},
		"Sign": {sign, func(x int64) int64 {
			switch {
			case x > 0:
				return 1
			case x < 0:
				return -1
			}
			return 0
		}},
		"Relu": {func(x float64) float64 {
			if x < 0 {
				return 0
			}
			return x
		}, func(x int64) int64 { return max(x, 0) }},
	} {
		ops[name] = []entry{{
			since: max(map[string]int{"Sign": 9}[name], 1), least: 1, most: 1, outs: 1,
			build: func(a *attrs) kernel {
				return one(func(c *call) (*value, error) {
					x, err := c.any(0)
					if err != nil {
						return nil, err
					}
					if x.float() {
						return c.apply(x, f.f)
					}
					if x.typ == tensor.Bool {
						return nil, fmt.Errorf("input 0 is %s, want numbers", x)
					}
					return c.applyInt(x, func(v int64) int64 {
						if x.typ == tensor.Uint64 { // as unsigned, and never negative
							switch a.n.GetOpType() {
							case "Sign":
								return min(int64(uint64(v)>>1|uint64(v)&1), 1)
							case "Neg":
								return -v
							}
							return v
						}
						return f.i(v)
					})
				})
			},
		}}
	}
	ops["Not"] = []entry{{since: 1, least: 1, most: 1, outs: 1, build: func(*attrs) kernel {
		return one(func(c *call) (*value, error) {
			x, err := c.bools(0)
			if err != nil {
				return nil, err
			}
			return c.applyInt(x, func(v int64) int64 { return 1 - v })
		})
	}}}
	ops["BitwiseNot"] = []entry{{since: 18, least: 1, most: 1, outs: 1, build: func(*attrs) kernel {
		return one(func(c *call) (*value, error) {
			x, err := c.any(0)
			if err != nil {
				return nil, err
			}
			if !isInteger(x.typ) {
				return nil, fmt.Errorf("input 0 is %s, want integers", x)
			}
			return c.applyInt(x, func(v int64) int64 { return ^v })
		})
	}}}
	ops["IsNaN"] = []entry{{
		since: 9, least: 1, most: 1, outs: 1,
		build: func(*attrs) kernel { return test(math.IsNaN) },
	}}
	ops["IsInf"] = []entry{{since: 10, least: 1, most: 1, outs: 1, build: func(a *attrs) kernel {
		neg, pos := a.flag("detect_negative", true), a.flag("detect_positive", true)
		return test(func(x float64) bool { return pos && math.IsInf(x, 1) || neg && math.IsInf(x, -1) })
	}}}
	return ops
}

func sigmoid(x float64) float64 {
	if x < 0 {
		e := elementary.Exp(x)
		return e / (1 + e)
	}
	return 1 / (1 + elementary.Exp(-x))
}

func softplus(x float64) float64 {
	if x > 0 {
		return x + elementary.Log1p(elementary.Exp(-x))
	}
	return elementary.Log1p(elementary.Exp(x))
}

// clamp passes NaN on.
func clamp(x, lo, hi float64) float64 {
	if x < lo {
		x = lo
	}
	if x > hi {
		x = hi
	}
	return x
}

func sign(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return x // zero and NaN
}

// elu is gamma x above zero and gamma alpha (e^(x/scale) - 1) below.
func elu(alpha, gamma, scale float64) func(float64) float64 {
	return func(x float64) float64 {
		if x < 0 {
			return gamma * alpha * elementary.Expm1(x/scale)
		}
		return gamma * x
	}
}

func floatKernel(f func(float64) float64) kernel {
	return one(func(c *call) (*value, error) {
		x, err := c.floats(0)
		if err != nil {
			return nil, err
		}
		return c.apply(x, f)
	})
}

// test is a kernel from floating-point numbers to bool.
func test(f func(float64) bool) kernel {
	return one(func(c *call) (*value, error) {
		x, err := c.floats(0)
		if err != nil {
			return nil, err
		}
		y, err := c.truth(x.shape)
		if err != nil {
			return nil, err
		}
		for k, v := range x.f {
			if f(v) {
				y.i[k] = 1
			}
		}
		return y, nil
	})
}

// applyInt makes a value of a function of every element.
func (c *call) applyInt(x *value, f func(int64) int64) (*value, error) {
	y, err := c.make(x.typ, x.shape)
	if err != nil {
		return nil, err
	}
	for k, v := range x.i {
		y.i[k] = wrap(x.typ, f(v))
	}
	return y, nil
}

// bools is input k, which must be there and of type bool.
func (c *call) bools(k int) (*value, error) {
	v, err := c.any(k)
	if err != nil {
		return nil, err
	}
	if v.typ != tensor.Bool {
		return nil, fmt.Errorf("input %d is %s, want bool", k, v)
	}
	return v, nil
}
