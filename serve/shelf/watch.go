package shelf

import (
	"context"
	"time"

	"nero/serve/api"
)

// Watch looks for what is new about once a second, less often where looking takes long, while the context lasts, and
// sends what has changed: a run that has more rows, is complete, appeared, changed or is gone, and slices that were
// changed through this shelf. A receiver that is slow misses events that a later one of the same run makes up for. The
// channel is closed when the context, or the shelf, ends.
func (s *Shelf) Watch(ctx context.Context) <-chan api.Event {
	ch := make(chan api.Event, 64)
	s.mu.Lock()
	s.watchers[ch] = true
	s.mu.Unlock()
	watch := func() {
		t := time.NewTicker(s.pace)
		defer t.Stop()
		defer func() {
			s.mu.Lock()
			delete(s.watchers, ch)
			close(ch)
			s.mu.Unlock()
		}()
		for {
			select {
			case <-ctx.Done():
				return
			case <-s.ctx.Done():
				return
			case <-t.C:
				s.refresh()
			}
		}
	}
	if !s.goes(watch) {
		s.mu.Lock()
		delete(s.watchers, ch)
		s.mu.Unlock()
		close(ch)
	}
	return ch
}

// tell sends the card of a run to all who watch.
func (s *Shelf) tell(src *source) {
	c := s.listedRun(src)
	s.send(api.Event{Run: &c})
}

// send sends an event to all who watch and have room for it.
func (s *Shelf) send(e api.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for ch := range s.watchers {
		select {
		case ch <- e:
		default:
			s.log().Debug("a watcher is slow; an event is left out")
		}
	}
}
