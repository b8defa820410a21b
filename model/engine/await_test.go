package engine_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"nero/data/tensor"
	"nero/model/engine"
)

// What Watch runs knows that it may call on its own goroutine, and is left to itself where it does not end.
func TestWatch(t *testing.T) {
	if engine.Watched(t.Context()) {
		t.Error("nobody watches")
	}
	got, left, err := engine.Watch(t.Context(), func(ctx context.Context) (bool, error) {
		return engine.Watched(ctx), nil
	})
	if !got || left || err != nil {
		t.Errorf("watched %v, left %v, %v", got, left, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	end := make(chan struct{})
	defer close(end)
	_, left, err = engine.Watch(ctx, func(context.Context) (int, error) {
		cancel()
		<-end
		return 0, nil
	})
	if !left || !errors.Is(err, context.Canceled) {
		t.Errorf("left %v, %v", left, err)
	}
}

// asked says whether its calls are watched.
type asked struct{ engine.Session }

func (asked) Run(ctx context.Context, _ []tensor.Named) ([]tensor.Named, error) {
	if engine.Watched(ctx) {
		return nil, errors.New("watched")
	}
	return nil, nil
}

type asking struct{ engine.Engine }

func (asking) Open(context.Context, []byte, engine.Options) (engine.Session, error) {
	return asked{}, nil
}

// A limit of one call ends before the context of whoever watches does: the call has to be left by itself.
func TestALimitIsNotWatched(t *testing.T) {
	s, err := engine.Limit(asking{}, time.Hour).Open(t.Context(), nil, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = engine.Watch(t.Context(), func(ctx context.Context) (struct{}, error) {
		_, err := s.Run(ctx, nil)
		return struct{}{}, err
	})
	if err != nil {
		t.Error(err)
	}
}
