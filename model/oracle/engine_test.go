package oracle_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"nero/data/tensor"
	"nero/model/engine"
	"nero/model/engine/choose"
	"nero/model/engine/choose/choosetest"
	"nero/model/engine/enginetest"
	"nero/model/onnx"
	"nero/model/oracle"
)

// declared turns float64 outputs into the types that the model declares, as other engines return them.
type declared struct{ engine.Engine }

type declaredSession struct {
	engine.Session
	inputs, types []tensor.DType
}

func (d declared) Open(ctx context.Context, model []byte, o engine.Options) (engine.Session, error) {
	s, err := d.Engine.Open(ctx, model, o)
	if err != nil {
		return nil, err
	}
	m, err := onnx.Load(model)
	if err != nil {
		return nil, err
	}
	out := declaredSession{Session: s}
	for _, p := range m.Signature().Inputs {
		out.inputs = append(out.inputs, p.DType)
	}
	for _, p := range m.Signature().Outputs {
		out.types = append(out.types, p.DType)
	}
	return out, nil
}

func (s declaredSession) Run(ctx context.Context, in []tensor.Named) ([]tensor.Named, error) {
	for k, x := range in { // the evaluator takes any floating-point type for another
		if k < len(s.inputs) && x.DType != s.inputs[k] {
			return nil, fmt.Errorf("input %d is %s, want %s", k, x.DType, s.inputs[k])
		}
	}
	out, err := s.Session.Run(ctx, in)
	if err != nil {
		return nil, err
	}
	for k, y := range out {
		if y.DType != tensor.Float64 {
			continue
		}
		x, err := y.Float64s(nil)
		if err != nil {
			return nil, err
		}
		d := s.types[k]
		switch {
		case d == tensor.Float32:
			f := make([]float32, len(x))
			for j, v := range x {
				f[j] = float32(v)
			}
			out[k].Tensor = tensor.FromFloat32(f, y.Shape...)
		case d.Size() == 2: // float16 and bfloat16, of values that these types hold
			t := tensor.New(d, y.Shape...)
			for j, v := range x {
				for bits := range 1 << 16 {
					t.Raw[2*j], t.Raw[2*j+1] = byte(bits), byte(bits>>8)
					one := tensor.Tensor{DType: t.DType, Shape: []int{1}, Raw: t.Raw[2*j:][:2]}
					if w, err := one.Float64s(nil); err == nil && math.Float64bits(w[0]) == math.Float64bits(v) {
						break
					}
				}
			}
			out[k].Tensor = t
		}
	}
	return out, nil
}

// The kit for engines holds but for its check of foreign files: that asks for output types to be checked when a model
// is opened, which here is done when it runs (TestOutputTypes).
func TestEngineKit(t *testing.T) {
	for _, c := range enginetest.Checks() {
		if c.Name == "foreign files" {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			if err := c.Run(t.Context(), declared{oracle.Engine(oracle.Options{})}); err != nil {
				t.Errorf("%v\n%s", err, c.Doc)
			}
		})
	}
}

// A model whose output is not of the kind that it declares is an error, and foreign bytes do not open.
func TestOutputTypes(t *testing.T) {
	b := onnx.NewBuilder(17)
	x := b.Input("x", tensor.Float32, 2)
	y := b.Op("Shape", []string{x})
	b.Output(y, tensor.Float32, 1)
	m, err := b.Model()
	if err != nil {
		t.Fatal(err)
	}
	g, err := oracle.Load(m)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := g.Run(t.Context(), []tensor.Named{{Name: "x", Tensor: noise(1, 2)}},
		oracle.Options{}); err == nil {
		t.Errorf("an int64 shape passes as float32: %v", out)
	}
	if _, err := oracle.Engine(oracle.Options{}).Open(t.Context(), []byte("no model"),
		engine.Options{}); !errors.Is(err, onnx.ErrNotModel) {
		t.Errorf("foreign bytes: %v", err)
	}
}

func TestEngineValues(t *testing.T) {
	model := enginetest.Network()
	e := oracle.Engine(oracle.Options{Values: []string{"nothing"}})
	if _, err := e.Open(t.Context(), model.Bytes(), engine.Options{}); !errors.Is(err, onnx.ErrNoValue) {
		t.Errorf("a value that the model lacks: %v", err)
	}
	m, err := onnx.Load(model.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	inner := m.Values()[0]
	s, err := oracle.Engine(oracle.Options{Values: []string{inner}}).Open(t.Context(), model.Bytes(),
		engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.Run(t.Context(), enginetest.Images(2))
	if err != nil {
		t.Fatal(err)
	}
	if names := s.Outputs(); len(out) != len(names) || out[len(out)-1].Name != inner || names[len(names)-1] != inner {
		t.Errorf("outputs %v", names)
	}
}

// engines are the bodies to compare with: the embedded one, and the native one where there is a library.
func engines(t *testing.T) []engine.Engine {
	t.Helper()
	var out []engine.Engine
	for _, kind := range []string{choose.Wasm, choose.Native} {
		if kind == choose.Wasm && testing.Short() {
			continue
		}
		c, err := choose.Open(t.Context(), choose.Request{Kind: kind}, choosetest.Host())
		if errors.Is(err, choose.ErrNoLibrary) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := c.Close(context.WithoutCancel(t.Context())); err != nil {
				t.Error(err)
			}
		})
		out = append(out, c.Engine)
	}
	return out
}

