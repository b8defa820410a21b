package engine

import (
	"context"
	"fmt"
	"time"

	"nero/data/tensor"
	"nero/model/engine/provider"
)

// Grace is how long a call may go on after its context has ended before nobody waits for it any more.
const Grace = time.Second

// Await runs f, which should end soon after ctx does. Where it has not by the end of [Grace], Await returns the error
// of ctx and leaves f to itself: nothing can stop a model that is in the middle of an operator, or in a loop without
// end. left says so; f then still holds what it was given.
func Await[T any](ctx context.Context, f func() (T, error)) (result T, left bool, err error) {
	if ctx.Done() == nil {
		result, err = f()
		return result, false, err
	}
	type answer struct {
		result T
		err    error
	}
	c := make(chan answer, 1)
	go func() {
		r, err := f()
		c <- answer{r, err}
	}()
	select {
	case a := <-c:
		return a.result, false, a.err
	case <-ctx.Done():
	}
	late := time.NewTimer(Grace)
	defer late.Stop()
	select {
	case a := <-c:
		return a.result, false, a.err
	case <-late.C:
		return result, true, ctx.Err()
	}
}

// watched marks the context of somebody who waits for a call no longer than its context lasts.
type watched struct{}

// Watch runs f as [Await] does, with a context under which calls need not be left to themselves one by one: f is. A
// call on a goroutine of its own costs tens of microseconds of processor time, as much as the answer of a small model.
func Watch[T any](ctx context.Context, f func(context.Context) (T, error)) (result T, left bool, err error) {
	return Await(ctx, func() (T, error) { return f(context.WithValue(ctx, watched{}, true)) })
}

// Watched reports whether somebody leaves the caller to itself where its calls do not end, so that they may run on its
// own goroutine.
func Watched(ctx context.Context) bool { return ctx.Value(watched{}) == true }

// TimeError says that a model has not answered in time.
type TimeError struct {
	Limit time.Duration
}

// Error says the limit, and how to change it.
func (e *TimeError) Error() string {
	return fmt.Sprintf("no answer within %v, the time limit; raise it with --time-limit or the model's timeout in the "+
		"study, or look for a loop without end in the model", e.Limit)
}

// Limit is an engine whose models have to answer within a time: one that has not is stopped, and its call ends with a
// [TimeError]. Opening a model has to end within ten times as long. Without a limit it is the engine itself.
func Limit(e Engine, limit time.Duration) Engine {
	if limit <= 0 || e == nil {
		return e
	}
	return &limited{e, limit}
}

type limited struct {
	Engine
	limit time.Duration
}

// opening is how many times longer than an answer it may take to open a model.
const opening = 10

// Open opens a model within the limit.
func (e *limited) Open(ctx context.Context, model []byte, o Options) (Session, error) {
	s, err := within(ctx, opening*e.limit, func(ctx context.Context) (Session, error) {
		return e.Engine.Open(ctx, model, o)
	})
	if err != nil {
		return nil, err
	}
	return &timed{s, e.limit}, nil
}

type timed struct {
	Session
	limit time.Duration
}

// Placement says what of the model runs where.
func (s *timed) Placement() provider.Placement {
	if p, ok := s.Session.(Placed); ok {
		return p.Placement()
	}
	return provider.Placement{}
}

// Run answers within the limit.
func (s *timed) Run(ctx context.Context, in []tensor.Named) ([]tensor.Named, error) {
	return within(ctx, s.limit, func(ctx context.Context) ([]tensor.Named, error) { return s.Session.Run(ctx, in) })
}

// within calls f with a context that ends in time.
func within[T any](ctx context.Context, limit time.Duration, f func(context.Context) (T, error)) (T, error) {
	in, cancel := context.WithTimeout(context.WithValue(ctx, watched{}, false), limit) // it ends before ctx does
	defer cancel()
	r, err := f(in)
	if err != nil && in.Err() != nil && ctx.Err() == nil {
		err = &TimeError{limit}
	}
	return r, err
}
