package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"time"

	"nero/data/tensor"
	"nero/model/engine/child"
	"nero/model/engine/frame"
)

// opening is how many times longer than an answer a program may take to start.
const opening = 10

// ever is the limit where there is none.
const ever = 100 * 365 * 24 * time.Hour

// mostUnderWay bounds how many calls are handed to programs that take many at once.
const mostUnderWay = 1024

// viaProgram asks programs of this machine: several of one kind, each of which takes as many calls at once as it says.
type viaProgram struct {
	c    Config
	what child.Config
	// a place for every call that may be under way; who has none waits
	free chan *worker
	// ends what is starting
	ctx  context.Context //nolint:containedctx // it is that of the programs, and ends with close
	end  context.CancelFunc
	meta *description

	mu      sync.Mutex
	workers []*worker
	told    []string
}

// worker is a place for a program, which is started again where it has ended.
type worker struct {
	mu sync.Mutex
	p  *child.Program
}

// newProgram starts the programs.
func newProgram(ctx context.Context, c Config) (transport, error) {
	v := &viaProgram{c: c, what: child.Config{Command: c.Command, Dir: c.Dir, MaxMessage: c.MaxMessage}}
	v.ctx, v.end = context.WithCancel(context.WithoutCancel(ctx))
	v.workers = make([]*worker, c.Workers)
	for i := range v.workers {
		v.workers[i] = &worker{}
	}
	stop := context.AfterFunc(ctx, v.end) // only while they start
	metas, errs := make([]*description, c.Workers), make([]error, c.Workers)
	var group sync.WaitGroup
	for i, w := range v.workers {
		group.Go(func() { metas[i], errs[i] = v.start(w) })
	}
	group.Wait()
	for i, err := range errs {
		if err == nil && !reflect.DeepEqual(metas[i], metas[0]) {
			err = failed("two starts of it describe two models: %s and %s", describe(metas[0]), describe(metas[i]))
		}
		if err != nil {
			_ = v.close() // the first error is the one to report
			if ctx.Err() != nil {
				return v, ctx.Err()
			}
			return v, err
		}
	}
	if !stop() {
		_ = v.close() // the first error is the one to report
		return v, ctx.Err()
	}
	v.meta = metas[0]
	each := max(v.workers[0].p.Hello().Concurrency, 1)
	v.free = make(chan *worker, each*len(v.workers))
	for range each {
		for _, w := range v.workers {
			v.free <- w
		}
	}
	return v, nil
}

func describe(d *description) string {
	b, err := json.Marshal(d)
	if err != nil {
		return err.Error()
	}
	return child.Quote(string(b))
}

// start starts a program in its place, and asks it what it reads and returns.
func (v *viaProgram) start(w *worker) (*description, error) {
	limit := opening * v.c.Timeout
	if v.c.Timeout < 0 {
		limit = ever
	}
	ctx, cancel := context.WithTimeout(v.ctx, limit)
	defer cancel()
	p, err := child.Start(ctx, v.what)
	if err != nil {
		return nil, failed("%v", err)
	}
	f, err := v.call(ctx, p, limit, []byte(`{"method":"describe"}`))
	var d *description
	if err == nil {
		d, err = introduced(f, p.Last)
	}
	if err != nil {
		p.Kill(err)
		return nil, err
	}
	w.p = p
	return d, nil
}

// call asks one question and waits for its answer, no longer than the limit. A program that has none by then is ended:
// nobody else could be answered. If the context is cancelled, the answer is awaited by nobody, and the program goes on
// until then.
func (v *viaProgram) call(ctx context.Context, p *child.Program, limit time.Duration, head []byte, raws ...[]byte,
) (frame.Frame, error) {
	c, err := p.Ask(head, raws...)
	if err != nil {
		return frame.Frame{}, err
	}
	within, cancel := context.WithTimeout(ctx, limit) // that of the start may have gone by in part already
	defer cancel()
	select {
	case f := <-c:
		return f, nil
	case <-p.Dead():
		if f, came := frame.Came(c); came {
			return f, nil
		}
		return frame.Frame{}, p.Why()
	case <-within.Done():
	}
	if err = within.Err(); errors.Is(err, context.DeadlineExceeded) {
		err = &overdue{fmt.Sprintf("no answer within %v; raise timeout or --time-limit, lower batch, or look for a "+
			"loop without end in the program%s", limit, p.Last())}
	}
	p.Kill(err)
	return frame.Frame{}, err
}

