// Package unroll runs recurrent models over whole signals. Such a model reads one frame at a time and hands a state on;
// here it appears as a model that reads a signal of shape [N, T] and returns one number, or one row of numbers, for
// every frame.
//
// Frame k is made of the samples k·Frame - Context to (k+1)·Frame - 1, with zeros before the start of the signal.
// States begin at their declared start with every signal, so that no signal knows of another. A rest at the end that is
// shorter than a frame is not heard: T samples make T/Frame frames, rounded down, and a signal shorter than one frame
// is refused.
package unroll

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"nero/data/tensor"
	"nero/model/decode"
	"nero/model/engine"
	"nero/model/onnx"
)

// mostNumbers is the largest number of elements of a state or of a fixed input of one signal.
const mostNumbers = 1 << 26

// Spec says how a model reads a signal.
type Spec struct {
	// that takes a frame; "" for the only one that is no state and no fixed input
	Input string
	// of a frame; "" for the only one that is no state
	Output string
	// new samples of each frame, at least 1
	Frame int
	// samples of the past in front of each frame
	Context int
	// what is handed on
	States []State
	// inputs that are the same for every frame
	Feed []Feed
}

// State is an input that gets the value of an output of the step before.
type State struct {
	In, Out string
	// Shape is that of one signal, with 1 on the axis of the batch; nil follows the model's input, whose free axis
	// counts signals.
	Shape []int
	// one number for all, or all of them in row-major order; nil for zeros
	Start []float64
}

// Feed is an input with a fixed value: one number for all elements, or all of them.
type Feed struct {
	In    string
	Value []float64
}

// Model is a recurrent model as one that reads whole signals. It is safe for concurrent use.
type Model struct {
	// as it appears
	sig onnx.Signature
	// of the file
	inner onnx.Signature
	frame int
	past  int
	x, y  onnx.Port
	// samples of the time axis that the model takes at once
	steps int
	// axis of time of the input
	time int
	// axis of the signals of the input, -1 for none
	batch int
	// signals that the model takes at once, 0 for any
	most   int
	states []state
	feeds  []feed
	notes  []string
}

// state is a checked State.
type state struct {
	State
	dtype tensor.DType
	shape []int
	// of the batch, -1 for none
	axis  int
	start []float64
}

// feed is a checked Feed.
type feed struct {
	name  string
	dtype tensor.DType
	shape []int
	axis  int
	value []float64
}

// New fits a specification to a model. Errors name the field of the study to set, below input.recurrent.
func New(sig onnx.Signature, spec Spec) (*Model, error) {
	m := &Model{inner: sig, frame: spec.Frame, past: spec.Context, batch: -1}
	switch {
	case spec.Frame < 1:
		return nil, fmt.Errorf("input.recurrent.frame: %d; want the number of new samples of each frame, at least 1",
			spec.Frame)
	case spec.Context < 0:
		return nil, fmt.Errorf(
			"input.recurrent.context: %d; want the number of samples of the past in front of each frame, 0 or more",
			spec.Context)
	}
	m.steps = spec.Frame + spec.Context
	if err := m.name(spec); err != nil {
		return nil, err
	}
	if err := m.readInput(); err != nil {
		return nil, err
	}
	for i, s := range spec.States {
		t, err := m.readState(s)
		if err != nil {
			return nil, fmt.Errorf("input.recurrent.states[%d]: %w", i, err)
		}
		m.states = append(m.states, t)
	}
	for i, f := range spec.Feed {
		t, err := m.readFeed(f)
		if err != nil {
			return nil, fmt.Errorf("input.recurrent.feed[%d]: %w", i, err)
		}
		m.feeds = append(m.feeds, t)
	}
	return m, m.describe()
}

