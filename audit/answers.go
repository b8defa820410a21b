package audit

import (
	chain "container/list"
	"encoding/binary"
	"hash/maphash"
	"math"

	"nero/data/space"
)

// mostKept bounds the answers that an audit keeps, in bytes.
const mostKept = 128 << 20

// answers are those that the model gave in the audit, so that no input is sent through it twice where nobody asks
// whether an answer repeats. They are kept from the beginning and handed out from the moment when preflight has seen
// that equal inputs have equal answers, to the bit, wherever they stand in a batch: no number of an audit depends on
// what is kept. What was asked for longest ago goes first once there is no room.
type answers struct {
	// equal inputs have equal answers
	repeat bool
	seeds  [2]maphash.Seed
	at     map[digest]*chain.Element
	// of *answer, what was asked for last comes first
	order *chain.List
	// bytes that are left, of how many
	room, limit int
}

// digest is that of an input: form, shape and numbers.
type digest [2]uint64

type answer struct {
	of    digest
	value space.Value
	bytes int
}

func newAnswers(room int) *answers {
	return &answers{
		seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}, at: map[digest]*chain.Element{},
		order: chain.New(), room: room, limit: room,
	}
}

// digest of an input. Two digests of different seeds are equal by chance about once in 2¹²⁸ pairs.
func (a *answers) digest(v space.Value) (d digest) {
	var hashes [2]maphash.Hash
	var block [1024]byte
	for k := range hashes {
		hashes[k].SetSeed(a.seeds[k])
	}
	write := func(b []byte) {
		for k := range hashes {
			hashes[k].Write(b)
		}
	}
	n := 0
	word := func(x uint64) {
		binary.LittleEndian.PutUint64(block[n:], x)
		if n += 8; n == len(block) {
			write(block[:])
			n = 0
		}
	}
	form := v.Form()
	word(uint64(len(form)))
	for _, c := range []byte(form) {
		word(uint64(c))
	}
	dims := v.Dims()
	word(uint64(len(dims)))
	for _, k := range dims {
		word(uint64(k))
	}
	for _, x := range v.Numbers() {
		word(math.Float64bits(x))
	}
	write(block[:n])
	for k := range hashes {
		d[k] = hashes[k].Sum64()
	}
	return d
}

// find is the answer to an input; nil if there is none, or if it may not be the one that the model would give again.
func (a *answers) find(d digest) space.Value {
	e := a.at[d]
	if e == nil || !a.repeat {
		return nil
	}
	a.order.MoveToFront(e)
	one, _ := e.Value.(*answer) // the list holds nothing else
	return one.value
}

// keep takes in an answer. The first of several stays.
func (a *answers) keep(d digest, v space.Value) {
	const overhead = 256 // what the books of it take
	if _, ok := a.at[d]; ok {
		return
	}
	one := &answer{d, v, v.Bytes() + overhead}
	if one.bytes > a.limit/4 { // it would push out what is of more use
		return
	}
	a.at[d] = a.order.PushFront(one)
	for a.room -= one.bytes; a.room < 0; {
		last, _ := a.order.Remove(a.order.Back()).(*answer)
		delete(a.at, last.of)
		a.room += last.bytes
	}
}
