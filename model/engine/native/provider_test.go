//go:build (darwin || linux || windows) && (amd64 || arm64) && !nonative

package native_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nero/data/tensor"
	"nero/internal/outside"
	"nero/model/engine"
	"nero/model/engine/enginetest"
	"nero/model/engine/library"
	"nero/model/engine/native"
	"nero/model/engine/provider"
	"nero/model/engine/selftest"
	"nero/model/engine/tiny"
)

func list(t *testing.T, text string) provider.List {
	t.Helper()
	l, err := provider.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// A provider that the library does not have is refused by name, before anything is opened.
func TestAProviderThatTheLibraryLacks(t *testing.T) {
	e := open(t)
	has := e.Providers()
	if len(has) == 0 || has[len(has)-1] != "CPUExecutionProvider" {
		t.Fatalf("the library has %q, want the processor last", has)
	}
	for _, name := range provider.Names() {
		l := list(t, name)
		if _, lacks := l.Lacks(has); !lacks {
			continue
		}
		_, err := engine.On(e, l).Open(t.Context(), enginetest.Network().Bytes(), engine.Options{})
		lack, ok := errors.AsType[*provider.LackError](err)
		if !ok || lack.Provider.Name != name || lack.Library != e.Info().Path {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A library that was built with a provider whose part does not lie beside it says that, and not that it has none.
func TestAProviderWithoutItsPart(t *testing.T) {
	whole, err := os.ReadFile(outside.Named(t, outside.OpenVINO))
	if err != nil {
		t.Fatal(err)
	}
	alone := filepath.Join(t.TempDir(), library.Name(library.Host()))
	if err := os.WriteFile(alone, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	e, err := native.New(alone, "test")
	if err != nil {
		t.Fatal(err)
	}
	_, err = engine.On(e, list(t, "openvino")).Open(t.Context(), enginetest.Network().Bytes(), engine.Options{})
	if err == nil || !strings.Contains(err.Error(), "does not lie beside it") || provider.IsFallback(err) {
		t.Errorf("%v", err)
	}
}

func TestOpenVINO(t *testing.T) { onProvider(t, outside.OpenVINO, "openvino") }

func TestCUDA(t *testing.T) { onProvider(t, outside.CUDA, "cuda") }

// onProvider holds a provider against the processor of the same library.
func onProvider(t *testing.T, variable, name string) {
	t.Helper()
	e, err := native.New(outside.Named(t, variable), "test")
	if err != nil {
		t.Fatal(err)
	}
	there := engine.On(e, list(t, name))
	if got := there.Info().Provider; !strings.HasPrefix(got, name) {
		t.Errorf("it says that it runs on %q", got)
	}
	if err := selftest.Run(t.Context(), there); err != nil {
		t.Error(err)
	}
	model := enginetest.Network().Bytes()
	open := func(e engine.Engine) engine.Session {
		s, err := e.Open(t.Context(), model, engine.Options{Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	here, other := open(e), open(there)
	defer here.Close()  //nolint:errcheck // only run
	defer other.Close() //nolint:errcheck // only run
	if p, ok := other.(engine.Placed); !ok || !strings.HasPrefix(p.Placement().String(), "all ") {
		t.Errorf("nodes are placed %v", other)
	}
	in := enginetest.Images(3)
	var first []float32
	for range 3 {
		a, b := floats(t, here, in), floats(t, other, in)
		var scale, apart float64
		for i := range a {
			scale = max(scale, math.Abs(float64(a[i])))
			apart = max(apart, math.Abs(float64(a[i])-float64(b[i])))
		}
		if !(apart <= 1e-6*scale) {
			t.Errorf("answers differ by %g of %g", apart, scale)
		}
		if first == nil {
			first = b
		}
		for i := range b {
			if math.Float32bits(b[i]) != math.Float32bits(first[i]) {
				t.Fatal("the same inputs give another answer")
			}
		}
	}

	// Go interrupts its threads by signals. They are to be handled where Go handles them, also after a provider was
	// loaded and unloaded there.
	for range 4 {
		s := open(there)
		floats(t, s, in)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		until := time.Now().Add(30 * time.Millisecond)
		spun := 0
		for time.Now().Before(until) {
			spun += len(spin())
		}
		if spun == 0 {
			t.Error("nothing was done")
		}
	}
}

// spin takes long enough to be interrupted.
func spin() []float64 {
	x := make([]float64, 1<<16)
	for i := range x {
		x[i] = math.Sqrt(float64(i))
	}
	return x
}

func floats(t *testing.T, s engine.Session, in []tensor.Named) []float32 {
	t.Helper()
	out, err := s.Run(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	y, err := out[0].Float32s()
	if err != nil {
		t.Fatal(err)
	}
	return y
}

// What a provider does not take is refused by name unless the processor is named behind it.
func TestOpenVINODoesNotTakeAll(t *testing.T) {
	e, err := native.New(outside.Named(t, outside.OpenVINO), "test")
	if err != nil {
		t.Fatal(err)
	}
	port := func(name string) tiny.Port { return tiny.Port{Name: name, DType: tensor.Float32, Shape: []int{2, 2}} }
	m := tiny.Model{
		Nodes: []tiny.Node{
			{Op: "Relu", Inputs: []string{"x"}, Outputs: []string{"r"}},
			{Op: "Det", Inputs: []string{"r"}, Outputs: []string{"y"}},
		},
		Inputs: []tiny.Port{port("x")}, Outputs: []tiny.Port{{Name: "y", DType: tensor.Float32}},
	}
	_, err = engine.On(e, list(t, "openvino")).Open(t.Context(), m.Bytes(), engine.Options{})
	if !provider.IsFallback(err) || !strings.Contains(err.Error(), "Det") {
		t.Errorf("%v", err)
	}
	// What opens nowhere is no such case, whatever is allowed.
	broken := m.Bytes()
	broken = broken[:len(broken)-3]
	for _, text := range []string{"openvino", "openvino+cpu"} {
		_, err = engine.On(e, list(t, text)).Open(t.Context(), broken, engine.Options{})
		if err == nil || provider.IsFallback(err) {
			t.Errorf("a broken model on %s: %v", text, err)
		}
	}
	s, err := engine.On(e, list(t, "openvino+cpu")).Open(t.Context(), m.Bytes(), engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // only opened
	if p, ok := s.(engine.Placed); !ok || p.Placement().Processor().Nodes == 0 {
		t.Errorf("nothing runs on the processor: %v", s)
	}
}