// name finds the input and the output of a frame, and refuses inputs that nothing feeds.
func (m *Model) name(spec Spec) error {
	var fed, made []string
	for i, s := range spec.States {
		if _, ok := m.inner.Input(s.In); !ok {
			return fmt.Errorf("input.recurrent.states[%d].in: the model has no input %q; there are %s", i, s.In,
				names(m.inner.Inputs))
		}
		if _, ok := m.inner.Output(s.Out); !ok {
			return fmt.Errorf("input.recurrent.states[%d].out: the model has no output %q; there are %s", i, s.Out,
				names(m.inner.Outputs))
		}
		fed, made = append(fed, s.In), append(made, s.Out)
	}
	for i, f := range spec.Feed {
		if _, ok := m.inner.Input(f.In); !ok {
			return fmt.Errorf("input.recurrent.feed[%d].in: the model has no input %q; there are %s", i, f.In,
				names(m.inner.Inputs))
		}
		fed = append(fed, f.In)
	}
	for i, n := range fed {
		if slices.Contains(fed[:i], n) {
			return fmt.Errorf("input.recurrent: input %q is fed twice; name it once, as a state or with a value", n)
		}
	}
	rest := slices.DeleteFunc(onnx.Names(m.inner.Inputs), func(n string) bool { return slices.Contains(fed, n) })
	x := spec.Input
	switch {
	case x == "" && len(rest) == 1:
		x = rest[0]
	case x == "":
		return fmt.Errorf("input.recurrent.input: which of the inputs %s takes a frame? Name it; the others are "+
			"states or feed", list(rest))
	case !slices.Contains(rest, x):
		return fmt.Errorf("input.recurrent.input: %q is not among the inputs that are no state and have no value: %s",
			x, list(rest))
	}
	for _, n := range rest {
		if n != x {
			p, _ := m.inner.Input(n)
			return fmt.Errorf("input.recurrent: nothing feeds input %s; list it in states, or in feed with a value", p)
		}
	}
	out := slices.DeleteFunc(onnx.Names(m.inner.Outputs), func(n string) bool { return slices.Contains(made, n) })
	y := spec.Output
	switch {
	case y == "" && len(out) == 1:
		y = out[0]
	case y == "":
		return fmt.Errorf("input.recurrent.output: which of the outputs %s belongs to a frame? Name it", list(out))
	}
	var ok bool
	if m.y, ok = m.inner.Output(y); !ok {
		return fmt.Errorf("input.recurrent.output: the model has no output %q; there are %s", y, names(m.inner.Outputs))
	}
	m.x, _ = m.inner.Input(x)
	return nil
}

func names(p []onnx.Port) string { return list(onnx.Names(p)) }

func list(n []string) string {
	if len(n) == 0 {
		return "(none)"
	}
	return strings.Join(n, ", ")
}

// readInput finds the axes of a frame: [N, L], [N, C, L], [N, L, 1] or [L].
func (m *Model) readInput() error {
	x := m.x
	if !floating(x.DType) && x.DType != tensor.Undefined {
		return fmt.Errorf("input %s: frames are floating-point numbers", x)
	}
	if x.DType == tensor.Undefined {
		m.x.DType = tensor.Float32
		m.notes = append(m.notes, fmt.Sprintf("input %q: the file does not say its element type; float32 is fed",
			x.Name))
	}
	if !x.Ranked {
		m.x.Ranked, m.x.Shape = true, []onnx.Dim{{Size: -1}, {Size: -1}}
		m.notes = append(m.notes, fmt.Sprintf("input %q: the file does not say its shape; [signals, samples] is fed",
			x.Name))
		x = m.x
	}
	s := x.Sizes()
	switch len(s) {
	case 1:
		m.time, m.most = 0, 1
	case 2, 3:
		m.batch, m.time, m.most = 0, len(s)-1, max(0, s[0])
		if len(s) == 3 && s[2] == 1 && m.steps > 1 {
			m.time = 1
		}
	default:
		return fmt.Errorf("input %s has %d axes; a frame is [N, samples], [N, channels, samples] or [samples]", x,
			len(s))
	}
	if n := s[m.time]; n >= 0 && n != m.steps {
		return fmt.Errorf("input %s takes %d samples, frame and context make %d + %d; set input.recurrent.frame and "+
			"input.recurrent.context", x, n, m.frame, m.past)
	}
	return nil
}

