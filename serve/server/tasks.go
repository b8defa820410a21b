package server

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"math"
	"slices"
	"sync"
	"time"

	"nero/run/fold"
	"nero/serve/api"
	"nero/serve/guard"
)

// States of a task.
const (
	waiting   = "waiting"
	running   = "running"
	done      = "done"
	failed    = "failed"
	cancelled = "cancelled"
)

// Kinds of tasks.
const (
	kindEmbedding = "embedding"
	kindRun       = "run"
)

const (
	maxWaiting = 32                     // embeddings that may wait
	maxKept    = 128                    // tasks that are over and still known
	keptBytes  = 256 << 20              // of results
	between    = 200 * time.Millisecond // at least, between two reports of a task
)

// tasks is the work in the background. One worker computes embeddings in the order in which they were asked for; runs
// that go on have a goroutine each, since their own workers share the machine.
type tasks struct {
	ctx  context.Context //nolint:containedctx // the server's life, which outlasts the requests that begin tasks
	work *sync.WaitGroup
	hub  *hub
	now  func() time.Time
	log  *slog.Logger

	mu    sync.Mutex
	known map[string]*task
	// as they came; the results of the oldest are forgotten first
	order []*task
	// embeddings that wait
	queue []*task
	// the worker is at work
	busy bool
	// of the results
	bytes int
}

// task is one piece of work. Everything below is guarded by the tasks' lock.
type task struct {
	api.Task

	do      func(ctx context.Context, tell func(fraction float64)) (result *container, err error)
	cancel  context.CancelFunc
	ctx     context.Context //nolint:containedctx // of the work, which outlasts the request
	started time.Time
	told    time.Time
	result  *container
	bytes   int
	err     error
	// closed once the work has said how far it is, or is over
	begun chan struct{}
	// it is closed
	said bool
	// closed once a task that ran is over
	over chan struct{}
}

// say closes begun. The lock is held.
func (k *task) say() {
	if !k.said {
		k.said = true
		close(k.begun)
	}
}

func newTasks(ctx context.Context, work *sync.WaitGroup, h *hub, now func() time.Time, log *slog.Logger) *tasks {
	return &tasks{ctx: ctx, work: work, hub: h, now: now, log: log, known: map[string]*task{}}
}

// idOf is the name of the task of a key: asking for the same again finds the same task.
func idOf(kind, key string) string {
	sum := sha256.Sum256([]byte(kind + "\x00" + key))
	return kind + "-" + hex.EncodeToString(sum[:8])
}

// find is a task as it is now, with its result or the error that it ended with.
func (t *tasks) find(id string) (api.Task, *container, error, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	k := t.known[id]
	if k == nil {
		return api.Task{}, nil, nil, false
	}
	return k.Task, k.result, k.err, true
}

// await waits until a task has said how far it is, or is over, but no longer than that.
func (t *tasks) await(ctx context.Context, id string, most time.Duration) {
	t.mu.Lock()
	k := t.known[id]
	t.mu.Unlock()
	if k == nil {
		return
	}
	wait := time.NewTimer(most)
	defer wait.Stop()
	select {
	case <-k.begun:
	case <-wait.C:
	case <-ctx.Done():
	}
}

// settle waits until a task that was stopped while it ran is over, but no longer than that.
func (t *tasks) settle(ctx context.Context, id string, most time.Duration) {
	t.mu.Lock()
	k := t.known[id]
	ending := k != nil && k.State == running && k.ctx.Err() != nil
	t.mu.Unlock()
	if !ending {
		return
	}
	wait := time.NewTimer(most)
	defer wait.Stop()
	select {
	case <-k.over:
	case <-wait.C:
	case <-ctx.Done():
	}
}

// all is every task that is waiting or running.
func (t *tasks) all() []api.Task {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []api.Task
	for _, k := range t.order {
		if k.State == waiting || k.State == running {
			all = append(all, k.Task)
		}
	}
	return all
}

