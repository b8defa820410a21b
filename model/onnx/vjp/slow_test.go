//go:build slow

package vjp_test

import (
	"testing"

	"nero/model/engine/choose"
)

// Every case on the embedded engine, which takes operator sets up to 21.
func TestGradientsWasmAll(t *testing.T) {
	all(t, on(anEngine(t, choose.Wasm)), 1e-5, func(f *fixture) bool { return f.name != "rmsnorm" })
}
