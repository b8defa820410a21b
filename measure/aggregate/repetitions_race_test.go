//go:build !slow && race

package aggregate

// repetitions of each row of the coverage table: under the race detector enough to run each interval.
const repetitions = 20
