package decode

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"nero/data/space"
	"nero/data/tensor"
	"nero/model/onnx"
)

// RecordSpec says which field of a sample goes to which input of a model, and which output becomes which field of an
// answer.
type RecordSpec struct {
	// Sample describes the data: a record with its fields, or one value. Shapes are those of the values' parts, with
	// lengths <= 0 for any; the zero Spec admits whatever the model's inputs admit.
	Sample space.Spec
	// Inputs are what the model is fed with. nil feeds the whole sample to the only input, or each input with the field
	// of its name.
	Inputs []InputField
	// Outputs are the fields of an answer. One makes answers that are its value, several make records. nil is the first
	// output, as scores.
	Outputs []OutputField
	// Pixels says how fields that are images or frames become arrays. Its Sample and Frames follow the field where they
	// are not set.
	Pixels InputSpec
	// Kinds are those of values beside [space.Kinds], whose numbers are fed and answered as they lie.
	Kinds space.List
}

// InputField is what one input of a model is fed with.
type InputField struct {
	// of the record; "" for the whole sample
	Field string
	// the model's input; "" for the one that is called like the field, or the only one
	Port string
	// rows, links, pairs, signal, volume, frames, image or tensor; "" for that of the data, rows if they do not say
	Kind space.Kind
	// rows and pairs: zeros are added up to this many rows (and columns, of pairs); 0 for none
	Pad int
	// Value is fed in place of a field: the same numbers for every sample, one for all elements or all of them in
	// row-major order. It never moves; what a group should move belongs into the samples.
	Value []float64
	// of Value, without the axis of the samples, where the model's input has free axes
	Shape []int
}

// OutputField is one output of a model as a field of an answer.
type OutputField struct {
	// of the field; "" for the output's own
	Name string
	// the model's output; "" for the one that is called like the field, or the only one
	Port string
	// rows, scores, pairs, signal, volume, frames, image, mask or tensor; "" for rows
	Kind space.Kind
	// Decode is as in [OutputSpec.Decode], for scores, masks and images.
	Decode string
	// of rows and pairs, see [space.TypePositions]; of scores ignored
	Type string
	// Per says what a row belongs to, see [space.PerNode]. "" is per node if the output has as many rows as the inputs
	// have nodes, or an axis of free length for them, else per sample.
	Per  string
	Unit string
	// Words are what the classes are called where an output holds texts, which are made scores by them.
	Words []string
	// Set and Of are as in [space.Spec].
	Set, Of int
	// of signals: numbers per second of a channel; 0 if not known
	Rate float64
}

// NewRecord makes the codec of a model that reads points, graphs, signals, volumes or records of several fields. It
// reads the signature only and refuses whatever can be refused before anything runs: an input that nothing feeds,
// lengths that cannot agree. Errors say what the model wants, what the data has and which field of the study to set;
// they do not name the model's file.
//
// The axis of the samples comes first in every input and output, or in none: a graph whose edges are one list of shape
// [2, edges] is read one sample at a time ([BatchLimit] is 1). Rows of shape (n, w) are fed as [N, n, w], transposed as
// [N, w, n], flat as [N, n·w], or with rows of squares as [N, n, d, d]; links as [2, edges] or [edges, 2]; pairs as [N,
// n, n], [N, n, n, w] or [N, w, n, n]; signals as [N, channels, time], [N, time, channels] or [N, time]; volumes as [N,
// channels, depth, height, width], with the channels last or without them; each without N where there is none. What had
// to be guessed is in [Notes].
//
// All values of one batch have the same shapes, but for fields with padding. A codec that pads has to be decoded by
// [DecodeFor].
func NewRecord(sig onnx.Signature, spec RecordSpec) (Codec, error) {
	c := &record{whole: spec.Sample}
	fields, err := assign(sig, spec)
	if err != nil {
		return nil, err
	}
	if err := c.readFeeds(sig, spec, fields); err != nil {
		return nil, err
	}
	for _, f := range c.feeds {
		c.notes = append(c.notes, f.notes...)
	}
	outs := spec.Outputs
	if len(sig.Outputs) == 0 {
		return nil, errors.New("the model has no output")
	}
	if len(outs) == 0 {
		outs = []OutputField{{Port: sig.Outputs[0].Name, Kind: scoresKind.of}}
	}
	for i, o := range outs {
		a, err := c.readAnswer(sig, o, len(outs), spec.Kinds)
		if err != nil {
			return nil, err
		}
		for _, b := range c.answers {
			if b.name == a.name {
				return nil, fmt.Errorf("output.fields[%d]: %q stands there twice; give the fields distinct names", i,
					a.name)
			}
		}
		c.answers = append(c.answers, a)
		c.notes = append(c.notes, a.notes...)
	}
	c.describe()
	return c, nil
}

