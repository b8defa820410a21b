package frame

import "sync"

// Calls are the questions of one side that have no answer yet; an answer is a [Frame], or what was read of it. Its
// methods may be called from many goroutines.
type Calls[A any] struct {
	mu   sync.Mutex
	next uint32
	open map[uint32]chan A

	// closed once no more answers come; why says the reason
	dead chan struct{}
	why  error
	left int
}

// NewCalls is an empty list, with a place for the first frame of the other side, which has the number 0.
func NewCalls[A any]() (c *Calls[A], first <-chan A) {
	greeted := make(chan A, 1)
	return &Calls[A]{open: map[uint32]chan A{0: greeted}, dead: make(chan struct{})}, greeted
}

// Open takes a number for a question and gives where its answer will come; the error is that of [Calls.End].
func (c *Calls[A]) Open() (call uint32, answer <-chan A, err error) {
	a := make(chan A, 1)
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
func (c *Calls[A]) Deliver(call uint32, answer A) bool {
	c.mu.Lock()
	a := c.open[call]
	delete(c.open, call)
	c.mu.Unlock()
	if a != nil {
		a <- answer // it has room for one
	}
	return a != nil
}

// End says why no more answers come. The first reason stays.
func (c *Calls[A]) End(why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.Ended() {
		c.why, c.left = why, len(c.open)
		close(c.dead)
	}
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
func (c *Calls[A]) Dead() <-chan struct{} { return c.dead }

// Why is the reason of [Calls.End]; it is to be asked once [Calls.Dead] is closed.
func (c *Calls[A]) Why() error { return c.why }

// Left is how many questions had no answer at the end; it is to be asked once [Calls.Dead] is closed.
func (c *Calls[A]) Left() int { return c.left }

// Ended tells whether no more answers come.
func (c *Calls[A]) Ended() bool {
	select {
	case <-c.dead:
		return true
	default:
		return false
	}
}
