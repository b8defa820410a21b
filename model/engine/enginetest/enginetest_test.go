package enginetest_test

import (
	"context"
	"errors"
	"testing"

	"nero/model/engine/choose"
	"nero/model/engine/enginetest"
)

// open returns the engine of this machine of a kind, or skips the test where there is no native library.
func open(t *testing.T, kind string) choose.Choice {
	t.Helper()
	e, err := choose.Open(t.Context(), choose.Request{Kind: kind}, choose.Host())
	if errors.Is(err, choose.ErrNoLibrary) {
		t.Skipf("the native engine is not tested: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close(context.Background()) })
	return e
}

func TestWasm(t *testing.T) { enginetest.Run(t, open(t, choose.Wasm)) }

func TestNative(t *testing.T) { enginetest.Run(t, open(t, choose.Native)) }
