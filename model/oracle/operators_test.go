package oracle_test

import (
	"fmt"
	"testing"

	"nero/data/tensor"
	"nero/model/engine"
	"nero/model/engine/choose"
	"nero/model/onnx"
	"nero/model/onnx/onnxpb"
	"nero/model/oracle"
)

// operatorCase is a model of a few operators on one input x of normal numbers.
type operatorCase struct {
	name  string
	opset int
	shape []int
	make  func(b *onnx.Builder, x string) string
}

type attribute = *onnxpb.AttributeProto

func floatsOf(v ...float32) tensor.Tensor { return tensor.FromFloat32(v, len(v)) }

// operator is a case of one node; parameters follow x, "" for one that is left out.
func operator(name string, opset int, shape []int, op string, params []any, attrs ...attribute) operatorCase {
	return operatorCase{name, opset, shape, func(b *onnx.Builder, x string) string {
		in := []string{x}
		for _, p := range params {
			switch p := p.(type) {
			case tensor.Tensor:
				in = append(in, b.Const(p))
			case []int64:
				in = append(in, b.Ints(p...))
			default:
				in = append(in, "")
			}
		}
		return b.Op(op, in, attrs...)
	}}
}

// operatorCases cover what ONNX's own test data does not: combinations, versions, and defaults.
func operatorCases() []operatorCase {
	str, num, ints, fraction := onnx.AttrString, onnx.AttrInt, onnx.AttrInts, onnx.AttrFloat
	image, odd := []int{2, 4, 9, 8}, []int{1, 3, 7, 10}
	var cs []operatorCase
	add := func(name string, opset int, shape []int, op string, params []any, attrs ...attribute) {
		cs = append(cs, operator(name, opset, shape, op, params, attrs...))
	}
	for _, auto := range []string{"SAME_UPPER", "SAME_LOWER", "VALID"} {
		add("conv "+auto, 13, image, "Conv", []any{noise(2, 6, 4, 3, 2), noise(3, 6)}, str("auto_pad", auto),
			ints("strides", 2, 3))
		add("average "+auto, 13, image, "AveragePool", nil, ints("kernel_shape", 3, 2), str("auto_pad", auto),
			ints("strides", 2, 2))
		add("transposed "+auto, 13, image, "ConvTranspose", []any{noise(2, 4, 3, 3, 3)}, str("auto_pad", auto),
			ints("strides", 2, 2))
	}
	add("conv groups", 13, image, "Conv", []any{noise(2, 6, 2, 3, 3)}, num("group", 2), ints("pads", 1, 2, 0, 1),
		ints("dilations", 2, 1))
	add("conv depthwise", 13, image, "Conv", []any{noise(2, 8, 1, 3, 3), noise(3, 8)}, num("group", 4),
		ints("pads", 1, 1, 1, 1))
	add("conv line", 13, []int{2, 3, 20}, "Conv", []any{noise(2, 5, 3, 4)}, ints("strides", 2), ints("pads", 1, 2),
		ints("dilations", 3))
	add("conv volume", 13, []int{1, 2, 6, 5, 7}, "Conv", []any{noise(2, 3, 2, 3, 2, 3)}, ints("pads", 1, 0, 1, 0, 1, 1),
		ints("strides", 2, 1, 2))
	add("transposed groups", 13, image, "ConvTranspose", []any{noise(2, 4, 3, 3, 2), noise(3, 6)}, num("group", 2),
		ints("strides", 2, 3),
		ints("pads", 1, 0, 0, 1), ints("output_padding", 1, 2), ints("dilations", 2, 1))
	add("transposed to a shape", 13, image, "ConvTranspose", []any{noise(2, 4, 3, 3, 3)}, ints("strides", 2, 2),
		ints("output_shape", 18, 17))
	add("transposed line", 13, []int{2, 3, 9}, "ConvTranspose", []any{noise(2, 3, 2, 4)}, ints("strides", 3))
	add("transposed volume", 13, []int{1, 2, 3, 4, 3}, "ConvTranspose", []any{noise(2, 2, 2, 2, 3, 2)},
		ints("strides", 1, 2, 2), ints("pads", 0, 1, 0, 1, 0, 1))
	for _, op := range []string{"MaxPool", "AveragePool"} {
		add(op+" ceil", 13, odd, op, nil, ints("kernel_shape", 3, 3), ints("strides", 2, 2), num("ceil_mode", 1),
			ints("pads", 1, 1, 1, 1))
		add(op+" ceil, last window outside", 13, []int{1, 1, 5, 6}, op, nil, ints("kernel_shape", 1, 2),
			ints("strides", 3, 3), num("ceil_mode", 1))
	}
	add("average with pads", 13, odd, "AveragePool", nil, ints("kernel_shape", 3, 2), ints("strides", 2, 1),
		ints("pads", 1, 0, 1, 1), num("count_include_pad", 1))
	add("average with pads, ceil", 19, odd, "AveragePool", nil, ints("kernel_shape", 3, 3), ints("strides", 2, 2),
		ints("pads", 1, 1, 1, 1),
		num("count_include_pad", 1), num("ceil_mode", 1))
	add("average dilated", 19, odd, "AveragePool", nil, ints("kernel_shape", 3, 2), ints("dilations", 2, 3),
		ints("pads", 1, 1, 1, 1))
	add("max dilated", 13, odd, "MaxPool", nil, ints("kernel_shape", 2, 3), ints("dilations", 3, 2),
		ints("strides", 1, 2), ints("pads", 1, 1, 0, 1))
	add("max line", 13, []int{2, 3, 11}, "MaxPool", nil, ints("kernel_shape", 3), ints("strides", 2))
	add("max volume", 13, []int{1, 2, 5, 6, 7}, "MaxPool", nil, ints("kernel_shape", 2, 3, 2),
		ints("pads", 1, 1, 0, 0, 1, 1))
	cs = append(cs, operatorCase{"max places by column", 13, odd, func(b *onnx.Builder, x string) string {
		y := b.Ops("MaxPool", 2, []string{x}, ints("kernel_shape", 2, 3), ints("strides", 2, 2),
			num("storage_order", 1))
		return b.Op("Cast", y[1:], num("to", 1))
	}})
	add("norm pool", 13, odd, "LpPool", nil, ints("kernel_shape", 3, 2), ints("strides", 2, 1), num("p", 3))
	add("softmax of old", 11, []int{2, 3, 4}, "Softmax", nil)
	add("log softmax of old", 11, []int{2, 3, 4}, "LogSoftmax", nil, num("axis", 2))
	add("softmax", 13, []int{2, 3, 4}, "Softmax", nil, num("axis", 1))
	add("group norm", 21, image, "GroupNormalization", []any{noise(2, 4), noise(3, 4)}, num("num_groups", 2))
	add("group norm of old", 18, image, "GroupNormalization", []any{noise(2, 2), noise(3, 2)}, num("num_groups", 2))
	add("layer norm", 17, image, "LayerNormalization", []any{noise(2, 9, 8), noise(3, 8)}, num("axis", 2),
		fraction("epsilon", 0.01))
	add("instance norm", 13, image, "InstanceNormalization", []any{noise(2, 4), noise(3, 4)})
	add("batch norm", 15, image, "BatchNormalization",
		[]any{noise(2, 4), noise(3, 4), noise(4, 4), floatsOf(0.5, 1, 2, 3)}, fraction("epsilon", 0.1))
	cs = append(cs, operatorCase{"batch norm in training", 15, image, func(b *onnx.Builder, x string) string {
		y := b.Ops("BatchNormalization", 3,
			[]string{
				x, b.Const(noise(2, 4)), b.Const(noise(3, 4)), b.Const(noise(4, 4)),
				b.Const(floatsOf(0.5, 1, 2, 3)),
			},
			num("training_mode", 1), fraction("momentum", 0.8))
		return b.Op("Concat", []string{
			b.Op("Flatten", []string{y[0]}, num("axis", 0)), b.Op("Unsqueeze", []string{y[1], b.Ints(0)}),
			b.Op("Unsqueeze", []string{y[2], b.Ints(0)}),
		}, num("axis", 1))
	}})
	add("local response", 13, []int{2, 7, 3, 3}, "LRN", nil, num("size", 5), fraction("alpha", 0.3))
	add("gelu", 20, image, "Gelu", nil)
	add("gelu by tanh", 20, image, "Gelu", nil, str("approximate", "tanh"))
	for _, op := range []string{
		"Erf", "Mish", "HardSwish", "HardSigmoid", "Selu", "Elu", "Celu", "Softplus", "Softsign", "LeakyRelu",
		"ThresholdedRelu", "Shrink",
		"Sinh", "Cosh", "Asinh", "Tan", "Round", "Hardmax",
	} {
		add(op, 18, []int{3, 17}, op, nil)
	}
	add("slopes", 13, image, "PRelu", []any{noise(2, 4, 1, 1)})
	add("clip from one side", 13, image, "Clip", []any{tensor.FromFloat32([]float32{-0.5})})
	for _, mode := range []string{"reflect", "edge", "constant"} {
		add("pad "+mode, 13, odd, "Pad", []any{[]int64{0, 0, 2, 3, 0, 1, 1, -2}}, str("mode", mode))
	}
	add("pad around", 19, odd, "Pad", []any{[]int64{2, 3, 1, 2}, nil, []int64{2, -1}}, str("mode", "wrap"))
	add("slice backwards", 13, odd, "Slice", []any{[]int64{-1, 8}, []int64{-100, 1}, []int64{2, 3}, []int64{-2, -3}})
	add("einsum", 13, []int{2, 3, 4}, "Einsum", []any{noise(2, 5, 4)}, str("equation", "bij,kj->bki"))
	add("einsum diagonal", 13, []int{2, 3, 3}, "Einsum", nil, str("equation", "...ii->...i"))
	add("running sum", 14, []int{3, 4}, "CumSum", []any{tensor.FromInt64([]int64{-1})}, num("reverse", 1),
		num("exclusive", 1))
	add("log sum exp", 18, image, "ReduceLogSumExp", []any{[]int64{1, 3}}, num("keepdims", 0))
	add("no axes", 18, image, "ReduceL2", []any{[]int64{}}, num("noop_with_empty_axes", 1))
	add("norm", 13, image, "ReduceL2", nil, ints("axes", 2, -1))

	none := floatsOf()
	scales := floatsOf(1, 1, 0.6, 1.7)
	for _, place := range []string{"half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"} {
		for _, mode := range []string{"linear", "cubic"} {
			add("resize "+place+" "+mode, 13, odd, "Resize", []any{none, scales}, str("mode", mode),
				str("coordinate_transformation_mode", place))
		}
		for _, near := range []string{"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"} {
			add("resize "+place+" nearest "+near, 13, odd, "Resize", []any{none, floatsOf(1, 1, 0.7, 1.6)},
				str("mode", "nearest"),
				str("coordinate_transformation_mode", place), str("nearest_mode", near))
		}
	}
	add("resize within", 13, odd, "Resize", []any{none, scales}, str("mode", "cubic"), num("exclude_outside", 1),
		fraction("cubic_coeff_a", -0.5))
	add("resize symmetric", 19, odd, "Resize", []any{none, scales}, str("mode", "linear"),
		str("coordinate_transformation_mode", "half_pixel_symmetric"))
	add("resize to sizes", 18, odd, "Resize", []any{none, none, []int64{4, 13}}, str("mode", "linear"),
		ints("axes", 2, 3))
	add("resize, ratio kept", 18, odd, "Resize", []any{none, none, []int64{14, 14}}, str("mode", "linear"),
		ints("axes", 2, 3),
		str("keep_aspect_ratio_policy", "not_larger"))
	for _, mode := range []string{"linear", "cubic"} {
		add("resize smoothed "+mode, 18, []int{1, 2, 12, 15}, "Resize", []any{none, floatsOf(1, 1, 0.4, 0.55)},
			str("mode", mode), num("antialias", 1))
		add("resize smoothed within "+mode, 18, []int{1, 2, 12, 15}, "Resize", []any{none, floatsOf(1, 1, 0.4, 0.55)},
			str("mode", mode),
			num("antialias", 1), num("exclude_outside", 1))
	}
	add("resize a crop", 13, odd, "Resize", []any{floatsOf(0, 0, -0.2, 0.3, 1, 1, 0.8, 1.4), scales},
		str("mode", "linear"),
		str("coordinate_transformation_mode", "tf_crop_and_resize"), fraction("extrapolation_value", 7))
	add("upsample", 9, odd, "Upsample", []any{floatsOf(1, 1, 2, 3)}, str("mode", "nearest"))
	add("upsample linear", 9, odd, "Upsample", []any{floatsOf(1, 1, 2, 3)}, str("mode", "linear"))
	add("resize of old", 10, odd, "Resize", []any{floatsOf(1, 1, 0.6, 1.5)}, str("mode", "linear"))
	add("resize of old, nearest", 10, odd, "Resize", []any{floatsOf(1, 1, 0.6, 1.5)}, str("mode", "nearest"))
	for _, mode := range []string{"bilinear", "nearest", "bicubic"} {
		for _, padding := range []string{"zeros", "border", "reflection"} {
			for _, corners := range []int64{0, 1} {
				add(fmt.Sprintf("grid %s %s %d", mode, padding, corners), 16, odd, "GridSample",
					[]any{noise(5, 1, 6, 5, 2)},
					str("mode", mode), str("padding_mode", padding), num("align_corners", corners))
			}
		}
	}
	add("grid of volumes", 20, []int{1, 2, 4, 5, 6}, "GridSample", []any{noise(5, 1, 3, 4, 2, 3)},
		str("mode", "linear"), str("padding_mode", "border"))

	sequence := []int{5, 2, 3}
	for _, direction := range []string{"forward", "reverse", "bidirectional"} {
		d := 1
		if direction == "bidirectional" {
			d = 2
		}
		lens := tensor.New(tensor.Int32, 2)
		lens.Raw[0], lens.Raw[4] = 3, 5
		add("rnn "+direction, 14, sequence, "RNN", []any{
			noise(2, d, 4, 3), noise(3, d, 4, 4), noise(4, d, 8), lens,
			noise(5, d, 2, 4),
		},
			str("direction", direction), num("hidden_size", 4))
		add("gru "+direction, 14, sequence, "GRU", []any{
			noise(2, d, 12, 3), noise(3, d, 12, 4), noise(4, d, 24), nil,
			noise(5, d, 2, 4),
		},
			str("direction", direction), num("hidden_size", 4))
		add("gru, linear first "+direction, 14, sequence, "GRU",
			[]any{noise(2, d, 12, 3), noise(3, d, 12, 4), noise(4, d, 24), lens},
			str("direction", direction), num("hidden_size", 4), num("linear_before_reset", 1))
		add("lstm "+direction, 14, sequence, "LSTM",
			[]any{
				noise(2, d, 16, 3), noise(3, d, 16, 4), noise(4, d, 32), lens, noise(5, d, 2, 4), noise(6, d, 2, 4),
				noise(7, d, 12),
			},
			str("direction", direction), num("hidden_size", 4), fraction("clip", 3))
	}
	cs = append(cs, operatorCase{"attention", 17, []int{2, 6, 8}, func(b *onnx.Builder, x string) string {
		q := b.Op("MatMul", []string{x, b.Const(noise(2, 8, 8))})
		k := b.Op("Transpose", []string{b.Op("MatMul", []string{x, b.Const(noise(3, 8, 8))})}, ints("perm", 0, 2, 1))
		v := b.Op("MatMul", []string{x, b.Const(noise(4, 8, 8))})
		score := b.Op("Mul",
			[]string{b.Op("MatMul", []string{q, k}), b.Const(tensor.FromFloat32([]float32{0.35355339}))})
		return b.Op("MatMul", []string{b.Op("Softmax", []string{score}, num("axis", -1)), v})
	}})
	cs = append(cs, operatorCase{"values from indices", 18, []int{4, 5}, func(b *onnx.Builder, x string) string {
		top := b.Ops("TopK", 2, []string{x, b.Ints(3)}, num("axis", 1))
		from := b.Op("GatherElements", []string{x, top[1]}, num("axis", 1))
		sum := b.Op("ScatterElements", []string{x, top[1], from}, num("axis", 1), str("reduction", "add"))
		place := b.Op("ArgMax", []string{sum}, num("axis", 1), num("select_last_index", 1))
		hot := b.Op("OneHot", []string{place, b.Ints(5), b.Const(floatsOf(-1, 2))})
		return b.Op("Mul", []string{sum, b.Op("Squeeze", []string{hot, b.Ints(1)})})
	}})
	return cs
}

