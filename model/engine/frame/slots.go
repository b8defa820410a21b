package frame

import (
	"fmt"
	"math"
	"sync"
)

// Slots are memory that both sides of a pipe see, in parts of one length, which are numbered from 0. A side that has
// taken a slot writes tensors into it and sends a question that lies there; from then on the slot belongs to the other
// side, until that answers in the same slot or gives it back. Its methods may be called from many goroutines.
type Slots struct {
	all  []byte
	size int

	mu   sync.Mutex
	free []uint32
}

// mostSlots bounds how many slots make sense.
const mostSlots = 1 << 10

// Length is how many bytes of memory a number of slots of some length have. The error says in words why that cannot be.
func Length(size, count int) (int, error) {
	if size < 1 || count < 1 || count > mostSlots || size > math.MaxInt/count {
		return 0, fmt.Errorf("%d slots of %d bytes; expected 1 to %d slots, and that all of them have fewer than 2^63 "+
			"bytes", count, size, mostSlots)
	}
	return size * count, nil
}

// Cut cuts memory into slots of some length. All of them are free.
func Cut(all []byte, size int) *Slots {
	s := &Slots{all: all, size: size}
	for i := len(all) / size; i > 0; i-- {
		s.free = append(s.free, uint32(i-1))
	}
	return s
}

// Take takes a free slot and puts tensors into it, one after the other. It is not ok if none is free, or they are
// longer than a slot. The slot that was free last is taken first: its memory is there already.
func (s *Slots) Take(raws ...[]byte) (slot uint32, size int, ok bool) {
	for _, r := range raws {
		if len(r) > s.size-size {
			return 0, 0, false
		}
		size += len(r)
	}
	s.mu.Lock()
	n := len(s.free)
	if n > 0 {
		slot, s.free = s.free[n-1], s.free[:n-1]
	}
	s.mu.Unlock()
	if n == 0 {
		return 0, 0, false
	}
	to := s.all[int(slot)*s.size:]
	for _, r := range raws {
		to = to[copy(to, r):]
	}
	return slot, size, true
}

// Free makes a slot free again that was taken.
func (s *Slots) Free(slot uint32) {
	s.mu.Lock()
	s.free = append(s.free, slot)
	s.mu.Unlock()
}

// at is a piece of a slot, as the other side says where it lies.
func (s *Slots) at(slot uint32, offset, size uint64) ([]byte, error) {
	count, length := len(s.all)/s.size, uint64(s.size)
	switch {
	case uint64(slot) >= uint64(count):
		return nil, fmt.Errorf("its tensors are said to lie in slot %d; there are %d, numbered from 0", slot, count)
	case size > length || offset > length-size: // no sum, which could overflow
		return nil, fmt.Errorf("its tensors are said to be %d bytes from byte %d of a slot, which has %d", size, offset,
			length)
	}
	from := uint64(slot)*length + offset
	return s.all[from : from+size : from+size], nil
}
