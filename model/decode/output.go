package decode

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"nero/data/space"
	"nero/data/tensor"
	"nero/model/onnx"
)

// decoder reads one output.
type decoder struct {
	name  string
	space space.Kind
	how   string
	typ   string
	// channels vary fastest
	nhwc bool
	// the first axis counts samples
	batched bool
	shape   []int
	ranked  bool
}

// readOutputs fits the specification to the model's outputs; win is the height and width of what the model sees, -1
// where nobody knows.
func readOutputs(sig onnx.Signature, out OutputSpec, p port, win [2]int) (outputs, error) {
	if len(sig.Outputs) == 0 {
		return nil, errors.New("the model has no output")
	}
	if out.Space == space.KindBoxes {
		return readBoxes(sig, out, p, win)
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
	if out.Space == space.KindField {
		return readField(x, out, p, win)
	}
	switch out.Space {
	case space.KindRows, space.KindPairs, space.KindSignal, space.KindFrames:
		return readPlaced(x, out, p)
	case space.KindImage, space.KindMask, space.KindScores, space.KindTensor, space.KindBoxes, space.KindField,
		space.KindLinks, space.KindRecord:
	}
	d, err := readOutput(x, out, p)
	return &d, err
}

// placed reads an output as rows, pairs, a signal or frames.
type placed struct{ *answer }

// readPlaced fits the specification to an output of a model that reads pictures. Rows are those of the sample.
func readPlaced(x onnx.Port, out OutputSpec, p port) (outputs, error) {
	a := &answer{
		OutputField: OutputField{Kind: out.Space, Type: out.Type, Per: space.PerSample, Decode: out.Decode},
		x:           x, name: x.Name, per: space.PerSample, batched: p.axes.n >= 0, nodes: -1,
	}
	if d := strings.ToLower(out.Decode); d != "" && d != raw {
		return nil, fmt.Errorf("output.decode: %q does not make %s; leave it out", out.Decode, out.Space)
	}
	if a.Kind != space.KindRows {
		a.per = ""
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
		return fmt.Errorf("output %s cannot be read: want numbers", x)
	}
	return nil
}

// readOutput fits the specification to one output.
func readOutput(x onnx.Port, out OutputSpec, p port) (decoder, error) {
	d := decoder{
		name: x.Name, space: out.Space, how: strings.ToLower(out.Decode), typ: out.Type, nhwc: p.nhwc,
		shape: x.Sizes(), ranked: x.Ranked,
	}
	if d.space == "" {
		d.space = space.KindScores
	}
	d.batched = p.axes.n >= 0
	if !d.batched && x.Ranked {
		switch d.space {
		case space.KindScores:
			d.batched = len(d.shape) >= 2 && d.shape[0] <= 1 // 1 or free
		case space.KindImage, space.KindMask:
			d.batched = len(d.shape) == 4
		case space.KindTensor, space.KindBoxes, space.KindField, space.KindFrames, space.KindRows, space.KindLinks,
			space.KindPairs, space.KindSignal, space.KindRecord:
		}
	}
	ways := map[space.Kind][]string{
		space.KindScores: {softmax, probabilities, logits, raw}, space.KindMask: {argmax, raw},
		space.KindImage: {raw}, space.KindTensor: {raw},
	}[d.space]
	if ways == nil {
		return decoder{}, fmt.Errorf(
			"output.space: %q is not known; say scores, image, mask, tensor, boxes, field, frames, rows, pairs or "+
				"signal", d.space)
	}
	if d.how != "" && !slices.Contains(ways, d.how) {
		return decoder{}, fmt.Errorf("output.decode: %q does not make %s; say %s", out.Decode, d.space,
			strings.Join(ways, " or "))
	}
	if d.how == "" && d.space != space.KindMask {
		d.how = ways[0]
	}
	if x.Ranked {
		if d.batched && len(d.shape) == 0 {
			return decoder{}, fmt.Errorf(
				"output %s is one number for the whole batch; nothing can be said of a single sample", x)
		}
		if err := d.fits(d.sampleShape(), fmt.Sprintf("output %s", x)); err != nil {
			return decoder{}, err
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
	switch d.space {
	case space.KindScores:
		long, free := 0, 0
		for _, n := range s {
			switch {
			case n > 1:
				long++
			case n < 0:
				free++
			}
		}
		if long > 1 || long == 1 && free > 0 && len(s) > 1 && s[0] < 0 {
			return fmt.Errorf("%s is not one number per class; set output.space: mask, image or tensor", what)
		}
		if d.how == softmax && long == 0 && free == 0 {
			return fmt.Errorf("%s is one number per sample, whose softmax is always 1; set output.decode: raw", what)
		}
	case space.KindImage:
		if len(s) != 2 && len(s) != 3 {
			return fmt.Errorf("%s has %d axes per sample; an image has channels, height and width; set output.space: "+
				"scores or tensor", what, len(s))
		}
	case space.KindMask:
		if len(s) != 2 && len(s) != 3 {
			return fmt.Errorf("%s has %d axes per sample; a mask has classes, height and width; set output.space: "+
				"scores or tensor", what, len(s))
		}
		if c := d.classes(s); d.how == argmax && c == 1 {
			return fmt.Errorf("%s has one class, whose argmax is always 0; set output.decode: raw if it holds "+
				"labels, or output.space: image", what)
		} else if d.how == raw && c > 1 {
			return fmt.Errorf("%s has %d classes; set output.decode: argmax", what, c)
		}
	case space.KindTensor, space.KindBoxes, space.KindField, space.KindFrames, space.KindRows, space.KindLinks,
		space.KindPairs, space.KindSignal, space.KindRecord:
	}
	return nil
}

// classes is the length of a mask's class axis: 1 without one, -1 if free.
func (d *decoder) classes(s []int) int {
	switch {
	case len(s) != 3:
		return 1
	case d.nhwc:
		return s[2]
	}
	return s[0]
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
	o := space.Spec{Name: d.name, Kind: d.space, Type: d.typ}
	s := d.sampleShapeOrNil()
	switch d.space {
	case space.KindScores:
		o.Type = logits
		if d.how == softmax || d.how == probabilities {
			o.Type = probabilities
		}
		o.Shape = []int{-1}
		if s != nil {
			k := 1
			for _, n := range s {
				if n < 0 {
					k = -1
					break
				}
				k *= n
			}
			o.Shape[0] = k
		}
	case space.KindImage:
		o.Shape = []int{-1, -1, -1}
		if s != nil {
			c, h, w := d.grid(s)
			o.Shape = []int{c, h, w}
		}
	case space.KindMask:
		o.Shape = []int{-1, -1}
		if s != nil {
			_, h, w := d.grid(s)
			o.Shape = []int{h, w}
		}
	case space.KindTensor:
		o.Shape = slices.Clone(s)
	// never here
	case space.KindBoxes, space.KindField, space.KindFrames, space.KindRows, space.KindLinks, space.KindPairs,
		space.KindSignal, space.KindRecord:
	}
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
	what := fmt.Sprintf("output %q of shape %v", d.name, t.Shape)
	if !d.ranked || !slices.Equal(s, d.sampleShape()) { // otherwise it was checked before any run
		if err := d.fits(s, what); err != nil {
			return nil, err
		}
	}
	val, err := t.Float64s(nil)
	if err != nil {
		return nil, fmt.Errorf("output %q: %w", d.name, err)
	}
	per := tensor.Count(s)
	values := make([]space.Value, n)
	scores := make([]space.Scores, n)
	var returned []float64 // the model's own numbers, kept beside their softmax
	if d.space == space.KindScores && d.how == softmax {
		returned = slices.Clone(val)
	}
	for i := range values {
		v := val[i*per : (i+1)*per : (i+1)*per]
		switch d.space {
		case space.KindScores:
			if err := d.scores(v); err != nil {
				return nil, fmt.Errorf("%s, sample %d: %w", what, i, err)
			}
			scores[i] = space.Scores{Val: v, Probabilities: d.how == softmax || d.how == probabilities}
			if returned != nil {
				scores[i].Raw = returned[i*per : (i+1)*per : (i+1)*per]
			}
			values[i] = &scores[i]
		case space.KindImage:
			values[i] = d.image(v, s)
		case space.KindMask:
			m, err := d.mask(v, s)
			if err != nil {
				return nil, fmt.Errorf("%s, sample %d: %w", what, i, err)
			}
			values[i] = m
		case space.KindTensor:
			values[i] = &space.Tensor{Shape: slices.Clone(s), Val: v}
		// never here
		case space.KindBoxes, space.KindField, space.KindFrames, space.KindRows, space.KindLinks, space.KindPairs,
			space.KindSignal, space.KindRecord:
		}
	}
	return values, nil
}

// scores turns v into what was asked for, in place.
func (d *decoder) scores(v []float64) error {
	switch d.how {
	case softmax:
		Softmax(v)
	case probabilities:
		sum, finite := 0.0, true
		for _, x := range v {
			finite = finite && !math.IsNaN(x) && !math.IsInf(x, 0)
			sum += x
		}
		if !finite {
			return nil // passed on as it is, and reported where predictions are judged
		}
		// 1e-3 admits the rounding of half precision.
		const tol = 1e-3
		for k, x := range v {
			if x < -tol || x > 1+tol {
				return fmt.Errorf("class %d has the probability %g; these are no probabilities, set output.decode: "+
					"softmax", k, x)
			}
		}
		if len(v) > 1 && math.Abs(sum-1) > tol {
			return fmt.Errorf("the probabilities sum to %.4g, not 1; set output.decode: softmax, or raw if classes "+
				"do not exclude each other", sum)
		}
	}
	return nil
}

// Softmax replaces v by exp(v[k]) / sum over j of exp(v[j]), computed after subtracting the maximum so that nothing
// overflows. NaN or +infinity anywhere makes every value NaN; -infinity gives 0.
func Softmax(v []float64) {
	top := math.Inf(-1)
	for _, x := range v {
		top = max(top, x) // max returns NaN if either is
	}
	sum := 0.0
	for k, x := range v {
		v[k] = math.Exp(x - top)
		sum += v[k]
	}
	for k := range v {
		v[k] /= sum
	}
}

// image copies or transposes one sample into planes.
func (d *decoder) image(v []float64, s []int) *space.Image {
	c, h, w := d.grid(s)
	if !d.nhwc || len(s) == 2 || c == 1 {
		return &space.Image{C: c, H: h, W: w, Pix: v}
	}
	m := space.NewImage(c, h, w)
	for k := range c {
		for i, p := 0, m.Plane(k); i < len(p); i++ {
			p[i] = v[i*c+k]
		}
	}
	return m
}

// mask finds the label of every pixel; -1 where a score or a label is NaN, the lowest label where several tie.
func (d *decoder) mask(v []float64, s []int) (*space.Mask, error) {
	c, h, w := d.grid(s)
	m := &space.Mask{H: h, W: w, Label: make([]int32, h*w)}
	if c == 1 {
		for i, x := range v {
			switch {
			case math.IsNaN(x):
				m.Label[i] = -1
			case x != math.RoundToEven(x) || math.Abs(x) > math.MaxInt32:
				return nil, fmt.Errorf(
					"pixel %d holds %g, which is no label; set output.space: image if these are scores", i, x)
			default:
				m.Label[i] = int32(x)
			}
		}
		return m, nil
	}
	step, stride := h*w, 1 // from class to class, from pixel to pixel
	if d.nhwc {
		step, stride = 1, c
	}
	for i := range m.Label {
		top, label := v[i*stride], int32(0)
		for k := 1; k < c; k++ {
			x := v[i*stride+k*step]
			if math.IsNaN(x) || math.IsNaN(top) {
				label = -1
				break
			}
			if x > top {
				top, label = x, int32(k)
			}
		}
		m.Label[i] = label
	}
	return m, nil
}
