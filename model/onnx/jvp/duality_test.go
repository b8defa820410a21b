package jvp_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"nero/data/tensor"
	"nero/model/onnx"
	"nero/model/onnx/jvp"
	"nero/model/onnx/vjp"
)

// dot is the scalar product of two tensors, and of their absolute values.
func dot(t rapid.TB, a, b tensor.Tensor) (sum, size float64) {
	t.Helper()
	if !slices.Equal(a.Shape, b.Shape) {
		t.Fatalf("shapes %v and %v", a.Shape, b.Shape)
	}
	g := floats(t, b)
	for i, x := range floats(t, a) {
		sum += x * g[i]
		size += math.Abs(x * g[i])
	}
	return sum, size
}

// dual pushes v forwards and c backwards at the same point and returns |<c, J·v> - <Jᵀ·c, v>|, relative to the sums of
// the absolute products.
func dual(t rapid.TB, forward *jvp.Result, backward *vjp.Result, f, b values) float64 {
	t.Helper()
	left, size := dot(t, b[backward.Cotangent], f[forward.Tangents[0]])
	right := 0.
	for i, g := range backward.Gradients {
		r, n := dot(t, b[g], f[forward.Inputs[i]])
		right += r
		size = max(size, n)
	}
	if size == 0 {
		return 0
	}
	return math.Abs(left-right) / size
}

// Forwards and backwards are transposes of each other: on whole networks, by the input and by all weights together.
func TestDuality(t *testing.T) {
	e := body(t, "auto")
	worst := 0.
	networks(t, func(t *testing.T, m *onnx.Model, x func(*rand.Rand, int) tensor.Tensor) {
		t.Helper()
		r := rand.New(rand.NewPCG(9, 10))
		in, out := m.Signature().Inputs[0].Name, m.Signature().Outputs[0].Name
		point := x(r, 4)
		shapes, err := vjp.Shapes(context.Background(), m, point.Shape, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, weights := range []bool{false, true} {
			by := []string{in}
			if weights {
				by = nil
				for _, w := range m.Proto().GetGraph().GetInitializer() {
					if w.GetDataType() == int32(tensor.Float32) && len(w.GetDims()) > 0 {
						by = append(by, w.GetName())
					}
				}
			}
			backward, err := vjp.Build(m, shapes, vjp.Request{Output: out, Wrt: by})
			if _, ok := errors.AsType[*vjp.UnsupportedError](err); ok || errors.Is(err, vjp.ErrNoPath) {
				t.Logf("weights: %v: %v", weights, err)
				continue
			}
			if err != nil {
				t.Skip(err)
			}
			forward := build(t, m, jvp.Request{Tangents: by, Outputs: []string{out}})
			f, b := values{in: point}, values{in: point}
			for i, v := range by {
				f[forward.Inputs[i]] = noise(r, shapes[v]...)
			}
			run(t, e, encoded(t, forward.Model), f)
			b[backward.Cotangent] = noise(r, f[out].Shape...)
			run(t, e, encoded(t, backward.Model), b)
			d := dual(t, forward, backward, f, b)
			worst = max(worst, d)
			if !(d <= 1e-5) {
				t.Errorf("weights: %v: off by %.2g", weights, d)
			}
		}
	})
	t.Logf("worst: %.2g", worst)
}

// Every case that has rules both ways, in float64.
func TestDualityOfCases(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	tried, done := 0, 0
	for _, s := range samples(t) {
		t.Run(s.Name, func(t *testing.T) {
			tried++
			m := s.load(t)
			shapes, err := vjp.Shapes(context.Background(), m, nil, nil)
			if err != nil {
				t.Skip(err)
			}
			moving := s.moving(m)
			backward, err := vjp.Build(m, shapes, vjp.Request{Output: s.Output, Wrt: moving})
			if err != nil {
				t.Skip(err)
			}
			forward := build(t, m, jvp.Request{Tangents: moving, Outputs: []string{s.Output}})
			f := s.feed(forward, moving)
			exact(t, encoded(t, forward.Model), f)
			b := values{backward.Cotangent: noise(r, f[s.Output].Shape...)}
			for k, x := range s.Inputs {
				b[k] = x.tensor()
			}
			exact(t, encoded(t, backward.Model), b)
			if d := dual(t, forward, backward, f, b); !(d <= 1e-6) {
				t.Errorf("off by %.2g", d)
			}
			done++
		})
	}
	t.Logf("%d cases", done)
	if tried-done > 12 {
		t.Errorf("only %d cases could be compared", done)
	}
}

// failing is a test of either kind.
type failing interface {
	Helper()
	Fatal(args ...any)
}

// encoded is what a body opens.
func encoded(tb failing, m *onnx.Model) []byte {
	tb.Helper()
	b, err := m.Bytes()
	if err != nil {
		tb.Fatal(err)
	}
	return b
}
