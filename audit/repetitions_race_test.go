//go:build race

package audit_test

// repetitions of a simulation; under the race detector they cost ten times as much and show nothing more.
const repetitions = 100
