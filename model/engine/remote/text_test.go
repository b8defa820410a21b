package remote_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"nero/data/tensor"
	"nero/model/engine/remote"
	"nero/model/engine/remote/remotetest"
	"nero/model/onnx"
)

// reachText connects to a server, without waiting between tries.
func reachText(t *testing.T, s *httptest.Server, output string, change func(*remote.Config)) (*remote.Text, error) {
	t.Helper()
	c := remote.Config{
		URL: s.URL + "/texts", Retry: remote.Retry{Wait: func(context.Context, time.Duration) error { return nil }},
	}
	if change != nil {
		change(&c)
	}
	m, err := remote.ConnectText(t.Context(), c, output)
	if err == nil {
		t.Cleanup(func() { _ = m.Close() })
	}
	return m, err
}

func TestTextsGoThereAndBack(t *testing.T) {
	echo := &remotetest.Texts{Answer: func(input string, before int, p map[string]any) (string, int) {
		return fmt.Sprintf("%q %d %v", input, before, p["seed"]), 0
	}}
	s := echo.Start()
	defer s.Close()
	m, err := reachText(t, s, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, in := range []string{
		"hello", "", "ünï \"codé\"\n", "NaN, Infinity", "\xff\x00 no text",
		"\xff\x00 no text",
	} {
		got, err := m.Ask(t.Context(), []byte(in), map[string]any{"seed": 7})
		want := fmt.Sprintf("%q %d 7", in, map[bool]int{true: 1}[i == 5])
		if err != nil || got.Text != want || got.Numbers != nil {
			t.Errorf("%q: %+v, %v; want %s", in, got, err, want)
		}
	}
	if !m.Wordy() || !strings.HasSuffix(m.Place(), "/texts") || m.Concurrency() != 4 {
		t.Errorf("%v %s %d", m.Wordy(), m.Place(), m.Concurrency())
	}
	numbers := &remotetest.Texts{Numbers: true, Answer: func(string, int, map[string]any) (string, int) {
		return "1.5 -2 null", 0
	}}
	n := numbers.Start()
	defer n.Close()
	if m, err = reachText(t, n, "answer", nil); err != nil {
		t.Fatal(err)
	}
	got, err := m.Ask(t.Context(), []byte("x"), nil)
	if err != nil || len(got.Numbers) != 3 || !slices.Equal(got.Numbers[:2], []float64{1.5, -2}) ||
		got.Numbers[2] == got.Numbers[2] || m.Wordy() {
		t.Errorf("%+v, %v", got, err)
	}
}

// parrot reads texts and says them again, each with an exclamation mark, or how long they are.
type parrot struct{ numbers bool }

func (e parrot) Describe(context.Context, string) (onnx.Signature, string, error) {
	free := []onnx.Dim{{Size: -1}}
	port := func(name string, d tensor.DType) []onnx.Port {
		return []onnx.Port{{Name: name, Kind: "tensor", DType: d, Ranked: true, Shape: free}}
	}
	s := onnx.Signature{Inputs: port("x", tensor.String), Outputs: port("y", tensor.String)}
	if e.numbers {
		s.Outputs = port("y", tensor.Float32)
	}
	return s, "test", nil
}

func (e parrot) Infer(_ context.Context, _ string, in []tensor.Named) ([]tensor.Named, error) {
	words, err := in[0].Strings()
	if err != nil {
		return nil, err
	}
	if !e.numbers {
		for i := range words {
			words[i] += "!"
		}
		return []tensor.Named{{Name: "y", Tensor: tensor.OfStrings(words, len(words))}}, nil
	}
	long := make([]float32, len(words))
	for i, w := range words {
		long[i] = float32(len(w))
	}
	return []tensor.Named{{Name: "y", Tensor: tensor.FromFloat32(long, len(long))}}, nil
}

// Texts go over gRPC, too, and a whole batch of them where they are an input like others.
func TestTextsOverGRPC(t *testing.T) {
	for _, typed := range []bool{false, true} {
		for _, numbers := range []bool{false, true} {
			s, err := remotetest.Start(parrot{numbers}, remotetest.Options{Typed: typed})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() })
			m, err := remote.ConnectText(t.Context(), remote.Config{URL: s.URL("grpc", "m")}, "")
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close() //nolint:errcheck // nothing is lost
			for _, in := range []string{"", "ünï", "\xff bytes"} {
				if !numbers && in == "\xff bytes" {
					continue // what comes back is to be text
				}
				got, err := m.Ask(t.Context(), []byte(in), map[string]any{"seed": 7, "bust": "x", "on": true})
				if err != nil || !numbers && got.Text != in+"!" ||
					numbers && !slices.Equal(got.Numbers, []float64{float64(len(in))}) {
					t.Errorf("%q: %+v, %v", in, got, err)
				}
			}
			_, err = m.Ask(t.Context(), []byte("x"), map[string]any{"temperature": 0.5})
			if err == nil || !strings.Contains(err.Error(), "0.5 is no text, no whole number") {
				t.Errorf("a parameter that gRPC does not carry: %v", err)
			}
			all, err := remote.Connect(t.Context(), remote.Config{URL: s.URL("grpc", "m")})
			if err != nil {
				t.Fatal(err)
			}
			defer all.Close() //nolint:errcheck // nothing is lost
			out, err := all.Run(t.Context(), []tensor.Named{{Name: "x", Tensor: tensor.OfStrings([]string{"a", "bcd"},
				2)}})
			if err != nil || len(out) != 1 || out[0].Len() != 2 {
				t.Errorf("a batch: %v, %v", out, err)
			}
		}
	}
}

