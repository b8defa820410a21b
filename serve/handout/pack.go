package handout

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"nero/internal/elementary"
)

// block is a piece of data of the file: its entry in the directory, and its bytes as they stand in the page.
type block struct {
	entry entry
	// base64 of the deflated bytes
	text []byte
}

// entry is a block in the directory. The page reads nothing of a block before it has compared what is said here with
// what it needs.
type entry struct {
	Name string `json:"name"`
	// Bytes is the length once it is inflated.
	Bytes int `json:"bytes"`
	// Form says what the bytes are: json, curves, classes, planes, container.
	Form  string `json:"form"`
	Shape []int  `json:"shape,omitempty"`

	// Of curves: values are one of Steps+1 equally spaced ones from Lo to Hi, or of their logarithms, 255 for none.
	// With Delta every byte is the difference from the one before it in its row.
	Steps int     `json:"steps,omitempty"`
	Lo    float64 `json:"lo,omitempty"`
	Hi    float64 `json:"hi,omitempty"`
	Log   bool    `json:"log,omitempty"`
	Delta bool    `json:"delta,omitempty"`

	// Texts are about an embedding.
	Axes   []string `json:"axes,omitempty"`
	Notes  []string `json:"notes,omitempty"`
	Fitted int      `json:"fitted,omitempty"`
	// Box is the range of the coordinates of an embedding: x from, x to, y from, y to.
	Box []float64 `json:"box,omitempty"`
}

// The tag around a block. The page finds blocks by their number.
const (
	tagOpen  = `<script type="application/x-nero" id="nero-%d">`
	tagClose = "</script>\n"
)

// mostBlocks bounds the numbers of blocks, so that the size of a tag is known before its number.
const mostBlocks = 1_000_000

// size is the most bytes that a block takes in the file.
func (b *block) size() (int64, error) {
	e, err := json.Marshal(b.entry)
	if err != nil {
		return 0, err
	}
	return int64(len(b.text) + len(e) + 1 + len(fmt.Sprintf(tagOpen, mostBlocks)) + len(tagClose)), nil
}

// pack deflates the bytes of a block.
func pack(e entry, raw []byte) (*block, error) {
	z, err := deflate(raw)
	if err != nil {
		return nil, err
	}
	e.Bytes = len(raw)
	return &block{entry: e, text: base64.StdEncoding.AppendEncode(nil, z)}, nil
}

// deflate compresses. Level 6 is within 2 % of 9 on curves, in a third of the time.
func deflate(raw []byte) ([]byte, error) {
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, 6)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(raw); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// packJSON makes a block of a document.
func packJSON(name string, doc any) (*block, error) {
	raw, err := json.Marshal(doc)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return pack(entry{Name: name, Form: "json"}, raw)
}

// grid is a range of values cut into equal steps, of the values or of their logarithms.
type grid struct {
	lo, hi float64
	log    bool
	// at most 254
	steps int
}

// code is the step next to a value, 255 for one that is not finite. What lies beyond the range stops at its ends.
func (g grid) code(v float64) byte {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return missing
	}
	lo, hi := g.lo, g.hi
	if g.log {
		if !(v > lo) {
			return 0
		}
		v, lo, hi = elementary.Log(v), elementary.Log(lo), elementary.Log(hi)
	}
	if !(hi > lo) {
		return 0
	}
	return byte(math.Floor(float64(min(max((v-lo)/(hi-lo), 0), 1)*float64(g.steps)) + 0.5))
}

// value is what a code stands for.
func (g grid) value(c byte) float64 {
	if c == missing {
		return math.NaN()
	}
	f := float64(c) / float64(g.steps)
	if g.log {
		return elementary.Exp(elementary.Log(g.lo) + float64((elementary.Log(g.hi)-elementary.Log(g.lo))*f))
	}
	return g.lo + float64((g.hi-g.lo)*f)
}

// missing is the code of a value that is not there.
const missing = 255

// packCurves makes a block of rows of e values.
func packCurves(name string, v []float32, e int, g grid) (*block, error) {
	raw := make([]byte, len(v))
	for i, x := range v {
		raw[i] = g.code(float64(x))
	}
	b := entry{
		Name: name, Form: "curves", Shape: []int{len(v) / max(e, 1), e}, Steps: g.steps, Lo: g.lo, Hi: g.hi,
		Log: g.log,
	}
	// Smooth curves are smaller as differences, those of a confident classifier as they are: a part of the rows tells.
	some := raw[:min(len(raw), e*512)]
	plain, err := deflate(some)
	if err != nil {
		return nil, err
	}
	moved, err := deflate(delta(slices.Clone(some), e))
	if err != nil {
		return nil, err
	}
	if len(moved) < len(plain) {
		b.Delta = true
		delta(raw, e)
	}
	return pack(b, raw)
}

// delta replaces every byte by its difference from the one before it in its row of e, in place.
func delta(raw []byte, e int) []byte {
	for at := 0; at < len(raw); at += e {
		row := raw[at:min(at+e, len(raw))]
		for j := len(row) - 1; j > 0; j-- {
			row[j] -= row[j-1]
		}
	}
	return raw
}

