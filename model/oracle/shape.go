package oracle

import (
	"errors"
	"fmt"
	"slices"
)

// shapeOps move elements without changing them.
func shapeOps() map[string][]entry {
	return map[string][]entry{
		"Reshape": {{since: 5, least: 2, most: 2, outs: 1, build: func(a *attrs) kernel {
			zero := a.flag("allowzero", false)
			return one(func(c *call) (*value, error) {
				to, err := c.ints(1)
				if err != nil {
					return nil, err
				}
				return reshape(c.in[0], to, zero)
			})
		}}},
		"Flatten": {{since: 1, least: 1, most: 1, outs: 1, build: func(a *attrs) kernel {
			at := a.int("axis", 1)
			return one(func(c *call) (*value, error) {
				x := c.in[0]
				if at < -x.rank() || at > x.rank() {
					return nil, fmt.Errorf("axis %d of %s", at, x)
				}
				k := at
				if k < 0 {
					k += x.rank()
				}
				return x.view([]int{product(x.shape[:k]), product(x.shape[k:])}), nil
			})
		}}},
		"Squeeze":   {axesAttribute(1, squeeze), axesInput(13, squeeze)},
		"Unsqueeze": {axesAttribute(1, unsqueeze), axesInput(13, unsqueeze)},
		"Transpose": {{since: 1, least: 1, most: 1, outs: 1, build: func(a *attrs) kernel {
			perm := a.ints("perm")
			return one(func(c *call) (*value, error) { return c.transpose(c.in[0], perm) })
		}}},
		"Concat": {{since: 4, least: 1, most: -1, outs: 1, build: func(a *attrs) kernel {
			if !a.has("axis") {
				a.fail("attribute axis is missing")
			}
			at := a.int("axis", 0)
			return one(func(c *call) (*value, error) { return c.concat(c.in, at) })
		}}},
		"Split": {
			{since: 2, least: 1, most: 1, outs: -1, build: func(a *attrs) kernel {
				at, parts := a.int("axis", 0), a.ints("split")
				return func(c *call) ([]*value, error) { return c.split(at, parts, false) }
			}},
			{since: 13, least: 1, most: 2, outs: -1, build: func(a *attrs) kernel {
				at := a.int("axis", 0)
				n := a.int("num_outputs", a.outs)
				if n != a.outs {
					a.fail("attribute num_outputs is %d, the node has %d outputs", n, a.outs)
				}
				uneven := a.opset >= 18
				return func(c *call) ([]*value, error) {
					var parts []int
					if c.at(1) != nil {
						var err error
						if parts, err = c.ints(1); err != nil {
							return nil, err
						}
					}
					return c.split(at, parts, uneven)
				}
			}},
		},
		"Slice": {
			{since: 1, least: 1, most: 1, outs: 1, build: func(a *attrs) kernel {
				starts, ends, list := a.ints("starts"), a.ints("ends"), a.ints("axes")
				return one(func(c *call) (*value, error) { return c.slice(c.in[0], starts, ends, list, nil) })
			}},
			{since: 10, least: 3, most: 5, outs: 1, build: func(*attrs) kernel { return one(sliceInputs) }},
		},
		"Pad": {
			{since: 2, least: 1, most: 1, outs: 1, build: func(a *attrs) kernel {
				mode, pads, fill := a.choice("mode", "constant", "reflect", "edge"), a.ints("pads"), a.float("value", 0)
				return one(func(c *call) (*value, error) {
					x, err := c.floats(0)
					if err != nil {
						return nil, err
					}
					return c.pad(x, mode, pads, nil, fill, 0)
				})
			}},
			{since: 11, least: 2, most: 4, outs: 1, build: func(a *attrs) kernel {
				modes := []string{"constant", "reflect", "edge"}
				if a.opset >= 19 {
					modes = append(modes, "wrap")
				}
				mode := a.choice("mode", modes...)
				return one(func(c *call) (*value, error) { return c.padInputs(mode) })
			}},
		},
		"Expand": {{since: 8, least: 2, most: 2, outs: 1, build: func(*attrs) kernel {
			return one(func(c *call) (*value, error) {
				x := c.in[0]
				to, err := c.ints(1)
				if err != nil {
					return nil, err
				}
				for _, n := range to {
					if n < 0 {
						return nil, fmt.Errorf("shape %v", to)
					}
				}
				shape, err := broadcast(x.shape, to)
				if err != nil {
					return nil, err
				}
				return c.gather(x, shape, spread(x.shape, shape), 0)
			})
		}}},
		"Tile":         {{since: 6, least: 2, most: 2, outs: 1, build: func(*attrs) kernel { return one(tile) }}},
		"DepthToSpace": {{since: 1, least: 1, most: 1, outs: 1, build: depthToSpace}},
		"SpaceToDepth": {{since: 1, least: 1, most: 1, outs: 1, build: spaceToDepth}},
		"Trilu": {{since: 14, least: 1, most: 2, outs: 1, build: func(a *attrs) kernel {
			upper := a.flag("upper", true)
			return one(func(c *call) (*value, error) { return c.triangle(upper) })
		}}},
		"ReverseSequence": {{since: 10, least: 2, most: 2, outs: 1, build: func(a *attrs) kernel {
			batch, time := a.int("batch_axis", 1), a.int("time_axis", 0)
			return one(func(c *call) (*value, error) { return c.reverseSequence(batch, time) })
		}}},
	}
}

