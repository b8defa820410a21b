package enginetest_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"nero/model/engine/choose"
	"nero/model/engine/choose/choosetest"
	"nero/model/engine/enginetest"
)

// opened are the engines of this machine, opened once: starting wasm is slow under the race detector.
var opened struct {
	sync.Mutex
	engines map[string]choose.Choice
}

// open returns the engine of this machine of a kind, or skips the test where there is no native library.
func open(t *testing.T, kind string) choose.Choice {
	t.Helper()
	opened.Lock()
	defer opened.Unlock()
	if e, ok := opened.engines[kind]; ok {
		return e
	}
	e, err := choose.Open(context.Background(), choose.Request{Kind: kind}, choosetest.Host())
	if errors.Is(err, choose.ErrNoLibrary) {
		t.Skipf("the native engine is not tested: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if opened.engines == nil {
		opened.engines = map[string]choose.Choice{}
	}
	opened.engines[kind] = e
	return e
}

func TestWasm(t *testing.T) { enginetest.Run(t, open(t, choose.Wasm)) }

func TestNative(t *testing.T) { enginetest.Run(t, open(t, choose.Native)) }
