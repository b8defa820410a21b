package engine

import (
	"context"
	"time"
)

// Apart is an engine that computes in a process of its own. What it takes is no part of what this process takes.
type Apart interface {
	// Spent is the processor time of that process so far, over all its threads.
	Spent(ctx context.Context) (time.Duration, error)
}

// Spent is the processor time that an engine has taken so far beside that of this process: 0 for an engine in here. Of
// two engines of one kind these times, with that of this process, are alike; those of the clock are too only where
// nothing else works on the machine.
func Spent(ctx context.Context, e Engine) (time.Duration, error) {
	if p, ok := e.(*placed); ok {
		e = p.Engine
	}
	if a, ok := e.(Apart); ok {
		return a.Spent(ctx)
	}
	return 0, nil
}
