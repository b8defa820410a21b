// Package engine says what a body that runs ONNX models looks like from above. The bodies are engine/wasm (embedded,
// needs nothing) and engine/native (ONNX Runtime's shared library); a remote server is the third.
package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"nero/data/tensor"
	"nero/model/engine/provider"
)

// Options of an opened model.
type Options struct {
	// threads inside one Run; default 1. The wasm body has one whatever this says
	Threads int
	// no graph optimisation
	Plain bool
	// where it computes; the processor where nothing is said
	Providers provider.List
	// memory goes back after each call, where the body can give it back: for sessions that are used a few times
	Lean bool
}

// Info says which body runs and why it was chosen. It is stored with every run.
type Info struct {
	// "wasm" or "native"
	Name string `json:"name"`
	// of ONNX Runtime
	Version string `json:"version"`
	// of the shared library
	Path string `json:"path,omitempty"`
	// why this body: "flag", "environment variable NERO_ORT_LIB", ...
	Reason string `json:"reason"`
	// Provider is where models run, with the options that decide numbers, as provider.Parse reads it; empty for the
	// processor
	Provider string `json:"provider,omitempty"`
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

// CrashError says that the process that ran a model has ended under it.
type CrashError struct {
	// how: a signal and what it means, or that memory ran out
	Reason string
	// the program ended it because another call did not end
	Ended bool
}

// Error says how, and what can be done.
func (e *CrashError) Error() string {
	return "the library crashed in its process: " + e.Reason + "; the model cannot be run by this library: try " +
		"another release of it, or --engine wasm"
}

// RunError says why a model gave no answer, in the words of what runs it.
type RunError struct{ Err error }

// Error is that, in one line.
func (e *RunError) Error() string { return running + OneLine(e.Err.Error()) }

// Unwrap is the cause.
func (e *RunError) Unwrap() error { return e.Err }

// running is what the text of a [RunError] begins with.
const running = "running the model: "

// Failed is a [RunError] whose text came from another process.
func Failed(text string) error { return &RunError{errors.New(strings.TrimPrefix(text, running))} }

// OneLine is a text of ONNX Runtime for a message: the lines that it has joined to one.
func OneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// ErrClosed is returned by a [Session] that is used after Close.
var ErrClosed = errors.New("engine: the session is closed")

// CheckInputs says whether in are tensors that agree with themselves and carry the given names in the given order.
// Bodies call it before anything reaches the model.
func CheckInputs(names []string, in []tensor.Named) error {
	if len(in) != len(names) {
		return fmt.Errorf("%d inputs given, the model takes %d: %q", len(in), len(names), names)
	}
	for i, x := range in {
		if x.Name != names[i] {
			return fmt.Errorf("input %d is named %q, the model takes %q there", i, x.Name, names[i])
		}
		if err := x.Check(); err != nil {
			return fmt.Errorf("input %q: %w", x.Name, err)
		}
	}
	return nil
}