// channels is the number of channels of a frame, -1 if it is free.
func (m *Model) channels() int {
	s := m.x.Sizes()
	if len(s) == 3 && m.time == 2 {
		return s[1]
	}
	return 1
}

// axis finds the axis of the batch in the shape of a state or a fixed input, whose lengths are for one signal.
func (m *Model) axis(p onnx.Port, shape []int) int {
	if m.batch < 0 {
		return -1
	}
	if p.Ranked {
		free := -1
		for i, d := range p.Shape {
			if !d.Free() {
				continue
			}
			if d.Name != "" && len(m.x.Shape) > 0 && d.Name == m.x.Shape[0].Name {
				return i
			}
			if free < 0 && shape[i] == 1 {
				free = i
			}
		}
		if free < 0 {
			m.most = 1 // a state of fixed lengths belongs to one signal
		}
		return free
	}
	var ones []int
	for i, n := range shape {
		if n == 1 {
			ones = append(ones, i)
		}
	}
	switch {
	case len(ones) == 0:
		m.most = 1
		return -1
	case len(shape) == 3 && shape[1] == 1: // [layers, batch, hidden], the layout of ONNX's recurrent operators
		return 1
	}
	return ones[0]
}

// one is the shape of an input for one signal.
func one(p onnx.Port, said []int, what string) ([]int, error) {
	if !p.Ranked {
		if said == nil {
			return nil, fmt.Errorf("the file does not say the shape of %s; set shape, with 1 on the axis of the batch",
				what)
		}
		return said, nil
	}
	s := p.Sizes()
	if said != nil {
		if len(said) != len(s) || !slices.EqualFunc(s, said, func(d, h int) bool { return d < 0 || d == h }) {
			return nil, fmt.Errorf("the shape %v does not fit input %s", said, p)
		}
		return said, nil
	}
	free := 0
	for i, n := range s {
		if n < 0 {
			s[i] = 1
			free++
		}
	}
	if free > 1 {
		return nil, fmt.Errorf("input %s has %d free axes; set shape, with 1 on the axis of the batch", p, free)
	}
	return s, nil
}

// filled is v for n numbers.
func filled(v []float64, n int) ([]float64, error) {
	switch len(v) {
	case n:
		return slices.Clone(v), nil
	case 0:
		return make([]float64, n), nil
	case 1:
		return slices.Repeat(v, n), nil
	}
	return nil, fmt.Errorf("%d numbers, want %d or one for all", len(v), n)
}

func (m *Model) readState(s State) (state, error) {
	p, _ := m.inner.Input(s.In)
	t := state{State: s, dtype: p.DType}
	if t.dtype == tensor.Undefined {
		t.dtype = tensor.Float32
	}
	if t.dtype.Size() == 0 {
		return t, fmt.Errorf("input %s cannot be fed", p)
	}
	var err error
	if t.shape, err = one(p, s.Shape, "input "+s.In); err != nil {
		return t, err
	}
	n, err := tensor.CheckedCount(t.shape, mostNumbers)
	if err != nil {
		return t, fmt.Errorf("the shape %v: %w", t.shape, err)
	}
	for i, v := range s.Start {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return t, fmt.Errorf("number %d of start is %g; want finite numbers", i, v)
		}
	}
	if t.start, err = filled(s.Start, n); err != nil {
		return t, fmt.Errorf("start: %w", err)
	}
	if t.axis = m.axis(p, t.shape); t.axis < 0 && m.batch >= 0 && m.x.Shape[0].Size > 1 {
		return t, fmt.Errorf(
			"input %s takes %d signals at once and the state %s has no free axis for them; export the model with a "+
				"free one", m.x, m.x.Shape[0].Size, p)
	}
	return t, nil
}

