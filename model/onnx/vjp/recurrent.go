package vjp

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"nero/model/onnx"
)

// maxSteps bounds the length of a sequence: the steps of a recurrent operator are written out one by one, about 40
// nodes each.
const maxSteps = 512

// recurrent is LSTM, GRU or RNN. Its steps are written out, forwards to have the states and then backwards. Values of
// one step have the shape 1×N×..., so that they join along axis 0.
type recurrent struct {
	c             *call
	gates, steps  int
	hidden, input int
	// kernels of one direction: gates·hidden × input and × hidden
	w, r              string
	linearBeforeReset bool
	relu              bool
	reverse           bool
	// one for each step, in time
	states []state
	// adjoints of the state after the step; "" for none
	dh, dc                string
	after, product, other []string
}

// state is what the way back needs of one step.
type state struct {
	// before it
	h, c string
	// after their activations, in the order of the kernels
	gate       []string
	tanhC, uh  string
	carried, n string
}

// recur differentiates all three operators.
func recur(c *call) error {
	op := c.n.GetOpType()
	gates := map[string]int{"LSTM": 4, "GRU": 3, "RNN": 1}[op]
	sw, sr := c.shapes[c.in[1]], c.shapes[c.in[2]]
	if len(sw) != 3 || len(sr) != 3 || sw[0] != sr[0] || sw[1] != gates*sr[2] || sr[1] != sw[1] || sw[2] != c.si[2] {
		return fmt.Errorf("kernels of shapes %v and %v do not fit an input of shape %v", sw, sr, c.si)
	}
	proto := recurrent{
		c: c, gates: gates, steps: c.si[0], hidden: sr[2], input: sw[2],
		linearBeforeReset: onnx.Int(c.n, "linear_before_reset", 0) != 0,
	}
	if err := proto.check(op); err != nil {
		return err
	}
	dirs, xs := sw[0], c.in[0]
	direction := onnx.String(c.n, "direction", "forward")
	if dirs != map[string]int{"forward": 1, "reverse": 1, "bidirectional": 2}[direction] {
		return fmt.Errorf("direction=%q does not fit kernels of shape %v", direction, sw)
	}
	// adjoints of what comes out: Y is steps×directions×N×hidden, the last states are directions×N×hidden
	output := func(i int) []string {
		if i < len(c.out) && c.out[i] != "" && c.need[c.out[i]] && c.adj[c.out[i]] != "" {
			return c.pieces(c.adj[c.out[i]], 0, []int{c.si[0], dirs, dirs}[i], 1)
		}
		return nil
	}
	dY, dH, dC := output(0), output(1), output(2)
	h0, c0 := c.initial(5, dirs, proto.hidden), c.initial(6, dirs, proto.hidden)
	var dx string
	all := map[int][]string{}
	for k := range dirs {
		p := proto
		p.reverse = direction == "reverse" || k == 1
		one := func(i int) string { return c.reshape(c.pieces(c.in[i], 0, dirs, 1)[k], c.list(sw[1], -1)) }
		p.w, p.r = one(1), one(2)
		var wb, rb string
		if c.has(3) {
			b := c.pieces(c.reshape(c.pieces(c.in[3], 0, dirs, 1)[k], c.list(-1)), 0, 2, sw[1])
			wb, rb = b[0], b[1]
		}
		p.forward(xs, wb, rb, h0[k], c0[k])
		if dH != nil {
			p.dh = dH[k]
		}
		if dC != nil {
			p.dc = dC[k]
		}
		p.backward(func(t int) string {
			if dY == nil {
				return ""
			}
			return c.reshape(c.pieces(dY[t], 1, dirs, 1)[k], c.list(1, -1, p.hidden))
		})
		p.collect(all, &dx)
	}
	c.give(0, dx)
	for _, i := range slices.Sorted(maps.Keys(all)) { // in the same order every time, as are the names that are made up
		c.give(i, c.join(0, all[i]...))
	}
	return c.only(0, 1, 2, 3, 5, 6)
}

// check refuses what the rule does not know.
func (p *recurrent) check(op string) error {
	c := p.c
	if c.has(4) {
		return errors.New("its rule does not know sequences of different lengths (sequence_lens)")
	}
	if c.has(7) {
		return errors.New("its rule does not know peepholes")
	}
	for _, a := range []string{"clip", "activation_alpha", "activation_beta"} {
		if onnx.Attr(c.n, a) != nil {
			return fmt.Errorf("its rule does not know %s", a)
		}
	}
	for _, a := range []string{"input_forget", "layout"} {
		if v := onnx.Int(c.n, a, 0); v != 0 {
			return fmt.Errorf("its rule does not know %s=%d", a, v)
		}
	}
	if a := onnx.Attr(c.n, "activations"); a != nil {
		usual := map[string][]string{
			"LSTM": {"Sigmoid", "Tanh", "Tanh"}, "GRU": {"Sigmoid", "Tanh"},
			"RNN": {"Tanh"},
		}[op]
		p.relu = op == "RNN" && !slices.ContainsFunc(a.GetStrings(), func(s []byte) bool { return string(s) != "Relu" })
		for i, s := range a.GetStrings() {
			if string(s) != usual[i%len(usual)] && !p.relu {
				return fmt.Errorf("its rule does not know the activation %s", s)
			}
		}
	}
	if p.steps > maxSteps {
		return fmt.Errorf("a sequence of %d steps is longer than %d, up to which steps are written out", p.steps,
			maxSteps)
	}
	return nil
}

