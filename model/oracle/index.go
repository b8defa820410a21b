package oracle

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"nero/data/tensor"
)

// indexOps read and write elements at computed places.
func indexOps() map[string][]entry {
	scatter := func(a *attrs) kernel {
		at, how := a.int("axis", 0), reduction(a, 16)
		return one(func(c *call) (*value, error) { return c.scatterElements(at, how) })
	}
	return map[string][]entry{
		"Gather": {{since: 1, least: 2, most: 2, outs: 1, build: func(a *attrs) kernel {
			at := a.int("axis", 0)
			return one(func(c *call) (*value, error) { return c.take1(at) })
		}}},
		"GatherElements": {{since: 11, least: 2, most: 2, outs: 1, build: func(a *attrs) kernel {
			at := a.int("axis", 0)
			return one(func(c *call) (*value, error) { return c.gatherElements(at) })
		}}},
		"GatherND": {{since: 11, least: 2, most: 2, outs: 1, build: func(a *attrs) kernel {
			batch := a.int("batch_dims", 0)
			return one(func(c *call) (*value, error) { return c.gatherND(batch) })
		}}},
		"ScatterElements": {{since: 11, least: 3, most: 3, outs: 1, build: scatter}},
		"Scatter": {{since: 9, least: 3, most: 3, outs: 1, build: func(a *attrs) kernel {
			at := a.int("axis", 0)
			return one(func(c *call) (*value, error) { return c.scatterElements(at, "none") })
		}}},
		"ScatterND": {{since: 11, least: 3, most: 3, outs: 1, build: func(a *attrs) kernel {
			how := reduction(a, 16)
			return one(func(c *call) (*value, error) { return c.scatterND(how) })
		}}},
		"OneHot": {{since: 9, least: 3, most: 3, outs: 1, build: func(a *attrs) kernel {
			at := a.int("axis", -1)
			return one(func(c *call) (*value, error) { return c.oneHot(at) })
		}}},
		"NonZero": {{since: 9, least: 1, most: 1, outs: 1, build: func(*attrs) kernel { return one(nonZero) }}},
		"Compress": {{since: 9, least: 2, most: 2, outs: 1, build: func(a *attrs) kernel {
			at, flat := a.int("axis", 0), !a.has("axis")
			return one(func(c *call) (*value, error) { return c.compress(at, flat) })
		}}},
		"ArgMax": {{since: 1, least: 1, most: 1, outs: 1, build: func(a *attrs) kernel { return extreme(a, false) }}},
		"ArgMin": {{since: 1, least: 1, most: 1, outs: 1, build: func(a *attrs) kernel { return extreme(a, true) }}},
		"TopK": {
			{since: 1, least: 1, most: 1, outs: 2, build: func(a *attrs) kernel {
				at, k := a.int("axis", -1), a.int("k", -1)
				return func(c *call) ([]*value, error) { return c.top(at, k, true) }
			}},
			{since: 10, least: 2, most: 2, outs: 2, build: func(a *attrs) kernel {
				at, largest := a.int("axis", -1), a.flag("largest", true)
				a.flag("sorted", true) // unsorted results may have any order
				return func(c *call) ([]*value, error) {
					k, err := c.int(1)
					if err != nil {
						return nil, err
					}
					return c.top(at, k, largest)
				}
			}},
		},
		"CumSum": {{since: 11, least: 2, most: 2, outs: 1, build: func(a *attrs) kernel {
			exclusive, reverse := a.flag("exclusive", false), a.flag("reverse", false)
			return one(func(c *call) (*value, error) { return c.cumSum(exclusive, reverse) })
		}}},
	}
}

// reduction reads how values that meet at one place are combined.
func reduction(a *attrs, since int) string {
	if a.opset < since {
		return "none"
	}
	known := []string{"none", "add", "mul"}
	if a.opset >= 18 {
		known = append(known, "max", "min")
	}
	return a.choice("reduction", known...)
}

// indices is input 1, which must be integers.
func (c *call) indices() (*value, error) {
	v, err := c.any(1)
	if err != nil {
		return nil, err
	}
	if !isInteger(v.typ) {
		return nil, fmt.Errorf("input 1 is %s, want integers", v)
	}
	return v, nil
}

// within is an index of an axis of length n, counted from the end if negative.
func within(i int64, n int) (int, error) {
	if i < -int64(n) || i >= int64(n) {
		return 0, fmt.Errorf("index %d of an axis of length %d", i, n)
	}
	if i < 0 {
		i += int64(n)
	}
	return int(i), nil
}

