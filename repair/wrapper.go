package repair

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"nero/data/space"
	"nero/data/tensor"
	"nero/model/decode"
	"nero/model/onnx"
	"nero/model/onnx/onnxpb"
	"nero/model/onnx/rewrite"
)

// wrapper is a model between the elements that move its samples and those that move its answers back.
type wrapper struct {
	*rewrite.Shell

	opset int
	// n is how many elements there are.
	n int
	// name of the output that is read, and its type
	output string
	dtype  tensor.DType
	// the shape of one answer
	shape         []int
	scores        bool
	probabilities bool
	// the answers at all elements, moved back: [n, samples, numbers]
	answers string
}

// wrap writes everything but what a method makes of the answers.
func wrap(s Source) (*wrapper, error) {
	sig := s.Model.Signature()
	outs := decode.Outputs(s.Codec)
	if len(outs) != 1 {
		return nil, fmt.Errorf("%s answers with the outputs %q: repairs are written for one", s.Model.Name(), outs)
	}
	port, _ := sig.Output(outs[0])
	raw, err := decode.Raw(decode.Plain(s.Codec), []space.Value{s.Answer})
	switch {
	case errors.Is(err, decode.ErrNotLinear):
		return nil, fmt.Errorf("%s answers with %s, which cannot be added up: %w", s.Model.Name(), s.Answer.Form(), err)
	case err != nil:
		return nil, err
	case !decode.BatchAxis(s.Codec):
		return nil, oneByOne(s)
	case len(raw.Shape) < 2:
		return nil, fmt.Errorf("%s answers each sample with one number that has no axis of its own: where it is a "+
			"class that ArgMax chose, cut that off and repair the model of the scores; else give the output %s a "+
			"second axis", s.Model.Name(), outs[0])
	}
	if err := countable(port); err != nil {
		return nil, err
	}
	opset := s.Model.Opset()
	if opset < oldest {
		return nil, tooOld(s, opset)
	}
	if err := oneSize(s); err != nil {
		return nil, err
	}
	_, scored := s.Answer.(classed)
	w := &wrapper{
		Shell: rewrite.New(s.Model), opset: opset, n: len(s.Elements), output: outs[0], dtype: port.DType,
		shape: raw.Shape[1:], scores: scored, probabilities: s.Probabilities,
	}
	w.Under("orbit")
	feeds := make([]map[string]string, w.n) // by element
	for i, g := range s.Elements {
		if feeds[i], err = w.moved(s, g); err != nil {
			return nil, fmt.Errorf("%s at %v: %w", s.Group.Name(), g, err)
		}
	}
	answers, err := w.bodies(s, []string{w.output}, feeds)
	if err != nil {
		return nil, err
	}
	flat := make([]string, w.n)
	for i, g := range s.Elements {
		t, err := output(s.Codec, w.output, s.Out, s.Group.Inv(g), w.shape)
		if err != nil {
			return nil, fmt.Errorf("the answer of %s at %v: %w", s.Group.Name(), g, err)
		}
		y := answers[i][w.output]
		if t != nil {
			w.Fix(w.output, w.shape)
			y = w.apply(y, t, w.shape, w.dtype)
		}
		flat[i] = w.Op("Reshape", []string{y, w.Ints(1, -1, int64(tensor.Count(w.shape)))})
	}
	w.answers = w.Op("Concat", flat, onnx.AttrInt("axis", 0))
	return w, nil
}

// countable is an error for an output of which there is no mean.
func countable(p onnx.Port) error {
	switch p.DType { //nolint:exhaustive // the others are no numbers between which others lie
	case tensor.Undefined, tensor.Float32, tensor.Float64, tensor.Float16, tensor.BFloat16:
		return nil
	}
	return fmt.Errorf("the output %s is of the type %s, and there is no mean of such answers: where they are classes "+
		"that ArgMax chose, cut that off and repair the model of the scores", p.Name, p.DType)
}

// oneSize is an error where samples differ in size, of which the motions that are written are those of one.
func oneSize(s Source) error {
	of := func(v space.Value) (out [][]int) {
		_, fields := space.Fields(v)
		if fields == nil {
			fields = []space.Value{v}
		}
		for _, f := range fields {
			out = append(out, f.Dims())
		}
		return out
	}
	want := of(s.Sample)
	for _, v := range s.Fit {
		if !slices.EqualFunc(want, of(v), slices.Equal[[]int]) {
			return fmt.Errorf("samples have different sizes, %s and %s, and how %s moves them is written for one: "+
				"give samples of one size", s.Sample.Form(), v.Form(), s.Group.Name())
		}
	}
	return nil
}

func tooOld(s Source, opset int) error {
	return fmt.Errorf("%s uses operators of version %d; repairs are written in those of %d and later; export "+
		"the model again with opset_version=%d or more", s.Model.Name(), opset, oldest, oldest)
}

