package engine

import (
	"context"
	"fmt"

	"nero/model/engine/provider"
)

// Provided is an engine that can compute elsewhere than on the processor.
type Provided interface {
	// Providers are the execution providers that it has, by the names of ONNX Runtime.
	Providers() []string
}

// Placed is an opened model that says what of it runs where.
type Placed interface{ Placement() provider.Placement }

// On is the engine with its models on the providers of a list, whatever it had before.
func On(e Engine, l provider.List) Engine {
	if p, ok := e.(*placed); ok {
		e = p.Engine
	}
	if l.Plain() {
		return e
	}
	return &placed{e, l}
}

// Place is the list of providers that an engine opens models on.
func Place(e Engine) provider.List {
	if p, ok := e.(*placed); ok {
		return p.list
	}
	return provider.List{}
}

// Lacking says which provider of a list an engine does not have, as a [*provider.LackError]; nil where it has all.
func Lacking(e Engine, l provider.List) error {
	if l.Plain() {
		return nil
	}
	i := e.Info()
	if p, ok := e.(Provided); ok && len(p.Providers()) > 0 {
		has := p.Providers()
		if lacks, yes := l.Lacks(has); yes {
			return &provider.LackError{Library: i.Path, Version: i.Version, Provider: lacks, Has: has}
		}
		return nil
	}
	return fmt.Errorf("the engine %s runs on the processor alone, and models are to run on %s, which takes a native "+
		"library of ONNX Runtime: %s", i.Name, l.Names(), provider.Of(l.Choices[0]).Source)
}

type placed struct {
	Engine
	list provider.List
}

// Info says where models run.
func (e *placed) Info() Info {
	i := e.Engine.Info()
	i.Provider = e.list.String()
	return i
}

// Open opens a model on the providers.
func (e *placed) Open(ctx context.Context, model []byte, o Options) (Session, error) {
	o.Providers = e.list
	return e.Engine.Open(ctx, model, o)
}

// Concurrent is false where a provider answers one question at a time.
func (e *placed) Concurrent() bool { return e.Engine.Concurrent() && !e.list.Serial() }

// Fingerprint is that of the engine, empty where it has none.
func (e *placed) Fingerprint() string {
	if f, ok := e.Engine.(interface{ Fingerprint() string }); ok {
		return f.Fingerprint()
	}
	return ""
}
