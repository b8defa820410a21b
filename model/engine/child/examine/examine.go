// Package examine holds a program that is to be a model against the protocol of docs/PROGRAMS.md, step by step, and
// names the first thing that is wrong: for authors of such programs, in any language.
package examine

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"nero/data/tensor"
	"nero/internal/process"
	"nero/model/engine/child"
	"nero/model/engine/frame"
	"nero/model/engine/remote"
	"nero/model/onnx"
)

// Report is what was found.
type Report struct {
	Program string   `json:"program"`
	Says    string   `json:"says"`
	Inputs  []string `json:"inputs"`
	Outputs []string `json:"outputs"`
	Steps   []Step   `json:"steps"`
	// Fault is the first thing that is wrong; nil for nothing.
	Fault error `json:"-"`
}

// Step is one thing that was tried.
type Step struct {
	Name string `json:"name"`
	OK   bool   `json:"ok"`
	// Found is what came of it, in words.
	Found string `json:"found"`
}

// axis is the length that a free axis gets which does not count inputs, where nobody says one.
const axis = 32

// MaxMessage bounds what the program may send in one frame, in bytes.
const MaxMessage = 512 << 20

// Examine starts the program, several times, and asks it. The shape is that of its first input, for axes of any length;
// nil for none. The error is that of the context; what is wrong with the program is in the report.
func Examine(ctx context.Context, command []string, dir string, shape []int, timeout time.Duration) (*Report, error) {
	e := &examination{
		ctx: ctx, shape: shape, timeout: timeout,
		what: child.Config{Command: command, Dir: dir, MaxMessage: MaxMessage},
		r:    &Report{Program: process.Line(command), Inputs: []string{}, Outputs: []string{}},
	}
	defer func() {
		if e.p != nil { // one that failed a step before its end goes on otherwise
			e.p.Kill(errors.New("the examination is over"))
		}
		for _, m := range e.models {
			_ = m.Close() // programs that are ended tell nothing more
		}
	}()
	for _, s := range []struct {
		name string
		try  func() (string, error)
	}{
		{"hello", e.hello},
		{"unknown", e.unknown},
		{"end", e.end},
		{"describe", e.describe},
		{"infer", e.infer},
		{"repeats", e.repeats},
		{"batch", e.batch},
		{"second", e.second},
	} {
		found, err := s.try()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			e.r.Steps = append(e.r.Steps, Step{s.name, false, err.Error()})
			e.r.Fault = fmt.Errorf("program %s: %s: %w", e.r.Program, s.name, err)
			break
		}
		e.r.Steps = append(e.r.Steps, Step{s.name, true, found})
	}
	return e.r, nil
}

type examination struct {
	ctx     context.Context //nolint:containedctx // it lasts as long as the examination
	what    child.Config
	shape   []int
	timeout time.Duration
	r       *Report

	p      *child.Program
	models []*remote.Model
	// what it was fed, and what it answered
	in, out []tensor.Named
}

// hello starts it.
func (e *examination) hello() (string, error) {
	ctx, cancel := context.WithTimeout(e.ctx, e.timeout)
	defer cancel()
	var err error
	if e.p, err = child.Start(ctx, e.what); err != nil {
		return "", err
	}
	h := e.p.Hello()
	e.r.Says = h.Program
	return fmt.Sprintf("protocol %d, %q, %d at once", h.Protocol, h.Program, max(h.Concurrency, 1)), nil
}

// unknown asks what no program knows: protocols grow, and an old program has to say that it does not know.
func (e *examination) unknown() (string, error) {
	late := time.NewTimer(e.timeout)
	defer late.Stop()
	c, err := e.p.Ask([]byte(`{"method":"no-such-method"}`))
	if err != nil {
		return "", err
	}
	var f frame.Frame
	select {
	case f = <-c:
	case <-e.p.Dead():
		var came bool
		if f, came = frame.Came(c); !came {
			return "", fmt.Errorf("asked for a method that it cannot know, expected {\"error\":\"why\"} and to go "+
				"on: %w", e.p.Why())
		}
	case <-late.C:
		return "", fmt.Errorf("no answer to a method that it cannot know within %v; expected {\"error\":\"why\"}%s",
			e.timeout, e.p.Last())
	case <-e.ctx.Done():
		return "", e.ctx.Err()
	}
	var m struct {
		Error string `json:"error"`
	}
	if err := child.Unmarshal(f.JSON, &m); err != nil {
		return "", err
	}
	if m.Error == "" {
		return "", fmt.Errorf("a method that it cannot know was answered with %s; expected {\"error\":\"why\"}",
			child.Quote(string(f.JSON)))
	}
	return "a method that it does not know is an error: " + child.Quote(m.Error), nil
}

