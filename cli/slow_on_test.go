//go:build slow

package cli_test

// slowTests says that tests that take minutes are to run.
const slowTests = true
