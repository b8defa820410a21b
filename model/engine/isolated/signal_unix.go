//go:build unix

package isolated

import (
	"os"
	"syscall"
)

// signalOf is the name of the signal that ended a process; empty if none did.
func signalOf(s *os.ProcessState) string {
	if s == nil {
		return ""
	}
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return w.Signal().String()
	}
	return ""
}
