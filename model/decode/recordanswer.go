package decode

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"nero/data/space"
	"nero/data/tensor"
	"nero/model/onnx"
)

// answer is one output of a model as a field.
type answer struct {
	OutputField
	k *kind
	x onnx.Port
	// of the field
	name string
	// d reads scores, masks, images and tensors.
	d       *decoder
	batched bool
	// of rows, resolved
	per string
	// numbers of a row come before the rows
	swap bool
	// channels of a volume come last
	turn bool
	// number of rows per node that the model returns, -1 for any
	nodes int
	// rows beyond those of this field are cut off; nil if nothing is padded
	padded *feed
	notes  []string
}

// readAnswer fits one field to an output.
func (c *record) readAnswer(sig onnx.Signature, o OutputField, total int, kinds space.List) (*answer, error) {
	names := strings.Join(onnx.Names(sig.Outputs), ", ")
	a := &answer{OutputField: o, name: o.Name, per: o.Per, nodes: -1}
	want := o.Port
	switch {
	case want != "":
	case slices.Contains(onnx.Names(sig.Outputs), o.Name):
		want = o.Name
	case len(sig.Outputs) == 1 || total == 1:
		want = sig.Outputs[0].Name
		if len(sig.Outputs) > 1 {
			a.notes = append(a.notes,
				fmt.Sprintf("output %q is read, the first of %s; set port in output.fields to change it", want, names))
		}
	default:
		return nil, fmt.Errorf("output.fields: which output holds %q? The model has %s; set port", o.Name, names)
	}
	var ok bool
	if a.x, ok = sig.Output(want); !ok {
		return nil, fmt.Errorf("output.fields: the model has no output %q; there are %s", want, names)
	}
	if a.name == "" {
		a.name = a.x.Name
	}
	if a.Kind == "" {
		a.Kind = rowsKind.of
	}
	a.k = kindFor(a.Kind, kinds)
	if a.batched = c.batched; a.wordy() {
		return a, a.readWords()
	}
	if err := numbers(a.x); err != nil {
		return nil, err
	}
	switch a.Per {
	case "", space.PerNode, space.PerEdge, space.PerSample:
	default:
		return nil, fmt.Errorf("output.fields: per %q of %q is not known; say node, edge or sample", a.Per, a.name)
	}
	switch {
	case a.k.decoded != nil:
		p := port{axes: axes{n: 0}}
		if !c.batched {
			p.axes.n = -1
		}
		for _, f := range c.feeds {
			if f.img != nil {
				p.nhwc = f.img.nhwc
			}
		}
		var err error
		a.d, err = readOutput(a.k, a.x, OutputSpec{Space: a.Kind, Decode: o.Decode, Type: o.Type}, p)
		return a, err
	case a.k.laid == nil:
		return nil, fmt.Errorf(
			"output.fields: kind %q of %q is not known; say rows, scores, pairs, signal, volume, frames, image, mask "+
				"or "+
				"tensor", a.Kind, a.name)
	}
	if h := strings.ToLower(o.Decode); h != "" && h != raw {
		return nil, fmt.Errorf("output.fields: decode %q of %q does not make %s; leave it out", o.Decode, a.name,
			a.Kind)
	}
	return a, c.layAnswer(a)
}

// layAnswer finds out what the axes of an output mean.
func (c *record) layAnswer(a *answer) error {
	for _, f := range c.feeds {
		if f.constant() || f.k.fed.nodes == 0 || f.spec.Set != a.Set ||
			f.k.owned && (f.spec.Per == space.PerEdge || f.spec.Per == space.PerSample) {
			continue
		}
		if f.Pad > 0 && a.padded == nil {
			a.padded = f
		}
		n := f.Pad
		if n == 0 && f.x.Ranked {
			n = f.shape(c.batched)[0]
		}
		if n == 0 && len(f.spec.Shape) > 0 {
			n = f.spec.Shape[0]
		}
		if n > 1 && a.nodes < 0 {
			a.nodes = n
		}
	}
	k := a.k.laid
	if !a.x.Ranked {
		a.settle(c, nil)
		return nil
	}
	s := a.x.Sizes()
	what := fmt.Sprintf("output %s", a.x)
	if c.batched {
		if len(s) == 0 {
			return fmt.Errorf("%s is one number for the whole batch; nothing can be said of a single sample", what)
		}
		s = s[1:]
	}
	if slices.Contains(s, 0) {
		return fmt.Errorf("%s has no numbers", what)
	}
	a.settle(c, s)
	_, err := k.extent(a, s, what)
	return err
}

