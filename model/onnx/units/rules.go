package units

import (
	"math"
	"slices"

	"nero/data/tensor"
	"nero/model/onnx"
	"nero/model/onnx/onnxpb"
)

// step ties the factors of what a node reads to those of what it makes.
func (t *ties) step(n *onnxpb.NodeProto) {
	op, in := n.GetOpType(), n.GetInput()
	if !looked(n) || !enough(n) {
		t.stay(n)
		return
	}
	switch {
	case slices.Contains([]string{"Conv", "ConvTranspose", "Gemm", "MatMul"}, op):
		t.product(n)
	case slices.Contains([]string{
		"Transpose", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Expand", "AveragePool", "GlobalAveragePool",
		"Upsample", "Identity", "Neg", "Dropout",
	}, op):
		t.handOn(n, 1, all()...)
	case op == "Resize", op == "Cast" && floats(tensor.DType(onnx.Int(n, "to", 0))):
		t.handOn(n, 1, all()...)
	case op == "Slice", op == "Split", op == "Gather":
		t.handOn(n, 1, all()...)
	case op == "Pad" && t.zeros(n):
		t.handOn(n, 1, all()...)
	case op == "Concat", op == "Add", op == "Sub", op == "Sum", op == "Mean":
		t.handOn(n, len(in), all()...)
	case op == "Max", op == "Min":
		t.handOn(n, len(in), Positive)
	case op == "Clip":
		t.clip(n)
	case op == "Relu", op == "LeakyRelu", op == "Abs", op == "MaxPool", op == "GlobalMaxPool":
		t.handOn(n, 1, Positive)
	case op == "PRelu":
		t.handOn(n, 1, Positive)
		for _, l := range t.leaves(in[1]) {
			t.pin(in[1], l, all()...)
		}
	case slices.Contains(odd, op):
		t.handOn(n, 1, Sign)
	case op == "ReduceMean", op == "ReduceSum":
		t.handOn(n, 1, all()...)
	case op == "ReduceMax", op == "ReduceMin":
		t.handOn(n, 1, Positive)
	case op == "ReduceL2":
		t.length(n)
	case op == "Mul", op == "Div":
		t.multiply(n)
	case op == "Pow" && t.square(n):
		t.squared(n)
	case op == "Where" && len(in) == 3:
		t.where(n)
	case op == "BatchNormalization" && len(in) == 5:
		t.batchNorm(n)
	case op == "InstanceNormalization", op == "GroupNormalization", op == "LayerNormalization",
		op == "SimplifiedLayerNormalization", op == "RMSNormalization":
		t.normalise(n)
	case op == "LpNormalization" && onnx.Int(n, "p", 2) == 2:
		t.unitLength(n)
	default:
		t.stay(n)
	}
}

// handOn ties what a node makes to its first inputs. A class that is in one of them alone, as when it is summed over
// or broadcast, stays.
func (t *ties) handOn(n *onnxpb.NodeProto, inputs int, ks ...Kind) {
	in := n.GetInput()[:min(inputs, len(n.GetInput()))]
	if op := n.GetOpType(); op == "Max" || op == "Min" { // beside 0 a larger number is as large
		in = slices.DeleteFunc(slices.Clone(in), t.zero)
	}
	for _, o := range n.GetOutput() {
		if o == "" {
			continue
		}
		inner := t.listed(o) // of axes one after another each comes from one input
		for _, l := range t.leaves(o) {
			found := false
			for _, v := range in {
				if t.has(v, l) {
					t.same(v, o, l, 1, ks...)
					found = true
				} else if n.GetOpType() != "Concat" || !inner[l] {
					t.pin(o, l, all()...)
				}
			}
			if !found {
				t.pin(o, l, all()...)
			}
		}
	}
	cut := n.GetOpType() == "Slice" || n.GetOpType() == "Split"
	for _, v := range in {
		inner := t.listed(v) // parts that are cut off are no matter of what is left
		for _, l := range t.leaves(v) {
			kept := slices.ContainsFunc(n.GetOutput(), func(o string) bool { return t.has(o, l) })
			if kept || cut && inner[l] {
				continue
			}
			t.pin(v, l, all()...)
		}
	}
}

