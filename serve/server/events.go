package server

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"nero/serve/api"
	"nero/serve/guard"
)

// heartbeat is how often a stream of events says that it is alive, so that proxies do not cut it off and a client that
// has gone is noticed.
const heartbeat = 15 * time.Second

// hub hands events to everybody who listens. A listener that is slow misses states in between and never the latest one:
// of each task and each run it keeps one.
type hub struct {
	mu        sync.Mutex
	listeners map[*listener]bool
	closed    bool
}

// listener is one stream. It holds at most one event per key, in the order in which the keys first came.
type listener struct {
	mu     sync.Mutex
	order  []string
	latest map[string]api.Event
	wake   chan struct{}
	ended  chan struct{}
}

func newHub() *hub { return &hub{listeners: map[*listener]bool{}} }

// keyOf names what an event is about.
func keyOf(e api.Event) string {
	switch {
	case e.Task != nil:
		return "task " + e.Task.ID
	case e.Run != nil:
		return "run " + e.Run.ID
	case e.Gone != "": // only the latest counts: a run can be there again
		return "run " + e.Gone
	case e.List:
		return "list"
	case e.Remarks != "":
		return "remarks " + e.Remarks
	}
	return "slices " + e.Slices
}

func (h *hub) publish(e api.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for l := range h.listeners {
		l.put(e)
	}
}

// listen adds a listener, nil if the hub is closed.
func (h *hub) listen() *listener {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil
	}
	l := &listener{latest: map[string]api.Event{}, wake: make(chan struct{}, 1), ended: make(chan struct{})}
	h.listeners[l] = true
	return l
}

func (h *hub) leave(l *listener) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.listeners, l)
}

// close ends every stream.
func (h *hub) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.closed {
		h.closed = true
		for l := range h.listeners {
			close(l.ended)
		}
	}
}

func (l *listener) put(e api.Event) {
	l.mu.Lock()
	k := keyOf(e)
	if _, there := l.latest[k]; !there {
		l.order = append(l.order, k)
	}
	l.latest[k] = e
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default: // it is about to wake
	}
}

// take empties the listener.
func (l *listener) take() []api.Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make([]api.Event, 0, len(l.order))
	for _, k := range l.order {
		all = append(all, l.latest[k])
	}
	l.order = l.order[:0]
	clear(l.latest)
	return all
}

// events is the stream. It begins with the tasks that are there, so that a page that is opened late shows them.
func (s *Server) events(w http.ResponseWriter, r *request) error {
	ctx, err := guard.Stream(w, r.Request)
	if err != nil {
		return err
	}
	l := s.hub.listen()
	if l == nil {
		return context.Canceled
	}
	defer s.hub.leave(l)
	for _, t := range s.tasks.all() {
		l.put(api.Event{Task: &t})
	}
	h := w.Header()
	h.Set("Content-Type", typeEvents)
	h.Set("Cache-Control", "no-store")
	if r.Method == http.MethodHead {
		return nil
	}
	control := http.NewResponseController(w)
	write := func(text []byte) bool {
		_, err := w.Write(text)
		return err == nil && control.Flush() == nil
	}
	if !write([]byte("retry: 2000\n\n")) {
		return nil
	}
	tick := time.NewTicker(heartbeat)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-l.ended:
			return nil
		case <-tick.C:
			if !write([]byte(": still here\n\n")) {
				return nil
			}
		case <-l.wake:
			var text []byte
			for _, e := range l.take() {
				b, err := json.Marshal(e)
				if err != nil {
					return err
				}
				text = append(text, "data: "...)
				text = append(text, b...)
				text = append(text, "\n\n"...)
			}
			if !write(text) {
				return nil
			}
		}
	}
}
