package oracle

import (
	"fmt"
	"slices"

	"nero/data/tensor"
)

// controlOps run graphs.
func controlOps() map[string][]entry {
	return map[string][]entry{
		"If": {{since: 1, least: 1, most: 1, outs: -1, build: func(a *attrs) kernel {
			yes, no := a.graph("then_branch"), a.graph("else_branch")
			for _, g := range []*body{yes, no} {
				if g != nil && len(g.outputs) < a.outs {
					a.fail("a branch with %d outputs, the node has %d", len(g.outputs), a.outs)
				}
			}
			return func(c *call) ([]*value, error) {
				cond, err := c.bools(0)
				if err != nil {
					return nil, err
				}
				if len(cond.i) != 1 {
					return nil, fmt.Errorf("input 0 is %s, want one bool", cond)
				}
				g := no
				if cond.i[0] != 0 {
					g = yes
				}
				out, err := c.eval(g, &scope{values: map[string]*value{}, outer: c.scope}, g.outputs)
				return views(out), err
			}
		}}},
		"Loop": {{since: 1, least: 2, most: -1, outs: -1, build: func(a *attrs) kernel {
			g := a.graph("body")
			carried := len(a.n.GetInput()) - 2
			if g != nil && (len(g.inputs) != carried+2 || len(g.outputs) < carried+1) {
				a.fail("a body with %d inputs and %d outputs for %d carried values", len(g.inputs), len(g.outputs),
					carried)
			}
			return func(c *call) ([]*value, error) { return c.loop(g, carried) }
		}, optional: 2}},
		"Scan": {{since: 9, least: 1, most: -1, outs: -1, build: scan}},
	}
}

// views mark values of another graph as rounded.
func views(vs []*value) []*value {
	out := make([]*value, len(vs))
	for k, v := range vs {
		out[k] = v.view(v.shape)
	}
	return out
}

