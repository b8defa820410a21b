//go:build slow

package cli

// slowTests says that tests that take minutes are to run.
const slowTests = true
