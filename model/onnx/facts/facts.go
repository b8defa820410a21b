// Package facts says what can be known of an ONNX model without running it: the shape of every value, parameters,
// multiply-adds, memory per sample, and which lattice symmetries its structure leaves possible.
//
// Shapes are followed for concrete input shapes, through the operators that networks on images, points and tokens are
// made of, and through the integer arithmetic with which exporters compute shapes. Where an operator is not known,
// everything after it is unknown and the report says so; [Measure] then finds the shapes by running the model once.
package facts

import (
	"context"
	"fmt"
	"math"
	"slices"

	"nero/data/tensor"
	"nero/model/onnx"
	"nero/model/onnx/onnxpb"
)

// Facts are the static facts of a model for one choice of input shapes.
type Facts struct {
	// Shapes of all values that are known, by name: inputs, outputs, inner values, stored tensors.
	Shapes map[string][]int
	// in the file's order
	Nodes []Node
	// Gaps are the nodes at which shapes got lost first; nodes that merely read what is unknown are not listed.
	Gaps []Gap
	// Parameters is the number of floating-point numbers stored in the file, ParameterBytes the memory of all stored
	// tensors.
	Parameters, ParameterBytes int64
	// MACs is the number of multiply-adds of convolutions, matrix products and recurrent layers for the given input
	// shapes; other operators count nothing. It is a lower bound if there are gaps.
	MACs int64
	// Bytes is the memory of all values that depend on the input, taken together, for the given input shapes. An engine
	// needs less at any one time: measured growth of the peak was 0.2 to 0.9 of it. A lower bound if there are gaps.
	Bytes int64
	// Largest is the output of a node that takes most memory, for the given input shapes.
	Largest Largest
	// Samples is the length of the first axis of the first input: what Bytes and MACs are for. 1 without a batch axis.
	Samples int

	values map[string]*val
	graph  *onnxpb.GraphProto
	model  *onnx.Model
}

// Node is what is known of one node.
type Node struct {
	// its name, else that of its first output
	Name string
	// with the domain before it unless it is the standard one
	Op   string
	MACs int64
	// Out are the shapes of its outputs; nil where unknown.
	Out [][]int

	// of convolutions and poolings on two axes
	win *Window
}

// Largest is a value that a node makes, and its memory.
type Largest struct {
	// as in [Node]
	Node, Op string
	Shape    []int
	Bytes    int64
}

// MostBytes is the memory of the largest value that a node may make in one call. A file of some bytes can ask for any
// number of them, and engines allocate before they look.
const MostBytes = 4 << 30

// Fits refuses models with a node that makes a value above [MostBytes].
func (f *Facts) Fits() error {
	l := f.Largest
	if l.Bytes <= MostBytes {
		return nil
	}
	return fmt.Errorf("the node %q (%s) makes a value of shape %v, which takes %.1f GB for %d in a call, and at most "+
		"%.1f GB are taken; export the model for smaller inputs", l.Node, l.Op, l.Shape, float64(l.Bytes)/1e9,
		f.Samples, float64(MostBytes)/1e9)
}

// Gap is a node that inference did not get past.
type Gap struct {
	Node string `json:"node"`
	Op   string `json:"op"`
	Why  string `json:"why"`
}

// BytesPerSample is [Facts].Bytes divided among the samples, rounded up.
func (f *Facts) BytesPerSample() int64 {
	n := int64(max(f.Samples, 1))
	return (f.Bytes + n - 1) / n
}

// val is what is known of a value.
type val struct {
	known bool
	shape []int
	dtype tensor.DType
	// depends on an input of the graph
	data bool
	// elements of a small integer constant; nil if unknown
	ints []int64
	// elements of a stored tensor
	store *onnxpb.TensorProto
}

// size limits of shapes: a value of 2^40 elements is no activation that any machine could hold.
const maxElements = 1 << 40

// maxInts bounds the integer constants that are followed: shapes and axes are short.
const maxInts = 1 << 12

// Infer follows the shapes of the values of a model from those of its inputs, which need all be given. Shapes in
// measured, which may be nil, are believed where inference does not get through. An error says that an input is missing
// or does not fit; what cannot be inferred is no error but a gap.
func Infer(m *onnx.Model, in, measured map[string][]int) (*Facts, error) {
	f := &Facts{
		Shapes: map[string][]int{}, values: map[string]*val{}, graph: m.Proto().GetGraph(), model: m,
		Samples: 1,
	}
	f.stored()
	for i, p := range m.Signature().Inputs {
		s, ok := in[p.Name]
		if !ok {
			return nil, fmt.Errorf("%s: no shape for the input %s", m.Name(), p)
		}
		if err := checkInput(p, s); err != nil {
			return nil, fmt.Errorf("%s: %w", m.Name(), err)
		}
		if i == 0 && len(s) > 0 && s[0] > 0 {
			f.Samples = s[0]
		}
		f.set(p.Name, &val{known: true, shape: slices.Clone(s), dtype: p.DType, data: true})
	}
	x := &walker{f: f, opset: m.Opset(), measured: measured}
	for _, n := range f.graph.GetNode() {
		x.visit(n)
	}
	for name, v := range f.values {
		if v.known && v.data {
			f.Bytes = add(f.Bytes, mul(int64(tensor.Count(v.shape)), int64(max(v.dtype.Size(), 1))))
		}
		if v.known {
			f.Shapes[name] = v.shape
		}
	}
	return f, nil
}

