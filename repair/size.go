package repair

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"nero/data/tensor"
	"nero/model/decode"
	"nero/model/onnx"
	"nero/model/onnx/facts"
	"nero/model/onnx/lint"
	"nero/model/onnx/onnxpb"
	"nero/model/onnx/rewrite"
	"nero/symmetry/action"
)

// size is about pictures whose strided grids a quarter turn or a mirror takes off themselves: it says of which sizes
// the graph would keep the group, and frames or crops pictures to one of these if asked to.
var size = Method{
	Name: "size",
	Doc:  "pictures of a size at which strided grids stay on themselves",
	Options: []Option{{
		Name: "by", Values: []string{"advice", "pad", "crop"},
		Doc: "say which sizes these are, or let the file put pixels of 0 around pictures, or cut pixels off, alike " +
			"on all sides",
	}},
	predicted: once,
	write: func(s Source, options map[string]string) (*rewrite.Shell, string, error) {
		_, wanted, err := square(s)
		if err != nil {
			return nil, "", err
		}
		z, err := sizesOf(s, wanted)
		if err != nil {
			return nil, "", err
		}
		if options["by"] == "advice" {
			return nil, "", errors.New(z.advice())
		}
		if _, ok := s.Out.(action.Trivial); !ok {
			return nil, "", fmt.Errorf("the answer moves with the picture, and would have another size: %s", z.advice())
		}
		n := z.reach(options["by"] == "pad")
		if n == 0 {
			return nil, "", fmt.Errorf("no size that an even number of pixels leads to: %s", z.advice())
		}
		w, err := z.write(n)
		if err != nil {
			return nil, "", err
		}
		return w.Shell, fmt.Sprintf("%s, %d to %d pixels", s.Group.Name(), z.n, n), nil
	},
}

// sizes are those of square pictures at which a graph keeps a group.
type sizes struct {
	s      Source
	before *lint.Prediction
	loss   lint.Loss
	n      int
	// that keep it, ascending
	good []int
}

// nearby is how far sizes are looked for.
const nearby = 16

// sizesOf looks for sizes.
func sizesOf(s Source, wanted lint.Subgroup) (*sizes, error) {
	f, err := s.facts(s.Model)
	if err != nil {
		return nil, err
	}
	o := lint.Options{Output: decode.Outputs(s.Codec)[0]}
	p, err := lint.Structure(context.Background(), f, o)
	switch {
	case err != nil:
		return nil, err
	case p.Size[0] != p.Size[1]:
		return nil, fmt.Errorf("pictures of %d x %d are not square", p.Size[0], p.Size[1])
	case p.Structure&wanted == wanted:
		return nil, fmt.Errorf("at %d x %d pixels the grids of the graph keep %s: sizes are not what breaks it",
			p.Size[0], p.Size[1], s.Group.Name())
	}
	z := &sizes{s: s, before: p, n: p.Size[0]}
	if len(p.Losses) > 0 {
		z.loss = p.Losses[0]
	}
	for n := max(2, z.n-nearby); n <= z.n+nearby; n++ {
		if n == z.n {
			continue
		}
		g, err := z.facts(n, f)
		if err != nil {
			continue // the rest of the graph does not read this size
		}
		if q, err := lint.Structure(context.Background(), g, o); err == nil && q.Structure&wanted == wanted {
			z.good = append(z.good, n)
		}
	}
	return z, nil
}

// facts are those of the model with pictures of another size. The error says that it answers in another shape then, or
// does not read them.
func (z *sizes) facts(n int, as *facts.Facts) (*facts.Facts, error) {
	b := z.s.Model.Edit()
	g := b.Graph()
	g.ValueInfo = nil
	shapes := map[string][]int{}
	for _, p := range z.s.Model.Signature().Inputs {
		shapes[p.Name] = slices.Clone(as.Shapes[p.Name])
	}
	for a, c := range z.before.Layout {
		if c == 'H' || c == 'W' {
			shapes[z.before.Input][a] = n
			for _, v := range g.GetInput() {
				if v.GetName() == z.before.Input {
					v.GetType().GetTensorType().GetShape().Dim[a].Value = &onnxpb.TensorShapeProto_Dimension_DimValue{
						DimValue: int64(n),
					}
				}
			}
		}
	}
	for _, v := range g.GetOutput() {
		if t := v.GetType().GetTensorType(); t != nil {
			t.Shape = nil
		}
	}
	m, err := b.Model()
	if err != nil {
		return nil, err
	}
	return facts.Infer(m, shapes, nil)
}

