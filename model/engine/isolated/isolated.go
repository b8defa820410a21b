package isolated

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"nero/data/tensor"
	"nero/model/engine"
	"nero/model/engine/frame"
	"nero/model/engine/provider"
)

// Config says which process runs which library.
type Config struct {
	// Command starts the program that calls [Main] when it is [Asked]. It is called for every process; its standard
	// streams are filled in.
	Command func() *exec.Cmd
	// Library is what the process loads, the path of a library, and Reason why it was chosen.
	Library, Reason string
	// Memory is how many bytes a process may take beside what it has at its start, where [Bounded]; 0 for any number.
	Memory int64
}

// Itself starts this program again.
func Itself() *exec.Cmd {
	path, err := os.Executable()
	if err != nil {
		path = os.Args[0]
	}
	return exec.Command(path) //nolint:noctx // it lives as long as its engine, which ends it
}

// Engine is a library in a process of its own. It may be used by many goroutines at once.
type Engine struct {
	c Config
	// names of opened models
	count atomic.Int64
	// held for writing by a call that is asked alone
	alone sync.RWMutex

	mu      sync.Mutex
	p       *child
	started int
	closed  bool
}

// New starts a process, which loads the library.
func New(ctx context.Context, c Config) (*Engine, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	e := &Engine{c: c}
	if _, err := e.process(); err != nil {
		return nil, err
	}
	return e, nil
}

// process is the one that runs, which is started if none does.
func (e *Engine) process() (*child, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, engine.ErrClosed
	}
	if e.p != nil && !e.p.calls.Ended() {
		return e.p, nil
	}
	e.started++
	p, err := start(e.c, e.started)
	if err == nil {
		e.p = p
	}
	return p, err
}

// now is the last process that was started.
func (e *Engine) now() *child {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.p
}

// Info is that of the engine in the process.
func (e *Engine) Info() engine.Info { return e.now().hello.Engine }

// Fingerprint is that of the library in the process.
func (e *Engine) Fingerprint() string { return e.now().hello.Fingerprint }

// Concurrent is that of the engine in the process: calls are told apart by their number.
func (e *Engine) Concurrent() bool { return e.now().hello.Concurrent }

// Providers are those that the library in the process has.
func (e *Engine) Providers() []string { return e.now().hello.Providers }

// Note is what the engine in the process has to say, such as that it can keep no compiled code.
func (e *Engine) Note() string { return e.now().hello.Note }

// Spent is the processor time of the process that runs. One that was started again begins anew.
func (e *Engine) Spent(ctx context.Context) (time.Duration, error) {
	p, err := e.process()
	if err != nil {
		return 0, err
	}
	f, _, err := wait(ctx, p, message{Method: "spent"})
	return time.Duration(f.body.Spent), err
}

// Close ends the process.
func (e *Engine) Close(context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.closed {
		e.closed = true
		e.p.close()
	}
	return nil
}

// session is a model that is opened in the process, again in each that is started.
type session struct {
	e    *Engine
	name string
	open message
	file []byte
	in   []string
	out  []string
	at   provider.Placement

	mu     sync.Mutex
	closed bool
	// the process in which the model is open
	where int
	// closed when it is; nil while nobody opens it
	opening chan struct{}
}

// Open opens the model, whose bytes must not change while the session is in use: a process that is started again opens
// it again.
func (e *Engine) Open(ctx context.Context, model []byte, o engine.Options) (engine.Session, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	name := "m" + strconv.FormatInt(e.count.Add(1), 10)
	s := &session{
		e: e, name: name, file: model,
		open: message{
			Method: "open", Model: name, Threads: o.Threads, Plain: o.Plain, Lean: o.Lean, Providers: o.Providers,
		},
	}
	if _, err := e.call(ctx, s, nil); err != nil {
		return nil, err
	}
	return s, nil
}

// Inputs are the names of the model's inputs.
func (s *session) Inputs() []string { return s.in }

// Outputs are the names of the model's outputs.
func (s *session) Outputs() []string { return s.out }

// Placement says what of the model runs where.
func (s *session) Placement() provider.Placement { return s.at }

// Close closes the model in its process.
func (s *session) Close() error {
	s.mu.Lock()
	closed, where := s.closed, s.where
	s.closed = true
	s.mu.Unlock()
	if p := s.e.now(); !closed && p.number == where {
		_, _, err := p.ask(message{Method: "close", Model: s.name})
		if _, crashed := errors.AsType[*engine.CrashError](err); err != nil && !crashed {
			return err
		}
	}
	return nil
}

