//go:build unix

package remote_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"nero/data/tensor"
	"nero/model/engine/frame"
	"nero/model/engine/parent"
	"nero/model/engine/remote"
)

// The slots of these tests, and how many pairs of numbers go into one.
const (
	slotBytes = 2 << 20
	slotCount = 2
	manyPairs = slotBytes / 8
)

// shares makes memory, as the program does that starts this one: its slots, and the number of a file to hand down.
func shares(t *testing.T) (slots *frame.Slots, memory []byte, fd int) {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "memory"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // what is mapped stays
	if err := f.Truncate(slotBytes * slotCount); err != nil {
		t.Fatal(err)
	}
	if fd, err = unix.Dup(int(f.Fd())); err != nil {
		t.Fatal(err)
	}
	memory, err = unix.Mmap(fd, 0, slotBytes*slotCount, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	return frame.Cut(memory, slotBytes), memory, fd
}

// offers is the first frame of a program that has memory to share.
func offers(fd, size, count int) string {
	return greets(fmt.Sprintf(`{"hello":{"protocol":1,"shm":[%d,%d,%d]}}`, fd, size, count))
}

// pairs are many pairs of one number.
func pairs(x float32) []tensor.Named {
	raw := bytes.Repeat(binary.LittleEndian.AppendUint32(nil, math.Float32bits(x)), 2*manyPairs)
	many := tensor.Tensor{DType: tensor.Float32, Shape: []int{manyPairs, 2}, Raw: raw}
	return []tensor.Named{{Name: "x", Tensor: many}}
}

// twice is a frame with the answer of a function that doubles.
func twice(f frame.Frame) (text, raw []byte) {
	raw = bytes.Clone(f.Raw)
	for i := 0; i < len(raw); i += 4 {
		x := math.Float32frombits(binary.LittleEndian.Uint32(raw[i:]))
		binary.LittleEndian.PutUint32(raw[i:], math.Float32bits(2*x))
	}
	return fmt.Appendf(nil, `{"model_name":"double","outputs":[{"name":"y","datatype":"FP32","shape":[%d,2],`+
		`"parameters":{"binary_data_size":%d}}]}`, len(raw)/8, len(raw)), raw
}

// connects opens the model of a program.
func connects(t *testing.T, c *parent.Channel, err error) *remote.Model {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	m, err := remote.Connect(t.Context(), remote.Config{URL: "live://double", Live: c, Concurrency: 8})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// asksFor asks for the double of many numbers.
func asksFor(t *testing.T, m *remote.Model, x float32) {
	t.Helper()
	out, err := m.Run(t.Context(), pairs(x))
	if err != nil {
		t.Error(err)
		return
	}
	if want := pairs(2 * x)[0].Raw; !bytes.Equal(out[0].Raw, want) {
		t.Errorf("%g doubled: the first number is %g", x, math.Float32frombits(binary.LittleEndian.Uint32(out[0].Raw)))
	}
}

// Calls under way at once lie in slots of their own while there are any, and their answers are their own.
func TestLiveShared(t *testing.T) {
	slots, memory, fd := shares(t)
	var mu sync.Mutex
	in := map[uint32]int{}
	var late []frame.Frame
	c, _, err := startsWith(t, slots, offers(fd, slotBytes, slotCount), func(s *starter, f frame.Frame, method,
		model string,
	) {
		if method == "describe" {
			doubling(s, f, method, model)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		if f.Slot == nil { // in is full
			text, raw := twice(f)
			_ = s.w.Write(f.Call, text, raw)
			return
		}
		in[*f.Slot]++
		if in[*f.Slot] > 1 {
			t.Errorf("slot %d holds two questions", *f.Slot)
		}
		late = append(late, f)
		time.AfterFunc(5*time.Millisecond, func() { // so that others come meanwhile
			mu.Lock()
			defer mu.Unlock()
			for _, f := range slices.Backward(late) { // the last first
				text, raw := twice(f)
				copy(memory[int(*f.Slot)*slotBytes:], raw)
				in[*f.Slot]--
				_ = s.w.WriteShared(f.Call, text, *f.Slot, len(raw))
			}
			late = nil
		})
	})
	m := connects(t, c, err)
	for round := range 5 {
		var group sync.WaitGroup
		for i := range 4 { // so that two find no slot
			group.Go(func() { asksFor(t, m, float32(10*round+i)) })
		}
		group.Wait()
	}
}

// A slot that is not answered in stays with the other side until it comes back; meanwhile all goes over the socket.
func TestLiveKept(t *testing.T) {
	slots, memory, fd := shares(t)
	shared, back := 0, false
	c, _, err := startsWith(t, slots, offers(fd, slotBytes, slotCount), func(s *starter, f frame.Frame, method,
		model string,
	) {
		if method == "describe" {
			doubling(s, f, method, model)
			return
		}
		text, raw := twice(f)
		if f.Slot != nil {
			shared++
			if shared > slotCount { // it is one that came back
				copy(memory[int(*f.Slot)*slotBytes:], raw)
				_ = s.w.WriteShared(f.Call, text, *f.Slot, len(raw))
				return
			}
		} else if !back {
			back = true
			_ = s.w.WriteShared(0, []byte("{}"), 1, 0)
		}
		_ = s.w.Write(f.Call, text, raw)
	})
	m := connects(t, c, err)
	for i := range slotCount + 3 { // two keep a slot, one brings one back, two lie in it
		asksFor(t, m, float32(i))
	}
	if shared != slotCount+2 || !back {
		t.Errorf("%d questions lay in slots; want %d", shared, slotCount+2)
	}
}

// Whoever no longer waits leaves the slot to the other side until that answers.
func TestLiveSharedLeft(t *testing.T) {
	slots, memory, fd := shares(t)
	asked, answer := make(chan struct{}, 1), make(chan struct{})
	c, _, err := startsWith(t, slots, offers(fd, slotBytes, slotCount), func(s *starter, f frame.Frame, method,
		model string,
	) {
		if method == "describe" {
			doubling(s, f, method, model)
			return
		}
		if f.Slot == nil {
			t.Error("there were free slots, and a question went over the socket")
			return
		}
		select {
		case asked <- struct{}{}:
			<-answer
		default:
		}
		text, raw := twice(f)
		copy(memory[int(*f.Slot)*slotBytes:], raw)
		_ = s.w.WriteShared(f.Call, text, *f.Slot, len(raw))
	})
	m := connects(t, c, err)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-asked
		cancel()
		asked <- struct{}{} // later questions are answered at once
	}()
	if _, err := m.Run(ctx, pairs(3)); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want that it was cancelled", err)
	}
	time.AfterFunc(20*time.Millisecond, func() { close(answer) })
	for i := range 3 * slotCount {
		asksFor(t, m, float32(i))
	}
}

// What is said of slots is not believed.
func TestLiveSharedFaults(t *testing.T) {
	head := func(call uint32, size uint64, slot uint32, offset uint64) string {
		b := binary.LittleEndian.AppendUint32([]byte("NRLM"), call)
		b = binary.LittleEndian.AppendUint32(b, 2)
		b = binary.LittleEndian.AppendUint64(b, size)
		b = binary.LittleEndian.AppendUint32(b, slot)
		return string(binary.LittleEndian.AppendUint64(b, offset)) + "{}"
	}
	for name, c := range map[string]struct {
		answer func(f frame.Frame) string
		want   string
	}{
		"no slot":   {func(f frame.Frame) string { return head(f.Call, 8, 2, 0) }, "slot 2; there are 2"},
		"too long":  {func(f frame.Frame) string { return head(f.Call, slotBytes+1, *f.Slot, 0) }, "2097153 bytes"},
		"overflows": {func(f frame.Frame) string { return head(f.Call, 16, *f.Slot, math.MaxUint64-7) }, "byte 184467"},
		"another":   {func(f frame.Frame) string { return head(f.Call, 8, 1-*f.Slot, 0) }, "not that of the question"},
		"of nobody": {func(f frame.Frame) string { return head(0, 0, *f.Slot, 0) }, "call 0 is answered in slot"},
		"half":      {func(f frame.Frame) string { return head(f.Call, 8, *f.Slot, 0)[:25] }, "is gone"},
	} {
		t.Run(name, func(t *testing.T) {
			slots, _, fd := shares(t)
			ch, _, err := startsWith(t, slots, offers(fd, slotBytes, slotCount),
				func(s *starter, f frame.Frame, method, model string) {
					if method == "describe" {
						doubling(s, f, method, model)
						return
					}
					_, _ = io.WriteString(s.c, c.answer(f))
					if name == "half" {
						_ = s.c.Close()
					}
				})
			_, err = connects(t, ch, err).Run(t.Context(), pairs(1))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
	_, _, fd := shares(t)
	for says, want := range map[string]string{
		greets(`{"hello":{"protocol":1,"shm":[3,4]}}`):  "offers the memory [3 4]",
		greets(`{"hello":{"protocol":1,"shm":"here"}}`): "no hello",
		offers(1, slotBytes, slotCount):                 "file 1, which is a standard stream",
		offers(-1, slotBytes, slotCount):                "standard stream",
		offers(99999, slotBytes, slotCount):             "file 99999, which is not open",
		offers(fd, slotBytes, slotCount+1):              "has 4194304",
		offers(fd, 0, slotCount):                        "2 slots of 0 bytes",
		offers(fd, slotBytes, -2):                       "-2 slots",
		offers(fd, math.MaxInt, 3):                      "3 slots of 9223372036854775807 bytes",
	} {
		if _, _, err := starts(t, says, doubling); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", says, err, want)
		}
	}
}
