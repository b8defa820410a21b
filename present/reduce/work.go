package reduce

import (
	"context"
	"sync"
	"sync/atomic"
)

// crew is how many goroutines share the work, and whom to tell how far it is. Work is cut into tasks whose size does
// not depend on the number of workers, each task writes only what is its own, and sums are taken over tasks in their
// order: so the bytes of a result do not depend on the number of workers either.
type crew struct {
	workers int
	report  func(fraction float64)
	// the share of the whole that the present stage covers
	lo, hi float64
	told   float64
}

// stage says that what follows takes the progress from lo to hi.
func (c *crew) stage(lo, hi float64) {
	c.lo, c.hi = lo, hi
	c.tell(0)
}

// tell reports the share of the stage that is done. Reports never go back and are at least a thousandth apart.
func (c *crew) tell(done float64) {
	at := c.lo + float64((c.hi-c.lo)*min(max(done, 0), 1))
	if c.report == nil || at < c.told+1e-3 && (at < 1 || c.told == 1) {
		return
	}
	c.told = at
	c.report(at)
}

// each calls f for every task from 0 to n-1, from several goroutines, and says between tasks whether ctx has ended. The
// worker's number, below c.workers, serves to find scratch memory.
func (c *crew) each(ctx context.Context, n int, f func(worker, task int)) error {
	if c.workers == 1 || n <= 1 {
		for i := range n {
			if err := ctx.Err(); err != nil {
				return err
			}
			f(0, i)
		}
		return ctx.Err()
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for w := range min(c.workers, n) {
		wg.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				f(w, i)
			}
		})
	}
	wg.Wait()
	return ctx.Err()
}

// eachTold is each for a long stage: it reports how far it is.
func (c *crew) eachTold(ctx context.Context, n int, f func(worker, task int)) error {
	const parts = 50
	for p := range parts {
		lo, hi := p*n/parts, (p+1)*n/parts
		if err := c.each(ctx, hi-lo, func(worker, task int) { f(worker, lo+task) }); err != nil {
			return err
		}
		c.tell(float64(p+1) / parts)
	}
	return nil
}

// blocks cuts n things into tasks of size things each, the last one shorter.
func blocks(n, size int) int { return (n + size - 1) / size }

// span is the range of things of task b.
func span(b, n, size int) (lo, hi int) { return b * size, min(n, (b+1)*size) }
