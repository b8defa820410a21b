package jvp_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"nero/data/tensor"
	"nero/model/decode"
	"nero/model/onnx"
	"nero/model/onnx/jvp"
	"nero/model/onnx/vjp"
)

// recurrentOps are the operators whose cases [TestRecurrent] makes.
var recurrentOps = map[string]bool{"LSTM": true, "GRU": true, "RNN": true} //nolint:gochecknoglobals // a constant

// Tangents of recurrent operators are the transpose of their gradients, which PyTorch vouches for, and agree with
// central differences in float64 and with the engine, by every input and kernel, in every direction.
func TestRecurrent(t *testing.T) {
	e := body(t, "auto")
	for _, op := range []string{"LSTM", "GRU", "RNN"} {
		for _, direction := range []string{"forward", "reverse", "bidirectional"} {
			for variant := range 4 {
				bias, start, other := variant&1 == 0, variant&2 == 0, variant == 1 || variant == 2
				t.Run(fmt.Sprintf("%s/%s/%d", op, direction, variant), func(t *testing.T) {
					r := rand.New(rand.NewPCG(uint64(variant), 5))
					dirs, gates := 1, map[string]int{"LSTM": 4, "GRU": 3, "RNN": 1}[op]
					if direction == "bidirectional" {
						dirs = 2
					}
					const steps, n, in, hidden = 4, 2, 3, 2
					b := onnx.NewBuilder(16)
					v := values{}
					var moving []string
					input := func(name string, there bool, shape ...int) string {
						if !there {
							return ""
						}
						axes := make([]any, len(shape))
						for i, s := range shape {
							axes[i] = s
						}
						v[name] = noise(r, shape...)
						moving = append(moving, name)
						return b.Input(name, tensor.Float32, axes...)
					}
					ins := []string{
						input("x", true, steps, n, in), input("w", true, dirs, gates*hidden, in),
						input("r", true, dirs, gates*hidden, hidden),
						input("b", bias, dirs, 2*gates*hidden), "", input("h", start, dirs, n, hidden),
						input("c", start && op == "LSTM", dirs, n, hidden),
					}
					for len(ins) > 0 && ins[len(ins)-1] == "" {
						ins = ins[:len(ins)-1]
					}
					a := onnx.AttrString("direction", direction)
					more := onnx.AttrInt("hidden_size", hidden)
					outs := 2
					if op == "LSTM" {
						outs = 3
					}
					var made []string
					switch {
					case op == "GRU" && other:
						made = b.Ops(op, outs, ins, a, more, onnx.AttrInt("linear_before_reset", 1))
					default:
						made = b.Ops(op, outs, ins, a, more)
					}
					flat := make([]string, len(made))
					for i, o := range made {
						flat[i] = b.Op("Reshape", []string{b.Op("Mul", []string{o, o}), b.Ints(-1)})
					}
					y := b.Op("Concat", flat, onnx.AttrInt("axis", 0))
					b.Output(y, tensor.Float32, (steps+outs-1)*dirs*n*hidden)
					m, err := b.Model()
					if err != nil {
						t.Fatal(err)
					}
					forward := build(t, m, jvp.Request{Tangents: moving, Outputs: []string{y}})
					f := values{}
					maps.Copy(f, v)
					for i, k := range moving {
						f[forward.Inputs[i]] = noise(r, v[k].Shape...)
					}
					exact(t, encoded(t, forward.Model), f)
					shapes, err := vjp.Shapes(t.Context(), m, nil, nil)
					if err != nil {
						t.Fatal(err)
					}
					backward, err := vjp.Build(m, shapes, vjp.Request{Output: y, Wrt: moving})
					if err != nil {
						t.Fatal(err)
					}
					g := values{backward.Cotangent: noise(r, f[y].Shape...)}
					maps.Copy(g, v)
					exact(t, encoded(t, backward.Model), g)
					if d := dual(t, forward, backward, f, g); !(d <= 1e-12) {
						t.Errorf("off the transpose by %.2g", d)
					}
					differences(t, m, forward, v, f, y, moving)
					// The engine in float32.
					single := values{}
					for k, x := range f {
						if !contains(m, forward, k) {
							continue
						}
						s, err := decode.Rounded(tensor.Float32, floats(t, x), x.Shape...)
						if err != nil {
							t.Fatal(err)
						}
						single[k] = s
					}
					run(t, e, encoded(t, forward.Model), single)
					if d := distance(t, single[forward.Tangents[0]], f[forward.Tangents[0]], 1e-2); !(d <= 1e-4) {
						t.Errorf("the engine is off by %.2g", d)
					}
				})
			}
		}
	}
}

// contains tells whether a value is fed.
func contains(m *onnx.Model, forward *jvp.Result, name string) bool {
	if _, ok := m.Signature().Input(name); ok {
		return true
	}
	return slices.Contains(forward.Inputs, name)
}

// differences compares tangents with central differences in float64.
func differences(t *testing.T, m *onnx.Model, forward *jvp.Result, v, f values, y string, moving []string) {
	t.Helper()
	const h = 1e-5
	ends := [2]values{{}, {}}
	for side, sign := range []float64{h, -h} {
		for i, k := range moving {
			ends[side][k] = mix(t, 1, v[k], sign, f[forward.Inputs[i]])
		}
		exact(t, encode(t, m), ends[side])
	}
	a, b, got := floats(t, ends[0][y]), floats(t, ends[1][y]), floats(t, f[forward.Tangents[0]])
	for i, x := range got {
		if want := (a[i] - b[i]) / (2 * h); !(math.Abs(x-want) <= 1e-6*(1+math.Abs(want))) {
			t.Fatalf("number %d moves by %g, differences say %g", i, x, want)
		}
	}
}
