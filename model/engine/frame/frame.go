// Package frame holds the frames in which nero and another program talk over a pipe. A frame is 20 bytes,
// little-endian, then JSON, then the bytes of tensors:
//
//	uint32 magic   "NRL1" as bytes
//	uint32 call    number of the call; 0 for what answers none
//	uint32 json    bytes of JSON
//	uint64 tensors bytes of tensors
//
// What the JSON says is the affair of who talks: packages isolated (an engine in a process of its own) and child (a
// program of the user's that is a model).
package frame

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
)

// Magic is what every frame begins with, Head the bytes before its JSON.
const (
	Magic = "NRL1"
	Head  = 20
)

// Frame is one message.
type Frame struct {
	Call      uint32
	JSON, Raw []byte
}

// Limits are the most bytes that one side believes of the other.
type Limits struct {
	JSON, Raw uint64
}

// ErrFrame marks bytes that are no frame.
var ErrFrame = errors.New("what came is no frame")

// Read reads one frame. io.EOF says that there are no more. Memory is taken as bytes come, not as they are announced.
func Read(r io.Reader, most Limits) (Frame, error) {
	var h [Head]byte
	if _, err := io.ReadFull(r, h[:]); err != nil {
		return Frame{}, err
	}
	if string(h[:4]) != Magic {
		return Frame{}, fmt.Errorf("%w: it begins with %q", ErrFrame, h[:4])
	}
	n, size := uint64(binary.LittleEndian.Uint32(h[8:])), binary.LittleEndian.Uint64(h[12:])
	if n > most.JSON || size > most.Raw {
		return Frame{}, fmt.Errorf("%w: it announces %d bytes of JSON and %d of tensors; at most %d and %d are taken",
			ErrFrame, n, size, most.JSON, most.Raw)
	}
	f := Frame{Call: binary.LittleEndian.Uint32(h[4:])}
	var err error
	if f.JSON, err = take(r, n); err != nil {
		return Frame{}, fmt.Errorf("%w: of %d bytes of JSON %d came: %w", ErrFrame, n, len(f.JSON), err)
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
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return b[:have], err
		}
		if uint64(have) == n {
			return b, nil
		}
		more := make([]byte, min(n, 2*uint64(len(b))))
		copy(more, b)
		b = more
	}
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
	if uint64(len(json)) >= 1<<32 {
		return fmt.Errorf("a message of %d bytes", len(json))
	}
	size := uint64(0)
	for _, r := range raws {
		size += uint64(len(r))
	}
	h := make([]byte, 0, Head+len(json))
	h = append(h, Magic...)
	h = binary.LittleEndian.AppendUint32(h, call)
	h = binary.LittleEndian.AppendUint32(h, uint32(len(json)))
	h = binary.LittleEndian.AppendUint64(h, size)
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, part := range append([][]byte{append(h, json...)}, raws...) {
		if _, err := w.W.Write(part); err != nil {
			return err
		}
	}
	return nil
}