// apart is the largest difference relative to the largest expected element, over all outputs. Elements that are not
// finite must be the same.
func apart(got, want []tensor.Named) (float64, error) {
	if len(got) != len(want) {
		return 0, fmt.Errorf("%d outputs, want %d", len(got), len(want))
	}
	worst := 0.0
	for k, w := range want {
		g := got[k]
		if g.Name != w.Name || !slices.Equal(g.Shape, w.Shape) {
			return 0, fmt.Errorf("output %q%v, want %q%v", g.Name, g.Shape, w.Name, w.Shape)
		}
		a, err := g.Float64s(nil)
		if err != nil {
			return 0, err
		}
		b, err := w.Float64s(nil)
		if err != nil {
			return 0, err
		}
		scale, diff := 0.0, 0.0
		for j := range b {
			if a[j] == b[j] || math.IsNaN(a[j]) && math.IsNaN(b[j]) {
				scale = max(scale, math.Abs(b[j]))
				continue
			}
			d := math.Abs(a[j] - b[j])
			if math.IsNaN(d) || math.IsInf(d, 0) {
				return 0, fmt.Errorf("output %q, element %d is %g, want %g", w.Name, j, a[j], b[j])
			}
			scale, diff = max(scale, math.Abs(b[j])), max(diff, d)
		}
		if diff > 0 {
			worst = max(worst, diff/scale)
		}
	}
	return worst, nil
}

// noise makes n normal numbers.
func noise(seed uint64, shape ...int) tensor.Tensor {
	r := rand.New(rand.NewPCG(seed, 1))
	x := make([]float32, tensor.Count(shape))
	for k := range x {
		x[k] = float32(r.NormFloat64())
	}
	return tensor.FromFloat32(x, shape...)
}

// The models that come with the program agree with every engine, and rounding to float32 explains the difference.
func TestDigitsAgainstEngines(t *testing.T) {
	es := engines(t)
	for _, name := range []string{"original", "augmented", "c4"} {
		m, err := onnx.Read("../../studies/digits/models/digits-" + name + ".onnx")
		if err != nil {
			t.Fatal(err)
		}
		b, err := m.Edit().Bytes()
		if err != nil {
			t.Fatal(err)
		}
		g, err := oracle.Load(m)
		if err != nil {
			t.Fatal(err)
		}
		in := []tensor.Named{{Name: g.Inputs()[0], Tensor: noise(1, 3, 1, 28, 28)}}
		exact, err := g.Run(t.Context(), in, oracle.Options{})
		if err != nil {
			t.Fatal(err)
		}
		rounded, err := g.Run(t.Context(), in, oracle.Options{Round: oracle.Float32})
		if err != nil {
			t.Fatal(err)
		}
		if d, err := apart(rounded, exact); err != nil || !(d <= 1e-6) || d == 0 {
			t.Errorf("%s rounded to float32 is %g from float64, %v", name, d, err)
		}
		for _, e := range es {
			s, err := e.Open(t.Context(), b, engine.Options{Threads: 1})
			if err != nil {
				t.Fatal(err)
			}
			got, err := s.Run(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			d, err := apart(got, exact)
			if err != nil || !(d <= 1e-6) || d == 0 {
				t.Errorf("%s on %s: %g apart, %v", name, e.Info().Name, d, err)
			}
			dr, err := apart(got, rounded)
			if err != nil || !(dr <= 1e-6) {
				t.Errorf("%s on %s: %g from the result rounded to float32, %v", name, e.Info().Name, dr, err)
			}
			t.Logf("%s on %s: %.2g from float64, %.2g from rounded", name, e.Info().Name, d, dr)
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

func BenchmarkDigits(b *testing.B) {
	for _, name := range []string{"original", "c4"} {
		for _, p := range []oracle.Precision{oracle.Float64, oracle.Float32, oracle.Float16} {
			b.Run(name+"/"+p.String(), func(b *testing.B) {
				m, err := onnx.Read("../../studies/digits/models/digits-" + name + ".onnx")
				if err != nil {
					b.Fatal(err)
				}
				g, err := oracle.Load(m)
				if err != nil {
					b.Fatal(err)
				}
				in := []tensor.Named{{Name: g.Inputs()[0], Tensor: noise(1, 16, 1, 28, 28)}}
				for b.Loop() {
					if _, err := g.Run(b.Context(), in, oracle.Options{Round: p}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(16*b.N)/b.Elapsed().Seconds(), "samples/s")
			})
		}
	}
}
