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

// arriving are the bodies that are being read. Where there are as many as are allowed, a new one takes the place of the
// oldest, if that has had a moment: whoever sends slowly keeps nobody out.
type arriving struct {
	most int
	mu   sync.Mutex
	// in the order in which they came
	list []*body
	came []time.Time
}

// moment is how long a body has its place for certain.
const moment = time.Second

// enter gives a body a place, if there is one or will be.
func (a *arriving) enter(b *body, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.list) >= a.most {
		if now.Sub(a.came[0]) < moment {
			return false
		}
		a.list[0].give()
		a.list, a.came = a.list[1:], a.came[1:]
	}
	a.list, a.came = append(a.list, b), append(a.came, now)
	return true
}

// leave takes the place of a body back, if it still has one.
func (a *arriving) leave(b *body) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if i := slices.Index(a.list, b); i >= 0 {
		a.list, a.came = slices.Delete(a.list, i, i+1), slices.Delete(a.came, i, i+1)
	}
}
