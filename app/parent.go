package app

import (
	"context"
	"strings"
	"sync"
	"time"

	"nero/model/engine/parent"
	"nero/run/job"
)

// Handed is the environment variable that says what the program that started this one handed down, for [App.Join].
const Handed = parent.Variable

// Join opens the way to the program that started this one, by the text of [Handed]: its functions are models, and it is
// told what happens, besides [App.Events]. The context that is returned ends when that program does, or lets this one
// go: nobody is left then who asks for the result, and what is done is kept. leave ends all of it.
func (a *App) Join(ctx context.Context, handed string) (joined context.Context, leave func(), err error) {
	c, err := parent.Inherited(handed)
	if err != nil {
		return ctx, nil, err
	}
	channel, err := parent.Open(ctx, c, a.Version)
	if err != nil {
		return ctx, nil, err
	}
	joined, end := context.WithCancel(ctx)
	go func() {
		<-channel.Dead()
		end()
	}()
	a.Live = channel
	if channel.Who() == "python" {
		a.Speech = Keywords{}
	}
	t := &teller{to: func(e Event) {
		e.Text, e.Hint = a.speech().Sentence(e.Text), a.speech().Sentence(e.Hint)
		channel.Tell(e)
	}, now: a.Now}
	before := a.Events
	a.Events = func(e Event) {
		if before != nil {
			before(e)
		}
		t.tell(e)
	}
	return joined, channel.Close, nil
}

// apart is how long steps are counted together before they are told: another process need not hear of each.
const apart = 100 * time.Millisecond

// teller passes events on, many steps as one.
type teller struct {
	to func(Event)
	// nil tells every step
	now func() time.Time

	mu    sync.Mutex
	steps *Event // not told yet
	last  time.Time
}

func (t *teller) tell(e Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s := t.steps; s != nil {
		if e.Kind == Stepped && e.Held == s.Held {
			e.Done += s.Done
		} else {
			t.to(*s)
		}
		t.steps = nil
	}
	if e.Kind != Stepped || t.now == nil {
		t.to(e)
	} else if now := t.now(); now.Sub(t.last) >= apart {
		t.last = now
		t.to(e)
	} else {
		t.steps = &e
	}
}

// Refuse tells why the program ends without a result. What is wrong with a study is told by its field alone: the file
// may be one that was written for this call.
func (a *App) Refuse(err error) {
	e := Event{Kind: Refused, Text: err.Error()}
	var lines []string
	for _, f := range fields(err) {
		if f.Path == "" {
			continue
		}
		if e.Field == "" {
			e.Field = f.Path
		}
		lines = append(lines, f.Path+": "+f.Message)
	}
	if len(lines) > 0 {
		e.Text = strings.Join(lines, "\n")
	}
	a.tell(e)
}

// fields are the mistakes in fields of a study that an error is made of.
func fields(err error) []*job.FieldError {
	if f, ok := err.(*job.FieldError); ok { //nolint:errorlint // what it wraps is asked below
		return []*job.FieldError{f}
	}
	var out []*job.FieldError
	switch e := err.(type) { //nolint:errorlint // the tree is walked by hand
	case interface{ Unwrap() error }:
		out = fields(e.Unwrap())
	case interface{ Unwrap() []error }:
		for _, x := range e.Unwrap() {
			out = append(out, fields(x)...)
		}
	}
	return out
}
