package vjp

import (
	"errors"
	"fmt"
	"slices"

	"nero/model/onnx"
	"nero/model/onnx/facts"
)

// reshape: operators that only rename positions.
func reshape(c *call) error {
	c.give(0, c.like(c.d, c.in[0]))
	return c.only(0)
}

func transpose(c *call) error {
	r := len(c.so)
	inverse := make([]int, r)
	for i, p := range onnx.Ints(c.n, "perm", nil) {
		k, err := facts.Axis(p, r)
		if err != nil || i >= r {
			return fmt.Errorf("perm does not fit a value with %d axes", r)
		}
		inverse[k] = i
	}
	if onnx.Attr(c.n, "perm") == nil {
		for i := range inverse {
			inverse[i] = r - 1 - i
		}
	}
	c.give(0, c.transpose(c.d, inverse...))
	return nil
}

// splitLike cuts d along an axis into pieces as long as those values are.
func (c *call) splitLike(d string, ax int, values []string) []string {
	if len(values) == 1 {
		return []string{d}
	}
	sizes := make([]int, len(values))
	long := make([]string, len(values))
	for i, v := range values {
		sizes[i] = c.shapes[v][ax]
	}
	cuts := ""
	if ax == 0 { // may depend on the batch
		for i, v := range values {
			long[i] = c.length(v, ax)
		}
		cuts = c.with("Concat", long, onnx.AttrInt("axis", 0))
	} else {
		cuts = c.list(sizes...)
	}
	return c.b.Ops("Split", len(values), []string{d, cuts}, onnx.AttrInt("axis", int64(ax)))
}

func concat(c *call) error {
	ax, err := c.axisAttr(0, len(c.so))
	if err != nil {
		return err
	}
	for _, v := range c.in {
		if len(c.shapes[v]) != len(c.so) {
			return fmt.Errorf("shapes %v and %v do not fit each other", c.shapes[v], c.so)
		}
	}
	for i, d := range c.splitLike(c.d, ax, c.in) {
		c.give(i, d)
	}
	return nil
}

func split(c *call) error {
	parts := make([]string, len(c.out))
	for i, o := range c.out {
		if parts[i] = c.adj[o]; parts[i] == "" || !c.need[o] {
			if o == "" {
				return fmt.Errorf("its output %d has no name", i)
			}
			parts[i] = c.zeros(o)
		}
	}
	c.give(0, c.with("Concat", parts, onnx.AttrInt("axis", onnx.Int(c.n, "axis", 0))))
	return c.only(0)
}

func expand(c *call) error {
	c.giveTo(0, func() string { return c.d })
	return c.only(0)
}

// tile: the adjoint, seen as repetition × length along every axis, is summed over the repetitions.
func tile(c *call) error {
	r := len(c.si)
	if r == 0 {
		return identity(c)
	}
	pairs := c.with("Concat", []string{c.unsqueeze(c.in[1], 1), c.unsqueeze(c.shapeOf(c.in[0]), 1)},
		onnx.AttrInt("axis", 1))
	var times []int
	for i := range r {
		times = append(times, 2*i)
	}
	c.give(0, c.sum(c.reshape(c.d, c.reshape(pairs, c.list(-1))), false, times...))
	return c.only(0)
}

// pad takes the margin off again; what mirrored or repeated elements got goes back to where they came from.
func pad(c *call) error {
	switch mode := onnx.String(c.n, "mode", "constant"); mode {
	case "constant":
		in := []string{c.d, c.op("Neg", c.in[1])}
		if c.has(3) {
			in = append(in, "", c.in[3])
		}
		c.give(0, c.op("Pad", in...))
	case "reflect", "edge", "wrap":
		return picks(c)
	default:
		return fmt.Errorf("its rule does not know mode=%q", mode)
	}
	return c.only(0)
}

// picks: operators whose output only holds elements of the first input. The same operator, run on the positions instead
// of the elements, says which.
func picks(c *call) error {
	if !c.wants(0) {
		return c.only(0)
	}
	c.give(0, c.scatter(c.in[0], c.repeat(c.index(c.in[0])), c.d))
	return c.only(0)
}

