package dataset

import (
	"fmt"
	"io"
	"sync"
)

// packedKept is the largest compressed file that is kept in memory to be unpacked as far as samples are asked for.
const packedKept = 64 << 20

// later unpacks the elements of an array as far as they are asked for: a process that works on a few samples of a file
// that is known to be whole need not unpack those behind them. It is safe for concurrent use.
type later struct {
	mu sync.Mutex
	// nil once all is there
	from io.Reader
	// room for everything, of which the first have bytes are there
	data []byte
	have int
	err  error
}

// later is what stands behind the header of an array that was read from a compressed stream.
func (o opener) later(from io.Reader, h header, limit int64) (*later, error) {
	if err := o.fits(h, limit, true); err != nil {
		return nil, err
	}
	return &later{from: from, data: make([]byte, h.bytes)}, nil
}

// piece is n bytes from lo on.
func (l *later) piece(lo, n int) ([]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if hi := lo + n; hi > l.have && l.err == nil {
		var more int
		more, l.err = io.ReadFull(l.from, l.data[l.have:hi])
		if l.have += more; l.err != nil {
			l.err = packed(fmt.Errorf("after %d of %d bytes: %w", l.have, len(l.data), l.err))
		}
		if l.have == len(l.data) {
			l.from = nil // and what it was unpacked from
		}
	}
	if lo+n > l.have {
		return nil, l.err
	}
	return l.data[lo : lo+n], nil
}