// settle decides what the axes of an output mean, and forgets padding where it has no rows per node.
func (a *answer) settle(c *record, s []int) {
	k := a.k.laid
	if k.settle != nil {
		k.settle(a, c, s)
	}
	if k.padded == nil || !k.padded(a) {
		a.padded = nil
	}
}

// spec describes the field.
func (a *answer) spec() space.Spec {
	if a.wordy() {
		return space.Spec{Name: a.name, Kind: a.Kind, Type: probabilities, Shape: []int{len(a.Words) + 1}}
	}
	if a.d != nil {
		s := a.d.spec()
		s.Name, s.Unit = a.name, a.Unit
		return s
	}
	s := space.Spec{
		Name: a.name, Kind: a.Kind, Type: a.Type, Per: a.per, Unit: a.Unit, Set: a.Set, Of: a.Of,
	}
	s.Shape = slices.Repeat([]int{-1}, a.k.laid.axes)
	if a.x.Ranked {
		d := a.x.Sizes()
		if a.batched {
			d = d[1:]
		}
		if e, err := a.k.laid.extent(a, d, ""); err == nil {
			s.Shape = slices.Clone(e)
		}
	}
	if a.padded != nil {
		for i := range a.k.fed.nodes {
			s.Shape[i] = -1
		}
	}
	return s
}

// Out describes an answer. The spec of a single value bears the name of the model's output, those of the fields of a
// record their own names.
func (c *record) Out() space.Spec {
	if len(c.answers) == 1 {
		s := c.answers[0].spec()
		s.Name = c.answers[0].x.Name
		return s
	}
	s := space.Spec{Kind: space.KindRecord}
	for _, a := range c.answers {
		s.Fields = append(s.Fields, a.spec())
	}
	return s
}

// Decode splits the outputs of a batch of n into n predictions. It refuses outputs per node of padded inputs, whose
// samples it would have to know: see [DecodeFor].
func (c *record) Decode(out []tensor.Named, n int) ([]space.Value, error) {
	for _, a := range c.answers {
		if a.padded != nil {
			return nil, fmt.Errorf("output %q has a row for every padded row; the samples tell which to keep", a.x.Name)
		}
	}
	return c.decode(out, n, nil)
}

func (c *record) decodeFor(out []tensor.Named, batch []space.Value) ([]space.Value, error) {
	return c.decode(out, len(batch), batch)
}

func (c *record) decode(out []tensor.Named, n int, batch []space.Value) ([]space.Value, error) {
	rows := n
	if c.batch > 0 {
		rows = c.batch
	}
	if len(c.answers) == 1 {
		return c.answers[0].decode(out, n, rows, batch)
	}
	all, records, fields := make([]space.Value, n), make([]space.Record, n), len(c.answers)
	names, values := make([]string, fields), make([]space.Value, n*fields)
	for k, a := range c.answers {
		v, err := a.decode(out, n, rows, batch)
		if err != nil {
			return nil, err
		}
		names[k] = a.name
		for i := range v {
			values[i*fields+k] = v[i]
		}
	}
	for i := range all {
		records[i] = space.Record{Names: names, Values: values[i*fields : (i+1)*fields : (i+1)*fields]}
		all[i] = &records[i]
	}
	return all, nil
}

// decode splits one output.
func (a *answer) decode(out []tensor.Named, n, rows int, batch []space.Value) ([]space.Value, error) {
	if a.d != nil {
		return a.d.decode(out, n, rows)
	}
	at := slices.IndexFunc(out, func(t tensor.Named) bool { return t.Name == a.x.Name })
	if at < 0 {
		return nil, fmt.Errorf("the model returned no output %q", a.x.Name)
	}
	t := out[at]
	if a.wordy() {
		return a.said(t, n, rows)
	}
	if n < 1 || n > rows {
		return nil, fmt.Errorf("%d predictions out of a batch of %d", n, rows)
	}
	s := t.Shape
	what := func() string { return fmt.Sprintf("output %q of shape %v", a.x.Name, t.Shape) }
	if a.x.Ranked && !agrees(a.x.Sizes(), s) {
		return nil, fmt.Errorf("%s is not what the model declares, %s", what(), sizes(a.x.Sizes()))
	}
	if a.batched {
		if len(s) == 0 || s[0] != rows {
			return nil, fmt.Errorf("%s for a batch of %d; its first axis should count the samples", what(), rows)
		}
		s = s[1:]
	}
	if slices.Contains(s, 0) {
		return nil, fmt.Errorf("%s has no numbers", what())
	}
	e, err := a.k.laid.extent(a, s, "")
	if err != nil {
		_, err = a.k.laid.extent(a, s, what()) // in words
		return nil, err
	}
	val, err := t.Float64s(nil)
	if err != nil {
		return nil, fmt.Errorf("output %q: %w", a.x.Name, err)
	}
	per := tensor.Count(s)
	values := make([]space.Value, n)
	for i := range values {
		v := val[i*per : (i+1)*per : (i+1)*per]
		if a.swap && len(s) == 2 {
			v = transposed(v, s[0], s[1])
		}
		keep := -1
		if a.padded != nil && batch != nil {
			if keep, err = a.count(batch[i], e[0]); err != nil {
				return nil, fmt.Errorf("%s, sample %d: %w", what(), i, err)
			}
		}
		values[i] = a.k.laid.value(a, v, e, keep)
	}
	return values, nil
}