func oneByOne(s Source) error {
	return fmt.Errorf("%s reads one sample at a time and has no axis for several, which repairs need: export it with "+
		"one, as points [N, n, 3] and edges [N, 2, E] of graphs", s.Model.Name())
}

// oldest is the version of the operators that is needed at least.
const oldest = 11

// moved is what the model reads at an element, by the name of the input; inputs that stay as they are have none.
func (w *wrapper) moved(s Source, g []float64) (map[string]string, error) {
	ts, err := inputs(s.Codec, s.In, g, s.Sample)
	if err != nil {
		return nil, err
	}
	_, ports, err := layout(s.Codec, s.Sample)
	if err != nil {
		return nil, err
	}
	feed := map[string]string{}
	for _, p := range ports { // in the order of the model
		t := ts[p.Name]
		if t == nil {
			continue
		}
		in, _ := s.Model.Signature().Input(p.Name)
		w.Fix(p.Name, p.Shape[1:])
		feed[p.Name] = w.apply(p.Name, t, p.Shape[1:], in.DType)
	}
	return feed, nil
}

// bodies runs the model on several feeds and returns, for each, the values of the outputs to read: from one body that
// reads all samples behind one another, or from one for each feed. Outputs that are not read are answered as at the
// first.
func (w *wrapper) bodies(s Source, read []string, feeds []map[string]string) ([]map[string]string, error) {
	out := make([]map[string]string, len(feeds))
	if len(feeds) == 1 || s.Single || !othersBySample(s, read) {
		for i, f := range feeds {
			y, err := w.Body(f)
			if err != nil {
				return nil, err
			}
			out[i] = y
			if i == 0 {
				w.others(s, read, y, func(v string) string { return v })
			}
		}
		return out, nil
	}
	shared := decode.Shared(s.Codec)
	all := map[string]string{}
	for _, p := range s.Model.Signature().Inputs {
		if slices.Contains(shared, p.Name) {
			continue
		}
		parts := make([]string, len(feeds))
		for i, f := range feeds {
			if parts[i] = f[p.Name]; parts[i] == "" {
				parts[i] = p.Name
			}
		}
		all[p.Name] = w.Op("Concat", parts, onnx.AttrInt("axis", 0))
	}
	y, err := w.Body(all)
	if err != nil {
		return nil, err
	}
	for i := range out {
		out[i] = map[string]string{}
	}
	for _, name := range read {
		for i, part := range w.parts(y[name], len(feeds)) {
			out[i][name] = part
		}
	}
	w.others(s, read, y, func(v string) string { return w.parts(v, len(feeds))[0] })
	return out, nil
}

// othersBySample tells whether the first axis of all outputs that nobody reads is that of the samples, so that they
// can be cut by elements: the file has to give it the name that it has in an input. Others, such as a constant or a
// mean over all samples, are only what the model says if it is run at the identity by itself.
func othersBySample(s Source, read []string) bool {
	sig := s.Model.Signature()
	return !slices.ContainsFunc(sig.Outputs, func(out onnx.Port) bool {
		return !slices.Contains(read, out.Name) && !slices.ContainsFunc(sig.Inputs, func(in onnx.Port) bool {
			return len(out.Shape) > 0 && len(in.Shape) > 0 && out.Shape[0].Free() && in.Shape[0].Free() &&
				out.Shape[0].Name == in.Shape[0].Name && in.Shape[0].Name != ""
		})
	})
}

// others answers the outputs that nobody reads as the model does at the identity.
func (w *wrapper) others(s Source, read []string, y map[string]string, first func(string) string) {
	for _, p := range s.Model.Signature().Outputs {
		if !slices.Contains(read, p.Name) {
			w.Answer(p.Name, first(y[p.Name]))
		}
	}
}

// parts cuts an array of all elements and samples into one for each of n elements.
func (w *wrapper) parts(v string, n int) []string {
	var attrs []*onnxpb.AttributeProto
	attrs = append(attrs, onnx.AttrInt("axis", 0))
	if w.opset >= 18 {
		attrs = append(attrs, onnx.AttrInt("num_outputs", int64(n)))
	}
	return w.Ops("Split", n, []string{v}, attrs...)
}

// answer makes [samples, numbers] the output of the model, in the shape that it has.
func (w *wrapper) answer(v string) {
	w.Answer(w.output, w.shaped(v, w.shape))
}

// shaped is an array of samples of so many numbers in their shape.
func (w *wrapper) shaped(v string, shape []int) string {
	return w.Op("Reshape", []string{v, w.Ints(lengths(shape)...)})
}

// lengths are those of the axes of an array of any number of samples.
func lengths(shape []int, more ...int64) []int64 {
	out := []int64{-1}
	for _, d := range shape {
		out = append(out, int64(d))
	}
	return append(out, more...)
}