// axesAttribute is an operator whose axes are an attribute, nil if it is not there.
func axesAttribute(since int, f func(x *value, axes []int) (*value, error)) entry {
	return entry{since: since, least: 1, most: 1, outs: 1, build: func(a *attrs) kernel {
		list := a.ints("axes")
		return one(func(c *call) (*value, error) { return f(c.in[0], list) })
	}}
}

// axesInput is an operator whose axes are an input.
func axesInput(since int, f func(x *value, axes []int) (*value, error)) entry {
	return entry{since: since, least: 1, most: 2, outs: 1, build: func(*attrs) kernel {
		return one(func(c *call) (*value, error) {
			if c.at(1) == nil {
				return f(c.in[0], nil)
			}
			list, err := c.ints(1)
			if err != nil {
				return nil, err
			}
			return f(c.in[0], list)
		})
	}}
}

func reshape(x *value, to []int, zero bool) (*value, error) {
	shape, free, n := slices.Clone(to), -1, 1
	for k, d := range to {
		switch {
		case d == -1 && free < 0:
			free = k
			continue
		case d == 0 && !zero:
			if k >= x.rank() {
				return nil, fmt.Errorf("shape %v takes axis %d of %s", to, k, x)
			}
			shape[k] = x.shape[k]
		case d < 0:
			return nil, fmt.Errorf("shape %v", to)
		}
		if shape[k] > 0 && n > size/shape[k] {
			return nil, fmt.Errorf("%s does not take the shape %v", x, to)
		}
		n *= shape[k]
	}
	if free >= 0 {
		if n == 0 || x.len()%n != 0 {
			return nil, fmt.Errorf("%s does not take the shape %v", x, to)
		}
		shape[free] = x.len() / n
		n *= shape[free]
	}
	if n != x.len() {
		return nil, fmt.Errorf("%s does not take the shape %v", x, to)
	}
	return x.view(shape), nil
}

func squeeze(x *value, list []int) (*value, error) {
	var shape []int
	drop, err := axes(list, x.rank())
	if err != nil {
		return nil, err
	}
	for k, n := range x.shape {
		gone := slices.Contains(drop, k)
		if gone && n != 1 {
			return nil, fmt.Errorf("axis %d of %s is not of length 1", k, x)
		}
		if !gone && (list != nil || n != 1) {
			shape = append(shape, n)
		}
	}
	return x.view(slices.Clip(shape)), nil
}

func unsqueeze(x *value, list []int) (*value, error) {
	if list == nil {
		return nil, errors.New("axes are missing")
	}
	rank := x.rank() + len(list)
	added, err := axes(list, rank)
	if err != nil {
		return nil, err
	}
	shape, next := make([]int, rank), 0
	for k := range shape {
		if slices.Contains(added, k) {
			shape[k] = 1
			continue
		}
		shape[k] = x.shape[next]
		next++
	}
	return x.view(shape), nil
}

