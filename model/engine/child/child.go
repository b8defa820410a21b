// Package child runs a program of the user's that is a model, and exchanges frames (package frame) with it over its
// standard streams. docs/PROGRAMS.md describes the protocol for authors of such programs, in any language.
//
// The program reads frames from its standard input and answers each with one frame of the same number on its standard
// output, until its input ends; then it ends. The first frame is a hello. What it writes to standard error is kept: the
// last lines stand in errors. It knows of no model what it reads and returns; that is the affair of package remote.
package child

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"nero/internal/process"
	"nero/model/engine/frame"
)

// Protocol is the number of the protocol, which both sides name in their hello.
const Protocol = 1

// Bounds of what is believed and kept of a program.
const (
	// MostJSON bounds the JSON of one frame, in bytes.
	MostJSON = 16 << 20
	mostSaid = 8 << 10
	// mostCalls bounds how many calls a program may say that it takes at once.
	mostCalls = 64
	mostNotes = 20
)

// Grace is how long a program may take to end after its standard input has.
const Grace = 2 * time.Second

// Config says what is run.
type Config struct {
	// Command is the program and its arguments. A program without a slash is looked for on the PATH, one with a
	// relative path in Dir.
	Command []string
	// Dir is the folder that the program runs in; empty for the current one.
	Dir string
	// MaxMessage bounds the tensors of one frame, in bytes.
	MaxMessage int
}

// Program is a program that runs.
type Program struct {
	p     *process.Process
	w     *frame.Writer
	calls *frame.Calls[frame.Frame]
	said  *tail
	hello Hello

	mu    sync.Mutex
	notes []string
}

// Hello is what a program says of itself.
type Hello struct {
	Protocol int `json:"protocol"`
	// Program is its name and version, in its own words.
	Program string `json:"program,omitempty"`
	// Concurrency is how many calls it takes at once; 0 means one.
	Concurrency int `json:"concurrency,omitempty"`
}

// greeting is the first frame of this side.
type greeting struct {
	Method string `json:"method"`
	Hello  struct {
		Protocol   int    `json:"protocol"`
		Program    string `json:"program"`
		MaxMessage int    `json:"max_message"`
	} `json:"hello"`
}

// Error says what is wrong with a program.
type Error struct {
	text string
	err  error
}

// Error is that in words.
func (e *Error) Error() string { return e.text }

// Unwrap is the cause, where another package knows it.
func (e *Error) Unwrap() error { return e.err }

func failed(format string, a ...any) error {
	err := fmt.Errorf(format, a...)
	return &Error{err.Error(), errors.Unwrap(err)}
}

// Path is the file of the program.
func (c Config) Path() (string, error) {
	if len(c.Command) == 0 || c.Command[0] == "" {
		return "", failed("no program is named; expected the program and its arguments")
	}
	name := filepath.FromSlash(c.Command[0])
	if filepath.Base(name) != name && !filepath.IsAbs(name) {
		dir, err := filepath.Abs(c.Dir)
		if err != nil {
			return "", failed("%w", err)
		}
		name = filepath.Join(dir, name)
	}
	path, err := exec.LookPath(name)
	switch {
	case err == nil || errors.Is(err, exec.ErrDot):
		return path, nil
	case errors.Is(err, fs.ErrPermission):
		return "", failed("%s is no file that can be run; make it executable (chmod +x), or name the program that "+
			"runs it first, as in python3 model.py", c.Command[0])
	case filepath.Base(name) == name:
		return "", failed("there is no program %s on the PATH; for one in this folder write .%c%s", name,
			filepath.Separator, name)
	default:
		return "", failed("there is no program %s; look at its path, or build it first", name)
	}
}