// take1 is Gather: slices of input 0 along an axis.
func (c *call) take1(at int) (*value, error) {
	x := c.in[0]
	idx, err := c.indices()
	if err != nil {
		return nil, err
	}
	a, err := axis(at, x.rank())
	if err != nil {
		return nil, err
	}
	outer, n, inner := around(x.shape, a)
	y, err := c.make(x.typ, slices.Concat(x.shape[:a], idx.shape, x.shape[a+1:]))
	if err != nil {
		return nil, err
	}
	for k, i := range idx.i {
		j, err := within(i, n)
		if err != nil {
			return nil, err
		}
		for o := range outer {
			copyRange(y, (o*len(idx.i)+k)*inner, x, (o*n+j)*inner, inner)
		}
	}
	return y, nil
}

// elements calls f with the offset in x of every element of idx, whose index along an axis is replaced by the element.
func elements(x, idx *value, a int, f func(k, at int)) error {
	for k, n := range idx.shape {
		if k != a && n > x.shape[k] {
			return fmt.Errorf("indices %s are longer than %s along axis %d", idx, x, k)
		}
	}
	own := strides(x.shape)
	step := slices.Clone(own)
	step[a] = 0
	k := 0
	var bad error
	walk(idx.shape, [][]int{step}, func(at []int) {
		j, err := within(idx.i[k], x.shape[a])
		if err != nil {
			bad = err
		} else {
			f(k, at[0]+j*own[a])
		}
		k++
	})
	return bad
}

func (c *call) gatherElements(at int) (*value, error) {
	x := c.in[0]
	idx, err := c.indices()
	if err != nil {
		return nil, err
	}
	a, err := axis(at, x.rank())
	if err != nil {
		return nil, err
	}
	if idx.rank() != x.rank() {
		return nil, fmt.Errorf("indices %s into %s", idx, x)
	}
	y, err := c.make(x.typ, idx.shape)
	if err != nil {
		return nil, err
	}
	return y, elements(x, idx, a, func(k, at int) { copyRange(y, k, x, at, 1) })
}

// put combines element s of src into element d of dst.
func put(how string, dst *value, d int, src *value, s int) {
	if dst.float() {
		x, y := dst.f[d], src.f[s]
		switch how {
		case "add":
			y += x
		case "mul":
			y *= x
		case "max":
			y = greatest(x, y)
		case "min":
			y = least(x, y)
		}
		dst.f[d] = y
		return
	}
	x, y := dst.i[d], src.i[s]
	switch how {
	case "add":
		y += x
	case "mul":
		y *= x
	case "max":
		if less(dst.typ, y, x) {
			y = x
		}
	case "min":
		if less(dst.typ, x, y) {
			y = x
		}
	}
	dst.i[d] = wrap(dst.typ, y)
}

func (c *call) scatterElements(at int, how string) (*value, error) {
	x, from := c.in[0], c.in[2]
	idx, err := c.indices()
	if err != nil {
		return nil, err
	}
	a, err := axis(at, x.rank())
	if err != nil {
		return nil, err
	}
	if idx.rank() != x.rank() || !slices.Equal(idx.shape, from.shape) || c.same(x, from) != nil {
		return nil, fmt.Errorf("indices %s and updates %s into %s", idx, from, x)
	}
	y, err := c.clone(x)
	if err != nil {
		return nil, err
	}
	return y, elements(x, idx, a, func(k, at int) { put(how, y, at, from, k) })
}

// tuples calls f with the offset in x of every tuple of indices, the last axis of idx, behind batch axes.
func tuples(x, idx *value, batch int, f func(k, at int)) (depth int, err error) {
	if idx.rank() == 0 || batch < 0 || batch >= idx.rank() || batch > x.rank() ||
		!slices.Equal(x.shape[:batch], idx.shape[:batch]) {
		return 0, fmt.Errorf("indices %s into %s with %d batch axes", idx, x, batch)
	}
	depth = idx.shape[idx.rank()-1]
	if depth == 0 || batch+depth > x.rank() {
		return 0, fmt.Errorf("indices %s into %s with %d batch axes", idx, x, batch)
	}
	own, n := strides(x.shape), len(idx.i)/depth
	per := max(n/max(product(idx.shape[:batch]), 1), 1) // tuples in a batch
	block := product(x.shape[batch:])
	for k := range n {
		at := k / per * block
		for j := range depth {
			i, err := within(idx.i[k*depth+j], x.shape[batch+j])
			if err != nil {
				return 0, err
			}
			at += i * own[batch+j]
		}
		f(k, at)
	}
	return depth, nil
}

