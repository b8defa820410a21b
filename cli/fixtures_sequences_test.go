package cli

import (
	"fmt"
	"os"

	"nero/data/tensor"
	"nero/model/onnx"
)

// writeSequence writes a model of sequences of views of h x w, of any length or of k, with actions of a coordinates:
//
//	pool   the mean over views of the means of x, x², x³, x⁴: neither order nor route nor pose is left of them
//	last   a dense layer of the last view alone
//	decay  the same of all views, each with half the weight of the next one
//
// With extra=1 it has a third input.
func writeSequence(name string, o *options) error {
	kind, h, w := o.text("kind", "pool"), o.int("h", 6), o.int("w", 6)
	b := onnx.NewBuilder(19)
	b.Header().IrVersion = new(int64(8))
	f32 := tensor.Float32
	var k any = "views"
	if n := o.int("k", 0); n > 0 {
		k = n
	}
	x := b.Input("views", f32, "batch", k, 1, h, w)
	b.Input("actions", f32, "batch", k, o.int("a", 1))
	if o.int("extra", 0) != 0 {
		b.Input("mood", f32, "batch", 1)
	}
	flat := b.Op("Reshape", []string{x, b.Ints(0, 0, int64(h*w))})
	keep := onnx.AttrInt("keepdims", 0)
	y := ""
	switch kind {
	case "pool":
		var all []string
		power := flat
		for range 4 {
			all = append(all, b.Op("ReduceMean", []string{power, b.Ints(2)}, onnx.AttrInt("keepdims", 1)))
			power = b.Op("Mul", []string{power, flat})
		}
		y = b.Op("ReduceMean", []string{b.Op("Concat", all, onnx.AttrInt("axis", 2)), b.Ints(1)}, keep)
	case "last":
		y = b.Op("MatMul", []string{
			b.Op("Gather", []string{flat, b.Const(tensor.FromInt64([]int64{-1}))}, onnx.AttrInt("axis", 1)),
			b.Const(weights(1, h*w, h*w)),
		})
	case "decay":
		float := onnx.AttrInt("to", 1)
		n := b.Op("Gather", []string{b.Op("Shape", []string{x}), b.Const(tensor.FromInt64([]int64{1}))},
			onnx.AttrInt("axis", 0))
		step := b.Op("Range", []string{
			b.Const(tensor.FromInt64([]int64{0})), n, b.Const(tensor.FromInt64([]int64{1})),
		})
		age := b.Op("Cast", []string{b.Op("Sub", []string{b.Op("Sub", []string{n, step}), b.Ints(1)})}, float)
		weight := b.Op("Pow", []string{b.Const(tensor.FromFloat32([]float32{0.5}, 1)), age})
		all := b.Op("Mul", []string{flat, b.Op("Reshape", []string{weight, b.Ints(1, -1, 1)})})
		y = b.Op("MatMul", []string{
			b.Op("ReduceSum", []string{all, b.Ints(1)}, keep), b.Const(weights(1, h*w, h*w)),
		})
	default:
		return fmt.Errorf("kind %q", kind)
	}
	width := h * w
	if kind == "pool" {
		width = 4
	}
	b.Output(b.Op("Identity", []string{y}), f32, "batch", width)
	raw, err := b.Bytes()
	if err != nil {
		return err
	}
	return os.WriteFile(name, raw, 0o600)
}
