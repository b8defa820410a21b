// Package parent speaks with the program that started this one, over a socket or two pipes that it handed down: a
// Python program whose functions are models here, and that wants to know how far the work is.
//
// Both sides write frames (package frame). The first frame of each has the number 0 and is a hello:
//
//	{"hello": {"protocol": 1, "program": "nero 0.1.0", "max_message": 536870912}}
//
// Where the other side can share memory, its hello offers that: "shm": [FD, BYTES, COUNT], a file that it has handed
// down and that many slots of that many bytes in it (package frame). A question that moves more than 1 MB of tensors
// then lies in a slot, if one is free. The slot is the other side's until it answers there; what it answers otherwise
// leaves the slot with it, because somebody still holds the arrays, and a frame in the slot with the number 0 gives it
// back later. Without memory that both see, all goes over the socket, and the numbers are the same.
//
// After that this side asks, in any number of calls at once, and the other side answers each by its number, in any
// order. What is asked and answered is what docs/PROGRAMS.md says of programs, and "model" names one of several
// functions. A frame of this side with the number 0 is an event, which is not answered.
package parent

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
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
	calls *frame.Calls[frame.Frame]
	who   string
	// nil without memory that both sides see
	slots *frame.Slots

	mu sync.Mutex
	// the slots that are the other side's, by the call that lies in each, and those that it has kept
	lent map[uint32]uint32
	kept map[uint32]bool
}

// worth is how many bytes of tensors are worth a slot.
const worth = 1 << 20

// Who is what the other side calls itself, such as python.
func (p *Channel) Who() string { return p.who }

// hello is the first frame of either side.
type hello struct {
	Hello struct {
		Protocol   int    `json:"protocol"`
		Program    string `json:"program,omitempty"`
		MaxMessage int    `json:"max_message,omitempty"`
		// file, bytes of a slot, number of slots
		Shm []int `json:"shm,omitempty"`
	} `json:"hello"`
}

// Open exchanges hellos over a connection, which belongs to the channel from then on. version is that of this program.
func Open(ctx context.Context, c io.ReadWriteCloser, version string) (*Channel, error) {
	calls, first := frame.NewCalls[frame.Frame]()
	p := &Channel{c: c, w: &frame.Writer{W: c}, calls: calls, lent: map[uint32]uint32{}, kept: map[uint32]bool{}}
	greeted := make(chan struct{})
	go p.read(greeted)
	err := p.greet(ctx, first, version)
	close(greeted)
	if err != nil {
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
	if shm := theirs.Hello.Shm; shm != nil {
		if len(shm) != 3 {
			return fmt.Errorf("its hello offers the memory %v; expected a file, the bytes of a slot and the number of "+
				"slots", shm)
		}
		slots, err := frame.Map(shm[0], shm[1], shm[2])
		if err != nil {
			return fmt.Errorf("its hello offers as memory %w", err)
		}
		p.slots = slots
	}
	return nil
}

func (p *Channel) write(call uint32, v any, raws ...[]byte) error {
	head, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return p.w.Write(call, head, raws...)
}

// read delivers answers until there are no more. What the first frame offers is to be known before the second is read.
func (p *Channel) read(greeted <-chan struct{}) {
	r := bufio.NewReaderSize(p.c, 64<<10)
	for first := true; ; first = false {
		f, err := frame.ReadShared(r, frame.Limits{JSON: mostJSON, Raw: mostRaw}, p.slots)
		if err == nil {
			err = p.settle(&f)
		}
		switch {
		case errors.Is(err, frame.ErrFrame):
			p.calls.End(fmt.Errorf("the program that started this one: %w", err))
			return
		case err != nil: // however it says so: it is gone, or was let go
			p.calls.End(errGone)
			return
		case f.Call == 0 && f.Slot != nil: // a slot came back, which is no answer
		case !p.calls.Deliver(f.Call, f):
			p.calls.End(fmt.Errorf("the program that started this one answers call %d, which is not open", f.Call))
			return
		}
		if first {
			<-greeted
		}
	}
}

// errGone says that nobody answers any more.
var errGone = errors.New("the program that started this one, whose functions are the models, is gone")

// settle takes what came out of its slot, and keeps the book of slots.
func (p *Channel) settle(f *frame.Frame) error {
	p.mu.Lock()
	slot, lent := p.lent[f.Call]
	back := f.Slot != nil
	switch {
	case back && f.Call == 0:
		lent = p.kept[*f.Slot]
		slot = *f.Slot
		delete(p.kept, slot)
	case lent:
		delete(p.lent, f.Call)
		if !back {
			p.kept[slot] = true
		}
	}
	p.mu.Unlock()
	if !back {
		return nil
	}
	if !lent || slot != *f.Slot {
		return fmt.Errorf("%w: call %d is answered in slot %d, which is not that of the question", frame.ErrFrame,
			f.Call, *f.Slot)
	}
	f.Raw = bytes.Clone(f.Raw) // the next question overwrites it
	p.slots.Free(slot)
	return nil
}

// Ask asks one question and waits for its answer, no longer than the context. The tensors of the answer are expected to
// have so many bytes, as far as that is known. The memory of raws may be used again when it returns.
func (p *Channel) Ask(ctx context.Context, head []byte, expected int, raws ...[]byte) (frame.Frame, error) {
	n, answer, err := p.calls.Open()
	if err != nil {
		return frame.Frame{}, err
	}
	send := p.lay(ctx, n, head, expected, raws)
	// Sending takes until the other side reads, which it does not while it works; who no longer waits shall not have
	// to.
	go func() {
		if send() != nil {
			p.calls.End(errGone)
		}
	}()
	select {
	case f := <-answer:
		return f, nil
	case <-p.calls.Dead():
		if f, came := frame.Came(answer); came {
			return f, nil
		}
		return frame.Frame{}, p.calls.Why()
	case <-ctx.Done():
		return frame.Frame{}, ctx.Err()
	}
}

// Dead is closed when the other side is gone or was let go.
func (p *Channel) Dead() <-chan struct{} { return p.calls.Dead() }

// lay lays the tensors of a question where nobody else will write, and says how it is sent.
func (p *Channel) lay(ctx context.Context, call uint32, head []byte, expected int, raws [][]byte) (send func() error) {
	size := expected
	for _, r := range raws {
		size += len(r)
	}
	if slots := p.slots; slots != nil && size > worth {
		if slot, size, ok := slots.Take(raws...); ok {
			p.mu.Lock()
			p.lent[call] = slot
			p.mu.Unlock()
			return func() error { return p.w.WriteShared(call, head, slot, size) }
		}
	}
	if ctx.Done() != nil { // it may still be sent when nobody waits any more and the caller uses its memory again
		kept := make([][]byte, len(raws))
		for i, r := range raws {
			kept[i] = bytes.Clone(r)
		}
		raws = kept
	}
	return func() error { return p.w.Write(call, head, raws...) }
}

// Tell sends an event, as JSON. Nobody answers it, and where nobody is left to hear it, nothing happens.
func (p *Channel) Tell(event any) {
	if !p.calls.Ended() {
		_ = p.write(0, event) // questions find out what has become of the other side
	}
}

// Close lets the other side go.
func (p *Channel) Close() {
	p.calls.End(errors.New("it was let go"))
	_ = p.c.Close() // nothing is left to be said
}
