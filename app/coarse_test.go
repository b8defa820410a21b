package app

import (
	"context"
	"errors"
	"testing"
	"time"

	"nero/run/exec"
	"nero/run/job"
	"nero/symmetry/group"
)

// A shard is begun if it ends in time at the rate of those before, also where that was the rate of another level.
func TestBudget(t *testing.T) {
	now := time.Unix(100, 0)
	a := &App{Now: func() time.Time { return now }}
	b, err := a.budget(RunOptions{Budget: 100 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	coarse := &job.Job{Elements: make([]group.Element, 9), Models: make([]job.ModelRef, 2)}
	whole := &job.Job{Elements: make([]group.Element, 72), Models: make([]job.ModelRef, 2)}
	begin := func(i, samples int, want bool) job.Shard {
		t.Helper()
		s := job.Shard{Index: i, Lo: 100 * i, Hi: 100*i + samples}
		if got := b.begin(s); got != want {
			t.Errorf("after %s: shard of %d samples is begun: %v", now.Sub(time.Unix(100, 0)), samples, got)
		}
		return s
	}
	_, done := b.limit(t.Context(), coarse)
	defer done()
	s := begin(0, 10, true) // nothing is known
	now = now.Add(2 * time.Second)
	b.ended(s) // 10 samples at 9 elements in 2 s: 10 at 72 take 16 s
	limited, cancel := b.limit(t.Context(), whole)
	defer cancel()
	s = begin(0, 60, true) // 96 s of the 98 that are left
	if b.isOver(t.Context(), limited, &exec.StoppedError{}) {
		t.Error("over before anything was refused")
	}
	begin(1, 62, false) // 99 s
	if !b.isOver(t.Context(), limited, &exec.StoppedError{}) {
		t.Error("not over, although a shard was refused")
	}
	if b.isOver(t.Context(), limited, errors.New("broken")) {
		t.Error("a failure is taken for the end of the budget")
	}
	now = now.Add(time.Second)
	b.ended(s) // much faster than it was thought
	begin(1, 1000, true)
	now = now.Add(97 * time.Second)
	begin(2, 1, false)

	var none *budget // any time
	if none.ended(s); !none.begin(s) {
		t.Error("a run without a budget begins a shard at any time")
	}
	if same, cancel := none.limit(t.Context(), whole); same != t.Context() {
		cancel()
		t.Error("a run without a budget is limited")
	}
	for _, wrong := range []struct {
		a *App
		d time.Duration
	}{{a, -1}, {&App{}, time.Second}} {
		if _, err := wrong.a.budget(RunOptions{Budget: wrong.d}); err == nil {
			t.Errorf("budget %s is taken", wrong.d)
		}
	}
}

// What is under way when the time is over, and a quarter of it, is left; a user who stops the program is no budget.
func TestBudgetAbandons(t *testing.T) {
	a := &App{Now: time.Now}
	b, err := a.budget(RunOptions{Budget: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	limited, cancel := b.limit(t.Context(), &job.Job{})
	defer cancel()
	<-limited.Done()
	if !b.isOver(t.Context(), limited, limited.Err()) {
		t.Errorf("not over: %v", context.Cause(limited))
	}
	if b.isOver(t.Context(), limited, errors.New("the disk is full")) {
		t.Error("a failure after the end of the budget is taken for that")
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if b.isOver(stopped, limited, limited.Err()) {
		t.Error("a run that was stopped counts as over")
	}
}
