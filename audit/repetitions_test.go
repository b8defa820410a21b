//go:build !race

package audit_test

// repetitions of a simulation.
const repetitions = 500