func (m *Model) readFeed(f Feed) (feed, error) {
	p, _ := m.inner.Input(f.In)
	t := feed{name: f.In, dtype: p.DType, axis: -1}
	if t.dtype == tensor.Undefined {
		t.dtype = tensor.Float32
	}
	if t.dtype.Size() == 0 {
		return t, fmt.Errorf("input %s cannot be fed", p)
	}
	if len(f.Value) == 0 {
		return t, fmt.Errorf("input %s has no value; list one number, or all of them", p)
	}
	if p.Ranked {
		t.shape = p.Sizes()
		for i, n := range t.shape {
			switch {
			case n >= 0:
			case t.axis < 0 && m.batch >= 0 &&
				(i == 0 || p.Shape[i].Name != "" && p.Shape[i].Name == m.x.Shape[0].Name):
				t.axis, t.shape[i] = i, 1
			default:
				t.shape[i] = 1
			}
		}
	} else if len(f.Value) > 1 {
		t.shape = []int{len(f.Value)}
	}
	n, err := tensor.CheckedCount(t.shape, mostNumbers)
	if err != nil {
		return t, fmt.Errorf("input %s: %w", p, err)
	}
	whole := !floating(t.dtype)
	for i, v := range f.Value {
		if math.IsNaN(v) || math.IsInf(v, 0) || whole && v != math.Trunc(v) {
			return t, fmt.Errorf("number %d of the value of %s is %g", i, p, v)
		}
	}
	t.value, err = filled(f.Value, n)
	if err != nil {
		err = fmt.Errorf("value of %s: %w", p, err)
	}
	return t, err
}

// describe makes the signature of the model over signals.
func (m *Model) describe() error {
	s := m.inner
	s.Defaults = nil
	x := onnx.Port{
		Name: m.x.Name, Kind: "tensor", DType: m.x.DType, Ranked: true,
		Shape: []onnx.Dim{{Size: -1, Name: "signals"}, {Size: -1, Name: "samples"}},
	}
	if c := m.channels(); c != 1 {
		x.Shape = slices.Insert(x.Shape, 1, onnx.Dim{Size: c, Name: "channels"})
	}
	y := onnx.Port{Name: m.y.Name, Kind: "tensor", DType: m.y.DType}
	if m.y.Ranked {
		d := m.y.Sizes()
		if m.batch >= 0 {
			if len(d) == 0 {
				return fmt.Errorf("output %s is one number for the whole batch; nothing can be said of a single signal",
					m.y)
			}
			d = d[1:]
		}
		if len(d) > 2 {
			return fmt.Errorf("output %s has %d axes per frame; want [N], [N, numbers] or [N, channels, numbers]", m.y,
				len(d))
		}
		y.Ranked, y.Shape = true, []onnx.Dim{{Size: -1, Name: "signals"}, {Size: -1, Name: "frames"}}
		if len(d) > 0 && d[0] != 1 || len(d) == 2 {
			y.Shape = slices.Insert(y.Shape, 1, onnx.Dim{Size: d[0], Name: "channels"})
		}
	}
	s.Inputs, s.Outputs = []onnx.Port{x}, []onnx.Port{y}
	m.sig = s
	if m.most == 1 {
		m.notes = append(m.notes, "the model reads one signal at a time")
	}
	return nil
}

// Signature is that of the model over whole signals: an input [signals, samples], or [signals, channels, samples], and
// an output [signals, frames], or [signals, channels, frames] where the model returns several numbers for a frame.
// Where it returns m steps of several channels for a frame, the last axis has m·frames.
func (m *Model) Signature() onnx.Signature { return m.sig }

// Notes say what was guessed, to be shown to the user.
func (m *Model) Notes() []string { return m.notes }

// States are the inputs that get the value of an output of the step before.
func (m *Model) States() []string {
	var out []string
	for _, s := range m.states {
		out = append(out, s.In)
	}
	return out
}

