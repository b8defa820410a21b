package interior

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"nero/data/space"
	"nero/data/tensor"
	"nero/model/decode"
	"nero/model/onnx"
)

// dtype is the element type in which a port is fed.
func (m *Model) dtype(p onnx.Port) tensor.DType {
	d := p.DType
	if d == tensor.Undefined {
		d = tensor.Float32
	}
	if m.o.Double && (d == tensor.Float32 || d == tensor.Float16 || d == tensor.BFloat16) {
		return tensor.Float64
	}
	return d
}

// rows is how many samples a batch holds that carries n.
func (m *Model) rows(n int) int {
	if m.o.Fixed > 0 {
		return m.o.Fixed
	}
	return n
}

// feed runs a graph on the samples of one batch; the feeds of the graph are those of the samples, in order.
func (m *Model) feed(ctx context.Context, g *graph, samples [][]Array, rows int) ([]tensor.Named, error) {
	in := make([]tensor.Named, 0, len(g.feeds))
	for k, port := range g.feeds {
		t, err := m.column(port, samples, k, rows, withLast)
		if err != nil {
			return nil, err
		}
		in = append(in, t)
	}
	return m.run(ctx, g, in)
}

// run feeds one batch and names the model in errors.
func (m *Model) run(ctx context.Context, g *graph, in []tensor.Named) ([]tensor.Named, error) {
	out, err := m.pool.run(ctx, g, in)
	if err != nil {
		return nil, fmt.Errorf("%s on %s: %w", m.onnx.Name(), m.o.Body, err)
	}
	if len(out) < len(g.outputs) {
		return nil, fmt.Errorf("%s on %s returned %d values of %d", m.onnx.Name(), m.o.Body, len(out), len(g.outputs))
	}
	return out, nil
}

// column stacks the k-th array of every sample.
func (m *Model) column(port onnx.Port, samples [][]Array, k, rows int, fill filling) (tensor.Named, error) {
	p, ok := m.planOf(port.Name)
	if !ok {
		return tensor.Named{}, fmt.Errorf("%s: nothing is known of the value %q yet", m.onnx.Name(), port.Name)
	}
	arrays := make([]Array, len(samples))
	for i, s := range samples {
		if k >= len(s) {
			return tensor.Named{}, fmt.Errorf("%s: sample %d has %d arrays, want one for %q too", m.onnx.Name(), i,
				len(s), port.Name)
		}
		arrays[i] = s[k]
	}
	return p.stack(port.Name, arrays, rows, fill, m.dtype(port))
}

// span is a run of samples that go through the graph together.
type span struct{ lo, hi int }

// spans cut the samples into batches; samples of another shape begin a new one.
func spans(in [][]Array, size int) []span {
	var list []span
	alike := func(a, b []Array) bool {
		return slices.EqualFunc(a, b, func(x, y Array) bool { return slices.Equal(x.Shape, y.Shape) })
	}
	for i := range in {
		if n := len(list); n > 0 && list[n-1].hi-list[n-1].lo < size && alike(in[i], in[list[n-1].lo]) {
			list[n-1].hi++
			continue
		}
		list = append(list, span{i, i + 1})
	}
	return list
}

// each calls f for every span, on up to the model's number of goroutines. The cut does not depend on that number, so
// neither do the results.
func (m *Model) each(ctx context.Context, list []span, f func(context.Context, span) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(m.o.Workers)
	for _, s := range list {
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return f(ctx, s)
		})
	}
	return g.Wait()
}

// size is how many samples can go together when these values are asked for.
func (m *Model) size(names []string) int {
	for _, n := range names {
		if p, ok := m.planOf(n); !ok || p.whole {
			return 1
		}
	}
	return m.o.Batch
}

// cut is the graph between values.
func (m *Model) cut(from, to []string) (*graph, error) {
	part, err := m.onnx.Extract(from, to)
	if err != nil {
		return nil, err
	}
	return graphOf(part)
}

// graphOf makes a graph out of a model.
func graphOf(m *onnx.Model) (*graph, error) {
	sig := m.Signature()
	return &graph{encode: m.Bytes, size: m.Size(), feeds: sig.Inputs, outputs: onnx.Names(sig.Outputs)}, nil
}

