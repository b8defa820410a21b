package dataset

import (
	"sync"

	"nero/data/space"
)

// recent keeps decoded photos so that the key objects of one photo do not decode it again. Its rules: a photo is
// decoded by the first who asks while the others wait; what failed is not kept; the photos that were asked for longest
// ago go once the rest would take more than limit bytes, but the newest always stays. A kept image is shared and must
// not be changed.
type recent struct {
	mu    sync.Mutex
	limit int
	bytes int
	clock uint64
	kept  map[int]*decoded
}

// decoded is one photo, or the promise of one.
type decoded struct {
	// closed when img and err are there
	ready chan struct{}
	img   *space.Image
	err   error
	// the clock when somebody asked last
	used uint64
	// 0 until it is ready
	bytes int
}

func newRecent(limit int) *recent { return &recent{limit: limit, kept: map[int]*decoded{}} }

// get is photo i, decoded by load if it is not kept.
func (c *recent) get(i int, load func() (*space.Image, error)) (*space.Image, error) {
	c.mu.Lock()
	c.clock++
	if d, ok := c.kept[i]; ok {
		d.used = c.clock
		c.mu.Unlock()
		<-d.ready
		return d.img, d.err
	}
	d := &decoded{ready: make(chan struct{}), used: c.clock}
	c.kept[i] = d
	c.mu.Unlock()

	d.img, d.err = load()
	c.mu.Lock()
	if d.err != nil {
		delete(c.kept, i)
	} else {
		d.bytes = 8 * len(d.img.Pix)
		c.bytes += d.bytes
		c.shrink()
	}
	c.mu.Unlock()
	close(d.ready)
	return d.img, d.err
}

// shrink drops the photos that were asked for longest ago; the caller holds the lock.
func (c *recent) shrink() {
	for c.bytes > c.limit {
		oldest, ready := -1, 0
		for i, d := range c.kept {
			if d.bytes == 0 {
				continue
			}
			ready++
			if oldest < 0 || d.used < c.kept[oldest].used {
				oldest = i
			}
		}
		if ready < 2 {
			return
		}
		c.bytes -= c.kept[oldest].bytes
		delete(c.kept, oldest)
	}
}