// record is the codec of NewRecord.
type record struct {
	// what samples are, as far as the study knows
	whole space.Spec
	// in the model's order
	feeds   []*feed
	answers []*answer
	in      space.Spec
	batched bool
	// length of a fixed batch axis, 0 for free
	batch int
	notes []string
}

// feed is one input of the model and what is fed to it.
type feed struct {
	InputField
	k     *kind
	x     onnx.Port
	dtype tensor.DType
	// of the field's values
	spec space.Spec
	form form
	// of images and frames
	img   *encoder
	fixed []float64
	notes []string
}

// form is how the numbers of one sample lie in an input: a letter per axis. r, w: rows and numbers of each; i: nodes of
// pairs; 2, e: ends and edges; c, t: channels and time; f: all of them in their own order; x: a side of a square of w
// numbers; D, H, W: slices, rows and columns of voxels.
type form struct {
	axes string
	// the last axis of the value comes first
	swap bool
	// the first axis of the value comes last
	turn bool
	// axes of the value that the form has not, and that must have the length 1
	ones string
}

// extent is the lengths that a value has, as its dims are; -1 for any.
type extent struct{ shape []int }

// known is what a spec says of the lengths of a kind.
func (k *fed) known(s space.Spec) extent {
	e := extent{shape: slices.Clone(s.Shape)}
	if k.axes == 0 {
		return e
	}
	for len(e.shape) < k.axes {
		e.shape = append(e.shape, -1)
	}
	e.shape = e.shape[:k.axes]
	for i, x := range e.shape {
		if x <= 0 {
			e.shape[i] = -1
		}
	}
	if k.first > 0 {
		e.shape[0] = k.first
	}
	return e
}

// length is that of an axis by its letter.
func (e extent) length(axis byte) int {
	s := e.shape
	all := func() int {
		n := 1
		for _, x := range s {
			if x < 0 {
				return -1
			}
			n *= x
		}
		return n
	}
	switch axis {
	case 'r', 'c', 'i', '2':
		return s[0]
	case 'w':
		return s[len(s)-1]
	case 'e', 't', 'D':
		return s[1]
	case 'H':
		return s[2]
	case 'W':
		return s[3]
	case 'x':
		if s[1] < 0 {
			return -1
		}
		return square(s[1])
	}
	return all()
}

// square is the side of a square of n numbers, 0 if n is no square.
func square(n int) int {
	d := int(math.Round(math.Sqrt(float64(n))))
	if d*d != n {
		return 0
	}
	return d
}

// fit tells whether values of these lengths go into an input of the declared ones in a form. match counts the lengths
// that agree by more than being free, strain what had to be assumed.
func (e extent) fit(f form, declared []int) (match, strain int, ok bool) {
	if f.axes == "*" {
		return 0, 0, len(e.shape) == 0 || agrees(declared, e.shape) ||
			slices.ContainsFunc(e.shape, func(n int) bool { return n <= 0 }) && len(declared) == len(e.shape)
	}
	if len(f.axes) != len(declared) {
		return 0, 0, false
	}
	for i := range declared {
		have, want := e.length(f.axes[i]), declared[i]
		switch {
		case have == 0, want == 0, have > 0 && want > 0 && have != want:
			return 0, 0, false
		case have > 0 && want > 0:
			match++
		}
	}
	switch {
	case f.ones != "":
		ok = true
		for _, axis := range []byte(f.ones) {
			n := e.length(axis)
			if n < 0 {
				strain++
			}
			if ok = n < 0 || n == 1; !ok {
				break
			}
		}
	case f.axes == "f":
		ok = true
		// Flat is natural where only one axis is longer than 1.
		long := 0
		for _, n := range e.shape {
			if n != 1 {
				long++
			}
		}
		if long > 1 {
			strain++
		}
		if d := declared[0]; d > 0 { // what is known must divide it
			n := 1
			for _, x := range e.shape {
				if x > 0 {
					n *= x
				}
			}
			ok = d%n == 0
		}
	default:
		ok = true
	}
	return match, strain, ok
}

