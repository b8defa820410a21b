//go:build !unix

package isolated

import "os"

// signalOf is empty: the exit code says it.
func signalOf(*os.ProcessState) string { return "" }