func (c *call) gatherND(batch int) (*value, error) {
	x := c.in[0]
	idx, err := c.indices()
	if err != nil {
		return nil, err
	}
	depth, err := tuples(x, idx, batch, func(int, int) {})
	if err != nil {
		return nil, err
	}
	y, err := c.make(x.typ, slices.Concat(idx.shape[:idx.rank()-1], x.shape[batch+depth:]))
	if err != nil {
		return nil, err
	}
	inner := product(x.shape[batch+depth:])
	_, err = tuples(x, idx, batch, func(k, at int) { copyRange(y, k*inner, x, at, inner) })
	return y, err
}

func (c *call) scatterND(how string) (*value, error) {
	x, from := c.in[0], c.in[2]
	idx, err := c.indices()
	if err != nil {
		return nil, err
	}
	depth, err := tuples(x, idx, 0, func(int, int) {})
	if err != nil {
		return nil, err
	}
	if want := slices.Concat(idx.shape[:idx.rank()-1], x.shape[depth:]); !slices.Equal(from.shape, want) ||
		c.same(x, from) != nil {
		return nil, fmt.Errorf("updates %s for indices %s into %s", from, idx, x)
	}
	y, err := c.clone(x)
	if err != nil {
		return nil, err
	}
	inner := product(x.shape[depth:])
	_, err = tuples(x, idx, 0, func(k, at int) {
		for j := range inner {
			put(how, y, at+j, from, k*inner+j)
		}
	})
	return y, err
}

func (c *call) oneHot(at int) (*value, error) {
	idx, err := c.any(0)
	if err != nil {
		return nil, err
	}
	var n int
	switch d := c.in[1]; {
	case d.float() && len(d.f) == 1:
		n = int(toInteger(tensor.Int32, d.f[0]))
	default:
		if n, err = c.int(1); err != nil {
			return nil, err
		}
	}
	pair := c.in[2]
	if n < 1 || pair.len() != 2 {
		return nil, fmt.Errorf("depth %d and values %s", n, pair)
	}
	a, err := axis(at, idx.rank()+1)
	if err != nil {
		return nil, err
	}
	y, err := c.make(pair.typ, slices.Insert(slices.Clone(idx.shape), a, n))
	if err != nil {
		return nil, err
	}
	for k := range y.len() {
		copyRange(y, k, pair, 0, 1)
	}
	inner := product(idx.shape[a:])
	for k := range idx.len() {
		var i int64
		if idx.float() {
			i = toInteger(tensor.Int64, idx.f[k])
		} else {
			i = idx.i[k]
		}
		if j, err := within(i, n); err == nil { // others have no hot element
			copyRange(y, (k/inner*n+j)*inner+k%inner, pair, 1, 1)
		}
	}
	return y, nil
}

func nonZero(c *call) (*value, error) {
	x := c.in[0]
	var at []int
	for k := range x.len() {
		if x.float() && x.f[k] != 0 || !x.float() && x.i[k] != 0 {
			at = append(at, k)
		}
	}
	rank := x.rank()
	y, err := c.make(tensor.Int64, []int{rank, len(at)})
	if err != nil {
		return nil, err
	}
	for j, k := range at {
		for a := rank - 1; a >= 0; a-- {
			y.i[a*len(at)+j] = int64(k % x.shape[a])
			k /= x.shape[a]
		}
	}
	return y, nil
}

func (c *call) compress(at int, flat bool) (*value, error) {
	x := c.in[0]
	cond, err := c.bools(1)
	if err != nil {
		return nil, err
	}
	if flat {
		x, at = x.view([]int{x.len()}), 0
	}
	a, err := axis(at, x.rank())
	if err != nil {
		return nil, err
	}
	if cond.rank() != 1 || len(cond.i) > x.shape[a] {
		return nil, fmt.Errorf("conditions %s for axis %d of %s", cond, a, x)
	}
	var keep []int
	for k, v := range cond.i {
		if v != 0 {
			keep = append(keep, k)
		}
	}
	y, err := c.make(x.typ, with(x.shape, a, len(keep)))
	if err != nil {
		return nil, err
	}
	outer, n, inner := around(x.shape, a)
	for o := range outer {
		for j, k := range keep {
			copyRange(y, (o*len(keep)+j)*inner, x, (o*n+k)*inner, inner)
		}
	}
	return y, nil
}

