// Package frame holds the frames in which nero and another program talk over a pipe. A frame is 20 bytes,
// little-endian, then JSON, then the bytes of tensors:
//
//	uint32 magic   "NRL1" as bytes
//	uint32 call    number of the call; 0 for what answers none
//	uint32 json    bytes of JSON
//	uint64 tensors bytes of tensors
//
// Where both sides see one memory ([Slots]), the tensors of a frame may lie there. It is then 32 bytes, and JSON:
//
//	uint32 magic   "NRLM" as bytes
//	…              call, JSON and tensors as above
//	uint32 slot    number of the slot
//	uint64 offset  where in it the tensors begin
//
// What the JSON says is the affair of who talks: packages isolated (an engine in a process of its own), child (a
// program of the user's that is a model) and parent (the program that started this one, which has functions).
package frame

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
)

// Magic is what every frame begins with whose tensors follow, Head the bytes before its JSON.
const (
	Magic = "NRL1"
	Head  = 20

	magicShared = "NRLM" // of a frame whose tensors lie in a slot
	headShared  = Head + 12
)

// Frame is one message.
type Frame struct {
	Call uint32
	// Raw is part of the slot if there is one.
	JSON, Raw []byte
	// Slot is where the tensors lie; nil if they came along.
	Slot *uint32
}

// Limits are the most bytes that one side believes of the other.
type Limits struct {
	JSON, Raw uint64
}

// ErrFrame marks bytes that are no frame.
var ErrFrame = errors.New("what came is no frame")

// Read reads one frame. io.EOF says that there are no more. Memory is taken as bytes come, not as they are announced.
func Read(r io.Reader, most Limits) (Frame, error) { return ReadShared(r, most, nil) }

// ReadShared reads one frame whose tensors may lie in slots; of nil, none do.
func ReadShared(r io.Reader, most Limits, slots *Slots) (Frame, error) {
	var h [headShared]byte
	if _, err := io.ReadFull(r, h[:Head]); err != nil {
		return Frame{}, err
	}
	shared := slots != nil && string(h[:4]) == magicShared
	if string(h[:4]) != Magic && !shared {
		return Frame{}, fmt.Errorf("%w: it begins with %q", ErrFrame, h[:4])
	}
	n, size := uint64(binary.LittleEndian.Uint32(h[8:])), binary.LittleEndian.Uint64(h[12:])
	if n > most.JSON || size > most.Raw {
		return Frame{}, fmt.Errorf("%w: it announces %d bytes of JSON and %d of tensors; at most %d and %d are taken",
			ErrFrame, n, size, most.JSON, most.Raw)
	}
	f := Frame{Call: binary.LittleEndian.Uint32(h[4:])}
	var err error
	if shared {
		if _, err := io.ReadFull(r, h[Head:]); err != nil {
			return Frame{}, whole(err)
		}
		slot, offset := binary.LittleEndian.Uint32(h[Head:]), binary.LittleEndian.Uint64(h[Head+4:])
		if f.Raw, err = slots.at(slot, offset, size); err != nil {
			return Frame{}, fmt.Errorf("%w: %w", ErrFrame, err)
		}
		f.Slot = &slot
	}
	if f.JSON, err = take(r, n); err != nil {
		return Frame{}, fmt.Errorf("%w: of %d bytes of JSON %d came: %w", ErrFrame, n, len(f.JSON), err)
	}
	if shared {
		return f, nil
	}
	if f.Raw, err = take(r, size); err != nil {
		return Frame{}, fmt.Errorf("%w: of %d bytes of tensors %d came: %w", ErrFrame, size, len(f.Raw), err)
	}
	return f, nil
}

// step is how much memory an announcement alone is worth.
const step = 16 << 20

// take reads n bytes, or returns those that came.
func take(r io.Reader, n uint64) ([]byte, error) {
	b := make([]byte, min(n, step))
	have := 0
	for {
		k, err := io.ReadFull(r, b[have:])
		have += k
		if err != nil {
			return b[:have], whole(err)
		}
		if uint64(have) == n {
			return b, nil
		}
		more := make([]byte, min(n, 2*uint64(len(b))))
		copy(more, b)
		b = more
	}
}

// whole is an error of reading what should have come as a whole.
func whole(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// StrayError says that bytes came that begin no frame.
type StrayError struct {
	// Said is what has come of them so far.
	Said []byte
}

// Error shows them.
func (e *StrayError) Error() string { return fmt.Sprintf("%v: %q", ErrFrame, e.Said) }

// Unwrap is [ErrFrame].
func (e *StrayError) Unwrap() error { return ErrFrame }

// Begins waits for the first bytes of a frame and reads none of them. It tells at the first byte that is wrong: who
// writes two letters by mistake and then waits is not waited for. io.EOF says that nothing comes any more.
func Begins(r *bufio.Reader) error {
	for n := 1; n <= len(Magic); n++ {
		b, err := r.Peek(n)
		if len(b) == n && b[n-1] != Magic[n-1] {
			b, _ = r.Peek(r.Buffered())
			return &StrayError{Said: append([]byte(nil), b...)}
		}
		if err != nil {
			if len(b) > 0 && errors.Is(err, io.EOF) {
				return &StrayError{Said: append([]byte(nil), b...)}
			}
			return err
		}
	}
	return nil
}

// Writer writes whole frames, from any number of goroutines.
type Writer struct {
	W io.Writer

	mu sync.Mutex
}

// Write writes one frame; the parts of raws are its tensors, one after the other.
func (w *Writer) Write(call uint32, json []byte, raws ...[]byte) error {
	size := uint64(0)
	for _, r := range raws {
		size += uint64(len(r))
	}
	h, err := head(Magic, call, json, size)
	if err != nil {
		return err
	}
	return w.send(append(h, json...), raws...)
}

// WriteShared writes one frame whose tensors, so many bytes, lie at the beginning of a slot.
func (w *Writer) WriteShared(call uint32, json []byte, slot uint32, size int) error {
	h, err := head(magicShared, call, json, uint64(size))
	if err != nil {
		return err
	}
	h = binary.LittleEndian.AppendUint32(h, slot)
	h = binary.LittleEndian.AppendUint64(h, 0)
	return w.send(append(h, json...))
}

// head is the first Head bytes of a frame.
func head(magic string, call uint32, json []byte, size uint64) ([]byte, error) {
	if uint64(len(json)) >= 1<<32 {
		return nil, fmt.Errorf("a message of %d bytes", len(json))
	}
	h := make([]byte, 0, headShared+len(json))
	h = append(h, magic...)
	h = binary.LittleEndian.AppendUint32(h, call)
	h = binary.LittleEndian.AppendUint32(h, uint32(len(json)))
	return binary.LittleEndian.AppendUint64(h, size), nil
}

// send writes the parts of a frame, and nothing between them.
func (w *Writer) send(first []byte, raws ...[]byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, part := range append([][]byte{first}, raws...) {
		if _, err := w.W.Write(part); err != nil {
			return err
		}
	}
	return nil
}
