package frame

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

var limits = Limits{JSON: 1 << 10, Raw: 1 << 12}

func TestRoundTrip(t *testing.T) {
	var b bytes.Buffer
	w := &Writer{W: &b}
	if err := w.Write(7, []byte(`{"a":1}`), []byte("xy"), nil, []byte("z")); err != nil {
		t.Fatal(err)
	}
	if err := w.Write(0, nil); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(&b)
	for _, want := range []Frame{{7, []byte(`{"a":1}`), []byte("xyz")}, {0, []byte{}, []byte{}}} {
		if err := Begins(r); err != nil {
			t.Fatal(err)
		}
		f, err := Read(r, limits)
		if err != nil || f.Call != want.Call || !bytes.Equal(f.JSON, want.JSON) || !bytes.Equal(f.Raw, want.Raw) {
			t.Errorf("%+v, %v; want %+v", f, err, want)
		}
	}
	if _, err := Read(r, limits); !errors.Is(err, io.EOF) {
		t.Errorf("after the last frame: %v", err)
	}
}

func TestWrong(t *testing.T) {
	head := "NRL1\x01\x00\x00\x00"
	for in, want := range map[string]string{
		"NRL2" + strings.Repeat("\x00", 16):                             "it begins with",
		head + "\x00\x10\x00\x00" + strings.Repeat("\x00", 8):           "it announces 4096 bytes of JSON",
		head + "\x00\x00\x00\x00" + strings.Repeat("\xff", 8):           "18446744073709551615 of tensors",
		head + "\x04\x00\x00\x00" + strings.Repeat("\x00", 8) + "{}":    "of 4 bytes of JSON 2 came",
		head + "\x00\x00\x00\x00\x03" + strings.Repeat("\x00", 7) + "x": "of 3 bytes of tensors 1 came",
	} {
		_, err := Read(strings.NewReader(in), limits)
		if !errors.Is(err, ErrFrame) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %q", in, err, want)
		}
	}
	if _, err := Read(strings.NewReader(head), limits); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("half a head: %v", err)
	}
}

// A text is told at its first wrong letter, before as many bytes have come as a frame begins with.
func TestStray(t *testing.T) {
	for in, want := range map[string]string{"ok": "ok", "N": "N", "NRx\nmore": "NRx\nmore", "Hello\n": "Hello\n"} {
		err := Begins(bufio.NewReader(strings.NewReader(in)))
		if s, ok := errors.AsType[*StrayError](err); !ok || string(s.Said) != want {
			t.Errorf("%q: %v", in, err)
		}
	}
	r, w := io.Pipe()
	defer w.Close() //nolint:errcheck // a pipe in memory
	go func() { _, _ = w.Write([]byte("hm")) }()
	if err := Begins(bufio.NewReader(r)); !errors.Is(err, ErrFrame) {
		t.Errorf("a text that does not end: %v", err)
	}
	if err := Begins(bufio.NewReader(strings.NewReader(""))); !errors.Is(err, io.EOF) {
		t.Errorf("nothing: %v", err)
	}
}

// Whatever comes, reading takes no more memory than came, and what was read can be written again.
func FuzzRead(f *testing.F) {
	f.Add([]byte("NRL1\x01\x00\x00\x00\x02\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00{}abc"))
	f.Add([]byte("NRL1\x01\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"))
	f.Add([]byte("text\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		stray := Begins(bufio.NewReader(bytes.NewReader(b)))
		got, err := Read(bytes.NewReader(b), limits)
		if err != nil {
			return
		}
		if stray != nil {
			t.Fatalf("a frame was read that does not begin as one: %v", stray)
		}
		var again bytes.Buffer
		if err := (&Writer{W: &again}).Write(got.Call, got.JSON, got.Raw); err != nil {
			t.Fatal(err)
		}
		if !bytes.HasPrefix(b, again.Bytes()) {
			t.Fatalf("%q was read, and is written as %q", b, again.Bytes())
		}
	})
}

// What came before the end counts, and after the end nobody waits.
func TestCalls(t *testing.T) {
	c, first := NewCalls()
	n, answer, err := c.Open()
	if err != nil || n == 0 {
		t.Fatalf("%d, %v", n, err)
	}
	if c.Deliver(Frame{Call: n + 1}) {
		t.Error("an answer to what nobody asked was delivered")
	}
	if !c.Deliver(Frame{Call: n}) || c.Deliver(Frame{Call: n}) {
		t.Error("an answer is to be delivered once")
	}
	why := errors.New("over")
	c.End(why)
	c.End(errors.New("again"))
	<-c.Dead()
	if f, ok := Came(answer); !ok || f.Call != n {
		t.Errorf("%+v, %v; want the answer", f, ok)
	}
	if f, ok := Came(first); ok {
		t.Errorf("%+v came", f)
	}
	if _, _, err := c.Open(); !errors.Is(err, why) || !errors.Is(c.Why(), why) {
		t.Errorf("%v, %v; want the first reason", err, c.Why())
	}
}
