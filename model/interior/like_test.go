package interior_test

import (
	"context"
	"sync/atomic"
	"testing"

	"nero/data/space"
	"nero/data/tensor"
	"nero/model/decode"
	"nero/model/engine"
	"nero/model/interior"
	"nero/model/oracle"
)

// tallied counts the runs of its sessions.
type tallied struct {
	engine.Session
	n *atomic.Int64
}

func (c tallied) Run(ctx context.Context, in []tensor.Named) ([]tensor.Named, error) {
	c.n.Add(1)
	return c.Session.Run(ctx, in)
}

// A model that is like another one answers what it would alone, and is not run to find out where samples lie.
func TestLike(t *testing.T) {
	graph := read(t, file("residual"))
	x := noise(graph, 2, 1)
	answer := func(like *interior.Model) (y []space.Value, runs int64) {
		c, err := decode.NewTensors(graph.Signature(), decode.OutputSpec{Space: space.KindTensor})
		if err != nil {
			t.Fatal(err)
		}
		var n atomic.Int64
		m, err := interior.New(graph, c, func(ctx context.Context, b []byte) (engine.Session, error) {
			s, err := oracle.Engine(oracle.Options{}).Open(ctx, b, engine.Options{})
			return tallied{s, &n}, err
		}, interior.Options{Double: true, Batch: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close() //nolint:errcheck // nothing is lost
		if like != nil {
			m.Like(like)
		}
		if y, err = m.Predict(t.Context(), x); err != nil {
			t.Fatal(err)
		}
		g, err := m.Gradient(t.Context(), x, y)
		if err != nil {
			t.Fatal(err)
		}
		return append(y, g...), n.Load()
	}
	alone, more := answer(nil)
	both, runs := answer(tensorModel(t, graph, interior.Options{}))
	if runs != 4 || more <= runs { // two inputs, each answered and differentiated
		t.Errorf("%d runs, alone %d; want 4 and more", runs, more)
	}
	for i := range alone {
		for k, v := range alone[i].Numbers() {
			if v != both[i].Numbers()[k] {
				t.Fatalf("value %d, number %d is %g, alone %g", i, k, both[i].Numbers()[k], v)
			}
		}
	}
}
