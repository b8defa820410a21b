// Package interior opens a model to look inside: the values after every layer, the parts of the graph before and after
// them, and derivatives. It runs on whatever body it is given, an engine in float32 or the evaluator in float64.
//
// The graph works on batches, its user on samples. An [Array] is what one sample contributes to a tensor; where it lies
// in the tensor of a batch is found out by running the model on two inputs, apart and together, and comparing. A value
// that cannot be taken apart like that, because an axis merges samples with something else in another order or because
// the value counts them, makes every request that names it run one sample at a time.
//
// Derivatives are those of the output that the codec reads, as the model returns it: before any softmax outside the
// model. They are graphs as well and run on the same body.
//
// Edited graphs are kept open for the next request of the same kind; old ones are closed when there are more than a
// few, or when they hold more than about 128 MB.
package interior

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"nero/internal/spell"
	"nero/model/decode"
	"nero/model/engine"
	"nero/model/onnx"
	"nero/model/onnx/rewrite"
)

// ErrNoLayer is returned when a model has no layer of the name asked for.
var ErrNoLayer = errors.New("no such layer")

// Array is one sample's value of a tensor in the graph.
type Array struct {
	// without the batch axis
	Shape []int
	Val   []float64
}

// Layer is the state of a model after one of its nodes.
type Layer struct {
	// 0 for the input, then the layers in the file's order
	Index    int
	Name, Op string
	// floating-point values that the node made
	Produced []string
	// Live are the values that are known after the node and still needed, Floats those of them that hold floating-point
	// numbers and can carry a perturbation. Part(a.Live, b.Live) is what happens between two layers.
	Live, Floats []string
	// the layer is the model's input
	Input bool
	// Wrapper tells that the layer is what was put around the model: the nodes that ask it in several poses and bring
	// its answers back, with the model between them; or nodes that were put before one of its own.
	Wrapper bool
}

// Open opens an edited model on the body.
type Open func(ctx context.Context, model []byte) (engine.Session, error)

// Options of an opened model.
type Options struct {
	// what runs it, for people: "native 1.27.0", "float64"
	Body string
	// inputs are fed in float64
	Double bool
	// samples at once; 0 means 8
	Batch int
	// goroutines, each with a session of its own; 0 means 1
	Workers int
	// length of a fixed batch axis; 0 for a free one
	Fixed int
	// a session may run on many goroutines at once, so that one of each graph is enough
	Shared bool
	// Own lends sessions of the model itself that others use as well; nil if there are none. They are for many
	// goroutines at once.
	Own Sessions
}

// Sessions lends sessions of one graph.
type Sessions interface {
	Get(ctx context.Context) (engine.Session, error)
	Put(s engine.Session)
}

// Model is a model seen from inside. It is safe for concurrent use.
type Model struct {
	onnx   *onnx.Model
	codec  decode.Codec
	o      Options
	inputs []onnx.Port
	layers []Layer
	// inputs through which changes of samples pass
	moving []string
	// inputs that are the same for all samples of a batch
	shared []string
	pool   *pool
	// that finds out where samples lie; nil for this one
	like *Model

	mu sync.Mutex
	// of values
	plans map[string]plan
	// the first sample seen, to find plans with
	sample []Array
}

// New prepares a model; nothing is opened yet. A batch axis that the file fixes takes the place of o.Fixed.
func New(m *onnx.Model, c decode.Codec, open Open, o Options) (*Model, error) {
	if m == nil || c == nil || open == nil {
		return nil, errors.New("interior: a model, a codec and a body are needed")
	}
	if o.Batch < 0 || o.Workers < 0 || o.Fixed < 0 {
		return nil, fmt.Errorf("interior: batch %d, workers %d, fixed batch axis %d; want none below 0", o.Batch,
			o.Workers, o.Fixed)
	}
	if o.Batch == 0 {
		o.Batch = 8
	}
	if o.Workers == 0 {
		o.Workers = 1
	}
	if n := decode.BatchLimit(c); n > 0 {
		o.Fixed = n
	}
	if o.Fixed > 0 {
		o.Batch = o.Fixed
	}
	if o.Double {
		c = decode.Double(c)
	}
	inputs := m.Signature().Inputs
	moving := decode.Moving(c, onnx.Names(inputs))
	return &Model{
		onnx: m, codec: c, o: o, inputs: inputs, layers: layers(m, moving), moving: moving, shared: decode.Shared(c),
		pool: newPool(open, o.Shared), plans: map[string]plan{},
	}, nil
}

// Like lets a model take from another body of the same graph, which is faster, where samples lie in its values. It is
// said before anything is asked of the model. What the other cannot tell, the model finds out itself.
func (m *Model) Like(o *Model) { m.like = o }

