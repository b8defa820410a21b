package vjp_test

import (
	"context"
	"fmt"

	"nero/data/tensor"
	"nero/model/onnx"
	"nero/model/onnx/vjp"
	"nero/model/oracle"
)

// The gradient of y = tanh(x)·w by the input, for each of two samples, and by the parameter, summed over them.
func ExampleBuild() {
	b := onnx.NewBuilder(16)
	b.Input("x", tensor.Float32, "N", 2)
	w := b.Const(tensor.FromFloat32([]float32{1, 3}, 2, 1))
	b.Output(b.Op("MatMul", []string{b.Op("Tanh", []string{"x"}), w}), tensor.Float32, "N", 1)
	m, err := b.Model()
	if err != nil {
		panic(err)
	}

	ctx := context.Background()
	shapes, err := vjp.Shapes(ctx, m, nil, nil)
	if err != nil {
		panic(err)
	}
	r, err := vjp.Build(m, shapes, vjp.Request{Wrt: []string{"x", w}})
	if err != nil {
		panic(err)
	}

	gradient := r.Model
	g, err := oracle.Load(gradient) // or any engine
	if err != nil {
		panic(err)
	}
	out, err := g.Run(ctx, []tensor.Named{
		{Name: "x", Tensor: tensor.FromFloat32([]float32{0, 0, 0, 1}, 2, 2)},
		{Name: r.Cotangent, Tensor: tensor.FromFloat32([]float32{1, 1}, 2, 1)},
	}, oracle.Options{})
	if err != nil {
		panic(err)
	}
	for _, o := range out[1:] {
		v, err := o.Float64s(nil)
		if err != nil {
			panic(err)
		}
		fmt.Printf("%s %v %.4f\n", o.Name, o.Shape, v)
	}
	// Output:
	// grad:x [2 2] [1.0000 3.0000 1.0000 1.2599]
	// grad:nero_const_1 [2 1] [0.0000 0.7616]
}