// count is the number of nodes of a sample.
func (a *answer) count(sample space.Value, have int) (int, error) {
	v, err := a.padded.value(sample)
	if err != nil {
		return 0, err
	}
	counted, ok := v.(space.Counted)
	if !ok || v.Kind() != a.padded.Kind {
		return 0, fmt.Errorf("field %q is %s, want %s", cmpName(a.padded.InputField), kindOf(v), a.padded.Kind)
	}
	n := counted.Count()
	if n > have {
		return 0, fmt.Errorf("%d rows for %d nodes", have, n)
	}
	return n, nil
}

// raw is the transpose of decode for the number of rows that a model returns.
func (a *answer) raw(values []space.Value) (tensor.Named, error) {
	if a.wordy() {
		return tensor.Named{}, fmt.Errorf("output %q: %w: %w", a.x.Name, errWords, ErrNotLinear)
	}
	if a.d != nil {
		return a.d.raw(values)
	}
	if len(values) == 0 {
		return tensor.Named{}, errors.New("no predictions")
	}
	if !a.batched && len(values) != 1 {
		return tensor.Named{}, fmt.Errorf("output %q has no batch axis, there are %d predictions", a.x.Name,
			len(values))
	}
	var all []float64
	var shape []int
	for i, v := range values {
		x, s, err := a.rawOne(v)
		if err == nil && i > 0 && !slices.Equal(s, shape) {
			err = fmt.Errorf("the shape %v, the first has %v", s, shape)
		}
		if err != nil {
			return tensor.Named{}, fmt.Errorf("output %q, prediction %d: %w", a.x.Name, i, err)
		}
		all, shape = append(all, x...), s
	}
	if a.batched {
		shape = append([]int{len(values)}, shape...)
	}
	return float64s(a.x.Name, all, shape...)
}

// rawOne is one value as the model returns it, with its shape.
func (a *answer) rawOne(v space.Value) ([]float64, []int, error) {
	if v == nil || v.Kind() != a.Kind {
		return nil, nil, fmt.Errorf("is %s, want %s", kindOf(v), a.Kind)
	}
	declared := -1 // number of axes
	if a.x.Ranked {
		if declared = len(a.x.Shape); a.batched {
			declared--
		}
	}
	if check := a.k.laid.check; check != nil {
		if err := check(v); err != nil {
			return nil, nil, err
		}
	}
	x, e := v.Numbers(), v.Dims()
	if tensor.Count(e) != len(x) {
		return nil, nil, fmt.Errorf("%d numbers for the shape %v", len(x), e)
	}
	if a.padded != nil {
		var err error
		if x, e, err = a.widen(x, e); err != nil {
			return nil, nil, err
		}
	}
	if y, s, ok := a.k.laid.unfold(a, x, e, declared); ok {
		return y, s, nil
	}
	return nil, nil, fmt.Errorf("the shape %v does not fit output %s", e, a.x)
}

// widen is the transpose of cutting off what was padded.
func (a *answer) widen(x []float64, e []int) ([]float64, []int, error) {
	f := feed{InputField: InputField{Field: a.name, Pad: a.padded.Pad}, k: a.k}
	y, wide, err := f.pad(x, extent{e})
	return y, wide.shape, err
}

// Raw is the transpose of Decode for a codec of one output, see [Tangents].
func (c *record) Raw(predictions []space.Value) (tensor.Named, error) {
	if len(c.answers) != 1 {
		return tensor.Named{},
			fmt.Errorf("an answer has %d fields, not one output; take them all by Raws or one by Select",
				len(c.answers))
	}
	return c.answers[0].raw(predictions)
}

