package e2e

import (
	"context"
	"sync"
	"testing"

	"nero/data/tensor"
	"nero/model/engine/remote/remotetest"
	"nero/model/onnx"
)

// paced is a model behind an endpoint that answers as many inputs as a test lets through, and has the others wait: how
// far a run is does not hang on how fast the machine is. Calls of a single input, as a page asks live, always pass.
type paced struct {
	size int

	mu      sync.Mutex
	left    int
	changed chan struct{} // closed when more may pass
}

// pace serves such a model of grey pictures of the given size, and returns its address.
func pace(t *testing.T, size int) (*paced, string) {
	t.Helper()
	p := &paced{size: size, changed: make(chan struct{})}
	s, err := remotetest.Start(p, remotetest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return p, s.URL("grpc", "model")
}

// let lets n inputs through from now on, whatever is left of those before; a call that begins to pass passes whole.
func (p *paced) let(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left = n
	close(p.changed)
	p.changed = make(chan struct{})
}

func (p *paced) pass(ctx context.Context, n int) error {
	for {
		p.mu.Lock()
		wait := p.changed
		if p.left > 0 {
			p.left -= n
			p.mu.Unlock()
			return nil
		}
		p.mu.Unlock()
		select {
		case <-wait:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Describe tells of pictures that come in and three scores that go out.
func (p *paced) Describe(context.Context, string) (onnx.Signature, string, error) {
	return onnx.Signature{
		Inputs:  []onnx.Port{port("x", -1, 1, p.size, p.size)},
		Outputs: []onnx.Port{port("y", -1, 3)},
	}, "paced", nil
}

func port(name string, sizes ...int) onnx.Port {
	p := onnx.Port{Name: name, Kind: "tensor", DType: tensor.Float32, Ranked: true}
	for _, n := range sizes {
		p.Shape = append(p.Shape, onnx.Dim{Size: n})
	}
	return p
}

// Infer weighs the pixels of a picture by place, once for each of three scores.
func (p *paced) Infer(ctx context.Context, _ string, in []tensor.Named) ([]tensor.Named, error) {
	x, err := in[0].Float32s()
	if err != nil {
		return nil, err
	}
	pixels := p.size * p.size
	n := len(x) / pixels
	if n > 1 {
		if err := p.pass(ctx, n); err != nil {
			return nil, err
		}
	}
	y := make([]float32, 3*n)
	for i := range n {
		for j, v := range x[i*pixels : (i+1)*pixels] {
			y[3*i+j%3] += v * float32(j%7)
		}
	}
	return []tensor.Named{{Name: "y", Tensor: tensor.FromFloat32(y, n, 3)}}, nil
}