// loop runs the body until its count or its condition ends it.
func (c *call) loop(g *body, carried int) ([]*value, error) {
	most, cond := -1, true
	if c.at(0) != nil {
		var err error
		if most, err = c.int(0); err != nil {
			return nil, err
		}
		most = max(most, 0)
	}
	if c.at(1) != nil {
		v, err := c.bools(1)
		if err != nil {
			return nil, err
		}
		if len(v.i) != 1 {
			return nil, fmt.Errorf("input 1 is %s, want one bool", v)
		}
		cond = v.i[0] != 0
	}
	state := make([]*value, carried)
	for k := range state {
		var err error
		if state[k], err = c.any(k + 2); err != nil {
			return nil, err
		}
	}
	kept := make([][]*value, len(g.outputs)-1-carried)
	for n := 0; cond && n != most; n++ {
		if err := c.ctx.Err(); err != nil {
			return nil, err
		}
		s := &scope{outer: c.scope, values: map[string]*value{
			g.inputs[0].name: {typ: tensor.Int64, shape: []int{}, i: []int64{int64(n)}},
			g.inputs[1].name: {typ: tensor.Bool, shape: []int{}, i: []int64{1}},
		}}
		for k, v := range state {
			s.values[g.inputs[k+2].name] = v
		}
		out, err := c.eval(g, s, g.outputs)
		if err != nil {
			return nil, err
		}
		if out[0].typ != tensor.Bool || len(out[0].i) != 1 {
			return nil, fmt.Errorf("the body's condition is %s, want one bool", out[0])
		}
		cond = out[0].i[0] != 0
		copy(state, out[1:])
		for k := range kept {
			v := out[1+carried+k]
			if _, err := c.take(v.shape); err != nil {
				return nil, err
			}
			kept[k] = append(kept[k], v)
		}
	}
	out := views(state)
	for k, vs := range kept {
		if len(vs) == 0 {
			return nil, fmt.Errorf("no iteration makes output %d", carried+k)
		}
		v, err := c.stack(vs, 0, false)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// stack lays values along a new axis.
func (c *call) stack(vs []*value, at int, backwards bool) (*value, error) {
	a, err := axis(at, vs[0].rank()+1)
	if err != nil {
		return nil, err
	}
	parts := make([]*value, len(vs))
	for k, v := range vs {
		if parts[k], err = unsqueeze(v, []int{a}); err != nil {
			return nil, err
		}
	}
	if backwards {
		slices.Reverse(parts)
	}
	for _, p := range parts[1:] {
		if !slices.Equal(p.shape, parts[0].shape) || c.same(p, parts[0]) != nil {
			return nil, fmt.Errorf("iterations make %s and %s", parts[0], p)
		}
	}
	v, err := c.concatValues(parts, a)
	if err != nil {
		return nil, err
	}
	v.shared = true
	return v, nil
}

// scan runs a body once for every slice of its inputs.
func scan(a *attrs) kernel {
	g, n := a.graph("body"), a.int("num_scan_inputs", 0)
	inAxes, outAxes := a.ints("scan_input_axes"), a.ints("scan_output_axes")
	inBack, outBack := a.ints("scan_input_directions"), a.ints("scan_output_directions")
	state := len(a.n.GetInput()) - n
	if g == nil || n < 1 || state < 0 || len(g.inputs) != state+n || len(g.outputs) < state {
		a.fail("a body that does not fit %d scanned inputs of %d", n, len(a.n.GetInput()))
		return nil
	}
	outs := len(g.outputs) - state
	fill := func(list []int, n int, name string) []int {
		if list == nil {
			return make([]int, n)
		}
		if len(list) != n {
			a.fail("attribute %s has %d numbers, want %d", name, len(list), n)
			return make([]int, n)
		}
		return list
	}
	inAxes, inBack = fill(inAxes, n, "scan_input_axes"), fill(inBack, n, "scan_input_directions")
	outAxes, outBack = fill(outAxes, outs, "scan_output_axes"), fill(outBack, outs, "scan_output_directions")
	return func(c *call) ([]*value, error) {
		for k := range c.in {
			if _, err := c.any(k); err != nil {
				return nil, err
			}
		}
		values := slices.Clone(c.in[:state])
		steps := -1
		axes := make([]int, n)
		for k, x := range c.in[state:] {
			var err error
			if axes[k], err = axis(inAxes[k], x.rank()); err != nil {
				return nil, err
			}
			if m := x.shape[axes[k]]; steps >= 0 && m != steps {
				return nil, fmt.Errorf("scanned inputs have the lengths %d and %d", steps, m)
			}
			steps = x.shape[axes[k]]
		}
		kept := make([][]*value, outs)
		for t := range steps {
			if err := c.ctx.Err(); err != nil {
				return nil, err
			}
			s := &scope{outer: c.scope, values: map[string]*value{}}
			for k, v := range values {
				s.values[g.inputs[k].name] = v
			}
			for k, x := range c.in[state:] {
				at := t
				if inBack[k] != 0 {
					at = steps - 1 - t
				}
				own := strides(x.shape)
				before := c.local
				v, err := c.gather(x, slices.Delete(slices.Clone(x.shape), axes[k], axes[k]+1),
					slices.Delete(slices.Clone(own), axes[k], axes[k]+1), at*own[axes[k]])
				if err != nil {
					return nil, err
				}
				c.local = before // eval counts its inputs
				s.values[g.inputs[state+k].name] = v
			}
			out, err := c.eval(g, s, g.outputs)
			if err != nil {
				return nil, err
			}
			copy(values, out)
			for k := range kept {
				if _, err := c.take(out[state+k].shape); err != nil {
					return nil, err
				}
				kept[k] = append(kept[k], out[state+k])
			}
		}
		out := views(values)
		for k, vs := range kept {
			if len(vs) == 0 {
				return nil, fmt.Errorf("no step makes output %d", state+k)
			}
			v, err := c.stack(vs, outAxes[k], outBack[k] != 0)
			if err != nil {
				return nil, err
			}
			out = append(out, v)
		}
		return out, nil
	}
}
