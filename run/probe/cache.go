package probe

import (
	"container/list"
	"context"
	"errors"
	"sync"

	"nero/data/space"
)

// key names what is kept: the prediction of a model at the identity, or, with model = decoded, a sample.
type key struct{ model, sample int }

const (
	// decoded is the key of what needs no model.
	decoded = -1
	// agreed, less the model, is the key of the consensus of a model.
	agreed = -2
)

// cache keeps what was made last, up to a number of bytes, and makes nothing twice at the same time.
//
// It is not golang.org/x/sync/singleflight: there, those who wait get the error of the one who works, and that one may
// have been called off. Here the next in line takes over, and a waiter that is called off itself leaves at once.
type cache struct {
	limit int

	mu      sync.Mutex
	bytes   int
	entries map[key]*list.Element
	// of *entry, the last used first
	recent  *list.List
	flights map[key]*flight
}

type entry struct {
	key   key
	value any
	bytes int
}

// flight is a value being made.
type flight struct {
	// closed when value and err are set
	done  chan struct{}
	value any
	err   error
}

func newCache(limit int) *cache {
	return &cache{limit: limit, entries: map[key]*list.Element{}, recent: list.New(), flights: map[key]*flight{}}
}

// errAbandoned ends a flight whose maker panicked.
var errAbandoned = errors.New("probe: abandoned")

// get returns the value of k, or makes it. An error is not kept.
func (c *cache) get(ctx context.Context, k key, produce func() (value any, bytes int, err error)) (any, error) {
	for {
		c.mu.Lock()
		if e := c.entries[k]; e != nil {
			c.recent.MoveToFront(e)
			v := e.Value.(*entry).value //nolint:errcheck // nothing else is in the list
			c.mu.Unlock()
			return v, nil
		}
		f := c.flights[k]
		if f == nil {
			f = &flight{done: make(chan struct{}), err: errAbandoned}
			c.flights[k] = f
			c.mu.Unlock()
			return c.fly(k, f, produce)
		}
		c.mu.Unlock()
		select {
		case <-f.done:
			if called := errors.Is(f.err, context.Canceled) || errors.Is(f.err, context.DeadlineExceeded) ||
				errors.Is(f.err, errAbandoned); !called {
				return f.value, f.err
			}
		case <-ctx.Done():
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
}

// has reports whether the value of k is kept.
func (c *cache) has(k key) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.entries[k] != nil
}

// fly makes the value of k and keeps it.
func (c *cache) fly(k key, f *flight, produce func() (any, int, error)) (any, error) {
	var bytes int
	defer func() {
		c.mu.Lock()
		delete(c.flights, k)
		if f.err == nil {
			c.keep(&entry{k, f.value, bytes})
		}
		c.mu.Unlock()
		close(f.done)
	}()
	value, bytes, err := produce()
	f.value, f.err = value, err
	return value, err
}

// keep takes an entry in and drops the oldest ones beyond the limit; c.mu is held.
func (c *cache) keep(e *entry) {
	if e.bytes > c.limit {
		return
	}
	c.entries[e.key] = c.recent.PushFront(e)
	c.bytes += e.bytes
	for c.bytes > c.limit {
		last := c.recent.Back()
		old := c.recent.Remove(last).(*entry) //nolint:errcheck // nothing else is in the list
		delete(c.entries, old.key)
		c.bytes -= old.bytes
	}
}

// overhead is what a kept value costs besides its numbers, in bytes; a round figure above it.
const overhead = 512

// bytesOf is about how much memory a value takes.
func bytesOf(v space.Value) int {
	if v == nil {
		return overhead
	}
	n := 0
	for name, f := range space.Leaves(v) {
		n += overhead + f.Bytes()
		if p, ok := f.(space.Pictured); ok && len(p.Pictures()) != 1 {
			n += overhead * len(p.Pictures())
		}
		if name == "" {
			return n
		}
	}
	return overhead + n
}
