package server

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// The safetensors container: eight bytes little-endian header length, a JSON header that gives every tensor its dtype,
// shape and data_offsets, then the data, little-endian and without gaps. Here the header is padded with spaces so that
// the data begin at a multiple of eight bytes, and tensors of four bytes a value come before those of one, so that a
// reader can lay typed arrays over the bytes that it got.

// dtype is the type of the values of a tensor.
type dtype string

const (
	float32s dtype = "F32"
	int32s   dtype = "I32"
	uint8s   dtype = "U8"
)

// size is the number of bytes of a value, 0 for types that are not written here.
func (d dtype) size() int {
	switch d {
	case float32s, int32s:
		return 4
	case uint8s:
		return 1
	}
	return 0
}

// tensor is an array under a name. Exactly one of the slices is set; u8s may be computed while it is written.
type tensor struct {
	name  string
	shape []int
	f32   []float32
	i32   []int32
	u8    []uint8
	// fill computes the values from lo on, as bytes, so that a large array is never there twice. Its length is that of
	// the shape.
	fill func(dst []uint8, lo int)
}

// values is the number of values of a shape.
func values(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// there makes an empty slice of none, since a tensor's type is told by which of its slices is there.
func there[T any](v []T) []T {
	if v == nil {
		return []T{}
	}
	return v
}

// f32, i32 and u8 make tensors.
func f32(name string, v []float32, shape ...int) tensor {
	return tensor{name: name, shape: shape, f32: there(v)}
}

func i32(name string, v []int32, shape ...int) tensor {
	return tensor{name: name, shape: shape, i32: there(v)}
}

func u8(name string, v []uint8, shape ...int) tensor {
	return tensor{name: name, shape: shape, u8: there(v)}
}

func (t *tensor) dtype() dtype {
	switch {
	case t.f32 != nil:
		return float32s
	case t.i32 != nil:
		return int32s
	}
	return uint8s
}

// fits tells whether the tensor has as many values as its shape says.
func (t *tensor) fits() bool {
	n := values(t.shape)
	switch {
	case t.f32 != nil:
		return len(t.f32) == n
	case t.i32 != nil:
		return len(t.i32) == n
	case t.fill != nil:
		return true
	}
	return len(t.u8) == n
}

// entry is a tensor in the header.
type entry struct {
	Dtype   dtype  `json:"dtype"`
	Shape   []int  `json:"shape"`
	Offsets [2]int `json:"data_offsets"`
}

// metadataKey is the name under which the header holds texts.
const metadataKey = "__metadata__"

// container is a set of tensors and texts about them.
type container struct {
	meta    map[string]string
	tensors []tensor
}

// sorted is the container with its tensors in the order in which they are written. It shares their values.
func (c *container) sorted() *container {
	return &container{meta: c.meta, tensors: slices.SortedStableFunc(slices.Values(c.tensors), func(a, b tensor) int {
		if d := b.dtype().size() - a.dtype().size(); d != 0 {
			return d
		}
		return strings.Compare(a.name, b.name)
	})}
}

// prepare writes the header of a container that is sorted. The total is the length of the whole container.
func (c *container) prepare() (header []byte, total int, err error) {
	entries := make(map[string]any, len(c.tensors)+1)
	if len(c.meta) > 0 {
		entries[metadataKey] = c.meta
	}
	at := 0
	for i := range c.tensors {
		t := &c.tensors[i]
		if _, twice := entries[t.name]; twice || t.name == metadataKey {
			return nil, 0, fmt.Errorf("tensor %q is there twice", t.name)
		}
		if !t.fits() {
			return nil, 0, fmt.Errorf("tensor %q does not have the values of its shape %v", t.name, t.shape)
		}
		shape := t.shape
		if shape == nil {
			shape = []int{}
		}
		n := values(shape) * t.dtype().size()
		entries[t.name] = entry{t.dtype(), shape, [2]int{at, at + n}}
		at += n
	}
	b, err := json.Marshal(entries) // the keys of a map are sorted: the same arrays give the same bytes
	if err != nil {
		return nil, 0, err
	}
	for len(b)%8 != 0 {
		b = append(b, ' ')
	}
	header = binary.LittleEndian.AppendUint64(make([]byte, 0, 8+len(b)), uint64(len(b)))
	header = append(header, b...)
	return header, len(header) + at, nil
}

// shrinks tells whether compressing is worth its time: bytes of curves shrink to half, floats by a tenth.
func (c *container) shrinks() bool {
	bytes, all := 0, 0
	for i := range c.tensors {
		n := values(c.tensors[i].shape) * c.tensors[i].dtype().size()
		if all += n; c.tensors[i].dtype() == uint8s {
			bytes += n
		}
	}
	return 2*bytes >= all
}

// chunk is how many values are converted at once.
const chunk = 1 << 14

// writeData writes what follows the header.
func (c *container) writeData(w io.Writer) error {
	buf := make([]byte, 0, 4*chunk)
	for i := range c.tensors {
		t := &c.tensors[i]
		n := values(t.shape)
		if t.u8 != nil {
			if _, err := w.Write(t.u8); err != nil {
				return err
			}
			continue
		}
		for lo := 0; lo < n; lo += chunk {
			hi := min(n, lo+chunk)
			buf = buf[:0]
			switch {
			case t.f32 != nil:
				for _, v := range t.f32[lo:hi] {
					buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(v))
				}
			case t.i32 != nil:
				for _, v := range t.i32[lo:hi] {
					buf = binary.LittleEndian.AppendUint32(buf,
						uint32(v)) //nolint:gosec // the two's complement is meant
				}
			default:
				buf = buf[:hi-lo]
				t.fill(buf, lo)
			}
			if _, err := w.Write(buf); err != nil {
				return err
			}
		}
	}
	return nil
}