// zero tells whether a value is a stored 0, of all units.
func (t *ties) zero(value string) bool {
	v, ok := t.g.facts.Stored(value)
	if !ok {
		return false
	}
	x, err := v.Float64s(nil)
	return err == nil && len(x) == 1 && x[0] == 0
}

// clip hands on factors above 0 where it cuts at 0 or not at all, and signs where it cuts at the same size on both
// sides.
func (t *ties) clip(n *onnxpb.NodeProto) {
	ends := [2]float64{float64(onnx.Float(n, "min", float32(math.Inf(-1)))), float64(onnx.Float(n, "max",
		float32(math.Inf(1))))}
	for i, in := range n.GetInput()[1:] {
		if in == "" || i > 1 {
			continue
		}
		v, ok := t.g.facts.Stored(in)
		x, err := v.Float64s(nil)
		if !ok || err != nil || len(x) != 1 {
			t.stay(n)
			return
		}
		ends[i] = x[0]
	}
	none := func(x float64) bool { return x == 0 || math.Abs(x) >= math.MaxFloat32 }
	var ks []Kind
	if none(ends[0]) && none(ends[1]) {
		ks = append(ks, Positive)
	}
	if ends[0] == -ends[1] {
		ks = append(ks, Sign)
	}
	t.handOn(n, 1, ks...)
}

// listed are the classes of a value that are parts of axes one after another.
func (t *ties) listed(value string) map[*Atom]bool {
	out := map[*Atom]bool{}
	for _, a := range t.g.values[value] {
		for _, p := range a.parts() {
			for _, s := range p.sum {
				for _, l := range s.leaves() {
					out[l] = true
				}
			}
		}
	}
	return out
}

// zeros tells whether a Pad adds zeros, or nothing but more of the same.
func (t *ties) zeros(n *onnxpb.NodeProto) bool {
	if onnx.String(n, "mode", "constant") != "constant" {
		return true
	}
	if len(n.GetInput()) < 3 || n.GetInput()[2] == "" {
		return onnx.Float(n, "value", 0) == 0
	}
	v, ok := t.g.facts.Stored(n.GetInput()[2])
	if !ok {
		return false
	}
	x, err := v.Float64s(nil)
	return err == nil && len(x) == 1 && x[0] == 0
}

// product is a layer of weights, or the product of two values.
func (t *ties) product(n *onnxpb.NodeProto) {
	in, out := n.GetInput(), n.GetOutput()[0]
	a, b := in[0], in[1]
	_, as := t.views[a]
	_, bs := t.views[b]
	if len(in) > 2 && in[2] != "" {
		for _, l := range t.leaves(out) {
			if t.has(in[2], l) {
				t.same(in[2], out, l, 1, all()...)
			} else {
				t.pin(out, l, all()...)
			}
		}
		for _, l := range t.leaves(in[2]) {
			if !t.has(out, l) {
				t.pin(in[2], l, all()...)
			}
		}
	}
	if as || bs {
		x, w := a, b
		if as {
			x, w = b, a
		}
		if as && bs {
			t.stay(n)
			return
		}
		t.weights(n, x, w, out)
		return
	}
	for _, l := range union2(t.leaves(a), t.leaves(b)) {
		ha, hb, ho := t.has(a, l), t.has(b, l), t.has(out, l)
		switch {
		case ha && hb && ho: // each of a batch
			t.later = append(t.later, product{t.at(a, l), t.at(b, l), t.at(out, l), 1})
			for _, v := range []string{a, b, out} {
				t.pin(v, l, Rotation, Matrix)
			}
		case ha && hb:
			t.same(a, b, l, -1, all()...)
		case ha && ho:
			t.same(a, out, l, 1, all()...)
		case hb && ho:
			t.same(b, out, l, 1, all()...)
		default:
			for _, v := range []string{a, b} {
				if t.has(v, l) {
					t.pin(v, l, all()...)
				}
			}
		}
	}
}

func union2(a, b []*Atom) []*Atom {
	out := slices.Clone(a)
	for _, l := range b {
		if !slices.Contains(out, l) {
			out = append(out, l)
		}
	}
	return out
}