// assign finds the field of every input, in the model's order.
func assign(sig onnx.Signature, spec RecordSpec) ([]InputField, error) {
	if len(sig.Inputs) == 0 {
		return nil, errors.New("the model has no input; it returns the same whatever the data")
	}
	in := spec.Inputs
	if len(in) == 0 {
		in = guess(sig, spec.Sample)
	}
	out := make([]InputField, len(sig.Inputs))
	taken := make([]bool, len(sig.Inputs))
	names := strings.Join(onnx.Names(sig.Inputs), ", ")
	for i, f := range in {
		var at int
		switch {
		case f.Port != "":
			if at = slices.IndexFunc(sig.Inputs, func(p onnx.Port) bool { return p.Name == f.Port }); at < 0 {
				if slices.ContainsFunc(sig.Defaults, func(p onnx.Port) bool { return p.Name == f.Port }) {
					return nil, fmt.Errorf(
						"input.fields[%d].port: %q has a value in the file (an initializer) and is not fed; leave it "+
							"out", i, f.Port)
				}
				return nil, fmt.Errorf("input.fields[%d].port: the model has no input %q; there are %s", i, f.Port,
					names)
			}
		case slices.Contains(onnx.Names(sig.Inputs), f.Field):
			at = slices.Index(onnx.Names(sig.Inputs), f.Field)
		case len(sig.Inputs) == 1:
			at = 0
		default:
			return nil, fmt.Errorf("input.fields[%d]: which input takes %q? The model has %s; set port", i, f.Field,
				names)
		}
		if taken[at] {
			return nil, fmt.Errorf("input.fields[%d]: input %q is fed already; name each input once", i,
				sig.Inputs[at].Name)
		}
		f.Port = sig.Inputs[at].Name
		out[at], taken[at] = f, true
	}
	for i, ok := range taken {
		if !ok {
			x := sig.Inputs[i]
			return nil, fmt.Errorf(
				"nothing feeds input %s; write into input.fields: {name: %s, port: %s, type: TYPE}, "+
					"where name is a field of the data%s and TYPE says how it moves (unchanged if it does not), or "+
					"give it a value", x, field(x.Name), x.Name, has(spec.Sample))
		}
	}
	return out, nil
}

// guess feeds the sample to the only input, or the inputs with the fields of their names.
func guess(sig onnx.Signature, s space.Spec) []InputField {
	if !s.IsRecord() {
		if len(sig.Inputs) == 1 {
			return []InputField{{}}
		}
		return nil
	}
	var in []InputField
	for _, f := range s.Fields {
		if _, ok := sig.Input(f.Name); ok {
			in = append(in, InputField{Field: f.Name, Port: f.Name})
		}
	}
	if len(in) == 0 && len(s.Fields) == 1 && len(sig.Inputs) == 1 {
		in = append(in, InputField{Field: s.Fields[0].Name})
	}
	return in
}

func field(name string) string {
	if name == "" {
		return "FIELD"
	}
	return name
}

// has lists the fields of a record for messages.
func has(s space.Spec) string {
	if len(s.Fields) == 0 {
		return ""
	}
	names := make([]string, len(s.Fields))
	for i, f := range s.Fields {
		names[i] = f.Name
	}
	return " (" + strings.Join(names, ", ") + ")"
}

// specOf is what is known of the values of a field.
func specOf(sample space.Spec, f InputField) (space.Spec, error) {
	s := sample
	if f.Field != "" && sample.IsRecord() {
		at := slices.IndexFunc(sample.Fields, func(s space.Spec) bool { return s.Name == f.Field })
		if at < 0 {
			return s, fmt.Errorf("input.fields: the data has no field %q; there are%s", f.Field, has(sample))
		}
		s = sample.Fields[at]
	} else if sample.IsRecord() && len(sample.Fields) > 0 {
		return s, fmt.Errorf("input.fields: input %q takes which field of the data%s? Set name", f.Port, has(sample))
	}
	switch {
	case f.Kind != "" && s.Kind != "" && f.Kind != s.Kind && !s.IsRecord():
		return s, fmt.Errorf("input.fields: %q is %s in the data, not %s; leave kind out", cmpName(f), s.Kind, f.Kind)
	case f.Kind != "":
		s.Kind = f.Kind
	case s.Kind == "" || s.IsRecord():
		s.Kind = rowsKind.of
	}
	s.Name = f.Field
	return s, nil
}

