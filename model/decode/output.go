package decode

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"nero/data/space"
	"nero/data/tensor"
	"nero/model/onnx"
)

// decoder reads one output.
type decoder struct {
	name string
	k    *kind
	how  string
	typ  string
	// channels vary fastest
	nhwc bool
	// the first axis counts samples
	batched bool
	shape   []int
	ranked  bool
	// of masks that are made by one
	threshold float64
}

// readOutputs fits the specification to the model's outputs; win is the height and width of what the model sees, -1
// where nobody knows.
func readOutputs(sig onnx.Signature, out OutputSpec, p port, win [2]int) (outputs, error) {
	if len(sig.Outputs) == 0 {
		return nil, errors.New("the model has no output")
	}
	k := kindFor(kindOrScores(out.Space), out.Kinds)
	if k.found != nil {
		return k.found(sig, out, p, win)
	}
	x := sig.Outputs[0]
	if out.Name != "" {
		var ok bool
		if x, ok = sig.Output(out.Name); !ok {
			return nil, fmt.Errorf("output.name: the model has no output %q; there are %s", out.Name,
				strings.Join(onnx.Names(sig.Outputs), ", "))
		}
	}
	if err := numbers(x); err != nil {
		return nil, err
	}
	if k.one == nil {
		return nil, errSpace(k)
	}
	return k.one(k, x, out, p, win)
}

// kindOrScores is what outputs are taken for if nobody says.
func kindOrScores(k space.Kind) space.Kind { return cmp.Or(k, scoresKind.of) }

// errSpace refuses a kind that no output is read as.
func errSpace(k *kind) error {
	return fmt.Errorf(
		"output.space: %q is not known; say scores, image, mask, tensor, embedding, boxes, field, frames, "+
			"rows, pairs, signal or volume", k.of)
}

// placed reads an output as rows, pairs, a signal or frames.
type placed struct{ *answer }

// readPlaced fits the specification to an output of a model that reads pictures. Rows are those of the sample.
func readPlaced(k *kind, x onnx.Port, out OutputSpec, p port, _ [2]int) (outputs, error) {
	a := &answer{
		OutputField: OutputField{Kind: k.of, Type: out.Type, Per: space.PerSample, Decode: out.Decode},
		k:           k, x: x, name: x.Name, batched: p.axes.n >= 0, nodes: -1,
	}
	if d := strings.ToLower(out.Decode); d != "" && d != raw {
		return nil, fmt.Errorf("output.decode: %q does not make %s; leave it out", out.Decode, out.Space)
	}
	if k.owned {
		a.per = space.PerSample
	}
	return placed{a}, (&record{batched: a.batched}).layAnswer(a)
}

func (p placed) decode(out []tensor.Named, n, rows int) ([]space.Value, error) {
	return p.answer.decode(out, n, rows, nil)
}

func (p placed) plain() outputs { return p }

func (p placed) limits() (int, []string) { return 0, p.notes }

// numbers refuses an output that is no array of numbers.
func numbers(x onnx.Port) error {
	if x.Kind != "tensor" && x.Kind != "" {
		return fmt.Errorf("output %q is a %s, want a tensor", x.Name, x.Kind)
	}
	if x.DType != tensor.Undefined && x.DType.Size() == 0 {
		return fmt.Errorf("output %s cannot be read: want numbers; name an output of numbers with output.name "+
			"(--output-name), or leave out the operator that writes words when the model is exported", x)
	}
	return nil
}

// readDecoded fits the specification to one output.
func readDecoded(k *kind, x onnx.Port, out OutputSpec, p port, _ [2]int) (outputs, error) {
	return readOutput(k, x, out, p)
}

// readOutput fits the specification to one output.
func readOutput(k *kind, x onnx.Port, out OutputSpec, p port) (*decoder, error) {
	d := &decoder{
		name: x.Name, k: k, how: strings.ToLower(out.Decode), typ: out.Type, nhwc: p.nhwc,
		shape: x.Sizes(), ranked: x.Ranked, threshold: out.Threshold,
	}
	d.batched = p.axes.n >= 0
	if !d.batched && x.Ranked && k.decoded.batched != nil {
		d.batched = k.decoded.batched(d.shape)
	}
	if d.how != "" && !slices.Contains(k.decoded.ways, d.how) {
		return nil, fmt.Errorf("output.decode: %q does not make %s; say %s", out.Decode, k.of,
			strings.Join(k.decoded.ways, " or "))
	}
	d.how = cmp.Or(d.how, k.decoded.usual)
	if x.Ranked {
		if d.batched && len(d.shape) == 0 {
			return nil, fmt.Errorf(
				"output %s is one number for the whole batch; nothing can be said of a single sample", x)
		}
		if err := d.fits(d.sampleShape(), fmt.Sprintf("output %s", x)); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// sampleShape is the declared shape of one sample, -1 for free axes.
func (d *decoder) sampleShape() []int {
	if d.batched {
		return d.shape[1:]
	}
	return d.shape
}

// fits tells whether the shape of one sample suits the space.
func (d *decoder) fits(s []int, what string) error {
	if slices.Contains(s, 0) {
		return fmt.Errorf("%s has no numbers", what)
	}
	if d.k.decoded.fits == nil {
		return nil
	}
	return d.k.decoded.fits(d, s, what)
}

// grid is channels, height and width of the shape of one image or mask.
func (d *decoder) grid(s []int) (c, h, w int) {
	switch {
	case len(s) == 2:
		return 1, s[0], s[1]
	case d.nhwc:
		return s[2], s[0], s[1]
	}
	return s[0], s[1], s[2]
}

// spec describes one prediction.
func (d *decoder) spec() space.Spec {
	o := space.Spec{Name: d.name, Kind: d.k.of, Type: d.typ}
	d.k.decoded.spec(d, d.sampleShapeOrNil(), &o)
	return o
}

func (d *decoder) sampleShapeOrNil() []int {
	if !d.ranked {
		return nil
	}
	return d.sampleShape()
}

func (d *decoder) limits() (int, []string) { return 0, nil }

// decode splits an output into n predictions; rows is the length of the batch that was fed.
func (d *decoder) decode(out []tensor.Named, n, rows int) ([]space.Value, error) {
	at := slices.IndexFunc(out, func(t tensor.Named) bool { return t.Name == d.name })
	if at < 0 {
		return nil, fmt.Errorf("the model returned no output %q", d.name)
	}
	t := out[at]
	if n < 1 || n > rows {
		return nil, fmt.Errorf("%d predictions out of a batch of %d", n, rows)
	}
	s := t.Shape
	if d.batched {
		if len(s) == 0 || s[0] != rows {
			return nil, fmt.Errorf(
				"output %q has the shape %v for a batch of %d; its first axis should count the samples", d.name, s,
				rows)
		}
		s = s[1:]
	} else if rows != 1 {
		return nil, fmt.Errorf("output %q has no batch axis, a batch of %d was fed", d.name, rows)
	}
	what := shaped{d.name, t.Shape}
	if !d.ranked || !slices.Equal(s, d.sampleShape()) { // otherwise it was checked before any run
		if err := d.fits(s, what.String()); err != nil {
			return nil, err
		}
	}
	val, err := t.Float64s(nil)
	if err != nil {
		return nil, fmt.Errorf("output %q: %w", d.name, err)
	}
	return d.k.decoded.split(d, val, s, n, what)
}

// shaped is an output as messages name it, which few batches need.
type shaped struct {
	name  string
	shape []int
}

// String is such as `output "y" of shape [16 10]`.
func (o shaped) String() string { return fmt.Sprintf("output %q of shape %v", o.name, o.shape) }
