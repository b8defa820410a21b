package isolated

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"nero/model/engine"
	"nero/model/engine/frame"
)

// mostSaid bounds what is kept of a process's standard error: why it ends stands in the first lines.
const mostSaid = 4 << 10

// child is a process, seen from the program that started it.
type child struct {
	number int
	// what it says of itself
	hello hello
	in    *writer
	pipe  io.Closer
	kill  func()

	// of which it says how the process ended, as an [engine.CrashError]
	calls *frame.Calls[framed]
	// it was ended by this program
	killed atomic.Bool
}

// said keeps the first bytes that a process writes to standard error.
type said struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write keeps what there is room for.
func (s *said) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.b.Write(b[:min(len(b), mostSaid-s.b.Len())])
	return len(b), nil
}

// first is the first line that says something.
func (s *said) first() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for line := range strings.Lines(s.b.String()) {
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return ""
}

// start starts a process and exchanges hellos.
func start(c Config, number int) (*child, error) {
	cmd := c.Command()
	cmd.Env = append(cmd.Environ(), Variable+"=1", "GOTRACEBACK=none")
	tie(cmd)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, far, err := os.Pipe() // not StdoutPipe, which Wait closes before all is read
	if err != nil {
		return nil, err
	}
	if f, ok := in.(*os.File); ok { // before the process is there, whose end closes it
		widen(f.Fd())
	}
	widen(out.Fd())
	cmd.Stdout = far
	heard := &said{}
	cmd.Stderr = heard
	cmd.WaitDelay = time.Second
	calls, greeted := frame.NewCalls[framed]()
	p := &child{number: number, in: to(in), pipe: in, calls: calls}
	started, ended := make(chan error), make(chan error, 1)
	go func() {
		// The system ends the process when the thread ends that started it, so that one stays.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			ended <- cmd.Wait()
		}
	}()
	err = <-started
	_ = far.Close() // the process has it
	if err != nil {
		_ = out.Close() // the error above says more
		return nil, fmt.Errorf("the process of the engine cannot be started: %w", err)
	}
	p.kill = func() { _ = cmd.Process.Kill() } // it may be gone already
	go func() {
		for {
			f, err := receive(out)
			if err != nil {
				break
			}
			p.calls.Deliver(f.call, f) // what nobody waits for is passed over
		}
		_ = out.Close() // all is read
		var why error
		select {
		case why = <-ended:
		case <-time.After(2 * time.Second): // it has closed its output and goes on
			p.kill()
			why = <-ended
		}
		p.calls.End(&engine.CrashError{Reason: reason(why, cmd.ProcessState, heard.first()), Ended: p.killed.Load()})
	}()
	err = p.in.send(0, message{Hello: &hello{
		Protocol: protocol, Library: c.Library, Reason: c.Reason, Memory: c.Memory,
	}})
	if err == nil {
		var f framed
		came := true
		select {
		case f = <-greeted:
		case <-p.calls.Dead():
			f, came = frame.Came(greeted)
		}
		switch {
		case !came:
			err = p.calls.Why()
		case f.body.Error != "":
			err = errors.New(f.body.Error)
		case f.body.Hello == nil || f.body.Hello.Protocol != protocol:
			err = errors.New("the process of the engine is another program")
		default:
			p.hello = *f.body.Hello
		}
	} else {
		<-p.calls.Dead()
		err = p.calls.Why()
	}
	if err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// reason says in words how a process ended.
func reason(err error, state *os.ProcessState, line string) string {
	signal := signalOf(state)
	switch {
	case signal == "killed":
		return "it was killed (SIGKILL), most likely by the system, because memory ran out"
	case strings.Contains(line, "out of memory") || strings.Contains(line, "cannot allocate"):
		return "memory ran out: " + line
	case line != "":
		return line // a fault inside a library: SIGFPE: floating-point exception
	case signal != "":
		return "signal: " + signal
	case err != nil:
		return err.Error()
	}
	return "it ended by itself"
}

// ask sends a call and gives where its answer will come.
func (p *child) ask(m message, raws ...[]byte) (uint32, <-chan framed, error) {
	n, answer, err := p.calls.Open()
	if err != nil {
		return 0, nil, err
	}
	if err := p.in.send(n, m, raws...); err != nil {
		select {
		case <-p.calls.Dead(): // which is why
		case <-time.After(5 * time.Second):
			p.destroy()
		}
	}
	return n, answer, nil
}

// destroy ends a process that reads no more.
func (p *child) destroy() {
	p.killed.Store(true)
	p.kill()
	<-p.calls.Dead()
}

// close lets the process end by itself, and ends it where it does not.
func (p *child) close() {
	_ = p.pipe.Close() // which tells it
	select {
	case <-p.calls.Dead():
	case <-time.After(2 * time.Second):
		p.destroy()
	}
}