// cmpName names a field in messages.
func cmpName(f InputField) string {
	if f.Field != "" {
		return f.Field
	}
	return f.Port
}

// readFeeds fits every field to its input, once with an axis of samples and once without, and takes what strains less.
func (c *record) readFeeds(sig onnx.Signature, spec RecordSpec, fields []InputField) error {
	type side struct {
		feeds []*feed
		err   error
		cost  int
	}
	var sides [2]side
	for k := range sides {
		s := &sides[k]
		for i, x := range sig.Inputs {
			f, cost, err := readFeed(x, fields[i], spec, k == 0)
			if err != nil {
				s.err = err
				break
			}
			s.feeds = append(s.feeds, f)
			s.cost += cost
		}
	}
	take := 0
	switch {
	case sides[0].err != nil && sides[1].err != nil:
		// The message of the one that got further says more; of equals that with samples.
		if len(sides[1].feeds) > len(sides[0].feeds) {
			return sides[1].err
		}
		return sides[0].err
	case sides[0].err != nil, sides[1].err == nil && (sides[1].cost < sides[0].cost || single(sig, sides[1].feeds)):
		take = 1
	}
	c.feeds, c.batched = sides[take].feeds, take == 0
	if !c.batched {
		c.batch = 1
		c.notes = append(c.notes, "the inputs have no axis that counts samples; the model reads one sample at a time")
		return nil
	}
	var first *feed
	for _, f := range c.feeds {
		if f.constant() && !f.perSample() {
			continue
		}
		if !f.x.Ranked {
			continue
		}
		n := max(0, f.x.Sizes()[0])
		if n == 0 {
			continue
		}
		if c.batch > 0 && n != c.batch {
			return fmt.Errorf("inputs %s and %s count their samples differently; export the model with one length, "+
				"or with a free one", first.x, f.x)
		}
		c.batch, first = n, f
	}
	return nil
}

func (f *feed) constant() bool { return len(f.Value) > 0 }

// perSample tells whether a constant is fed once per sample.
func (f *feed) perSample() bool { return f.form.axes == "N" }

// readFeed fits one field to one input.
func readFeed(x onnx.Port, in InputField, spec RecordSpec, batched bool) (*feed, int, error) {
	f := &feed{InputField: in, x: x, dtype: x.DType}
	if x.Kind != "tensor" && x.Kind != "" {
		return nil, 0, fmt.Errorf("input %q is a %s, want a tensor", x.Name, x.Kind)
	}
	if x.DType == tensor.Undefined {
		f.dtype = tensor.Float32
		f.notes = append(f.notes, fmt.Sprintf("input %q: the file does not say its element type; float32 is fed",
			x.Name))
	} else if x.DType.Size() == 0 && x.DType != tensor.String {
		return nil, 0, fmt.Errorf("input %s: values of this type cannot be fed", x)
	}
	if in.Pad < 0 {
		return nil, 0, fmt.Errorf("input.fields: pad of %q is %d; want a number of rows", cmpName(in), in.Pad)
	}
	if f.constant() {
		if x.DType == tensor.String {
			return nil, 0, fmt.Errorf("input.fields: the value of %q is numbers, and input %s reads texts", cmpName(in),
				x)
		}
		return f, 0, f.readConstant(batched)
	}
	var err error
	if f.spec, err = specOf(spec.Sample, in); err != nil {
		return nil, 0, err
	}
	f.Kind = f.spec.Kind
	f.k = kindFor(f.Kind, spec.Kinds)
	if err := wordy(x, f.k, batched); err != nil {
		return nil, 0, err
	}
	switch k := f.k.fed; {
	case in.Pad > 0 && (k == nil || k.nodes == 0):
		return nil, 0, fmt.Errorf("input.fields: %q is %s, which is not padded; pad belongs to rows and pairs",
			cmpName(in), f.Kind)
	case k == nil:
		return nil, 0, fmt.Errorf(
			"input.fields: values of kind %s are not fed to models; say rows, links, pairs, signal, volume, frames or "+
				"image",
			f.Kind)
	case k.pictures:
		return f, 0, f.readPixels(spec.Pixels, batched)
	case k.floats && !floating(f.dtype):
		return nil, 0, fmt.Errorf("input %s: want floating-point numbers", x)
	}
	return f.choose(f.k.fed.forms, batched)
}

