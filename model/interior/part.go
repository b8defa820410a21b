package interior

import (
	"context"
	"fmt"
	"slices"

	"nero/data/tensor"
	"nero/model/onnx"
	"nero/model/onnx/jvp"
)

// Push carries tangents from one cut of the graph to another: for every sample, how the values to begin to move when
// the values from move along the tangents given for them. Unlike with [Model.Push], the values from are independent of
// each other, whatever depends on what in the model: a perturbation of one of them reaches the others only by way of
// tangents of their own. Tangents of values that hold no floating-point numbers are not read, and such values do not
// move; an array without numbers stands for zero.
//
// The error holds a *[jvp.UnsupportedError] if an operator on the way has no derivative here.
func (p *Part) Push(ctx context.Context, in, tangent [][]Array) ([][]Array, error) {
	m := p.m
	if len(tangent) != len(in) {
		return nil, fmt.Errorf("%s: %d samples and tangents for %d", m.onnx.Name(), len(in), len(tangent))
	}
	types := m.onnx.Types()
	floats := func(n string) bool {
		d := types[n]
		return d == tensor.Float16 || d == tensor.BFloat16 || d == tensor.Float32 || d == tensor.Float64
	}
	out := make([][]Array, len(in))
	full := make([][]Array, len(in))
	for i := range in {
		if len(in[i]) != len(p.from) || len(tangent[i]) != len(p.from) {
			return nil, fmt.Errorf("%s: sample %d has %d arrays and %d tangents for the %d values %q", m.onnx.Name(), i,
				len(in[i]), len(tangent[i]), len(p.from), p.from)
		}
		full[i] = make([]Array, len(p.from))
		for k, t := range tangent[i] {
			full[i][k] = t
			if t.Val == nil || !floats(p.from[k]) {
				full[i][k] = zero(in[i][k])
			}
		}
		out[i] = make([]Array, len(p.to))
		for k, n := range p.to {
			if j := slices.Index(p.from, n); j >= 0 {
				out[i][k] = full[i][j]
			}
		}
	}
	if p.g == nil || len(in) == 0 {
		return out, nil
	}
	names := append(slices.Clone(p.from), p.to...)
	if err := m.findPlans(ctx, names); err != nil {
		return nil, err
	}
	var wanted []string // values that are computed and move
	var at []int
	still := map[int]bool{}
	for _, k := range p.at {
		if floats(p.to[k]) {
			wanted, at = append(wanted, p.to[k]), append(at, k)
		} else {
			still[k] = true
		}
	}
	if len(still) > 0 {
		values, err := p.Run(ctx, in)
		if err != nil {
			return nil, err
		}
		for i := range out {
			for k := range still {
				out[i][k] = zero(values[i][k])
			}
		}
	}
	if len(wanted) == 0 {
		return out, nil
	}
	if err := p.forward(floats, wanted); err != nil {
		return nil, err
	}
	err := m.each(ctx, spans(in, m.size(names)), func(ctx context.Context, s span) error {
		got, rows, err := p.differentiate(ctx, in[s.lo:s.hi], full[s.lo:s.hi])
		if err != nil {
			return err
		}
		return m.scatter(out, got, wanted, at, s, rows)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// zero is an array of zeros of the same shape.
func zero(a Array) Array { return Array{Shape: a.Shape, Val: make([]float64, len(a.Val))} }

// forward makes the graph that carries tangents along; it is kept until the part is closed.
func (p *Part) forward(floats func(string) bool, wanted []string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.d != nil {
		return nil
	}
	var moving []string
	for _, f := range p.g.feeds {
		if floats(f.Name) {
			moving = append(moving, f.Name)
		}
	}
	var from []string
	for _, k := range p.run {
		from = append(from, p.from[k])
	}
	part, err := p.m.onnx.Extract(from, wanted)
	if err != nil {
		return err
	}
	r, err := jvp.Build(part, jvp.Request{Tangents: moving, Outputs: wanted})
	if err != nil {
		return err
	}
	sig := part.Signature()
	p.d = &graph{
		encode: r.Model.Bytes, size: r.Model.Size(), feeds: slices.Clone(sig.Inputs),
		outputs: append(onnx.Names(sig.Outputs), r.Tangents...), extra: r.Inputs, results: r.Tangents,
	}
	for k, name := range r.Inputs {
		port := sig.Inputs[slices.IndexFunc(sig.Inputs, func(q onnx.Port) bool { return q.Name == moving[k] })]
		port.Name = name
		p.d.feeds = append(p.d.feeds, port)
	}
	p.moving = moving
	return nil
}

// differentiate runs a batch through the graph that carries tangents along.
func (p *Part) differentiate(ctx context.Context, in, tangent [][]Array) ([]tensor.Named, int, error) {
	m, rows := p.m, p.m.rows(len(in))
	feeds := make([]tensor.Named, len(p.d.feeds))
	for i, port := range p.d.feeds {
		var err error
		if k := slices.Index(p.d.extra, port.Name); k >= 0 {
			value := port
			value.Name = p.moving[k]
			feeds[i], err = m.column(value, tangent, slices.Index(p.from, value.Name), rows, withZeros)
			feeds[i].Name = port.Name
		} else {
			feeds[i], err = m.column(port, in, slices.Index(p.from, port.Name), rows, withLast)
		}
		if err != nil {
			return nil, 0, err
		}
	}
	out, err := m.run(ctx, p.d, feeds)
	if err != nil {
		return nil, 0, err
	}
	got := make([]tensor.Named, len(p.d.results))
	for k, name := range p.d.results {
		i := slices.IndexFunc(out, func(t tensor.Named) bool { return t.Name == name })
		if i < 0 {
			return nil, 0, fmt.Errorf("%s: the body did not return the derivative %q", m.onnx.Name(), name)
		}
		got[k] = out[i]
	}
	return got, rows, nil
}
