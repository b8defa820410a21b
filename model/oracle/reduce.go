package oracle

import (
	"fmt"
	"math"
	"slices"

	"nero/data/tensor"
	"nero/internal/elementary"
)

// fold is how a set of numbers becomes one: start, then step for each, then end with their number.
type fold struct {
	start float64
	step  func(acc, x float64) float64
	// nil for none
	end func(acc float64, n int) float64
	// i is step for integers, nil if they are not taken; the start is the float one.
	i func(d tensor.DType, acc, x int64) int64
}

func reduceOps() map[string][]entry {
	sum := func(acc, x float64) float64 { return acc + x }
	intSum := func(_ tensor.DType, acc, x int64) int64 { return acc + x }
	ops := map[string][]entry{}
	for name, f := range map[string]fold{
		"ReduceSum":  {step: sum, i: intSum},
		"ReduceMean": {step: sum, end: func(acc float64, n int) float64 { return acc / float64(n) }},
		"ReduceSumSquare": {
			step: func(acc, x float64) float64 { return acc + float64(x*x) },
			i:    func(_ tensor.DType, acc, x int64) int64 { return acc + x*x },
		},
		"ReduceL1": {
			step: func(acc, x float64) float64 { return acc + math.Abs(x) },
			i: func(_ tensor.DType, acc, x int64) int64 {
				return acc + max(x, -x)
			},
		},
		"ReduceL2": {
			step: func(acc, x float64) float64 { return acc + float64(x*x) },
			end:  func(acc float64, _ int) float64 { return math.Sqrt(acc) },
		},
		"ReduceProd": {
			start: 1, step: func(acc, x float64) float64 { return acc * x },
			i: func(_ tensor.DType, acc, x int64) int64 { return acc * x },
		},
		"ReduceMax":    {start: math.Inf(-1), step: greatest},
		"ReduceMin":    {start: math.Inf(1), step: least},
		"ReduceLogSum": {step: sum, end: func(acc float64, _ int) float64 { return elementary.Log(acc) }},
	} {
		ops[name] = reduceVersions(name,
			func(c *call, x *value, axes []int, keep bool) (*value, error) { return c.reduce(f, x, axes, keep) })
	}
	ops["ReduceLogSumExp"] = reduceVersions("ReduceLogSumExp", logSumExp)
	return ops
}

// reduceVersions reads the axes from an attribute or, from operator set 18 on (ReduceSum: 13), from an input.
func reduceVersions(name string, f func(c *call, x *value, axes []int, keep bool) (*value, error)) []entry {
	input := 18
	if name == "ReduceSum" {
		input = 13
	}
	run := func(c *call, list []int, keep, noop bool) (*value, error) {
		x := c.in[0]
		if len(list) == 0 {
			if noop {
				// Without axes the reduction is over none: of single elements.
				return f(c, x, nil, keep)
			}
			for k := range x.rank() {
				list = append(list, k)
			}
		}
		as, err := axes(list, x.rank())
		if err != nil {
			return nil, err
		}
		return f(c, x, as, keep)
	}
	return []entry{
		{since: 1, least: 1, most: 1, outs: 1, build: func(a *attrs) kernel {
			list, keep := a.ints("axes"), a.flag("keepdims", true)
			return one(func(c *call) (*value, error) { return run(c, list, keep, false) })
		}},
		{since: input, least: 1, most: 2, outs: 1, build: func(a *attrs) kernel {
			keep, noop := a.flag("keepdims", true), a.flag("noop_with_empty_axes", false)
			return one(func(c *call) (*value, error) {
				var list []int
				if c.at(1) != nil {
					var err error
					if list, err = c.ints(1); err != nil {
						return nil, err
					}
				}
				return run(c, list, keep, noop)
			})
		}},
	}
}

