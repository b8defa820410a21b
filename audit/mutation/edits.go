package mutation

import (
	"math"

	"nero/data/tensor"
	"nero/model/onnx"
	"nero/model/onnx/onnxpb"
)

// What people do to models, each as one value. Nodes are named for what was done.

func value(f func(s *sketch, v string) string) edit { return edit{value: f} }

// table adds a random number for every place of the given shape.
func table(sd float64, shape ...int) edit {
	return value(func(s *sketch, v string) string {
		n := 1
		for _, d := range shape {
			n *= d
		}
		return s.add("table", v, s.floats(s.normal(n, sd), shape...))
	})
}

// pointwise applies an operator to every number.
func pointwise(op string) edit {
	return value(func(s *sketch, v string) string { return s.op("componentwise", op, []string{v}) })
}

// clip cuts numbers.
func clip(lo, hi float64) edit {
	return value(func(s *sketch, v string) string {
		return s.op("clip", "Min", []string{s.op("clip-low", "Max", []string{v, s.number(lo)}), s.number(hi)})
	})
}

// grid rounds to multiples of step.
func grid(step float64) edit {
	return value(func(s *sketch, v string) string {
		return s.times("grid", s.op("grid-round", "Round", []string{s.times("grid-steps", v, 1/step)}), step)
	})
}

// half passes a value through float16.
func half() edit {
	return value(func(s *sketch, v string) string {
		h := s.op("half", "Cast", []string{v}, onnx.AttrInt("to", int64(onnxpb.TensorProto_FLOAT16)))
		return s.op("full", "Cast", []string{h}, onnx.AttrInt("to", int64(onnxpb.TensorProto_FLOAT)))
	})
}

// quantised passes a value through unsigned bytes with a fixed scale.
func quantised(scale float64) edit {
	return value(func(s *sketch, v string) string {
		step := s.b.Const(tensor.FromFloat32([]float32{float32(scale)}))
		zero := s.b.Const(tensor.Tensor{DType: tensor.Uint8, Shape: nil, Raw: []byte{128}})
		q := s.op("quantise", "QuantizeLinear", []string{v, step, zero})
		return s.op("dequantise", "DequantizeLinear", []string{q, step, zero})
	})
}

// factors multiplies by numbers of the given shape, plus adds them.
func factors(shape []int, x ...float32) edit {
	return value(func(s *sketch, v string) string { return s.mul("factors", v, s.floats(x, shape...)) })
}

func plus(shape []int, x ...float32) edit {
	return value(func(s *sketch, v string) string { return s.add("bias", v, s.floats(x, shape...)) })
}

// turned exchanges axes.
func turned(axes ...int64) edit {
	return value(func(s *sketch, v string) string { return s.transpose("turned", v, axes...) })
}

// reorder takes the entries of an axis in another order.
func reorder(axis int64, index ...int64) edit {
	return value(func(s *sketch, v string) string {
		return s.op("reorder", "Gather", []string{v, s.b.Ints(index...)}, onnx.AttrInt("axis", axis))
	})
}

// folded reads a value in another shape and back, as a reshape that mixes axes does.
func folded(first, back []int64, axes ...int64) edit {
	return value(func(s *sketch, v string) string {
		return s.reshape("folded", s.transpose("folded-axes", s.reshape("folded-first", v, first...), axes...), back...)
	})
}

// pushed moves pictures by a pixel to the right and down; zeros enter.
func pushed(side int64) edit {
	return value(func(s *sketch, v string) string {
		cut := s.op("cut", "Slice", []string{v, s.b.Ints(0, 0), s.b.Ints(side-1, side-1), s.b.Ints(2, 3)})
		return s.op("push", "Pad", []string{cut, s.b.Ints(0, 0, 1, 1, 0, 0, 0, 0)})
	})
}

// pooled takes the largest or the mean of windows, pads are at the beginnings and the ends of the axes.
func pooled(op string, kernel, stride int64, pads ...int64) edit {
	return value(func(s *sketch, v string) string {
		k, t := []int64{}, []int64{}
		for range len(pads) / 2 {
			k, t = append(k, kernel), append(t, stride)
		}
		return s.op("pool", op, []string{v}, onnx.AttrInts("kernel_shape", k...), onnx.AttrInts("strides", t...),
			onnx.AttrInts("pads", pads...))
	})
}