func (c *call) transpose(x *value, perm []int) (*value, error) {
	if perm == nil {
		for k := x.rank() - 1; k >= 0; k-- {
			perm = append(perm, k)
		}
	}
	if len(perm) != x.rank() {
		return nil, fmt.Errorf("perm %v of %s", perm, x)
	}
	p, err := axes(perm, x.rank())
	if err != nil {
		return nil, err
	}
	own := strides(x.shape)
	shape, step := make([]int, len(p)), make([]int, len(p))
	for k, a := range p {
		shape[k], step[k] = x.shape[a], own[a]
	}
	return c.gather(x, shape, step, 0)
}

func (c *call) concat(xs []*value, at int) (*value, error) {
	for k := range xs {
		if _, err := c.any(k); err != nil {
			return nil, err
		}
	}
	return c.concatValues(xs, at)
}

func (c *call) concatValues(xs []*value, at int) (*value, error) {
	a, err := axis(at, xs[0].rank())
	if err != nil {
		return nil, err
	}
	n := 0
	for _, x := range xs {
		if err := c.same(xs[0], x); err != nil {
			return nil, err
		}
		if x.rank() != xs[0].rank() || !slices.Equal(with(x.shape, a, 0), with(xs[0].shape, a, 0)) {
			return nil, fmt.Errorf("%s and %s differ in other axes than %d", xs[0], x, a)
		}
		n += x.shape[a]
	}
	y, err := c.make(xs[0].typ, with(xs[0].shape, a, n))
	if err != nil {
		return nil, err
	}
	outer, _, inner := around(y.shape, a)
	from := 0
	for _, x := range xs {
		m := x.shape[a] * inner
		for o := range outer {
			copyRange(y, o*n*inner+from, x, o*m, m)
		}
		from += m
	}
	return y, nil
}

func (c *call) split(at int, parts []int, uneven bool) ([]*value, error) {
	x, outs := c.in[0], c.outs
	a, err := axis(at, x.rank())
	if err != nil {
		return nil, err
	}
	n := x.shape[a]
	if parts == nil {
		if outs == 0 || n%outs != 0 && !uneven {
			return nil, fmt.Errorf("axis %d of %s does not split into %d equal parts", a, x, outs)
		}
		chunk := (n + outs - 1) / outs
		for rest := n; len(parts) < outs; rest -= chunk {
			parts = append(parts, max(min(chunk, rest), 0))
		}
	}
	sum := 0
	for _, p := range parts {
		if p < 0 || p > n {
			return nil, fmt.Errorf("axis %d of %s does not split into %v", a, x, parts)
		}
		sum += p
	}
	if sum != n || len(parts) < outs {
		return nil, fmt.Errorf("axis %d of %s does not split into %v for %d outputs", a, x, parts, outs)
	}
	out, from := make([]*value, len(parts)), 0
	for k, p := range parts {
		if out[k], err = c.gather(x, with(x.shape, a, p), strides(x.shape), from*strides(x.shape)[a]); err != nil {
			return nil, err
		}
		from += p
	}
	return out, nil
}

func sliceInputs(c *call) (*value, error) {
	starts, err := c.ints(1)
	if err != nil {
		return nil, err
	}
	ends, err := c.ints(2)
	if err != nil {
		return nil, err
	}
	var list, steps []int
	if c.at(3) != nil {
		if list, err = c.ints(3); err != nil {
			return nil, err
		}
	}
	if c.at(4) != nil {
		if steps, err = c.ints(4); err != nil {
			return nil, err
		}
	}
	return c.slice(c.in[0], starts, ends, list, steps)
}

func (c *call) slice(x *value, starts, ends, list, steps []int) (*value, error) {
	if list == nil {
		for k := range starts {
			list = append(list, k)
		}
	}
	if len(starts) != len(ends) || len(list) != len(starts) || steps != nil && len(steps) != len(starts) {
		return nil, fmt.Errorf("%d starts, %d ends, %d axes and %d steps", len(starts), len(ends), len(list),
			len(steps))
	}
	as, err := axes(list, x.rank())
	if err != nil {
		return nil, err
	}
	shape, step, base := slices.Clone(x.shape), strides(x.shape), 0
	for k, a := range as {
		n, by := x.shape[a], 1
		if steps != nil {
			by = steps[k]
		}
		if by == 0 {
			return nil, errors.New("a step of 0")
		}
		lo, hi := starts[k], ends[k]
		if lo < 0 {
			lo += n
		}
		if hi < 0 {
			hi += n
		}
		if by > 0 {
			lo, hi = min(max(lo, 0), n), min(max(hi, 0), n)
			shape[a] = max(hi-lo+by-1, 0) / by
		} else {
			lo, hi = min(max(lo, 0), n-1), min(max(hi, -1), n-1)
			shape[a] = max(lo-hi-by-1, 0) / -by
		}
		if shape[a] > 0 {
			base += lo * step[a]
		}
		step[a] *= by
	}
	return c.gather(x, shape, step, base)
}

