package wasm

import (
	"context"
	"strings"
	"testing"
	"time"

	"nero/model/engine/selftest"
)

func TestCorrectedModulePassesTheSelfTest(t *testing.T) {
	t0 := time.Now()
	e, err := New(t.Context(), Config{CacheDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Log(time.Since(t0), e.Note())
	defer e.Close(context.Background())
	t0 = time.Now()
	if err := selftest.Run(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	t.Log(time.Since(t0))
}

func TestSelfTestFindsTheMiscompilation(t *testing.T) {
	m, err := unpack()
	if err != nil {
		t.Fatal(err)
	}
	e, err := compile(t.Context(), Config{CacheDir: t.TempDir()}, m)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close(context.Background())
	err = selftest.Run(t.Context(), e)
	if err == nil || !strings.Contains(err.Error(), "computes wrongly") {
		t.Fatalf("want the uncorrected module to be refused, got %v", err)
	}
	t.Log(err)
}