// coarse takes the largest of every two numbers along each of dim axes and repeats it.
func coarse(dim int) edit {
	return value(func(s *sketch, v string) string {
		two, scales := []int64{}, []float32{1, 1}
		for range dim {
			two, scales = append(two, 2), append(scales, 2)
		}
		v = s.op("pool", "MaxPool", []string{v}, onnx.AttrInts("kernel_shape", two...),
			onnx.AttrInts("strides", two...))
		return s.op("enlarge", "Resize", []string{v, "", s.floats(scales, len(scales))},
			onnx.AttrString("mode", "nearest"), onnx.AttrString("coordinate_transformation_mode", "asymmetric"),
			onnx.AttrString("nearest_mode", "floor"))
	})
}

// batchNorm normalises by the mean and the deviation of the batch at hand.
func batchNorm(axes ...int64) edit {
	return value(func(s *sketch, v string) string {
		d := s.sub("norm-center", v, s.wide("norm-mean", v, axes...))
		sq := s.wide("norm-variance", s.mul("norm-square", d, d), axes...)
		return s.op("norm", "Div",
			[]string{d, s.op("norm-deviation", "Sqrt", []string{s.add("norm-epsilon", sq, s.number(1e-3))})})
	})
}

// evalNorm normalises by stored numbers of its own for every component: factors that differ.
func evalNorm(shape []int, gain, shift []float32) edit {
	return value(func(s *sketch, v string) string {
		return s.add("norm", s.mul("norm-gain", v, s.floats(gain, shape...)), s.floats(shift, shape...))
	})
}

// company subtracts a part of the mean of the batch.
func company(part float64) edit {
	return value(func(s *sketch, v string) string {
		return s.sub("company", v, s.times("company-part", s.wide("company-mean", v, 0), part))
	})
}

// leak adds size times the place in the batch.
func leak(size float64) edit {
	return value(func(s *sketch, v string) string {
		one := s.add("leak-ones", s.times("leak-none", v, 0), s.number(size))
		return s.add("leak", v,
			s.op("leak-places", "CumSum", []string{one, s.b.Const(tensor.FromInt64([]int64{0}))}))
	})
}

// running adds part of a running sum along an axis.
func running(axis int64, part float64) edit {
	return value(func(s *sketch, v string) string {
		sum := s.op("running-sum", "CumSum", []string{v, s.b.Const(tensor.FromInt64([]int64{axis}))})
		return s.add("running", v, s.times("running-part", sum, part))
	})
}

// dropout drops a share of the values at random.
func dropout(share float64) edit {
	return value(func(s *sketch, v string) string {
		u := s.op("random", "RandomUniformLike", []string{v})
		keep := s.op("kept", "Cast", []string{s.op("more", "Greater", []string{u, s.number(share)})},
			onnx.AttrInt("to", int64(onnxpb.TensorProto_FLOAT)))
		return s.mul("dropout", v, keep)
	})
}

// dead puts constants of the given shape in the place of a value.
func dead(shape ...int) edit {
	return value(func(s *sketch, v string) string {
		n := 1
		for _, d := range shape {
			n *= d
		}
		return s.add("dead", s.times("dead-none", v, 0), s.floats(s.normal(n, 1), shape...))
	})
}

// lopsided is a number that no group leaves as it is, [N, 1, ...] with as many axes as given: a random projection of
// what the model reads, between -1 and 1.
func (s *sketch) lopsided(axes int) string {
	v := s.op("lopsided-flat", "Flatten", []string{s.first})
	v = s.tanh("lopsided-bounded",
		s.product("lopsided", v, s.floats(s.normal(s.size, 1/math.Sqrt(float64(s.size))), s.size, 1)))
	for ; axes > 2; axes-- {
		v = s.widen("lopsided-axis"+string(rune('0'+axes)), v, 1)
	}
	return v
}

// branch adds size times a random projection of the input to a value of the given number of axes.
func branch(size float64, axes int) edit {
	return value(func(s *sketch, v string) string {
		return s.add("branch", v, s.times("branch-size", s.lopsided(axes), size))
	})
}

// someClasses adds the branch where output k is the largest alone.
func someClasses(size float64, k int64) edit {
	return value(func(s *sketch, v string) string {
		best := s.op("best", "ArgMax", []string{v}, onnx.AttrInt("axis", 1), onnx.AttrInt("keepdims", 1))
		is := s.op("gate", "Cast",
			[]string{s.op("is", "Equal", []string{best, s.b.Ints(k)})},
			onnx.AttrInt("to", int64(onnxpb.TensorProto_FLOAT)))
		return s.add("branch", v, s.mul("gated", is, s.times("branch-size", s.lopsided(2), size)))
	})
}

// rarely adds the branch where a random projection of the input is above a limit.
func rarely(size, above float64, axes int) edit {
	return value(func(s *sketch, v string) string {
		l := s.lopsided(axes)
		is := s.op("gate", "Cast", []string{s.op("is", "Greater", []string{l, s.number(above)})},
			onnx.AttrInt("to", int64(onnxpb.TensorProto_FLOAT)))
		return s.add("branch", v, s.mul("gated", is, s.times("branch-size", l, size)))
	})
}

