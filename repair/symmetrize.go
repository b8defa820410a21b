package repair

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"nero/data/space"
	"nero/data/tensor"
	"nero/model/decode"
	"nero/model/onnx"
	"nero/model/onnx/facts"
	"nero/model/onnx/lint"
	"nero/model/onnx/rewrite"
	"nero/symmetry/action"
	"nero/symmetry/group"
)

// symmetrize makes the weights of a model symmetric that are so but for a few layers: each kernel K becomes the mean
// (1/n) Σ ρ_out(g) K ρ_in(g)⁻¹ over the elements, with the places moved and the channels permuted as the weights around
// it tell. The model costs what it did.
var symmetrize = Method{
	Name: "symmetrize",
	Doc:  "the weights of the few layers that are not symmetric, replaced by their means over the group",
	Options: []Option{{
		Name: "force", Values: []string{"false", "true"},
		Doc: "replace all weights that are not symmetric, even where that makes another model",
	}},
	predicted: once,
	write: func(s Source, options map[string]string) (*rewrite.Shell, string, error) {
		elements, wanted, err := square(s)
		if err != nil {
			return nil, "", err
		}
		if n := quantised(s.Model); n != "" {
			return nil, "", fmt.Errorf("%s reads weights that are stored as whole numbers (quantised), and a mean of "+
				"such is none: symmetrize the model before it is quantised", n)
		}
		if err := s.permutesNoChannels(elements); err != nil {
			return nil, "", err
		}
		f, err := s.facts(s.Model)
		if err != nil {
			return nil, "", err
		}
		force := options["force"] == "true"
		ties, err := lint.Ties(context.Background(), f, lint.Options{Output: decode.Outputs(s.Codec)[0]}, wanted, force)
		switch {
		case errors.Is(err, lint.ErrStructure):
			return nil, "", fmt.Errorf("weights that are symmetric would not help: %w", err)
		case err != nil && !force:
			return nil, "", fmt.Errorf("how channels move is not known, so that no mean can be taken: %w; take "+
				"average "+
				"or select, or let channels stay where that is so with symmetrize:force=true", err)
		case err != nil:
			return nil, "", fmt.Errorf("how channels move is not known, so that no mean can be taken: %w", err)
		}
		all, err := weigh(f, ties, wanted)
		if err != nil {
			return nil, "", err
		}
		uneven, say, err := all.lopsided(force)
		if err != nil {
			return nil, "", err
		}
		shell := rewrite.Keep(s.Model)
		for _, k := range uneven {
			shell.Replace(k.tensor, k.mean, k.nodes...)
		}
		return shell, fmt.Sprintf("%s, %d elements: %s", s.Group.Name(), wanted.Order(), say), nil
	},
}

// square are the elements of a group of quarter turns and mirrors of a square, and the same as the lint names them.
func square(s Source) ([]group.Element, lint.Subgroup, error) {
	none := fmt.Errorf("%s does more than quarter turns and mirrors of pictures, under which weights have places to "+
		"move to: claim one of C2, C4, D1, D2, D4", s.Group.Name())
	planar, ok := s.Group.(group.Planar)
	finite, countable := s.Group.(group.Finite)
	ordered, _ := s.Group.(group.Ordered)
	if _, h, _ := space.Grid(s.Sample); !ok || !countable || h == 0 ||
		ordered != nil && ordered.Order() > lint.Whole.Order() {
		return nil, 0, none
	}
	var out lint.Subgroup
	for _, g := range finite.Elements() {
		a, t := planar.Affine(g)
		e, ok := lint.ByMatrix(a)
		if !ok || t != [2]float64{} {
			return nil, 0, none
		}
		out |= 1 << e
	}
	return finite.Elements(), out, nil
}

// integral are operators whose weights are whole numbers.
var integral = []string{
	"QLinearConv", "ConvInteger", "QLinearMatMul", "MatMulInteger", "DequantizeLinear", "DynamicQuantizeLinear",
}

// quantised is a node that reads or makes whole numbers in the place of others, "" for none.
func quantised(m *onnx.Model) string {
	for _, n := range m.Proto().GetGraph().GetNode() {
		if slices.Contains(integral, n.GetOpType()) {
			return onnx.NodeLabel(n) + " (" + n.GetOpType() + ")"
		}
	}
	return ""
}

// permutesNoChannels sees to it that the answer stays as it is under all elements, or is a map whose places move alone:
// the last layer of weights is then known to keep its channels.
func (s Source) permutesNoChannels(elements []group.Element) error {
	if _, ok := s.Out.(action.Trivial); ok {
		return nil
	}
	outs := decode.Outputs(s.Codec)
	if len(outs) != 1 {
		return fmt.Errorf("%s answers with the outputs %q: repairs are written for one", s.Model.Name(), outs)
	}
	raw, err := decode.Raw(decode.Plain(s.Codec), []space.Value{s.Answer})
	if err != nil {
		return err
	}
	shape := raw.Shape[1:]
	block := 1
	if len(shape) > 1 {
		block = tensor.Count(shape[len(shape)-2:])
	}
	for _, g := range elements {
		t, err := output(s.Codec, outs[0], s.Out, g, shape)
		if err != nil {
			return err
		}
		for j := range t.outputs() {
			if t.taps != 1 || t.weight[j] != 1 || t.shift != nil || int(t.index[j])/block != j/block {
				return fmt.Errorf("the answer of %s is no map whose places move alone: its channels change with the "+
					"element, and how weights would have to is not known", s.Model.Name())
			}
		}
	}
	return nil
}

// outputs is how many numbers a transport writes; none if everything stays.
func (t *transport) outputs() int {
	if t == nil {
		return 0
	}
	return len(t.index) / t.taps
}