// Texts go to programs, with what else is asked.
func TestTextsToPrograms(t *testing.T) {
	m, err := remote.ConnectText(t.Context(), program("reads"), "")
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close() //nolint:errcheck // nothing is lost
	got, err := m.Ask(t.Context(), []byte("ünï"), map[string]any{"seed": 7})
	if err != nil || got.Text != "ünï 7" || m.Concurrency() != 1 {
		t.Errorf("%+v, %v, %d at once", got, err, m.Concurrency())
	}
	if d, err := m.Identity(); err != nil || len(d) != 64 {
		t.Errorf("%q, %v", d, err)
	}
}

// What is no answer says by itself what it is.
func TestTextsThatAreNotAnswered(t *testing.T) {
	code := 0
	f := &remotetest.Texts{Answer: func(string, int, map[string]any) (string, int) { return "for a reason", code }}
	s := f.Start()
	defer s.Close()
	m, err := reachText(t, s, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	for code = range map[int]bool{429: true, 400: true, 500: true, 503: true, 408: true} {
		_, err := m.Ask(t.Context(), []byte("x"), nil)
		e, ok := errors.AsType[*remote.Error](err)
		if !ok || e.Code() != code || e.Unavailable() != (code == 503) || e.Late() ||
			!strings.Contains(err.Error(), "for a reason") {
			t.Errorf("%d: %v", code, err)
		}
	}
	wait := make(chan struct{})
	slow := &remotetest.Texts{Answer: func(string, int, map[string]any) (string, int) { <-wait; return "", 0 }}
	l := slow.Start()
	defer l.Close()
	defer close(wait)
	if m, err = reachText(t, l, "", func(c *remote.Config) { c.Timeout = 20 * time.Millisecond }); err != nil {
		t.Fatal(err)
	}
	_, err = m.Ask(t.Context(), []byte("x"), nil)
	if e, ok := errors.AsType[*remote.Error](err); !ok || !e.Late() || e.Code() != 0 {
		t.Errorf("late: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Ask(ended, []byte("x"), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("ended: %v", err)
	}
}

func TestModelsThatReadNoTexts(t *testing.T) {
	port := func(name, kind string, shape ...int) map[string]any {
		return map[string]any{"name": name, "datatype": kind, "shape": shape}
	}
	words := func(string, int, map[string]any) (string, int) { return "x", 0 }
	for _, c := range []struct {
		in, out      []map[string]any
		output, want string
	}{
		{[]map[string]any{port("x", "FP32", 1)}, nil, "", `its input "x" is of type "FP32", and texts and bytes are sent as BYTES`},
		{[]map[string]any{port("x", "BYTES", 1), port("y", "BYTES", 1)}, nil, "", "its metadata lists 2 inputs"},
		{[]map[string]any{port("x", "BYTES", 4)}, nil, "", `its input "x" has shape [4]; one text is sent at a time`},
		{nil, []map[string]any{port("a", "BYTES", 1), port("b", "BYTES", 1)}, "", `its metadata lists 2 outputs, "a", "b"; say which`},
		{nil, []map[string]any{port("a", "BYTES", 1)}, "b", `it has no output "b"; there are "a"`},
		{nil, []map[string]any{port("a", "WORDS", 1)}, "", `its output "a" is of type "WORDS"; want BYTES`},
	} {
		s := (&remotetest.Texts{Answer: words, In: c.in, Out: c.out}).Start()
		_, err := reachText(t, s, c.output, nil)
		s.Close()
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v; want %s", err, c.want)
		}
	}
	if _, err := remote.ConnectText(t.Context(), remote.Config{URL: "live://m"}, ""); err == nil ||
		!strings.Contains(err.Error(), "write http://HOST:PORT/MODEL") {
		t.Errorf("a function of Python: %v", err)
	}
}

// Answers that are none of the protocol's are errors that name the endpoint.
func TestAnswersThatAreNoTexts(t *testing.T) {
	meta := `{"name": "m", "inputs": [{"name": "i", "datatype": "BYTES", "shape": [1]}], ` +
		`"outputs": [{"name": "o", "datatype": "BYTES", "shape": [1]}]}`
	answer := ""
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			_, _ = w.Write([]byte(meta))
			return
		}
		_, _ = w.Write([]byte(answer))
	}))
	defer s.Close()
	m, err := reachText(t, s, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ answer, want string }{
		{`<html>`, "the answer is not what the protocol says"},
		{`{"outputs": []}`, `the answer lacks the output "o"`},
		{`{"outputs": [{"name": "o", "datatype": "FP32", "shape": [1], "data": [1]}]}`, `came as "FP32", the metadata says "BYTES"`},
		{`{"outputs": [{"name": "o", "datatype": "BYTES", "shape": [2], "data": ["a", "b"]}]}`, "want one text"},
		{`{"outputs": [{"name": "o", "datatype": "BYTES", "shape": [1], "data": [null]}]}`, "element 0 is no text"},
		{`{"outputs": [{"name": "o", "datatype": "BYTES", "shape": [1]}]}`, "it has neither data nor binary_data_size"},
		{`{"outputs": [{"name": "o", "datatype": "BYTES", "shape": [2], "data": ["a"]}]}`, "1 elements came for shape [2]"},
		// what a decoder replaces would make different answers equal
		{
			`{"outputs": [{"name": "o", "datatype": "BYTES", "shape": [1], "data": [ "` + "\xff" + `5"]}]}`,
			`the output "o" is no text in UTF-8: "\xff5"; want texts in UTF-8`,
		},
		{
			`{"outputs": [{"name": "o", "datatype": "BYTES", "shape": [1], "data": ["\udc015"]}]}`,
			`the output "o" is no text in UTF-8: "\\udc015"; want texts in UTF-8, without halves of surrogate pairs`,
		},
	} {
		answer = c.answer
		if _, err := m.Ask(t.Context(), nil, nil); err == nil || !strings.Contains(err.Error(), c.want) ||
			!strings.Contains(err.Error(), s.URL) {
			t.Errorf("%s: %v; want %s", c.answer, err, c.want)
		}
	}
	answer = `{"outputs": [{"name": "o", "datatype": "BYTES", "shape": [1, 1], "data": [["deep \ud83d\ude00 \\ud800"]]}]}`
	if got, err := m.Ask(t.Context(), nil, nil); err != nil || got.Text != `deep 😀 \ud800` {
		t.Errorf("%+v, %v", got, err)
	}
}