// Digest tells this program with these arguments from another one: the SHA-256, in lower-case hexadecimal, of the
// arguments, of the program's file, and of each file that an argument names.
func (c Config) Digest() (string, error) {
	path, err := c.Path()
	if err != nil {
		return "", err
	}
	h := sha256.New()
	for i, a := range c.Command {
		file := a
		if i == 0 {
			file = path
		} else if !filepath.IsAbs(file) {
			file = filepath.Join(c.Dir, filepath.FromSlash(file))
		}
		_, _ = fmt.Fprintf(h, "%q\n", a) // writing to a hash does not fail
		info, err := os.Stat(file)
		if err != nil || !info.Mode().IsRegular() {
			continue // an argument that is no file; that the program is one was seen above
		}
		f, err := os.Open(file)
		if err != nil {
			return "", failed("%w", err)
		}
		of := sha256.New()
		_, err = io.Copy(of, f)
		_ = f.Close() // only read
		if err != nil {
			return "", failed("%w", err)
		}
		h.Write(of.Sum(nil))
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// Start starts the program and exchanges hellos. The end of the context ends the program if it comes before that.
func Start(ctx context.Context, c Config) (*Program, error) {
	path, err := c.Path()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(path, c.Command[1:]...) //nolint:noctx // it outlives the context, and is ended by Close
	cmd.Args[0] = c.Command[0]
	cmd.Dir = c.Dir
	said := &tail{}
	run, err := process.Start(cmd, said)
	if err != nil {
		text := err.Error()
		if strings.Contains(text, "exec format error") || strings.Contains(text, "not a valid Win32 application") {
			return nil, failed("%s is no program of this system; where it is a script, name what runs it first, as in "+
				"python3 model.py", c.Command[0])
		}
		return nil, failed("it does not start: %w", err)
	}
	calls, greeted := frame.NewCalls[frame.Frame]()
	p := &Program{p: run, w: &frame.Writer{W: run.In}, said: said, calls: calls}
	go p.read(frame.Limits{JSON: MostJSON, Raw: uint64(max(c.MaxMessage, 0))})
	if err := p.greet(ctx, c, greeted); err != nil {
		p.Kill(err)
		<-p.p.Gone()
		return nil, err
	}
	return p, nil
}

// greet exchanges hellos.
func (p *Program) greet(ctx context.Context, c Config, greeted <-chan frame.Frame) error {
	g := greeting{Method: "hello"}
	g.Hello.Protocol, g.Hello.Program, g.Hello.MaxMessage = Protocol, "nero", c.MaxMessage
	b, err := json.Marshal(g)
	if err != nil {
		return failed("%w", err)
	}
	p.write(0, b)
	var f frame.Frame
	select {
	case f = <-greeted:
	case <-p.calls.Dead():
		var came bool
		if f, came = frame.Came(greeted); !came {
			return p.calls.Why()
		}
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.Canceled) {
			return ctx.Err()
		}
		return failed("it did not answer the first frame, the hello, in time; does it read its standard input, and "+
			"flush what it writes?%s", p.said.last())
	}
	var m struct {
		Hello *Hello `json:"hello"`
		Error string `json:"error"`
	}
	if err := Unmarshal(f.JSON, &m); err != nil {
		return err
	}
	switch {
	case m.Error != "":
		return failed("it refuses to begin: %s%s", Quote(m.Error), p.said.last())
	case m.Hello == nil:
		return failed("its first frame is no hello: %s; expected {\"hello\":{\"protocol\":%d}}", Quote(string(f.JSON)),
			Protocol)
	case m.Hello.Protocol != Protocol:
		return failed("it speaks protocol %d; expected %d", m.Hello.Protocol, Protocol)
	case m.Hello.Concurrency < 0 || m.Hello.Concurrency > mostCalls:
		return failed("its hello says concurrency %d; expected 1 to %d", m.Hello.Concurrency, mostCalls)
	}
	p.hello = *m.Hello
	return nil
}

// Unmarshal reads the JSON of a frame.
func Unmarshal(b []byte, v any) error {
	if err := json.Unmarshal(b, v); err != nil {
		return failed("the JSON of its frame is not what the protocol says (%v): %s; a program that prints to its "+
			"standard output puts that text among its frames", err, Quote(string(b)))
	}
	return nil
}

// write writes a frame without waiting for the program to read it: one that does not shall not be waited for.
func (p *Program) write(call uint32, head []byte, raws ...[]byte) {
	go func() {
		if err := p.w.Write(call, head, raws...); err != nil {
			select { // why it reads no more shows where it is read from
			case <-p.calls.Dead():
			case <-time.After(Grace):
				p.calls.End(failed("it has closed its standard input, and goes on%s", p.said.last()))
			}
		}
	}()
}

// read takes frames until there are no more, or one is wrong.
func (p *Program) read(most frame.Limits) {
	r := bufio.NewReaderSize(p.p.Out, 64<<10)
	defer p.p.Out.Close() //nolint:errcheck // only read
	for {
		err := frame.Begins(r)
		var f frame.Frame
		if err == nil {
			f, err = frame.Read(r, most)
		}
		var stray *frame.StrayError
		switch {
		case err == nil:
			err = p.deliver(f)
		case errors.As(err, &stray):
			err = strayed(stray.Said, p.said)
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, os.ErrClosed):
			p.calls.End(p.ended(errors.Is(err, io.ErrUnexpectedEOF)))
			return
		default:
			err = failed("%w%s", err, p.said.last())
		}
		if err != nil {
			p.Kill(err)
			return
		}
	}
}

// strayed says what came in place of a frame.
func strayed(b []byte, said *tail) error {
	words, _, _ := bytes.Cut(b, []byte(frame.Magic)) // a frame may follow
	if text := strings.TrimSpace(string(words)); printable(text) {
		return failed("it wrote text on its standard output, which is for frames alone: %s; let it print to standard "+
			"error", Quote(text))
	}
	return failed("it wrote bytes that begin no frame: % x; expected %q, then 16 bytes of lengths (on Windows, set "+
		"the streams to binary)%s", b[:min(len(b), 16)], frame.Magic, said.last())
}

// printable tells whether a text is one.
func printable(s string) bool {
	return s != "" && utf8.ValidString(s) &&
		!strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) && !unicode.IsSpace(r) && r != 0x1b })
}

