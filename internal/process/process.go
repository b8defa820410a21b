// Package process starts programs together with all that they start in turn, and ends them together. What a program
// leaves behind when it ends is ended too, and so is all of it where this program ends and the system can see to that.
//
// Ctrl-C in a terminal does not reach such a program: whoever started it tells it.
package process

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"time"
)

// Process is a program that runs.
type Process struct {
	// In is its standard input, Out its standard output. Both are to be closed by who started it.
	In, Out *os.File

	cmd  *exec.Cmd
	kin  kin
	gone chan struct{}
	err  error
}

// settling is how long what a program has written last is waited for once it has ended: what it left behind may hold
// the other end.
const settling = time.Second

// Start starts a program. Its standard streams are pipes: what it writes to standard error goes to said; nil throws it
// away.
func Start(cmd *exec.Cmd, said io.Writer) (*Process, error) {
	p := &Process{cmd: cmd, gone: make(chan struct{})}
	var open []*os.File
	ok := false
	defer func() {
		if !ok {
			for _, f := range open {
				_ = f.Close() // the first error says more
			}
		}
	}()
	pipe := func() (r, w *os.File, err error) {
		if r, w, err = os.Pipe(); err == nil {
			open = append(open, r, w)
		}
		return r, w, err
	}
	theirIn, in, err := pipe()
	if err != nil {
		return nil, err
	}
	out, theirOut, err := pipe()
	if err != nil {
		return nil, err
	}
	theirs := []*os.File{theirIn, theirOut}
	cmd.Stdin, cmd.Stdout = theirIn, theirOut
	var heard *os.File
	if said != nil {
		r, w, err := pipe()
		if err != nil {
			return nil, err
		}
		heard, cmd.Stderr = r, w
		theirs = append(theirs, w)
	}
	tie(cmd)
	started, ended := make(chan error), make(chan error, 1)
	go func() {
		// Linux ends a program when the thread ends that started it, so that one stays.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		if err == nil {
			p.kin, err = adopt(cmd)
			if err != nil {
				err = errors.Join(err, cmd.Process.Kill(), cmd.Wait())
			}
		}
		started <- err
		if err == nil {
			ended <- cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	ok = true
	for _, f := range theirs {
		_ = f.Close() // the program has it
	}
	widen(in)
	widen(out)
	p.In, p.Out = in, out
	told := make(chan struct{})
	go func() {
		defer close(told)
		if heard != nil {
			_, _ = io.Copy(said, heard) // what can be read is what there is
		}
	}()
	go func() {
		p.err = <-ended
		_ = p.kin.end() // what it has left behind
		late := time.NewTimer(settling)
		defer late.Stop()
		select {
		case <-told:
		case <-late.C:
		}
		if heard != nil {
			_ = heard.Close() // only read
		}
		_ = p.kin.release() // nothing of it is left
		close(p.gone)
	}()
	return p, nil
}

// Gone is closed once the program has ended, and what it left behind.
func (p *Process) Gone() <-chan struct{} { return p.gone }

// Err says how it ended, once it is gone; nil for an exit code of 0.
func (p *Process) Err() error { return p.err }

// State says how it ended, once it is gone.
func (p *Process) State() *os.ProcessState { return p.cmd.ProcessState }

// Kill ends it at once, with all that it has started. It may be gone already.
func (p *Process) Kill() {
	select {
	case <-p.gone:
	default:
		_ = p.kin.end()
		_ = p.cmd.Process.Kill() // where the system knows no families
	}
}