// WriteTo writes the container.
func (c *container) WriteTo(w io.Writer) (int64, error) {
	c = c.sorted()
	header, total, err := c.prepare()
	if err != nil {
		return 0, err
	}
	if _, err := w.Write(header); err != nil {
		return 0, err
	}
	return int64(total), c.writeData(w)
}

// maxHeader is the largest header that is read.
const maxHeader = 1 << 20

// readContainer reads a container and shares no memory with b. It is held against everything that a container promises:
// tests and clients of this program in Go use it.
func readContainer(b []byte) (*container, error) {
	if len(b) < 8 {
		return nil, fmt.Errorf("container of %d bytes, want at least 8 for the length of its header", len(b))
	}
	n := binary.LittleEndian.Uint64(b)
	if n > maxHeader || n > uint64(len(b)-8) {
		return nil, fmt.Errorf("header of %d bytes in a container of %d, of which at most %d are read", n, len(b),
			maxHeader)
	}
	head, data := b[8:8+int(n)], b[8+int(n):]
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(head, &raw); err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	c := &container{}
	type placed struct {
		entry

		name string
	}
	var all []placed
	for name, text := range raw {
		if name == metadataKey {
			if err := json.Unmarshal(text, &c.meta); err != nil {
				return nil, fmt.Errorf("header: %s: %w", metadataKey, err)
			}
			continue
		}
		e := placed{name: name}
		if err := json.Unmarshal(text, &e.entry); err != nil {
			return nil, fmt.Errorf("header: tensor %q: %w", name, err)
		}
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b placed) int {
		if d := a.Offsets[0] - b.Offsets[0]; d != 0 {
			return d
		}
		if d := a.Offsets[1] - b.Offsets[1]; d != 0 { // an empty tensor comes before what begins where it lies
			return d
		}
		return strings.Compare(a.name, b.name)
	})
	at := 0
	for _, e := range all {
		size := e.Dtype.size()
		if size == 0 {
			return nil, fmt.Errorf("tensor %q has dtype %q, want F32, I32 or U8", e.name, e.Dtype)
		}
		lo, hi := e.Offsets[0], e.Offsets[1]
		if lo != at || hi < lo || hi > len(data) {
			return nil, fmt.Errorf("tensor %q lies at %d to %d of %d bytes, want it to begin at %d", e.name, lo, hi,
				len(data), at)
		}
		count := 1
		if slices.Contains(e.Shape, 0) {
			count = 0
		}
		for _, d := range e.Shape {
			if d < 0 || d > 0 && count > (hi-lo)/d {
				return nil, fmt.Errorf("tensor %q of shape %v does not fit into %d bytes", e.name, e.Shape, hi-lo)
			}
			count *= d
		}
		if count > (hi-lo)/size || count*size != hi-lo {
			return nil, fmt.Errorf("tensor %q of shape %v does not fit into %d bytes", e.name, e.Shape, hi-lo)
		}
		at = hi
		t := tensor{name: e.name, shape: e.Shape}
		switch raw := data[lo:hi]; e.Dtype {
		case float32s:
			t.f32 = make([]float32, count)
			for i := range t.f32 {
				t.f32[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
			}
		case int32s:
			t.i32 = make([]int32, count)
			for i := range t.i32 {
				t.i32[i] = int32(binary.LittleEndian.Uint32(raw[4*i:])) //nolint:gosec // the two's complement is meant
			}
		case uint8s:
			t.u8 = append([]uint8{}, raw...)
		}
		c.tensors = append(c.tensors, t)
	}
	if at != len(data) {
		return nil, fmt.Errorf("%d bytes behind the last tensor", len(data)-at)
	}
	return c, nil
}
