package oracle

import (
	"errors"
	"fmt"
	"math"

	"nero/data/tensor"
	"nero/internal/elementary"
)

var errZero = errors.New("integer division by zero")

// arithmetic is an operator on two numbers of one type. Integer functions get the element type.
type arithmetic struct {
	f func(x, y float64) float64
	i func(d tensor.DType, x, y int64) (int64, error)
	// many is f of two rows with their steps, where one call for each number would cost more than the number; nil where
	// there is none
	many func(out, x, y []float64, sx, sy int)
}

// pairs are f of the numbers of two rows, which begin where x and y do.
func (o arithmetic) pairs(out, x, y []float64, sx, sy int) {
	if o.many != nil {
		o.many(out, x, y, sx, sy)
		return
	}
	for j := range out {
		out[j] = o.f(x[j*sx], y[j*sy])
	}
}

func sums(out, x, y []float64, sx, sy int) {
	for j := range out {
		out[j] = x[j*sx] + y[j*sy]
	}
}

func differences(out, x, y []float64, sx, sy int) {
	for j := range out {
		out[j] = x[j*sx] - y[j*sy]
	}
}

func multiples(out, x, y []float64, sx, sy int) {
	for j := range out {
		out[j] = x[j*sx] * y[j*sy]
	}
}

// ring makes an arithmetic of operations that wrap around alike for signed and unsigned numbers.
func ring(f func(x, y float64) float64, i func(x, y int64) int64) arithmetic {
	return arithmetic{f: f, i: func(_ tensor.DType, x, y int64) (int64, error) { return i(x, y), nil }}
}

// less compares integers of a type.
func less(d tensor.DType, x, y int64) bool {
	if d == tensor.Uint64 {
		return uint64(x) < uint64(y)
	}
	return x < y
}

// least and greatest pass NaN on.
func least(x, y float64) float64 {
	if x < y || math.IsNaN(x) {
		return x
	}
	return y
}

func greatest(x, y float64) float64 {
	if x > y || math.IsNaN(x) {
		return x
	}
	return y
}