// Run may be called from many goroutines at once.
func (s *session) Run(ctx context.Context, in []tensor.Named) ([]tensor.Named, error) {
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	if closed {
		return nil, engine.ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := engine.CheckInputs(s.in, in); err != nil {
		return nil, err
	}
	as, raws := arrays(in)
	f, err := s.e.call(ctx, s, &request{message{Method: "infer", Model: s.name, Inputs: as}, raws})
	if err != nil {
		return nil, err
	}
	out, err := tensors(f.body.Outputs, f.raw)
	if err != nil {
		return nil, fmt.Errorf("the process of the engine answered: %w", err)
	}
	return out, nil
}

// request is what is asked of an opened model.
type request struct {
	m    message
	raws [][]byte
}

// call opens the model where it is not, and asks. Of several calls that were under way when their process ended, one
// ended it: each is asked again, alone, so that only that one fails.
func (e *Engine) call(ctx context.Context, s *session, r *request) (framed, error) {
	e.alone.RLock()
	f, n, err := e.once(ctx, s, r)
	e.alone.RUnlock()
	crash, crashed := errors.AsType[*engine.CrashError](err)
	if !crashed || n <= 1 && !crash.Ended {
		return f, err
	}
	e.alone.Lock()
	defer e.alone.Unlock()
	f, _, err = e.once(ctx, s, r)
	return f, err
}

// once asks one time. n is how many calls were under way when the process ended, if it did.
func (e *Engine) once(ctx context.Context, s *session, r *request) (f framed, n int, err error) {
	p, err := e.process()
	if err != nil {
		return framed{}, 0, err
	}
	if n, err = s.ensure(ctx, p); err != nil || r == nil {
		return framed{}, n, err
	}
	return wait(ctx, p, r.m, r.raws...)
}

// ensure opens the model in a process that has it not.
func (s *session) ensure(ctx context.Context, p *child) (n int, err error) {
	for {
		s.mu.Lock()
		switch {
		case s.where == p.number:
			s.mu.Unlock()
			return 0, nil
		case s.opening == nil:
			s.opening = make(chan struct{})
			s.mu.Unlock()
			f, n, err := wait(ctx, p, s.open, s.file)
			s.mu.Lock()
			if err == nil {
				s.where, s.in, s.out = p.number, names(f.body.Inputs), names(f.body.Outputs)
				s.at = f.body.Placement
			}
			close(s.opening)
			s.opening = nil
			s.mu.Unlock()
			return n, err
		}
		opened := s.opening
		s.mu.Unlock()
		select {
		case <-opened:
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

func names(as []array) []string {
	out := make([]string, len(as))
	for i, a := range as {
		out[i] = a.Name
	}
	return out
}

// wait asks a process and waits for the answer, its end, or that of ctx.
func wait(ctx context.Context, p *child, m message, raws ...[]byte) (f framed, n int, err error) {
	number, answer, err := p.ask(m, raws...)
	if err != nil {
		return framed{}, 0, err
	}
	select {
	case f = <-answer:
	case <-p.calls.Dead():
		var came bool
		if f, came = frame.Came(answer); !came {
			return framed{}, p.calls.Left(), p.calls.Why()
		}
	case <-ctx.Done():
		p.leave(number, answer)
		return framed{}, 0, ctx.Err()
	}
	switch {
	case f.body.Error == "":
		return f, 0, nil
	case ctx.Err() != nil:
		return framed{}, 0, ctx.Err()
	}
	if m.Method == "infer" {
		return framed{}, 0, engine.Failed(f.body.Error)
	}
	if f.body.Fallback != nil {
		return framed{}, 0, &relayed{f.body.Error, f.body.Fallback}
	}
	return framed{}, 0, errors.New(f.body.Error)
}

// relayed is an error of the process: its text there, and what it is.
type relayed struct {
	text string
	is   error
}

// Error is the text.
func (e *relayed) Error() string { return e.text }

// Unwrap is what it is.
func (e *relayed) Unwrap() error { return e.is }

// leave ends a call whose context has ended: it is told to end, and where it does not, its process is ended, before the
// engine there would leave the call to itself.
func (p *child) leave(number uint32, answer <-chan framed) {
	if err := p.in.send(0, message{Method: "cancel", Call: number}); err == nil {
		select {
		case <-answer:
			return
		case <-p.calls.Dead():
			return
		case <-time.After(engine.Grace * 7 / 10):
		}
	}
	p.destroy()
}
