package jvp_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"testing"

	"nero/data/tensor"
	"nero/model/onnx"
	"nero/model/onnx/jvp"
	"nero/model/oracle"
)

func ExampleBuild() {
	b := onnx.NewBuilder(17)
	x := b.Input("x", tensor.Float32, "N", 2)
	b.Output(b.Op("Mul", []string{x, x}), tensor.Float32, "N", 2)
	m, err := b.Model()
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := jvp.Build(m, jvp.Request{Tangents: []string{"x"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	d := r.Model
	g, err := oracle.Load(d)
	if err != nil {
		fmt.Println(err)
		return
	}
	out, err := g.Run(context.Background(), []tensor.Named{
		{Name: "x", Tensor: tensor.FromFloat32([]float32{3, 5}, 1, 2)},
		{Name: r.Inputs[0], Tensor: tensor.FromFloat32([]float32{1, 10}, 1, 2)},
	}, oracle.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, o := range out {
		f, err := o.Float64s(nil)
		fmt.Println(f, err)
	}
	// Output:
	// [9 25] <nil>
	// [6 100] <nil>
}

// FuzzBuild: any model that loads is differentiated or refused, and what comes out loads.
func FuzzBuild(f *testing.F) {
	for _, s := range samples(f) {
		f.Add(s.Model)
	}
	for _, s := range shipped {
		b, err := os.ReadFile(s.path)
		if err != nil {
			f.Fatal(err)
		}
		if len(b) < 1<<16 {
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := onnx.Load(b)
		if err != nil {
			return
		}
		types := m.Types()
		by := slices.DeleteFunc(slices.Sorted(maps.Keys(types)),
			func(v string) bool { return types[v] != tensor.Float32 })
		by = by[:min(len(by), 3)]
		r, err := jvp.Build(m, jvp.Request{Tangents: by})
		if err != nil {
			return
		}
		if _, err := r.Model.Bytes(); err != nil {
			t.Errorf("the result does not load: %v", err)
		}
		for _, c := range m.Cuts() {
			p, err := m.Extract(c.Live, onnx.Names(m.Signature().Outputs))
			if err == nil && len(p.Signature().Inputs) != len(c.Live) {
				t.Errorf("the part after %s has %d inputs, want %d", c.Name, len(p.Signature().Inputs), len(c.Live))
			}
		}
	})
}
