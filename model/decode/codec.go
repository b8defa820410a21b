package decode

import (
	"nero/data/space"
	"nero/data/tensor"
	"nero/model/onnx"
)

// New makes the codec of a model. It reads the signature only: whatever of layout, channels, sizes, element types and
// output shape can be refused, is refused here, before anything runs. Errors say what the model wants, what the data has
// and which field of the study to set; they do not name the model's file.
//
// The codec also has BatchLimit and Notes, see [BatchLimit] and [Notes].
func New(sig onnx.Signature, in InputSpec, out OutputSpec) (Codec, error) {
	if err := checkInputSpec(in); err != nil {
		return nil, err
	}
	p, err := readInput(sig, in)
	if err != nil {
		return nil, err
	}
	e, err := newEncoder(p, in)
	if err != nil {
		return nil, err
	}
	d, err := readOutput(sig, out, p)
	if err != nil {
		return nil, err
	}
	return &codec{e: e, d: d}, nil
}

// codec is the Codec of a model that reads one image.
type codec struct {
	e *encoder
	d decoder
}

func (c *codec) In() space.Spec {
	k, h, w := sample(c.e.spec)
	if h < 0 {
		h = c.e.h
	}
	if w < 0 {
		w = c.e.w
	}
	if k < 0 && c.e.order == "" {
		k = c.e.c
	}
	return space.Spec{Name: c.e.name, Kind: space.KindImage, Shape: []int{k, h, w}}
}

func (c *codec) Out() space.Spec { return c.d.spec() }

func (c *codec) Encode(batch []space.Value, buf []tensor.Named) ([]tensor.Named, error) {
	return c.e.encode(batch, buf)
}

func (c *codec) Decode(out []tensor.Named, n int) ([]space.Value, error) {
	rows := n
	if c.e.batch > 0 {
		rows = c.e.batch
	}
	return c.d.decode(out, n, rows)
}

// BatchLimit is the batch that the model is fixed to; 0 if it is free.
func (c *codec) BatchLimit() int { return c.e.batch }

// Notes say what was guessed.
func (c *codec) Notes() []string { return c.e.notes }

// BatchLimit is how many samples one call of Encode may hold at most: 0 for any number, n for a model whose batch axis is
// fixed at n, 1 for one without a batch axis. A shorter batch is filled up with its last sample, so that it costs as much as
// a full one; the caller should say that the model runs in batches of n.
func BatchLimit(c Codec) int {
	if b, ok := c.(interface{ BatchLimit() int }); ok {
		return b.BatchLimit()
	}
	return 0
}

// Notes are sentences about what the codec took for granted, such as the layout that it read from the model's shape. They
// are to be shown to the user.
func Notes(c Codec) []string {
	if b, ok := c.(interface{ Notes() []string }); ok {
		return b.Notes()
	}
	return nil
}

var _ Codec = (*codec)(nil)
