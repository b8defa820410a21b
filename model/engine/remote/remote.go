// Package remote runs models that a server runs, over the Open Inference Protocol, version 2: gRPC with raw contents,
// or HTTP with binary tensors and, where a server takes no others, JSON.
//
// [Connect] asks the server what the model reads and returns; the answer stands for the signature that a file would
// have. Every later answer is held against it: names, element types, shapes and the number of bytes. What does not fit
// is an error and is never repaired. NaN and infinity pass unchanged, except that JSON has no word for them: see
// [Config.JSON].
//
// A program of this machine that answers over its standard streams ([Config.Command], package child) is asked in the
// same way: one more transport, with the same checks. So is a function of the program that started this one
// ([Config.Live], package parent).
//
// Calls are repeated only after errors that may heal by themselves (the server cannot be reached, is overloaded or was
// cut off), never after a bad answer. Secrets travel in [Config.Header]; no error repeats them.
package remote

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"nero/data/tensor"
	"nero/internal/process"
	"nero/model/engine"
	"nero/model/engine/child"
	"nero/model/onnx"
)

// Model is a model behind an endpoint: an [engine.Session] that many goroutines may share.
type Model struct {
	at       Endpoint
	c        Config
	words    words
	wire     transport
	sig      onnx.Signature
	meta     description
	in, out  []string
	slots    chan struct{}
	closed   atomic.Bool
	closing  sync.Once
	closeErr error
	mu       sync.Mutex
	// version in the first answer that told one
	answering string
	// of opening
	notes []string
}

// transport is one way to speak to a server. Errors that may heal, and those that say how long to wait, are *fault.
type transport interface {
	describe(ctx context.Context) (*description, error)
	// n is what the answer can need.
	infer(ctx context.Context, in []tensor.Named, outputs []string, with parameters, n need) (*answer, error)
	close() error
}

// description is what a server says of a model, in the words of the protocol.
type description struct {
	Name     string     `json:"-"`
	Versions []string   `json:"versions,omitempty"`
	Platform string     `json:"platform"`
	Inputs   []portMeta `json:"inputs"`
	Outputs  []portMeta `json:"outputs"`
}

type portMeta struct {
	Name     string     `json:"name"`
	Datatype string     `json:"datatype"`
	Shape    few[int64] `json:"shape"`
}

// answer is what came back from one call, each tensor with as many bytes as its shape needs.
type answer struct {
	version string
	out     []tensor.Named
}

// words are how messages speak of who answers.
type words struct {
	// with its article, and its place: "endpoint grpc://…"
	who, place string
	// how a signature is declared there
	declare string
	// where to look if it takes too long
	slow string
}

// Connect opens the model behind an endpoint and reads its metadata. The error names the endpoint and says what to do.
func Connect(ctx context.Context, c Config) (*Model, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m, err := reach(ctx, c.withDefaults())
	if err != nil {
		if m != nil {
			err = m.wrap(err)
		}
		return nil, err
	}
	ok := false
	defer func() {
		if !ok {
			_ = m.wire.close() // the first error is the one to report
		}
	}()
	var meta *description
	err = m.retry(ctx, func(ctx context.Context) (err error) {
		meta, err = m.wire.describe(ctx)
		return err
	})
	if err != nil {
		return nil, m.wrap(err)
	}
	if err := m.sign(*meta); err != nil {
		return nil, m.wrap(err)
	}
	ok = true
	return m, nil
}

// reach prepares the way to a model. With an error it returns the model only if it can name its place.
func reach(ctx context.Context, c Config) (m *Model, err error) {
	if c.Command != nil {
		m = &Model{c: c, words: words{
			"the program", "program " + process.Line(c.Command), "in its answer to describe", "",
		}}
		m.wire, err = newProgram(ctx, c)
	} else {
		at, err := Parse(c.URL)
		if err != nil {
			return nil, err
		}
		m = &Model{at: at, c: c, words: words{
			"the server", "endpoint " + at.String(), "on the server (MLServer: model-settings.json)",
			"the server's load",
		}}
		if err := c.check(at); err != nil {
			return m, err
		}
		switch {
		case at.Scheme == liveScheme:
			m.words = words{"the function", "function " + at.String(), "where it is given to nero", "what it waits for"}
			m.wire, err = newLive(at, c)
		case at.isGRPC():
			m.wire, err = newGRPC(at, c)
		default:
			m.wire, err = newHTTP(at, c)
		}
		if err != nil {
			return m, err
		}
	}
	m.slots = make(chan struct{}, c.Concurrency)
	return m, err
}

