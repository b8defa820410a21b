package recall

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"nero/data/tensor"
	"nero/model/engine"
	"nero/model/engine/provider"

	"pgregory.net/rapid"
)

// echo answers its input and how often it was asked.
type echo struct {
	asked atomic.Int64
	fail  bool
}

func (e *echo) Info() engine.Info { return engine.Info{Name: "echo"} }
func (e *echo) Concurrent() bool  { return true }
func (e *echo) Open(context.Context, []byte, engine.Options) (engine.Session, error) {
	return &echoing{e}, nil
}

type echoing struct{ e *echo }

func (s *echoing) Inputs() []string  { return []string{"x"} }
func (s *echoing) Outputs() []string { return []string{"y", "n"} }
func (s *echoing) Close() error      { return nil }
func (s *echoing) Run(_ context.Context, in []tensor.Named) ([]tensor.Named, error) {
	n := s.e.asked.Add(1)
	if s.e.fail {
		return nil, errors.New("broken")
	}
	y := in[0]
	y.Name, y.Raw = "y", append([]byte{}, y.Raw...)
	times := tensor.Tensor{DType: tensor.Uint8, Shape: []int{1}, Raw: []byte{byte(n)}}
	return []tensor.Named{y, {Name: "n", Tensor: times}}, nil
}

func question(b ...byte) []tensor.Named {
	return []tensor.Named{{Name: "x", Tensor: tensor.Tensor{DType: tensor.Uint8, Shape: []int{len(b)}, Raw: b}}}
}

// clock is a second later each time.
func clock() func() time.Time {
	var n atomic.Int64
	return func() time.Time { return time.Unix(4_000_000_000+n.Add(1), 0) }
}

