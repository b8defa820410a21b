package interior

import (
	"context"
	"errors"
	"slices"
	"sync"

	"nero/data/tensor"
	"nero/model/engine"
	"nero/model/onnx"
)

// Bounds of what is kept open for later.
const (
	maxGraphs = 6
	maxBytes  = 256 << 20
)

// graph is an edited model: its bytes, what it reads, and the sessions of it that nobody uses.
type graph struct {
	key     string
	bytes   []byte
	feeds   []onnx.Port
	outputs []string
	// feeds besides those of the model
	extra []string
	// outputs that hold derivatives
	results []string
	free    []engine.Session
	// sessions in use
	out int
	// not in the pool any more
	dropped bool
}

// pool keeps the graphs used last.
type pool struct {
	open Open

	mu sync.Mutex
	// the one used last comes last
	graphs []*graph
}

func newPool(open Open) *pool { return &pool{open: open} }

// graph finds a graph by its key, or makes it. Two that make the same graph at once is a waste, not an error.
func (p *pool) graph(key string, build func() (*graph, error)) (*graph, error) {
	if g := p.find(key); g != nil {
		return g, nil
	}
	g, err := build()
	if err != nil {
		return nil, err
	}
	g.key = key
	p.mu.Lock()
	p.graphs = append(p.graphs, g)
	closing := p.trim()
	p.mu.Unlock()
	return g, shut(closing)
}

func (p *pool) find(key string) *graph {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.graphs, func(g *graph) bool { return g.key == key })
	if i < 0 {
		return nil
	}
	g := p.graphs[i]
	p.graphs = append(slices.Delete(p.graphs, i, i+1), g)
	return g
}

// trim drops the graphs that were used longest ago until the bounds hold, and returns their sessions that are to be
// closed. The last stays whatever its size.
func (p *pool) trim() []engine.Session {
	var closing []engine.Session
	size := func() (n int) {
		for _, g := range p.graphs {
			n += len(g.bytes) * max(1, g.out+len(g.free))
		}
		return n
	}
	for len(p.graphs) > 1 && (len(p.graphs) > maxGraphs || size() > maxBytes) {
		g := p.graphs[0]
		p.graphs = p.graphs[1:]
		g.dropped = true
		closing = append(closing, g.free...)
		g.free = nil
	}
	return closing
}

// get lends a session of a graph.
func (p *pool) get(ctx context.Context, g *graph) (engine.Session, error) {
	p.mu.Lock()
	g.out++
	if n := len(g.free); n > 0 {
		s := g.free[n-1]
		g.free = g.free[:n-1]
		p.mu.Unlock()
		return s, nil
	}
	closing := p.trim()
	p.mu.Unlock()
	if err := shut(closing); err != nil {
		p.put(g, nil)
		return nil, err
	}
	s, err := p.open(ctx, g.bytes)
	if err != nil {
		p.put(g, nil)
	}
	return s, err
}

// put takes a session back; nil for one that could not be opened or has failed.
func (p *pool) put(g *graph, s engine.Session) {
	p.mu.Lock()
	g.out--
	keep := s != nil && !g.dropped
	if keep {
		g.free = append(g.free, s)
	}
	p.mu.Unlock()
	if s != nil && !keep {
		_ = s.Close() // nothing that was asked of it is lost
	}
}

// run feeds one batch. A session that fails is not used again: an engine may be in any state after an error.
func (p *pool) run(ctx context.Context, g *graph, in []tensor.Named) ([]tensor.Named, error) {
	s, err := p.get(ctx, g)
	if err != nil {
		return nil, err
	}
	out, err := s.Run(ctx, in)
	if err != nil {
		_ = s.Close()
		p.put(g, nil)
		return nil, err
	}
	p.put(g, s)
	return out, nil
}

// forget drops a graph now.
func (p *pool) forget(g *graph) error {
	p.mu.Lock()
	p.graphs = slices.DeleteFunc(p.graphs, func(o *graph) bool { return o == g })
	g.dropped = true
	closing := g.free
	g.free = nil
	p.mu.Unlock()
	return shut(closing)
}

func (p *pool) close() error {
	p.mu.Lock()
	var closing []engine.Session
	for _, g := range p.graphs {
		g.dropped = true
		closing = append(closing, g.free...)
		g.free = nil
	}
	p.graphs = nil
	p.mu.Unlock()
	return shut(closing)
}

func shut(list []engine.Session) error {
	var errs []error
	for _, s := range list {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}
