package guard

import (
	"bytes"
	"errors"
	"io"
	"os"
	"slices"
	"sync"
	"time"
)

// body is the body of a request, which has to arrive in time.
type body struct {
	io.ReadCloser
	c *call
	// it has been read to its end
	done bool
	// it has not come in time
	late bool

	mu sync.Mutex
	// zero before the first read
	until time.Time
	// it had to make room
	out bool
}

func (b *body) Read(p []byte) (int, error) {
	b.hasten()
	n, err := b.ReadCloser.Read(p)
	b.done = b.done || errors.Is(err, io.EOF)
	b.late = b.late || errors.Is(err, os.ErrDeadlineExceeded)
	return n, err
}

// hasten sets the clock for what is still to come.
func (b *body) hasten() {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.c.s.now()
	if b.until.IsZero() {
		b.until = now.Add(b.c.s.limits.Body)
	}
	if b.out {
		b.until = now
	}
	_ = b.c.w.control.SetReadDeadline(b.until)
}

// give ends the reading of a body that is too slow.
func (b *body) give() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.out = true
	_ = b.c.w.control.SetReadDeadline(b.c.s.now())
}

// whole reads a body before anybody works on the request: one that arrives slowly holds no place of those at work. The
// error of reading comes where it was.
func whole(r io.ReadCloser) io.ReadCloser {
	b, err := io.ReadAll(r)
	if err == nil {
		err = io.EOF
	}
	return struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(b), broken{err}), r}
}

// broken is the end of a body, and why it ended.
type broken struct{ err error }

func (b broken) Read([]byte) (int, error) { return 0, b.err }

// waiter is something that waits for a slow client, and can be told to end at once.
type waiter interface{ give() }

// crowd are those that wait for slow clients: bodies that are being read, answers that are being sent, streams. Where
// there are as many as are allowed, a new one takes the place of the oldest, if that has had its time: whoever is slow
// keeps nobody out.
type crowd struct {
	most int
	// for which one has its place for certain
	sure time.Duration

	mu sync.Mutex
	// in the order in which they came
	list []waiter
	came []time.Time
}

// Times for which a place is certain. Pages that lost their stream come back, and each time take that of another.
const (
	moment = time.Second
	while  = 10 * time.Second
)

// enter gives a place, if there is one or will be.
func (a *crowd) enter(w waiter, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.list) >= a.most {
		if now.Sub(a.came[0]) < a.sure {
			return false
		}
		a.list[0].give()
		a.list, a.came = a.list[1:], a.came[1:]
	}
	a.list, a.came = append(a.list, w), append(a.came, now)
	return true
}

// leave takes a place back, if there still is one. Afterwards nobody is told to end.
func (a *crowd) leave(w waiter) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if i := slices.Index(a.list, w); i >= 0 {
		a.list, a.came = slices.Delete(a.list, i, i+1), slices.Delete(a.came, i, i+1)
	}
}
