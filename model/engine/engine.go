// Package engine says what a body that runs ONNX models looks like from above. The bodies are engine/wasm (embedded, needs
// nothing) and engine/native (ONNX Runtime's shared library); a remote server is the third.
package engine

import (
	"context"

	"nero/data/tensor"
)

// Options of an opened model.
type Options struct {
	Threads int  // threads inside one Run; default 1. The wasm body has one whatever this says
	Plain   bool // no graph optimisation
}

// Info says which body runs and why it was chosen. It is stored with every run.
type Info struct {
	Name    string `json:"name"`           // "wasm" or "native"
	Version string `json:"version"`        // of ONNX Runtime
	Path    string `json:"path,omitempty"` // of the shared library
	Reason  string `json:"reason"`         // why this body: "flag", "environment variable NERO_ORT_LIB", ...
}

// Session is an opened model.
type Session interface {
	Inputs() []string  // names, in the model's order, initializers excluded
	Outputs() []string // names, in the model's order
	// Run feeds every input and returns every output, in order. The results do not share memory with the session.
	// Inputs are matched by position; names must be right.
	Run(ctx context.Context, in []tensor.Named) ([]tensor.Named, error)
	Close() error
}

// Engine opens models from bytes.
type Engine interface {
	Info() Info
	Open(ctx context.Context, model []byte, o Options) (Session, error)
	// Concurrent reports whether one Session may Run on many goroutines at once. If not, every worker opens its own.
	Concurrent() bool
}
