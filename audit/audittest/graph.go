package audittest

import (
	"context"

	"nero/audit"
	"nero/data/space"
	"nero/model/decode"
	"nero/model/engine"
	"nero/model/interior"
	"nero/model/onnx"
	"nero/model/oracle"
)

// Graph fills a subject with a model given as a graph: the predictor and the interior evaluate it in float32, every
// node rounded, and the reference in float64. No engine is needed, and every run gives the same numbers on every
// machine.
func Graph(t TB, s *audit.Subject, m *onnx.Model, c decode.Codec) {
	t.Helper()
	s.Interior = body(t, m, c, oracle.Options{Round: oracle.Float32}, interior.Options{Body: "float32"})
	s.Predictor = graph{s.Interior}
	if _, err := oracle.Load(m); err != nil {
		s.NoReference = err.Error()
		return
	}
	s.Reference = body(t, m, c, oracle.Options{}, interior.Options{Body: "float64", Double: true})
}

// Tensors is the codec of a model that reads and returns tensors as they are.
func Tensors(t TB, m *onnx.Model) decode.Codec {
	t.Helper()
	c, err := decode.NewTensors(m.Signature(), decode.OutputSpec{Space: space.KindTensor})
	if err != nil {
		t.Fatalf("%v", err)
	}
	return c
}

// Images is the codec of a model that reads pictures of the given shape (C, H, W), their values divided by scale, and
// returns what out says.
func Images(t TB, m *onnx.Model, scale float64, out decode.OutputSpec, shape ...int) decode.Codec {
	t.Helper()
	c, err := decode.New(m.Signature(), decode.InputSpec{Sample: shape, Layout: "NCHW", Scale: scale}, out)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return c
}

func body(t TB, m *onnx.Model, c decode.Codec, r oracle.Options, o interior.Options) *interior.Model {
	t.Helper()
	e := oracle.Engine(r)
	x, err := interior.New(m, c, func(ctx context.Context, b []byte) (engine.Session, error) {
		return e.Open(ctx, b, engine.Options{Threads: 1})
	}, o)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return x
}

// graph predicts with an opened model.
type graph struct{ m *interior.Model }

// Predict runs the graph.
func (g graph) Predict(ctx context.Context, values []space.Value) ([]space.Value, error) {
	return g.m.Predict(ctx, values)
}
