//go:build (darwin || windows) && (amd64 || arm64) && !nonative

package native

// trim does nothing: the system's allocator gives memory back by itself.
func trim() {}

// apart does nothing, for the same reason.
func apart() {}