func floating(d tensor.DType) bool {
	return d == tensor.Float32 || d == tensor.Float64 || d == tensor.Float16 || d == tensor.BFloat16
}

// named tells whether an axis of the file is called after batches.
func named(d onnx.Dim) bool {
	n := strings.ToLower(d.Name)
	return n == "n" || n == "b" || strings.HasPrefix(n, "batch") || strings.HasSuffix(n, "batch")
}

// choose finds the form that fits best.
func (f *feed) choose(list []form, batched bool) (*feed, int, error) {
	e := f.k.fed.known(f.spec)
	if f.Pad > 0 { // what is fed has that many rows
		for i, s := range e.shape[:len(e.shape)-1] {
			if s > f.Pad {
				return nil, 0, fmt.Errorf("input.fields: pad of %q is %d, the data has up to %d rows",
					cmpName(f.InputField), f.Pad, s)
			}
			e.shape[i] = f.Pad
		}
	}
	if !f.x.Ranked {
		f.form = list[0]
		n := "N, "
		if !batched || f.k.fed.whole {
			n = ""
		}
		f.notes = append(f.notes, fmt.Sprintf("input %q: the file does not say its shape; [%s%s] is fed", f.x.Name, n,
			legend(list[0])))
		return f, 0, nil
	}
	declared, cost := f.x.Sizes(), 0
	if batched {
		if len(declared) == 0 {
			return nil, 0, fmt.Errorf("input %s has no axis that counts samples", f.x)
		}
		declared = declared[1:]
	} else if len(declared) > 0 && named(f.x.Shape[0]) {
		cost = 1
	}
	best, most, least := -1, -1, 0
	for i, l := range list {
		match, strain, ok := e.fit(l, declared)
		if ok && (match-strain > most-least || best < 0) {
			best, most, least = i, match, strain
		}
	}
	if best < 0 {
		return nil, 0, f.misfit(e, batched)
	}
	f.form = list[best]
	if f.form.transposes() {
		f.notes = append(f.notes, fmt.Sprintf("input %s: by its shape it wants %s transposed, as [%s%s]", f.x, f.Kind,
			map[bool]string{true: "N, "}[batched], legend(f.form)))
	} else if f.form.axes == "f" && least > 0 {
		f.notes = append(f.notes, fmt.Sprintf("input %s: by its shape it wants the %s of a sample one after the other",
			f.x, f.Kind))
	}
	return f, cost + least, nil
}

// legend spells a form out.
func legend(f form) string {
	words := map[rune]string{
		'r': "rows", 'w': "numbers", 'i': "nodes", '2': "2", 'e': "edges", 'c': "channels",
		't': "time", 'f': "all", 'x': "side", '*': "...", 'D': "depth", 'H': "height", 'W': "width",
	}
	out := make([]string, 0, len(f.axes))
	for _, a := range f.axes {
		out = append(out, words[a])
	}
	return strings.Join(out, ", ")
}

// misfit says why nothing fits.
func (f *feed) misfit(e extent, batched bool) error {
	k, have, remedy := f.k.fed, fmt.Sprintf("%s of shape %s", f.Kind, sizes(e.shape)), ""
	if k.have != nil {
		have = k.have(e, batched)
	}
	if k.remedy != nil {
		remedy = k.remedy(f, e)
	}
	remedy = cmp.Or(remedy, "choose another field with name, or the right kind")
	return fmt.Errorf("input %s does not take the field %q: the data has %s; %s", f.x, cmpName(f.InputField), have,
		remedy)
}

