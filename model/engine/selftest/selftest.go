// Package selftest finds out whether an engine computes rightly on this machine, with small models whose results are
// known in closed form. A compiler of machine code or a library built for another processor may go wrong without any
// error.
package selftest

import (
	"context"
	"fmt"
	"math"
	"slices"

	"nero/data/tensor"
	"nero/model/engine"
	"nero/model/engine/provider"
	"nero/model/engine/tiny"
)

// runs is how often every model runs. The first run finds zeroed buffers and hides a result that depends on what they
// held; between two runs large values pass through the same buffers.
const runs = 3

// tolerance of a result relative to the largest value expected. Inputs and results are small integers or come from a
// formula in float64, so that only the order of float32 sums is left to differ.
const tolerance = 1e-5

// Run opens one model that holds all examples, runs it three times over memory that other values were left in, and
// returns an error that names the first wrong result. It takes about 0.05 s.
//
// On execution providers every example is a model of its own, which takes longer: what a provider does not take is left
// out, for no answer of it would be the provider's.
func Run(ctx context.Context, e engine.Engine) error {
	fail := func(err error) error { return fmt.Errorf("self-test of the engine %s: %w", name(e), err) }
	place := engine.Place(e)
	if place.Plain() {
		if err := all(ctx, e, examples()); err != nil {
			return fail(err)
		}
		return nil
	}
	place.Fallback = false
	e = engine.On(e, place)
	ran := 0
	for _, x := range examples() {
		err := all(ctx, e, []example{x})
		switch {
		case err == nil:
			ran++
		case !provider.IsFallback(err):
			return fail(err)
		}
	}
	if ran == 0 {
		return fail(fmt.Errorf("%s takes none of the models of the self-test: is its device there?", place.Names()))
	}
	return nil
}

// all holds the results of examples, which are parts of one model, against what is known of them.
func all(ctx context.Context, e engine.Engine, examples []example) error {
	model, in := join(examples)
	s, err := e.Open(ctx, model.Bytes(), engine.Options{Threads: 1})
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }() // nothing depends on it
	for r := range runs {
		if _, err := s.Run(ctx, soil(in)); err != nil {
			return err
		}
		out, err := s.Run(ctx, in)
		if err != nil {
			return err
		}
		if len(out) != len(examples) {
			return fmt.Errorf("%d outputs, want %d", len(out), len(examples))
		}
		for i, x := range examples {
			if err := x.judge(out[i].Tensor); err != nil {
				return fmt.Errorf("it computes wrongly on this machine and must not be used: %s, run %d: %w", x.name,
					r+1, err)
			}
		}
	}
	return nil
}

// join puts the graphs side by side into one model, so that one session holds them: names get a prefix.
func join(examples []example) (m tiny.Model, in []tensor.Named) {
	m.Opset = 17
	for i, x := range examples {
		prefix := func(name string) string { return fmt.Sprintf("%d.%s", i, name) }
		all := func(names []string) []string {
			p := make([]string, len(names))
			for k, n := range names {
				p[k] = prefix(n)
			}
			return p
		}
		ports := func(ports []tiny.Port) []tiny.Port {
			p := slices.Clone(ports)
			for k := range p {
				p[k].Name = prefix(p[k].Name)
			}
			return p
		}
		tensors := func(named []tensor.Named) []tensor.Named {
			t := slices.Clone(named)
			for k := range t {
				t[k].Name = prefix(t[k].Name)
			}
			return t
		}
		for _, n := range x.model.Nodes {
			n.Inputs, n.Outputs = all(n.Inputs), all(n.Outputs)
			m.Nodes = append(m.Nodes, n)
		}
		m.Inputs = append(m.Inputs, ports(x.model.Inputs)...)
		m.Outputs = append(m.Outputs, ports(x.model.Outputs)...)
		m.Constants = append(m.Constants, tensors(x.model.Constants)...)
		in = append(in, tensors(x.in)...)
	}
	return m, in
}

func name(e engine.Engine) string {
	i := e.Info()
	text := i.Name + " " + i.Version
	if i.Provider != "" {
		text += " on " + i.Provider
	}
	if i.Path != "" {
		text += " (" + i.Path + ")"
	}
	return text
}

// soil makes inputs of the same shape that leave large values of both signs behind.
func soil(in []tensor.Named) []tensor.Named {
	out := make([]tensor.Named, len(in))
	for i, x := range in {
		v := make([]float32, x.Len())
		for j := range v {
			v[j] = float32(1-j%2*2) * (1e4 + float32(37*float32(j)))
		}
		out[i] = tensor.Named{Name: x.Name, Tensor: tensor.FromFloat32(v, x.Shape...)}
	}
	return out
}

type example struct {
	name  string
	model tiny.Model
	in    []tensor.Named
	// of the only output
	want  []float64
	shape []int
}

func (c example) judge(out tensor.Tensor) error {
	if !slices.Equal(out.Shape, c.shape) {
		return fmt.Errorf("shape %v, want %v", out.Shape, c.shape)
	}
	got, err := out.Float64s(nil)
	if err != nil {
		return err
	}
	var scale float64
	for _, w := range c.want {
		scale = max(scale, math.Abs(w))
	}
	for i, w := range c.want {
		if !(math.Abs(got[i]-w) <= tolerance*scale) {
			return fmt.Errorf("element %d is %g, want %g", i, got[i], w)
		}
	}
	return nil
}
