package isolated

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"

	"nero/data/tensor"
	"nero/model/engine"
	"nero/model/engine/remote"
)

const (
	protocol = 1
	magic    = "NRL1"
	head     = 20
	// mostJSON and mostTensors bound what one side believes of the other: lists of tensors are short, and no file of
	// a model has more bytes.
	mostJSON    = 64 << 20
	mostTensors = 1 << 40
)

// frame is one message.
type frame struct {
	call uint32
	body message
	raw  []byte
}

// message is the JSON of a frame.
type message struct {
	Hello   *hello  `json:"hello,omitempty"`
	Method  string  `json:"method,omitempty"`
	Model   string  `json:"model_name,omitempty"`
	Threads int     `json:"threads,omitempty"`
	Plain   bool    `json:"plain,omitempty"`
	Call    uint32  `json:"call,omitempty"`
	Inputs  []array `json:"inputs,omitempty"`
	Outputs []array `json:"outputs,omitempty"`
	Error   string  `json:"error,omitempty"`
}

// hello is the first frame of either side.
type hello struct {
	Protocol    int         `json:"protocol"`
	Library     string      `json:"library,omitempty"`
	Reason      string      `json:"reason,omitempty"`
	Memory      int64       `json:"memory,omitempty"`
	Engine      engine.Info `json:"engine,omitzero"`
	Fingerprint string      `json:"fingerprint,omitempty"`
	Concurrent  bool        `json:"concurrent,omitempty"`
	Note        string      `json:"note,omitempty"`
}

// array is a tensor of the Open Inference Protocol whose numbers lie at the end of the frame.
type array struct {
	Name     string `json:"name"`
	Shape    []int  `json:"shape,omitempty"`
	Datatype string `json:"datatype,omitempty"`
	Params   params `json:"parameters,omitzero"`
}

type params struct {
	Size int `json:"binary_data_size"`
}

// arrays describes tensors; their bytes follow in the same order.
func arrays(ts []tensor.Named) (as []array, raws [][]byte) {
	for _, t := range ts {
		as = append(as, array{t.Name, t.Shape, remote.Datatype(t.DType), params{len(t.Raw)}})
		raws = append(raws, t.Raw)
	}
	return as, raws
}

// tensors cuts them out of the bytes of a frame. They share its memory.
func tensors(as []array, raw []byte) ([]tensor.Named, error) {
	out := make([]tensor.Named, len(as))
	for i, a := range as {
		n := a.Params.Size
		if n < 0 || n > len(raw) {
			return nil, fmt.Errorf("the tensor %q has %d bytes, of which %d came", a.Name, n, len(raw))
		}
		d := remote.DType(a.Datatype)
		t := tensor.Tensor{DType: d, Shape: a.Shape, Raw: raw[:n:n]}
		if err := t.Check(); err != nil {
			return nil, fmt.Errorf("the tensor %q: %w", a.Name, err)
		}
		raw = raw[n:]
		out[i] = tensor.Named{Name: a.Name, Tensor: t}
	}
	if len(raw) > 0 {
		return nil, fmt.Errorf("%d bytes belong to no tensor", len(raw))
	}
	return out, nil
}

// writer writes whole frames.
type writer struct {
	mu sync.Mutex
	w  io.Writer
}

// send writes one frame.
func (w *writer) send(call uint32, m message, raws ...[]byte) error {
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if len(b) > mostJSON {
		return fmt.Errorf("a message of %d bytes", len(b))
	}
	size := uint64(0)
	for _, r := range raws {
		size += uint64(len(r))
	}
	h := make([]byte, 0, head+len(b))
	h = append(h, magic...)
	h = binary.LittleEndian.AppendUint32(h, call)
	h = binary.LittleEndian.AppendUint32(h, uint32(len(b)))
	h = binary.LittleEndian.AppendUint64(h, size)
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, part := range append([][]byte{append(h, b...)}, raws...) {
		if _, err := w.w.Write(part); err != nil {
			return err
		}
	}
	return nil
}

// errFrame marks bytes that are no frame.
var errFrame = errors.New("what came is no frame")

// receive reads one frame. io.EOF says that there are no more.
func receive(r io.Reader) (frame, error) {
	var h [head]byte
	if _, err := io.ReadFull(r, h[:]); err != nil {
		return frame{}, err
	}
	if string(h[:4]) != magic {
		return frame{}, fmt.Errorf("%w: it begins with %q", errFrame, h[:4])
	}
	n, size := binary.LittleEndian.Uint32(h[8:]), binary.LittleEndian.Uint64(h[12:])
	if n > mostJSON || size > min(mostTensors, math.MaxInt) {
		return frame{}, fmt.Errorf("%w: it announces %d bytes of JSON and %d of tensors", errFrame, n, size)
	}
	f := frame{call: binary.LittleEndian.Uint32(h[4:])}
	b := make([]byte, n)
	if _, err := io.ReadFull(r, b); err != nil {
		return frame{}, fmt.Errorf("%w: %w", errFrame, err)
	}
	if err := json.Unmarshal(b, &f.body); err != nil {
		return frame{}, fmt.Errorf("%w: %w", errFrame, err)
	}
	f.raw = make([]byte, size)
	if _, err := io.ReadFull(r, f.raw); err != nil {
		return frame{}, fmt.Errorf("%w: %w", errFrame, err)
	}
	return f, nil
}
