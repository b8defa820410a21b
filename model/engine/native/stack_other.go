//go:build (darwin || windows) && (amd64 || arm64) && !nonative

package native

// guarded calls f. On Linux it has something to mend.
func guarded(f func()) { f() }
