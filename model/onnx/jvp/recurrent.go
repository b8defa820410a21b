package jvp

import (
	"fmt"
	"slices"

	"nero/data/tensor"
	"nero/model/onnx"
	"nero/model/onnx/onnxpb"
)

// recurrentRules are LSTM, GRU and RNN with the usual activations.
func recurrentRules() map[string]rule {
	attrs := "hidden_size direction activations linear_before_reset layout input_forget"
	r := rule{attrs: attrs, inputs: 7, least: 3, push: recur}
	return map[string]rule{"LSTM": r, "GRU": r, "RNN": r}
}

// steps writes the body of a Scan: one step of a recurrent operator and of its tangent.
type steps struct {
	c     *call
	op    string
	gates int
	// GRU: linear_before_reset
	linear bool
	// RNN
	relu bool
	body *onnxpb.GraphProto
}

// recur runs values and tangents through the steps together, in a Scan for each direction.
func recur(c *call) ([]string, error) {
	op := c.n.GetOpType()
	p := steps{
		c: c, op: op, gates: map[string]int{"LSTM": 4, "GRU": 3, "RNN": 1}[op],
		linear: onnx.Int(c.n, "linear_before_reset", 0) != 0,
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	direction := onnx.String(c.n, "direction", "forward")
	dirs := map[string]int{"forward": 1, "reverse": 1, "bidirectional": 2}[direction]
	if dirs == 0 {
		return nil, c.refuse(fmt.Sprintf("direction=%q", direction))
	}
	var ys, hs, cs []string
	for k := range dirs {
		y, h, cell := p.direction(k, direction == "reverse" || k == 1)
		ys, hs = append(ys, c.b.Op("Unsqueeze", []string{y, c.b.Ints(1)})),
			append(hs, c.b.Op("Unsqueeze", []string{h, c.b.Ints(0)}))
		if cell != "" {
			cs = append(cs, c.b.Op("Unsqueeze", []string{cell, c.b.Ints(0)}))
		}
	}
	join := func(axis int64, parts []string) string {
		if len(parts) == 0 {
			return ""
		}
		return c.b.Op("Concat", parts, onnx.AttrInt("axis", axis))
	}
	return []string{join(1, ys), join(0, hs), join(0, cs)}, nil
}

// check refuses what the rule does not know.
func (p *steps) check() error {
	c := p.c
	for _, i := range []int{4, 7} {
		if i < len(c.in) && c.in[i] != "" {
			return c.refuse(map[int]string{4: "sequences of different lengths (sequence_lens)", 7: "peepholes"}[i])
		}
	}
	for _, a := range []string{"layout", "input_forget"} {
		if v := onnx.Int(c.n, a, 0); v != 0 {
			return c.refuse(fmt.Sprintf("%s=%d", a, v))
		}
	}
	if a := onnx.Attr(c.n, "activations"); a != nil {
		usual := map[string][]string{
			"LSTM": {"Sigmoid", "Tanh", "Tanh"}, "GRU": {"Sigmoid", "Tanh"},
			"RNN": {"Tanh"},
		}[p.op]
		p.relu = p.op == "RNN" &&
			!slices.ContainsFunc(a.GetStrings(), func(s []byte) bool { return string(s) != "Relu" })
		for i, s := range a.GetStrings() {
			if string(s) != usual[i%len(usual)] && !p.relu {
				return c.refuse("the activation " + string(s))
			}
		}
	}
	return nil
}

// part is slice k of input i along its first axis, without that axis; of is the input itself or its tangent.
func (p *steps) part(of string, k int) string {
	if of == "" {
		return ""
	}
	return p.c.b.Op("Gather", []string{of, p.c.b.Const(tensor.FromInt64([]int64{int64(k)}))}, onnx.AttrInt("axis", 0))
}

func (p *steps) input(i int) string {
	if i < len(p.c.in) {
		return p.c.in[i]
	}
	return ""
}

func (p *steps) moving(i int) string {
	if p.c.has(i) {
		return p.c.t[i]
	}
	return ""
}

// direction returns the tangents of all steps [T, N, H], and of the last state and cell [N, H].
func (p *steps) direction(k int, reverse bool) (y, h, cell string) {
	c := p.c
	transposed := func(v string) string {
		if v == "" {
			return ""
		}
		return c.b.Op("Transpose", []string{v}, onnx.AttrInts("perm", 1, 0))
	}
	product := func(a, b string) string {
		if a == "" || b == "" {
			return ""
		}
		return c.op("MatMul", a, b)
	}
	r, dr := p.part(c.in[2], k), p.part(p.moving(2), k)
	w, dw := transposed(p.part(c.in[1], k)), transposed(p.part(p.moving(1), k))
	rt, drt := transposed(r), transposed(dr)
	x, dx := c.in[0], p.moving(0)
	a, da := product(x, w), c.sum(product(dx, w), product(x, dw))
	var rb, drb string
	halves := func(b string) (string, string) {
		if b == "" {
			return "", ""
		}
		s := c.b.Ops("Split", 2, []string{b}, onnx.AttrInt("axis", 0))
		return s[0], s[1]
	}
	wb, rb := halves(p.part(p.input(3), k))
	dwb, drb := halves(p.part(p.moving(3), k))
	if wb != "" {
		a = c.op("Add", a, wb)
	}
	if dwb != "" { // alone it has no axes of steps and samples
		if da == "" {
			da = c.zerosOf(a, c.dt)
		}
		da = c.op("Add", da, dwb)
	}
	if da == "" {
		da = c.zerosOf(a, c.dt)
	}
	// States are zeros unless they are given.
	start := func(i int) (string, string) {
		var v string
		if p.input(i) != "" {
			v = p.part(p.input(i), k)
		} else {
			one := p.part(a, 0) // [N, gates·H]
			v = c.zerosOf(c.b.Op("Slice",
				[]string{
					one, c.b.Ints(0),
					c.op("Div", p.width(one), c.b.Const(tensor.FromInt64([]int64{int64(p.gates)}, 1))), c.b.Ints(1),
				}),
				c.dt)
		}
		if d := p.moving(i); d != "" {
			return v, p.part(d, k)
		}
		return v, c.zerosOf(v, c.dt)
	}
	h0, dh0 := start(5)
	in := []string{h0, dh0}
	states := []string{"h", "dh"}
	if p.gates == 4 {
		c0, dc0 := start(6)
		in, states = append(in, c0, dc0), append(states, "c", "dc")
	}
	in = append(in, a, da)
	p.body = &onnxpb.GraphProto{Name: new(c.unused("step"))}
	v := map[string]string{}
	for _, s := range append(slices.Clone(states), "a", "da") {
		v[s] = c.unused("step:" + s)
		info := onnx.ValueInfo(v[s], c.dt)
		info.GetType().GetTensorType().Shape = nil
		p.body.Input = append(p.body.Input, info)
	}
	out := p.step(v, rt, drt, rb, drb)
	outs := make([]string, 0, len(states)+1)
	for _, s := range states {
		outs = append(outs, out[s])
	}
	outs = append(outs, p.node("Identity", []string{out["dh"]}))
	for _, o := range outs {
		info := onnx.ValueInfo(o, c.dt)
		info.GetType().GetTensorType().Shape = nil
		p.body.Output = append(p.body.Output, info)
	}
	back := int64(0)
	if reverse {
		back = 1
	}
	got := c.b.Ops("Scan", len(outs), in, onnx.AttrInt("num_scan_inputs", 2),
		onnx.AttrInts("scan_input_directions", back, back),
		onnx.AttrInts("scan_output_directions", back),
		&onnxpb.AttributeProto{Name: new("body"), Type: new(onnxpb.AttributeProto_GRAPH), G: p.body})
	if p.gates == 4 {
		cell = got[3]
	}
	return got[len(got)-1], got[1], cell
}

// width is the length of the second axis, as a value of one number.
func (p *steps) width(v string) string {
	return p.c.b.Op("Slice", []string{p.c.shapeOf(v), p.c.b.Ints(1), p.c.b.Ints(2)})
}

// node adds a node to the body.
func (p *steps) node(op string, in []string) string {
	return p.nodes(op, 1, in)[0]
}

func (p *steps) nodes(op string, n int, in []string, attrs ...*onnxpb.AttributeProto) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = p.c.unused("step:" + op)
	}
	p.body.Node = append(p.body.Node, &onnxpb.NodeProto{
		OpType: new(op), Name: new("node:" + out[0]), Input: in,
		Output: out, Attribute: attrs,
	})
	return out
}

