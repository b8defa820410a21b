package shelf

import (
	"container/list"
	"sync"
	"sync/atomic"
)

// kind is what a cached value holds.
type kind uint8

const (
	kindCurves kind = iota // *curves of a source
	kindRows               // *rows of a source
	kindStats              // *Stats of a run
	kindJoin               // values of a merged run
	kindTop                // classes of a merged run
	kindRest               // classes at the identity
)

// key names a cached value: of a source with its epoch, of a run with the generation that it shows.
type key struct {
	id         string
	generation int
	kind       kind
	model      int
	metric     int
}

// cache keeps the values that were used last, up to a number of bytes. A value is made by one caller while the others
// wait.
type cache struct {
	limit int64
	// of generations and epochs
	count atomic.Int64

	mu   sync.Mutex
	size int64
	// of *entry, the one used last at the front
	order   *list.List
	entries map[key]*entry
}

type entry struct {
	key key
	// guarded by the cache
	size int64
	// nil once it was dropped
	at *list.Element

	// held while the value is made
	mu sync.Mutex
	// nil until then
	value any
}

func newCache(limit int64) *cache {
	return &cache{limit: limit, order: list.New(), entries: map[key]*entry{}}
}

// next is a number that no generation and no epoch has had, larger than them all: a folder that is removed and made
// anew has the same id, and nothing else in common.
func (c *cache) next() int { return int(c.count.Add(1)) }

// get returns the value of k. If there is none, or fresh refuses it, load makes it; load gets the one that was refused,
// nil if there is none, and must not change it.
func (c *cache) get(k key, fresh func(any) bool, load func(old any) (value any, size int64, err error)) (any, error) {
	c.mu.Lock()
	e := c.entries[k]
	if e == nil {
		e = &entry{key: k}
		e.at = c.order.PushFront(e)
		c.entries[k] = e
	} else {
		c.order.MoveToFront(e.at)
	}
	c.mu.Unlock()

	e.mu.Lock()
	defer e.mu.Unlock()
	if e.value != nil && (fresh == nil || fresh(e.value)) {
		return e.value, nil
	}
	v, size, err := load(e.value)
	if err != nil {
		if e.value == nil {
			c.mu.Lock()
			c.drop(e)
			c.mu.Unlock()
		}
		return nil, err
	}
	e.value = v
	c.mu.Lock()
	defer c.mu.Unlock()
	if e.at == nil { // dropped meanwhile: it is handed out and not kept
		return v, nil
	}
	c.size += size - e.size
	e.size = size
	// The newest value is kept even if it alone is too large: it is in use, and dropping it would only have it made
	// again.
	for at := c.order.Back(); at != nil && c.size > c.limit; {
		before := at.Prev()
		if old, ok := at.Value.(*entry); ok && old != e && old.size > 0 {
			c.drop(old)
		}
		at = before
	}
	return v, nil
}

// drop forgets an entry. The lock is held.
func (c *cache) drop(e *entry) {
	if e.at == nil {
		return
	}
	c.order.Remove(e.at)
	e.at = nil
	c.size -= e.size
	delete(c.entries, e.key)
}

// forget drops what was made of an older generation of a run. What was read of its folder in this epoch stays: new
// shards are added to it.
func (c *cache) forget(id string, generation, epoch int) {
	c.clear(func(k key) bool {
		return k.id == id && (k.kind >= kindStats && k.generation < generation || k.kind < kindStats &&
			k.generation < epoch)
	})
}

// clear drops some values.
func (c *cache) clear(drop func(key) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for k, e := range c.entries {
		if drop(k) && e.size > 0 { // else it is in the making
			c.drop(e)
		}
	}
}
