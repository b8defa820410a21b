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
	// number of rows per node that the model returns, -1 for any
	nodes int
	// rows beyond those of this field are cut off; nil if nothing is padded
	padded *feed
	notes  []string
}

// readAnswer fits one field to an output.
func (c *record) readAnswer(sig onnx.Signature, o OutputField, total int) (*answer, error) {
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
		a.Kind = space.KindRows
	}
	if err := numbers(a.x); err != nil {
		return nil, err
	}
	switch a.Per {
	case "", space.PerNode, space.PerEdge, space.PerSample:
	default:
		return nil, fmt.Errorf("output.fields: per %q of %q is not known; say node, edge or sample", a.Per, a.name)
	}
	a.batched = c.batched
	switch a.Kind {
	case space.KindScores, space.KindMask, space.KindImage, space.KindTensor:
		p := port{axes: axes{n: 0}}
		if !c.batched {
			p.axes.n = -1
		}
		for _, f := range c.feeds {
			if f.img != nil {
				p.nhwc = f.img.nhwc
			}
		}
		d, err := readOutput(a.x, OutputSpec{Space: a.Kind, Decode: o.Decode, Type: o.Type}, p)
		if err != nil {
			return nil, err
		}
		a.d = &d
		return a, nil
	case space.KindRows, space.KindPairs, space.KindSignal, space.KindFrames:
	case space.KindBoxes, space.KindField, space.KindLinks, space.KindRecord:
		fallthrough
	default:
		return nil, fmt.Errorf(
			"output.fields: kind %q of %q is not known; say rows, scores, pairs, signal, frames, image, mask or tensor",
			a.Kind, a.name)
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
		if f.constant() || f.Kind != space.KindRows && f.Kind != space.KindPairs {
			continue
		}
		if f.Kind == space.KindRows && (f.spec.Per == space.PerEdge || f.spec.Per == space.PerSample) {
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
	if !a.x.Ranked {
		if a.Kind == space.KindRows && a.per == "" {
			a.per = space.PerSample
			a.notes = append(a.notes,
				fmt.Sprintf("output %q: the file does not say its shape; its rows are taken for those of the sample, "+
					"set per in output.fields to change it", a.x.Name))
		}
		a.drop()
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
	if a.Kind == space.KindRows {
		a.layRows(c, s)
	}
	if a.Kind == space.KindSignal && len(s) == 2 {
		for _, f := range c.feeds {
			a.swap = a.swap || f.Kind == space.KindSignal && f.form.swap
		}
		if a.swap {
			a.notes = append(a.notes, what+": time comes before the channels, as in the input")
		}
	}
	a.drop()
	_, err := a.extent(s, what)
	return err
}

// drop forgets padding where the output has no rows per node.
func (a *answer) drop() {
	if a.Kind == space.KindRows && a.per != space.PerNode || a.Kind == space.KindSignal || a.Kind == space.KindFrames {
		a.padded = nil
	}
}

// layRows decides what rows belong to and whether they stand along the last axis.
func (a *answer) layRows(c *record, s []int) {
	node := func(n int) bool { return n < 0 || n == a.nodes }
	swapped := false
	for _, f := range c.feeds {
		swapped = swapped || f.Kind == space.KindRows && f.form.swap
	}
	flip := swapped && len(s) == 2 && s[0] > 0 && s[0] != a.nodes && node(s[1])
	if a.per == "" {
		switch {
		case len(s) < 2 || a.nodes == 1 || a.squared(s) && len(s) == 2:
			a.per = space.PerSample
		case node(s[0]) || flip:
			a.per = space.PerNode
		default:
			a.per = space.PerSample
		}
		if len(s) >= 2 && s[0] != a.nodes {
			a.notes = append(a.notes,
				fmt.Sprintf("output %s: its rows are taken for those of the %ss; set per in output.fields to change it",
					a.x, a.per))
		}
	}
	if flip && a.per == space.PerNode {
		a.swap = true
		a.notes = append(a.notes, fmt.Sprintf("output %s: its rows stand along the last axis, as in the input", a.x))
	}
}

// squared tells whether the last two axes are the sides of a square of numbers that belong together.
func (a *answer) squared(s []int) bool {
	n := len(s)
	return (a.Type == space.TypeTensors || a.Type == space.TypePoses) && n >= 2 && s[n-1] == s[n-2] && s[n-1] > 1
}

// extent is the shape of the value that one sample of an output makes.
func (a *answer) extent(s []int, what string) ([]int, error) {
	times := func(v ...int) int {
		n := 1
		for _, x := range v {
			if x < 0 {
				return -1
			}
			n *= x
		}
		return n
	}
	switch a.Kind {
	case space.KindRows:
		switch {
		case a.swap && len(s) == 2:
			return []int{s[1], s[0]}, nil
		case a.squared(s) && len(s) == 2 && a.per == space.PerSample:
			return []int{1, times(s...)}, nil
		case len(s) == 0:
			return []int{1, 1}, nil
		case len(s) == 1 && a.per == space.PerSample:
			return []int{1, s[0]}, nil
		case len(s) == 1:
			return []int{s[0], 1}, nil
		case len(s) == 2, len(s) == 3 && a.squared(s):
			return []int{s[0], times(s[1:]...)}, nil
		}
		return nil, fmt.Errorf(
			"%s has %d axes per sample; rows have two, [rows, numbers], or one; set kind in output.fields, or type: "+
				"tensors where rows are squares", what, len(s))
	case space.KindPairs:
		if len(s) < 2 || len(s) > 3 || s[0] != s[1] && s[0] > 0 && s[1] > 0 {
			return nil, fmt.Errorf(
				"%s holds no pairs: want [nodes, nodes] or [nodes, nodes, numbers] per sample; set kind in "+
					"output.fields", what)
		}
		n := max(s[0], s[1])
		if len(s) == 2 {
			return []int{n, n, 1}, nil
		}
		return []int{n, n, s[2]}, nil
	case space.KindSignal:
		switch {
		case len(s) == 1:
			return []int{1, s[0]}, nil
		case len(s) == 2 && a.swap:
			return []int{s[1], s[0]}, nil
		case len(s) == 2:
			return s, nil
		}
		return nil, fmt.Errorf(
			"%s has %d axes per sample; a signal has [channels, time], or time alone; set kind in output.fields", what,
			len(s))
	case space.KindFrames:
		switch len(s) {
		case 3:
			return []int{s[0], 1, s[1], s[2]}, nil
		case 4:
			return s, nil
		}
	// never here
	case space.KindImage, space.KindMask, space.KindScores, space.KindTensor, space.KindBoxes, space.KindField,
		space.KindLinks, space.KindRecord:
	}
	return nil, fmt.Errorf(
		"%s has %d axes per sample; frames have [time, channels, height, width]; set kind in output.fields", what,
		len(s))
}

// spec describes the field.
func (a *answer) spec() space.Spec {
	if a.d != nil {
		s := a.d.spec()
		s.Name, s.Unit = a.name, a.Unit
		return s
	}
	s := space.Spec{Name: a.name, Kind: a.Kind, Type: a.Type, Per: a.per, Unit: a.Unit}
	n := map[space.Kind]int{space.KindRows: 2, space.KindPairs: 3, space.KindSignal: 2, space.KindFrames: 4}[a.Kind]
	s.Shape = slices.Repeat([]int{-1}, n)
	if a.x.Ranked {
		d := a.x.Sizes()
		if a.batched {
			d = d[1:]
		}
		if e, err := a.extent(d, ""); err == nil {
			s.Shape = slices.Clone(e)
		}
	}
	if a.padded != nil {
		s.Shape[0] = -1
		if a.Kind == space.KindPairs {
			s.Shape[1] = -1
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
	all := make([]space.Value, n)
	for i := range all {
		all[i] = &space.Record{Names: make([]string, 0, len(c.answers)), Values: make([]space.Value, 0, len(c.answers))}
	}
	for _, a := range c.answers {
		v, err := a.decode(out, n, rows, batch)
		if err != nil {
			return nil, err
		}
		for i := range v {
			r, _ := all[i].(*space.Record)
			r.Names, r.Values = append(r.Names, a.name), append(r.Values, v[i])
		}
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
	if n < 1 || n > rows {
		return nil, fmt.Errorf("%d predictions out of a batch of %d", n, rows)
	}
	s := t.Shape
	what := fmt.Sprintf("output %q of shape %v", a.x.Name, s)
	if a.x.Ranked && !agrees(a.x.Sizes(), s) {
		return nil, fmt.Errorf("%s is not what the model declares, %s", what, sizes(a.x.Sizes()))
	}
	if a.batched {
		if len(s) == 0 || s[0] != rows {
			return nil, fmt.Errorf("%s for a batch of %d; its first axis should count the samples", what, rows)
		}
		s = s[1:]
	}
	if slices.Contains(s, 0) {
		return nil, fmt.Errorf("%s has no numbers", what)
	}
	e, err := a.extent(s, what)
	if err != nil {
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
				return nil, fmt.Errorf("%s, sample %d: %w", what, i, err)
			}
		}
		values[i] = a.value(v, e, keep)
	}
	return values, nil
}

// count is the number of nodes of a sample.
func (a *answer) count(sample space.Value, have int) (int, error) {
	v, err := a.padded.value(sample)
	if err != nil {
		return 0, err
	}
	n := 0
	switch v := v.(type) {
	case *space.Rows:
		n = v.N
	case *space.Pairs:
		n = v.N
	default:
		return 0, fmt.Errorf("field %q is %s, want %s", cmpName(a.padded.InputField), kindOf(v), a.padded.Kind)
	}
	if n > have {
		return 0, fmt.Errorf("%d rows for %d nodes", have, n)
	}
	return n, nil
}

// value makes the value of one sample; keep is the number of rows that stay, below 0 for all.
func (a *answer) value(v []float64, e []int, keep int) space.Value {
	switch a.Kind {
	case space.KindRows:
		r := &space.Rows{N: e[0], W: e[1], Val: v}
		if keep >= 0 {
			r.N, r.Val = keep, v[:keep*e[1]:keep*e[1]]
		}
		return r
	case space.KindPairs:
		p := &space.Pairs{N: e[0], W: e[2], Val: v}
		if keep >= 0 && keep < e[0] {
			q := space.NewPairs(keep, e[2])
			for i := range keep {
				copy(q.Val[i*keep*e[2]:(i+1)*keep*e[2]], v[i*e[0]*e[2]:])
			}
			return q
		}
		return p
	case space.KindSignal:
		return &space.Signal{C: e[0], T: e[1], Rate: a.Rate, Val: v}
	case space.KindFrames:
		f := &space.Frames{Images: make([]*space.Image, e[0])}
		one := e[1] * e[2] * e[3]
		for t := range f.Images {
			f.Images[t] = &space.Image{C: e[1], H: e[2], W: e[3], Pix: v[t*one : (t+1)*one : (t+1)*one]}
		}
		return f
	// never here
	case space.KindImage, space.KindMask, space.KindScores, space.KindTensor, space.KindBoxes, space.KindField,
		space.KindLinks, space.KindRecord:
	}
	return nil
}

// raw is the transpose of decode for the number of rows that a model returns.
func (a *answer) raw(values []space.Value) (tensor.Named, error) {
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
	var x []float64
	var e []int
	switch v := v.(type) {
	case *space.Rows:
		x, e = v.Val, []int{v.N, v.W}
	case *space.Pairs:
		x, e = v.Val, []int{v.N, v.N, v.W}
	case *space.Signal:
		x, e = v.Val, []int{v.C, v.T}
	case *space.Frames:
		e = []int{len(v.Images), 0, 0, 0}
		for _, m := range v.Images {
			if e[1] > 0 && !slices.Equal(e[1:], []int{m.C, m.H, m.W}) {
				return nil, nil, errors.New("frames of several sizes")
			}
			e[1], e[2], e[3] = m.C, m.H, m.W
			x = append(x, m.Pix...)
		}
	}
	if tensor.Count(e) != len(x) {
		return nil, nil, fmt.Errorf("%d numbers for the shape %v", len(x), e)
	}
	if a.padded != nil {
		var err error
		if x, e, err = a.widen(x, e); err != nil {
			return nil, nil, err
		}
	}
	return a.unfold(x, e, declared)
}

// widen is the transpose of cutting off what was padded.
func (a *answer) widen(x []float64, e []int) ([]float64, []int, error) {
	f := feed{InputField: InputField{Field: a.name, Pad: a.padded.Pad}}
	f.Kind = a.Kind
	y, wide, err := f.pad(x, extent{a.Kind, e})
	return y, wide.shape, err
}

// unfold gives numbers the axes that the model has.
func (a *answer) unfold(x []float64, e []int, declared int) ([]float64, []int, error) {
	switch a.Kind {
	case space.KindRows:
		d := square(e[1])
		switch {
		case a.swap && declared == 2:
			return transposed(x, e[0], e[1]), []int{e[1], e[0]}, nil
		case declared == 0 && len(x) == 1:
			return x, []int{}, nil
		case declared == 1 && a.per == space.PerSample && e[0] == 1, declared == 1 && e[1] == 1,
			declared < 0 && e[0] == 1 && a.per == space.PerSample:
			return x, []int{len(x)}, nil
		case declared == 2 && e[0] == 1 && d > 1 && a.squared([]int{d, d}) && a.per == space.PerSample && a.sidesOf(d):
			return x, []int{d, d}, nil
		case declared == 3 && d > 1:
			return x, []int{e[0], d, d}, nil
		case declared == 2 || declared < 0:
			return x, e, nil
		}
	case space.KindPairs:
		if declared == 2 && e[2] == 1 {
			return x, e[:2], nil
		}
		if declared != 2 {
			return x, e, nil
		}
	case space.KindSignal:
		switch {
		case declared == 1 && e[0] == 1:
			return x, e[1:], nil
		case declared == 2 && a.swap:
			return transposed(x, e[0], e[1]), []int{e[1], e[0]}, nil
		case declared != 1:
			return x, e, nil
		}
	case space.KindFrames:
		if declared == 3 && e[1] == 1 {
			return x, []int{e[0], e[2], e[3]}, nil
		}
		if declared != 3 {
			return x, e, nil
		}
	// never here
	case space.KindImage, space.KindMask, space.KindScores, space.KindTensor, space.KindBoxes, space.KindField,
		space.KindLinks, space.KindRecord:
	}
	return nil, nil, fmt.Errorf("the shape %v does not fit output %s", e, a.x)
}

// sidesOf tells whether the output's own axes are the sides of a square of this length.
func (a *answer) sidesOf(d int) bool {
	s := a.x.Sizes()
	return len(s) >= 2 && s[len(s)-1] == d && s[len(s)-2] == d
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
