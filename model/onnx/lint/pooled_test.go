package lint_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"nero/data/tensor"
	"nero/model/onnx"
	"nero/model/onnx/facts"
	"nero/model/onnx/lint"
)

// exported is a steerable network as escnn exports it: convolutions with expanded kernels, the second of them with a
// stride of 2, normalisations, a maximum over the four channels of each field, a mean over the places, a dense layer.
// The maximum comes in the forms that exporters write: over an axis of a reshaped map, with the sizes stored, read
// from the map itself or computed from it, and as a pooling over rows of channels.
func exported(t *testing.T, form string, side int) *onnx.Model {
	t.Helper()
	const first, second = 2, 3
	r := rand.New(rand.NewPCG(8, 0))
	b := onnx.NewBuilder(17)
	x := b.Input("x", tensor.Float32, "N", 3, side, side)
	norm := func(x string, fields int) string {
		per := func(f func() float32) string {
			v := make([]float32, 4*fields)
			for i := range v {
				if i%4 == 0 {
					v[i] = f()
					continue
				}
				v[i] = v[i-1]
			}
			return b.Const(tensor.FromFloat32(v, 4*fields))
		}
		positive := func() float32 { return 0.5 + r.Float32() }
		y := b.Op("BatchNormalization", []string{x, per(positive), per(r.Float32), per(r.Float32), per(positive)})
		return b.Op("Relu", []string{y})
	}
	y := norm(b.Op("Conv", []string{x, b.Const(regular(r, first, 3, 5, true))}, onnx.AttrInts("pads", 2, 2, 2, 2)),
		first)
	y = b.Op("Conv", []string{y, b.Const(regular(r, second, first, 3, false))}, onnx.AttrInts("pads", 1, 1, 1, 1),
		onnx.AttrInts("strides", 2, 2))
	y = norm(y, second)
	y = b.Op("Relu", []string{b.Op("Conv", []string{y, b.Const(regular(r, second, second, 3, false))},
		onnx.AttrInts("pads", 1, 1, 1, 1))})
	half := int64((side + 1) / 2)
	switch form {
	case "stored":
		y = b.Op("ReduceMax", []string{b.Op("Reshape", []string{y, b.Ints(0, second, 4, half, half)})},
			onnx.AttrInts("axes", 2), onnx.AttrInt("keepdims", 0))
	case "read":
		at := func(axis int64) string {
			return b.Op("Gather", []string{b.Op("Shape", []string{y}), b.Ints(axis)}, onnx.AttrInt("axis", 0))
		}
		to := b.Op("Concat", []string{at(0), b.Ints(second), b.Ints(4), at(2), at(3)}, onnx.AttrInt("axis", 0))
		y = b.Op("ReduceMax", []string{b.Op("Reshape", []string{y, to})}, onnx.AttrInts("axes", 2),
			onnx.AttrInt("keepdims", 0))
	case "computed": // as PyTorch writes it: scalars are gathered, divided, cast twice and put together
		at := func(axis int64) string {
			return b.Op("Gather", []string{
				b.Op("Shape", []string{y}), b.Const(tensor.FromInt64([]int64{axis})),
			}, onnx.AttrInt("axis", 0))
		}
		row := func(x string) string { return b.Op("Unsqueeze", []string{x, b.Ints(0)}) }
		fields := b.Op("Div", []string{at(1), b.Const(tensor.FromInt64([]int64{4}))})
		for range 2 {
			fields = b.Op("Cast", []string{fields}, onnx.AttrInt("to", 7))
		}
		to := b.Op("Concat", []string{row(at(0)), row(fields), b.Ints(4), row(at(2)), row(at(3))},
			onnx.AttrInt("axis", 0))
		y = b.Op("ReduceMax", []string{b.Op("Reshape", []string{y, to})}, onnx.AttrInts("axes", 2),
			onnx.AttrInt("keepdims", 0))
	case "rows":
		rows := b.Op("Transpose", []string{b.Op("Reshape", []string{y, b.Ints(0, 4*second, half*half)})},
			onnx.AttrInts("perm", 0, 2, 1))
		rows = b.Op("MaxPool", []string{rows}, onnx.AttrInts("kernel_shape", 4), onnx.AttrInts("strides", 4))
		y = b.Op("Reshape", []string{
			b.Op("Transpose", []string{rows}, onnx.AttrInts("perm", 0, 2, 1)),
			b.Ints(0, second, half, half),
		})
	}
	y = b.Op("ReduceMean", []string{y}, onnx.AttrInts("axes", 2, 3), onnx.AttrInt("keepdims", 0))
	y = b.Op("Gemm", []string{y, random(b, r, 10, second)}, onnx.AttrInt("transB", 1))
	b.Output(y, tensor.Float32, "N", 10)
	m, err := b.Model()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// The stride of an even side lets no turn through, that of an odd side does: each is told through the pooling over the
// group.
func TestExportedSteerableNetworks(t *testing.T) {
	for _, form := range []string{"stored", "read", "computed", "rows"} {
		for _, side := range []int{12, 13} {
			m := exported(t, form, side)
			in, err := facts.SampleShapes(m.Signature(), 1, nil)
			if err != nil {
				t.Fatal(err)
			}
			f, err := facts.Infer(m, in, nil)
			if err != nil {
				t.Fatal(err)
			}
			p, err := lint.Predict(context.Background(), f, lint.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if !p.StructureKnown || !p.WeightsKnown || len(p.Unknown) > 0 {
				t.Errorf("%s, side %d: not followed: %+v", form, side, p.Unknown)
			}
			if len(p.Risks) > 0 {
				t.Errorf("%s, side %d: nothing is cut but sizes: %+v", form, side, p.Risks)
			}
			stride := slices.ContainsFunc(p.Losses, func(x lint.Loss) bool {
				return x.Op == "Conv" && x.Level == lint.LevelStructure && strings.Contains(x.Reason, "stride 2")
			})
			odd := side%2 == 1
			if stride == odd || odd != (p.Structure == lint.Whole) || odd != (p.Weights == c4) {
				t.Errorf("%s, side %d: structure %s, weights %s, losses %+v", form, side, p.Structure, p.Weights,
					p.Losses)
			}
		}
	}
}