// start begins a task, or finds the one of the same key that is waiting, running or done; one that was cancelled, or
// that failed, begins anew.
func (t *tasks) start(a api.Task, do func(ctx context.Context, tell func(float64)) (*container, error)) (api.Task,
	error,
) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if k := t.known[a.ID]; k != nil {
		switch {
		case k.State == running && k.Kind == kindRun && k.ctx.Err() != nil:
			return a, &guard.Problem{
				Status: 503, Code: "busy", Title: "The run is being stopped",
				Detail: "What is under way is finished and kept first.",
				Remedy: "Ask again in a moment.", RetryAfter: patience,
			}
		case k.State != cancelled && k.State != failed:
			return k.Task, nil
		}
		t.forget(k)
	}
	if t.ctx.Err() != nil {
		return a, t.ctx.Err()
	}
	if a.Kind == kindEmbedding && len(t.queue) >= maxWaiting {
		return a, &guard.Problem{
			Status: 503, Code: "busy", Title: "The server is busy", Detail: "As many layouts as permitted are waiting.",
			Remedy: "Ask again in a moment, or cancel one.", RetryAfter: 2 * time.Second,
		}
	}
	a.State, a.Fraction, a.Seconds = waiting, 0, fold.Number(math.NaN())
	k := &task{Task: a, do: do, begun: make(chan struct{}), over: make(chan struct{})}
	k.ctx, k.cancel = context.WithCancel(t.ctx)
	t.known[a.ID] = k
	t.order = append(t.order, k)
	t.trim()
	if a.Kind != kindEmbedding {
		t.work.Go(func() { t.run(k) })
	} else if t.queue = append(t.queue, k); !t.busy {
		t.busy = true
		t.work.Go(t.loop)
	}
	t.tell(k)
	return k.Task, nil
}

// loop computes embeddings until none waits.
func (t *tasks) loop() {
	for {
		t.mu.Lock()
		if len(t.queue) == 0 {
			t.busy = false
			t.mu.Unlock()
			return
		}
		k := t.queue[0]
		t.queue = t.queue[1:]
		t.mu.Unlock()
		t.run(k)
	}
}

// run does a task.
func (t *tasks) run(k *task) {
	t.mu.Lock()
	if k.State != waiting { // cancelled meanwhile
		t.mu.Unlock()
		return
	}
	k.State, k.started = running, t.now()
	t.tell(k)
	t.mu.Unlock()
	result, err := k.do(k.ctx, func(fraction float64) { t.progress(k, fraction) })
	t.mu.Lock()
	defer t.mu.Unlock()
	defer k.cancel()
	defer k.say()
	defer close(k.over)
	switch {
	case err == nil:
		k.State, k.Fraction, k.Seconds = done, 1, 0
		if k.result = result; result != nil {
			k.bytes = result.size()
			t.bytes += k.bytes
			t.trim()
		}
	case k.ctx.Err() != nil && errors.Is(err, k.ctx.Err()):
		k.State, k.Error, k.Seconds = cancelled, "", fold.Number(math.NaN())
	default:
		k.State, k.err, k.Seconds = failed, err, fold.Number(math.NaN())
		k.Error = problemOf(err).Detail
		t.log.Error("a task failed", "task", k.Title, "error", err)
	}
	t.tell(k)
}

// progress keeps how far a task is, and says so now and then.
func (t *tasks) progress(k *task, fraction float64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	k.say()
	if k.State != running || !(fraction >= k.Fraction) {
		return
	}
	k.Fraction = min(fraction, 1)
	now := t.now()
	if spent := now.Sub(k.started).Seconds(); k.Fraction > 0 && spent > 0.5 {
		k.Seconds = fold.Number(math.Ceil(spent / k.Fraction * (1 - k.Fraction)))
	}
	if now.Sub(k.told) >= between {
		t.tell(k)
	}
}

// tell tells everybody who listens. The lock is held.
func (t *tasks) tell(k *task) {
	k.told = t.now()
	a := k.Task
	t.hub.publish(api.Event{Task: &a})
}

// stop cancels a task that waits or runs.
func (t *tasks) stop(id string) (api.Task, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	k := t.known[id]
	if k == nil {
		return api.Task{}, false
	}
	k.cancel()
	if k.State == waiting {
		k.State = cancelled
		k.say()
		t.queue = slices.DeleteFunc(t.queue, func(o *task) bool { return o == k })
		t.tell(k)
	}
	return k.Task, true
}

// trim forgets the oldest tasks that are over until the others are within the bounds. The lock is held.
func (t *tasks) trim() {
	over := 0
	for _, k := range t.order {
		if k.State != waiting && k.State != running {
			over++
		}
	}
	for _, k := range slices.Clone(t.order) {
		if over <= maxKept && (t.bytes <= keptBytes || over <= 1) {
			return
		}
		if k.State != waiting && k.State != running {
			t.forget(k)
			over--
		}
	}
}

// forget drops a task that is over. The lock is held.
func (t *tasks) forget(k *task) {
	delete(t.known, k.ID)
	t.bytes -= k.bytes
	t.order = slices.DeleteFunc(t.order, func(o *task) bool { return o == k })
}