// deviations are where the embedded engine, ONNX Runtime 1.18.0, is known to be wrong; version 1.27.0 is right.
var deviations = map[string]string{
	"MaxPool ceil, last window outside":     "counts a window that begins in the padding",
	"AveragePool ceil, last window outside": "counts a window that begins in the padding",
	"average with pads, ceil":               "divides by places beyond the padding",
	"no axes":                               "returns the input, not the norm of each element",
}

// Models of one operator agree with every engine up to the rounding of float32.
func TestOperatorsAgainstEngines(t *testing.T) {
	type ready struct {
		operatorCase
		model []byte
		in    []tensor.Named
		want  []tensor.Named
	}
	var all []ready
	for k, c := range operatorCases() {
		b := onnx.NewBuilder(c.opset)
		axes := make([]any, len(c.shape))
		for j, n := range c.shape {
			axes[j] = n
		}
		x := b.Input("x", tensor.Float32, axes...)
		b.Graph().Output = append(b.Graph().Output, &onnxpb.ValueInfoProto{Name: new(c.make(b, x))})
		m, err := b.Model()
		if err != nil {
			t.Fatal(c.name, err)
		}
		model, err := b.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		g, err := oracle.Load(m)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		in := []tensor.Named{{Name: x, Tensor: noise(uint64(100+k), c.shape...)}}
		want, err := g.Run(t.Context(), in, oracle.Options{})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		all = append(all, ready{c, model, in, want})
	}
	es := engines(t)
	if len(es) > 1 && !everyEngine {
		es = es[len(es)-1:] // the native one
	}
	for _, e := range es {
		ran, worst := 0, 0.0
		for _, c := range all {
			s, err := e.Open(t.Context(), c.model, engine.Options{Threads: 1})
			if err != nil {
				t.Logf("%s does not open %s: %.150s", e.Info().Name, c.name, err)
				continue
			}
			got, err := s.Run(t.Context(), c.in)
			if err != nil {
				t.Logf("%s does not run %s: %.150s", e.Info().Name, c.name, err)
				continue
			}
			ran++
			d, err := apart(got, c.want)
			if err != nil || !(d <= 2e-6) {
				if e.Info().Name == choose.Wasm && deviations[c.name] != "" {
					continue
				}
				t.Errorf("%s on %s: %g apart, %v", c.name, e.Info().Name, d, err)
			} else {
				worst = max(worst, d)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
		t.Logf("%s: %d of %d, at most %.2g apart", e.Info().Name, ran, len(all), worst)
		if ran < len(all)*9/10 {
			t.Errorf("%s took only %d of %d models", e.Info().Name, ran, len(all))
		}
	}
}