// weights multiplies a value by a stored tensor.
func (t *ties) weights(n *onnxpb.NodeProto, x, w, out string) {
	for _, l := range union2(t.leaves(w), union2(t.leaves(x), t.leaves(out))) {
		hx, hw, ho := t.has(x, l), t.has(w, l), t.has(out, l)
		var terms []term
		if hw && hx && ho && t.twice(w, l) {
			if to, from, ok := t.sides(n, w, l); ok {
				t.giveTwice(w, l, to, from, t.at(out, l), t.at(x, l))
				continue
			}
		}
		if hw {
			if ho {
				terms = append(terms, term{t.at(out, l), 1})
			}
			if hx {
				terms = append(terms, term{t.at(x, l), -1})
			}
			t.give(t.views[w], l, times(terms...))
			if ho && hx { // the same on both sides, number by number
				t.pin(x, l, Rotation, Matrix)
				t.pin(out, l, Rotation, Matrix)
			}
			continue
		}
		switch {
		case hx && ho:
			t.same(x, out, l, 1, all()...)
		case hx:
			t.pin(x, l, all()...)
		case ho:
			t.pin(out, l, all()...)
		}
	}
}

// multiply is a product or a quotient, number by number.
func (t *ties) multiply(n *onnxpb.NodeProto) {
	a, b, out := n.GetInput()[0], n.GetInput()[1], n.GetOutput()[0]
	exp := 1
	if n.GetOpType() == "Div" {
		exp = -1
	}
	if a == b && exp == 1 {
		t.squared(n)
		return
	}
	_, as := t.views[a]
	_, bs := t.views[b]
	for _, l := range t.leaves(out) {
		ha, hb := t.has(a, l), t.has(b, l)
		switch {
		case ha && hb && bs && !as, ha && hb && as && !bs && exp == 1:
			x, w := a, b
			if as {
				x, w = b, a
			}
			// the factor of what is stored is that of the answer over that of the value
			t.give(t.views[w], l, times(term{t.at(out, l), exp}, term{t.at(x, l), -exp}))
			t.pin(x, l, Rotation, Matrix)
			t.pin(out, l, Rotation, Matrix)
		case ha && hb && !as && !bs:
			t.later = append(t.later, product{t.at(a, l), t.at(b, l), t.at(out, l), exp})
			for _, v := range []string{a, b, out} {
				t.pin(v, l, Rotation, Matrix)
			}
		case ha && hb: // a stored number over a value
			for _, v := range []string{a, b, out} {
				t.pin(v, l, all()...)
			}
		case ha:
			t.same(a, out, l, 1, all()...)
		case hb && exp == 1:
			t.same(b, out, l, 1, all()...)
		case hb:
			t.same(b, out, l, -1, Positive, Sign)
		default:
			t.pin(out, l, all()...)
		}
	}
}

// square tells whether a power is the second.
func (t *ties) square(n *onnxpb.NodeProto) bool {
	v, ok := t.g.facts.Stored(n.GetInput()[1])
	if !ok {
		return false
	}
	x, err := v.Float64s(nil)
	return err == nil && len(x) == 1 && x[0] == 2
}

// squared forgets the sign; what is summed up over all units forgets how they are turned, too.
func (t *ties) squared(n *onnxpb.NodeProto) {
	x, out := n.GetInput()[0], n.GetOutput()[0]
	for _, l := range t.leaves(out) {
		t.pin(out, l, all()...)
		t.pin(x, l, Positive, Matrix)
		summed := len(t.readers[out]) > 0
		for _, r := range t.readers[out] {
			op := r.GetOpType()
			summed = summed && (op == "ReduceMean" || op == "ReduceSum") && !t.has(r.GetOutput()[0], l)
		}
		if !summed {
			t.pin(x, l, Rotation)
		}
	}
}

// length is the Euclidean length over axes.
func (t *ties) length(n *onnxpb.NodeProto) {
	x, out := n.GetInput()[0], n.GetOutput()[0]
	for _, l := range t.leaves(x) {
		if t.has(out, l) {
			t.same(x, out, l, 1, Positive)
			continue
		}
		t.pin(x, l, Positive, Matrix)
	}
}