// With is another graph that reads and answers as this one does, on the same body: the model with nodes left out or
// replaced. It shares nothing that is open with this one.
func (m *Model) With(graph *onnx.Model) (*Model, error) {
	o := m.o
	o.Own = nil
	return New(graph, m.codec, m.pool.open, o)
}

// layers are the input and the cuts after nodes that make floating-point values out of it.
func layers(m *onnx.Model, moving []string) []Layer {
	list := []Layer{{
		Name: "input", Op: "Input", Produced: moving, Live: onnx.Names(m.Signature().Inputs),
		Floats: moving, Input: true,
	}}
	cuts, wrapper := m.Cuts(), rewrite.Wrapped(m)
	add := func(c onnx.Cut, produced []string, wraps bool) {
		made := slices.DeleteFunc(slices.Clone(produced),
			func(v string) bool { return !slices.Contains(c.Floats, v) })
		if len(made) > 0 {
			list = append(list, Layer{
				Index: len(list), Name: c.Name, Op: c.Op, Produced: made, Live: c.Live, Floats: c.Floats,
				Wrapper: wraps,
			})
		}
	}
	if wrapper != nil && wrapper.Bodies != nil { // it stands before the model and behind it
		last := cuts[len(cuts)-1]
		last.Name, last.Op = wrapper.Name, WrapperOp
		add(last, last.Live, true)
		return list
	}
	var own []string // values that nodes of the wrapper made since the last node of the model
	for i, c := range cuts {
		if wrapper.Has(c.Name) {
			if own = append(own, c.Produced...); i+1 < len(cuts) && !wrapper.Has(cuts[i+1].Name) {
				c.Name, c.Op = wrapper.Name+", before "+cuts[i+1].Name, WrapperOp
				add(c, own, true)
				own = nil
			}
			continue
		}
		add(c, c.Produced, false)
	}
	return list
}

// WrapperOp is the operator of a layer that is no node but what was put around a model.
const WrapperOp = "repair"

// ONNX is the file.
func (m *Model) ONNX() *onnx.Model { return m.onnx }

// Codec lays samples out and reads predictions.
func (m *Model) Codec() decode.Codec { return m.codec }

// Body is the name of what runs the model.
func (m *Model) Body() string { return m.o.Body }

// Double reports whether inputs are fed in float64.
func (m *Model) Double() bool { return m.o.Double }

// Batch is how many samples go through the graph at once.
func (m *Model) Batch() int { return m.o.Batch }

// Output is the name of the first output that the codec reads.
func (m *Model) Output() string { return m.Outputs()[0] }

// Outputs are the names of the outputs that the codec reads, in the order of the fields of an answer.
func (m *Model) Outputs() []string { return decode.Outputs(m.codec) }

// Moving are the inputs through which changes of samples pass: those of floating-point numbers that are no constants.
func (m *Model) Moving() []string { return slices.Clone(m.moving) }

// Inputs are the names of the inputs that are fed, in order.
func (m *Model) Inputs() []string { return onnx.Names(m.inputs) }

// Layers are the input and then every node that makes floating-point values that depend on it, in the file's order.
func (m *Model) Layers() []Layer { return slices.Clone(m.layers) }

// Layer finds a layer by the name of its node, by a value that it makes, or by its index. The error wraps [ErrNoLayer]
// and names the nearest.
func (m *Model) Layer(name string) (Layer, error) {
	for _, l := range m.layers {
		if l.Name == name {
			return l, nil
		}
	}
	for _, l := range m.layers {
		if slices.Contains(l.Produced, name) {
			return l, nil
		}
	}
	if i, err := strconv.Atoi(name); err == nil {
		if i >= 0 && i < len(m.layers) {
			return m.layers[i], nil
		}
		return Layer{}, fmt.Errorf("%s: %w: index %d; there are 0 (the input) to %d", m.onnx.Name(), ErrNoLayer, i,
			len(m.layers)-1)
	}
	var names []string
	for _, l := range m.layers {
		names = append(append(names, l.Name), l.Produced...)
	}
	hint := fmt.Sprintf("a layer has a name, or an index from 0 (the input) to %d", len(m.layers)-1)
	if near, ok := spell.Nearest(name, names); ok {
		hint = fmt.Sprintf("the nearest is %q", near)
	}
	return Layer{}, fmt.Errorf("%s: %w: %q; %s", m.onnx.Name(), ErrNoLayer, name, hint)
}

// Close closes all that is open. The model may be used again.
func (m *Model) Close() error { return m.pool.close() }
