// Package tape keeps what a model returned, call by call, so that the same questions are answered elsewhere without the
// model: the shards of an audit are made on many machines, and its checks read them on one.
package tape

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"nero/data/tensor"
)

// Head says what a tape belongs to.
type Head struct {
	// Plan is the digest of what was planned.
	Plan string `json:"plan"`
	// Shard is the index of the shard, Model the name of the model.
	Shard int    `json:"shard"`
	Model string `json:"model"`
}

// Place is one batch among those that a model is asked for: the number of the call, of the micro-batch in it, and of
// the part of that which has one shape.
type Place struct{ Call, Block, Part int }

func compare(a, b Place) int {
	return cmp.Or(cmp.Compare(a.Call, b.Call), cmp.Compare(a.Block, b.Block), cmp.Compare(a.Part, b.Part))
}

// Tape is what a model returned. It is safe for concurrent use.
type Tape struct {
	Head Head

	mu      sync.Mutex
	answers map[Place][]tensor.Named
}

// New is an empty tape.
func New(h Head) *Tape { return &Tape{Head: h, answers: map[Place][]tensor.Named{}} }

// Keep takes in what the model returned for a batch.
func (t *Tape) Keep(at Place, out []tensor.Named) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.answers[at] = slices.Clone(out)
}

// Find is what the model returned for a batch; the error says that the tape does not hold it.
func (t *Tape) Find(at Place) ([]tensor.Named, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	out, ok := t.answers[at]
	if !ok {
		return nil, fmt.Errorf("shard %d of %s holds no answer to batch %d of call %d: it was made for other inputs",
			t.Head.Shard, t.Head.Model, at.Block, at.Call)
	}
	return slices.Clone(out), nil
}

// Len is how many batches the tape holds.
func (t *Tape) Len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.answers)
}

const magic = "nero tape 1\n"

// Encode lays a tape out. Equal tapes have equal bytes, in whichever order they were filled.
func (t *Tape) Encode() ([]byte, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	head, err := json.Marshal(t.Head)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	word := func(n int) { b.Write(binary.LittleEndian.AppendUint64(nil, uint64(n))) }
	text := func(s []byte) { word(len(s)); b.Write(s) }
	b.WriteString(magic)
	text(head)
	word(len(t.answers))
	for _, at := range slices.SortedFunc(maps.Keys(t.answers), compare) {
		out := t.answers[at]
		for _, n := range []int{at.Call, at.Block, at.Part, len(out)} {
			word(n)
		}
		for _, x := range out {
			text([]byte(x.Name))
			word(int(x.DType))
			word(len(x.Shape))
			for _, d := range x.Shape {
				word(d)
			}
			text(x.Raw)
		}
	}
	sum := sha256.Sum256(b.Bytes())
	b.Write(sum[:])
	return b.Bytes(), nil
}

// ErrDamaged marks bytes that are no whole tape.
var ErrDamaged = errors.New("damaged")

// Decode reads a tape. It takes no more memory than a few times the bytes, whatever they say. The error wraps
// [ErrDamaged].
func Decode(b []byte) (*Tape, error) {
	wrong := func(what string) error { return fmt.Errorf("%w: %s", ErrDamaged, what) }
	rest, ok := bytes.CutPrefix(b, []byte(magic))
	if !ok {
		return nil, wrong("it does not begin as a tape does")
	}
	if len(rest) < sha256.Size {
		return nil, wrong("it is cut off")
	}
	rest = rest[:len(rest)-sha256.Size]
	if sum := sha256.Sum256(b[:len(b)-sha256.Size]); !bytes.Equal(sum[:], b[len(b)-sha256.Size:]) {
		return nil, wrong("its digest is another")
	}
	r := &reader{rest: rest}
	t := New(Head{})
	if err := json.Unmarshal(r.text(), &t.Head); err != nil || r.failed {
		return nil, wrong("its head cannot be read")
	}
	const least = 4 * 8 // of an answer
	for range r.count(least) {
		at := Place{r.word(), r.word(), r.word()}
		out := make([]tensor.Named, r.count(4*8))
		for i := range out {
			x := tensor.Named{Name: string(r.text())}
			x.DType = tensor.DType(r.word())
			x.Shape = make([]int, r.count(8))
			for k := range x.Shape {
				x.Shape[k] = r.word()
			}
			x.Raw = r.text()
			if r.failed {
				return nil, wrong("it is cut off")
			}
			if err := x.Check(); err != nil {
				return nil, wrong(err.Error())
			}
			out[i] = x
		}
		if _, twice := t.answers[at]; r.failed || twice {
			return nil, wrong("a batch is there twice, or in part")
		}
		t.answers[at] = out
	}
	if r.failed || len(r.rest) > 0 {
		return nil, wrong("its length is another than it says")
	}
	return t, nil
}

// reader takes a tape apart. Once it has failed it returns nothing.
type reader struct {
	rest   []byte
	failed bool
}

func (r *reader) word() int {
	if r.failed || len(r.rest) < 8 {
		r.failed = true
		return 0
	}
	n := binary.LittleEndian.Uint64(r.rest)
	r.rest = r.rest[8:]
	const most = 1 << 40
	if n > most {
		r.failed = true
		return 0
	}
	return int(n)
}

// count is a number of things that take so many bytes each at least.
func (r *reader) count(least int) int {
	n := r.word()
	if n > len(r.rest)/least {
		r.failed = true
		return 0
	}
	return n
}

func (r *reader) text() []byte {
	n := r.count(1)
	if r.failed {
		return nil
	}
	b := r.rest[:n:n]
	r.rest = r.rest[n:]
	return b
}