func (t *ties) where(n *onnxpb.NodeProto) {
	in, out := n.GetInput(), n.GetOutput()[0]
	for _, l := range t.leaves(out) {
		ks := all()
		if t.has(in[0], l) {
			t.pin(in[0], l, all()...)
			ks = []Kind{Positive, Sign}
		}
		for _, v := range in[1:] {
			if t.has(v, l) {
				t.same(v, out, l, 1, ks...)
			} else {
				t.pin(out, l, all()...)
			}
		}
	}
}

// batchNorm has statistics that are stored: its variance stays, so that what is added to it stays small beside it.
func (t *ties) batchNorm(n *onnxpb.NodeProto) {
	in, out := n.GetInput(), n.GetOutput()[0]
	training := onnx.Int(n, "training_mode", 0) != 0
	for _, l := range t.leaves(out) {
		if !t.has(in[1], l) {
			t.same(in[0], out, l, 1, all()...)
			continue
		}
		x, y := t.at(in[0], l), t.at(out, l)
		t.pin(in[0], l, Rotation, Matrix)
		t.pin(out, l, Rotation, Matrix)
		if training {
			t.pin(in[0], l, Positive)
		}
		t.storedAs(in[1], l, times(term{y, 1}, term{x, -1}))
		t.storedAs(in[2], l, times(term{y, 1}))
		t.storedAs(in[3], l, times(term{x, 1}))
		t.storedAs(in[4], l, [kinds][]term{})
	}
	for _, o := range n.GetOutput()[1:] {
		for _, l := range t.leaves(o) {
			t.pin(o, l, all()...)
		}
	}
}

// storedAs gives a stored tensor its factor. A value that is not stored stays, and all in the terms with it.
func (t *ties) storedAs(value string, l *Atom, terms [kinds][]term) {
	if s, ok := t.views[value]; ok {
		t.give(s, l, terms)
		return
	}
	t.pin(value, l, all()...)
	for k, list := range terms {
		for _, x := range list {
			t.of[k].pin(x.at)
		}
	}
}

// normalise has statistics of the data: scales that all numbers of a statistic share would pass but for what is added
// to the variance, and are another question. What it is multiplied by afterwards is free.
func (t *ties) normalise(n *onnxpb.NodeProto) {
	in, out := n.GetInput(), n.GetOutput()[0]
	centred := n.GetOpType() != "RMSNormalization" && n.GetOpType() != "SimplifiedLayerNormalization"
	for _, l := range t.leaves(in[0]) {
		t.pin(in[0], l, Positive, Rotation, Matrix)
		t.pin(out, l, Rotation, Matrix)
		y, x := t.at(out, l), t.at(in[0], l)
		scaled := len(in) > 1 && in[1] != "" && t.has(in[1], l)
		biased := len(in) <= 2 || in[2] == "" || t.has(in[2], l)
		if centred || !scaled || !biased {
			t.pin(in[0], l, Sign)
		}
		if !scaled || !biased {
			t.pin(out, l, Positive, Sign)
		}
		if scaled {
			t.storedAs(in[1], l, times(term{y, 1}, term{x, -1}))
		}
		if len(in) > 2 && in[2] != "" && t.has(in[2], l) {
			t.storedAs(in[2], l, times(term{y, 1}))
		}
	}
	for _, o := range n.GetOutput()[1:] {
		for _, l := range t.leaves(o) {
			t.pin(o, l, all()...)
		}
	}
}

// unitLength divides by the Euclidean length.
func (t *ties) unitLength(n *onnxpb.NodeProto) {
	in, out := n.GetInput()[0], n.GetOutput()[0]
	k := int(onnx.Int(n, "axis", -1))
	axes := t.g.values[in]
	if k < 0 {
		k += len(axes)
	}
	for _, l := range t.leaves(out) {
		if k >= 0 && k < len(axes) && slices.Contains(axes[k].leaves(), l) {
			t.same(in, out, l, 1, Sign, Rotation)
			continue
		}
		t.same(in, out, l, 1, Sign)
	}
}