func opened(t *testing.T, dir string, most int64) *Store {
	t.Helper()
	s, err := Open(dir, most, clock())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func asking(t *testing.T, s *Store, e engine.Engine, identity, model string) func(b ...byte) []tensor.Named {
	t.Helper()
	m, err := s.Over(e, identity).Open(t.Context(), []byte(model), engine.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	return func(b ...byte) []tensor.Named {
		t.Helper()
		out, err := m.Run(t.Context(), question(b...))
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
}

// The same question has the same answer, also in another process; whatever decides an answer makes another question.
func TestSameQuestion(t *testing.T) {
	dir, e := t.TempDir(), new(echo)
	s := opened(t, dir, 1<<30)
	ask := asking(t, s, e, "cpu", "model")
	first := ask(1, 2, 3)
	if again := ask(1, 2, 3); !reflect.DeepEqual(again, first) || e.asked.Load() != 1 {
		t.Fatalf("%v after %v, asked %d times", again, first, e.asked.Load())
	}
	other := opened(t, dir, 1<<30)
	if again := asking(t, other, e, "cpu", "model")(1, 2, 3); !reflect.DeepEqual(again, first) || e.asked.Load() != 1 {
		t.Fatalf("another process: %v after %v, asked %d times", again, first, e.asked.Load())
	}
	ask(1, 2)
	ask(1, 2, 4)
	asking(t, s, e, "another cpu", "model")(1, 2, 3)
	asking(t, s, e, "cpu", "another model")(1, 2, 3)
	m, err := s.Over(e, "cpu").Open(t.Context(), []byte("model"), engine.Options{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	q := question(1, 2, 3)
	if _, err := m.Run(t.Context(), q); err != nil {
		t.Fatal(err)
	}
	q[0].Shape = []int{1, 3}
	if _, err := m.Run(t.Context(), q); err != nil {
		t.Fatal(err)
	}
	there, err := provider.Parse("openvino")
	if err != nil {
		t.Fatal(err)
	}
	if m, err = engine.On(s.Over(e, "cpu"), there).Open(t.Context(), []byte("model"),
		engine.Options{Threads: 1}); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Run(t.Context(), question(1, 2, 3)); err != nil {
		t.Fatal(err)
	}
	if n := e.asked.Load(); n != 8 {
		t.Errorf("asked %d times, want 8: something that decides an answer is no part of the question", n)
	}
	if u := s.Use(); u != (Use{Asked: 8, Found: 1}) {
		t.Errorf("use %+v", u)
	}
	if _, err := m.Run(t.Context(), question(1, 2, 3)); err != nil {
		t.Fatal(err)
	}
	if n := e.asked.Load(); n != 9 {
		t.Errorf("asked %d times, want 9: nobody knows whose device a provider has", n)
	}
	for _, op := range []string{"RandomNormalLike", "Dropout"} {
		before := e.asked.Load()
		drawn := asking(t, s, e, "cpu", "a model with "+op)
		drawn(1)
		drawn(1)
		if n := e.asked.Load() - before; n != 2 {
			t.Errorf("%s: asked %d times, want 2: what is drawn is asked each time", op, n)
		}
	}
	e.fail = true
	for range 2 {
		if _, err := m.Run(t.Context(), question(9)); err == nil {
			t.Error("an error is kept as an answer")
		}
	}
}

// counted counts what is read of files.
type counted struct {
	source
	bytes, calls *int64
}

func (c counted) ReadAt(b []byte, at int64) (int, error) {
	n, err := c.source.ReadAt(b, at)
	*c.bytes += int64(n)
	*c.calls++
	return n, err
}

// To open a folder the index of each file is read, and of a file without one the heads of its records: what was
// answered is not read before somebody asks for it.
func TestOpeningReadsNoAnswers(t *testing.T) {
	for name, k := range map[string]struct {
		answers, each int
		killed        bool
		mostBytes     int64
		mostCalls     int64
	}{
		"index":                 {40, 100_000, false, 40*int64(entryLength) + 100, 2},
		"index, short answers":  {3000, 1, false, 3000*int64(entryLength) + 100, 2},
		"killed":                {40, 100_000, true, 41*headRead + 100, 42},
		"killed, short answers": {3000, 1, true, 3000 * 400, 3000},
	} {
		dir, e := t.TempDir(), new(echo)
		s := opened(t, dir, 1<<30)
		ask := asking(t, s, e, "cpu", "model")
		answer := func(i int) []byte {
			b := make([]byte, max(k.each, 4))
			binary.LittleEndian.PutUint32(b, uint32(i))
			return b
		}
		for i := range k.answers {
			ask(answer(i)...)
		}
		if !k.killed {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
		var bytes, calls int64
		again, err := openWith(dir, 1<<30, clock(), func(path string) (source, error) {
			f, err := os.Open(path)
			return counted{f, &bytes, &calls}, err
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = again.Close() })
		if bytes > k.mostBytes || calls > k.mostCalls || len(again.index) != k.answers {
			t.Errorf("%s: %d answers are known after %d bytes in %d reads; want %d, at most %d bytes in %d", name,
				len(again.index), bytes, calls, k.answers, k.mostBytes, k.mostCalls)
		}
		before := e.asked.Load()
		asking(t, again, e, "cpu", "model")(answer(k.answers - 1)...)
		asking(t, again, e, "cpu", "model")(answer(0)...)
		if e.asked.Load() != before {
			t.Errorf("%s: what was answered is asked again", name)
		}
	}
}

// An index that is damaged in any byte, cut off or that of another file is none: heads are read then, and every answer
// is found, or asked for again.
func TestDamagedIndex(t *testing.T) {
	dir, e := t.TempDir(), new(echo)
	s := opened(t, dir, 1<<30)
	ask := asking(t, s, e, "cpu", "model")
	for i := range byte(5) {
		ask(i, i)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	all, err := filepath.Glob(filepath.Join(dir, "*"+ending))
	if err != nil || len(all) != 1 {
		t.Fatalf("files %v, %v", all, err)
	}
	whole, err := os.ReadFile(all[0])
	if err != nil {
		t.Fatal(err)
	}
	start := len(whole) - 5*entryLength - len(indexMark) - tailLength
	look := func(b []byte, what string, at int) {
		t.Helper()
		if err := os.WriteFile(all[0], b, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(dir, 1<<30, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close() //nolint:errcheck // it only read
		if len(s.index) != 5 {
			t.Fatalf("%s at %d: %d answers are known, want 5", what, at, len(s.index))
		}
		before := e.asked.Load()
		for i := range byte(5) {
			if out := asking(t, s, e, "cpu", "model")(i, i); out[0].Raw[0] != i {
				t.Fatalf("%s at %d: %d is answered by %v", what, at, i, out)
			}
		}
		if e.asked.Load() != before {
			t.Fatalf("%s at %d: what was answered is asked again", what, at)
		}
	}
	for at := start; at < len(whole); at++ {
		b := slices.Clone(whole)
		b[at]++
		look(b, "damaged", at)
		look(slices.Clone(whole[:at]), "cut", at)
	}
	// An index that is sound by itself, but not of this file.
	wrong := index(entry(entry(nil, key{1}, 7), key{2}, 9))
	look(append(slices.Clone(whole[:start]), wrong...), "of another file", start)
	look(slices.Clone(whole), "whole", len(whole))
}

// Every byte that is damaged is noticed, and the question asked again; what a killed process left is read as far as it
// is whole.
func TestDamage(t *testing.T) {
	for at := -1; at < 150; at++ {
		dir, e := t.TempDir(), new(echo)
		s := opened(t, dir, 1<<30)
		ask := asking(t, s, e, "cpu", "model")
		ask(1)
		ask(2)
		all, err := filepath.Glob(filepath.Join(dir, "*"+ending))
		if err != nil || len(all) != 1 {
			t.Fatalf("files %v, %v", all, err)
		}
		b, err := os.ReadFile(all[0])
		if err != nil {
			t.Fatal(err)
		}
		if at < 0 {
			b = b[:len(b)-1]
		} else if at < len(b) {
			b[at]++
		}
		if err := os.WriteFile(all[0], b, 0o600); err != nil {
			t.Fatal(err)
		}
		again := asking(t, opened(t, dir, 1<<30), e, "cpu", "model")
		for _, x := range []byte{1, 2} {
			if out := again(x); len(out) != 2 || out[0].Raw[0] != x || out[0].Name != "y" {
				t.Fatalf("byte %d damaged: %d is answered by %v", at, x, out)
			}
		}
		if at < len(b) && e.asked.Load() == 2 {
			t.Fatalf("byte %d damaged: nothing was asked again", at)
		}
	}
}

// There are never more bytes than there may be, but for the file that is written, and what was used last stays.
func TestSize(t *testing.T) {
	dir, e := t.TempDir(), new(echo)
	const most = parts * smallest
	s := opened(t, dir, most)
	ask := asking(t, s, e, "cpu", "model")
	large := func(i byte) []byte { b := make([]byte, smallest/2-1000); b[0] = i; return b }
	total := func() (n int64) {
		all, err := s.list()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range all {
			n += f.size
		}
		return n
	}
	for i := range byte(2 * parts) { // two in each file
		ask(large(i)...)
		if i%8 == 0 {
			ask(large(0)...) // in use
		}
	}
	asked := e.asked.Load()
	if asked != 2*parts {
		t.Fatalf("asked %d times, want %d: a file was taken away before there were too many", asked, 2*parts)
	}
	// By now files have the time of the clock of the disk, which is before that of this test: those in use are last.
	again := opened(t, dir, most)
	if out := asking(t, again, e, "cpu", "model")(large(0)...); out[0].Raw[0] != 0 || e.asked.Load() != asked {
		t.Fatal("an answer is gone")
	}
	for i := range byte(parts) {
		asking(t, again, e, "cpu", "model")(large(100 + i)...)
		if n := total(); n > most+smallest {
			t.Fatalf("%d bytes, at most %d may be there", n, most)
		}
	}
	last := opened(t, dir, most)
	asked = e.asked.Load()
	if asking(t, last, e, "cpu", "model")(large(0)...); e.asked.Load() != asked {
		t.Error("what was in use is taken away before what was not")
	}
	if asking(t, last, e, "cpu", "model")(large(3)...); e.asked.Load() == asked {
		t.Error("what was used longest ago is still there")
	}
	if n := len(opened(t, dir, 1).index); n != 0 {
		t.Errorf("%d answers in a store of one byte", n)
	}
}

// Files that are taken away are closed, so that the disk gets their bytes back, and there are never more than a process
// may have open.
func TestFiles(t *testing.T) {
	dir, e := t.TempDir(), new(echo)
	s := opened(t, dir, parts*smallest)
	ask := asking(t, s, e, "cpu", "model")
	for i := range byte(4 * parts) {
		b := make([]byte, smallest-1000)
		b[0] = i
		ask(b...)
	}
	if n := len(s.files); n > parts+1 {
		t.Errorf("%d files are open, at most %d may be there", n, parts)
	}
	for _, p := range s.index {
		if !slices.Contains(s.files, p.file) {
			t.Fatal("the index names a file that was taken away")
		}
	}
	if u := s.Use(); u.Damaged != 0 || u.Full != nil {
		t.Errorf("use %+v", u)
	}
	for i := range mostFiles + 9 {
		name := filepath.Join(dir, strconv.Itoa(i)+ending)
		if err := os.WriteFile(name, record([sha256.Size]byte{1, byte(i)}, question(1)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(opened(t, dir, parts*smallest).files); n != mostFiles {
		t.Errorf("%d files of short runs are open, want %d", n, mostFiles)
	}
}

// Processes and goroutines share a folder without a lock.
func TestTogether(t *testing.T) {
	dir, e := t.TempDir(), new(echo)
	var all sync.WaitGroup
	for range 4 {
		ask := asking(t, opened(t, dir, 1<<20), e, "cpu", "model")
		for range 2 {
			all.Go(func() {
				for i := range byte(50) {
					if out := ask(i); out[0].Raw[0] != i {
						t.Errorf("%d is answered by %v", i, out)
					}
				}
			})
		}
	}
	all.Wait()
}

// A record holds what was put into it, and no other bytes are one.
func TestRecord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var out []tensor.Named
		for range rapid.IntRange(0, 3).Draw(t, "tensors") {
			n := rapid.IntRange(0, 5).Draw(t, "n")
			out = append(out, tensor.Named{
				Name: rapid.String().Draw(t, "name"),
				Tensor: tensor.Tensor{
					DType: tensor.Int16, Shape: []int{n, 1},
					Raw: rapid.SliceOfN(rapid.Byte(), 2*n, 2*n).Draw(t, "raw"),
				},
			})
		}
		q := sha256.Sum256(rapid.SliceOf(rapid.Byte()).Draw(t, "question"))
		b := record(q, out)
		got, err := open(b, q)
		if err != nil || !reflect.DeepEqual(got, out) {
			t.Fatalf("%v, %v; want %v", got, err, out)
		}
		if _, err := open(b, sha256.Sum256(q[:])); !errors.Is(err, errOther) {
			t.Fatalf("the answer to another question: %v", err)
		}
		b[rapid.IntRange(len(mark), len(b)-1).Draw(t, "at")]++
		if _, err := open(b, q); err == nil {
			t.Fatal("a damaged record is read")
		}
	})
}

// A count of more than a record has bytes is no reason to go on: the work on it is bounded by its size.
func TestRecordOfMany(t *testing.T) {
	q := sha256.Sum256([]byte("question"))
	for name, payload := range map[string][]byte{
		"tensors":    binary.AppendUvarint(nil, 1<<39),
		"dimensions": binary.AppendUvarint([]byte{1, 1, 'y', 1}, 1<<39),
	} {
		b := append([]byte(mark), q[:]...)
		b = binary.LittleEndian.AppendUint32(b, uint32(len(payload)))
		b = append(b, payload...)
		sum := sha256.Sum256(b[len(mark):])
		done := make(chan error, 1)
		go func() {
			_, err := open(append(b, sum[:]...), q)
			done <- err
		}()
		select {
		case err := <-done:
			if err == nil {
				t.Errorf("%s: taken", name)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%s: still counting", name)
		}
	}
}
