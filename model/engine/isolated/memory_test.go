//go:build !race

package isolated_test

// memoryRanOut is what an end for want of memory says.
const memoryRanOut = "memory ran out"