// end closes its standard input.
func (e *examination) end() (string, error) {
	if !e.p.Close() {
		return "", fmt.Errorf("it goes on %v after its standard input has ended; it is to end then", child.Grace)
	}
	if code := e.p.Code(); code != 0 {
		return "", fmt.Errorf("it ended with exit code %d when its standard input did; expected 0%s", code, e.p.Last())
	}
	return "it ends when its standard input does", nil
}

// connect starts so many.
func (e *examination) connect(workers int) (*remote.Model, error) {
	m, err := remote.Connect(e.ctx, remote.Config{
		Command: e.what.Command, Dir: e.what.Dir, Workers: workers, Timeout: e.timeout, MaxMessage: MaxMessage,
	})
	if err != nil {
		return nil, plain(err)
	}
	e.models = append(e.models, m)
	return m, nil
}

// plain is an error without the name of the program, which the report gives.
func plain(err error) error {
	if r, ok := errors.AsType[*remote.Error](err); ok {
		return errors.New(strings.TrimPrefix(r.Error(), r.Place+": "))
	}
	return err
}

// describe asks what it reads and returns.
func (e *examination) describe() (string, error) {
	m, err := e.connect(1)
	if err != nil {
		return "", err
	}
	sig := m.Signature()
	for _, p := range sig.Inputs {
		e.r.Inputs = append(e.r.Inputs, p.String())
	}
	for _, p := range sig.Outputs {
		e.r.Outputs = append(e.r.Outputs, p.String())
	}
	return strings.Join(e.r.Inputs, ", ") + " -> " + strings.Join(e.r.Outputs, ", "), nil
}

// infer asks for one answer.
func (e *examination) infer() (string, error) {
	in, err := e.inputs(1, 0)
	if err != nil {
		return "", err
	}
	if e.out, err = e.models[0].Run(e.ctx, in); err != nil {
		err = plain(err)
		if e.shape == nil && slices.ContainsFunc(e.models[0].Signature().Inputs, free) {
			err = fmt.Errorf("%w (it was fed %s; axes of any length are %d long unless --shape says otherwise)", err,
				shapes(in), axis)
		}
		return "", err
	}
	e.in = in
	found := []string{shapes(in) + " -> " + shapes(e.out)}
	for _, t := range e.out {
		x, err := t.Float64s(nil)
		if err == nil && slices.ContainsFunc(x, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }) {
			found = append(found, t.Name+" holds numbers that are not finite")
		}
	}
	return strings.Join(found, "; "), nil
}

// free tells whether an axis other than the first may have any length.
func free(p onnx.Port) bool {
	return len(p.Shape) > 1 && slices.ContainsFunc(p.Shape[1:], onnx.Dim.Free)
}

// repeats asks the same again.
func (e *examination) repeats() (string, error) {
	again, err := e.models[0].Run(e.ctx, e.in)
	if err != nil {
		return "", plain(err)
	}
	if !same(e.out, again) {
		return "the same input is answered otherwise each time: a run cannot be repeated; draw from a seed of its " +
			"own if that is not meant", nil
	}
	return "the same input has the same answer, to the last bit", nil
}

// batch asks for three at once, and one by one.
func (e *examination) batch() (string, error) {
	const n = 3
	if e.models[0].Signature().Batch() != 0 {
		return "its first axis has a fixed length, so inputs go by as many", nil
	}
	all, err := e.inputs(n, 1)
	if err != nil {
		return "", err
	}
	together, err := e.models[0].Run(e.ctx, all)
	if err != nil {
		return "", plain(fmt.Errorf("%d inputs at once: %w", n, err))
	}
	worst := 0.0
	for i := range n {
		alone, err := e.models[0].Run(e.ctx, part(all, i, n))
		if err != nil {
			return "", plain(err)
		}
		for k, t := range part(together, i, n) {
			a, errA := t.Float64s(nil)
			b, errB := alone[k].Float64s(nil)
			if err := errors.Join(errA, errB); err != nil || len(a) != len(b) {
				return "", fmt.Errorf("the output %q has another form for %d inputs than for one", t.Name, n)
			}
			for j := range a {
				if d := math.Abs(a[j] - b[j]); !(d <= worst) {
					worst = d
				}
			}
		}
	}
	if worst != 0 {
		return fmt.Sprintf("%d inputs at once are answered otherwise than one by one, by up to %.2g", n, worst), nil
	}
	return fmt.Sprintf("%d inputs at once are answered as one by one", n), nil
}

