package slice

import (
	"encoding/base64"
	"errors"
	"fmt"
	"iter"
	"math/bits"
)

// Bits is a set of the samples 0 to Len-1 of a run. The zero value is a set over no samples.
type Bits struct {
	words []uint64
	n     int
}

// NewBits is the empty set over n samples; n is at least 0.
func NewBits(n int) Bits { return Bits{make([]uint64, (n+63)/64), n} }

// All is the set of all n samples.
func All(n int) Bits { return NewBits(n).Not() }

// Len is how many samples the set is over.
func (b Bits) Len() int { return b.n }

// Count is how many samples are in the set.
func (b Bits) Count() int {
	c := 0
	for _, w := range b.words {
		c += bits.OnesCount64(w)
	}
	return c
}

// Has reports whether sample i is in the set; i outside 0 to Len-1 is not.
func (b Bits) Has(i int) bool { return i >= 0 && i < b.n && b.words[i>>6]>>(i&63)&1 != 0 }

// Add puts sample i into the set. It panics if i is not one of its samples.
func (b Bits) Add(i int) {
	if i < 0 || i >= b.n {
		panic(fmt.Sprintf("slice: sample %d of %d", i, b.n))
	}
	b.words[i>>6] |= 1 << (i & 63)
}

// All yields the samples of the set in ascending order.
func (b Bits) All() iter.Seq[int] {
	return func(yield func(int) bool) {
		for k, w := range b.words {
			for ; w != 0; w &= w - 1 {
				if !yield(k<<6 | bits.TrailingZeros64(w)) {
					return
				}
			}
		}
	}
}

// And is the samples in both sets, a new set. It panics if they are over different numbers of samples, as do the
// others.
func (b Bits) And(o Bits) Bits { return b.zip(o, func(x, y uint64) uint64 { return x & y }) }

// Or is the samples in either set, a new set.
func (b Bits) Or(o Bits) Bits { return b.zip(o, func(x, y uint64) uint64 { return x | y }) }

// Not is the samples that are not in the set, a new set.
func (b Bits) Not() Bits {
	o := NewBits(b.n)
	for i, w := range b.words {
		o.words[i] = ^w
	}
	if r := b.n & 63; r != 0 {
		o.words[len(o.words)-1] &= 1<<r - 1 // there are no samples beyond the last
	}
	return o
}

func (b Bits) zip(o Bits, f func(x, y uint64) uint64) Bits {
	if b.n != o.n {
		panic(fmt.Sprintf("slice: sets over %d and %d samples", b.n, o.n))
	}
	out := NewBits(b.n)
	for i := range b.words {
		out.words[i] = f(b.words[i], o.words[i])
	}
	return out
}

// String is the set in base64 (standard alphabet, padded): sample i is bit i%8 of byte i/8, and there are ⌈n/8⌉ bytes.
func (b Bits) String() string {
	raw := make([]byte, (b.n+7)/8)
	for i := range raw {
		raw[i] = byte(b.words[i>>3] >> ((i & 7) * 8))
	}
	return base64.StdEncoding.EncodeToString(raw)
}

// ParseBits reads what [Bits.String] writes, a set over n samples. The error says by how much the length is wrong; bits
// beyond the last sample must be 0.
func ParseBits(s string, n int) (Bits, error) {
	want := (n + 7) / 8
	if size := base64.StdEncoding.EncodedLen(want); len(s) != size {
		return Bits{}, fmt.Errorf("bits: %d characters of base64; expected %d for %d samples, one bit each", len(s),
			size, n)
	}
	raw, err := base64.StdEncoding.Strict().DecodeString(s)
	if err != nil {
		return Bits{}, fmt.Errorf("bits: %w; expected base64 with the standard alphabet", err)
	}
	if len(raw) != want { // line breaks, which the decoder skips
		return Bits{}, fmt.Errorf("bits: %d bytes of base64; expected %d for %d samples, one bit each", len(raw), want,
			n)
	}
	b := NewBits(n)
	for i, v := range raw {
		b.words[i>>3] |= uint64(v) << ((i & 7) * 8)
	}
	if r := n & 63; r != 0 && b.words[len(b.words)-1]>>r != 0 {
		return Bits{}, errors.New(
			"bits: a bit is set beyond the last sample; the set belongs to a run with more samples")
	}
	return b, nil
}
