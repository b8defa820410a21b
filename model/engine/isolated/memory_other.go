//go:build !linux

package isolated

// bound does nothing: what limits memory elsewhere counts other things than this.
func bound(int64) error { return nil }

// Machine is 0: it is not known.
func Machine() int64 { return 0 }

// Bounded reports whether the memory of a process is bounded on this system.
const Bounded = false