// binaryOps are functions of two elements, with broadcasting.
func binaryOps() map[string][]entry {
	ops := map[string][]entry{}
	add := ring(func(x, y float64) float64 { return x + y }, func(x, y int64) int64 { return x + y })
	mul := ring(func(x, y float64) float64 { return x * y }, func(x, y int64) int64 { return x * y })
	sub := ring(func(x, y float64) float64 { return x - y }, func(x, y int64) int64 { return x - y })
	add.many, mul.many, sub.many = sums, multiples, differences
	div := arithmetic{
		f: func(x, y float64) float64 { return x / y },
		i: func(d tensor.DType, x, y int64) (int64, error) {
			switch {
			case y == 0:
				return 0, errZero
			case d == tensor.Uint64:
				return int64(uint64(x) / uint64(y)), nil
			case y == -1:
				return -x, nil
			}
			return x / y, nil
		},
	}
	small := arithmetic{f: least, i: func(d tensor.DType, x, y int64) (int64, error) {
		if less(d, y, x) {
			return y, nil
		}
		return x, nil
	}}
	large := arithmetic{f: greatest, i: func(d tensor.DType, x, y int64) (int64, error) {
		if less(d, x, y) {
			return y, nil
		}
		return x, nil
	}}
	for name, op := range map[string]arithmetic{"Add": add, "Sub": sub, "Mul": mul, "Div": div} {
		ops[name] = []entry{
			{
				since: 1, least: 2, most: 2, outs: 1,
				build: func(a *attrs) kernel { return elementwise(op, oldBroadcast(a)) },
			},
			{since: 7, least: 2, most: 2, outs: 1, build: func(*attrs) kernel { return elementwise(op, nil) }},
		}
	}
	ops["Pow"] = []entry{
		{since: 1, least: 2, most: 2, outs: 1, build: func(a *attrs) kernel { return power(oldBroadcast(a)) }},
		{since: 7, least: 2, most: 2, outs: 1, build: func(*attrs) kernel { return power(nil) }},
	}
	ops["Mod"] = []entry{{since: 10, least: 2, most: 2, outs: 1, build: func(a *attrs) kernel {
		fmod := a.flag("fmod", false)
		run := elementwise(modulo(fmod), nil)
		return func(c *call) ([]*value, error) {
			if x := c.at(0); !fmod && x.float() {
				return nil, fmt.Errorf("inputs are %s and %s, with fmod=0 they must be integers", x, c.at(1))
			}
			return run(c)
		}
	}}}
	for name, op := range map[string]struct {
		arithmetic
		mean bool
	}{"Min": {small, false}, "Max": {large, false}, "Sum": {add, false}, "Mean": {add, true}} {
		ops[name] = []entry{{
			since: 1, least: 1, most: -1, outs: 1,
			build: func(*attrs) kernel { return variadic(op.arithmetic, op.mean) },
		}}
	}
	ops["PRelu"] = []entry{{
		since: 6, least: 2, most: 2, outs: 1,
		build: func(a *attrs) kernel { return prelu(a.opset < 7) },
	}}

	for name, f := range map[string]struct {
		f func(x, y float64) bool
		i func(d tensor.DType, x, y int64) bool
	}{
		"Equal": {
			func(x, y float64) bool { return x == y },
			func(_ tensor.DType, x, y int64) bool { return x == y },
		},
		"Less": {func(x, y float64) bool { return x < y }, less},
		"Greater": {
			func(x, y float64) bool { return x > y },
			func(d tensor.DType, x, y int64) bool { return less(d, y, x) },
		},
		"LessOrEqual": {
			func(x, y float64) bool { return x <= y },
			func(d tensor.DType, x, y int64) bool { return !less(d, y, x) },
		},
		"GreaterOrEqual": {
			func(x, y float64) bool { return x >= y },
			func(d tensor.DType, x, y int64) bool { return !less(d, x, y) },
		},
	} {
		first := map[string]int{"LessOrEqual": 12, "GreaterOrEqual": 12}[name]
		build := func(a *attrs) kernel { return compare(f.f, f.i, oldBroadcast(a)) }
		ops[name] = []entry{{since: max(first, 1), least: 2, most: 2, outs: 1, build: build}}
	}
	for name, f := range map[string]func(x, y int64) int64{
		"And": func(x, y int64) int64 { return x & y }, "Or": func(x, y int64) int64 { return x | y },
		"Xor": func(x, y int64) int64 { return x ^ y },
	} {
		ops[name] = []entry{{since: 1, least: 2, most: 2, outs: 1, build: func(a *attrs) kernel {
			return bitwise(f, oldBroadcast(a), func(d tensor.DType) bool { return d == tensor.Bool }, "bool")
		}}}
		ops["Bitwise"+name] = []entry{{
			since: 18, least: 2, most: 2, outs: 1,
			build: func(*attrs) kernel { return bitwise(f, nil, isInteger, "integers") },
		}}
	}
	ops["BitShift"] = []entry{{since: 11, least: 2, most: 2, outs: 1, build: func(a *attrs) kernel {
		left := a.choice("direction", "", "LEFT", "RIGHT") == "LEFT"
		return bitwise(func(x, y int64) int64 {
			if left {
				return int64(uint64(x) << uint64(y))
			}
			return int64(uint64(x) >> uint64(y))
		}, nil, func(d tensor.DType) bool {
			return d == tensor.Uint8 || d == tensor.Uint16 || d == tensor.Uint32 || d == tensor.Uint64
		}, "unsigned integers")
	}}}
	ops["Where"] = []entry{{since: 9, least: 3, most: 3, outs: 1, build: func(*attrs) kernel { return one(where) }}}
	ops["Clip"] = []entry{
		{since: 1, least: 1, most: 1, outs: 1, build: func(a *attrs) kernel {
			lo, hi := a.float("min", -math.MaxFloat32), a.float("max", math.MaxFloat32)
			if !a.has("min") {
				lo = math.Inf(-1)
			}
			if !a.has("max") {
				hi = math.Inf(1)
			}
			return floatKernel(func(x float64) float64 { return clamp(x, lo, hi) })
		}},
		{since: 11, least: 1, most: 3, outs: 1, build: func(*attrs) kernel { return one(clip) }},
	}
	return ops
}

// oldBroadcast reads how operator sets before 7 broadcast: only the second input, only with broadcast=1, from an axis
// on. The result lays the second shape out under the first; nil for the rule of today.
func oldBroadcast(a *attrs) func(x, y []int) ([]int, error) {
	if a.opset >= 7 {
		return nil
	}
	on, from := a.flag("broadcast", false), a.int("axis", math.MinInt32)
	a.ignore("consumed_inputs")
	return func(x, y []int) ([]int, error) {
		if !on {
			return y, nil
		}
		at := len(x) - len(y)
		if from != math.MinInt32 {
			at = from
			if at < 0 {
				at += len(x)
			}
		}
		if at < 0 || at+len(y) > len(x) {
			return nil, fmt.Errorf("shape %v does not fit into %v from axis %d on", y, x, at)
		}
		out := append([]int{}, y...)
		for len(out) < len(x)-at {
			out = append(out, 1)
		}
		return out, nil
	}
}