func (v *viaProgram) describe(context.Context) (*description, error) { return v.meta, nil }

// infer asks the program that has been idle longest.
func (v *viaProgram) infer(ctx context.Context, in []tensor.Named, outputs []string, with parameters, _ need) (*answer,
	error,
) {
	head, raws, err := v.c.request(asking{Method: "infer"}, in, outputs, with, true)
	if err != nil {
		return nil, err
	}
	size := 0
	for _, r := range raws {
		size += len(r)
	}
	if size > v.c.MaxMessage {
		return nil, tooLong(size, v.c.MaxMessage)
	}
	var w *worker
	select {
	case w = <-v.free:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	type result struct {
		f   frame.Frame
		p   *child.Program
		err error
	}
	done := make(chan result, 1)
	// What it is fed is sent whole even if nobody waits for it any more: the caller may use its memory again.
	if ctx.Done() != nil {
		for i := range raws {
			raws[i] = append([]byte(nil), raws[i]...)
		}
	}
	go func() {
		var r result
		if r.p, r.err = v.at(w); r.err == nil {
			limit := v.c.Timeout
			if limit < 0 {
				limit = ever
			}
			r.f, r.err = v.call(v.ctx, r.p, limit, head, raws...)
		}
		v.free <- w // which has room for it
		done <- r
	}()
	var r result
	select {
	case r = <-done:
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			w.kill(ctx.Err()) // which nobody else could ask either
		}
		return nil, ctx.Err()
	}
	if r.err != nil {
		return nil, r.err
	}
	if err := faulty(r.f, r.p.Last); err != nil {
		return nil, err
	}
	a, err := v.c.answer(r.f.JSON, r.f.Raw, outputs)
	if err != nil {
		return nil, fmt.Errorf("%w%s", err, r.p.Last())
	}
	return a, nil
}

// at is the program of a place, started again where it has ended.
func (v *viaProgram) at(w *worker) (*child.Program, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.p != nil && w.p.Alive() {
		return w.p, nil
	}
	w.p = nil
	meta, err := v.start(w)
	if err != nil {
		return nil, err
	}
	if !reflect.DeepEqual(meta, v.meta) {
		return nil, failed("started again, it describes another model: %s, before %s", describe(meta), describe(v.meta))
	}
	return w.p, nil
}

// kill ends the program of a place.
func (w *worker) kill(why error) {
	if !w.mu.TryLock() {
		return // it is being started, and has a limit of its own
	}
	defer w.mu.Unlock()
	if w.p != nil {
		w.p.Kill(why)
	}
}

// atOnce is how many calls may be under way.
func (v *viaProgram) atOnce() int { return cap(v.free) }

// digest is that of the program's file and arguments.
func (v *viaProgram) digest() (string, error) { return v.what.Digest() }

// notes are what the programs have told.
func (v *viaProgram) notes() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, w := range v.workers {
		if w.mu.TryLock() { // else it is being started
			if w.p != nil {
				v.told = append(v.told, w.p.Notes()...)
			}
			w.mu.Unlock()
		}
	}
	return v.told
}

// close ends the programs.
func (v *viaProgram) close() error {
	v.end()
	var group sync.WaitGroup
	for _, w := range v.workers {
		group.Go(func() {
			w.mu.Lock()
			defer w.mu.Unlock()
			if w.p != nil {
				w.p.Close()
			}
		})
	}
	group.Wait()
	return nil
}
