package wasm

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"nero/data/tensor"
	"nero/model/engine"
	"nero/model/engine/tiny"
)

// cacheDir is the folder that the program itself uses: compiling takes seconds, and minutes under the race detector.
func cacheDir(t *testing.T) string {
	t.Helper()
	dir, err := os.UserCacheDir()
	if err != nil {
		return t.TempDir()
	}
	return filepath.Join(dir, "nero", "wasm")
}

// shared is the engine as users have it, made once: starting it is slow under the race detector.
var shared struct {
	once   sync.Once
	engine *Engine
	err    error
}

// corrected is the shared engine.
func corrected(t *testing.T) *Engine {
	t.Helper()
	shared.once.Do(func() {
		shared.engine, shared.err = New(context.Background(), Config{CacheDir: cacheDir(t), Reason: "test"})
	})
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.engine
}

func openModel(t *testing.T, e *Engine, m tiny.Model) *session {
	t.Helper()
	s, err := e.Open(t.Context(), m.Bytes(), engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s.(*session) //nolint:errcheck // Open of this package returns nothing else
}

// vectorModel is y = op(x) for vectors of any length.
func vectorModel(op string) tiny.Model {
	return tiny.Model{
		Nodes:   []tiny.Node{{Op: op, Inputs: []string{"x"}, Outputs: []string{"y"}}},
		Inputs:  []tiny.Port{{Name: "x", DType: tensor.Float32, Shape: []int{tiny.Free}}},
		Outputs: []tiny.Port{{Name: "y", DType: tensor.Float32, Shape: []int{tiny.Free}}},
	}
}

func input(x ...float32) []tensor.Named {
	return []tensor.Named{{Name: "x", Tensor: tensor.FromFloat32(x, len(x))}}
}