// pieces cuts a value into n pieces of a fixed length along an axis. A value of another length, such as a longer
// sequence than the one that shapes were taken of, makes the engine refuse.
func (c *call) pieces(v string, ax, n, length int) []string {
	var out []string
	key := fmt.Sprint("piece ", ax, " ", n, " ", v, " ")
	for i := range n {
		if have, ok := c.made[key+strconv.Itoa(i)]; ok {
			out = append(out, have)
		}
	}
	if len(out) == n {
		return out
	}
	out = c.b.Ops("Split", n, []string{v, c.list(filled(n, length)...)}, onnx.AttrInt("axis", int64(ax)))
	for i, o := range out {
		c.made[key+strconv.Itoa(i)] = o
	}
	return out
}

// join concatenates values.
func (c *call) join(ax int, parts ...string) string {
	if len(parts) == 1 {
		return parts[0]
	}
	return c.with("Concat", parts, onnx.AttrInt("axis", int64(ax)))
}

// initial are the states before the first step, one for each direction: input i, or zeros.
func (c *call) initial(i, dirs, hidden int) []string {
	if c.has(i) {
		return c.pieces(c.in[i], 0, dirs, 1)
	}
	shape := c.join(0, c.list(1), c.length(c.in[0], 1), c.list(hidden))
	zero := c.with("ConstantOfShape", []string{shape},
		onnx.AttrTensor("value", onnx.Stored("", c.store([]float64{0}, 1))))
	return slices.Repeat([]string{zero}, dirs)
}

// plus adds two values either of which may be missing.
func (c *call) plus(a, b string) string {
	switch {
	case a == "":
		return b
	case b == "":
		return a
	}
	return c.add(a, b)
}

// order are the steps in the order of the direction.
func (p *recurrent) order() []int {
	o := upTo(p.steps)
	if p.reverse {
		slices.Reverse(o)
	}
	return o
}

// forward runs the steps again, to have the states between them.
func (p *recurrent) forward(x, wb, rb, h, cell string) {
	c := p.c
	// GRU keeps the two biases apart, because the reset gate may come between them
	bias, inner := wb, rb
	if p.gates != 3 && wb != "" {
		bias, inner = c.add(wb, rb), ""
	}
	in := c.pieces(c.plus(c.op("MatMul", x, c.swap(p.w, 2)), bias), 0, p.steps, 1)
	rt := c.swap(p.r, 2)
	p.states = make([]state, p.steps)
	for _, t := range p.order() {
		s := state{h: h, c: cell}
		switch p.gates {
		case 4: // i, o, f, c
			g := c.pieces(c.add(in[t], c.op("MatMul", h, rt)), 2, 4, p.hidden)
			s.gate = []string{c.op("Sigmoid", g[0]), c.op("Sigmoid", g[1]), c.op("Sigmoid", g[2]), c.op("Tanh", g[3])}
			cell = c.add(c.mul(s.gate[2], cell), c.mul(s.gate[0], s.gate[3]))
			s.tanhC = c.op("Tanh", cell)
			h = c.mul(s.gate[1], s.tanhC)
		case 3: // z, r, h
			a := c.pieces(in[t], 2, 3, p.hidden)
			u := c.pieces(c.plus(c.op("MatMul", h, rt), inner), 2, 3, p.hidden)
			z, r := c.op("Sigmoid", c.add(a[0], u[0])), c.op("Sigmoid", c.add(a[1], u[1]))
			if s.carried = h; p.linearBeforeReset {
				s.uh = u[2]
				s.n = c.op("Tanh", c.add(a[2], c.mul(r, u[2])))
			} else {
				s.carried = c.mul(r, h)
				last := c.op("MatMul", s.carried, c.pieces(rt, 1, 3, p.hidden)[2])
				if inner != "" {
					last = c.add(last, c.pieces(inner, 0, 3, p.hidden)[2])
				}
				s.n = c.op("Tanh", c.add(a[2], last))
			}
			s.gate = []string{z, r}
			h = c.add(c.mul(c.sub(c.num(1), z), s.n), c.mul(z, h))
		default:
			a := c.add(in[t], c.op("MatMul", h, rt))
			if p.relu {
				h = c.op("Relu", a)
			} else {
				h = c.op("Tanh", a)
			}
			s.gate = []string{h}
		}
		p.states[t] = s
	}
}