// packClasses makes a block of classes by sample and element: bytes with 255 for none where that is enough, else planes
// of int32.
func packClasses(name string, v []int32, e, classes int) (*block, error) {
	b := entry{Name: name, Form: "classes", Shape: []int{len(v) / max(e, 1), e}}
	if classes > missing {
		b.Form = "planes"
		words := make([]uint32, len(v))
		for i, c := range v {
			words[i] = uint32(c) //nolint:gosec // the two's complement is meant
		}
		return pack(b, planes(words))
	}
	return pack(b, classBytes(v))
}

// classBytes are classes as bytes, 255 for none.
func classBytes(v []int32) []byte {
	raw := make([]byte, len(v))
	for i, c := range v {
		raw[i] = missing
		if c >= 0 && c < missing {
			raw[i] = byte(c)
		}
	}
	return raw
}

// planes are the bytes of words by their place: first the lowest of all, and so on. Signs and exponents beside each
// other are smaller once deflated.
func planes(words []uint32) []byte {
	n := len(words)
	raw := make([]byte, 4*n)
	for i, w := range words {
		raw[i], raw[n+i], raw[2*n+i], raw[3*n+i] = byte(w), byte(w>>8), byte(w>>16), byte(w>>24)
	}
	return raw
}

// bits are the bits of numbers.
func bits(v []float32) []uint32 {
	out := make([]uint32, len(v))
	for i, x := range v {
		out[i] = math.Float32bits(x)
	}
	return out
}

// packXY makes a block of points in the plane: two bytes for a coordinate, of its range, the highest for none; all x
// before all y, the low bytes before the high ones.
func packXY(e entry, xy []float32) (*block, error) {
	const none = math.MaxUint16
	n := len(xy) / 2
	e.Form, e.Shape = "plane", []int{n, 2}
	raw := make([]byte, 4*n)
	for axis := range 2 {
		lo, hi := math.Inf(1), math.Inf(-1)
		for i := range n {
			if v := float64(xy[2*i+axis]); !math.IsNaN(v) {
				lo, hi = min(lo, v), max(hi, v)
			}
		}
		if !(lo <= hi) {
			lo, hi = 0, 1
		}
		e.Box = append(e.Box, lo, hi)
		for i := range n {
			code := uint16(none)
			if v := float64(xy[2*i+axis]); !math.IsNaN(v) {
				code = 0
				if hi > lo {
					code = uint16(math.Floor(float64((v-lo)/(hi-lo)*(none-1)) + 0.5))
				}
			}
			raw[2*axis*n+i], raw[(2*axis+1)*n+i] = byte(code), byte(code>>8)
		}
	}
	return pack(e, raw)
}

// tensor is an array of a container, as bytes, little-endian.
type tensor struct {
	name string
	// U8, U16, I32, F32
	dtype string
	shape []int
	data  []byte
}

func bytesOf(name string, v []byte, shape ...int) tensor {
	return tensor{name, "U8", shape, v}
}

func shortsOf(name string, v []uint16, shape ...int) tensor {
	raw := make([]byte, 0, 2*len(v))
	for _, x := range v {
		raw = binary.LittleEndian.AppendUint16(raw, x)
	}
	return tensor{name, "U16", shape, raw}
}

func intsOf(name string, v []int32, shape ...int) tensor {
	raw := make([]byte, 0, 4*len(v))
	for _, x := range v {
		raw = binary.LittleEndian.AppendUint32(raw, uint32(x)) //nolint:gosec // the two's complement is meant
	}
	return tensor{name, "I32", shape, raw}
}

func floatsOf(name string, v []float32, shape ...int) tensor {
	raw := make([]byte, 0, 4*len(v))
	for _, x := range v {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
	}
	return tensor{name, "F32", shape, raw}
}

// container writes a safetensors container: the wider values first, so that all lie at multiples of their size.
func container(meta map[string]string, ts []tensor) ([]byte, error) {
	width := map[string]int{"F32": 4, "I32": 4, "U16": 2, "U8": 1}
	ts = slices.SortedStableFunc(slices.Values(ts), func(a, b tensor) int { return width[b.dtype] - width[a.dtype] })
	header := map[string]any{"__metadata__": meta}
	at := 0
	for _, t := range ts {
		n := width[t.dtype]
		for _, d := range t.shape {
			n *= d
		}
		if _, twice := header[t.name]; twice || n != len(t.data) {
			return nil, fmt.Errorf("tensor %q of shape %v has %d bytes, or is there twice", t.name, t.shape,
				len(t.data))
		}
		header[t.name] = map[string]any{"dtype": t.dtype, "shape": t.shape, "data_offsets": [2]int{at, at + n}}
		at += n
	}
	head, err := json.Marshal(header)
	if err != nil {
		return nil, err
	}
	for len(head)%8 != 0 {
		head = append(head, ' ')
	}
	out := binary.LittleEndian.AppendUint64(make([]byte, 0, 8+len(head)+at), uint64(len(head)))
	out = append(out, head...)
	for _, t := range ts {
		out = append(out, t.data...)
	}
	return out, nil
}