func (c *call) padInputs(mode string) (*value, error) {
	x := c.in[0]
	pads, err := c.ints(1)
	if err != nil {
		return nil, err
	}
	var fill float64
	var fillInt int64
	if v := c.at(2); v != nil {
		if v.len() != 1 || c.same(x, v) != nil {
			return nil, fmt.Errorf("input 2 is %s, want one number of the type of %s", v, x)
		}
		if v.float() {
			fill = v.f[0]
		} else {
			fillInt = v.i[0]
		}
	}
	var list []int
	if c.at(3) != nil {
		if list, err = c.ints(3); err != nil {
			return nil, err
		}
	}
	return c.pad(x, mode, pads, list, fill, fillInt)
}

// pad adds to the beginning and the end of axes; negative numbers take away.
func (c *call) pad(x *value, mode string, pads, list []int, fill float64, fillInt int64) (*value, error) {
	if list == nil {
		for k := range x.rank() {
			list = append(list, k)
		}
	}
	if len(pads) != 2*len(list) {
		return nil, fmt.Errorf("%d pads for %d axes", len(pads), len(list))
	}
	as, err := axes(list, x.rank())
	if err != nil {
		return nil, err
	}
	shape, before := slices.Clone(x.shape), make([]int, x.rank())
	for k, a := range as {
		before[a] = pads[k]
		shape[a] += pads[k] + pads[k+len(as)]
		if shape[a] < 0 {
			return nil, fmt.Errorf("pads %v take more away than %s has", pads, x)
		}
	}
	y, err := c.make(x.typ, shape)
	if err != nil {
		return nil, err
	}
	// from[a][k] is the offset in x of index k along axis a, -1 for the filling value. The sum over the axes of shape
	// may exceed the number of elements only where another axis is empty.
	if y.len() == 0 {
		return y, nil
	}
	from, own := make([][]int, len(shape)), strides(x.shape)
	for a, n := range shape {
		from[a] = make([]int, n)
		for k := range from[a] {
			at := source(mode, k-before[a], x.shape[a])
			if at >= 0 {
				at *= own[a]
			} else if mode != "constant" {
				return nil, fmt.Errorf("axis %d of %s is empty, there is nothing to pad with in mode %s", a, x, mode)
			}
			from[a][k] = at
		}
	}
	index := make([]int, len(shape))
	for k := range y.len() {
		at, inside := 0, true
		for a, j := range index {
			if from[a][j] < 0 {
				inside = false
				break
			}
			at += from[a][j]
		}
		switch {
		case inside:
			copyRange(y, k, x, at, 1)
		case y.float():
			y.f[k] = fill
		default:
			y.i[k] = fillInt
		}
		for a := len(index) - 1; a >= 0; a-- {
			if index[a]++; index[a] < shape[a] {
				break
			}
			index[a] = 0
		}
	}
	return y, nil
}

// source is where an index outside of 0..n-1 is read from, -1 for nowhere.
func source(mode string, k, n int) int {
	if k >= 0 && k < n {
		return k
	}
	if n == 0 {
		return -1
	}
	switch mode {
	case "edge":
		return min(max(k, 0), n-1)
	case "wrap":
		return ((k % n) + n) % n
	case "reflect":
		if n == 1 {
			return 0
		}
		period := 2 * (n - 1)
		k = ((k % period) + period) % period
		return min(k, period-k)
	}
	return -1
}