// reduce is one of the operators Reduce… over one axis, in the form of the operators' version.
func (w *wrapper) reduce(op, v string, axis, keep int64) string {
	since := 18
	if op == "ReduceSum" {
		since = 13
	}
	if w.opset >= since {
		return w.Op(op, []string{v, w.Ints(axis)}, onnx.AttrInt("keepdims", keep))
	}
	return w.Op(op, []string{v}, onnx.AttrInts("axes", axis), onnx.AttrInt("keepdims", keep))
}

// number is one number of the type of the answers.
func (w *wrapper) number(x float64) string { return w.numbers([]float64{x}, w.dtype, 1) }

func (w *wrapper) numbers(x []float64, d tensor.DType, shape ...int) string {
	t, err := decode.Rounded(d, x, shape...)
	if err != nil { // the caller counts
		panic("repair: " + err.Error())
	}
	return w.Const(t)
}

// apply writes a transport of samples of a shape.
func (w *wrapper) apply(v string, t *transport, shape []int, d tensor.DType) string {
	n := tensor.Count(shape)
	outer, size, inner := t.split(shape)
	index, weight := make([]int64, 0, size*t.taps), make([]float64, 0, size*t.taps)
	plain := t.taps == 1
	for s := range size {
		for k := range t.taps {
			at := s*inner*t.taps + k // of the first block
			index, weight = append(index, int64(int(t.index[at])/inner)), append(weight, t.weight[at])
			plain = plain && t.weight[at] == 1
		}
	}
	whole, least, most := integers(d)
	if whole = whole && (t.taps > 1 || !plain || t.shift != nil); whole { // weights are no integers
		v = w.Op("Cast", []string{v}, onnx.AttrInt("to", int64(tensor.Float32)))
	}
	back := d
	if whole {
		d = tensor.Float32
	}
	y := w.Op("Reshape", []string{v, w.Ints(-1, int64(outer), int64(size), int64(inner))})
	y = w.Op("Gather", []string{y, w.Ints(index...)}, onnx.AttrInt("axis", 2))
	if t.taps > 1 {
		y = w.Op("Reshape", []string{y, w.Ints(-1, int64(outer), int64(size), int64(t.taps), int64(inner))})
		y = w.Op("Mul", []string{y, w.numbers(weight, d, size, t.taps, 1)})
		y = w.reduce("ReduceSum", y, 3, 0)
	} else if !plain {
		y = w.Op("Mul", []string{y, w.numbers(weight, d, size, 1)})
	}
	if t.shift != nil {
		y = w.Op("Reshape", []string{y, w.Ints(-1, int64(n))})
		y = w.Op("Add", []string{y, w.numbers(t.shift, d, n)})
	}
	if whole { // as samples are rounded when they are fed
		y = w.Op("Round", []string{y})
		y = w.Op("Min", []string{
			w.Op("Max", []string{y, w.numbers([]float64{least}, d, 1)}),
			w.numbers([]float64{most}, d, 1),
		})
		y = w.Op("Cast", []string{y}, onnx.AttrInt("to", int64(back)))
	}
	return w.shaped(y, shape)
}

// integers tells whether arrays of a type hold integers that float32 holds too, and between which ends.
func integers(d tensor.DType) (yes bool, least, most float64) {
	switch d { //nolint:exhaustive // the others are no pictures
	case tensor.Uint8:
		return true, 0, math.MaxUint8
	case tensor.Int8:
		return true, math.MinInt8, math.MaxInt8
	case tensor.Uint16:
		return true, 0, math.MaxUint16
	case tensor.Int16:
		return true, math.MinInt16, math.MaxInt16
	}
	return false, 0, 0
}

// split is the part of the axes of a shape that a transport moves numbers along: it does the same for all outer and all
// inner numbers, whatever their count.
func (t *transport) split(shape []int) (outer, size, inner int) {
	n := tensor.Count(shape)
	best := [3]int{1, n, 1}
	for p := range len(shape) + 1 {
		for q := p; q <= len(shape); q++ {
			c := [3]int{tensor.Count(shape[:p]), tensor.Count(shape[p:q]), tensor.Count(shape[q:])}
			if c[1] < best[1] && t.splits(c[1], c[2]) {
				best = c
			}
		}
	}
	return best[0], best[1], best[2]
}

func (t *transport) splits(size, inner int) bool {
	block := size * inner
	for j := range len(t.index) / t.taps {
		s, rest := j%block/inner, j/block*block+j%inner
		for k := range t.taps {
			at, like := j*t.taps+k, s*inner*t.taps+k
			if int(t.index[at]) != rest+int(t.index[like])/inner*inner || t.weight[at] != t.weight[like] {
				return false
			}
		}
	}
	return true
}
