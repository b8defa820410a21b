//go:build slow

package lint_test

// everything runs the whole grid.
const everything = true
