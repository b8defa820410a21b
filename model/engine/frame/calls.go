package frame

import "sync"

// Calls are the questions of one side that have no answer yet. Its methods may be called from many goroutines.
type Calls struct {
	mu   sync.Mutex
	next uint32
	open map[uint32]chan Frame

	// closed once no more answers come; why says the reason
	dead chan struct{}
	why  error
	once sync.Once
}

// NewCalls is an empty list, with a place for the first frame of the other side, which has the number 0.
func NewCalls() (c *Calls, first <-chan Frame) {
	greeted := make(chan Frame, 1)
	return &Calls{open: map[uint32]chan Frame{0: greeted}, dead: make(chan struct{})}, greeted
}

// Open takes a number for a question and gives where its answer will come; the error is that of [Calls.End].
func (c *Calls) Open() (call uint32, answer <-chan Frame, err error) {
	a := make(chan Frame, 1)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.Ended() {
		return 0, nil, c.why
	}
	if c.next++; c.next == 0 { // which answers nothing
		c.next++
	}
	c.open[c.next] = a
	return c.next, a, nil
}

// Deliver hands an answer to who waits for it. It is false for a frame that answers no open question.
func (c *Calls) Deliver(f Frame) bool {
	c.mu.Lock()
	a := c.open[f.Call]
	delete(c.open, f.Call)
	c.mu.Unlock()
	if a != nil {
		a <- f // it has room for one
	}
	return a != nil
}

// End says why no more answers come. The first reason stays.
func (c *Calls) End(why error) {
	c.once.Do(func() {
		c.why = why
		close(c.dead)
	})
}

// Came is the answer to a question if it has come. Whoever waits for an answer and for the end of all answers asks here
// once that end is known: the other side may answer and end at once, and what has come counts.
func Came[T any](answer <-chan T) (a T, ok bool) {
	select {
	case a = <-answer:
		return a, true
	default:
		return a, false
	}
}

// Dead is closed when no more answers come, and Why says the reason then.
func (c *Calls) Dead() <-chan struct{} { return c.dead }

// Why is the reason of [Calls.End]; it is to be asked once [Calls.Dead] is closed.
func (c *Calls) Why() error { return c.why }

// Ended tells whether no more answers come.
func (c *Calls) Ended() bool {
	select {
	case <-c.dead:
		return true
	default:
		return false
	}
}
