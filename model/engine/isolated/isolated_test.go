package isolated_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"nero/data/tensor"
	"nero/internal/process"
	"nero/internal/slow"
	"nero/model/engine"
	"nero/model/engine/choose/choosetest"
	"nero/model/engine/enginetest"
	"nero/model/engine/isolated"
	"nero/model/engine/native"
	"nero/model/engine/provider"
	"nero/model/engine/tiny"
	"nero/model/engine/wasm"
)

func TestMain(m *testing.M) {
	if isolated.Asked() {
		os.Exit(isolated.Main(load))
	}
	os.Exit(m.Run())
}

// load opens what a test asks for in the place of a library.
func load(path, reason string) (engine.Engine, error) {
	switch path {
	case "wasm":
		return wasm.New(context.Background(), wasm.Config{Reason: reason, CacheDir: choosetest.Host().Cache + "/wasm"})
	case "faulty":
		return faulty{}, nil
	case "none":
		return nil, errors.New("there is no such library")
	}
	return native.New(path, reason)
}

// faulty is an engine whose models do what their first input says.
type faulty struct{}

func (faulty) Info() engine.Info   { return engine.Info{Name: "faulty", Version: "1", Reason: "test"} }
func (faulty) Concurrent() bool    { return true }
func (faulty) Fingerprint() string { return "faulty" }
func (faulty) Open(_ context.Context, model []byte, o engine.Options) (engine.Session, error) {
	if bytes.Equal(model, []byte("exit")) {
		os.Exit(3)
	}
	if bytes.Equal(model, []byte("part")) {
		e := &provider.FallbackError{List: o.Providers}
		e.Placement.Add("CPUExecutionProvider", "Det")
		return nil, fmt.Errorf("opening the model: %w", e)
	}
	return doing{}, nil
}

// What a model can be told to do.
const (
	doAnswer = iota
	doPanic
	doDie
	doHang
	doObey
	doFill
	doPrint
	doSpin
)

// spin is how much processor time doSpin takes at least.
const spin = 5 * time.Millisecond

type doing struct{}

func (doing) Inputs() []string  { return []string{"x"} }
func (doing) Outputs() []string { return []string{"y"} }
func (doing) Close() error      { return nil }
func (doing) Run(ctx context.Context, in []tensor.Named) ([]tensor.Named, error) {
	x, err := in[0].Float32s()
	if err != nil {
		return nil, err
	}
	switch int(x[0]) {
	case doPanic:
		panic("a fault inside the library")
	case doDie:
		p, err := os.FindProcess(os.Getpid())
		if err != nil {
			return nil, err
		}
		return nil, errors.Join(p.Kill(), errors.New(strconv.Itoa(<-make(chan int))))
	case doHang:
		<-make(chan int)
	case doObey:
		<-ctx.Done()
		return nil, ctx.Err()
	case doFill:
		var all [][]byte
		for {
			all = append(all, make([]byte, 256<<20)) //nolint:staticcheck // addresses alone: nothing touches them
		}
	case doSpin:
		for begin := process.Spent(); process.Spent()-begin < spin; {
			_ = math.Sqrt(2)
		}
	case doPrint:
		fmt.Println("a line that belongs to no frame")
	}
	time.Sleep(time.Duration(x[1]) * time.Millisecond)
	return []tensor.Named{{Name: "y", Tensor: tensor.FromFloat32([]float32{x[1]}, 1)}}, nil
}

