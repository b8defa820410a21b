// Package enginetest is the kit that every engine must pass: what models compute, what happens with wrong input, and
// that one call leaves nothing behind that the next one could see.
package enginetest

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"nero/data/tensor"
	"nero/model/engine"
	"nero/model/engine/tiny"
)

// Check is one requirement. Run returns an error that says how the engine falls short.
type Check struct {
	Name string
	Doc  string
	Run  func(ctx context.Context, e engine.Engine) error
}

// Run holds an engine against every check, each as a subtest.
func Run(t *testing.T, e engine.Engine) {
	t.Helper()
	t.Logf("%+v", e.Info())
	for _, c := range Checks() {
		t.Run(c.Name, func(t *testing.T) {
			if err := c.Run(t.Context(), e); err != nil {
				t.Errorf("%v\n%s", err, c.Doc)
			}
		})
	}
}

// Checks lists all requirements.
func Checks() []Check {
	return []Check{
		{"info", "Info names the body and its version.", info},
		{"operators", "Models of a few operators give the results that the ONNX specification defines, three times " +
			"over dirty memory.", operators},
		{
			"unused values",
			"Values that nothing uses do not disturb the others, in the first run as in the later ones.",
			unused,
		},
		{"types", "Every element type passes through unchanged.", types},
		{"ports", "Inputs and outputs keep the model's order; initializers listed as inputs are not inputs.", ports},
		{"refusals", "Wrong inputs are errors, and the session goes on giving right results.", refusals},
		{
			"failures", "A model that fails while it runs is an error, and the session goes on giving right results.",
			failures,
		},
		{"foreign files", "What is not a model is an error that says something, and the engine goes on.", foreign},
		{
			"memory", "Results do not share memory with the session or with each other, and inputs are not changed.",
			memory,
		},
		{"unaligned input", "The bytes of an input may lie at any address.", unaligned},
		{"repeats", "The same input gives the same bytes however often and whatever ran in between.", repeats},
		{"batches", "A sample's result does not depend on the batch it is in.", batches},
		{"no optimization", "Options.Plain changes results by rounding only.", plain},
		{"goroutines", "One session on many goroutines if Concurrent, else one session for each, gives what one " +
			"goroutine gives.", goroutines},
		{"context", "An ended context is returned as the error.", ended},
		{"close", "Close may be called twice; a closed session refuses to run.", closing},
	}
}

func info(_ context.Context, e engine.Engine) error {
	if i := e.Info(); i.Name == "" || i.Version == "" {
		return fmt.Errorf("incomplete: %+v", i)
	}
	return nil
}

// with opens a model for the time of f.
func with(ctx context.Context, e engine.Engine, m tiny.Model, o engine.Options,
	f func(engine.Session) error,
) (err error) {
	s, err := e.Open(ctx, m.Bytes(), o)
	if err != nil {
		return fmt.Errorf("open: %w", err)
	}
	defer func() {
		if closeErr := s.Close(); err == nil {
			err = closeErr
		}
	}()
	return f(s)
}

// expect runs once and compares.
func expect(ctx context.Context, s engine.Session, in, want []tensor.Named, tolerance float64) error {
	got, err := s.Run(ctx, in)
	if err != nil {
		return fmt.Errorf("run: %w", err)
	}
	return Compare(got, want, tolerance)
}

// Compare checks names, types, shapes and, relative to the largest expected value of each tensor, elements. NaN equals
// NaN.
func Compare(got, want []tensor.Named, tolerance float64) error {
	if len(got) != len(want) {
		return fmt.Errorf("%d outputs, want %d", len(got), len(want))
	}
	for i, w := range want {
		g := got[i]
		if g.Name != w.Name || g.DType != w.DType || !slices.Equal(g.Shape, w.Shape) {
			return fmt.Errorf("output %d is %q %s%v, want %q %s%v", i, g.Name, g.DType, g.Shape, w.Name, w.DType,
				w.Shape)
		}
		a, err := g.Float64s(nil)
		if err != nil {
			return fmt.Errorf("output %q: %w", g.Name, err)
		}
		b, err := w.Float64s(nil)
		if err != nil {
			return err
		}
		var scale float64
		for _, v := range b {
			if !math.IsInf(v, 0) && !math.IsNaN(v) {
				scale = max(scale, math.Abs(v))
			}
		}
		for j := range b {
			same := a[j] == b[j] || math.IsNaN(a[j]) && math.IsNaN(b[j]) || math.Abs(a[j]-b[j]) <= tolerance*scale
			if !same {
				return fmt.Errorf("output %q, element %d: %g, want %g", w.Name, j, a[j], b[j])
			}
		}
	}
	return nil
}

// number makes a tensor of any type from float64 values that the type can hold.
func number(name string, d tensor.DType, values []float64, shape ...int) tensor.Named {
	t := tensor.New(d, shape...)
	for i, v := range values {
		put(t, i, v)
	}
	return tensor.Named{Name: name, Tensor: t}
}

func floats(name string, values []float64, shape ...int) tensor.Named {
	return number(name, tensor.Float32, values, shape...)
}

// ports of a model that fit to tensors, with free axes where the shape says so.
func port(name string, d tensor.DType, shape ...int) tiny.Port {
	return tiny.Port{Name: name, DType: d, Shape: shape}
}

func portsOf(ts []tensor.Named) []tiny.Port {
	ps := make([]tiny.Port, len(ts))
	for i, t := range ts {
		ps[i] = port(t.Name, t.DType, t.Shape...)
	}
	return ps
}

func node(op string, in, out []string, attrs ...tiny.Attr) tiny.Node {
	return tiny.Node{Op: op, Inputs: in, Outputs: out, Attrs: attrs}
}

func attr(name string, v any) tiny.Attr { return tiny.Attr{Name: name, Value: v} }

// soil runs a session on large values of both signs in the shapes of in, so that its buffers are full of them. Errors
// do not matter here: indices, for one, will be out of range.
func soil(ctx context.Context, s engine.Session, in []tensor.Named) {
	dirty := make([]tensor.Named, len(in))
	for i, x := range in {
		t := tensor.New(x.DType, x.Shape...)
		for j := range t.Len() {
			put(t, j, float64((1-j%2*2)*(100+j%20)))
		}
		dirty[i] = tensor.Named{Name: x.Name, Tensor: t}
	}
	_, _ = s.Run(ctx, dirty)
}
