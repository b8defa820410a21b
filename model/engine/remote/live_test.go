package remote_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"nero/data/tensor"
	"nero/model/engine/frame"
	"nero/model/engine/parent"
	"nero/model/engine/remote"
)

// starter is the other side of a channel: a program that started this one, and serves functions.
type starter struct {
	c      net.Conn
	w      *frame.Writer
	events chan string
}

// starts opens a channel to a program that answers as said: it gets the question and may write what it likes.
func starts(t *testing.T, says string, answer func(s *starter, f frame.Frame, method, model string)) (*parent.Channel,
	*starter, error,
) {
	t.Helper()
	return startsWith(t, nil, says, answer)
}

// startsWith is starts of a program that has slots, if not nil.
func startsWith(t *testing.T, slots *frame.Slots, says string,
	answer func(s *starter, f frame.Frame, method, model string),
) (*parent.Channel, *starter, error) {
	t.Helper()
	ours, theirs := net.Pipe()
	s := &starter{c: theirs, w: &frame.Writer{W: theirs}, events: make(chan string, 100)}
	var group sync.WaitGroup
	group.Go(func() {
		r := bufio.NewReader(theirs)
		first, err := frame.Read(r, frame.Limits{JSON: 1 << 20, Raw: 1 << 20})
		if err != nil || first.Call != 0 || !strings.Contains(string(first.JSON), `"program":"nero 7.7"`) {
			t.Errorf("the first frame: %+v (%v)", first, err)
		}
		if _, err := io.WriteString(theirs, says); err != nil {
			return
		}
		for {
			f, err := frame.ReadShared(r, frame.Limits{JSON: 1 << 20, Raw: 4 << 20}, slots)
			if err != nil {
				return
			}
			if f.Call == 0 {
				s.events <- string(f.JSON)
				continue
			}
			var q struct{ Method, Model string }
			if err := json.Unmarshal(f.JSON, &q); err != nil {
				t.Error(err)
			}
			answer(s, f, q.Method, q.Model)
		}
	})
	t.Cleanup(func() {
		_ = theirs.Close()
		group.Wait()
	})
	c, err := parent.Open(t.Context(), ours, "7.7")
	if err == nil {
		t.Cleanup(c.Close)
	}
	return c, s, err
}

// greets is the bytes of a first frame.
func greets(text string) string {
	var b strings.Builder
	if err := (&frame.Writer{W: &b}).Write(0, []byte(text)); err != nil {
		panic(err)
	}
	return b.String()
}

const (
	greeting = `{"hello":{"protocol":1}}`
	doubled  = `{"name":"double","versions":["1"],"platform":"python","inputs":[{"name":"x","datatype":"FP32",` +
		`"shape":[-1,2]}],"outputs":[{"name":"y","datatype":"FP32","shape":[-1,2]}]}`
)

// doubling is a function that doubling the numbers of x.
func doubling(s *starter, f frame.Frame, method, _ string) {
	if method == "describe" {
		_ = s.w.Write(f.Call, []byte(doubled))
		return
	}
	out := slices.Clone(f.Raw)
	for i := 0; i < len(out); i += 4 {
		x := math.Float32frombits(binary.LittleEndian.Uint32(out[i:]))
		binary.LittleEndian.PutUint32(out[i:], math.Float32bits(2*x))
	}
	text := fmt.Sprintf(`{"model_name":"double","outputs":[{"name":"y","datatype":"FP32","shape":[%d,2],`+
		`"parameters":{"binary_data_size":%d}}]}`, len(out)/8, len(out))
	_ = s.w.Write(f.Call, []byte(text), out)
}

func pair(a, b float32) []tensor.Named {
	raw := binary.LittleEndian.AppendUint32(nil, math.Float32bits(a))
	raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(b))
	return []tensor.Named{{Name: "x", Tensor: tensor.Tensor{DType: tensor.Float32, Shape: []int{1, 2}, Raw: raw}}}
}

