package decode

import (
	"fmt"

	"nero/data/space"
	"nero/data/tensor"
	"nero/model/onnx"
)

// New makes the codec of a model that reads images, or sequences of images if in.Frames says so. It reads the signature
// only: whatever of layout, channels, sizes, element types and output shape can be refused, is refused here, before
// anything runs. Errors say what the model wants, what the data has and which field of the study to set; they do not
// name the model's file.
//
// The codec also has BatchLimit and Notes, see [BatchLimit] and [Notes].
func New(sig onnx.Signature, in InputSpec, out OutputSpec) (Codec, error) {
	if err := checkInputSpec(in); err != nil {
		return nil, err
	}
	ports, err := readInputs(sig, in)
	if err != nil {
		return nil, err
	}
	c := &codec{in: inputSpec(ports, in)}
	for i, p := range ports {
		e, err := newEncoder(p, in)
		if err != nil {
			return nil, err
		}
		e.from = i // 0 if one input takes all frames
		c.e = append(c.e, e)
	}
	win, err := window(out, in, ports[0])
	if err != nil {
		return nil, err
	}
	if c.d, err = readOutputs(sig, out, ports[0], win); err != nil {
		return nil, err
	}
	c.within = out.Within
	return c, nil
}

// codec is the Codec of a model that reads images or frames.
type codec struct {
	// one per input
	e  []*encoder
	d  outputs
	in space.Spec
	// what counts of an answer; nil for all of it
	within func(space.Value) space.Value
}

// outputs reads what a model returns.
type outputs interface {
	spec() space.Spec
	// decode splits the outputs into n predictions; rows is the length of the batch that was fed.
	decode(out []tensor.Named, n, rows int) ([]space.Value, error)
	// raw is the transpose of decode, for the numbers that the model returned, if decoding is linear.
	raw(predictions []space.Value) (tensor.Named, error)
	// plain reads the model's own numbers.
	plain() outputs
	// limits is the largest batch whose outputs can be told apart, 0 for any, and what was taken for granted.
	limits() (batch int, notes []string)
}

// inputSpec describes one sample.
func inputSpec(ports []port, in InputSpec) space.Spec {
	p := ports[0]
	k, h, w := sample(in)
	if h < 0 {
		h = p.h
	}
	if w < 0 {
		w = p.w
	}
	if k < 0 && in.Channels == "" {
		k = p.c
	}
	if in.Frames > 0 {
		return space.Spec{Name: p.name, Kind: space.KindFrames, Shape: []int{in.Frames, k, h, w}}
	}
	return space.Spec{Name: p.name, Kind: space.KindImage, Shape: []int{k, h, w}}
}

// window is the height and width of what the model sees; -1 where nobody says.
func window(out OutputSpec, in InputSpec, p port) (hw [2]int, err error) {
	_, h, w := sample(in)
	for i, n := range [2][3]int{{out.Window[0], h, p.h}, {out.Window[1], w, p.w}} {
		hw[i] = -1
		for _, x := range n {
			if x > 0 && hw[i] > 0 && x != hw[i] {
				return hw, fmt.Errorf(
					"a window of %s x %s (height x width) for samples of %s x %s and an input of %s x %s; the model "+
						"sees the window",
					any1(out.Window[0]), any1(out.Window[1]), any1(h), any1(w), any1(p.h), any1(p.w))
			}
			hw[i] = max(hw[i], x)
		}
		if hw[i] == 0 {
			hw[i] = -1
		}
	}
	return hw, nil
}

func (c *codec) In() space.Spec { return c.in }

func (c *codec) Out() space.Spec { return c.d.spec() }

// Classes is how many classes the boxes of a detector may have, without the background, or the pixels of a mask; 0 if
// the file and the study do not say.
func (c *codec) Classes() int {
	switch d := c.d.(type) {
	case *boxes:
		return d.classes
	case *decoder:
		if of := d.k.decoded.classes; of != nil {
			return of(d)
		}
	}
	return 0
}

func (c *codec) Encode(batch []space.Value, buf []tensor.Named) ([]tensor.Named, error) {
	if n := c.BatchLimit(); n > 0 && len(batch) > n && c.e[0].batch == 0 {
		return nil, fmt.Errorf("%d samples for a model whose outputs hold one at a time", len(batch))
	}
	if len(c.e) == 1 {
		return c.e[0].encode(batch, buf)
	}
	if len(buf) != len(c.e) {
		buf = make([]tensor.Named, len(c.e))
	}
	for k, e := range c.e {
		one, err := e.encode(batch, buf[k:k+1])
		if err != nil {
			return nil, fmt.Errorf("input %q: %w", e.name, err)
		}
		buf[k] = one[0]
	}
	return buf, nil
}

func (c *codec) Decode(out []tensor.Named, n int) ([]space.Value, error) {
	rows := n
	if b := c.e[0].batch; b > 0 {
		rows = b
	}
	y, err := c.d.decode(out, n, rows)
	if err != nil || c.within == nil {
		return y, err
	}
	for i := range y {
		y[i] = c.within(y[i])
	}
	return y, nil
}

// BatchLimit is the batch that the model is fixed to; 0 if it is free.
func (c *codec) BatchLimit() int {
	if b := c.e[0].batch; b > 0 {
		return b
	}
	b, _ := c.d.limits()
	return b
}

// Notes say what was guessed.
func (c *codec) Notes() []string {
	var all []string
	for _, e := range c.e {
		all = append(all, e.notes...)
	}
	_, more := c.d.limits()
	return append(all, more...)
}

// BatchLimit is how many samples one call of Encode may hold at most: 0 for any number, n for a model whose batch axis
// is fixed at n, 1 for one without a batch axis. A shorter batch is filled up with its last sample, so that it costs as
// much as a full one; the caller should say that the model runs in batches of n.
func BatchLimit(c Codec) int {
	if b, ok := c.(interface{ BatchLimit() int }); ok {
		return b.BatchLimit()
	}
	return 0
}

// Notes are sentences about what the codec took for granted, such as the layout that it read from the model's shape.
// They are to be shown to the user.
func Notes(c Codec) []string {
	if b, ok := c.(interface{ Notes() []string }); ok {
		return b.Notes()
	}
	return nil
}

var _ Codec = (*codec)(nil)
