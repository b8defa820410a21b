package isolated

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	own "nero/internal/process"
	"nero/model/engine"
	"nero/model/engine/provider"
)

// Variable is set in the environment of a process that is to be an engine and nothing else.
const Variable = "NERO_ENGINE_PROCESS"

// Load opens the engine that a process runs, by what [Config] calls its library.
type Load func(library, reason string) (engine.Engine, error)

// fingerprint tells the bytes of an engine from those of another one of the same name; empty where it does not tell.
func fingerprint(e engine.Engine) string {
	if f, ok := e.(interface{ Fingerprint() string }); ok {
		return f.Fingerprint()
	}
	return ""
}

// Asked reports whether this process was started to be an engine. Its main function then calls [Main] before anything
// else.
func Asked() bool { return os.Getenv(Variable) != "" }

// Main is an engine until standard input ends, and returns the exit code.
func Main(load Load) int {
	if err := os.Unsetenv(Variable); err != nil {
		return complain(err)
	}
	out, err := claim()
	if err != nil {
		return complain(err)
	}
	if err := serve(os.Stdin, out, load); err != nil {
		return complain(err)
	}
	return 0
}

// complain says why a process ends.
func complain(err error) int {
	fmt.Fprintln(os.Stderr, err)
	return 2
}

// process is the side that runs the library.
type process struct {
	e   engine.Engine
	out *writer

	mu       sync.Mutex
	sessions map[string]engine.Session
	// ends a call that is under way
	cancel map[uint32]context.CancelFunc
}

// serve answers until in ends.
func serve(in io.Reader, out io.Writer, load Load) error {
	p := &process{
		out: to(out), sessions: map[string]engine.Session{}, cancel: map[uint32]context.CancelFunc{},
	}
	f, err := receive(in)
	if err != nil {
		return err
	}
	h := f.body.Hello
	if h == nil || h.Protocol != protocol {
		return p.out.send(0, message{Error: fmt.Sprintf("this process speaks protocol %d alone", protocol)})
	}
	if p.e, err = load(h.Library, h.Reason); err == nil {
		err = bound(h.Memory)
	}
	if err != nil {
		return p.out.send(0, message{Error: err.Error()})
	}
	answer := message{Hello: &hello{
		Protocol: protocol, Engine: p.e.Info(), Fingerprint: fingerprint(p.e), Concurrent: p.e.Concurrent(),
	}}
	if n, ok := p.e.(interface{ Note() string }); ok {
		answer.Hello.Note = n.Note()
	}
	if n, ok := p.e.(engine.Provided); ok {
		answer.Hello.Providers = n.Providers()
	}
	if err := p.out.send(0, answer); err != nil {
		return err
	}
	for {
		f, err := receive(in)
		switch {
		case errors.Is(err, io.EOF) && !errors.Is(err, errFrame):
			return nil // calls under way end with the process: nobody waits for them
		case err != nil:
			return err
		}
		if f.body.Method == "cancel" {
			p.mu.Lock()
			if end := p.cancel[f.body.Call]; end != nil {
				end()
			}
			p.mu.Unlock()
			continue
		}
		ctx, end := context.WithCancel(context.Background())
		p.mu.Lock()
		p.cancel[f.call] = end
		p.mu.Unlock()
		go func() {
			defer end()
			m, raws := p.answer(ctx, f)
			p.mu.Lock()
			delete(p.cancel, f.call)
			p.mu.Unlock()
			_ = p.out.send(f.call, m, raws...) // nobody is there any more, which the loop above notices
		}()
	}
}

// answer does what a call asks for.
func (p *process) answer(ctx context.Context, f framed) (message, [][]byte) {
	refuse := func(err error) (message, [][]byte) {
		m := message{Error: err.Error()}
		m.Fallback, _ = errors.AsType[*provider.FallbackError](err)
		return m, nil
	}
	switch f.body.Method {
	case "open":
		s, err := p.e.Open(ctx, f.raw, engine.Options{
			Threads: f.body.Threads, Plain: f.body.Plain, Lean: f.body.Lean, Providers: f.body.Providers,
		})
		if err != nil {
			return refuse(err)
		}
		p.mu.Lock()
		p.sessions[f.body.Model] = s
		p.mu.Unlock()
		m := message{Inputs: named(s.Inputs()), Outputs: named(s.Outputs())}
		if at, ok := s.(engine.Placed); ok {
			m.Placement = at.Placement()
		}
		return m, nil
	case "infer":
		s := p.session(f.body.Model)
		if s == nil {
			return refuse(engine.ErrClosed)
		}
		in, err := tensors(f.body.Inputs, f.raw)
		if err != nil {
			return refuse(err)
		}
		out, err := s.Run(ctx, in)
		if err != nil {
			return refuse(err)
		}
		as, raws := arrays(out)
		return message{Outputs: as}, raws
	case "close":
		s := p.session(f.body.Model)
		p.mu.Lock()
		delete(p.sessions, f.body.Model)
		p.mu.Unlock()
		if s != nil {
			if err := s.Close(); err != nil {
				return refuse(err)
			}
		}
		return message{}, nil
	case "spent":
		return message{Spent: int64(own.Spent())}, nil
	}
	return refuse(fmt.Errorf("the method %q is not known", f.body.Method))
}

func (p *process) session(name string) engine.Session {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sessions[name]
}

// named are tensors of which the names alone are told.
func named(names []string) []array {
	as := make([]array, len(names))
	for i, n := range names {
		as[i].Name = n
	}
	return as
}
