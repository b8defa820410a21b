//go:build race

package isolated_test

// memoryRanOut is what an end for want of memory says. The race detector keeps its own memory beside the program's, and
// ends the process in words of its own or in Go's, whichever comes first.
const memoryRanOut = "crashed in its process"
