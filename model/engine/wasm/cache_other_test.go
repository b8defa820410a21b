//go:build !linux

package wasm

import "testing"

func restrict(t *testing.T) { t.Helper() }