// sigmoid is the adjoint before a sigmoid with value y.
func (c *call) sigmoid(d, y string) string { return c.mul(d, c.mul(y, c.sub(c.num(1), y))) }

// backward runs the steps from last to first. dy is the adjoint of what step t put out. For each step it leaves the
// adjoints of the sums before the activations: of what came from the input (after), and of what came from the state
// (product), apart from its last third where that multiplied something else (other).
func (p *recurrent) backward(dy func(t int) string) {
	c := p.c
	p.after, p.product, p.other = make([]string, p.steps), make([]string, p.steps), make([]string, p.steps)
	for _, t := range slices.Backward(p.order()) {
		s, g := p.states[t], p.states[t].gate
		dh := c.plus(p.dh, dy(t))
		if dh == "" { // no adjoint came yet: that of the cell alone, if any
			dh = c.zeros(s.h)
		}
		switch p.gates {
		case 4:
			dc := c.plus(p.dc, c.mul(c.mul(dh, g[1]), c.oneMinusSquare(s.tanhC)))
			da := c.join(2, c.sigmoid(c.mul(dc, g[3]), g[0]), c.sigmoid(c.mul(dh, s.tanhC), g[1]),
				c.sigmoid(c.mul(dc, s.c), g[2]),
				c.mul(c.mul(dc, g[0]), c.oneMinusSquare(g[3])))
			p.after[t], p.product[t] = da, da
			p.dh, p.dc = c.op("MatMul", da, p.r), c.mul(dc, g[2])
		case 3:
			z, r := g[0], g[1]
			dz := c.sigmoid(c.mul(dh, c.sub(s.h, s.n)), z)
			dn := c.mul(c.mul(dh, c.sub(c.num(1), z)), c.oneMinusSquare(s.n))
			kept := c.mul(dh, z)
			if p.linearBeforeReset {
				dr := c.sigmoid(c.mul(dn, s.uh), r)
				p.after[t], p.product[t] = c.join(2, dz, dr, dn), c.join(2, dz, dr, c.mul(dn, r))
				p.dh = c.add(kept, c.op("MatMul", p.product[t], p.r))
				continue
			}
			parts := c.pieces(p.r, 0, 3, p.hidden)
			dq := c.op("MatMul", dn, parts[2])
			dr := c.sigmoid(c.mul(dq, s.h), r)
			p.after[t], p.product[t], p.other[t] = c.join(2, dz, dr, dn), c.join(2, dz, dr), dn
			p.dh = c.add(c.add(kept, c.mul(dq, r)), c.add(c.op("MatMul", dz, parts[0]), c.op("MatMul", dr, parts[1])))
		default:
			da := c.mul(dh, c.oneMinusSquare(g[0]))
			if p.relu {
				da = c.where(c.positive(g[0]), dh, c.num(0))
			}
			p.after[t], p.product[t] = da, da
			p.dh = c.op("MatMul", da, p.r)
		}
	}
}

// collect adds up the adjoints of one direction: dx by the input, the others by number of the node's input.
func (p *recurrent) collect(all map[int][]string, dx *string) {
	c := p.c
	da := c.join(0, p.after...)
	if c.wants(0) {
		*dx = c.plus(*dx, c.op("MatMul", da, p.w))
	}
	// Σ over steps and samples of the outer products
	outer := func(d, v string, width int) string {
		rows := func(v string, n int) string { return c.reshape(v, c.list(-1, n)) }
		return c.op("MatMul", c.swap(rows(d, width), 2), v)
	}
	add := func(i int, v string) {
		if c.wants(i) {
			all[i] = append(all[i], v)
		}
	}
	n := p.gates * p.hidden
	if c.wants(1) {
		add(1, c.unsqueeze(outer(da, c.reshape(c.in[0], c.list(-1, p.input)), n), 0))
	}
	if c.wants(2) {
		var before, carried []string
		for _, s := range p.states {
			before, carried = append(before, s.h), append(carried, s.carried)
		}
		flat := func(v []string) string { return c.reshape(c.join(0, v...), c.list(-1, p.hidden)) }
		if p.gates == 3 && !p.linearBeforeReset {
			dr := c.join(0, outer(c.join(0, p.product...), flat(before), 2*p.hidden),
				outer(c.join(0, p.other...), flat(carried), p.hidden))
			add(2, c.unsqueeze(dr, 0))
		} else {
			add(2, c.unsqueeze(outer(c.join(0, p.product...), flat(before), n), 0))
		}
	}
	if c.wants(3) {
		sum := func(v string) string { return c.sum(v, false, 0, 1) }
		state := da
		if p.linearBeforeReset {
			state = c.join(0, p.product...)
		}
		add(3, c.unsqueeze(c.join(0, sum(da), sum(state)), 0))
	}
	add(5, p.dh)
	if p.gates == 4 {
		add(6, p.dc)
	}
}
