package workload

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"nero/data/space"
	"nero/model/decode"
	"nero/model/engine"
	"nero/model/interior"
	"nero/model/onnx"
	"nero/model/oracle"
	"nero/model/unroll"
	"nero/run/eval"
)

// loaded is a model as it was given to the engine.
type loaded struct {
	// nil behind an endpoint
	onnx   *onnx.Model
	rolled *unroll.Model
	bytes  []byte
	codec  decode.Codec
	seen   space.Spec
	batch  int
	fixed  bool
	// of the model itself; nil behind an endpoint
	pool *eval.Pool
	// how long an answer may take
	limit time.Duration
	// nil behind an endpoint
	engine engine.Engine
}

// Engine is what runs the models, without limits of time.
func (w *Workload) Engine() engine.Engine { return w.engine }

// File is the ONNX file of a model as the engine was given it; nil for a model that the study does not have, or that is
// behind an endpoint.
func (w *Workload) File(model string) *onnx.Model {
	if f := w.opened[model]; f != nil {
		return f.onnx
	}
	return nil
}

// Interior opens a model of the study on an engine to look inside. Close it after use.
func (w *Workload) Interior(model string, e engine.Engine, workers int) (*interior.Model, error) {
	f := w.opened[model]
	if f == nil {
		return nil, fmt.Errorf("there is no model %s in this study", model)
	}
	if f.onnx == nil {
		return nil, fmt.Errorf("%s: %w", model, ErrNoGraph)
	}
	if f.rolled != nil {
		return nil, fmt.Errorf("%s: %w", model, errSteps(f))
	}
	e = engine.Limit(e, f.limit)
	o := interior.Options{Body: Body(e), Batch: min(f.batch, interiorBatch), Workers: workers}
	if f.fixed {
		o.Fixed, o.Batch = f.batch, f.batch
	}
	if o.Shared = e.Concurrent(); o.Shared && e.Info() == w.engine.Info() {
		o.Own = f.pool
	}
	return interior.New(f.onnx, f.codec, opener(e), o)
}

// errSteps says why a recurrent model is not looked into, and from which node on.
func errSteps(f *loaded) error {
	text := "the file is one step of a recurrent model: there is no graph of the whole signal to look into"
	states := f.rolled.States()
	for _, n := range f.onnx.Proto().GetGraph().GetNode() {
		for _, in := range n.GetInput() {
			if slices.Contains(states, in) {
				return noGraphError(fmt.Sprintf("%s, and nothing says how a state moves; the first layer that cannot "+
					"be tested is %s (%s), which reads the state %q", text, cmp.Or(n.GetName(), n.GetOutput()[0]),
					n.GetOpType(), in))
			}
		}
	}
	return noGraphError(text)
}

// interiorBatch is how many samples go through an edited graph at once: it holds far more values than the model itself.
const interiorBatch = 8

// large is from how many bytes on the memory of an edited graph is given back after each call.
const large = 16 << 20

// opener opens sessions of one engine with its default options.
func opener(e engine.Engine) interior.Open {
	return func(ctx context.Context, b []byte) (engine.Session, error) {
		return e.Open(ctx, b, engine.Options{Threads: 1, Lean: len(b) >= large})
	}
}

// Body names an engine for people: "native 1.27.0".
func Body(e engine.Engine) string {
	i := e.Info()
	if l := engine.Place(e); !l.Plain() {
		return i.Name + " " + i.Version + " on " + l.Names()
	}
	return i.Name + " " + i.Version
}

// On is a model of the study on another engine. Its pool is the caller's to close. The error says that the engine does
// not take the file.
func (w *Workload) On(model string, e engine.Engine) (*eval.Model, error) {
	f := w.opened[model]
	if f == nil {
		return nil, fmt.Errorf("there is no model %s in this study", model)
	}
	if f.onnx == nil {
		return nil, fmt.Errorf("%s: %w", model, ErrNoGraph)
	}
	limits, err := Limits(e)
	if err != nil {
		return nil, err
	}
	m, b := f.onnx, f.bytes
	if m.Signature().IR > limits.MaxIR {
		older, _, err := m.Restamp(limits)
		if err != nil {
			return nil, err
		}
		if m, err = onnx.Load(older); err != nil {
			return nil, err
		}
		b = older
	}
	if err := m.Check(limits); err != nil {
		return nil, err
	}
	return &eval.Model{
		Name: model, Codec: f.codec, Batch: f.batch, Fixed: f.fixed,
		Pool: eval.NewPool(over(f.rolled, engine.Limit(e, f.limit)), b, engine.Options{Threads: 1}),
	}, nil
}

// Reference opens a model of the study in float64, to look inside and to tell rounding from a violation. Close it after
// use. The error says which operators the evaluator lacks.
func (w *Workload) Reference(model string, workers int) (*interior.Model, error) {
	f := w.opened[model]
	if f == nil {
		return nil, fmt.Errorf("there is no model %s in this study", model)
	}
	if f.onnx == nil {
		return nil, fmt.Errorf("%s: %w", model, ErrNoGraph)
	}
	if f.rolled != nil {
		return nil, fmt.Errorf("%s: %w", model, errSteps(f))
	}
	if _, err := oracle.Load(f.onnx); err != nil {
		return nil, err
	}
	o := interior.Options{Body: "float64", Double: true, Batch: 1, Workers: workers, Shared: true}
	if f.fixed {
		o.Fixed, o.Batch = f.batch, f.batch
	}
	return interior.New(f.onnx, f.codec, opener(oracle.Engine(oracle.Options{})), o)
}
