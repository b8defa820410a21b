package app

import (
	"context"
	"fmt"
	"sync"

	"nero/audit"
	"nero/data/space"
	"nero/model/engine"
	"nero/model/engine/choose"
	"nero/model/engine/provider"
	"nero/run/eval"
	"nero/run/workload"
)

// twin is the same model on the other engine. It is opened at its first prediction: starting an engine takes seconds,
// and no check may ask.
type twin struct {
	w       *workload.Workload
	model   string
	workers int
	other   *otherEngine
	kind    string
	// the engine itself, where it is opened already
	e engine.Engine

	once sync.Once
	m    *eval.Model
	err  error
}

// otherEngine is the one beside that of an audit, opened once for all its models.
type otherEngine struct {
	host choose.Places

	mu sync.Mutex
	// by the kind that was asked for
	open map[string]engine.Engine
}

// get opens the engine, or returns the one that was opened.
func (o *otherEngine) get(ctx context.Context, kind string) (engine.Engine, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if e := o.open[kind]; e != nil {
		return e, nil
	}
	c, err := choose.Open(ctx, choose.Request{Kind: kind}, o.host)
	if err != nil {
		return nil, err
	}
	if o.open == nil {
		o.open = map[string]engine.Engine{}
	}
	o.open[kind] = c.Engine
	return c.Engine, nil
}

// find says whether there is another engine on this machine, and how it is called.
func (t *twin) find(e engine.Engine) (p audit.Predictor, name, why string) {
	if !engine.Place(e).Plain() {
		t.e = engine.On(e, provider.List{})
		return t, "the processor of the same library", ""
	}
	if e.Info().Name != choose.Wasm {
		t.kind = choose.Wasm
		return t, "the embedded engine", ""
	}
	found, err := choose.Candidates(choose.Request{Kind: choose.Native}, t.other.host)
	if err != nil || len(found) == 0 {
		return nil, "", "no other engine is installed; see: nero engine install"
	}
	t.kind = choose.Native
	return t, "the native engine", ""
}

// Predict runs the model on the other engine.
func (t *twin) Predict(ctx context.Context, values []space.Value) ([]space.Value, error) {
	t.once.Do(func() {
		e, err := t.e, error(nil)
		if e == nil {
			e, err = t.other.get(ctx, t.kind)
		}
		if err != nil {
			t.err = fmt.Errorf("%w: %w", audit.ErrUntested, err)
			return
		}
		if t.m, err = t.w.On(t.model, e); err != nil {
			t.err = fmt.Errorf("%w: the other engine does not take the model: %w", audit.ErrUntested, err)
		}
	})
	if t.err != nil {
		return nil, t.err
	}
	return t.m.Predict(ctx, values, t.workers)
}

// close lets the other engine's sessions go.
func (t *twin) close() {
	if t.m != nil {
		_ = t.m.Pool.Close() // nothing is lost
	}
}