// second asks two that run at once.
func (e *examination) second() (string, error) {
	m, err := e.connect(2)
	if err != nil {
		return "", err
	}
	for range 2 {
		out, err := m.Run(e.ctx, e.in)
		if err != nil {
			return "", plain(err)
		}
		if !same(e.out, out) {
			return "another start of it answers the same input otherwise: leave workers at 1, and do not count on " +
				"numbers that can be repeated", nil
		}
	}
	return "two that run at once answer alike", nil
}

// inputs are n inputs of noise.
func (e *examination) inputs(n int, seed uint64) ([]tensor.Named, error) {
	rng := rand.New(rand.NewPCG(seed, 1))
	var in []tensor.Named
	for i, p := range e.models[0].Signature().Inputs {
		shape := make([]int, len(p.Shape))
		for k, d := range p.Shape {
			switch {
			case !d.Free():
				shape[k] = d.Size
			case k == 0:
				shape[k] = n
			case i == 0 && len(e.shape) == len(p.Shape):
				shape[k] = e.shape[k]
			default:
				shape[k] = axis
			}
		}
		if i == 0 && e.shape != nil && len(e.shape) != len(p.Shape) {
			return nil, fmt.Errorf("--shape has %d axes, and the input is %s", len(e.shape), p)
		}
		if _, err := tensor.CheckedCount(shape, MaxMessage/p.DType.Size()); err != nil {
			return nil, fmt.Errorf("the input %s: %w", p, err)
		}
		t := tensor.New(p.DType, shape...)
		fill(t, rng)
		in = append(in, tensor.Named{Name: p.Name, Tensor: t})
	}
	return in, nil
}

// fill writes numbers between 0 and 1: noise for floats, zeros and ones for the others.
func fill(t tensor.Tensor, rng *rand.Rand) {
	size := t.DType.Size()
	for i := range t.Len() {
		b := t.Raw[i*size : (i+1)*size]
		switch t.DType { //nolint:exhaustive // the others are integers, or read as 0
		case tensor.Float32:
			binary.LittleEndian.PutUint32(b, math.Float32bits(rng.Float32()))
		case tensor.Float64:
			binary.LittleEndian.PutUint64(b, math.Float64bits(rng.Float64()))
		case tensor.Float16, tensor.BFloat16:
		default:
			b[0] = byte(rng.IntN(2))
		}
	}
}

// part is the i-th of n along the first axis.
func part(ts []tensor.Named, i, n int) []tensor.Named {
	out := slices.Clone(ts)
	for k, t := range ts {
		if len(t.Shape) == 0 || t.Shape[0] != n {
			continue
		}
		size := len(t.Raw) / n
		out[k].Shape = append([]int{1}, t.Shape[1:]...)
		out[k].Raw = t.Raw[i*size : (i+1)*size]
	}
	return out
}

func same(a, b []tensor.Named) bool {
	return slices.EqualFunc(a, b, func(x, y tensor.Named) bool {
		return slices.Equal(x.Shape, y.Shape) && bytes.Equal(x.Raw, y.Raw)
	})
}

func shapes(ts []tensor.Named) string {
	words := make([]string, len(ts))
	for i, t := range ts {
		words[i] = fmt.Sprintf("%s %s%v", t.Name, t.DType, t.Shape)
	}
	return strings.Join(words, ", ")
}

// WriteText writes it for people.
func (r *Report) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "program %s\n", r.Program)
	for _, s := range r.Steps {
		fmt.Fprintf(&b, "  %-8s  %-5s  %s\n", s.Name, map[bool]string{true: "ok", false: "WRONG"}[s.OK], s.Found)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