// reduced is the shape without the reduced axes, and the strides with which a tensor of shape walks through the result.
func reduced(shape, axes []int, keep bool) (out, through []int) {
	full := slices.Clone(shape)
	for _, a := range axes {
		full[a] = 1
	}
	through = strides(full)
	for k, n := range full {
		switch {
		case !slices.Contains(axes, k):
			out = append(out, n)
		case keep:
			out = append(out, 1)
			through[k] = 0
		default:
			through[k] = 0
		}
	}
	return out, through
}

func (c *call) reduce(f fold, x *value, axes []int, keep bool) (*value, error) {
	if x.typ == tensor.Bool {
		return nil, fmt.Errorf("input 0 is %s, want numbers", x)
	}
	shape, through := reduced(x.shape, axes, keep)
	y, err := c.make(x.typ, shape)
	if err != nil {
		return nil, err
	}
	n := 1
	for _, a := range axes {
		n *= x.shape[a]
	}
	if !x.float() {
		return y, f.integers(x, y, through, n)
	}
	for k := range y.f {
		y.f[k] = f.start
	}
	add := f.step
	if c.round != Float64 {
		add = func(acc, x float64) float64 { return c.partial(f.step(acc, x)) }
	}
	k := 0
	rows(x.shape, [][]int{through}, func(at []int, n int, step []int) {
		if step[0] == 0 {
			acc := y.f[at[0]]
			for _, v := range x.f[k : k+n] {
				acc = add(acc, v)
			}
			y.f[at[0]] = acc
		} else {
			for j, v := range x.f[k : k+n] {
				p := at[0] + j*step[0]
				y.f[p] = add(y.f[p], v)
			}
		}
		k += n
	})
	if f.end != nil {
		for k, v := range y.f {
			y.f[k] = f.end(v, n)
		}
	}
	return y, nil
}

// integers folds integers: in their own arithmetic where there is one, else in float64, truncated.
func (f fold) integers(x, y *value, through []int, n int) error {
	acc := make([]float64, len(y.i))
	for k := range y.i {
		y.i[k], acc[k] = toInteger(x.typ, f.start), f.start
	}
	k := 0
	walk(x.shape, [][]int{through}, func(at []int) {
		v := x.i[k]
		k++
		switch {
		case f.i != nil:
			y.i[at[0]] = wrap(x.typ, f.i(x.typ, y.i[at[0]], v))
		case math.IsInf(f.start, -1): // the largest
			if less(x.typ, y.i[at[0]], v) {
				y.i[at[0]] = v
			}
		case math.IsInf(f.start, 1):
			if less(x.typ, v, y.i[at[0]]) {
				y.i[at[0]] = v
			}
		default:
			acc[at[0]] = f.step(acc[at[0]], toFloat(x.typ, v))
		}
	})
	if f.i == nil && !math.IsInf(f.start, 0) {
		if n == 0 {
			return fmt.Errorf("nothing to reduce in %s", x)
		}
		for k, v := range acc {
			if f.end != nil {
				v = f.end(v, n)
			}
			y.i[k] = toInteger(x.typ, v)
		}
	}
	return nil
}

// logSumExp is max + log sum exp(x - max), which does not overflow.
func logSumExp(c *call, x *value, axes []int, keep bool) (*value, error) {
	if !x.float() {
		return nil, fmt.Errorf("input 0 is %s, want a floating-point type", x)
	}
	top, err := c.reduce(fold{start: math.Inf(-1), step: greatest}, x, axes, keep)
	if err != nil {
		return nil, err
	}
	sum, err := c.make(x.typ, top.shape)
	if err != nil {
		return nil, err
	}
	_, through := reduced(x.shape, axes, keep)
	k := 0
	walk(x.shape, [][]int{through}, func(at []int) {
		if m := top.f[at[0]]; math.IsInf(m, 0) {
			sum.f[at[0]] = 1 // all is -Inf, or +Inf is among it
		} else {
			sum.f[at[0]] = c.partial(sum.f[at[0]] + elementary.Exp(x.f[k]-m))
		}
		k++
	})
	for k, s := range sum.f {
		if !math.IsInf(top.f[k], 0) {
			top.f[k] += elementary.Log(s)
		}
	}
	return top, nil
}