// pair are two inputs and the shape to which they broadcast.
func (c *call) pair(old func(x, y []int) ([]int, error)) (x, y *value, shape []int, err error) {
	if x, err = c.any(0); err != nil {
		return nil, nil, nil, err
	}
	if y, err = c.any(1); err != nil {
		return nil, nil, nil, err
	}
	if old != nil {
		s, err := old(x.shape, y.shape)
		if err != nil {
			return nil, nil, nil, err
		}
		y = y.view(s)
	}
	shape, err = broadcast(x.shape, y.shape)
	return x, y, shape, err
}

// zip calls f for every pair of rows.
func zip(shape []int, x, y *value, f func(k, a, sa, b, sb, n int)) {
	k := 0
	rows(shape, [][]int{spread(x.shape, shape), spread(y.shape, shape)}, func(at []int, n int, step []int) {
		f(k, at[0], step[0], at[1], step[1], n)
		k += n
	})
}

// combine is op of two values.
func (c *call) combine(op arithmetic, x, y *value, shape []int) (*value, error) {
	if err := c.same(x, y); err != nil {
		return nil, err
	}
	if x.typ == tensor.Bool {
		return nil, fmt.Errorf("inputs are %s and %s, want numbers", x, y)
	}
	out, err := c.make(x.typ, shape)
	if err != nil {
		return nil, err
	}
	if x.float() {
		zip(shape, x, y, func(k, a, sa, b, sb, n int) {
			op.pairs(out.f[k:k+n], x.f[a:], y.f[b:], sa, sb)
		})
		return out, nil
	}
	zip(shape, x, y, func(k, a, sa, b, sb, n int) {
		for j := range n {
			v, e := op.i(x.typ, x.i[a+j*sa], y.i[b+j*sb])
			if e != nil {
				err = e
			}
			out.i[k+j] = wrap(x.typ, v)
		}
	})
	return out, err
}

func elementwise(op arithmetic, old func(x, y []int) ([]int, error)) kernel {
	return one(func(c *call) (*value, error) {
		x, y, shape, err := c.pair(old)
		if err != nil {
			return nil, err
		}
		return c.combine(op, x, y, shape)
	})
}

func variadic(op arithmetic, mean bool) kernel {
	return one(func(c *call) (*value, error) {
		acc, err := c.any(0)
		if err != nil {
			return nil, err
		}
		if mean && !acc.float() || acc.typ == tensor.Bool {
			return nil, fmt.Errorf("input 0 is %s, want numbers", acc)
		}
		out := acc.view(acc.shape)
		for k := 1; k < len(c.in); k++ {
			y, err := c.any(k)
			if err != nil {
				return nil, err
			}
			shape, err := broadcast(out.shape, y.shape)
			if err != nil {
				return nil, err
			}
			if out, err = c.combine(op, out, y, shape); err != nil {
				return nil, err
			}
		}
		if !mean {
			return out, nil
		}
		n := float64(len(c.in))
		return c.apply(out, func(x float64) float64 { return x / n })
	})
}

// modulo takes the sign of the divisor, or of the dividend as C's fmod does.
func modulo(c bool) arithmetic {
	return arithmetic{f: math.Mod, i: func(d tensor.DType, x, y int64) (int64, error) {
		switch {
		case y == 0:
			return 0, errZero
		case d == tensor.Uint64:
			return int64(uint64(x) % uint64(y)), nil
		case y == -1:
			return 0, nil
		}
		m := x % y
		if !c && m != 0 && (m < 0) != (y < 0) {
			m += y
		}
		return m, nil
	}}
}

// power is x^y in the type of x.
func power(old func(x, y []int) ([]int, error)) kernel {
	return one(func(c *call) (*value, error) {
		x, y, shape, err := c.pair(old)
		if err != nil {
			return nil, err
		}
		if x.typ == tensor.Bool || y.typ == tensor.Bool {
			return nil, fmt.Errorf("inputs are %s and %s, want numbers", x, y)
		}
		out, err := c.make(x.typ, shape)
		if err != nil {
			return nil, err
		}
		at := func(v *value, k int) float64 {
			if v.float() {
				return v.f[k]
			}
			return toFloat(v.typ, v.i[k])
		}
		zip(shape, x, y, func(k, a, sa, b, sb, n int) {
			for j := range n {
				if out.float() {
					out.f[k+j] = elementary.Pow(x.f[a+j*sa], at(y, b+j*sb))
					continue
				}
				if e := at(y, b+j*sb); !y.float() && e >= 0 {
					out.i[k+j] = wrap(x.typ, intPow(x.i[a+j*sa], uint64(y.i[b+j*sb])))
				} else {
					out.i[k+j] = toInteger(x.typ, elementary.Pow(at(x, a+j*sa), e))
				}
			}
		})
		return out, nil
	})
}

func intPow(x int64, n uint64) int64 {
	y := int64(1)
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			y *= x
		}
		x *= x
	}
	return y
}

