//go:build slow

package aggregate

// repetitions of each row of the coverage table.
const repetitions = 2000