// slice: without steps, zeros around the adjoint.
func slice(c *call) error {
	starts, ok := c.ints(c.in[1])
	axes := wide(upTo(len(starts)))
	if c.has(3) && ok {
		axes, ok = c.ints(c.in[3])
	}
	if c.has(4) && ok {
		var steps []int64
		steps, ok = c.ints(c.in[4])
		ok = ok && !slices.ContainsFunc(steps, func(s int64) bool { return s != 1 })
	}
	before, negative := make([]int, len(c.si)), make([]int, len(c.si))
	if ok && len(axes) != len(starts) {
		return errors.New("it has not as many axes as starts")
	}
	for i := range starts {
		if !ok {
			break
		}
		a, err := facts.Axis(axes[i], len(c.si))
		if err != nil {
			return err
		}
		switch n := int64(c.si[a]); {
		case starts[i] > n || starts[i] < -n:
			ok = false // clamped
		case starts[i] < 0:
			before[a], negative[a] = int(starts[i]), 1
		default:
			before[a] = int(starts[i])
		}
	}
	if !ok {
		return picks(c)
	}
	all := c.shapeOf(c.in[0])
	b := c.list(before...)
	if slices.Contains(negative, 1) {
		b = c.add(b, c.mul(all, c.list(negative...)))
	}
	after := c.sub(c.sub(all, b), c.shapeOf(c.out[0]))
	c.give(0, c.op("Pad", c.d, c.with("Concat", []string{b, after}, onnx.AttrInt("axis", 0))))
	return c.only(0)
}

// gather: a single fixed index is a slice.
func gather(c *call) error {
	ax, err := c.axisAttr(0, len(c.si))
	if err != nil {
		return err
	}
	idx, ok := c.ints(c.in[1])
	if rank := len(c.shapes[c.in[1]]); !ok || len(idx) != 1 || rank > 1 || ax == 0 {
		return picks(c)
	} else if rank == 0 {
		c.d = c.unsqueeze(c.d, ax)
	}
	k, err := facts.Axis(idx[0], c.si[ax])
	if err != nil {
		return err
	}
	margins := make([]int, 2*len(c.si))
	margins[ax], margins[ax+len(c.si)] = k, c.si[ax]-1-k
	c.give(0, c.op("Pad", c.d, c.list(margins...)))
	return c.only(0)
}

func gatherElements(c *call) error {
	c.give(0, c.with("ScatterElements", []string{c.zeros(c.in[0]), c.in[1], c.d},
		onnx.AttrInt("axis", onnx.Int(c.n, "axis", 0)), onnx.AttrString("reduction", "add")))
	return c.only(0)
}

// scatterRule: what was overwritten gets nothing. Where several updates overwrite the same element, the outcome of the
// operator itself is undefined.
func scatterRule(c *call) error {
	ax := onnx.Attr(c.n, "axis")
	pick := func() string {
		if c.n.GetOpType() == "ScatterND" {
			return c.op("GatherND", c.d, c.in[1])
		}
		if ax == nil {
			return c.op("GatherElements", c.d, c.in[1])
		}
		return c.with("GatherElements", []string{c.d, c.in[1]}, ax)
	}
	switch red := onnx.String(c.n, "reduction", "none"); red {
	case "none":
		if c.wants(0) {
			in := []string{c.d, c.in[1], c.zeros(c.in[2])}
			if ax == nil {
				c.give(0, c.op(c.n.GetOpType(), in...))
			} else {
				c.give(0, c.with(c.n.GetOpType(), in, ax))
			}
		}
	case "add":
		c.give(0, c.d)
	default:
		return fmt.Errorf("its rule does not know reduction=%q", red)
	}
	if c.wants(2) {
		c.give(2, pick())
	}
	return c.only(0, 2)
}

// trilu keeps the same triangle.
func trilu(c *call) error {
	c.give(0, c.repeat(c.d))
	return c.only(0)
}

func depthToSpace(c *call) error {
	b := int(onnx.Int(c.n, "blocksize", 0))
	if len(c.si) != 4 || b < 1 || c.si[1]%(b*b) != 0 {
		return fmt.Errorf("an input of shape %v does not fit blocksize=%d", c.si, b)
	}
	switch mode := onnx.String(c.n, "mode", "DCR"); mode {
	case "DCR":
		c.give(0, c.with("SpaceToDepth", []string{c.d}, onnx.AttrInt("blocksize", int64(b))))
	case "CRD":
		six := c.reshape(c.d, c.list(-1, c.si[1]/(b*b), c.si[2], b, c.si[3], b))
		c.give(0, c.like(c.transpose(six, 0, 1, 3, 5, 2, 4), c.in[0]))
	default:
		return fmt.Errorf("its rule does not know mode=%q", mode)
	}
	return nil
}

func spaceToDepth(c *call) error {
	c.give(0, c.with("DepthToSpace", []string{c.d}, onnx.AttrInt("blocksize", onnx.Int(c.n, "blocksize", 0)),
		onnx.AttrString("mode", "DCR")))
	return nil
}
