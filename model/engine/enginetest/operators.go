package enginetest

import (
	"context"
	"fmt"
	"math"

	"nero/data/tensor"
	"nero/internal/elementary"
	"nero/model/engine"
	"nero/model/engine/tiny"
)

type example struct {
	name string
	// inputs and outputs are filled from in and want where they are nil
	model    tiny.Model
	in, want []tensor.Named
}

// rounding is the tolerance relative to the largest value of an output.
const rounding = 1e-5

func operators(ctx context.Context, e engine.Engine) error {
	for _, x := range examples() {
		m := x.model
		if m.Inputs == nil {
			m.Inputs = portsOf(x.in)
		}
		if m.Outputs == nil {
			m.Outputs = portsOf(x.want)
		}
		err := with(ctx, e, m, engine.Options{Threads: 1}, func(s engine.Session) error {
			for run := range 3 {
				soil(ctx, s, x.in)
				if err := expect(ctx, s, x.in, x.want, rounding); err != nil {
					return fmt.Errorf("run %d: %w", run+1, err)
				}
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("%s: %w", x.name, err)
		}
	}
	return nil
}

// examples have results that can be worked out by hand; the numbers stand beside the definition in the ONNX operator
// list.
func examples() []example {
	one := func(op string, in, want []tensor.Named, attrs ...tiny.Attr) tiny.Model {
		n := tiny.Node{Op: op, Attrs: attrs}
		for _, t := range in {
			n.Inputs = append(n.Inputs, t.Name)
		}
		for _, t := range want {
			n.Outputs = append(n.Outputs, t.Name)
		}
		return tiny.Model{Nodes: []tiny.Node{n}}
	}
	named := func(t ...tensor.Named) []tensor.Named { return t }
	var xs []example
	add := func(name, op string, in, want []tensor.Named, attrs ...tiny.Attr) {
		xs = append(xs, example{name, one(op, in, want, attrs...), in, want})
	}
	a, b := []float64{1, 2, 3, 4, 5, 6}, []float64{10, 20, 30}
	for _, d := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.Int32, tensor.Int64} {
		add("Add that broadcasts, "+d.String(), "Add", named(number("a", d, a, 2, 3), number("b", d, b, 3)),
			named(number("y", d, []float64{11, 22, 33, 14, 25, 36}, 2, 3)))
	}
	add("Gemm of two inputs", "Gemm", named(floats("a", []float64{1, 2}, 1, 2), floats("b", []float64{3, 4}, 2, 1)),
		named(floats("y", []float64{11}, 1, 1)))
	add("Gemm, float64", "Gemm",
		named(number("a", tensor.Float64, []float64{1, 2}, 1, 2), number("b", tensor.Float64, []float64{3, 4}, 2, 1)),
		named(number("y", tensor.Float64, []float64{11}, 1, 1)))
	add("MatMul of vectors gives a scalar", "MatMul",
		named(floats("a", []float64{1, 2, 3}, 3), floats("b", []float64{4, 5, 6}, 3)),
		named(floats("y", []float64{32})))
	add("Neg of a scalar", "Neg", named(floats("x", []float64{2.5})), named(floats("y", []float64{-2.5})))
	add("Relu of nothing", "Relu", named(floats("x", nil, 0, 3)), named(floats("y", nil, 0, 3)))
	add("Concat with nothing", "Concat", named(floats("a", nil, 0, 3), floats("b", b, 1, 3)),
		named(floats("y", b, 1, 3)), attr("axis", 0))
	add("Abs of special values", "Abs", named(floats("x", []float64{math.Inf(-1), math.NaN(), -0.5, 1e-38}, 4)),
		named(floats("y", []float64{math.Inf(1), math.NaN(), 0.5, 1e-38}, 4)))
	add("ArgMax gives int64", "ArgMax", named(floats("x", []float64{3, 9, 1, 7, 2, 8}, 2, 3)),
		named(number("y", tensor.Int64, []float64{1, 2}, 2)), attr("axis", 1), attr("keepdims", 0))
	add("Shape", "Shape", named(floats("x", make([]float64, 6), 2, 3)),
		named(number("y", tensor.Int64, []float64{2, 3}, 2)))
	add("Greater gives bool", "Greater", named(floats("a", []float64{1, 5}, 2), floats("b", []float64{3, 3}, 2)),
		named(number("y", tensor.Bool, []float64{0, 1}, 2)))
	add("Not", "Not", named(number("x", tensor.Bool, []float64{0, 1, 1}, 3)),
		named(number("y", tensor.Bool, []float64{1, 0, 0}, 3)))
	add("Where", "Where", named(number("c", tensor.Bool, []float64{0, 1}, 2), floats("a", []float64{1, 2}, 2),
		floats("b", []float64{3, 4}, 2)), named(floats("y", []float64{3, 2}, 2)))
	add("Gather", "Gather", named(floats("x", a, 3, 2), number("i", tensor.Int64, []float64{2, 0}, 2)),
		named(floats("y", []float64{5, 6, 1, 2}, 2, 2)))
	add("Split into two", "Split", named(floats("x", a, 2, 3), number("n", tensor.Int64, []float64{1, 2}, 2)),
		named(floats("y", []float64{1, 4}, 2, 1), floats("z", []float64{2, 3, 5, 6}, 2, 2)), attr("axis", 1))
	add("TopK gives two types", "TopK",
		named(floats("x", []float64{3, 9, 1, 7}, 4), number("k", tensor.Int64, []float64{2}, 1)),
		named(floats("y", []float64{9, 7}, 2), number("i", tensor.Int64, []float64{1, 3}, 2)))
	add("Cast to uint8", "Cast", named(floats("x", []float64{0, 7.9, 255}, 3)),
		named(number("y", tensor.Uint8, []float64{0, 7, 255}, 3)), attr("to", int(tensor.Uint8)))
	add("Cast from float16", "Cast", named(number("x", tensor.Float16, []float64{-1.5, 0.25, 65504}, 3)),
		named(floats("y", []float64{-1.5, 0.25, 65504}, 3)), attr("to", int(tensor.Float32)))
	add("Cast to float16", "Cast", named(floats("x", []float64{-1.5, 0.25, 65504}, 3)),
		named(number("y", tensor.Float16, []float64{-1.5, 0.25, 65504}, 3)), attr("to", int(tensor.Float16)))
	add("Conv", "Conv", named(floats("x", []float64{1, 2, 3, 4, 5, 6, 7, 8, 9}, 1, 1, 3, 3),
		floats("k", []float64{1, 0, 0, -1}, 1, 1, 2, 2)), named(floats("y", []float64{-4, -4, -4, -4}, 1, 1, 2, 2)))
	add("ConvTranspose", "ConvTranspose",
		named(floats("x", []float64{1, 2}, 1, 1, 1, 2), floats("k", []float64{1, 2}, 1, 1, 1, 2)),
		named(floats("y", []float64{1, 4, 4}, 1, 1, 1, 3)))
	add("MaxPool with indices", "MaxPool", named(floats("x", []float64{1, 8, 3, 4}, 1, 1, 2, 2)),
		named(floats("y", []float64{8}, 1, 1, 1, 1), number("i", tensor.Int64, []float64{1}, 1, 1, 1, 1)),
		attr("kernel_shape", []int{2, 2}))
	add("Softmax", "Softmax", named(floats("x", []float64{0, math.Ln2, elementary.Log(5)}, 1, 3)),
		named(floats("y", []float64{0.125, 0.25, 0.625}, 1, 3)), attr("axis", 1))
	add("ReduceMax", "ReduceMax", named(floats("x", a, 2, 3)), named(floats("y", []float64{4, 5, 6}, 3)),
		attr("axes", []int{0}), attr("keepdims", 0))
	add("Transpose", "Transpose", named(floats("x", a, 2, 3)), named(floats("y", []float64{1, 4, 2, 5, 3, 6}, 3, 2)))
	add("ScatterElements that adds", "ScatterElements",
		named(floats("x", []float64{1, 1, 1}, 3), number("i", tensor.Int64, []float64{2, 2}, 2),
			floats("u", []float64{10, 20}, 2)), named(floats("y", []float64{1, 1, 31}, 3)), attr("reduction", "add"))
	add("Einsum", "Einsum", named(floats("a", a, 2, 3), floats("b", b, 3)), named(floats("y", []float64{140, 320}, 2)),
		attr("equation", "ij,j->i"))
	// The number of results is known only when it runs, and may be none.
	nonZero := one("NonZero", named(floats("x", nil, 4)), named(number("y", tensor.Int64, nil, 1, 0)))
	nonZero.Inputs = []tiny.Port{port("x", tensor.Float32, 4)}
	nonZero.Outputs = []tiny.Port{port("y", tensor.Int64, 1, tiny.Free)}
	xs = append(xs,
		example{
			"NonZero", nonZero, named(floats("x", []float64{0, 5, 0, 6}, 4)),
			named(number("y", tensor.Int64, []float64{1, 3}, 1, 2)),
		},
		example{
			"NonZero of zeros", nonZero, named(floats("x", []float64{0, 0, 0, 0}, 4)),
			named(number("y", tensor.Int64, nil, 1, 0)),
		},
	)
	return xs
}

// types sends every element type through Identity, in shapes from a scalar to four axes.
func types(ctx context.Context, e engine.Engine) error {
	for _, d := range []tensor.DType{
		tensor.Float32, tensor.Uint8, tensor.Int8, tensor.Uint16, tensor.Int16, tensor.Int32, tensor.Int64, tensor.Bool,
		tensor.Float16, tensor.Float64, tensor.Uint32, tensor.Uint64, tensor.BFloat16,
	} {
		var m tiny.Model
		var in, want []tensor.Named
		for k, shape := range [][]int{{}, {0}, {3}, {2, 0, 5}, {1, 2, 3, 2}} {
			x := tensor.New(d, shape...)
			for i := range x.Len() {
				put(x, i, float64(1+i%2))
			}
			from, to := fmt.Sprintf("x%d", k), fmt.Sprintf("y%d", k)
			m.Nodes = append(m.Nodes, node("Identity", []string{from}, []string{to}))
			in, want = append(in, tensor.Named{Name: from, Tensor: x}), append(want, tensor.Named{Name: to, Tensor: x})
		}
		m.Inputs, m.Outputs = portsOf(in), portsOf(want)
		err := with(ctx, e, m, engine.Options{}, func(s engine.Session) error { return expect(ctx, s, in, want, 0) })
		if err != nil {
			return fmt.Errorf("%s: %w", d, err)
		}
	}
	return nil
}