func (c *record) raws(predictions []space.Value) ([]tensor.Named, error) {
	if len(c.answers) == 1 {
		t, err := c.answers[0].raw(predictions)
		return []tensor.Named{t}, err
	}
	out := make([]tensor.Named, len(c.answers))
	for k, a := range c.answers {
		part := make([]space.Value, len(predictions))
		for i, p := range predictions {
			r, ok := p.(*space.Record)
			if !ok {
				return nil, fmt.Errorf("prediction %d is %s, want a record of %d fields", i, kindOf(p), len(c.answers))
			}
			if part[i] = r.Field(a.name); part[i] == nil {
				return nil, fmt.Errorf("prediction %d has no field %q", i, a.name)
			}
		}
		var err error
		if out[k], err = a.raw(part); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Plain is the codec without softmax.
func (c *record) Plain() Codec {
	p := *c
	p.answers = nil
	for _, a := range c.answers {
		b := *a
		if a.d != nil {
			if d, ok := a.d.plain().(*decoder); ok {
				b.d = d
			}
		}
		p.answers = append(p.answers, &b)
	}
	return &p
}

// outputs are the model's outputs that the codec reads.
func (c *record) outputs() []string {
	out := make([]string, len(c.answers))
	for i, a := range c.answers {
		out[i] = a.x.Name
	}
	return out
}

// inputs are the model's inputs through which changes pass.
func (c *record) inputs() []string {
	out := []string{}
	for _, f := range c.feeds {
		if f.moves() {
			out = append(out, f.x.Name)
		}
	}
	return out
}

// only is the codec of one field of the answer.
func (c *record) only(name string) (Codec, error) {
	for _, a := range c.answers {
		if a.name == name || len(c.answers) == 1 && a.x.Name == name {
			o := *c
			o.answers = []*answer{a}
			return &o, nil
		}
	}
	names := make([]string, len(c.answers))
	for i, a := range c.answers {
		names[i] = a.name
	}
	return nil, fmt.Errorf("an answer has no field %q; there are %s", name, strings.Join(names, ", "))
}

// DecodeFor is Decode for a batch whose samples are at hand, as codecs need them that pad: rows of the answer beyond
// those of the sample are cut off. For every other codec it is the same as Decode.
func DecodeFor(c Codec, out []tensor.Named, batch []space.Value) ([]space.Value, error) {
	if r, ok := c.(*record); ok {
		return r.decodeFor(out, batch)
	}
	return c.Decode(out, len(batch))
}

// Select is the codec that reads one field of the answer alone, whose predictions are the values of that field. A codec
// whose answers are no records has only the name of its output.
func Select(c Codec, name string) (Codec, error) {
	if r, ok := c.(*record); ok {
		return r.only(name)
	}
	if o := c.Out().Name; name != o {
		return nil, fmt.Errorf("an answer has no field %q; it is the output %q", name, o)
	}
	return c, nil
}

// Raws is [Raw] for answers of several fields: one tensor per output that the codec reads, in the order of [Outputs].
func Raws(c Codec, predictions []space.Value) ([]tensor.Named, error) {
	if r, ok := c.(*record); ok {
		return r.raws(predictions)
	}
	t, err := Raw(c, predictions)
	if err != nil {
		return nil, err
	}
	return []tensor.Named{t}, nil
}

// Outputs are the names of the model's outputs that a codec reads, in the order of the fields of an answer.
func Outputs(c Codec) []string {
	if r, ok := c.(*record); ok {
		return r.outputs()
	}
	if x, ok := c.(*codec); ok {
		if several, ok := x.d.(interface{ reads() []string }); ok {
			return several.reads()
		}
	}
	return []string{c.Out().Name}
}

// Moving are the names of the model's inputs through which changes of samples pass: those of floating-point numbers
// that are no constants. all are the model's inputs, which are the answer for codecs that do not say.
func Moving(c Codec, all []string) []string {
	if r, ok := c.(*record); ok {
		return r.inputs()
	}
	return all
}

// Whole are the names of the fields of a sample that must hold whole numbers, because they go to inputs of integers:
// species, edges. Who disturbs samples has to leave them as they are. The name is "" for a sample that is no record.
func Whole(c Codec) []string {
	r, ok := c.(*record)
	if !ok {
		return nil
	}
	var out []string
	for _, f := range r.feeds {
		if !f.constant() && !floating(f.dtype) && !slices.Contains(out, f.Field) {
			out = append(out, f.Field)
		}
	}
	return out
}

// Shared are the names of the model's inputs that hold the same for all samples of a batch and have no axis for them:
// constants.
func Shared(c Codec) []string {
	r, ok := c.(*record)
	if !ok || !r.batched {
		return nil
	}
	var out []string
	for _, f := range r.feeds {
		if f.constant() && !f.perSample() {
			out = append(out, f.x.Name)
		}
	}
	return out
}

var (
	_ Codec    = (*record)(nil)
	_ Tangents = (*record)(nil)
)