// advice is what to do.
func (z *sizes) advice() string {
	why := ""
	if z.loss.Reason != "" {
		why = fmt.Sprintf(" (%s: %s)", z.loss.Node, z.loss.Reason)
	}
	if len(z.good) == 0 {
		return fmt.Sprintf("no size from %d to %d that the graph reads keeps %s; yours is %d%s", max(2, z.n-nearby),
			z.n+nearby, z.s.Group.Name(), z.n, why)
	}
	near := slices.Clone(z.good)
	slices.SortStableFunc(near, func(a, b int) int { return abs(a-z.n) - abs(b-z.n) })
	near = slices.Sorted(slices.Values(near[:min(len(near), 4)]))
	words := make([]string, len(near))
	for i, n := range near {
		words[i] = strconv.Itoa(n)
	}
	return fmt.Sprintf("pictures of %s pixels keep %s; yours is %d%s: resize or crop pictures before they come to the "+
		"model, or ask for size:by=pad or size:by=crop where the difference is even", strings.Join(words, ", "),
		z.s.Group.Name(), z.n, why)
}

func abs(n int) int { return max(n, -n) }

// reach is the nearest larger or smaller size that an even number of pixels leads to; 0 if there is none.
func (z *sizes) reach(larger bool) int {
	best := 0
	for _, n := range z.good {
		if n > z.n == larger && (n-z.n)%2 == 0 && (best == 0 || abs(n-z.n) < abs(best-z.n)) {
			best = n
		}
	}
	return best
}

// write lets the model read pictures of another size.
func (z *sizes) write(n int) (*wrapper, error) {
	s, in := z.s, z.before.Input
	if v := s.Model.Opset(); v < oldest {
		return nil, tooOld(s, v)
	}
	places, ports, err := layout(s.Codec, s.Sample)
	if err != nil {
		return nil, err
	}
	port, _ := s.Model.Signature().Input(in)
	k := slices.IndexFunc(ports, func(t tensor.Named) bool { return t.Name == in })
	if k < 0 {
		return nil, fmt.Errorf("the input %s reads nothing of a picture", in)
	}
	w := &wrapper{Shell: rewrite.New(s.Model), opset: s.Model.Opset(), dtype: port.DType}
	w.Under("size")
	shape := ports[k].Shape
	before, after := make([]int64, len(shape)), make([]int64, len(shape))
	var axes, starts, ends []int64
	by := int64(n-z.n) / 2
	for a, c := range z.before.Layout {
		if c == 'H' || c == 'W' {
			before[a], after[a] = by, by
			axes, starts, ends = append(axes, int64(a)), append(starts, -by), append(ends, int64(z.n)+by)
		}
	}
	x := in
	if by < 0 {
		x = w.Op("Slice", []string{x, w.Ints(starts...), w.Ints(ends...), w.Ints(axes...)})
	} else {
		// What stands for a pixel of 0 may differ from channel to channel.
		black := make([]float64, tensor.Count(shape[1:]))
		for _, p := range places {
			if p.port == k {
				black[p.at] = p.offset
			}
		}
		offsets, same := w.perChannel(black, shape, z.before.Layout)
		pads := w.Ints(slices.Concat(before, after)...)
		if same {
			x = w.Op("Pad", []string{x, pads, w.numbers(black[:1], port.DType)}, onnx.AttrString("mode", "constant"))
		} else {
			x = w.Op("Sub", []string{x, offsets})
			x = w.Op("Pad", []string{x, pads}, onnx.AttrString("mode", "constant"))
			x = w.Op("Add", []string{x, offsets})
		}
	}
	y, err := w.Body(map[string]string{in: x})
	if err != nil {
		return nil, err
	}
	for _, p := range s.Model.Signature().Outputs {
		w.Answer(p.Name, y[p.Name])
	}
	return w, nil
}

// perChannel is one number for each channel of pictures, given at all their places; same tells that all are equal.
func (w *wrapper) perChannel(at []float64, shape []int, order string) (name string, same bool) {
	same = !slices.ContainsFunc(at, func(x float64) bool { return x != at[0] })
	if same {
		return "", true
	}
	dims := make([]int, len(shape)-1)
	stride, channels := 1, 1
	for a := len(shape) - 1; a > 0; a-- {
		dims[a-1] = 1
		if order[a] == 'C' {
			dims[a-1], channels = shape[a], shape[a]
			break
		}
		stride *= shape[a]
	}
	for a := range dims {
		dims[a] = max(dims[a], 1)
	}
	values := make([]float64, channels)
	for c := range values {
		values[c] = at[c*stride]
	}
	return w.numbers(values, w.dtype, dims...), false
}