func prelu(old bool) kernel {
	return one(func(c *call) (*value, error) {
		x, err := c.any(0)
		if err != nil {
			return nil, err
		}
		slope, err := c.any(1)
		if err != nil {
			return nil, err
		}
		if old && slope.rank() == 1 && x.rank() > 1 && slope.shape[0] != 1 { // one slope a channel
			s := make([]int, x.rank()-1)
			for k := range s {
				s[k] = 1
			}
			s[0] = slope.shape[0]
			slope = slope.view(s)
		}
		shape, err := broadcast(x.shape, slope.shape)
		if err != nil {
			return nil, err
		}
		return c.combine(arithmetic{f: func(x, s float64) float64 {
			if x < 0 {
				return s * x
			}
			return x
		}, i: func(d tensor.DType, x, s int64) (int64, error) {
			if less(d, x, 0) {
				return s * x, nil
			}
			return x, nil
		}}, x, slope, shape)
	})
}

func compare(f func(x, y float64) bool, i func(d tensor.DType, x, y int64) bool,
	old func(x, y []int) ([]int, error),
) kernel {
	return one(func(c *call) (*value, error) {
		x, y, shape, err := c.pair(old)
		if err != nil {
			return nil, err
		}
		if err := c.same(x, y); err != nil {
			return nil, err
		}
		out, err := c.truth(shape)
		if err != nil {
			return nil, err
		}
		zip(shape, x, y, func(k, a, sa, b, sb, n int) {
			for j := range n {
				var yes bool
				if x.float() {
					yes = f(x.f[a+j*sa], y.f[b+j*sb])
				} else {
					yes = i(x.typ, x.i[a+j*sa], y.i[b+j*sb])
				}
				if yes {
					out.i[k+j] = 1
				}
			}
		})
		return out, nil
	})
}

func bitwise(f func(x, y int64) int64, old func(x, y []int) ([]int, error), takes func(tensor.DType) bool,
	want string,
) kernel {
	return one(func(c *call) (*value, error) {
		x, y, shape, err := c.pair(old)
		if err != nil {
			return nil, err
		}
		if x.typ != y.typ || !takes(x.typ) {
			return nil, fmt.Errorf("inputs are %s and %s, want %s of one type", x, y, want)
		}
		out, err := c.make(x.typ, shape)
		if err != nil {
			return nil, err
		}
		zip(shape, x, y, func(k, a, sa, b, sb, n int) {
			for j := range n {
				out.i[k+j] = wrap(x.typ, f(x.i[a+j*sa], y.i[b+j*sb]))
			}
		})
		return out, nil
	})
}

func where(c *call) (*value, error) {
	cond, err := c.bools(0)
	if err != nil {
		return nil, err
	}
	x, err := c.any(1)
	if err != nil {
		return nil, err
	}
	y, err := c.any(2)
	if err != nil {
		return nil, err
	}
	if err := c.same(x, y); err != nil {
		return nil, err
	}
	shape, err := broadcast(cond.shape, x.shape, y.shape)
	if err != nil {
		return nil, err
	}
	out, err := c.make(x.typ, shape)
	if err != nil {
		return nil, err
	}
	k := 0
	rows(shape, [][]int{spread(cond.shape, shape), spread(x.shape, shape), spread(y.shape, shape)},
		func(at []int, n int, step []int) {
			for j := range n {
				from, o := y, at[2]+j*step[2]
				if cond.i[at[0]+j*step[0]] != 0 {
					from, o = x, at[1]+j*step[1]
				}
				copyRange(out, k+j, from, o, 1)
			}
			k += n
		})
	return out, nil
}

func clip(c *call) (*value, error) {
	x, err := c.any(0)
	if err != nil {
		return nil, err
	}
	for k := 1; k < 3; k++ {
		if b := c.at(k); b != nil && (b.len() != 1 || c.same(x, b) != nil) {
			return nil, fmt.Errorf("input %d is %s, want one number of the type of %s", k, b, x)
		}
	}
	lo, hi := c.at(1), c.at(2)
	switch {
	case x.float():
		return c.apply(x, func(v float64) float64 {
			if lo != nil && v < lo.f[0] {
				v = lo.f[0]
			}
			if hi != nil && v > hi.f[0] {
				v = hi.f[0]
			}
			return v
		})
	case isInteger(x.typ):
		return c.applyInt(x, func(v int64) int64 {
			if lo != nil && less(x.typ, v, lo.i[0]) {
				v = lo.i[0]
			}
			if hi != nil && less(x.typ, hi.i[0], v) {
				v = hi.i[0]
			}
			return v
		})
	}
	return nil, fmt.Errorf("input 0 is %s, want numbers", x)
}