// facts are what is known of a model that reads what the source does.
func (s Source) facts(m *onnx.Model) (*facts.Facts, error) {
	in, err := s.Codec.Encode([]space.Value{s.Sample}, nil)
	if err != nil {
		return nil, err
	}
	shapes := map[string][]int{}
	for _, t := range in {
		shapes[t.Name] = t.Shape
	}
	f, err := facts.Infer(m, shapes, nil)
	if err != nil {
		return nil, fmt.Errorf("the shapes inside the graph are not known: %w", err)
	}
	return f, nil
}

// kernel is a stored tensor beside its mean over a group.
type kernel struct {
	tensor string
	nodes  []int
	// weights that multiply, and not biases
	kernel bool
	mean   tensor.Tensor
	// how far it is from its mean, in units of its size, and how far numbers drawn at random would be
	uneven, generic float64
}

// kernels are all of a model.
type kernels []*kernel

// weigh takes the means.
func weigh(f *facts.Facts, ties []*lint.Tie, over lint.Subgroup) (kernels, error) {
	var out kernels
	to := map[string]*lint.Tie{}
	for _, t := range ties {
		if before := to[t.Tensor]; before != nil {
			for _, e := range over.Elements() {
				if !slices.Equal(before.To[e], t.To[e]) {
					return nil, fmt.Errorf("%s and %s share weights, and permute their channels differently",
						before.Name, t.Name)
				}
			}
			i := slices.IndexFunc(out, func(k *kernel) bool { return k.tensor == t.Tensor })
			out[i].nodes = append(out[i].nodes, t.Node)
			continue
		}
		to[t.Tensor] = t
		k, err := mean(f, t, over)
		if err != nil {
			return nil, err
		}
		out = append(out, k)
	}
	return out, nil
}

// mean is that of one tensor over the elements. Entries that elements exchange get the same bits.
func mean(f *facts.Facts, t *lint.Tie, over lint.Subgroup) (*kernel, error) {
	stored, ok := f.Stored(t.Tensor)
	if !ok {
		return nil, fmt.Errorf("%s: its weights are computed while it runs", t.Name)
	}
	val, err := stored.Float64s(nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.Name, err)
	}
	out, done := make([]float64, len(val)), make([]bool, len(val))
	orbits := 0
	for i := range val {
		if done[i] {
			continue
		}
		orbits++
		at := []int32{int32(i)}
		for _, e := range over.Elements() {
			if e != lint.Identity {
				at = append(at, t.To[e][i])
			}
		}
		sum := 0.0
		for _, j := range at {
			sum += val[j]
		}
		for _, j := range at {
			out[j], done[j] = sum/float64(len(at)), true
		}
	}
	m, err := decode.Rounded(stored.DType, out, stored.Shape...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.Name, err)
	}
	var off, size float64
	for i, v := range val {
		d := v - out[i]
		off, size = off+float64(d*d), size+float64(v*v)
	}
	k := &kernel{
		tensor: t.Tensor, nodes: []int{t.Node}, kernel: t.Kernel, mean: m,
		generic: math.Sqrt(1 - float64(orbits)/float64(max(len(val), 1))),
	}
	switch {
	case math.IsNaN(off) || math.IsInf(size, 0):
		return nil, fmt.Errorf("%s has weights that are NaN or infinite", t.Name)
	case size > 0:
		k.uneven = math.Sqrt(off / size)
	}
	return k, nil
}

const (
	// leastUneven is what rounding to float32 leaves of kernels that were made symmetric, with a margin.
	leastUneven = 1e-6
	// standOut is how many times as uneven as the others a kernel is that does not belong to them.
	standOut = 10
)

// lopsided are the tensors to replace, and what to say of all.
func (ks kernels) lopsided(force bool) (out kernels, say string, err error) {
	var ordinary, weights, rest []string
	for _, k := range ks {
		if !k.kernel {
			continue
		}
		if k.generic == 0 { // nothing moves, as in a layer of channels that stay
			continue
		}
		text := fmt.Sprintf("%s %.2g", k.tensor, k.uneven)
		weights = append(weights, text)
		if k.uneven >= k.generic/2 {
			ordinary = append(ordinary, text)
		}
	}
	if 2*len(ordinary) > len(weights) && !force {
		return nil, "", fmt.Errorf("%d of %d kernels have no symmetry to speak of (lopsidedness %s), so that their "+
			"means would be another model: take average or select, train the model with moved samples, or insist "+
			"with symmetrize:force=true", len(ordinary), len(weights), strings.Join(ordinary, ", "))
	}
	var changed []string
	for i, k := range ks {
		var others []float64
		for j, o := range ks {
			if j != i && o.kernel == k.kernel {
				others = append(others, o.uneven)
			}
		}
		text := fmt.Sprintf("%s %.2g", k.tensor, k.uneven)
		if k.uneven > leastUneven && (force || k.uneven > standOut*median(others)) {
			out, changed = append(out, k), append(changed, text)
		} else if k.kernel {
			rest = append(rest, text)
		}
	}
	if len(out) == 0 {
		return nil, "", fmt.Errorf("no kernel stands out: lopsidedness %s; weights are not what breaks the symmetry",
			strings.Join(rest, ", "))
	}
	say = "lopsidedness " + strings.Join(changed, ", ") + " to 0"
	if len(rest) > 0 {
		say += "; left " + strings.Join(rest, ", ")
	}
	return out, say, nil
}

// median of numbers, 0 of none; of an even count the lower of the two in the middle.
func median(x []float64) float64 {
	if len(x) == 0 {
		return 0
	}
	x = slices.Sorted(slices.Values(x))
	return x[(len(x)-1)/2]
}