// prefix is the graph from the inputs to the values; it is kept for the next time.
func (m *Model) prefix(names []string) (*graph, error) {
	return m.pool.graph("values\x00"+strings.Join(names, "\x00"),
		func() (*graph, error) { return m.cut(m.Inputs(), names) })
}

// plain is the graph of the model itself.
func (m *Model) plain() (*graph, error) {
	return m.pool.graph("model", func() (*graph, error) { return graphOf(m.onnx) })
}

// Predict runs the model on values, and decodes as its codec does.
func (m *Model) Predict(ctx context.Context, values []space.Value) ([]space.Value, error) {
	g, err := m.plain()
	if err != nil {
		return nil, err
	}
	var list []span
	for i := range values {
		n := len(list)
		if n > 0 && list[n-1].hi-list[n-1].lo < m.o.Batch &&
			slices.Equal(values[i].Dims(), values[list[n-1].lo].Dims()) {
			list[n-1].hi++
			continue
		}
		list = append(list, span{i, i + 1})
	}
	out := make([]space.Value, len(values))
	err = m.each(ctx, list, func(ctx context.Context, s span) error {
		batch := m.fill(values[s.lo:s.hi])
		in, err := m.codec.Encode(batch, nil)
		if err != nil {
			return fmt.Errorf("%s: input: %w", m.onnx.Name(), err)
		}
		raw, err := m.whole(ctx, g, in)
		if err != nil {
			return err
		}
		got, err := decode.DecodeFor(m.codec, raw, batch)
		if err != nil {
			return fmt.Errorf("%s: output: %w", m.onnx.Name(), err)
		}
		copy(out[s.lo:s.hi], got)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// whole runs the model itself, on the session that others have of it where there is one: a large model is not opened
// twice.
func (m *Model) whole(ctx context.Context, g *graph, in []tensor.Named) ([]tensor.Named, error) {
	if m.o.Own == nil {
		return m.run(ctx, g, in)
	}
	s, err := m.o.Own.Get(ctx)
	if err != nil {
		return nil, err
	}
	defer m.o.Own.Put(s)
	out, err := s.Run(ctx, in)
	if err != nil {
		return nil, fmt.Errorf("%s on %s: %w", m.onnx.Name(), m.o.Body, err)
	}
	return out, nil
}

// fill pads a batch to a fixed length with its last value.
func (m *Model) fill(batch []space.Value) []space.Value {
	if n := len(batch); n < m.o.Fixed {
		return append(slices.Clone(batch), slices.Repeat(batch[n-1:], m.o.Fixed-n)...)
	}
	return batch
}

// Arrays are the inputs of the graph as the codec lays them out: per sample, per input.
func (m *Model) Arrays(ctx context.Context, values []space.Value) ([][]Array, error) {
	out := make([][]Array, len(values))
	for i, v := range values {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		batch := m.fill([]space.Value{v})
		in, err := m.codec.Encode(batch, nil)
		if err != nil {
			return nil, fmt.Errorf("%s: input: %w", m.onnx.Name(), err)
		}
		if len(in) != len(m.inputs) {
			return nil, fmt.Errorf("%s: the codec makes %d inputs, the model reads %d", m.onnx.Name(), len(in),
				len(m.inputs))
		}
		for _, t := range in {
			p, ok := m.planOf(t.Name)
			if !ok {
				return nil, fmt.Errorf("%s: the codec makes %q, which is no input", m.onnx.Name(), t.Name)
			}
			a, err := p.split(t, len(batch), 1)
			if err != nil {
				return nil, err
			}
			out[i] = append(out[i], a[0])
		}
	}
	m.remember(out)
	return out, nil
}

// Values runs the graph as far as it is needed and returns values of it: per sample, per name. Inputs, inner values and
// outputs have names. Ask for few at a time where they are large, and for few samples: all that is returned is held in
// memory.
func (m *Model) Values(ctx context.Context, in [][]Array, names []string) ([][]Array, error) {
	out := make([][]Array, len(in))
	for i := range out {
		if len(in[i]) != len(m.inputs) {
			return nil, fmt.Errorf("%s: sample %d has %d arrays for %d inputs", m.onnx.Name(), i, len(in[i]),
				len(m.inputs))
		}
		out[i] = make([]Array, len(names))
	}
	m.remember(in)
	inputs := m.Inputs()
	var run []string
	var at []int // in names
	for k, n := range names {
		if j := slices.Index(inputs, n); j >= 0 {
			for i := range out {
				out[i][k] = in[i][j]
			}
			continue
		}
		run, at = append(run, n), append(at, k)
	}
	if len(run) == 0 || len(in) == 0 {
		return out, nil
	}
	g, err := m.prefix(run)
	if err != nil {
		return nil, err
	}
	if err := m.findPlans(ctx, run); err != nil {
		return nil, err
	}
	err = m.each(ctx, spans(in, m.size(run)), func(ctx context.Context, s span) error {
		rows := m.rows(s.hi - s.lo)
		got, err := m.feed(ctx, g, in[s.lo:s.hi], rows)
		if err != nil {
			return err
		}
		return m.scatter(out, got, run, at, s, rows)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// scatter takes the values of a batch apart.
func (m *Model) scatter(out [][]Array, got []tensor.Named, names []string, at []int, s span, rows int) error {
	for j, name := range names {
		p, _ := m.planOf(name)
		arrays, err := p.split(got[j], rows, s.hi-s.lo)
		if err != nil {
			return fmt.Errorf("%s: %w", m.onnx.Name(), err)
		}
		for i, a := range arrays {
			out[s.lo+i][at[j]] = a
		}
	}
	return nil
}

// Part is the graph between some values and others. Close it after use.
type Part struct {
	m        *Model
	g        *graph
	from, to []string
	// places in to that the graph computes, and of from that it reads
	at, run []int

	mu sync.Mutex
	// carries tangents along; nil until it is needed
	d *graph
	// values whose tangents it reads, in the order of its extra feeds
	moving []string
}

// Part is the part of the model that computes the values to from the values from, which must decide them: an error
// names the input that they also depend on. Values that are in both are handed through.
func (m *Model) Part(ctx context.Context, from, to []string) (*Part, error) {
	p := &Part{m: m, from: slices.Clone(from), to: slices.Clone(to)}
	var out []string
	for k, n := range to {
		if !slices.Contains(from, n) {
			out, p.at = append(out, n), append(p.at, k)
		}
	}
	m.mu.Lock()
	known := m.sample != nil
	m.mu.Unlock()
	if known {
		if err := m.findPlans(ctx, append(slices.Clone(from), to...)); err != nil {
			return nil, err
		}
	}
	if len(out) == 0 {
		return p, nil
	}
	g, err := m.cut(from, out)
	if err != nil {
		return nil, err
	}
	p.g = g
	for _, f := range g.feeds {
		p.run = append(p.run, slices.Index(from, f.Name))
	}
	return p, nil
}

// Run computes the values of each sample from those given for it, in the order of from.
func (p *Part) Run(ctx context.Context, in [][]Array) ([][]Array, error) {
	m := p.m
	out := make([][]Array, len(in))
	for i := range in {
		if len(in[i]) != len(p.from) {
			return nil, fmt.Errorf("%s: sample %d has %d arrays for the %d values %q", m.onnx.Name(), i, len(in[i]),
				len(p.from), p.from)
		}
		out[i] = make([]Array, len(p.to))
		for k, n := range p.to {
			if j := slices.Index(p.from, n); j >= 0 {
				out[i][k] = in[i][j]
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
	computed := make([]string, len(p.at))
	for j, k := range p.at {
		computed[j] = p.to[k]
	}
	err := m.each(ctx, spans(in, m.size(names)), func(ctx context.Context, s span) error {
		rows := m.rows(s.hi - s.lo)
		feeds := make([]tensor.Named, len(p.g.feeds))
		for k, port := range p.g.feeds {
			t, err := m.column(port, in[s.lo:s.hi], p.run[k], rows, withLast)
			if err != nil {
				return err
			}
			feeds[k] = t
		}
		got, err := m.run(ctx, p.g, feeds)
		if err != nil {
			return err
		}
		return m.scatter(out, got, computed, p.at, s, rows)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Close closes what the part has open.
func (p *Part) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var errs []error
	for _, g := range []*graph{p.g, p.d} {
		if g != nil {
			errs = append(errs, p.m.pool.forget(g))
		}
	}
	p.d = nil
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("%s: %w", p.m.onnx.Name(), err)
	}
	return nil
}
