// Package builtin holds classical methods that the program brings itself, to compare models with: a study names one in
// place of a file, as in builtin:piv?window=16. A method is a value of [Method] in a file of its own and a line in
// [Methods].
//
// The same input has the same answer on every processor: products are rounded before they are added up, and there is no
// chance.
package builtin

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"nero/data/tensor"
	"nero/internal/spell"
	"nero/model/engine"
	"nero/model/onnx"
)

// Prefix is what a text begins with that names a method where a model is wanted.
const Prefix = "builtin:"

// Method finds the displacement between two pictures, at every pixel and at mid-time.
type Method struct {
	Name string
	// Doc says what it does, where that is published, and what it does not see.
	Doc    string
	Params []Param
	// Number is raised whenever a change of the code changes answers.
	Number int
	// New prepares it for values of all its parameters, in their order.
	New func(v []float64) (Solve, error)
}

// Param is a number that a method can be told.
type Param struct {
	Name string
	// Doc has the unit.
	Doc                  string
	Default, Least, Most float64
	// Whole numbers alone, even ones alone.
	Whole, Even bool
}

// Solve is a method at work. Many goroutines may call it at once.
type Solve func(ctx context.Context, a, b *Picture) (*Field, error)

// Picture is one frame: grey levels, row by row.
type Picture struct {
	H, W int
	Pix  []float64
}

// Field is a displacement at every pixel, in px: U along columns, V along rows, down.
type Field struct {
	U, V []float64
}

// Methods are those that the program brings.
func Methods() []*Method { return []*Method{piv, blocks} }

// Model is a method with its parameters, as a model: it reads pair, float32 [N, 2, H, W], and returns flow, of the same
// form.
type Model struct {
	method *Method
	text   string
	values []float64
	solve  Solve
}

// Parse reads what comes after [Prefix]: NAME or NAME?PARAMETER=NUMBER&PARAMETER=NUMBER.
func Parse(text string) (*Model, error) {
	name, query, _ := strings.Cut(text, "?")
	methods := Methods()
	i := slices.IndexFunc(methods, func(m *Method) bool { return m.Name == name })
	if i < 0 {
		names := make([]string, len(methods))
		for i, m := range methods {
			names[i] = m.Name
		}
		near := ""
		if s, ok := spell.Nearest(name, names); ok {
			near = "; did you mean " + s + "?"
		}
		return nil, fmt.Errorf("there is no built-in method %q; expected one of %s%s", name, strings.Join(names, ", "),
			near)
	}
	m := &Model{method: methods[i], text: Prefix + text}
	given, err := url.ParseQuery(query)
	if err != nil {
		return nil, fmt.Errorf("%q: expected NAME?PARAMETER=NUMBER&PARAMETER=NUMBER, such as piv?window=16", text)
	}
	for _, p := range m.method.Params {
		v := p.Default
		if all := given[p.Name]; len(all) > 0 {
			x, err := strconv.ParseFloat(all[0], 64)
			if err != nil || len(all) > 1 {
				return nil, fmt.Errorf("%s: %s is %q; expected one number", name, p.Name, strings.Join(all, ", "))
			}
			v = x
		}
		if err := p.check(v); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		m.values = append(m.values, v)
		delete(given, p.Name)
	}
	if len(given) > 0 {
		names := make([]string, len(m.method.Params))
		for i, p := range m.method.Params {
			names[i] = p.Name
		}
		return nil, fmt.Errorf("%s has no parameter %q; expected one of %s", name,
			slices.Min(slices.Collect(maps.Keys(given))), strings.Join(names, ", "))
	}
	if m.solve, err = m.method.New(m.values); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return m, nil
}

// check holds a value against what the parameter can be.
func (p Param) check(v float64) error {
	switch {
	case !(v >= p.Least && v <= p.Most):
		return fmt.Errorf("%s is %g; expected %g to %g", p.Name, v, p.Least, p.Most)
	case p.Whole && v != math.Trunc(v):
		return fmt.Errorf("%s is %g; expected a whole number", p.Name, v)
	case p.Even && math.Mod(v, 2) != 0:
		return fmt.Errorf("%s is %g; expected an even number, so that mirrors take windows to windows",
			p.Name, v)
	}
	return nil
}