// mostPorts and mostAxes bound what a server may say of a model.
const (
	mostPorts = 4096
	mostAxes  = 64
)

// sign turns metadata into a signature.
func (m *Model) sign(meta description) error {
	m.meta = meta
	m.sig = onnx.Signature{Producer: meta.Platform, Graph: meta.Name}
	if len(meta.Inputs) > mostPorts || len(meta.Outputs) > mostPorts {
		return fmt.Errorf("its metadata lists %d inputs and %d outputs; at most %d make sense", len(meta.Inputs),
			len(meta.Outputs), mostPorts)
	}
	if len(meta.Inputs) == 0 {
		return fmt.Errorf("its metadata lists no inputs, so nobody can know what to send; declare name, datatype and "+
			"shape of its inputs %s", m.words.declare)
	}
	for _, p := range meta.Inputs {
		port, err := portOf(p)
		if err != nil {
			return fmt.Errorf("its metadata: input %s: %w", m.c.quote(p.Name), err)
		}
		if port.DType == tensor.Undefined {
			return fmt.Errorf("its input %s is of type %s, which holds nothing that can be sent; expected %s, or one "+
				"of %s", m.c.quote(p.Name), m.c.quote(p.Datatype), wordy, strings.Join(datatypes(), ", "))
		}
		if _, err := tensor.CheckedCount(least(port), m.c.MaxMessage/atLeast(port.DType)); err != nil {
			return fmt.Errorf("its input %s of shape %s is longer than the %d bytes that are sent at once; serve it "+
				"with a smaller or a free batch axis", m.c.quote(p.Name), port.ShapeString(), m.c.MaxMessage)
		}
		m.sig.Inputs, m.in = append(m.sig.Inputs, port), append(m.in, port.Name)
	}
	numbers := slices.ContainsFunc(meta.Outputs, func(p portMeta) bool { return !wordless(p.Datatype) })
	for _, p := range meta.Outputs {
		port, err := portOf(p)
		if err != nil {
			return fmt.Errorf("its metadata: output %s: %w", m.c.quote(p.Name), err)
		}
		if port.DType == tensor.Undefined || port.DType == tensor.String && numbers {
			m.notes = append(m.notes,
				fmt.Sprintf("the output %s is of type %s, which holds no numbers, and is not asked for",
					m.c.quote(p.Name), m.c.quote(p.Datatype)))
			continue
		}
		m.sig.Outputs, m.out = append(m.sig.Outputs, port), append(m.out, port.Name)
	}
	if len(m.out) == 0 {
		return fmt.Errorf("its metadata lists no outputs of numbers or texts; declare name, datatype and shape of "+
			"its outputs %s", m.words.declare)
	}
	for _, names := range [][]string{m.in, m.out} {
		for i, n := range names {
			if n == "" || slices.Contains(names[:i], n) {
				return fmt.Errorf("its metadata has a port named %s twice, or without a name; correct it %s",
					m.c.quote(n), m.words.declare)
			}
		}
	}
	return nil
}

// least is the smallest shape that a port takes.
func least(p onnx.Port) []int {
	shape := make([]int, len(p.Shape))
	for i, d := range p.Shape {
		shape[i] = d.Size
		if d.Free() {
			shape[i] = 1
		}
	}
	return shape
}

// portOf is a port as a file would declare it.
func portOf(p portMeta) (onnx.Port, error) {
	port := onnx.Port{Name: p.Name, Kind: "tensor", DType: dtypeOf(p.Datatype), Ranked: true, Shape: []onnx.Dim{}}
	if len(p.Shape) > mostAxes {
		return port, fmt.Errorf("%d axes; at most %d make sense", len(p.Shape), mostAxes)
	}
	for _, n := range p.Shape {
		switch {
		case n == -1:
			port.Shape = append(port.Shape, onnx.Dim{Size: -1})
		case n < 0 || n > 1<<40:
			return port, fmt.Errorf("shape %v; expected lengths of 0 or more, or -1 for any", p.Shape)
		default:
			port.Shape = append(port.Shape, onnx.Dim{Size: int(n)})
		}
	}
	return port, nil
}

