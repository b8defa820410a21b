package vjp_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"nero/data/tensor"
	"nero/model/engine"
	"nero/model/engine/choose"
	"nero/model/onnx"
	"nero/model/onnx/vjp"
	"nero/studies/digits"
)

// What the gradient by the input costs, in forward passes of the model on batches of 16: forward and gradient are run
// in turn and the quickest of each counts. The gradient's graph runs the forward pass too.
func BenchmarkCost(b *testing.B) {
	for _, name := range []string{"original", "c4"} {
		b.Run(name, func(b *testing.B) {
			e := anEngine(b, choose.Native)
			raw, err := digits.Files.ReadFile("models/digits-" + name + ".onnx")
			if err != nil {
				b.Fatal(err)
			}
			m, err := onnx.Load(raw)
			if err != nil {
				b.Fatal(err)
			}
			sig := m.Signature()
			shapes := shapesOf(b, m)
			r, err := vjp.Build(m, shapes, vjp.Request{Wrt: []string{sig.Inputs[0].Name}})
			if err != nil {
				b.Fatal(err)
			}
			rng := rand.New(rand.NewPCG(1, 2))
			random := func(name, of string) tensor.Named {
				shape := append([]int{16}, shapes[of][1:]...)
				x := make([]float32, tensor.Count(shape))
				for i := range x {
					x[i] = rng.Float32()
				}
				return tensor.Named{Name: name, Tensor: tensor.FromFloat32(x, shape...)}
			}
			x, c := random(sig.Inputs[0].Name, sig.Inputs[0].Name), random(r.Cotangent, sig.Outputs[0].Name)
			session := func(model []byte) engine.Session {
				s, err := e.Open(context.Background(), model, engine.Options{Threads: 1})
				if err != nil {
					b.Fatal(err)
				}
				b.Cleanup(func() {
					if err := s.Close(); err != nil {
						b.Error(err)
					}
				})
				return s
			}
			forward, gradient := session(raw), session(encoded(b, r.Model))
			took := func(s engine.Session, in ...tensor.Named) time.Duration {
				start := time.Now()
				if _, err := s.Run(context.Background(), in); err != nil {
					b.Fatal(err)
				}
				return time.Since(start)
			}
			least := [2]time.Duration{time.Hour, time.Hour}
			for b.Loop() {
				least[0], least[1] = min(least[0], took(forward, x)), min(least[1], took(gradient, x, c))
			}
			b.ReportMetric(float64(least[1])/float64(least[0]), "gradient/forward")
			b.ReportMetric(float64(least[0].Microseconds())/1000, "forward-ms")
		})
	}
}
