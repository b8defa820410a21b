//go:build !((darwin || linux || windows) && (amd64 || arm64)) || nonative

package native

import (
	"context"
	"errors"
	"fmt"

	"nero/model/engine"
	"nero/model/engine/library"
)

// Supported reports whether libraries can be loaded by this program.
const Supported = false

// Engine does not exist in this program.
type Engine struct{}

// New returns an error that wraps [errors.ErrUnsupported].
func New(path, _ string) (*Engine, error) {
	return nil, fmt.Errorf("%s: this program loads no shared libraries (%s, built without them): %w", path,
		library.Host(), errors.ErrUnsupported)
}

// Info is empty.
func (e *Engine) Info() engine.Info { return engine.Info{} }

// Concurrent is false.
func (e *Engine) Concurrent() bool { return false }

// Open returns an error that wraps [errors.ErrUnsupported].
func (e *Engine) Open(context.Context, []byte, engine.Options) (engine.Session, error) {
	return nil, errors.ErrUnsupported
}