// checkInput compares a shape with a port.
func checkInput(p onnx.Port, s []int) error {
	if _, err := tensor.CheckedCount(s, maxElements); err != nil {
		return fmt.Errorf("input %s: %w", p, err)
	}
	if p.Kind != "tensor" && p.Kind != "" {
		return fmt.Errorf("input %s is no tensor", p)
	}
	if !p.Ranked {
		return nil
	}
	fits := len(s) == len(p.Shape)
	for i := 0; fits && i < len(s); i++ {
		fits = p.Shape[i].Free() || p.Shape[i].Size == s[i]
	}
	if !fits {
		return fmt.Errorf("input %s: the shape %v does not fit", p, s)
	}
	return nil
}

// stored reads the tensors in the file.
func (f *Facts) stored() {
	note := func(t *onnxpb.TensorProto) {
		d := tensor.DType(t.GetDataType())
		shape, err := onnx.StoredShape(t)
		if err != nil {
			return // refused when the file was loaded
		}
		n := int64(tensor.Count(shape))
		switch d {
		case tensor.Float32, tensor.Float64, tensor.Float16, tensor.BFloat16:
			f.Parameters = add(f.Parameters, n)
		case tensor.Undefined, tensor.String, tensor.Uint8, tensor.Int8, tensor.Uint16, tensor.Int16, tensor.Int32,
			tensor.Int64,
			tensor.Bool,
			tensor.Uint32, tensor.Uint64:
		}
		f.ParameterBytes = add(f.ParameterBytes, mul(n, int64(max(d.Size(), 1))))
	}
	for _, t := range f.graph.GetInitializer() {
		f.set(t.GetName(), constant(t))
		note(t)
	}
	for _, n := range f.graph.GetNode() {
		if a := onnx.Attr(n, "value"); n.GetOpType() == "Constant" && a.GetT() != nil {
			note(a.GetT())
		}
	}
}

// constant is the value of a stored tensor.
func constant(t *onnxpb.TensorProto) *val {
	shape, err := onnx.StoredShape(t)
	if err != nil {
		return &val{}
	}
	v := &val{known: true, shape: shape, dtype: tensor.DType(t.GetDataType()), store: t}
	if tensor.Count(shape) <= maxInts {
		if ints, err := onnx.Integers(t); err == nil {
			v.ints = ints
		}
	}
	return v
}

func (f *Facts) set(name string, v *val) {
	if name != "" {
		f.values[name] = v
	}
}

// SampleShapes are input shapes for n samples: free first axes become n, other free axes are taken from shape, which is
// the first input's shape with or without its batch axis and may be nil. An error names the axes that nothing decides.
func SampleShapes(s onnx.Signature, n int, shape []int) (map[string][]int, error) {
	out := map[string][]int{}
	for i, p := range s.Inputs {
		if !p.Ranked {
			if i == 0 && shape != nil {
				out[p.Name] = slices.Clone(shape)
				continue
			}
			return nil, fmt.Errorf("input %s: the file does not say its shape; give one", p)
		}
		dims := p.Sizes()
		given := shape
		if i > 0 {
			given = nil
		}
		switch {
		case given == nil:
		case len(given) == len(dims):
		case len(given) == len(dims)-1:
			given = append([]int{0}, given...)
		default:
			return nil, fmt.Errorf("input %s: the shape %v does not fit", p, shape)
		}
		for a := range dims {
			switch {
			case given != nil && given[a] > 0 && dims[a] >= 0 && dims[a] != given[a]:
				return nil, fmt.Errorf("input %s: the shape %v does not fit", p, shape)
			case dims[a] >= 0:
			case given != nil && given[a] > 0:
				dims[a] = given[a]
			case a == 0:
				dims[a] = n
			default:
				return nil, fmt.Errorf("input %s: axis %d (%s) is free; give a shape", p, a, p.Shape[a])
			}
		}
		out[p.Name] = dims
	}
	return out, nil
}

// MicroBatch is how many samples to run at once: clamp(budget / bytesPerSample, 1, most). bytesPerSample is that of
// [Facts]; if it is not known (<= 0) a single sample is run at a time. Speed hardly grows past 8 to 16 samples, memory
// does: most should be about 16.
func MicroBatch(budget, bytesPerSample int64, most int) int {
	if bytesPerSample <= 0 {
		return 1
	}
	return int(min(max(budget/bytesPerSample, 1), int64(max(most, 1))))
}

// Run runs a model given as bytes once, on the inputs given, and returns all its outputs in order.
type Run func(ctx context.Context, model []byte, in []tensor.Named) ([]tensor.Named, error)

// Measure finds the shapes of all values by exposing them and running the model once on in. It serves models with
// operators that [Infer] does not know; the result is for its parameter measured.
func Measure(ctx context.Context, m *onnx.Model, in []tensor.Named, run Run) (map[string][]int, error) {
	b, names, err := m.Expose()
	if err != nil {
		return nil, err
	}
	out, err := run(ctx, b, in)
	if err != nil {
		return nil, fmt.Errorf("%s: with every value exposed: %w", m.Name(), err)
	}
	if want := len(m.Signature().Outputs) + len(names); len(out) != want {
		return nil, fmt.Errorf("%s: %d outputs with every value exposed, want %d", m.Name(), len(out), want)
	}
	shapes := map[string][]int{}
	for _, t := range append(slices.Clone(in), out...) {
		shapes[t.Name] = slices.Clone(t.Shape)
	}
	return shapes, nil
}

// mul and add saturate: sizes come from files.
func mul(a, b int64) int64 {
	if a == 0 || b == 0 {
		return 0
	}
	if a > math.MaxInt64/b {
		return math.MaxInt64
	}
	return a * b
}

func add(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// product multiplies lengths.
func product(s []int) int64 {
	n := int64(1)
	for _, d := range s {
		n = mul(n, int64(d))
	}
	return n
}