// ended says how it ended, once it has written its last.
func (p *Program) ended(half bool) error {
	select {
	case <-p.p.Gone():
	case <-time.After(Grace):
		p.p.Kill()
		<-p.p.Gone()
		return failed("it has closed its standard output, and goes on%s", p.said.last())
	}
	how := "it ended by itself, with exit code 0, before its standard input ended"
	if s := p.p.Signal(); s != "" {
		how = "it was ended by a signal: " + s
		if s == "killed" {
			how += " (where nobody did that, memory ran out)"
		}
	} else if err := p.p.Err(); err != nil {
		how = "it ended with " + err.Error()
	}
	if half {
		how += ", in the middle of a frame"
	}
	return failed("%s%s", how, p.said.last())
}

// deliver hands a frame to who waits for it.
func (p *Program) deliver(f frame.Frame) error {
	switch {
	case p.calls.Deliver(f.Call, f):
		return nil
	case f.Call == 0:
		return p.event(f)
	}
	return failed("it answers call %d, which is not open: every frame is answered once, with its own number", f.Call)
}

// event takes what it tells unasked.
func (p *Program) event(f frame.Frame) error {
	var e struct {
		Event string `json:"event"`
		Text  string `json:"text"`
		Error string `json:"error"`
	}
	if err := Unmarshal(f.JSON, &e); err != nil {
		return err
	}
	switch {
	case e.Error != "":
		return failed("it gives up: %s%s", Quote(e.Error), p.said.last())
	case e.Event == "":
		return failed("it sent a frame with the number 0 that is no event: %s; an answer has the number of its "+
			"question", Quote(string(f.JSON)))
	case e.Event == "note" && e.Text != "": // others may come to be
		p.mu.Lock()
		if len(p.notes) < mostNotes {
			p.notes = append(p.notes, Quote(e.Text))
		}
		p.mu.Unlock()
	}
	return nil
}

// Hello is what the program has said of itself.
func (p *Program) Hello() Hello { return p.hello }

// Notes are what it has told since, and not been asked for here.
func (p *Program) Notes() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := p.notes
	p.notes = nil
	return n
}

// Alive tells whether it may still answer.
func (p *Program) Alive() bool { return !p.calls.Ended() }

// Why says why it does not, once it does not.
func (p *Program) Why() error { return p.calls.Why() }

// Last is how a message ends that shows the last lines of standard error; empty if there are none.
func (p *Program) Last() string { return p.said.last() }

// Ask sends a question and gives where its answer will come. Of no answer, [Program.Dead] tells.
func (p *Program) Ask(head []byte, raws ...[]byte) (<-chan frame.Frame, error) {
	n, answer, err := p.calls.Open()
	if err != nil {
		return nil, err
	}
	p.write(n, head, raws...)
	return answer, nil
}

// Dead is closed when no more answers come.
func (p *Program) Dead() <-chan struct{} { return p.calls.Dead() }

// Kill ends it at once, for a reason.
func (p *Program) Kill(why error) {
	p.calls.End(why)
	p.p.Kill()
	_ = p.p.In.Close() // nobody reads it
}

// Close lets it end by itself, and ends it where it does not: its standard input ends first. In time says whether it
// went by itself.
func (p *Program) Close() (inTime bool) {
	_ = p.p.In.Close() // which tells it
	defer p.calls.End(failed("it was ended"))
	select {
	case <-p.p.Gone():
		return true
	case <-time.After(Grace):
		p.p.Kill()
		<-p.p.Gone()
		return false
	}
}

// Code is its exit code, once it is gone; -1 if a signal ended it.
func (p *Program) Code() int { return p.p.State().ExitCode() }

// tail keeps the last bytes that a program writes to standard error.
type tail struct {
	mu sync.Mutex
	b  []byte
}

// Write keeps the last of all that came.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, b[max(0, len(b)-mostSaid):]...)
	if n := len(t.b) - mostSaid; n > 0 {
		t.b = append(t.b[:0], t.b[n:]...)
	}
	return len(b), nil
}

// last is how a message goes on after which the last lines are to be read.
func (t *tail) last() string {
	const lines, bytes = 4, 600
	t.mu.Lock()
	defer t.mu.Unlock()
	var kept []string
	for line := range strings.Lines(string(t.b)) {
		if line = strings.TrimSpace(line); line != "" {
			kept = append(kept, line)
		}
	}
	if len(kept) == 0 {
		return ""
	}
	text := strings.Join(kept[max(0, len(kept)-lines):], " | ")
	if n := len(text) - bytes; n > 0 {
		text = "…" + strings.ToValidUTF8(text[n:], "")
	}
	return "; its last words on standard error: " + strconv.QuoteToGraphic(text)
}

// Quote shows what a program said, on one line and no longer than is good for a message.
func Quote(s string) string {
	const most = 300
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return strconv.QuoteToGraphic(s)
}