// Frames is how many frames a signal of t samples makes.
func (m *Model) Frames(t int) int { return t / m.frame }

// First is what the model itself is fed with at the first frame of n silent signals, in its own order of inputs: to
// find out what a step costs.
func (m *Model) First(n int) ([]tensor.Named, error) {
	c := max(1, m.channels())
	x := tensor.New(m.x.DType, n, c, m.steps)
	return m.start(x, n, c, m.steps)
}

// start is the inputs before the first frame, with the first frame of x in place.
func (m *Model) start(x tensor.Tensor, n, c, length int) ([]tensor.Named, error) {
	in := make([]tensor.Named, len(m.inner.Inputs))
	for i, p := range m.inner.Inputs {
		if p.Name == m.x.Name {
			in[i] = m.cut(x, n, c, length, 0)
			continue
		}
		for _, s := range m.states {
			if s.In == p.Name {
				t, err := repeated(typed(s.dtype, x.DType), s.shape, s.axis, s.start, n)
				if err != nil {
					return nil, fmt.Errorf("state %q: %w", s.In, err)
				}
				in[i] = tensor.Named{Name: p.Name, Tensor: t}
			}
		}
		for _, f := range m.feeds {
			if f.name == p.Name {
				t, err := repeated(typed(f.dtype, x.DType), f.shape, f.axis, f.value, n)
				if err != nil {
					return nil, fmt.Errorf("input %q: %w", f.name, err)
				}
				in[i] = tensor.Named{Name: p.Name, Tensor: t}
			}
		}
	}
	return in, nil
}

// typed is the type in which numbers of a declared type are fed beside frames of type x.
func typed(d, x tensor.DType) tensor.DType {
	if floating(d) && x == tensor.Float64 {
		return x
	}
	return d
}

func floating(d tensor.DType) bool {
	return d == tensor.Float32 || d == tensor.Float64 || d == tensor.Float16 || d == tensor.BFloat16
}

// repeated lays numbers of one signal out for n of them.
func repeated(d tensor.DType, shape []int, axis int, v []float64, n int) (tensor.Tensor, error) {
	if axis < 0 {
		return decode.Rounded(d, v, shape...)
	}
	outer := tensor.Count(shape[:axis])
	inner := tensor.Count(shape[axis+1:])
	if inner*outer > 0 && n > mostNumbers/(inner*outer) {
		return tensor.Tensor{}, fmt.Errorf("%d numbers for each of %d signals are too many", inner*outer, n)
	}
	all := make([]float64, 0, outer*n*inner)
	for o := range outer {
		for range n {
			all = append(all, v[o*inner:(o+1)*inner]...)
		}
	}
	s := slices.Clone(shape)
	s[axis] = n
	return decode.Rounded(d, all, s...)
}

// cut is frame k of n signals of c channels and length samples.
func (m *Model) cut(x tensor.Tensor, n, c, length, k int) tensor.Named {
	z := x.DType.Size()
	shape := make([]int, len(m.x.Shape))
	if m.batch >= 0 {
		shape[0] = n
		if len(shape) == 3 {
			shape[1] = c
			shape[3-m.time] = c // beside the axis of time, 1 if it comes last
		}
	}
	shape[m.time] = m.steps
	t := tensor.New(x.DType, shape...)
	from := k*m.frame - m.past
	skip := max(0, -from) // zeros before the start
	for i := range n * c {
		copy(t.Raw[(i*m.steps+skip)*z:(i+1)*m.steps*z], x.Raw[(i*length+from+skip)*z:])
	}
	return tensor.Named{Name: m.x.Name, Tensor: t}
}

// Engine is e for the model's file: what it opens reads whole signals.
func (m *Model) Engine(e engine.Engine) engine.Engine { return &wrapped{Engine: e, m: m} }

type wrapped struct {
	engine.Engine
	m *Model
}

