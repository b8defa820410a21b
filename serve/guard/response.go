package guard

import (
	"net/http"
	"strings"
	"sync"
	"time"
)

// writeChunk is how much of an answer has to go out in one Limits.Write.
const writeChunk = 64 << 10

// response counts what is answered, cuts off readers that take too long, and puts the base path before redirects.
type response struct {
	http.ResponseWriter
	c       *call
	control *http.ResponseController
	// 0 before the headers are written
	status int
	bytes  int64
	// the handler behind the guard is at work
	inside bool
	// the connection has to be broken off
	broken bool

	mu sync.Mutex
	// it had to make room
	out bool
}

// Unwrap is for [http.ResponseController].
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *response) WriteHeader(status int) {
	if w.status == 0 && status >= 200 {
		w.status = status
		if to := w.Header().Get("Location"); w.inside && strings.HasPrefix(to, "/") && !strings.HasPrefix(to, "//") {
			w.Header().Set("Location", strings.TrimSuffix(w.c.s.escaped, "/")+to)
		}
	}
	w.ResponseWriter.WriteHeader(status)
}

// hurry starts the clock for what goes over the connection now. Writing also reads on: net/http takes the rest of a
// body from the connection before it answers.
func (w *response) hurry() {
	now := w.c.s.now()
	w.until(now.Add(w.c.s.limits.Write))
	if b := w.c.body; b != nil && !b.done {
		until := now.Add(w.c.s.limits.Body)
		if b.late { // else the answer would be too late as well
			until = now
		}
		_ = w.control.SetReadDeadline(until)
	}
}

// relax stops the clock: a handler may think as long as it likes, and events may be far apart. Only writing has such a
// clock: net/http stops that of reading itself, when the body has come to its end.
func (w *response) relax() { w.until(time.Time{}) }

// until sets the clock of writing, unless its time is over.
func (w *response) until(t time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.out {
		t = w.c.s.now()
	}
	_ = w.control.SetWriteDeadline(t) // a recorder of a test has no deadlines
}

// give ends the sending of an answer that is taken too slowly.
func (w *response) give() {
	w.mu.Lock()
	w.out = true
	w.mu.Unlock()
	w.until(time.Time{})
}

func (w *response) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if w.inside {
		w.c.send()
	}
	defer w.relax()
	n := 0
	for {
		chunk := p[n:min(len(p), n+writeChunk)]
		w.hurry()
		m, err := w.ResponseWriter.Write(chunk)
		n += m
		w.bytes += int64(m)
		if err != nil || n >= len(p) {
			return n, err
		}
	}
}

// FlushError is for [http.ResponseController].
func (w *response) FlushError() error {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	w.hurry()
	defer w.relax()
	return w.control.Flush()
}

// Flush is for handlers that ask for an [http.Flusher].
func (w *response) Flush() { _ = w.FlushError() }
