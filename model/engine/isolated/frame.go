package isolated

import (
	"encoding/json"
	"fmt"
	"io"
	"math"

	"nero/data/tensor"
	"nero/model/engine"
	"nero/model/engine/frame"
	"nero/model/engine/provider"
	"nero/model/engine/remote"
)

const (
	protocol = 1
	// mostJSON and mostTensors bound what one side believes of the other: lists of tensors are short, and no file of
	// a model has more bytes.
	mostJSON    = 64 << 20
	mostTensors = 1 << 40
)

// framed is one message, with its tensors.
type framed struct {
	call uint32
	body message
	raw  []byte
}

// message is the JSON of a frame.
type message struct {
	Hello   *hello `json:"hello,omitempty"`
	Method  string `json:"method,omitempty"`
	Model   string `json:"model_name,omitempty"`
	Threads int    `json:"threads,omitempty"`
	Plain   bool   `json:"plain,omitempty"`
	Lean    bool   `json:"lean,omitempty"`
	// where an opened model computes, and what of it runs where
	Providers provider.List      `json:"providers,omitzero"`
	Placement provider.Placement `json:"placement,omitzero"`
	Call      uint32             `json:"call,omitempty"`
	Inputs    []array            `json:"inputs,omitempty"`
	Outputs   []array            `json:"outputs,omitempty"`
	// processor time of the process, in nanoseconds
	Spent int64  `json:"spent,omitempty"`
	Error string `json:"error,omitempty"`
	// what the error is where it is one of these, and its text stands in Error
	Fallback *provider.FallbackError `json:"fallback,omitempty"`
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
	// those that the library has
	Providers []string `json:"providers,omitempty"`
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

// writer writes messages in frames.
type writer struct {
	frame.Writer
}

func to(w io.Writer) *writer { return &writer{frame.Writer{W: w}} }

// send writes one frame.
func (w *writer) send(call uint32, m message, raws ...[]byte) error {
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if len(b) > mostJSON {
		return fmt.Errorf("a message of %d bytes", len(b))
	}
	return w.Write(call, b, raws...)
}

// errFrame marks bytes that are no frame.
var errFrame = frame.ErrFrame

// receive reads one message. io.EOF says that there are no more.
func receive(r io.Reader) (framed, error) {
	f, err := frame.Read(r, frame.Limits{JSON: mostJSON, Raw: min(mostTensors, math.MaxInt)})
	if err != nil {
		return framed{}, err
	}
	got := framed{call: f.Call, raw: f.Raw}
	if err := json.Unmarshal(f.JSON, &got.body); err != nil {
		return framed{}, fmt.Errorf("%w: %w", errFrame, err)
	}
	return got, nil
}
