// Package slow holds tests back that take long. They run where the build tag slow is set, as in .ci/run:
//
//	go test -tags slow ./audit/check/layers
package slow

import "testing"

// Test skips a test that takes long, and says how it is run.
func Test(tb testing.TB) {
	tb.Helper()
	if !Asked {
		tb.Skip("takes long: run it with -tags slow")
	}
}
