package jvp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"nero/data/tensor"
	"nero/model/engine"
	"nero/model/engine/choose"
	"nero/model/engine/choose/choosetest"
	"nero/model/onnx"
	"nero/model/onnx/jvp"
)

// bodies are the engines of this machine, opened once.
var bodies = map[string]func() (choose.Choice, error){
	choose.Wasm:   opener(choose.Wasm),
	choose.Native: opener(choose.Native), choose.Auto: opener(choose.Auto),
}

func opener(kind string) func() (choose.Choice, error) {
	return sync.OnceValues(func() (choose.Choice, error) {
		return choose.Open(context.Background(), choose.Request{Kind: kind}, choosetest.Host())
	})
}

func body(t rapid.TB, kind string) engine.Engine {
	t.Helper()
	e, err := bodies[kind]()
	if errors.Is(err, choose.ErrNoLibrary) {
		t.Skip("no native engine on this machine")
	}
	if err != nil {
		t.Fatal(err)
	}
	return e
}

type values map[string]tensor.Tensor

// run feeds a model by name and adds what it returns to v.
func run(t rapid.TB, e engine.Engine, model []byte, v values) {
	t.Helper()
	s, err := e.Open(context.Background(), model, engine.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	var in []tensor.Named
	for _, name := range s.Inputs() {
		if _, ok := v[name]; !ok {
			t.Fatalf("nothing to feed to %q", name)
		}
		in = append(in, tensor.Named{Name: name, Tensor: v[name]})
	}
	out, err := s.Run(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range out {
		v[o.Name] = o.Tensor
	}
}

// build is Build for requests that must work.
func build(t rapid.TB, m *onnx.Model, r jvp.Request) *jvp.Result {
	t.Helper()
	res, err := jvp.Build(m, r)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func floats(t rapid.TB, x tensor.Tensor) []float64 {
	t.Helper()
	f, err := x.Float64s(nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// distance is the largest difference of two tensors, relative to the largest element of the second, or to floor if that
// is more. Another shape or a number that is not finite is infinitely far.
func distance(t rapid.TB, got, want tensor.Tensor, floor float64) float64 {
	t.Helper()
	if !slices.Equal(got.Shape, want.Shape) {
		t.Logf("shape %v, want %v", got.Shape, want.Shape)
		return math.Inf(1)
	}
	g, w := floats(t, got), floats(t, want)
	scale, worst := floor, 0.
	for i := range w {
		scale = max(scale, math.Abs(w[i]))
		d := math.Abs(g[i] - w[i])
		if !(d <= math.MaxFloat64) {
			return math.Inf(1)
		}
		worst = max(worst, d)
	}
	if worst == 0 {
		return 0
	}
	return worst / scale
}

// sample is one stored case of testdata/gen.py.
type sample struct {
	Name           string
	Model          []byte
	Inputs         map[string]array
	Tangents       map[string]array
	Output         string
	Value, Tangent array
}

type array struct {
	Shape []int
	Data  []float64
}

func (a array) tensor() tensor.Tensor {
	f := make([]float32, len(a.Data))
	for i, v := range a.Data {
		f[i] = float32(v)
	}
	return tensor.FromFloat32(f, a.Shape...)
}

func samples(tb testing.TB) []sample {
	tb.Helper()
	b, err := os.ReadFile("testdata/cases.json")
	if err != nil {
		tb.Fatal(err)
	}
	var s []sample
	if err := json.Unmarshal(b, &s); err != nil {
		tb.Fatal(err)
	}
	return s
}

func (s sample) load(tb testing.TB) *onnx.Model {
	tb.Helper()
	m, err := onnx.Load(s.Model)
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

func (s sample) ops(tb testing.TB) []string {
	tb.Helper()
	m := s.load(tb)
	var ops []string
	for _, n := range m.Proto().GetGraph().GetNode() {
		ops = append(ops, n.GetOpType())
	}
	return ops
}

// moving are the inputs that have a tangent, in the order of the model.
func (s sample) moving(m *onnx.Model) []string {
	return slices.DeleteFunc(onnx.Names(m.Signature().Inputs),
		func(n string) bool { _, ok := s.Tangents[n]; return !ok })
}

func (s sample) feed(res *jvp.Result, moving []string) values {
	v := values{}
	for k, x := range s.Inputs {
		v[k] = x.tensor()
	}
	for i, k := range moving {
		v[res.Inputs[i]] = s.Tangents[k].tensor()
	}
	return v
}

// Every operator against derivatives that PyTorch 1.13.1 computed in float64 (testdata/gen.py), on both engines.
// float32 is good for 1e-5 of the largest element. The embedded engine, which is slow to start, gets the first case
// with a set of operators.
func TestAgainstPyTorch(t *testing.T) {
	const limit = 1e-5
	for _, kind := range []string{choose.Wasm, choose.Native} {
		t.Run(kind, func(t *testing.T) {
			e := body(t, kind)
			worst, at, seen := 0., "", map[string]bool{}
			for _, s := range samples(t) {
				ops := fmt.Sprint(s.ops(t))
				if kind == choose.Wasm && seen[ops] {
					continue
				}
				seen[ops] = true
				t.Run(s.Name, func(t *testing.T) {
					m := s.load(t)
					moving := s.moving(m)
					res := build(t, m, jvp.Request{Tangents: moving, Outputs: []string{s.Output}})
					v := s.feed(res, moving)
					run(t, e, encoded(t, res.Model), v)
					if d := distance(t, v[s.Output], s.Value.tensor(), 1e-3); !(d <= limit) {
						t.Fatalf("the value itself is off by %.2g", d)
					}
					d := distance(t, v[res.Tangents[0]], s.Tangent.tensor(), 1e-3)
					if !(d <= limit) {
						t.Errorf("off by %.2g\n got %v\nwant %v", d, floats(t, v[res.Tangents[0]]), s.Tangent.Data)
					}
					if d > worst {
						worst, at = d, s.Name
					}
				})
			}
			t.Logf("worst: %.2g at %s", worst, at)
		})
	}
}

// Every operator that is said to be supported has a case, here or in [TestRecurrent].
func TestSupportedIsTested(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range samples(t) {
		for _, op := range s.ops(t) {
			seen[op] = true
		}
	}
	for _, op := range jvp.Supported() {
		if !seen[op] && !recurrentOps[op] {
			t.Errorf("no case has a %s", op)
		}
	}
}
