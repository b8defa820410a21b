package remote

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"nero/data/tensor"
)

// wordy is the element type of the protocol that holds texts and bytes, and no numbers.
const wordy = "BYTES"

// Text is a model behind an endpoint that reads one text, or bytes, and answers a text or numbers. It is asked one
// input
// at a time. Nothing of it is held against a fingerprint: it may answer otherwise each time.
type Text struct {
	m     *Model
	wire  *viaHTTP
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

// ConnectText opens the model behind an endpoint as [Connect] does. The output names which one is read; it may be empty
// where the model has one.
func ConnectText(ctx context.Context, c Config, output string) (*Text, error) {
	if c.Command != nil || !strings.HasPrefix(strings.ToLower(c.URL), "http") {
		return nil, errors.New("texts and bytes are asked of an endpoint over HTTP: write http://HOST:PORT/MODEL or " +
			"https://")
	}
	m, err := reach(ctx, c.withDefaults())
	if err != nil {
		if m != nil {
			err = m.wrap(err)
		}
		return nil, err
	}
	wire, ok := m.wire.(*viaHTTP)
	if !ok {
		panic("remote: HTTP that is spoken otherwise") // the scheme says so
	}
	t := &Text{m: m, wire: wire}
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
func (t *Text) Concurrency() int { return t.m.c.Concurrency }

// Ask asks about one input. The parameters go along with the request; they hold what JSON can.
func (t *Text) Ask(ctx context.Context, input []byte, parameters map[string]any) (Said, error) {
	if err := ctx.Err(); err != nil {
		return Said{}, err
	}
	select {
	case t.m.slots <- struct{}{}:
		defer func() { <-t.m.slots }()
	case <-ctx.Done():
		return Said{}, ctx.Err()
	}
	head, raw, err := t.request(input, parameters)
	if err != nil {
		return Said{}, t.m.wrap(err)
	}
	var said Said
	err = t.m.retry(ctx, func(ctx context.Context) (err error) {
		said, err = t.post(ctx, head, raw)
		return err
	})
	return said, t.m.wrap(err)
}

// request is the JSON of a request, and behind it bytes that are no text and that JSON therefore cannot hold.
func (t *Text) request(input []byte, parameters map[string]any) (head, raw []byte, err error) {
	type object map[string]any
	in := object{"name": t.in.Name, "datatype": wordy, "shape": t.shape}
	if utf8.Valid(input) {
		in["data"] = []string{string(input)}
	} else {
		raw = append(binary.LittleEndian.AppendUint32(nil, uint32(min(len(input), math.MaxUint32))), input...)
		in["parameters"] = object{"binary_data_size": len(raw)}
	}
	r := object{"inputs": []object{in}, "outputs": []object{{"name": t.out.Name}}}
	if len(parameters) > 0 {
		r["parameters"] = maps.Clone(parameters)
	}
	head, err = json.Marshal(r)
	return head, raw, err
}

// post asks once.
func (t *Text) post(ctx context.Context, head, raw []byte) (Said, error) {
	header, body := http.Header{"Content-Type": {"application/json"}}, [][]byte{head}
	if raw != nil {
		header = http.Header{"Content-Type": {"application/octet-stream"}, headerLength: {strconv.Itoa(len(head))}}
		body = append(body, raw)
	}
	got, err := t.wire.exchange(ctx, http.MethodPost, t.wire.base+"/infer", header, need{}, body...)
	if err != nil {
		return Said{}, err
	}
	if got.code != http.StatusOK {
		return Said{}, &coded{t.wire.status(got), got.code}
	}
	if got.header.Get(headerLength) != "" {
		return Said{}, failed("the answer holds binary tensors, and JSON was asked for; declare its outputs %s",
			t.m.words.declare)
	}
	return t.read(got.body)
}

// read takes an answer apart.
func (t *Text) read(body []byte) (Said, error) {
	var r struct {
		Outputs few[answeredInJSON] `json:"outputs"`
	}
	if err := json.Unmarshal(strictJSON(body), &r); err != nil {
		return Said{}, failed("the answer is not what the protocol says (%s): %s", t.m.c.clip(err.Error()),
			t.m.c.quote(start(body)))
	}
	i := slices.IndexFunc(r.Outputs, func(o answeredInJSON) bool { return o.Name == t.out.Name })
	if i < 0 {
		return Said{}, failed("the answer lacks the output %s that the metadata promises", t.m.c.quote(t.out.Name))
	}
	o := r.Outputs[i]
	if !strings.EqualFold(o.Datatype, t.out.Datatype) {
		return Said{}, failed("the output %s came as %s, the metadata says %s", t.m.c.quote(o.Name),
			t.m.c.quote(o.Datatype), t.m.c.quote(t.out.Datatype))
	}
	if t.Wordy() {
		return t.text(o)
	}
	d, shape, n, err := shaped(o.Name, o.Datatype, o.Shape, beside) // no answer is longer
	if err != nil {
		return Said{}, err
	}
	x, err := readJSON(d, shape, n, o.Data)
	if err != nil {
		return Said{}, failed("the output %s: %v", t.m.c.quote(o.Name), err)
	}
	numbers, err := x.Float64s([]float64{})
	if err != nil {
		return Said{}, failed("the output %s: %v", t.m.c.quote(o.Name), err)
	}
	return Said{Numbers: numbers}, nil
}

// text is the one text of an output, in as many brackets as its shape has axes, or flat.
func (t *Text) text(o answeredInJSON) (Said, error) {
	data := o.Data
	for range mostAxes {
		var one []json.RawMessage
		if json.Unmarshal(data, &one) != nil || len(one) != 1 {
			break
		}
		data = one[0]
	}
	var said *string
	if err := json.Unmarshal(data, &said); err != nil || said == nil {
		return Said{}, failed("the output %s is %s; want one text, as an array of one string", t.m.c.quote(o.Name),
			t.m.c.quote(start(o.Data)))
	}
	return Said{Text: *said}, nil
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

// Code is what a server answered in place of an answer, as HTTP counts: 429 where it was asked too often. It is 0 where
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
