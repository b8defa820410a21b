package selftest

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nero/data/tensor"
	"nero/model/engine"
	"nero/model/engine/provider"
)

// fake answers the self-test's model with the expected results, except where spoil changes them.
type fake struct {
	info   engine.Info
	finger string
	opens  int
	spoil  func(run int, out []tensor.Named) error
}

func (f *fake) Info() engine.Info   { return f.info }
func (f *fake) Concurrent() bool    { return true }
func (f *fake) Fingerprint() string { return f.finger }
func (f *fake) Open(context.Context, []byte, engine.Options) (engine.Session, error) {
	f.opens++
	return &fakeSession{f: f}, nil
}

type fakeSession struct {
	f   *fake
	run int
}

func (s *fakeSession) Inputs() []string  { return nil }
func (s *fakeSession) Outputs() []string { return nil }
func (s *fakeSession) Close() error      { return nil }
func (s *fakeSession) Run(context.Context, []tensor.Named) ([]tensor.Named, error) {
	s.run++
	var out []tensor.Named
	for _, x := range examples() {
		y := make([]float32, len(x.want))
		for i, v := range x.want {
			y[i] = float32(v)
		}
		out = append(out, named("y", y, x.shape...))
	}
	if s.f.spoil != nil {
		if err := s.f.spoil(s.run, out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func TestRunAcceptsRightResults(t *testing.T) {
	if err := Run(t.Context(), &fake{}); err != nil {
		t.Error(err)
	}
}

func TestRunRefuses(t *testing.T) {
	nan := []float32{float32(nanValue())}
	for name, spoil := range map[string]func(run int, out []tensor.Named) error{
		"one element that is off by a thousandth": func(_ int, out []tensor.Named) error {
			x, err := out[2].Float32s()
			x[5] += 0.2
			return err
		},
		"an error in the last run only": func(run int, out []tensor.Named) error {
			x, err := out[0].Float32s()
			if run == 2*runs {
				x[0]++
			}
			return err
		},
		"NaN": func(_ int, out []tensor.Named) error {
			x, err := out[3].Float32s()
			copy(x, nan)
			return err
		},
		"another shape":   func(_ int, out []tensor.Named) error { out[1].Shape = []int{4, 3}; return nil },
		"another type":    func(_ int, out []tensor.Named) error { out[1].DType = tensor.Int32; return nil },
		"a missing value": func(_ int, out []tensor.Named) error { out[1].Raw = out[1].Raw[4:]; return nil },
	} {
		err := Run(t.Context(), &fake{info: engine.Info{Name: "fake", Version: "7"}, spoil: spoil})
		if err == nil || !strings.Contains(err.Error(), "engine fake 7") {
			t.Errorf("%s: %v", name, err)
		}
	}
	broken := errors.New("broken")
	if err := Run(t.Context(), &fake{spoil: func(int, []tensor.Named) error { return broken }}); !errors.Is(err,
		broken) {
		t.Errorf("an error of Run: %v", err)
	}
}

func nanValue() float64 {
	zero := 0.0
	return zero / zero
}

// The two models that showed the known error of a compiler must stay among the examples.
func TestExamplesHoldTheKnownCases(t *testing.T) {
	m, in := join(examples())
	ops := map[string]int{}
	for _, n := range m.Nodes {
		ops[n.Op]++
		if n.Op == "Gemm" && len(n.Inputs) == 2 {
			ops["Gemm of two"]++
		}
	}
	for _, op := range []string{"Gemm of two", "Conv", "MaxPool", "MatMul", "Softmax", "Where"} {
		if ops[op] == 0 {
			t.Errorf("no %s", op)
		}
	}
	if len(in) != len(m.Inputs) {
		t.Errorf("%d values for %d inputs", len(in), len(m.Inputs))
	}
	for i, p := range m.Inputs {
		if p.Name != in[i].Name {
			t.Errorf("input %d: %q and %q", i, p.Name, in[i].Name)
		}
	}
}

func TestVerifyRemembers(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "folder")
	verify := func(f *fake, processor string) bool {
		t.Helper()
		ran, err := Verify(t.Context(), f, dir, processor)
		if err != nil {
			t.Fatal(err)
		}
		if ran != (f.opens > 0) {
			t.Errorf("reports %v after %d openings", ran, f.opens)
		}
		f.opens = 0
		return ran
	}
	f := &fake{info: engine.Info{Name: "a", Version: "1", Path: "p", Reason: "one"}, finger: "x"}
	if !verify(f, "cpu") {
		t.Error("the first time it must run")
	}
	f.info.Reason = "another" // why it was chosen does not matter
	if verify(f, "cpu") {
		t.Error("the second time it must not run")
	}
	if !verify(f, "other cpu") {
		t.Error("it must run on another processor")
	}
	for name, change := range map[string]func(f *fake){
		"version":     func(f *fake) { f.info.Version = "2" },
		"fingerprint": func(f *fake) { f.finger = "y" },
		"engine":      func(f *fake) { f.info.Name = "b" },
		"path":        func(f *fake) { f.info.Path = "q" },
	} {
		g := *f
		change(&g)
		if !verify(&g, "cpu") {
			t.Errorf("it must run after a change of the %s", name)
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) != 6 {
		t.Fatalf("%d records (%v), want 6", len(files), err)
	}
	for _, file := range files {
		if err := os.WriteFile(file, []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if !verify(f, "cpu") {
		t.Error("a damaged record counts")
	}
	if verify(f, "cpu") {
		t.Error("a damaged record is not replaced")
	}
}

// A pass on one device says nothing of another, nor of the same with other parts, drivers or options.
func TestVerifyRemembersDevices(t *testing.T) {
	dir, lib := t.TempDir(), filepath.Join(t.TempDir(), "libonnxruntime.so")
	part := filepath.Join(filepath.Dir(lib), "libonnxruntime_providers_cuda.so")
	if err := os.WriteFile(part, []byte("one"), 0o600); err != nil {
		t.Fatal(err)
	}
	e := &picky{fake: fake{info: engine.Info{Name: "a", Version: "1", Path: lib}}, takes: func() bool { return true }}
	ran := func(text, where string) bool {
		t.Helper()
		l, err := provider.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		ran, err := Verify(t.Context(), engine.On(e, l), dir, where)
		if err != nil {
			t.Fatal(err)
		}
		return ran
	}
	for _, k := range []struct {
		text, where string
		want        bool
	}{
		{"cuda", "one", true},
		{"cuda", "one", false},
		{"cuda:device_id=1", "one", true},
		{"cuda:device_id=1", "one", false},
		{"cuda:gpu_mem_limit=9", "one", true},
		{"cuda", "another", true},
		{"cuda", "one", false},
	} {
		if got := ran(k.text, k.where); got != k.want {
			t.Errorf("%s at %s: ran %v, want %v", k.text, k.where, got, k.want)
		}
	}
	if err := os.WriteFile(part, []byte("other"), 0o600); err != nil {
		t.Fatal(err)
	}
	if !ran("cuda", "one") {
		t.Error("it must run with another part of the library")
	}
}

func TestVerifyForgetsFailures(t *testing.T) {
	dir := t.TempDir()
	bad := true
	f := &fake{spoil: func(_ int, out []tensor.Named) error {
		if bad {
			out[0].Raw[3] ^= 0x40
		}
		return nil
	}}
	for range 2 {
		if ran, err := Verify(t.Context(), f, dir, "cpu"); !ran || err == nil {
			t.Errorf("ran %v, error %v", ran, err)
		}
	}
	bad = false
	if ran, err := Verify(t.Context(), f, dir, "cpu"); !ran || err != nil {
		t.Errorf("ran %v, error %v", ran, err)
	}
}

func TestVerifyWithoutAFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"", filepath.Join(file, "below")} {
		for range 2 {
			if ran, err := Verify(t.Context(), &fake{}, dir, "cpu"); !ran || err != nil {
				t.Errorf("folder %q: ran %v, error %v", dir, ran, err)
			}
		}
	}
}

// Answers that a coarser format gives are refused: the factors of products rounded to the 10 bits of TF32.
func TestCoarseProductsAreRefused(t *testing.T) {
	coarse := func(x float32) float64 {
		b := math.Float32bits(x)
		return float64(math.Float32frombits((b + 1<<12) &^ (1<<13 - 1)))
	}
	for _, c := range []struct {
		at      int
		a, b    []float32
		m, k, n int
	}{
		{10, fine(16*32, 18), fine(32*16, 19), 16, 32, 16},
		{11, fine(16*16, 21), fine(16*64, 20), 16, 16, 64},
	} {
		rounded := func(x []float32) []float32 {
			y := make([]float32, len(x))
			for i, v := range x {
				y[i] = float32(coarse(v))
			}
			return y
		}
		f := &fake{spoil: func(_ int, out []tensor.Named) error {
			y, err := out[c.at].Float32s()
			for i, v := range product(rounded(c.a), rounded(c.b), c.m, c.k, c.n) {
				y[i] = float32(v)
			}
			return err
		}}
		if err := Run(t.Context(), f); err == nil || !strings.Contains(err.Error(), "of float32") {
			t.Errorf("%v", err)
		}
	}
}

// On a provider every example is opened alone, and what the provider does not take is no answer of it.
func TestOnAProvider(t *testing.T) {
	l, err := provider.Parse("openvino+cpu")
	if err != nil {
		t.Fatal(err)
	}
	takes := 0
	e := &picky{takes: func() bool { takes++; return takes%2 == 0 }}
	if err := Run(t.Context(), engine.On(e, l)); err != nil || takes != len(examples()) {
		t.Errorf("%d openings: %v", takes, err)
	}
	e.takes = func() bool { return false }
	if err := Run(t.Context(), engine.On(e, l)); err == nil || !strings.Contains(err.Error(), "takes none") {
		t.Errorf("%v", err)
	}
	e.takes, e.wrong = func() bool { return true }, true
	if err := Run(t.Context(), engine.On(e, l)); err == nil || !strings.Contains(err.Error(), "openvino") {
		t.Errorf("%v", err)
	}
}

// picky opens one example at a time, and only some, as a provider does.
type picky struct {
	fake
	takes  func() bool
	wrong  bool
	opened int
}

func (p *picky) Open(_ context.Context, _ []byte, o engine.Options) (engine.Session, error) {
	x := examples()[p.opened%len(examples())]
	p.opened++
	if o.Providers.Fallback {
		return nil, errors.New("the processor is allowed, whose answers say nothing")
	}
	if !p.takes() {
		return nil, &provider.FallbackError{List: o.Providers}
	}
	return &pickySession{x: x, wrong: p.wrong}, nil
}

type pickySession struct {
	fakeSession
	x     example
	wrong bool
}

func (s *pickySession) Close() error { return nil }
func (s *pickySession) Run(context.Context, []tensor.Named) ([]tensor.Named, error) {
	y := make([]float32, len(s.x.want))
	for i, v := range s.x.want {
		y[i] = float32(v)
	}
	if s.wrong {
		y[0]++
	}
	return []tensor.Named{named("y", y, s.x.shape...)}, nil
}