// Open opens the model and unrolls it.
func (w *wrapped) Open(ctx context.Context, model []byte, o engine.Options) (engine.Session, error) {
	s, err := w.Engine.Open(ctx, model, o)
	if err != nil {
		return nil, err
	}
	u, err := w.m.Session(s)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return u, nil
}

// Session runs s, an opened model, over whole signals. Closing it closes s. It may be used by as many goroutines at
// once as s.
func (m *Model) Session(s engine.Session) (engine.Session, error) {
	if !slices.Equal(s.Inputs(), onnx.Names(m.inner.Inputs)) {
		return nil, fmt.Errorf("unroll: the session has the inputs %s, the model %s", list(s.Inputs()),
			names(m.inner.Inputs))
	}
	u := &session{m: m, s: s, out: slices.Index(s.Outputs(), m.y.Name)}
	for _, t := range m.states {
		u.to = append(u.to, slices.Index(s.Inputs(), t.In))
		u.from = append(u.from, slices.Index(s.Outputs(), t.Out))
	}
	if u.out < 0 || slices.Contains(u.from, -1) {
		return nil, fmt.Errorf("unroll: the session has the outputs %s, the model %s", list(s.Outputs()),
			names(m.inner.Outputs))
	}
	return u, nil
}

// session is an unrolled engine.Session.
type session struct {
	m   *Model
	s   engine.Session
	out int
	// of the states
	to, from []int
}

func (u *session) Inputs() []string  { return []string{u.m.x.Name} }
func (u *session) Outputs() []string { return []string{u.m.y.Name} }
func (u *session) Close() error      { return u.s.Close() }

// Run runs the model frame by frame.
func (u *session) Run(ctx context.Context, in []tensor.Named) ([]tensor.Named, error) {
	if err := engine.CheckInputs(u.Inputs(), in); err != nil {
		return nil, err
	}
	x := in[0].Tensor
	m := u.m
	if x.DType != m.x.DType && x.DType != tensor.Float64 { // bodies that compute in float64 are fed with it
		return nil, fmt.Errorf("input %q is %s, the model reads %s", m.x.Name, x.DType, m.x.DType)
	}
	want := m.sig.Inputs[0].Sizes()
	if len(x.Shape) != len(want) || len(want) == 3 && want[1] >= 0 && x.Shape[1] != want[1] {
		return nil, fmt.Errorf("input %q has the shape %v, want %s", m.x.Name, x.Shape, m.sig.Inputs[0].ShapeString())
	}
	n, c, length := x.Shape[0], 1, x.Shape[len(x.Shape)-1]
	if len(x.Shape) == 3 {
		c = x.Shape[1]
	}
	if n < 1 || c < 1 || length < m.frame {
		return nil, fmt.Errorf(
			"%d signals of %d channels and %d samples; the model reads frames of %d, so that a signal needs as many", n,
			c, length, m.frame)
	}
	most := n
	if m.most > 0 {
		most = m.most
	}
	var parts []tensor.Tensor
	for at := 0; at < n; at += most {
		k := min(most, n-at)
		some := tensor.Tensor{
			DType: x.DType, Shape: []int{k, c, length},
			Raw: x.Raw[at*c*length*x.DType.Size() : (at+k)*c*length*x.DType.Size()],
		}
		if m.most > 0 && k < most { // a fixed batch is filled up with copies of the last
			one := c * length * x.DType.Size()
			full := tensor.New(x.DType, most, c, length)
			for i := range most {
				copy(full.Raw[i*one:(i+1)*one], some.Raw[min(i, k-1)*one:])
			}
			some = full
		}
		y, err := u.walk(ctx, some, most, c, length)
		if err != nil {
			return nil, err
		}
		y.Raw = y.Raw[:len(y.Raw)/most*k]
		parts = append(parts, y)
	}
	y := parts[0]
	y.Shape[0] = n
	for _, p := range parts[1:] {
		y.Raw = append(y.Raw, p.Raw...)
	}
	return []tensor.Named{{Name: m.y.Name, Tensor: y}}, nil
}

