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

	"nero/model/engine/remote"
	"nero/model/engine/remote/remotetest"
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
	for _, url := range []string{"grpc://127.0.0.1:1/m", "live://m"} {
		if _, err := remote.ConnectText(t.Context(), remote.Config{URL: url}, ""); err == nil ||
			!strings.Contains(err.Error(), "write http://HOST:PORT/MODEL") {
			t.Errorf("%s: %v", url, err)
		}
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
		{`{"outputs": [{"name": "o", "datatype": "BYTES", "shape": [1], "data": [null]}]}`, "want one text"},
		{`{"outputs": [{"name": "o", "datatype": "BYTES", "shape": [1]}]}`, "want one text"},
	} {
		answer = c.answer
		if _, err := m.Ask(t.Context(), nil, nil); err == nil || !strings.Contains(err.Error(), c.want) ||
			!strings.Contains(err.Error(), s.URL) {
			t.Errorf("%s: %v; want %s", c.answer, err, c.want)
		}
	}
	answer = `{"outputs": [{"name": "o", "datatype": "BYTES", "shape": [1, 1], "data": [["deep"]]}]}`
	if got, err := m.Ask(t.Context(), nil, nil); err != nil || got.Text != "deep" {
		t.Errorf("%+v, %v", got, err)
	}
}