// number is element k as float64, for comparisons; integers beyond 2^53 are compared by before.
func (v *value) number(k int) float64 {
	if v.float() {
		return v.f[k]
	}
	return toFloat(v.typ, v.i[k])
}

// before tells whether element j of v is less than element k. NaN is less than nothing and nothing is less than it.
func (v *value) before(j, k int) bool {
	if v.float() {
		return v.f[j] < v.f[k]
	}
	return less(v.typ, v.i[j], v.i[k])
}

// extreme is ArgMax or ArgMin.
func extreme(a *attrs, smallest bool) kernel {
	at, keep, last := a.int("axis", 0), a.flag("keepdims", true), a.opset >= 12 && a.flag("select_last_index", false)
	return one(func(c *call) (*value, error) {
		x := c.in[0]
		ax, err := axis(at, x.rank())
		if err != nil {
			return nil, err
		}
		outer, n, inner := around(x.shape, ax)
		if n == 0 {
			return nil, fmt.Errorf("axis %d of %s is empty", ax, x)
		}
		shape := with(x.shape, ax, 1)
		if !keep {
			shape = slices.Delete(shape, ax, ax+1)
		}
		y, err := c.make(tensor.Int64, shape)
		if err != nil {
			return nil, err
		}
		for o := range outer {
			for i := range inner {
				base, best := o*n*inner+i, 0
				for k := 1; k < n; k++ {
					p, q := base+k*inner, base+best*inner
					better := x.before(q, p)
					if smallest {
						better = x.before(p, q)
					}
					if better || last && x.number(p) == x.number(q) {
						best = k
					}
				}
				y.i[o*inner+i] = int64(best)
			}
		}
		return y, nil
	})
}

// top is TopK.
func (c *call) top(at, k int, largest bool) ([]*value, error) {
	x := c.in[0]
	a, err := axis(at, x.rank())
	if err != nil {
		return nil, err
	}
	outer, n, inner := around(x.shape, a)
	if k < 0 || k > n {
		return nil, fmt.Errorf("the first %d of axis %d of %s", k, a, x)
	}
	values, err := c.make(x.typ, with(x.shape, a, k))
	if err != nil {
		return nil, err
	}
	places, err := c.make(tensor.Int64, values.shape)
	if err != nil {
		return nil, err
	}
	order := make([]int, n)
	for o := range outer {
		for i := range inner {
			base := o*n*inner + i
			for j := range order {
				order[j] = j
			}
			sort.SliceStable(order, func(p, q int) bool {
				s, t := base+order[p]*inner, base+order[q]*inner
				if x.float() && (math.IsNaN(x.f[s]) || math.IsNaN(x.f[t])) {
					return largest && math.IsNaN(x.f[s]) && !math.IsNaN(x.f[t]) || !largest && !math.IsNaN(x.f[s]) &&
						math.IsNaN(x.f[t])
				}
				if largest {
					return x.before(t, s)
				}
				return x.before(s, t)
			})
			for j := range k {
				to := (o*k+j)*inner + i
				copyRange(values, to, x, base+order[j]*inner, 1)
				places.i[to] = int64(order[j])
			}
		}
	}
	return []*value{values, places}, nil
}

func (c *call) cumSum(exclusive, reverse bool) (*value, error) {
	x := c.in[0]
	at, err := c.int(1)
	if err != nil {
		return nil, err
	}
	a, err := axis(at, x.rank())
	if err != nil {
		return nil, err
	}
	if x.typ == tensor.Bool {
		return nil, fmt.Errorf("input 0 is %s, want numbers", x)
	}
	y, err := c.make(x.typ, x.shape)
	if err != nil {
		return nil, err
	}
	outer, n, inner := around(x.shape, a)
	for o := range outer {
		for i := range inner {
			var f float64
			var s int64
			for k := range n {
				if reverse {
					k = n - 1 - k
				}
				p := (o*n+k)*inner + i
				if x.float() {
					if exclusive {
						y.f[p] = f
					}
					f += x.f[p]
					if !exclusive {
						y.f[p] = f
					}
					continue
				}
				if exclusive {
					y.i[p] = wrap(x.typ, s)
				}
				s += x.i[p]
				if !exclusive {
					y.i[p] = wrap(x.typ, s)
				}
			}
		}
	}
	return y, nil
}
