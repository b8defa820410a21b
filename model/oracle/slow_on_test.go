//go:build slow

package oracle_test

// everyEngine runs the operator models on the embedded engine too where there is a native one.
const everyEngine = true
