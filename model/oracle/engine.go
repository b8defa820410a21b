package oracle

import (
	"context"
	"sync/atomic"

	"nero/data/tensor"
	"nero/model/engine"
	"nero/model/onnx"
)

// Engine makes the evaluator an [engine.Engine]. Floating-point outputs are float64, whatever the model declares;
// o.Values follow the model's outputs, as outputs of the session. One session may run on many goroutines at once; each
// Run stays on its own. The options of Open make no difference. Open's error wraps an [*UnsupportedError] where
// something is missing.
func Engine(o Options) engine.Engine { return body64{o} }

type body64 struct{ o Options }

func (e body64) Info() engine.Info {
	return engine.Info{Name: "reference", Version: "rounding to " + e.o.Round.String(), Reason: "asked for"}
}

func (body64) Concurrent() bool { return true }

func (e body64) Open(ctx context.Context, model []byte, _ engine.Options) (engine.Session, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m, err := onnx.Load(model)
	if err != nil {
		return nil, err
	}
	g, err := Load(m)
	if err != nil {
		return nil, err
	}
	if err := g.check(e.o); err != nil {
		return nil, err
	}
	return &session{g: g, o: e.o}, nil
}

type session struct {
	g      *Graph
	o      Options
	closed atomic.Bool
}

func (s *session) Inputs() []string { return s.g.Inputs() }

func (s *session) Outputs() []string { return append(s.g.Outputs(), s.o.Values...) }

func (s *session) Run(ctx context.Context, in []tensor.Named) ([]tensor.Named, error) {
	if s.closed.Load() {
		return nil, engine.ErrClosed
	}
	if err := engine.CheckInputs(s.Inputs(), in); err != nil {
		return nil, err
	}
	return s.g.Run(ctx, in, s.o)
}

func (s *session) Close() error {
	s.closed.Store(true)
	return nil
}
