// Package parent speaks with the program that started this one, over a socket or two pipes that it handed down: a
// Python program whose functions are models here, and that wants to know how far the work is.
//
// Both sides write frames (package frame). The first frame of each has the number 0 and is a hello:
//
//	{"hello": {"protocol": 1, "program": "nero 0.1.0", "max_message": 536870912}}
//
// After that this side asks, in any number of calls at once, and the other side answers each by its number, in any
// order. What is asked and answered is what docs/PROGRAMS.md says of programs, and "model" names one of several
// functions. A frame of this side with the number 0 is an event, which is not answered.
package parent

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"nero/model/engine/frame"
)

// Variable is the environment variable that says what was handed down; see [Inherited].
const Variable = "NERO_LIVE"

// Protocol is the number of the protocol.
const Protocol = 1

// Bounds of what is believed of the other side, in bytes, and how long its first frame is waited for.
const (
	mostJSON   = 16 << 20
	mostRaw    = 1 << 40 // memory is taken as bytes come
	MaxMessage = 512 << 20
	patience   = 30 * time.Second
)

// Channel is the way to the program that started this one. It is safe for concurrent use.
type Channel struct {
	c     io.ReadWriteCloser
	w     *frame.Writer
	calls *frame.Calls
	who   string
}

// Who is what the other side calls itself, such as python.
func (p *Channel) Who() string { return p.who }

// hello is the first frame of either side.
type hello struct {
	Hello struct {
		Protocol   int    `json:"protocol"`
		Program    string `json:"program,omitempty"`
		MaxMessage int    `json:"max_message,omitempty"`
	} `json:"hello"`
}

// Open exchanges hellos over a connection, which belongs to the channel from then on. version is that of this program.
func Open(ctx context.Context, c io.ReadWriteCloser, version string) (*Channel, error) {
	calls, first := frame.NewCalls()
	p := &Channel{c: c, w: &frame.Writer{W: c}, calls: calls}
	go p.read()
	if err := p.greet(ctx, first, version); err != nil {
		p.Close()
		return nil, fmt.Errorf("the program that started this one: %w", err)
	}
	return p, nil
}

func (p *Channel) greet(ctx context.Context, first <-chan frame.Frame, version string) error {
	var mine hello
	mine.Hello.Protocol, mine.Hello.Program, mine.Hello.MaxMessage = Protocol, "nero "+version, MaxMessage
	if err := p.write(0, mine); err != nil {
		return err
	}
	late := time.NewTimer(patience)
	defer late.Stop()
	var f frame.Frame
	select {
	case f = <-first:
	case <-p.calls.Dead():
		var came bool
		if f, came = frame.Came(first); !came {
			return p.calls.Why()
		}
	case <-late.C:
		return fmt.Errorf("it said nothing within %v", patience)
	case <-ctx.Done():
		return ctx.Err()
	}
	var theirs hello
	switch err := json.Unmarshal(f.JSON, &theirs); {
	case err != nil:
		return fmt.Errorf("its first frame is no hello (%w)", err)
	case theirs.Hello.Protocol != Protocol:
		return fmt.Errorf("it speaks protocol %d, and this program %d; install the Python package and the program "+
			"from the same release", theirs.Hello.Protocol, Protocol)
	}
	p.who = theirs.Hello.Program
	return nil
}

func (p *Channel) write(call uint32, v any, raws ...[]byte) error {
	head, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return p.w.Write(call, head, raws...)
}

// read delivers answers until there are no more.
func (p *Channel) read() {
	r := bufio.NewReaderSize(p.c, 64<<10)
	for {
		f, err := frame.Read(r, frame.Limits{JSON: mostJSON, Raw: mostRaw})
		switch {
		case errors.Is(err, frame.ErrFrame):
			p.calls.End(fmt.Errorf("the program that started this one: %w", err))
			return
		case err != nil: // however it says so: it is gone, or was let go
			p.calls.End(errors.New("the program that started this one, whose functions are the models, is gone"))
			return
		case !p.calls.Deliver(f):
			p.calls.End(fmt.Errorf("the program that started this one answers call %d, which is not open", f.Call))
			return
		}
	}
}

// Ask sends a question and gives where its answer will come; that none will come any more, [Channel.Dead] tells. It
// returns once all is sent, which may take until the other side reads.
func (p *Channel) Ask(head []byte, raws ...[]byte) (<-chan frame.Frame, error) {
	n, answer, err := p.calls.Open()
	if err != nil {
		return nil, err
	}
	if err := p.w.Write(n, head, raws...); err != nil {
		p.calls.End(errors.New("the program that started this one, whose functions are the models, is gone"))
		return nil, p.calls.Why()
	}
	return answer, nil
}

// Tell sends an event, as JSON. Nobody answers it, and where nobody is left to hear it, nothing happens.
func (p *Channel) Tell(event any) {
	if !p.calls.Ended() {
		_ = p.write(0, event) // questions find out what has become of the other side
	}
}

// Dead is closed when no more answers come, and Why says the reason then.
func (p *Channel) Dead() <-chan struct{} { return p.calls.Dead() }

// Why is the reason why no more answers come.
func (p *Channel) Why() error { return p.calls.Why() }

// Close lets the other side go.
func (p *Channel) Close() {
	p.calls.End(errors.New("it was let go"))
	_ = p.c.Close() // nothing is left to be said
}
