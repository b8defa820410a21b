//go:build !slow

package oracle_test

// everyEngine is false because opening 142 models on the embedded engine takes several seconds.
const everyEngine = false
