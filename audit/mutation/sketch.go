package mutation

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"

	"nero/data/tensor"
	"nero/model/onnx"
	"nero/model/onnx/onnxpb"
)

// sketch writes the graph of a model and asks at each place that the model names whether something else is to stand
// there: a break is a list of such edits.
type sketch struct {
	*net
	edits edits
	// places of the graph that were asked for
	seen map[string]bool
	// the first input, for edits that look at what the model reads
	first string
	// numbers in one sample of it
	size int
	// names of nodes, which an edit of a place that is met twice gives twice
	given map[string]int
}

// op adds a node with one output under a name that no other has.
func (s *sketch) op(name, kind string, in []string, attrs ...*onnxpb.AttributeProto) string {
	if s.given[name]++; s.given[name] > 1 {
		name += "-" + strconv.Itoa(s.given[name])
	}
	return s.net.op(name, kind, in, attrs...)
}

// edits are what is changed, by the place where it is.
type edits map[string]edit

// edit is a change at one place: of a value that passes there, of the weights of a layer, or of a setting. What is nil
// changes nothing.
type edit struct {
	// value adds nodes and returns what stands in the place of v
	value func(s *sketch, v string) string
	// weights changes them in place
	weights func(w []float32)
	// setting stands in the place of a number that is 0 in the clean model
	setting float64
}

// at is the value v, or what a break makes of it.
func (s *sketch) at(place, v string) string {
	if e, ok := s.edit(place); ok && e.value != nil {
		return e.value(s, v)
	}
	return v
}

// weights are w, or what a break makes of them.
func (s *sketch) weights(place string, w []float32) []float32 {
	if e, ok := s.edit(place); ok && e.weights != nil {
		e.weights(w)
	}
	return w
}

// setting is 0, or what a break sets.
func (s *sketch) setting(place string) float64 {
	e, _ := s.edit(place)
	return e.setting
}

func (s *sketch) edit(place string) (edit, bool) {
	s.seen[place] = true
	e, ok := s.edits[place]
	return e, ok
}

// input declares an input of floating-point numbers, the axis of the samples first.
func (s *sketch) input(name string, axes ...int) string {
	all := []any{"N"}
	size := 1
	for _, a := range axes {
		all = append(all, a)
		size *= a
	}
	x := s.b.Input(name, tensor.Float32, all...)
	if s.first == "" {
		s.first, s.size = x, size
	}
	return x
}

// answer declares an output, the axis of the samples first.
func (s *sketch) answer(name, v string, axes ...int) {
	s.op(name+"-out", "Identity", []string{v})
	nodes := s.b.Graph().GetNode()
	nodes[len(nodes)-1].Output[0] = name
	all := []any{"N"}
	for _, a := range axes {
		all = append(all, a)
	}
	s.b.Output(name, tensor.Float32, all...)
}

// draw builds the model of a family with the given edits. It is an error if one of them names a place that the model
// has not.
func (f family) draw(v variant, e edits) (*onnx.Model, error) {
	s := &sketch{
		net:   &net{onnx.NewBuilder(opset), rand.New(rand.NewPCG(v.seed, 1))},
		edits: e, seen: map[string]bool{}, given: map[string]int{},
	}
	f.graph(s, v.size)
	for _, place := range slices.Sorted(maps.Keys(e)) {
		if !s.seen[place] {
			return nil, fmt.Errorf("%s has no place %q; it has %v", f.name, place, slices.Sorted(maps.Keys(s.seen)))
		}
	}
	return s.b.Model()
}

// The following write nodes that many models have.

// sum and mean reduce the given axes and drop them.
func (s *sketch) sum(name, v string, axes ...int64) string {
	return s.op(name, "ReduceSum", []string{v, s.b.Ints(axes...)}, onnx.AttrInt("keepdims", 0))
}

func (s *sketch) mean(name, v string, axes ...int64) string {
	return s.op(name, "ReduceMean", []string{v}, onnx.AttrInts("axes", axes...), onnx.AttrInt("keepdims", 0))
}

func (s *sketch) wide(name, v string, axes ...int64) string {
	return s.op(name, "ReduceMean", []string{v}, onnx.AttrInts("axes", axes...), onnx.AttrInt("keepdims", 1))
}

func (s *sketch) add(name, a, b string) string { return s.op(name, "Add", []string{a, b}) }

func (s *sketch) sub(name, a, b string) string { return s.op(name, "Sub", []string{a, b}) }

func (s *sketch) mul(name, a, b string) string { return s.op(name, "Mul", []string{a, b}) }

func (s *sketch) product(name, a, b string) string { return s.op(name, "MatMul", []string{a, b}) }

func (s *sketch) times(name, v string, by float64) string { return s.mul(name, v, s.number(by)) }

func (s *sketch) tanh(name, v string) string { return s.op(name, "Tanh", []string{v}) }

func (s *sketch) reshape(name, v string, axes ...int64) string {
	return s.op(name, "Reshape", []string{v, s.b.Ints(axes...)})
}

func (s *sketch) transpose(name, v string, axes ...int64) string {
	return s.op(name, "Transpose", []string{v}, onnx.AttrInts("perm", axes...))
}

func (s *sketch) widen(name, v string, axes ...int64) string {
	return s.op(name, "Unsqueeze", []string{v, s.b.Ints(axes...)})
}

func (s *sketch) join(name string, axis int64, v ...string) string {
	return s.op(name, "Concat", v, onnx.AttrInt("axis", axis))
}

// layer is a dense layer on the last axis, with a bias; its weights are a place with its name.
func (s *sketch) layer(name, v string, in, out int) string {
	w := s.weights(name, s.normal(in*out, 1/float64(max(in, 1))))
	return s.add(name+"-bias", s.product(name, v, s.floats(w, in, out)), s.floats(s.normal(out, 0.1), out))
}

// convolve is a convolution of pictures with zeros beyond the border, whose weights are a place with its name.
func (s *sketch) convolve(name, v string, w []float32, out, in, side int) string {
	return s.padded(name, v, w, out, in, side, 2, (side-1)/2)
}

// padded is a convolution with pad zeros on every side; dim 2 is for pictures, 1 for signals.
func (s *sketch) padded(name, v string, w []float32, out, in, side, dim, pad int) string {
	shape, kernel, pads := []int{out, in}, []int64{}, []int64{}
	for range dim {
		shape, kernel, pads = append(shape, side), append(kernel, int64(side)), append(pads, int64(pad), int64(pad))
	}
	return s.op(name, "Conv", []string{
		v, s.floats(s.weights(name, w), shape...),
		s.floats(s.normal(out, 0.1), out),
	}, onnx.AttrInts("kernel_shape", kernel...), onnx.AttrInts("pads", pads...))
}

// powers are the means of v, its square, ... over the given axes, as columns: [N, k].
func (s *sketch) powers(v string, k int, axes ...int64) string {
	var cols []string
	p := v
	for i := range k {
		id := string(rune('1' + i))
		if i > 0 {
			p = s.mul("power"+id, p, v)
		}
		cols = append(cols, s.widen("column"+id, s.mean("mean"+id, p, axes...), 1))
	}
	return s.join("powers", 1, cols...)
}
