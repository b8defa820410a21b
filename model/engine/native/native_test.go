//go:build (darwin || linux || windows) && (amd64 || arm64) && !nonative

package native_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nero/data/tensor"
	"nero/model/engine"
	"nero/model/engine/choose"
	"nero/model/engine/choose/choosetest"
	"nero/model/engine/library"
	"nero/model/engine/native"
	"nero/model/engine/selftest"
	"nero/model/engine/tiny"
)

// open loads the library of this machine, or skips the test where there is none.
func open(t *testing.T) *native.Engine {
	t.Helper()
	c, err := choose.Open(t.Context(), choose.Request{Kind: choose.Native}, choosetest.Host())
	if errors.Is(err, choose.ErrNoLibrary) {
		t.Skipf("the native engine is not tested: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	e, ok := c.Engine.(*native.Engine)
	if !ok {
		t.Fatalf("the engine is a %T", c.Engine)
	}
	return e
}

func TestSelfTest(t *testing.T) {
	if err := selftest.Run(t.Context(), open(t)); err != nil {
		t.Error(err)
	}
}

func TestInfo(t *testing.T) {
	first := open(t).Info()
	e, err := native.New(first.Path, "a reason")
	if err != nil {
		t.Fatal(err)
	}
	if i := e.Info(); i.Name != "native" || !strings.HasPrefix(i.Version, "1.") || !filepath.IsAbs(i.Path) ||
		i.Reason != "a reason" {
		t.Errorf("%+v", i)
	}
	if e.Fingerprint() == "" || !e.Concurrent() {
		t.Error("no fingerprint, or not concurrent")
	}
}

func TestFilesThatAreNotTheLibrary(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, b []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	other := make([]byte, 64) // a library for a processor of IBM
	copy(other, "\x7fELF\x02\x02\x01")
	other[17], other[19] = 3, 22
	for name, c := range map[string]struct{ path, want string }{
		"text":              {write("text", []byte("hello")), "text file"},
		"empty":             {write("empty", nil), "empty"},
		"another processor": {write("other", other), "linux-s390x"},
		"a folder":          {dir, "folder"},
		"nothing":           {filepath.Join(dir, "none"), "none"},
		// not looked up in the system's folders
		"a name alone":       {"libonnxruntime.so.none", "libonnxruntime.so.none"},
		"a bad library name": {"", ""},
	} {
		_, err := native.New(c.path, "test")
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// A real library of this system that is something else.
func TestAnotherLibrary(t *testing.T) {
	for _, pattern := range []string{
		"/lib/*/libz.so.1", "/lib/*/libm.so.6", "/lib64/libm.so.6",
		`C:\Windows\System32\version.dll`,
	} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 || library.Check(files[0], library.Host()) != nil {
			continue
		}
		_, err = native.New(files[0], "test")
		if err == nil || !strings.Contains(err.Error(), "is not ONNX Runtime") ||
			!strings.Contains(err.Error(), "OrtGetApiBase") {
			t.Errorf("%s: %v", files[0], err)
		}
		return
	}
	t.Skip("no other library in the usual places")
}

// Loading a library that is cut off would end the program: it must not come to that.
func TestACutLibrary(t *testing.T) {
	whole := open(t).Info().Path
	b, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "cut"+filepath.Ext(whole))
	for _, size := range []int{100, 3000, len(b) / 2, len(b) * 9 / 10} {
		if err := os.WriteFile(path, b[:size], 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := native.New(path, "test"); !errors.Is(err, library.ErrIncomplete) {
			t.Errorf("%d of %d bytes: %v, want %v", size, len(b), err, library.ErrIncomplete)
		}
	}
}

// slow multiplies a large matrix many times: seconds of work in steps of milliseconds.
func slow() (tiny.Model, []tensor.Named) {
	const size, steps = 512, 200
	m := tiny.Model{
		Inputs:  []tiny.Port{{Name: "x", DType: tensor.Float32, Shape: []int{size, size}}},
		Outputs: []tiny.Port{{Name: "y", DType: tensor.Float32, Shape: []int{size, size}}},
	}
	last := "x"
	for i := range steps {
		next := "y"
		if i < steps-1 {
			next = "v" + string(rune('a'+i%26)) + string(rune('a'+i/26%26)) + string(rune('a'+i/676))
		}
		m.Nodes = append(m.Nodes, tiny.Node{Op: "MatMul", Inputs: []string{last, "x"}, Outputs: []string{next}})
		last = next
	}
	return m, []tensor.Named{{Name: "x", Tensor: tensor.New(tensor.Float32, size, size)}}
}

// The end of the context stops a run in the middle.
func TestTheEndOfTheContextStopsARun(t *testing.T) {
	m, in := slow()
	s, err := open(t).Open(t.Context(), m.Bytes(), engine.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }() // only run
	start := time.Now()
	if _, err := s.Run(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	whole := time.Since(start)
	ctx, cancel := context.WithTimeout(t.Context(), whole/20)
	defer cancel()
	start = time.Now()
	if _, err := s.Run(ctx, in); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, want %v", err, context.DeadlineExceeded)
	}
	if took := time.Since(start); took > whole/2 {
		t.Errorf("it went on for %v; a whole run takes %v", took, whole)
	}
}

// Close waits for the runs that are under way.
func TestCloseWhileRunning(t *testing.T) {
	m, in := slow()
	s, err := open(t).Open(t.Context(), m.Bytes(), engine.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	done := make(chan error)
	go func() {
		_, err := s.Run(ctx, in)
		done <- err
	}()
	time.Sleep(20 * time.Millisecond)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := <-done; !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, engine.ErrClosed) && err != nil {
		t.Errorf("the run: %v", err)
	}
}

func BenchmarkRunOverhead(b *testing.B) {
	c, err := choose.Open(b.Context(), choose.Request{Kind: choose.Native}, choosetest.Host())
	if err != nil {
		b.Skip(err)
	}
	m := tiny.Model{
		Nodes:   []tiny.Node{{Op: "Relu", Inputs: []string{"x"}, Outputs: []string{"y"}}},
		Inputs:  []tiny.Port{{Name: "x", DType: tensor.Float32, Shape: []int{1}}},
		Outputs: []tiny.Port{{Name: "y", DType: tensor.Float32, Shape: []int{1}}},
	}
	s, err := c.Open(b.Context(), m.Bytes(), engine.Options{Threads: 1})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = s.Close() }() // only run
	in := []tensor.Named{{Name: "x", Tensor: tensor.FromFloat32([]float32{1}, 1)}}
	for b.Loop() {
		if _, err := s.Run(b.Context(), in); err != nil {
			b.Fatal(err)
		}
	}
}