// Names of the one input and the one output.
const (
	input  = "pair"
	output = "flow"
)

// Signature is what the method reads and returns.
func (m *Model) Signature() onnx.Signature {
	free := onnx.Dim{Size: -1}
	port := func(name string) onnx.Port {
		return onnx.Port{
			Name: name, Kind: "tensor", DType: tensor.Float32, Ranked: true,
			Shape: []onnx.Dim{free, {Size: 2}, free, free},
		}
	}
	return onnx.Signature{
		Producer: "nero", Graph: m.method.Name, Inputs: []onnx.Port{port(input)}, Outputs: []onnx.Port{port(output)},
	}
}

// Place is what a study calls it.
func (m *Model) Place() string { return m.text }

// Notes are none.
func (m *Model) Notes() []string { return nil }

// Fingerprint tells the method with these parameters from another one. It repeats itself.
func (m *Model) Fingerprint(context.Context, []tensor.Named) (digest string, repeats bool, err error) {
	h := sha256.New()
	h.Write(fmt.Appendf(nil, "%s %d %v\n", m.method.Name, m.method.Number, m.values))
	return hex.EncodeToString(h.Sum(nil)), true, nil
}

// Close does nothing.
func (m *Model) Close() error { return nil }

// Engine is the method as an engine that opens nothing else.
func (m *Model) Engine() engine.Engine { return body{m} }

type body struct{ m *Model }

func (b body) Info() engine.Info {
	return engine.Info{
		Name: "builtin", Version: strconv.Itoa(b.m.method.Number), Path: b.m.text,
		Reason: "the study names a built-in method",
	}
}

func (b body) Concurrent() bool { return true }

// Open returns the method; it has no file, so model must be empty.
func (b body) Open(ctx context.Context, model []byte, _ engine.Options) (engine.Session, error) {
	if len(model) > 0 {
		return nil, errors.New("a built-in method takes no file")
	}
	return &session{m: b.m}, ctx.Err()
}

type session struct{ m *Model }

func (*session) Inputs() []string  { return []string{input} }
func (*session) Outputs() []string { return []string{output} }
func (*session) Close() error      { return nil }

// Run finds the field of every pair. That of a pair with a pixel that is not finite is NaN everywhere: no method says
// anything of it, and an answer that looks like one would be trusted.
func (s *session) Run(ctx context.Context, in []tensor.Named) ([]tensor.Named, error) {
	if err := engine.CheckInputs(s.Inputs(), in); err != nil {
		return nil, err
	}
	x := in[0]
	if x.DType != tensor.Float32 || len(x.Shape) != 4 || x.Shape[1] != 2 {
		return nil, fmt.Errorf("the input %s is %s %v; %s reads float32 [N 2 H W], the two frames of a pair in grey",
			input, x.DType, x.Shape, s.m.method.Name)
	}
	h, w := x.Shape[2], x.Shape[3]
	pix, err := x.Float64s(nil)
	if err != nil {
		return nil, err
	}
	y := tensor.New(tensor.Float32, x.Shape...)
	size := h * w
	for i := range x.Shape[0] {
		at := 2 * i * size
		if !finite(pix[at : at+2*size]) {
			for k := range 2 * size {
				binary.LittleEndian.PutUint32(y.Raw[4*(at+k):], math.Float32bits(float32(math.NaN())))
			}
			continue
		}
		f, err := s.m.solve(ctx, &Picture{h, w, pix[at : at+size]}, &Picture{h, w, pix[at+size : at+2*size]})
		if err != nil {
			return nil, err
		}
		for c, part := range [][]float64{f.U, f.V} {
			for k, v := range part {
				binary.LittleEndian.PutUint32(y.Raw[4*(at+c*size+k):], math.Float32bits(float32(v)))
			}
		}
	}
	return []tensor.Named{{Name: output, Tensor: y}}, nil
}

func finite(xs []float64) bool {
	for _, x := range xs {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return false
		}
	}
	return true
}