func TestLive(t *testing.T) {
	c, s, err := starts(t, greets(greeting), doubling)
	if err != nil {
		t.Fatal(err)
	}
	m, err := remote.Connect(t.Context(), remote.Config{URL: "live://double", Live: c})
	if err != nil {
		t.Fatal(err)
	}
	if m.Place() != "live://double" {
		t.Errorf("place %q", m.Place())
	}
	var group sync.WaitGroup
	for i := range 20 { // all share one channel
		group.Go(func() {
			out, err := m.Run(t.Context(), pair(float32(i), 0.5))
			if err != nil {
				t.Error(err)
				return
			}
			if got := math.Float32frombits(binary.LittleEndian.Uint32(out[0].Raw)); got != float32(2*i) {
				t.Errorf("%d doubled is %g", i, got)
			}
		})
	}
	group.Wait()
	c.Tell(map[string]any{"event": "note", "text": "hear"})
	select {
	case e := <-s.events:
		if e != `{"event":"note","text":"hear"}` {
			t.Errorf("event %s", e)
		}
	case <-time.After(time.Minute):
		t.Error("the event did not come")
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	// Another model of the same channel goes on.
	if _, err := remote.Connect(t.Context(), remote.Config{URL: "live://double", Live: c}); err != nil {
		t.Error(err)
	}
}

func TestLiveFaults(t *testing.T) {
	for name, c := range map[string]struct {
		answer func(s *starter, f frame.Frame, method, model string)
		want   string
	}{
		"raises": {func(s *starter, f frame.Frame, method, model string) {
			if method == "infer" {
				_ = s.w.Write(f.Call, []byte(`{"error":"ValueError: no such thing"}`))
				return
			}
			doubling(s, f, method, model)
		}, "function live://double: it answers with an error: \"ValueError: no such thing\""},
		"unknown": {func(s *starter, f frame.Frame, _, model string) {
			_ = s.w.Write(f.Call, []byte(`{"error":"no function `+model+`"}`))
		}, "no function double"},
		"another shape": {func(s *starter, f frame.Frame, method, model string) {
			if method == "describe" {
				doubling(s, f, method, model)
				return
			}
			text := `{"outputs":[{"name":"y","datatype":"FP32","shape":[1,3],"parameters":{"binary_data_size":12}}]}`
			_ = s.w.Write(f.Call, []byte(text), make([]byte, 12))
		}, "[1 3]"},
		"goes": {func(s *starter, f frame.Frame, method, model string) {
			if method == "infer" {
				_ = s.c.Close()
				return
			}
			doubling(s, f, method, model)
		}, "is gone"},
		"half a frame": {func(s *starter, f frame.Frame, method, model string) {
			if method == "infer" {
				_, _ = io.WriteString(s.c, "NRL1\x02")
				_ = s.c.Close()
				return
			}
			doubling(s, f, method, model)
		}, "is gone"},
		"no frame": {func(s *starter, f frame.Frame, method, model string) {
			if method == "infer" {
				_, _ = io.WriteString(s.c, strings.Repeat("print", 10))
				return
			}
			doubling(s, f, method, model)
		}, "no frame"},
		"answers what was not asked": {func(s *starter, f frame.Frame, method, model string) {
			if method == "infer" {
				f.Call += 5
			}
			doubling(s, f, method, model)
		}, "call 7, which is not open"},
	} {
		t.Run(name, func(t *testing.T) {
			ch, _, err := starts(t, greets(greeting), c.answer)
			if err != nil {
				t.Fatal(err)
			}
			m, err := remote.Connect(t.Context(), remote.Config{URL: "live://double", Live: ch})
			if err == nil {
				_, err = m.Run(t.Context(), pair(1, 2))
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

func TestLiveRefused(t *testing.T) {
	for says, want := range map[string]string{
		greets(`{"hello":{"protocol":2}}`): "it speaks protocol 2",
		greets(`[]`):                       "no hello",
		"Traceback (most recent call)":     "no frame",
		"":                                 "", // below
	} {
		if says == "" {
			continue
		}
		if _, _, err := starts(t, says, doubling); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", says, err, want)
		}
	}
	_, err := remote.Connect(t.Context(), remote.Config{URL: "live://double"})
	if err == nil || !strings.Contains(err.Error(), "go on from Python") {
		t.Errorf("without a channel: %v", err)
	}
	for _, url := range []string{"live://", "live://a/b", "live://a?b"} {
		if _, err := remote.Parse(url); err == nil || !strings.Contains(err.Error(), "name of a function") {
			t.Errorf("%s: %v", url, err)
		}
	}
	for _, text := range []string{"", "fd:", "fd:1", "fd:-4", "socket:4", "fd:99999"} {
		if _, err := parent.Inherited(text); err == nil || !strings.Contains(err.Error(), "NERO_LIVE") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// A function that does not return is not waited for when the run is stopped, and not beyond its time.
func TestLiveStopped(t *testing.T) {
	never := func(s *starter, f frame.Frame, method, model string) {
		if method == "describe" {
			doubling(s, f, method, model)
		}
	}
	c, _, err := starts(t, greets(greeting), never)
	if err != nil {
		t.Fatal(err)
	}
	m, err := remote.Connect(t.Context(), remote.Config{URL: "live://double", Live: c})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, cancel)
	if _, err := m.Run(ctx, pair(1, 2)); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want that it was cancelled", err)
	}
	late, err := remote.Connect(t.Context(), remote.Config{
		URL: "live://double", Live: c, Timeout: 50 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = late.Run(t.Context(), pair(1, 2))
	if err == nil || !strings.Contains(err.Error(), "or look at what it waits for") {
		t.Errorf("%v, want that it took too long", err)
	}
}
