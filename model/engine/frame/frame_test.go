package frame

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
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
	for _, want := range []Frame{
		{Call: 7, JSON: []byte(`{"a":1}`), Raw: []byte("xyz")},
		{Call: 0, JSON: []byte{}, Raw: []byte{}},
	} {
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

// place is the end of the head of a frame in a slot: four bytes of the slot and eight of the offset.
func place(slot uint32, offset uint64) string {
	b := binary.LittleEndian.AppendUint32(nil, slot)
	return string(binary.LittleEndian.AppendUint64(b, offset))
}

// shared is a frame in a slot that announces so many bytes.
func shared(size, offset uint64, slot uint32) string {
	b := append([]byte("NRLM"), 1, 0, 0, 0, 2, 0, 0, 0)
	return string(binary.LittleEndian.AppendUint64(b, size)) + place(slot, offset) + "{}"
}

// What lies in a slot is read there, and nothing that lies elsewhere.
func TestSlots(t *testing.T) {
	memory := make([]byte, 3*16)
	s := Cut(memory, 16)
	var taken []uint32
	for i := range 3 {
		slot, size, ok := s.Take([]byte("ab"), []byte{byte('0' + i)})
		if !ok || size != 3 {
			t.Fatalf("slot %d: %d bytes, %v", i, size, ok)
		}
		taken = append(taken, slot)
	}
	if slices.Sort(taken); !slices.Equal(taken, []uint32{0, 1, 2}) {
		t.Fatalf("slots %v were taken", taken)
	}
	if slot, _, ok := s.Take([]byte("x")); ok {
		t.Errorf("slot %d was taken twice", slot)
	}
	s.Free(1)
	if _, _, ok := s.Take(make([]byte, 9), make([]byte, 8)); ok {
		t.Error("17 bytes went into a slot of 16")
	}
	slot, size, ok := s.Take([]byte("question"))
	if !ok || slot != 1 {
		t.Fatalf("slot %d, %v; want the one that is free", slot, ok)
	}
	var b bytes.Buffer
	if err := (&Writer{W: &b}).WriteShared(5, []byte("{}"), slot, size); err != nil {
		t.Fatal(err)
	}
	f, err := ReadShared(&b, limits, s)
	if err != nil || f.Call != 5 || string(f.JSON)+string(f.Raw) != "{}question" || f.Slot == nil || *f.Slot != 1 {
		t.Errorf("%+v, %v", f, err)
	}
	for in, want := range map[string]string{
		shared(1, 0, 3):                          "slot 3; there are 3",
		shared(1, 0, math.MaxUint32):             "slot 4294967295",
		shared(17, 0, 0):                         "17 bytes from byte 0 of a slot, which has 16",
		shared(1, 16, 2):                         "1 bytes from byte 16",
		shared(9, math.MaxUint64-8, 0):           "from byte 18446744073709551607",
		shared(math.MaxUint64, 1, 0):             "announces",
		strings.TrimSuffix(shared(1, 0, 0), "}"): "of 2 bytes of JSON 1 came",
	} {
		if f, err := ReadShared(strings.NewReader(in), limits, s); !errors.Is(err, ErrFrame) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: %+v, %v; want %q", in, f, err, want)
		}
	}
	half := strings.NewReader(shared(1, 0, 0)[:Head+5])
	if _, err := ReadShared(half, limits, s); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("half a head: %v", err)
	}
	if _, err := Read(strings.NewReader(shared(1, 0, 0)), limits); !errors.Is(err, ErrFrame) {
		t.Errorf("without slots: %v", err)
	}
}

func TestLength(t *testing.T) {
	if n, err := Length(1<<20, 4); err != nil || n != 4<<20 {
		t.Errorf("%d, %v", n, err)
	}
	for _, c := range [][2]int{
		{0, 1}, {1, 0}, {-1, 2}, {1, -1}, {1, 1 << 20}, {math.MaxInt, 2}, {math.MaxInt/4 + 1, 4},
	} {
		if n, err := Length(c[0], c[1]); err == nil {
			t.Errorf("%d slots of %d bytes are %d", c[1], c[0], n)
		}
	}
}