// root adds nothing, through the root of a projection that is negative where it is below -above.
func root(above float64, axes int) edit {
	return value(func(s *sketch, v string) string {
		q := s.op("root", "Sqrt", []string{s.add("root-shift", s.lopsided(axes), s.number(above))})
		return s.add("guard", v, s.times("root-none", q, 0))
	})
}

// ripple adds height·sin(many·projection): small, with a large slope.
func ripple(height, many float64, axes int) edit {
	return value(func(s *sketch, v string) string {
		fast := s.op("fast", "Sin", []string{s.times("many", s.lopsided(axes), many)})
		return s.add("ripple", v, s.times("ripple-height", fast, height))
	})
}

// cutoff lets numbers pass that are above a limit, and makes 0 of the others.
func cutoff(above float64) edit {
	return value(func(s *sketch, v string) string {
		is := s.op("cutoff-mask", "Cast", []string{s.op("cutoff-within", "Greater", []string{v, s.number(above)})},
			onnx.AttrInt("to", int64(onnxpb.TensorProto_FLOAT)))
		return s.mul("cutoff", v, is)
	})
}

// scaled multiplies, offset adds: what every group leaves as it is for scalars.
func scaled(by float64) edit {
	return value(func(s *sketch, v string) string { return s.times("scaled", v, by) })
}

func offset(by float64) edit {
	return value(func(s *sketch, v string) string { return s.add("offset", v, s.number(by)) })
}

// nudged adds d to the given weights.
func nudged(d float32, at ...int) edit {
	return edit{weights: func(w []float32) {
		for _, i := range at {
			w[i] += d
		}
	}}
}

// every adds d to every weight whose number is a multiple of n and first more.
func every(n, first int, d float32) edit {
	return edit{weights: func(w []float32) {
		for i := first; i < len(w); i += n {
			w[i] += d
		}
	}}
}

// setTo chooses a setting.
func setTo(x float64) edit { return edit{setting: x} }

// chiral adds to vectors, [N, P, 3], their cross products with what the model reads, points of the same shape.
func chiral(size float64) edit {
	return value(func(s *sketch, v string) string {
		return s.add("chiral", v, s.times("chiral-size", s.crossed(v, s.first), size))
	})
}

// height adds a bounded mean of coordinate k of what the model reads, points [N, P, ...], to a value of some axes.
func height(size float64, k int64, axes int) edit {
	return value(func(s *sketch, v string) string {
		z := s.op("height-of", "Gather", []string{s.first, s.b.Ints(k)}, onnx.AttrInt("axis", 2))
		return s.add("height", v, s.times("height-size", s.meanOf(z, axes), size))
	})
}

// fromOrigin adds a bounded mean of the squared distances from the origin.
func fromOrigin(size float64, axes int) edit {
	return value(func(s *sketch, v string) string {
		sq := s.op("places-of", "ReduceSum", []string{s.mul("places-squared", s.first, s.first), s.b.Ints(2)},
			onnx.AttrInt("keepdims", 1))
		return s.add("places", v, s.times("places-size", s.meanOf(sq, axes), size))
	})
}

// meanOf is the mean of the bounded numbers [N, P, 1], as [N, 1, ...] of some axes.
func (s *sketch) meanOf(v string, axes int) string {
	m := s.mean("mean-of", s.tanh("bounded-of", v), 1)
	for ; axes > 2; axes-- {
		m = s.widen("axis-of"+string(rune('0'+axes)), m, 1)
	}
	return m
}

// after adds part of the value one step earlier along an axis of the given length: what comes before the first is 0.
func after(axis, length int64, part float64, rank int) edit {
	return value(func(s *sketch, v string) string {
		head := s.op("after-cut", "Slice", []string{v, s.b.Ints(0), s.b.Ints(length - 1), s.b.Ints(axis)})
		pads := make([]int64, 2*rank)
		pads[axis] = 1
		return s.add("after", v, s.times("after-part", s.op("after-pad", "Pad", []string{head, s.b.Ints(pads...)}),
			part))
	})
}

// halfSums adds the first n entries of an axis one after the other, and rounds to float16 each time; one entry is left.
func halfSums(axis, n int64) edit {
	return value(func(s *sketch, v string) string {
		sum := ""
		for i := range n {
			one := s.op("take", "Slice", []string{v, s.b.Ints(i), s.b.Ints(i + 1), s.b.Ints(axis)})
			if sum != "" {
				one = s.add("so-far", sum, one)
			}
			sum = half().value(s, one)
		}
		return sum
	})
}
