//go:build (darwin || linux || windows) && (amd64 || arm64) && !nonative

package native

import "testing"

// A run that may never end holds nobody up who closes the session; one that does end frees it.
func TestCloseLeavesWhatDoesNotEnd(t *testing.T) {
	s := &session{e: &Engine{}, left: make(chan struct{})}
	s.mu.RLock() // a run under way
	s.leave()
	s.leave()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	s.mu.RUnlock()
	s.mu.Lock() // whoever closed it is done, or comes behind
	defer s.mu.Unlock()
	if s.handle != 0 {
		t.Errorf("handle %d", s.handle)
	}
}