// walk runs n signals, as many as the model takes at once, and returns [n, frames] or [n, channels, frames].
func (u *session) walk(ctx context.Context, x tensor.Tensor, n, c, length int) (tensor.Tensor, error) {
	m := u.m
	frames := m.Frames(length)
	in, err := m.start(x, n, c, length)
	if err != nil {
		return tensor.Tensor{}, err
	}
	at := slices.IndexFunc(in, func(t tensor.Named) bool { return t.Name == m.x.Name })
	var y tensor.Tensor
	var per []int // of one frame of one signal: channels and steps
	for k := range frames {
		if err := ctx.Err(); err != nil {
			return tensor.Tensor{}, err
		}
		if k > 0 {
			in[at] = m.cut(x, n, c, length, k)
		}
		out, err := u.s.Run(ctx, in)
		if err != nil {
			return tensor.Tensor{}, fmt.Errorf("frame %d: %w", k, err)
		}
		for i, s := range m.states {
			t := out[u.from[i]].Tensor
			if was := in[u.to[i]]; t.DType != was.DType || !slices.Equal(t.Shape, was.Shape) {
				return tensor.Tensor{},
					fmt.Errorf("frame %d: the state %q came back as %s %v and went in as %s %v; set "+
						"input.recurrent.states shape", k, s.Out, t.DType, t.Shape, was.DType, was.Shape)
			}
			in[u.to[i]] = tensor.Named{Name: s.In, Tensor: t}
		}
		o := out[u.out].Tensor
		p, err := m.perFrame(o, n)
		if err != nil {
			return tensor.Tensor{}, fmt.Errorf("frame %d: %w", k, err)
		}
		if k == 0 {
			per = p
			if y, err = m.room(o.DType, p, n, frames); err != nil {
				return tensor.Tensor{}, err
			}
		} else if !slices.Equal(p, per) || o.DType != y.DType {
			return tensor.Tensor{}, fmt.Errorf("frame %d has %d x %d numbers, the first %d x %d", k, p[0], p[1], per[0],
				per[1])
		}
		z := o.DType.Size() * per[1]
		for i := range n * per[0] {
			copy(y.Raw[(i*frames+k)*z:], o.Raw[i*z:(i+1)*z])
		}
	}
	return y, nil
}

// perFrame is how many channels and steps the output of a frame has.
func (m *Model) perFrame(o tensor.Tensor, n int) ([]int, error) {
	s := o.Shape
	if m.batch >= 0 {
		if len(s) == 0 || s[0] != n {
			return nil, fmt.Errorf("output %q has the shape %v for %d signals; its first axis should count them",
				m.y.Name, s, n)
		}
		s = s[1:]
	}
	switch len(s) {
	case 0:
		return []int{1, 1}, nil
	case 1:
		return []int{s[0], 1}, nil
	case 2:
		return []int{s[0], s[1]}, nil
	}
	return nil, fmt.Errorf("output %q has the shape %v; want one number, one row or [channels, numbers] per frame",
		m.y.Name, o.Shape)
}

// room makes the output of n signals.
func (m *Model) room(d tensor.DType, per []int, n, frames int) (tensor.Tensor, error) {
	if _, err := tensor.CheckedCount([]int{n, per[0], per[1], frames}, 1<<31); err != nil {
		return tensor.Tensor{}, fmt.Errorf("output %q: %w", m.y.Name, err)
	}
	shape := []int{n, per[0], frames * per[1]}
	if y := m.sig.Outputs[0]; y.Ranked && len(y.Shape) == 2 || !y.Ranked && per[0] == 1 {
		shape = []int{n, frames * per[1]}
		if per[0] != 1 {
			return tensor.Tensor{}, fmt.Errorf("output %q has %d numbers per frame, the model declares one", m.y.Name,
				per[0])
		}
	}
	return tensor.New(d, shape...), nil
}
