package oracle

import (
	"fmt"
	"math"
	"slices"

	"nero/internal/elementary"
)

// recurrentOps run along a sequence.
func recurrentOps() map[string][]entry {
	return map[string][]entry{
		"RNN": {{
			since: 7, least: 3, most: 6, outs: 2,
			build: func(a *attrs) kernel { return recurrent(a, 1, 0, "Tanh") },
		}},
		"GRU": {{
			since: 7, least: 3, most: 6, outs: 2,
			build: func(a *attrs) kernel { return recurrent(a, 3, 0, "Sigmoid", "Tanh") },
		}},
		"LSTM": {{
			since: 7, least: 3, most: 8, outs: 3,
			build: func(a *attrs) kernel { return recurrent(a, 4, 3, "Sigmoid", "Tanh", "Tanh") },
		}},
	}
}

// cell is a recurrent operator.
type cell struct {
	gates, peepholes int
	// 0 if the file does not say
	hidden     int
	directions []bool
	// by direction
	functions [][]func(float64) float64
	// 0 for none
	clip float64
	// LSTM: input and forget gates
	coupled bool
	// GRU: the linear part comes before the reset
	before     bool
	batchFirst bool
}

func recurrent(a *attrs, gates, peepholes int, def ...string) kernel {
	l := cell{gates: gates, peepholes: peepholes, hidden: a.int("hidden_size", 0), clip: a.float("clip", 0)}
	switch a.choice("direction", "forward", "reverse", "bidirectional") {
	case "forward":
		l.directions = []bool{false}
	case "reverse":
		l.directions = []bool{true}
	default:
		l.directions = []bool{false, true}
	}
	if gates == 4 {
		l.coupled = a.flag("input_forget", false)
	}
	if gates == 3 {
		l.before = a.flag("linear_before_reset", false)
	}
	if a.opset >= 14 {
		l.batchFirst = a.flag("layout", false)
	}
	if len(a.floats("activation_alpha")) > 0 || len(a.floats("activation_beta")) > 0 {
		a.fail("activations with parameters (activation_alpha, activation_beta)")
	}
	names := a.strs("activations")
	if names == nil {
		names = slices.Repeat(def, len(l.directions))
	}
	if len(names) != len(def)*len(l.directions) {
		a.fail("attribute activations is %q", names)
		return nil
	}
	for len(names) > 0 {
		var fs []func(float64) float64
		for _, name := range names[:len(def)] {
			f := map[string]func(float64) float64{
				"Tanh": elementary.Tanh, "Sigmoid": sigmoid,
				"Softsign": func(x float64) float64 { return x / (1 + math.Abs(x)) },
				"Softplus": softplus, "Relu": func(x float64) float64 { return math.Max(x, 0) },
				"HardSigmoid": func(x float64) float64 { return clamp(float64(float64(float32(0.2))*x)+0.5, 0, 1) },
				"Elu":         elu(1, 1, 1),
			}[name]
			if f == nil {
				a.fail("activation %q", name)
			}
			fs = append(fs, f)
		}
		l.functions, names = append(l.functions, fs), names[len(def):]
	}
	return func(c *call) ([]*value, error) { return c.recur(l) }
}

// shaped is input k, which must be there and have the shape.
func (c *call) shaped(k int, shape ...int) ([]float64, error) {
	v, err := c.floats(k)
	if err != nil {
		return nil, err
	}
	if !slices.Equal(v.shape, shape) {
		return nil, fmt.Errorf("input %d is %s, want the shape %v", k, v, shape)
	}
	return v.f, nil
}