func tile(c *call) (*value, error) {
	x := c.in[0]
	reps, err := c.ints(1)
	if err != nil {
		return nil, err
	}
	if len(reps) != x.rank() {
		return nil, fmt.Errorf("%d repeats of %s", len(reps), x)
	}
	shape, pairs, step := make([]int, len(reps)), make([]int, 0, 2*len(reps)), make([]int, 0, 2*len(reps))
	own := strides(x.shape)
	for k, r := range reps {
		if r < 0 || r > 0 && x.shape[k] > size/r {
			return nil, fmt.Errorf("repeats %v of %s", reps, x)
		}
		shape[k] = r * x.shape[k]
		pairs, step = append(pairs, r, x.shape[k]), append(step, 0, own[k])
	}
	y, err := c.gather(x, pairs, step, 0)
	if err != nil {
		return nil, err
	}
	y.shape = shape
	return y, nil
}

// blocks checks an input of four axes and the size of blocks.
func blocks(a *attrs) int {
	b := a.int("blocksize", 0)
	if b < 1 || b > 1<<15 {
		a.fail("attribute blocksize is %d", b)
		return 1
	}
	return b
}

func depthToSpace(a *attrs) kernel {
	b, mode := blocks(a), a.choice("mode", "DCR", "CRD")
	return one(func(c *call) (*value, error) {
		x := c.in[0]
		if x.rank() != 4 || x.shape[1]%(b*b) != 0 {
			return nil, fmt.Errorf("%s with blocks of %d", x, b)
		}
		n, d, h, w := x.shape[0], x.shape[1]/(b*b), x.shape[2], x.shape[3]
		split, perm := []int{n, b, b, d, h, w}, []int{0, 3, 4, 1, 5, 2}
		if mode == "CRD" {
			split, perm = []int{n, d, b, b, h, w}, []int{0, 1, 4, 2, 5, 3}
		}
		y, err := c.transpose(x.view(split), perm)
		if err != nil {
			return nil, err
		}
		y.shape = []int{n, d, h * b, w * b}
		return y, nil
	})
}

func spaceToDepth(a *attrs) kernel {
	b := blocks(a)
	return one(func(c *call) (*value, error) {
		x := c.in[0]
		if x.rank() != 4 || x.shape[2]%b != 0 || x.shape[3]%b != 0 {
			return nil, fmt.Errorf("%s with blocks of %d", x, b)
		}
		n, d, h, w := x.shape[0], x.shape[1], x.shape[2]/b, x.shape[3]/b
		y, err := c.transpose(x.view([]int{n, d, h, b, w, b}), []int{0, 3, 5, 1, 2, 4})
		if err != nil {
			return nil, err
		}
		y.shape = []int{n, d * b * b, h, w}
		return y, nil
	})
}

// triangle keeps the upper or the lower triangle of matrices.
func (c *call) triangle(upper bool) (*value, error) {
	k := 0
	if c.at(1) != nil {
		var err error
		if k, err = c.int(1); err != nil {
			return nil, err
		}
	}
	x := c.in[0]
	if x.rank() < 2 {
		return nil, fmt.Errorf("input 0 is %s, want matrices", x)
	}
	y, err := c.clone(x)
	if err != nil {
		return nil, err
	}
	h, w := x.shape[x.rank()-2], x.shape[x.rank()-1]
	for at := range y.len() {
		i, j := at/w%h, at%w
		if upper && j-i < k || !upper && j-i > k {
			if y.float() {
				y.f[at] = 0
			} else {
				y.i[at] = 0
			}
		}
	}
	return y, nil
}

func (c *call) reverseSequence(batch, time int) (*value, error) {
	x := c.in[0]
	lens, err := c.ints(1)
	if err != nil {
		return nil, err
	}
	if x.rank() < 2 || batch+time != 1 || batch*time != 0 || len(lens) != x.shape[batch] {
		return nil, fmt.Errorf("%s with batch axis %d, time axis %d and %d lengths", x, batch, time, len(lens))
	}
	y, err := c.clone(x)
	if err != nil {
		return nil, err
	}
	inner, own := product(x.shape[2:]), strides(x.shape)
	for b, n := range lens {
		if n < 0 || n > x.shape[time] {
			return nil, fmt.Errorf("length %d of %s", n, x)
		}
		for t := range n {
			copyRange(y, b*own[batch]+t*own[time], x, b*own[batch]+(n-1-t)*own[time], inner)
		}
	}
	return y, nil
}