// Signature says what the model reads and returns, as its file would: axes of any length are free, and nothing is known
// of a graph.
func (m *Model) Signature() onnx.Signature { return m.sig }

// Place is where the model is, as a study may name it: a URL, or [Exec] and a command.
func (m *Model) Place() string {
	if m.c.Command != nil {
		return Exec + process.Line(m.c.Command)
	}
	return m.at.String()
}

// Exec is what a text begins with that names a program and its arguments where a model is wanted.
const Exec = "exec:"

// Platform is what the server calls the software that runs the model; it may be empty.
func (m *Model) Platform() string { return m.meta.Platform }

// Notes are sentences about how the model is reached that a user should know, such as that JSON is used.
func (m *Model) Notes() []string {
	notes := slices.Clone(m.notes)
	if n, ok := m.wire.(interface{ notes() []string }); ok {
		notes = append(notes, n.notes()...)
	}
	return notes
}

// Inputs are the names of the inputs, in the order of the metadata.
func (m *Model) Inputs() []string { return slices.Clone(m.in) }

// Outputs are the names of the outputs, in the order of the metadata. Outputs of texts are left out where there are
// others of numbers.
func (m *Model) Outputs() []string { return slices.Clone(m.out) }

// Run sends one batch and returns what the model answers, held against the metadata. The context's end is returned as
// its error.
func (m *Model) Run(ctx context.Context, in []tensor.Named) ([]tensor.Named, error) {
	if m.closed.Load() {
		return nil, engine.ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := m.checkInputs(in); err != nil {
		return nil, m.wrap(err)
	}
	select {
	case m.slots <- struct{}{}:
		defer func() { <-m.slots }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	var got *answer
	n := m.need(in, m.c.MaxMessage)
	err := m.retry(ctx, func(ctx context.Context) (err error) {
		got, err = m.wire.infer(ctx, in, m.out, nil, n)
		return err
	})
	if err != nil {
		return nil, m.wrap(err)
	}
	out, err := m.checkAnswer(in, got)
	if err != nil {
		return nil, m.wrap(err)
	}
	return out, nil
}

// Close ends the connection. Closing twice changes nothing.
func (m *Model) Close() error {
	m.closing.Do(func() {
		m.closed.Store(true)
		m.closeErr = m.wire.close()
	})
	return m.closeErr
}

func (m *Model) checkInputs(in []tensor.Named) error {
	if err := engine.CheckInputs(m.in, in); err != nil {
		return err
	}
	for i, p := range m.sig.Inputs {
		x := in[i]
		if x.DType != p.DType {
			return fmt.Errorf("the input %s is sent as %s, %s expects %s", m.c.quote(p.Name), x.DType, m.words.who,
				p.DType)
		}
		if !fits(p, x.Shape) {
			return fmt.Errorf("the input %s is sent in shape %v, %s expects %s", m.c.quote(p.Name), x.Shape,
				m.words.who, p.ShapeString())
		}
	}
	return nil
}

// fits tells whether a tensor of some shape can be at a port.
func fits(p onnx.Port, shape []int) bool {
	if len(shape) != len(p.Shape) {
		return false
	}
	for i, d := range p.Shape {
		if !d.Free() && d.Size != shape[i] {
			return false
		}
	}
	return true
}

// batch is the common length of the first axes of the inputs where all of them are free: the number of samples. -1 if
// there is none.
func (m *Model) batch(in []tensor.Named) int {
	n := -1
	for i, p := range m.sig.Inputs {
		if len(p.Shape) == 0 || !p.Shape[0].Free() || i > 0 && in[i].Shape[0] != n {
			return -1
		}
		n = in[i].Shape[0]
	}
	return n
}

// checkAnswer holds an answer against the metadata and the request, and puts its tensors into the order of the
// metadata.
func (m *Model) checkAnswer(in []tensor.Named, got *answer) ([]tensor.Named, error) {
	if v := got.version; v != "" {
		m.mu.Lock()
		if m.answering == "" {
			m.answering = v
		}
		first := m.answering
		m.mu.Unlock()
		if v != first {
			return nil, fmt.Errorf(
				"version %s answers now, version %s did before: the model was exchanged; fix one with version: %q "+
					"and run again", m.c.quote(v), m.c.quote(first), m.c.clip(first))
		}
	}
	var names []string
	for _, t := range got.out {
		names = append(names, m.c.quote(t.Name))
	}
	n := m.batch(in)
	out := make([]tensor.Named, len(m.out))
	for i, p := range m.sig.Outputs {
		at := -1
		for j, t := range got.out {
			if t.Name != p.Name {
				continue
			}
			if at >= 0 {
				return nil, fmt.Errorf("the answer holds the output %s twice", m.c.quote(p.Name))
			}
			at = j
		}
		if at < 0 {
			return nil, fmt.Errorf(
				"the answer lacks the output %s that the metadata promises; it holds %s: %s and metadata do not go "+
					"together", m.c.quote(p.Name), list(names), m.words.who)
		}
		t := got.out[at]
		if t.DType != p.DType {
			return nil, fmt.Errorf(
				"the output %s came as %s, the metadata says %s: %s and metadata do not go together",
				m.c.quote(p.Name), t.DType, p.DType, m.words.who)
		}
		if !fits(p, t.Shape) {
			return nil, fmt.Errorf(
				"the output %s came in shape %v, the metadata says %s: %s and metadata do not go together",
				m.c.quote(p.Name), t.Shape, p.ShapeString(), m.words.who)
		}
		if n >= 0 && len(p.Shape) > 0 && p.Shape[0].Free() && t.Shape[0] != n {
			return nil, fmt.Errorf(
				"the output %s came in shape %v for a request of %d samples; expected %d along its first axis",
				m.c.quote(p.Name), t.Shape, n, n)
		}
		if err := t.Check(); err != nil {
			return nil, fmt.Errorf("the output %s: %w", m.c.quote(p.Name), err)
		}
		out[i] = t
	}
	return out, nil
}

// list joins words, "nothing" if there are none. Long lists are cut.
func list(words []string) string {
	const most = 8
	switch n := len(words); {
	case n == 0:
		return "nothing"
	case n > most:
		return fmt.Sprintf("%s and %d more", strings.Join(words[:most], ", "), n-most)
	default:
		return strings.Join(words, ", ")
	}
}

// Engine is the model as an engine that opens nothing else, for whoever lends out sessions: every session is m itself.
func (m *Model) Engine() engine.Engine { return opened{m} }

type opened struct{ m *Model }

// Info names protocol and endpoint.
func (o opened) Info() engine.Info {
	if o.m.c.Command != nil {
		return engine.Info{
			Name: "program", Version: fmt.Sprintf("frames %d", child.Protocol), Path: o.m.Place(),
			Reason: "the study names a program",
		}
	}
	version := "OIP v2, HTTP"
	if o.m.at.isGRPC() {
		version = "OIP v2, gRPC"
	}
	return engine.Info{Name: "remote", Version: version, Path: o.m.at.String(), Reason: "the study names an endpoint"}
}

// Open returns the model; it has no file to open, so model must be empty.
func (o opened) Open(ctx context.Context, model []byte, _ engine.Options) (engine.Session, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(model) > 0 {
		return nil, o.m.wrap(errors.New("an endpoint runs its own model and takes no file"))
	}
	return o.m, nil
}

// Concurrent is true: calls share the connection.
func (opened) Concurrent() bool { return true }

// Fingerprint says which model answers: the SHA-256, in lower-case hexadecimal, of its metadata (versions, platform,
// names, element types and shapes) and of its answer to in. The same input must be given each time. Its place and name
// on the server are no part of it; the file of a program and its arguments are. Repeats is false if two calls with the
// same input gave different answers; the answers are left out of the digest then, for they could tell nothing.
func (m *Model) Fingerprint(ctx context.Context, in []tensor.Named) (digest string, repeats bool, err error) {
	h, err := m.said()
	if err != nil {
		return "", false, err
	}
	first, err := m.Run(ctx, in)
	if err != nil {
		return "", false, err
	}
	again, err := m.Run(ctx, in)
	if err != nil {
		return "", false, err
	}
	a, b := digestOf(first), digestOf(again)
	if repeats = slices.Equal(a, b); repeats {
		h.Write(a)
	}
	return hex.EncodeToString(h.Sum(nil)), repeats, nil
}

// said is the hash of what the model says of itself, and of the file of a program and its arguments.
func (m *Model) said() (hash.Hash, error) {
	meta := m.meta
	if m.c.Version != "" {
		meta.Versions = []string{m.c.Version}
	}
	h := sha256.New()
	b, err := json.Marshal(meta)
	if err != nil {
		return nil, m.wrap(err)
	}
	h.Write(append(b, '\n'))
	if p, ok := m.wire.(interface{ digest() (string, error) }); ok {
		d, err := p.digest()
		if err != nil {
			return nil, m.wrap(err)
		}
		h.Write([]byte(d))
	}
	return h, nil
}

// Identity is [Model.Fingerprint] without asking anything: what cannot be told by an answer to a fixed input, because
// nobody knows one that makes sense, is told by the file of a program, and of an endpoint by what it says of itself.
func (m *Model) Identity() (digest string, err error) {
	h, err := m.said()
	if err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func digestOf(ts []tensor.Named) []byte {
	h := sha256.New()
	for _, t := range ts {
		h.Write(fmt.Appendf(nil, "%q %s %v\n", t.Name, t.DType, t.Shape))
		h.Write(t.Raw)
	}
	return h.Sum(nil)
}

// retry calls f until it succeeds, fails for good, or has been tried often enough. Each try has the time that the
// configuration gives.
func (m *Model) retry(ctx context.Context, f func(context.Context) error) error {
	r := m.c.Retry
	pause := r.Base
	for try := 1; ; try++ {
		err := m.once(ctx, f)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		var fa *fault
		if !errors.As(err, &fa) || !fa.heals {
			return err
		}
		wait := fa.after
		if wait == 0 {
			wait = pause
			if r.Jitter != nil {
				wait = pause/2 + time.Duration(float64(pause/2)*r.Jitter())
			}
		}
		if wait > r.Patience {
			return fmt.Errorf("%w; it asks to wait for %v, which is longer than the %v that are waited for", err, wait,
				r.Patience)
		}
		if try >= r.Attempts {
			if try > 1 {
				return fmt.Errorf("%w (tried %d times)", err, try)
			}
			return err
		}
		if err := r.Wait(ctx, wait); err != nil {
			return err
		}
		pause = min(2*pause, r.Max)
	}
}

// once calls f with the time that one call may take.
func (m *Model) once(ctx context.Context, f func(context.Context) error) error {
	if m.c.Timeout < 0 || m.c.Command != nil { // the time of a program begins when it is asked, and not before
		return f(ctx)
	}
	within, cancel := context.WithTimeout(ctx, m.c.Timeout)
	defer cancel()
	err := f(within)
	if err != nil && ctx.Err() == nil &&
		(errors.Is(within.Err(), context.DeadlineExceeded) || errors.Is(err, context.DeadlineExceeded)) {
		return &overdue{fmt.Sprintf("no answer within %v; raise timeout or --time-limit, lower batch, or look at %s",
			m.c.Timeout, m.words.slow)}
	}
	return err
}

// wrap names the endpoint and hides secrets. Ends of a context stay as they are.
func (m *Model) wrap(err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &Error{Place: m.words.place, text: m.c.hide(err.Error()), err: err}
}

// Error is what went wrong at an endpoint, or with a program.
type Error struct {
	// "endpoint" and its URL, or "program" and its command
	Place string
	text  string
	err   error
}

// Error names the place, what happened and what to do, on one line and without secrets.
func (e *Error) Error() string { return e.Place + ": " + e.text }

// Unavailable tells whether the endpoint could not be reached or gave up under load, so that the same call may succeed
// later.
func (e *Error) Unavailable() bool {
	var f *fault
	return errors.As(e.err, &f) && f.heals
}

// fault is a failed call.
type fault struct {
	// by itself: worth another try
	heals bool
	// that the server asks to wait; 0 if it says nothing
	after time.Duration
	text  string
}

func (f *fault) Error() string { return f.text }

func failed(format string, a ...any) error { return &fault{text: fmt.Sprintf(format, a...)} }
func busy(format string, a ...any) error {
	return &fault{heals: true, text: fmt.Sprintf(format, a...)}
}
