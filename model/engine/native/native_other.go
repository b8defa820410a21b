//go:build !((darwin || linux || windows) && (amd64 || arm64))

package native

import (
	"context"
	"errors"
	"fmt"

	"nero/model/engine"
	"nero/model/engine/library"
)

// Supported reports whether libraries can be loaded on this platform.
const Supported = false

// Engine does not exist on this platform.
type Engine struct{}

// New returns an error that wraps [errors.ErrUnsupported].
func New(path, _ string) (*Engine, error) {
	return nil, fmt.Errorf("%s: shared libraries cannot be loaded on %s: %w", path, library.Host(),
		errors.ErrUnsupported)
}

// Info is empty.
func (e *Engine) Info() engine.Info { return engine.Info{} }

// Concurrent is false.
func (e *Engine) Concurrent() bool { return false }

// Open returns an error that wraps [errors.ErrUnsupported].
func (e *Engine) Open(context.Context, []byte, engine.Options) (engine.Session, error) {
	return nil, errors.ErrUnsupported
}
