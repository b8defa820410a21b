package app

import (
	"context"
	"sync"

	"nero/audit"
	"nero/run/eval"
	"nero/run/workload"
)

// Bounds of the audits that are made side by side: how many, and how many bytes of models, of which an audit opens many
// edited copies.
const (
	mostBeside  = 4
	bytesBeside = 64 << 20
)

// beside is how many models of a study are audited at a time. Behind an endpoint, where somebody else pays for what is
// asked at once, it is one.
func beside(w *workload.Workload, workers int) int {
	models := w.Eval.Models
	var bytes int64
	for _, m := range models {
		if w.File(m.Name) == nil {
			return 1
		}
		bytes += fileSize(w, m.Name)
	}
	if bytes > bytesBeside {
		return 1
	}
	return min(workers, mostBeside, len(models))
}

// auditEach audits the models of a study, some side by side, and returns their reports in the order of the study. Each
// is what it would be alone; the events are told as if one came after the other. The error is that of the first model,
// by this order, that has one; the models after it are not waited for.
func (a *App) auditEach(ctx context.Context, w *workload.Workload, workers int,
	one func(ctx context.Context, m *eval.Model, tell func(Event)) (*audit.Report, error),
) ([]*audit.Report, error) {
	models := w.Eval.Models
	reports, errs := make([]*audit.Report, len(models)), make([]error, len(models))
	under := make([]context.Context, len(models))
	stop := make([]context.CancelFunc, len(models))
	for i := range models {
		under[i], stop[i] = context.WithCancel(ctx) //nolint:fatcontext // one beside the other
		defer stop[i]()
	}
	t := &turns{tell: a.tell, held: make([][]Event, len(models)), over: make([]bool, len(models))}
	next := make(chan int)
	var group sync.WaitGroup
	for range beside(w, workers) {
		group.Go(func() {
			for i := range next {
				reports[i], errs[i] = one(under[i], models[i], func(e Event) { t.take(i, e) })
				if errs[i] != nil {
					for _, later := range stop[i+1:] {
						later()
					}
				}
				t.end(i)
			}
		})
	}
	for i := range models {
		next <- i
	}
	close(next)
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return reports, nil
}

// turns brings the events of works that go on side by side into the order of works one after another: those of the
// first that is not over are told at once, those of the others when their turn comes.
type turns struct {
	tell func(Event)

	mu sync.Mutex
	// whose turn it is
	at   int
	held [][]Event
	over []bool
}

// take takes in an event of work i. Of held steps that follow each other only the sum is kept.
func (t *turns) take(i int, e Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if i == t.at {
		t.tell(e)
		return
	}
	e.Held = true
	if n := len(t.held[i]); n > 0 && e.Kind == Stepped && t.held[i][n-1].Kind == Stepped {
		t.held[i][n-1].Done += e.Done
		return
	}
	t.held[i] = append(t.held[i], e)
}

// end says that work i is over.
func (t *turns) end(i int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.over[i] = true; t.at < len(t.over) && t.over[t.at]; {
		if t.at++; t.at < len(t.held) {
			for _, e := range t.held[t.at] {
				t.tell(e)
			}
			t.held[t.at] = nil
		}
	}
}
