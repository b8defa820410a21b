// Package interior opens a model to look inside: the values after every layer, the parts of the graph before and after them,
// and derivatives. It runs on whatever body it is given, an engine in float32 or the evaluator in float64.
package interior

import (
	"context"
	"errors"

	"nero/model/decode"
	"nero/model/engine"
	"nero/model/onnx"
)

// Array is one sample's value of a tensor in the graph.
type Array struct {
	Shape []int // without the batch axis
	Val   []float64
}

// Open opens an edited model on the body.
type Open func(ctx context.Context, model []byte) (engine.Session, error)

// Options of an opened model.
type Options struct {
	Body    string // what runs it, for people: "native 1.27.0", "float64"
	Double  bool   // inputs are fed in float64
	Batch   int    // samples at once; 0 means 8
	Workers int    // goroutines; 0 means 1
	Fixed   int    // length of a fixed batch axis; 0 for a free one
}

// Model is a model seen from inside.
type Model struct {
	onnx  *onnx.Model
	codec decode.Codec
	open  Open
	o     Options
}

// New prepares a model; nothing is opened yet.
func New(m *onnx.Model, c decode.Codec, open Open, o Options) (*Model, error) {
	if m == nil || c == nil || open == nil {
		return nil, errors.New("interior: a model, a codec and a body are needed")
	}
	if o.Batch == 0 {
		o.Batch = 8
	}
	if o.Workers == 0 {
		o.Workers = 1
	}
	return &Model{onnx: m, codec: c, open: open, o: o}, nil
}

// ONNX is the file.
func (m *Model) ONNX() *onnx.Model { return m.onnx }

// Codec lays samples out and reads predictions.
func (m *Model) Codec() decode.Codec { return m.codec }

// Body is the name of what runs the model.
func (m *Model) Body() string { return m.o.Body }