func (p *steps) add(a, b string) string { return p.two("Add", a, b) }
func (p *steps) mul(a, b string) string { return p.two("Mul", a, b) }

// two is a node of two inputs, one of which may be missing where that means nothing is added.
func (p *steps) two(op, a, b string) string {
	if op == "Add" && (a == "" || b == "") {
		return a + b
	}
	return p.node(op, []string{a, b})
}

func (p *steps) sub(a, b string) string { return p.node("Sub", []string{a, b}) }

func (p *steps) times(a, b string) string {
	if b == "" {
		return ""
	}
	return p.node("MatMul", []string{a, b})
}

// split cuts rows into gates.
func (p *steps) split(v string) []string {
	if p.gates == 1 {
		return []string{v}
	}
	return p.nodes("Split", p.gates, []string{v}, onnx.AttrInt("axis", -1))
}

// sigmoid and tanh return a value and the factor of its tangent.
func (p *steps) sigmoid(v string) (y, slope string) {
	y = p.node("Sigmoid", []string{v})
	return y, p.mul(y, p.sub(p.c.num(1), y))
}

func (p *steps) tanh(v string) (y, slope string) {
	y = p.node("Tanh", []string{v})
	return y, p.sub(p.c.num(1), p.mul(y, y))
}

// step is one step; the names of the states after it are returned under the names of the states. rt, drt, rb and drb
// are the recurrent kernel, transposed, its bias and their tangents, "" for none.
func (p *steps) step(v map[string]string, rt, drt, rb, drb string) map[string]string {
	h, dh := v["h"], v["dh"]
	u := p.add(p.times(h, rt), rb)
	du := p.add(p.add(p.times(dh, rt), p.times(h, drt)), drb)
	switch p.gates {
	case 4: // i, o, f, c
		g, dg := p.split(p.add(v["a"], u)), p.split(p.add(v["da"], du))
		var y, d [4]string
		for i := range 4 {
			var slope string
			if i < 3 {
				y[i], slope = p.sigmoid(g[i])
			} else {
				y[i], slope = p.tanh(g[i])
			}
			d[i] = p.mul(dg[i], slope)
		}
		cell := p.add(p.mul(y[2], v["c"]), p.mul(y[0], y[3]))
		dcell := p.add(p.add(p.mul(d[2], v["c"]), p.mul(y[2], v["dc"])), p.add(p.mul(d[0], y[3]), p.mul(y[0], d[3])))
		th, slope := p.tanh(cell)
		return map[string]string{
			"c": cell, "dc": dcell, "h": p.mul(y[1], th),
			"dh": p.add(p.mul(d[1], th), p.mul(y[1], p.mul(slope, dcell))),
		}
	case 3: // z, r, h
		a, da, us, dus := p.split(v["a"]), p.split(v["da"]), p.split(u), p.split(du)
		z, zs := p.sigmoid(p.add(a[0], us[0]))
		dz := p.mul(zs, p.add(da[0], dus[0]))
		r, rs := p.sigmoid(p.add(a[1], us[1]))
		dr := p.mul(rs, p.add(da[1], dus[1]))
		var inner, dinner string
		if p.linear {
			inner, dinner = p.mul(r, us[2]), p.add(p.mul(dr, us[2]), p.mul(r, dus[2]))
		} else {
			last := func(m string) string {
				if m == "" {
					return ""
				}
				return p.split(m)[2]
			}
			carried := p.mul(r, h)
			dcarried := p.add(p.mul(dr, h), p.mul(r, dh))
			inner = p.add(p.times(carried, last(rt)), last(rb))
			dinner = p.add(p.add(p.times(dcarried, last(rt)), p.times(carried, last(drt))), last(drb))
		}
		n, ns := p.tanh(p.add(a[2], inner))
		dn := p.mul(ns, p.add(da[2], dinner))
		rest := p.sub(p.c.num(1), z)
		return map[string]string{
			"h":  p.add(p.mul(rest, n), p.mul(z, h)),
			"dh": p.add(p.add(p.mul(dz, p.sub(h, n)), p.mul(rest, dn)), p.mul(z, dh)),
		}
	}
	pre, dpre := p.add(v["a"], u), p.add(v["da"], du)
	if p.relu {
		return map[string]string{
			"h":  p.node("Relu", []string{pre}),
			"dh": p.node("Where", []string{p.node("Greater", []string{pre, p.c.num(0)}), dpre, p.c.num(0)}),
		}
	}
	y, slope := p.tanh(pre)
	return map[string]string{"h": y, "dh": p.mul(slope, dpre)}
}