// recur runs the operator: X [time, batch, in], W [directions, gates hidden, in], R [directions, gates hidden, hidden].
func (c *call) recur(l cell) ([]*value, error) {
	x, err := c.operand(0)
	if err != nil {
		return nil, err
	}
	w, err := c.operand(1)
	if err != nil {
		return nil, err
	}
	r, err := c.operand(2)
	if err != nil {
		return nil, err
	}
	if x.rank() != 3 || w.rank() != 3 || r.rank() != 3 {
		return nil, fmt.Errorf("inputs are %s, %s and %s, want three axes each", x, w, r)
	}
	if l.batchFirst {
		if x, err = c.transpose(x, []int{1, 0, 2}); err != nil {
			return nil, err
		}
	}
	steps, batch, in, h, dirs := x.shape[0], x.shape[1], x.shape[2], r.shape[2], len(l.directions)
	rows := l.gates * h
	if !slices.Equal(w.shape, []int{dirs, rows, in}) || !slices.Equal(r.shape, []int{dirs, rows, h}) || l.hidden != 0 &&
		l.hidden != h {
		return nil, fmt.Errorf("weights %s and %s for %d inputs, %d directions and hidden_size %d", w, r, in, dirs,
			l.hidden)
	}
	bias := make([]float64, 2*rows*dirs)
	if c.at(3) != nil {
		if bias, err = c.shaped(3, dirs, 2*rows); err != nil {
			return nil, err
		}
	}
	lens := slices.Repeat([]int{steps}, batch)
	if c.at(4) != nil {
		if lens, err = c.ints(4); err != nil {
			return nil, err
		}
		if len(lens) != batch || batch > 0 && (slices.Min(lens) < 0 || slices.Max(lens) > steps) {
			return nil, fmt.Errorf("lengths %v for a batch of %d with %d steps", lens, batch, steps)
		}
	}
	initial := func(k int) (*value, error) {
		shape := []int{dirs, batch, h}
		if c.at(k) == nil {
			return c.make(x.typ, shape)
		}
		v, err := c.floats(k)
		if err == nil && l.batchFirst && v.rank() == 3 {
			v, err = c.transpose(v, []int{1, 0, 2})
		}
		if err != nil {
			return nil, err
		}
		if !slices.Equal(v.shape, shape) {
			return nil, fmt.Errorf("input %d is %s, want the shape %v", k, v, shape)
		}
		return c.clone(v)
	}
	hidden, err := initial(5)
	if err != nil {
		return nil, err
	}
	state, err := initial(6) // of LSTM
	if err != nil {
		return nil, err
	}
	peep := make([]float64, dirs*l.peepholes*h)
	if c.at(7) != nil {
		if peep, err = c.shaped(7, dirs, l.peepholes*h); err != nil {
			return nil, err
		}
	}
	all, err := c.make(x.typ, []int{steps, dirs, batch, h})
	if err != nil {
		return nil, err
	}
	for d, backwards := range l.directions {
		wt, err := c.turned(w.f[d*rows*in:], rows, in)
		if err != nil {
			return nil, err
		}
		rt, err := c.turned(r.f[d*rows*h:], rows, h)
		if err != nil {
			return nil, err
		}
		u := unit{
			cell: l, c: c, h: h, wb: bias[d*2*rows:][:rows], rb: bias[d*2*rows+rows:][:rows], f: l.functions[d],
			peep: peep[d*l.peepholes*h:],
			x:    make([]float64, rows), r: make([]float64, rows), rt: rt, scratch: make([]float64, h),
		}
		for b := range batch {
			hs, cs := hidden.f[(d*batch+b)*h:][:h], state.f[(d*batch+b)*h:][:h]
			for s := range lens[b] {
				if err := c.ctx.Err(); err != nil {
					return nil, err
				}
				t := s
				if backwards {
					t = lens[b] - 1 - s
				}
				copy(u.x, u.wb)
				c.multiply(1, rows, in, x.f[(t*batch+b)*in:][:in], wt, u.x)
				u.step(hs, cs)
				copy(all.f[((t*dirs+d)*batch+b)*h:], hs)
			}
		}
	}
	out := []*value{all, hidden, state}
	if l.batchFirst {
		if out[0], err = c.transpose(all, []int{2, 0, 1, 3}); err != nil {
			return nil, err
		}
		for k := 1; k < 3; k++ {
			if out[k], err = c.transpose(out[k], []int{1, 0, 2}); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// unit is a cell in one direction with its weights.
type unit struct {
	cell
	c      *call
	h      int
	wb, rb []float64
	f      []func(float64) float64
	// input, output, forget
	peep []float64
	// W x + Wb of this step, and working memory
	x, r []float64
	// R, transposed
	rt      []float64
	scratch []float64
}

func (u *unit) cut(v float64) float64 {
	if u.clip > 0 {
		return clamp(v, -u.clip, u.clip)
	}
	return v
}

// step replaces hidden and state by those after u.x.
func (u *unit) step(hidden, state []float64) {
	h := u.h
	copy(u.r, u.rb)
	switch u.gates {
	case 1:
		u.c.multiply(1, h, h, hidden, u.rt, u.r)
		for k := range hidden {
			hidden[k] = u.f[0](u.cut(u.x[k] + u.r[k]))
		}
	case 3: // update z, reset r, new h
		u.c.multiply(1, 3*h, h, hidden, u.rt, u.r)
		z, reset := u.x[:h], u.x[h:2*h]
		for k := range h {
			z[k] = u.f[0](u.cut(z[k] + u.r[k]))
			reset[k] = u.f[0](u.cut(reset[k] + u.r[h+k]))
		}
		if !u.before {
			for k := range h {
				u.scratch[k] = reset[k] * hidden[k]
			}
			for k := range h {
				s := u.rb[2*h+k]
				for j := range h {
					s += float64(u.scratch[j] * u.rt[j*3*h+2*h+k])
				}
				u.r[2*h+k] = s
			}
		}
		for k := range h {
			n := u.r[2*h+k]
			if u.before {
				n *= reset[k]
			}
			n = u.f[1](u.cut(u.x[2*h+k] + n))
			hidden[k] = float64((1-z[k])*n) + float64(z[k]*hidden[k])
		}
	default: // input i, output o, forget f, cell c
		u.c.multiply(1, 4*h, h, hidden, u.rt, u.r)
		for k := range h {
			i := u.f[0](u.cut(u.x[k] + u.r[k] + float64(u.peep[k]*state[k])))
			forget := u.f[0](u.cut(u.x[2*h+k] + u.r[2*h+k] + float64(u.peep[2*h+k]*state[k])))
			if u.coupled {
				forget = 1 - i
			}
			state[k] = float64(forget*state[k]) + float64(i*u.f[1](u.cut(u.x[3*h+k]+u.r[3*h+k])))
			o := u.f[0](u.cut(u.x[h+k] + u.r[h+k] + float64(u.peep[h+k]*state[k])))
			hidden[k] = o * u.f[2](state[k])
		}
	}
}
