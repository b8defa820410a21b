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
	maxBytes  = 128 << 20
)

// graph is an edited model: how it is encoded, what it reads, and the sessions of it that nobody uses.
type graph struct {
	key string
	// a large model is encoded when a session is opened, and not kept
	encode  func() ([]byte, error)
	size    int
	feeds   []onnx.Port
	outputs []string
	// feeds besides those of the model
	extra []string
	// outputs that hold derivatives
	results []string
	free    []engine.Session
	// the one of all where they share it
	one     engine.Session
	opening sync.Mutex
	// sessions in use
	out int
	// not in the pool any more
	dropped bool
}

// pool keeps the graphs used last.
type pool struct {
	open Open
	// one session of each graph serves all goroutines
	shared bool

	mu sync.Mutex
	// the one used last comes last
	graphs []*graph
}

func newPool(open Open, shared bool) *pool { return &pool{open: open, shared: shared} }

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
			sessions := max(1, g.out+len(g.free))
			if p.shared {
				sessions = 1
			}
			n += g.size * sessions
		}
		return n
	}
	for len(p.graphs) > 1 && (len(p.graphs) > maxGraphs || size() > maxBytes) {
		g := p.graphs[0]
		p.graphs = p.graphs[1:]
		closing = append(closing, g.drop()...)
	}
	return closing
}

// drop takes a graph out of use and returns its sessions that are to be closed. One that is in use is closed by who
// uses it last.
func (g *graph) drop() []engine.Session {
	g.dropped = true
	closing := g.free
	g.free = nil
	if g.one != nil && g.out == 0 {
		closing, g.one = append(closing, g.one), nil
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
	if p.shared {
		g.opening.Lock()
		defer g.opening.Unlock()
		if s := p.opened(g); s != nil {
			return s, nil
		}
	}
	b, err := g.encode()
	var s engine.Session
	if err == nil {
		s, err = p.open(ctx, b)
	}
	if err != nil {
		p.put(g, nil)
		return nil, err
	}
	if p.shared {
		p.mu.Lock()
		g.one = s
		p.mu.Unlock()
	}
	return s, nil
}

// opened is the session that all share; nil if there is none yet.
func (p *pool) opened(g *graph) engine.Session {
	p.mu.Lock()
	defer p.mu.Unlock()
	return g.one
}

// put takes a session back; nil for one that could not be opened or has failed.
func (p *pool) put(g *graph, s engine.Session) {
	p.mu.Lock()
	g.out--
	keep := s != nil && !g.dropped
	switch {
	case p.shared:
		if s, keep = nil, true; g.dropped && g.out == 0 {
			s, keep, g.one = g.one, false, nil
		}
	case keep:
		g.free = append(g.free, s)
	}
	p.mu.Unlock()
	if s != nil && !keep {
		_ = s.Close() // nothing that was asked of it is lost
	}
}

// run feeds one batch. A session that fails is not used again, an engine may be in any state after an error, but for
// one that is shared: it may be at work for others.
func (p *pool) run(ctx context.Context, g *graph, in []tensor.Named) ([]tensor.Named, error) {
	s, err := p.get(ctx, g)
	if err != nil {
		return nil, err
	}
	out, err := s.Run(ctx, in)
	if err != nil {
		if !p.shared {
			_ = s.Close()
		}
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
	closing := g.drop()
	p.mu.Unlock()
	return shut(closing)
}

func (p *pool) close() error {
	p.mu.Lock()
	var closing []engine.Session
	for _, g := range p.graphs {
		closing = append(closing, g.drop()...)
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