// Several hold a slot each, and never two the same.
func TestSlotsAtOnce(t *testing.T) {
	s := Cut(make([]byte, 4*8), 8)
	held := make([]atomic.Int32, 4)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 500 {
				slot, _, ok := s.Take([]byte("question"))
				if !ok {
					continue
				}
				if held[slot].Add(1) != 1 {
					t.Errorf("slot %d is held twice", slot)
				}
				held[slot].Add(-1)
				s.Free(slot)
			}
		})
	}
	group.Wait()
}

// Whatever comes, reading takes no more memory than came, and what was read can be written again.
func FuzzRead(f *testing.F) {
	f.Add([]byte("NRL1\x01\x00\x00\x00\x02\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00{}abc"))
	f.Add([]byte("NRL1\x01\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"))
	f.Add([]byte("text\n"))
	f.Add([]byte(shared(3, 0, 1)))
	f.Add([]byte(shared(16, math.MaxUint64-15, 1)))
	f.Fuzz(func(t *testing.T, b []byte) {
		stray := Begins(bufio.NewReader(bytes.NewReader(b)))
		memory := make([]byte, 3*16)
		got, err := ReadShared(bytes.NewReader(b), limits, Cut(memory, 16))
		if err != nil {
			return
		}
		var again bytes.Buffer
		w := &Writer{W: &again}
		if got.Slot != nil {
			if len(got.Raw) > 16 || *got.Slot > 2 {
				t.Fatalf("%d bytes in slot %d were read", len(got.Raw), *got.Slot)
			}
			for i := range got.Raw {
				got.Raw[i] = 1
			}
			others := bytes.Count(memory[:*got.Slot*16], []byte{1}) + bytes.Count(memory[(*got.Slot+1)*16:], []byte{1})
			if others > 0 || bytes.Count(memory, []byte{1}) != len(got.Raw) {
				t.Fatal("it lies in another slot than it says")
			}
			err = w.WriteShared(got.Call, got.JSON, *got.Slot, len(got.Raw))
			if b = bytes.Clone(b); len(b) >= headShared {
				clear(b[Head+4 : headShared]) // questions begin with the slot, and answers behind the question
			}
		} else {
			if stray != nil {
				t.Fatalf("a frame was read that does not begin as one: %v", stray)
			}
			err = w.Write(got.Call, got.JSON, got.Raw)
		}
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.HasPrefix(b, again.Bytes()) {
			t.Fatalf("%q was read, and is written as %q", b, again.Bytes())
		}
	})
}

// What came before the end counts, and after the end nobody waits.
func TestCalls(t *testing.T) {
	c, first := NewCalls[Frame]()
	n, answer, err := c.Open()
	if err != nil || n == 0 {
		t.Fatalf("%d, %v", n, err)
	}
	if c.Deliver(n+1, Frame{Call: n + 1}) {
		t.Error("an answer to what nobody asked was delivered")
	}
	if !c.Deliver(n, Frame{Call: n}) || c.Deliver(n, Frame{Call: n}) {
		t.Error("an answer is to be delivered once")
	}
	why := errors.New("over")
	c.End(why)
	c.End(errors.New("again"))
	<-c.Dead()
	if f, ok := Came(answer); !ok || f.Call != n {
		t.Errorf("%+v, %v; want the answer", f, ok)
	}
	if f, ok := Came(first); ok || c.Left() != 1 {
		t.Errorf("%+v came; %d had no answer, want the first frame alone", f, c.Left())
	}
	if _, _, err := c.Open(); !errors.Is(err, why) || !errors.Is(c.Why(), why) {
		t.Errorf("%v, %v; want the first reason", err, c.Why())
	}
}
