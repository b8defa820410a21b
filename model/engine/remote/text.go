package remote

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"nero/data/tensor"
)

// Text is a model behind an endpoint, or a program, that reads one text, or bytes, and answers a text or numbers. It is
// asked one input at a time. Nothing of it is held against a fingerprint: it may answer otherwise each time.
type Text struct {
	m     *Model
	in    portMeta
	out   portMeta
	shape []int
}

// Said is the answer to one input.
type Said struct {
	// Text is what was said, where the output is one of texts.
	Text string
	// Numbers are what was said where it is one of numbers, else nil.
	Numbers []float64
}

// ConnectText opens the model behind an endpoint, or a program, as [Connect] does. The output names which one is read;
// it may be empty where the model has one.
func ConnectText(ctx context.Context, c Config, output string) (*Text, error) {
	if strings.HasPrefix(strings.ToLower(c.URL), liveScheme+"://") {
		return nil, errors.New("texts and bytes are asked of endpoints and programs, and functions of Python read " +
			"arrays: write http://HOST:PORT/MODEL, grpc://HOST:PORT/MODEL or exec:COMMAND")
	}
	m, err := reach(ctx, c.withDefaults())
	if err != nil {
		if m != nil {
			err = m.wrap(err)
		}
		return nil, err
	}
	t := &Text{m: m}
	var meta *description
	err = m.retry(ctx, func(ctx context.Context) (err error) {
		meta, err = m.wire.describe(ctx)
		return err
	})
	if err == nil {
		m.meta = *meta
		err = t.sign(output)
	}
	if err != nil {
		_ = m.wire.close() // the first error is the one to report
		return nil, m.wrap(err)
	}
	return t, nil
}

// sign finds the input and the output in the metadata.
func (t *Text) sign(output string) error {
	m := t.m
	if n := len(m.meta.Inputs); n != 1 {
		return fmt.Errorf("its metadata lists %d inputs; a model of texts has one, of type %s: declare it %s", n, wordy,
			m.words.declare)
	}
	t.in = m.meta.Inputs[0]
	if !strings.EqualFold(t.in.Datatype, wordy) {
		return fmt.Errorf("its input %s is of type %s, and texts and bytes are sent as %s; declare that %s, or name "+
			"files of pictures and run the model by its file", m.c.quote(t.in.Name), m.c.quote(t.in.Datatype), wordy,
			m.words.declare)
	}
	for _, n := range t.in.Shape {
		if n != -1 && n != 1 || len(t.in.Shape) > mostAxes {
			return fmt.Errorf("its input %s has shape %v; one text is sent at a time, in shape [1]",
				m.c.quote(t.in.Name),
				[]int64(t.in.Shape))
		}
		t.shape = append(t.shape, 1)
	}
	if t.shape == nil {
		t.shape = []int{1}
	}
	var names []string
	for _, o := range m.meta.Outputs {
		names = append(names, m.c.quote(o.Name))
		if o.Name == output || output == "" && len(m.meta.Outputs) == 1 {
			t.out = o
		}
	}
	switch {
	case t.out.Name == "" && output == "":
		return fmt.Errorf("its metadata lists %d outputs, %s; say which is read with output: {name: …}", len(names),
			list(names))
	case t.out.Name == "":
		return fmt.Errorf("it has no output %s; there are %s", quote(output), list(names))
	case !t.Wordy() && dtypeOf(t.out.Datatype) == tensor.Undefined:
		return fmt.Errorf("its output %s is of type %s; want %s, or numbers: %s", m.c.quote(t.out.Name),
			m.c.quote(t.out.Datatype), wordy, strings.Join(datatypes(), ", "))
	}
	return nil
}

// Wordy tells whether answers are texts.
func (t *Text) Wordy() bool { return strings.EqualFold(t.out.Datatype, wordy) }

// Place is where the model is.
func (t *Text) Place() string { return t.m.Place() }

// Close ends the connection.
func (t *Text) Close() error { return t.m.Close() }

// Concurrency is how many questions may be under way at once.
func (t *Text) Concurrency() int {
	if p, ok := t.m.wire.(interface{ atOnce() int }); ok {
		return p.atOnce()
	}
	return t.m.c.Concurrency
}

// Identity says which program this is, see [Model.Identity].
func (t *Text) Identity() (digest string, err error) { return t.m.Identity() }

// Ask asks about one input. The parameters go along with the request: texts, whole numbers, true and false.
func (t *Text) Ask(ctx context.Context, input []byte, with map[string]any) (Said, error) {
	if err := ctx.Err(); err != nil {
		return Said{}, err
	}
	if uint64(len(input)) > uint64(min(t.m.c.MaxMessage, math.MaxInt32)) {
		return Said{}, t.m.wrap(tooLong(len(input), min(t.m.c.MaxMessage, math.MaxInt32)))
	}
	select {
	case t.m.slots <- struct{}{}:
		defer func() { <-t.m.slots }()
	case <-ctx.Done():
		return Said{}, ctx.Err()
	}
	in := []tensor.Named{{Name: t.in.Name, Tensor: tensor.OfStrings([]string{string(input)}, t.shape...)}}
	var said Said
	err := t.m.retry(ctx, func(ctx context.Context) error {
		// no answer is longer than what may stand beside numbers
		got, err := t.m.wire.infer(ctx, in, []string{t.out.Name}, with, need{})
		if err == nil {
			said, err = t.read(got)
		}
		return err
	})
	return said, t.m.wrap(err)
}

// read takes an answer apart.
func (t *Text) read(got *answer) (Said, error) {
	i := slices.IndexFunc(got.out, func(o tensor.Named) bool { return o.Name == t.out.Name })
	if i < 0 {
		return Said{}, failed("the answer lacks the output %s that the metadata promises", t.m.c.quote(t.out.Name))
	}
	o := got.out[i]
	if o.DType != dtypeOf(t.out.Datatype) {
		return Said{}, failed("the output %s came as %s, the metadata says %s", t.m.c.quote(o.Name),
			t.m.c.quote(Datatype(o.DType)), t.m.c.quote(t.out.Datatype))
	}
	if !t.Wordy() {
		numbers, err := o.Float64s([]float64{})
		if err != nil {
			return Said{}, failed("the output %s: %v", t.m.c.quote(o.Name), err)
		}
		return Said{Numbers: numbers}, nil
	}
	words, err := o.Strings()
	switch {
	case err != nil:
		return Said{}, failed("the output %s: %v", t.m.c.quote(o.Name), err)
	case len(words) != 1:
		return Said{}, failed("the output %s has %d texts; want one text", t.m.c.quote(o.Name), len(words))
	case !utf8.ValidString(words[0]):
		return Said{}, failed("the output %s is no text in UTF-8: %s; want one text", t.m.c.quote(o.Name),
			t.m.c.quote(words[0]))
	}
	return Said{Text: words[0]}, nil
}

// coded is an error with the code that the server answered.
type coded struct {
	error

	code int
}

// Unwrap is the error without the code.
func (c *coded) Unwrap() error { return c.error }

// overdue is a call that took longer than it may.
type overdue struct{ text string }

// Error says how long it was waited.
func (o *overdue) Error() string { return o.text }

// Code is what a server answered in place of an answer, as HTTP counts, also where it speaks gRPC: 429 where it was
// asked too often. It is 0 where
// it did not answer by the protocol.
func (e *Error) Code() int {
	if c, ok := errors.AsType[*coded](e.err); ok {
		return c.code
	}
	return 0
}

// Late tells whether no answer came within the time that one may take.
func (e *Error) Late() bool {
	_, ok := errors.AsType[*overdue](e.err)
	return ok
}
