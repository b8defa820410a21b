package probe

import (
	"context"
	"sync/atomic"
)

// slots admits so many evaluations at once and lets a few more wait.
type slots struct {
	// holds one for each evaluation under way
	free    chan struct{}
	waiting atomic.Int64
	queue   int64
}

func newSlots(concurrent, queue int) *slots {
	return &slots{free: make(chan struct{}, concurrent), queue: int64(queue)}
}

// take waits for a slot; release gives it back. The error is [ErrBusy] if too many wait already, else that of ctx.
func (s *slots) take(ctx context.Context) (release func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	release = func() { <-s.free }
	select {
	case s.free <- struct{}{}:
		return release, nil
	default:
	}
	defer s.waiting.Add(-1)
	if s.waiting.Add(1) > s.queue {
		return nil, ErrBusy
	}
	select {
	case s.free <- struct{}{}:
		if err := ctx.Err(); err != nil { // both were ready, and nobody waits for the answer any more
			release()
			return nil, err
		}
		return release, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