// open starts a process with what load knows by that name.
func open(t *testing.T, name string, memory int64) *isolated.Engine {
	t.Helper()
	e, err := isolated.New(t.Context(), isolated.Config{
		Command: isolated.Itself, Library: name, Reason: "test", Memory: memory,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return e
}

// The kit holds for an engine in a process of its own as it does for the engine.
func TestConformance(t *testing.T) {
	t.Run("wasm", func(t *testing.T) {
		slow.Test(t)
		enginetest.Run(t, open(t, "wasm", 0))
	})
	t.Run("native", func(t *testing.T) {
		lib := choosetest.Host().Library
		if lib == "none" {
			t.Skip("NERO_ORT_LIB names no library")
		}
		enginetest.Run(t, open(t, lib, 8<<30))
	})
}

func do(ctx context.Context, s engine.Session, what, after float32) (float32, error) {
	out, err := s.Run(ctx, []tensor.Named{{Name: "x", Tensor: tensor.FromFloat32([]float32{what, after}, 2)}})
	if err != nil {
		return 0, err
	}
	y, err := out[0].Float32s()
	if err != nil {
		return 0, err
	}
	return y[0], nil
}

func answers(t *testing.T, s engine.Session) {
	t.Helper()
	if y, err := do(t.Context(), s, doAnswer, 7); err != nil || y != 7 {
		t.Errorf("afterwards: %g, %v", y, err)
	}
}

// What ends the process is an error that says how; the next call finds the model again.
func TestACrashIsAnError(t *testing.T) {
	e := open(t, "faulty", 1<<30)
	s, err := e.Open(t.Context(), []byte("model"), engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	answers(t, s)
	for _, c := range []struct {
		name string
		what float32
		want string
	}{
		{"panic", doPanic, "a fault inside the library"},
		{"killed", doDie, "SIGKILL"},
		{"memory", doFill, memoryRanOut},
	} {
		if c.what == doFill && !isolated.Bounded {
			continue
		}
		_, err := do(t.Context(), s, c.what, 0)
		crash, ok := errors.AsType[*engine.CrashError](err)
		if !ok || !strings.Contains(crash.Error(), c.want) || strings.Contains(crash.Error(), "\n") {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		answers(t, s)
	}
	if y, err := do(t.Context(), s, doPrint, 4); err != nil || y != 4 {
		t.Errorf("a library that prints: %g, %v", y, err)
	}
	if _, err := e.Open(t.Context(), []byte("exit"), engine.Options{}); err == nil {
		t.Error("a process that ends while it opens a model is no error")
	}
	answers(t, s)
}

// That a provider does not take all of a model is known by what comes over, and not by its words.
func TestAFallbackComesOver(t *testing.T) {
	e := open(t, "faulty", 0)
	l, err := provider.Parse("cuda:device_id=1")
	if err != nil {
		t.Fatal(err)
	}
	_, err = e.Open(t.Context(), []byte("part"), engine.Options{Providers: l})
	fallen, ok := errors.AsType[*provider.FallbackError](err)
	if !ok || !provider.IsFallback(err) || fallen.List.Whole() != l.Whole() || fallen.Placement.Processor().Nodes != 1 {
		t.Fatalf("%v", err)
	}
	if want := "opening the model: " + fallen.Error(); err.Error() != want {
		t.Errorf("%q, want %q", err, want)
	}
}

// Of the calls that were under way when a process ended, only the one that ended it fails.
func TestACrashSparesTheOthers(t *testing.T) {
	e := open(t, "faulty", 0)
	const calls = 6
	var wg sync.WaitGroup
	errs, got := make([]error, calls), make([]float32, calls)
	for i := range calls {
		s, err := e.Open(t.Context(), []byte("model"), engine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			what, after := float32(doAnswer), float32(300+i)
			if i == 2 {
				what, after = doPanic, 0
			}
			got[i], errs[i] = do(t.Context(), s, what, after)
		})
	}
	wg.Wait()
	for i := range calls {
		_, crashed := errors.AsType[*engine.CrashError](errs[i])
		if crashed != (i == 2) || !crashed && (errs[i] != nil || got[i] != float32(300+i)) {
			t.Errorf("call %d: %g, %v", i, got[i], errs[i])
		}
	}
}

// A call ends with its context, whether the library looks at it or not.
func TestACallEndsWithItsContext(t *testing.T) {
	e := open(t, "faulty", 0)
	s, err := e.Open(t.Context(), []byte("model"), engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, what := range []float32{doObey, doHang} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		_, err := do(ctx, s, what, 0)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%g: %v", what, err)
		}
		answers(t, s)
	}
}

// A program that is not nero, or a library that does not load, is an error of the start.
func TestStartsThatFail(t *testing.T) {
	for _, c := range []struct {
		name, want string
		config     isolated.Config
	}{
		{"no library", "no such library", isolated.Config{Command: isolated.Itself, Library: "none"}},
		{"no program", "cannot be started", isolated.Config{
			Command: func() *exec.Cmd { return exec.Command(t.TempDir() + "/nothing") },
		}},
		{"another program", "it ended by itself", isolated.Config{
			Command: func() *exec.Cmd { return exec.Command("true") },
		}},
	} {
		e, err := isolated.New(t.Context(), c.config)
		if err == nil {
			_ = e.Close(t.Context()) // it is an error that it started
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// ModMin is a model that divides the lowest int64 by -1, which the library leaves to the processor.
func modMin() []byte {
	one := func(v int64) tensor.Tensor { return tensor.FromInt64([]int64{v}, 1) }
	return tiny.Model{
		Nodes: []tiny.Node{{Op: "Mod", Inputs: []string{"x", "d"}, Outputs: []string{"y"}}},
		Inputs: []tiny.Port{
			{Name: "x", DType: tensor.Int64, Shape: []int{1}},
		},
		Outputs:   []tiny.Port{{Name: "y", DType: tensor.Int64, Shape: []int{1}}},
		Constants: []tensor.Named{{Name: "d", Tensor: one(-1)}},
	}.Bytes()
}

// A fault of the processor inside the library is an error that names it.
func TestAFaultInsideTheLibrary(t *testing.T) {
	lib := choosetest.Host().Library
	if lib == "none" {
		t.Skip("NERO_ORT_LIB names no library")
	}
	e := open(t, lib, 0)
	s, err := e.Open(t.Context(), modMin(), engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	run := func(x int64) error {
		_, err := s.Run(t.Context(), []tensor.Named{{Name: "x", Tensor: tensor.FromInt64([]int64{x}, 1)}})
		return err
	}
	for range 2 {
		if err := run(5); err != nil {
			t.Fatal(err)
		}
		err := run(math.MinInt64)
		if _, ok := errors.AsType[*engine.CrashError](err); !ok || !strings.Contains(err.Error(), "SIGFPE") {
			t.Fatalf("%v, want a crash that names SIGFPE", err)
		}
	}
}

// The engine says what its process takes: what a model took there, and nothing of what this process did.
func TestSpent(t *testing.T) {
	e := open(t, "faulty", 0)
	s, err := e.Open(t.Context(), []byte("model"), engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	spent := func() time.Duration {
		t.Helper()
		d, err := engine.Spent(t.Context(), engine.On(e, provider.List{}))
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	before := spent()
	x := []tensor.Named{{Name: "x", Tensor: tensor.FromFloat32([]float32{doSpin, 0}, 2)}}
	if _, err := s.Run(t.Context(), x); err != nil {
		t.Fatal(err)
	}
	if after := spent(); before <= 0 || after-before < spin {
		t.Errorf("%v before and %v after a call that takes %v", before, after, spin)
	}
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Spent(t.Context()); !errors.Is(err, engine.ErrClosed) {
		t.Errorf("a closed engine: %v", err)
	}
}