// readConstant lays a constant out.
func (f *feed) readConstant(batched bool) error {
	if f.Pad > 0 {
		return fmt.Errorf("input.fields: %q has a value and is not padded; leave pad out", cmpName(f.InputField))
	}
	for i, v := range f.Value {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("input.fields: number %d of the value of %q is %g; want finite numbers", i,
				cmpName(f.InputField), v)
		}
	}
	var declared []int
	if f.x.Ranked {
		declared = f.x.Sizes()
	} else {
		declared = f.Shape
		if f.Shape == nil && len(f.Value) > 1 {
			declared = []int{len(f.Value)}
		}
	}
	shape := slices.Clone(declared)
	if batched && len(declared) > 0 && (declared[0] < 0 && (len(f.Shape) == len(declared)-1 || f.Shape == nil) ||
		len(f.x.Shape) > 0 && named(f.x.Shape[0])) {
		f.form.axes = "N"
		shape = shape[1:]
	}
	if f.Shape != nil {
		if !agrees(shape, f.Shape) {
			return fmt.Errorf("input.fields: the value of %q has the shape %v, input %s wants %s",
				cmpName(f.InputField), f.Shape, f.x, sizes(shape))
		}
		shape = slices.Clone(f.Shape)
	}
	free := -1
	n := 1
	for i, s := range shape {
		if s < 0 {
			if free >= 0 {
				return fmt.Errorf("input.fields: input %s has more than one free axis; say the shape of the value of "+
					"%q", f.x, cmpName(f.InputField))
			}
			free = i
			continue
		}
		n *= s
	}
	if free >= 0 {
		if n == 0 || len(f.Value)%n != 0 {
			return fmt.Errorf("input.fields: the value of %q has %d numbers, which do not fill input %s",
				cmpName(f.InputField), len(f.Value), f.x)
		}
		shape[free] = len(f.Value) / n
		n *= shape[free]
	}
	const most = 1 << 24
	if n > most {
		return fmt.Errorf("input.fields: a value of %d numbers for input %s; at most %d are fed", n, f.x, most)
	}
	switch len(f.Value) {
	case n:
		f.fixed = slices.Clone(f.Value)
	case 1:
		f.fixed = slices.Repeat(f.Value, n)
	default:
		return fmt.Errorf("input.fields: the value of %q has %d numbers, input %s wants %d (or one for all)",
			cmpName(f.InputField), len(f.Value), f.x, n)
	}
	if i, err := fitsType(f.fixed, f.dtype); err != nil {
		return fmt.Errorf("input.fields: number %d of the value of %q: %w", i, cmpName(f.InputField), err)
	}
	f.Shape = shape
	return nil
}

// readPixels prepares images and frames.
func (f *feed) readPixels(px InputSpec, batched bool) error {
	s := f.spec.Shape
	if f.k.fed.sequence {
		if px.Frames == 0 && len(s) > 0 {
			px.Frames = max(0, s[0])
		}
		if px.Frames <= 0 {
			for _, a := range []int{1, 0} { // an axis of frames of fixed length
				if z := f.x.Sizes(); len(z) == 4+a && z[a] > 0 {
					px.Frames = z[a]
				}
			}
		}
		if px.Frames <= 0 {
			return fmt.Errorf("input %s: nobody says how many frames a sample has", f.x)
		}
		if len(s) == 4 {
			s = s[1:]
		}
	} else {
		px.Frames = 0
	}
	px.Ports = nil
	if px.Sample == nil && len(s) == 3 {
		px.Sample = s
	}
	if err := checkInputSpec(px); err != nil {
		return err
	}
	p, err := readInput(f.x, px, max(px.Frames, 1))
	if err != nil {
		return err
	}
	if (p.axes.n >= 0) != batched {
		return fmt.Errorf("input %s is read as %s, which does not count samples as the other inputs do", f.x,
			p.axes.name)
	}
	if f.img, err = newEncoder(p, px); err != nil {
		return err
	}
	f.img.batch = 0 // batches are filled up here
	f.notes = append(f.notes, p.notes...)
	f.spec.Shape = inputSpec([]port{p}, px).Shape
	return nil
}

// fitsType finds the first number that an integer type cannot hold.
func fitsType(v []float64, d tensor.DType) (int, error) {
	var lo, hi float64
	switch d {
	case tensor.Bool:
		lo, hi = 0, 1
	case tensor.Uint8:
		lo, hi = 0, math.MaxUint8
	case tensor.Int8:
		lo, hi = math.MinInt8, math.MaxInt8
	case tensor.Uint16:
		lo, hi = 0, math.MaxUint16
	case tensor.Int16:
		lo, hi = math.MinInt16, math.MaxInt16
	case tensor.Uint32:
		lo, hi = 0, math.MaxUint32
	case tensor.Int32:
		lo, hi = math.MinInt32, math.MaxInt32
	case tensor.Uint64:
		lo, hi = 0, 1<<53
	case tensor.Int64:
		lo, hi = -(1 << 53), 1<<53
	case tensor.Undefined, tensor.String, tensor.Float32, tensor.Float64, tensor.Float16, tensor.BFloat16:
		return 0, nil
	}
	for i, x := range v {
		if !(x >= lo && x <= hi) || x != math.Trunc(x) {
			return i, fmt.Errorf("%g is no %s", x, d)
		}
	}
	return 0, nil
}
