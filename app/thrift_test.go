package app

import (
	"runtime/debug"
	"testing"
)

// Audits that overlap leave the process as it was, whichever ends first.
func TestThrift(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(77))
	var of thrift
	of.begin()
	of.begin()
	of.end()
	if got := debug.SetGCPercent(30); got != 30 {
		t.Errorf("%d percent while one is under way", got)
	}
	of.end()
	if got := debug.SetGCPercent(77); got != 77 {
		t.Errorf("%d percent after all, want 77", got)
	}
}
