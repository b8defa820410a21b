package wasm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero/api"

	"nero/data/tensor"
	"nero/internal/slow"
	"nero/model/engine"
	"nero/model/engine/selftest"
	"nero/model/engine/tiny"
)

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func TestEmbeddedModule(t *testing.T) {
	m, err := unpack()
	if err != nil {
		t.Fatal(err)
	}
	if got := digest(m); got != SHA256 {
		t.Errorf("the embedded module has the sha256 %s, want %s", got, SHA256)
	}
	c, n, err := correct(m)
	if err != nil {
		t.Fatal(err)
	}
	// Any change to the rewriting shows here: look at it, run the self-test, then write the new digest down.
	const size, selects, sum = 10599956, 1605, "9064f3dad52bedca73265d00a717b61903c66a2cc0a1010d135d38a146d5d566"
	if len(c) != size || n != selects || digest(c) != sum {
		t.Errorf("corrected: %d bytes, %d selects, sha256 %s; want %d, %d, %s", len(c), n, digest(c), size, selects,
			sum)
	}
	again, n, err := correct(c)
	if err != nil || n != 0 || digest(again) != digest(c) {
		t.Errorf("correcting twice: %d selects left (%v)", n, err)
	}
	provenance, err := os.ReadFile("PROVENANCE.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(provenance), SHA256) {
		t.Error("PROVENANCE.md names another digest")
	}
	for _, name := range []string{"LICENSE", "ThirdPartyNotices.txt"} {
		if st, err := os.Stat(filepath.Join("licenses", name)); err != nil || st.Size() == 0 {
			t.Errorf("the license texts of ONNX Runtime must lie beside the module: %s: %v", name, err)
		}
	}
}

func TestCompilerIsTheOneInGoMod(t *testing.T) {
	b, err := os.ReadFile("../../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if want := "github.com/tetratelabs/" + compiler; !strings.Contains(string(b), want) {
		t.Errorf("go.mod does not require %s: change the constant", want)
	}
}

func TestPassesTheSelfTest(t *testing.T) {
	if err := selftest.Run(t.Context(), corrected(t)); err != nil {
		t.Fatal(err)
	}
}

// Without the correction results are wrong and the self-test must say so. When this test fails after an update of
// wazero, the error in its compiler is mended and correct.go can go.
func TestSelfTestFindsTheMiscompilation(t *testing.T) {
	slow.Test(t)
	if runtime.GOARCH != "amd64" {
		t.Skip("the compiler goes wrong on amd64 only")
	}
	m, err := unpack()
	if err != nil {
		t.Fatal(err)
	}
	e, err := compile(t.Context(), Config{CacheDir: cacheDir(t)}, m)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close(context.Background()) }()
	err = selftest.Run(t.Context(), e)
	if err == nil || !strings.Contains(err.Error(), "computes wrongly") || !strings.Contains(err.Error(), "Gemm") {
		t.Fatalf("want the uncorrected module to be refused for its Gemm, got %v", err)
	}
}

// A Gemm without C must ignore what its output buffer held. The first run finds zeros there, so a single run proves
// nothing.
func TestGemmOfTwoInputs(t *testing.T) {
	m := tiny.Model{
		Nodes: []tiny.Node{{Op: "Gemm", Inputs: []string{"a", "b"}, Outputs: []string{"y"}}},
		Inputs: []tiny.Port{
			{Name: "a", DType: tensor.Float32, Shape: []int{1, 2}},
			{Name: "b", DType: tensor.Float32, Shape: []int{2, 1}},
		},
		Outputs: []tiny.Port{{Name: "y", DType: tensor.Float32, Shape: []int{1, 1}}},
	}
	s := openModel(t, corrected(t), m)
	for run := range 3 {
		y, err := s.Run(t.Context(), []tensor.Named{
			{Name: "a", Tensor: tensor.FromFloat32([]float32{1, 2}, 1, 2)},
			{Name: "b", Tensor: tensor.FromFloat32([]float32{3, 4}, 2, 1)},
		})
		if err != nil {
			t.Fatal(err)
		}
		if v, err := y[0].Float32s(); err != nil || v[0] != 11 {
			t.Errorf("run %d: %v (%v), want 11", run+1, v, err)
		}
	}
}

func TestErrorsKeepTheTextOfExceptions(t *testing.T) {
	e := corrected(t)
	_, err := e.Open(t.Context(), vectorModel("NoSuchOperator").Bytes(), engine.Options{})
	if err == nil || !strings.Contains(err.Error(), "NoSuchOperator") {
		t.Errorf("opening a model with an unknown operator: %v", err)
	}
	m := vectorModel("Reshape")
	m.Nodes[0].Inputs = []string{"x", "shape"}
	m.Constants = []tensor.Named{{Name: "shape", Tensor: tensor.FromInt64([]int64{3}, 1)}}
	s := openModel(t, e, m)
	for range 2 {
		_, err = s.Run(t.Context(), input(1))
		if err == nil || !strings.Contains(err.Error(), "requested shape:{3}") {
			t.Errorf("reshaping one element to three: %v", err)
		}
		if s.vm != nil {
			t.Error("the instance lives on after an exception")
		}
		if _, err := s.Run(t.Context(), input(1, 2, 3)); err != nil {
			t.Errorf("after the exception: %v", err)
		}
	}
}

// counted counts the calls of a function of the instance.
type counted struct {
	api.Function
	calls *int
}

func (c counted) CallWithStack(ctx context.Context, stack []uint64) error {
	*c.calls++
	return c.Function.CallWithStack(ctx, stack)
}

// Whatever way a Run ends, it gives back what it took, piece by piece.
func TestRunsGiveBackWhatTheyTake(t *testing.T) {
	m := vectorModel("Split") // two outputs; it fails with a status when x does not have three elements
	m.Nodes[0].Inputs, m.Nodes[0].Outputs = []string{"x", "n"}, []string{"y", "z"}
	m.Constants = []tensor.Named{{Name: "n", Tensor: tensor.FromInt64([]int64{1, 2}, 2)}}
	m.Outputs = append(m.Outputs, tiny.Port{Name: "z", DType: tensor.Float32, Shape: []int{tiny.Free}})
	s := openModel(t, corrected(t), m)
	calls := map[string]*int{}
	for name, f := range s.vm.fn {
		calls[name] = new(int)
		s.vm.fn[name] = counted{f, calls[name]}
	}
	for _, c := range []struct {
		name string
		in   []tensor.Named
		// that the run leaves to be given back
		outputs int
	}{
		{"a good run", input(1, 2, 3), 2},
		{"wrong sizes", input(1, 2, 3, 4), 0},
		{"a wrong rank", []tensor.Named{{Name: "x", Tensor: tensor.FromFloat32([]float32{1, 2}, 1, 2)}}, 0},
		{"a wrong type", []tensor.Named{{Name: "x", Tensor: tensor.FromInt64([]int64{1, 2, 3}, 3)}}, 0},
	} {
		for _, n := range calls {
			*n = 0
		}
		if _, err := s.Run(t.Context(), c.in); (err == nil) != (c.outputs > 0) || s.vm == nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		for _, pair := range []struct {
			take, give string
			more       int
		}{
			{xMalloc, xFree, 0},
			{xCreateTensor, xReleaseTensor, c.outputs},
			{xCreateRunOpts, xReleaseRunOpts, 0},
			{xTensorData, xOrtFree, 0},
		} {
			if took, gave := *calls[pair.take]+pair.more, *calls[pair.give]; took != gave || took == 0 &&
				pair.take == xMalloc {
				t.Errorf("%s: %d calls of %q and %d of %q", c.name, took, pair.take, gave, pair.give)
			}
		}
	}
}

// The memory of an instance does not grow over many runs.
func TestRunsDoNotLeak(t *testing.T) {
	m := vectorModel("Gather") // fails with a status, not an exception
	m.Nodes[0].Inputs = []string{"x", "i"}
	m.Constants = []tensor.Named{{Name: "i", Tensor: tensor.FromInt64([]int64{1000}, 1)}}
	s := openModel(t, corrected(t), m)
	big := make([]float32, 1<<18)
	run := func() {
		if _, err := s.Run(t.Context(), input(1, 2, 3)); err == nil {
			t.Fatal("an index out of range is accepted")
		}
		if _, err := s.Run(t.Context(),
			[]tensor.Named{{Name: "x", Tensor: tensor.FromFloat32(big, 1<<9, 1<<9)}}); err == nil {
			t.Fatal("a matrix is accepted for a vector")
		}
		if _, err := s.Run(t.Context(), input(big...)); err != nil {
			t.Fatal(err)
		}
	}
	vm := s.vm
	for range 5 {
		run()
	}
	size := vm.mem.Size()
	for range 400 { // 800 MB of inputs
		run()
	}
	if s.vm != vm {
		t.Error("a failed status cost the instance")
	}
	if got := vm.mem.Size(); got != size {
		t.Errorf("the instance grew from %d to %d bytes", size, got)
	}
	if len(vm.temps) != 0 {
		t.Errorf("%d things are still to be freed", len(vm.temps))
	}
}

func TestSizesBeyond32Bits(t *testing.T) {
	if runtime.GOARCH == "386" || runtime.GOARCH == "arm" {
		t.Skip("such a tensor cannot be made")
	}
	m := vectorModel("Relu")
	m.Inputs[0].Shape = []int{tiny.Free, tiny.Free}
	m.Outputs[0].Shape = []int{tiny.Free, tiny.Free}
	s := openModel(t, corrected(t), m)
	_, err := s.Run(t.Context(),
		[]tensor.Named{{Name: "x", Tensor: tensor.Tensor{DType: tensor.Float32, Shape: []int{1 << 32, 0}}}})
	if err == nil || !strings.Contains(err.Error(), "axis 0") {
		t.Errorf("an axis of 2^32: %v", err)
	}
}

func TestClosedEngine(t *testing.T) {
	e, err := New(t.Context(), Config{CacheDir: cacheDir(t)})
	if err != nil {
		t.Fatal(err)
	}
	s := openModel(t, e, vectorModel("Relu"))
	for range 2 {
		if err := e.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Run(t.Context(), input(1)); !errors.Is(err, engine.ErrClosed) {
		t.Errorf("Run: %v, want %v", err, engine.ErrClosed)
	}
	if _, err := e.Open(t.Context(), vectorModel("Relu").Bytes(), engine.Options{}); !errors.Is(err, engine.ErrClosed) {
		t.Errorf("Open: %v, want %v", err, engine.ErrClosed)
	}
	if err := s.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}

func TestVersions(t *testing.T) {
	e := corrected(t)
	model := func(opset, ir int, domain string) []byte {
		m := vectorModel("Relu")
		m.Opset, m.IR, m.Nodes[0].Domain = opset, ir, domain
		return m.Bytes()
	}
	for _, c := range []struct {
		opset, ir int
		// in the error; empty for none
		want string
	}{
		{MaxOpset, MaxIR, ""},
		{MaxOpset + 1, MaxIR, "native body"},
		{MaxOpset, MaxIR + 1, "native body"},
		{7, 3, ""},
	} {
		s, err := e.Open(t.Context(), model(c.opset, c.ir, ""), engine.Options{})
		if err == nil {
			_ = s.Close() // only opened
		}
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("opset %d, IR %d: %v", c.opset, c.ir, err)
		}
	}
	if err := checkVersions(tiny.Model{
		Opset: 21, IR: 10,
		Nodes: []tiny.Node{{Op: "X", Domain: "com.example"}},
	}.Bytes()); err != nil {
		t.Errorf("another domain's version counts: %v", err)
	}
}

func FuzzCheckVersions(f *testing.F) {
	f.Add(vectorModel("Relu").Bytes())
	f.Add([]byte("\x08\x08\x42\x02\x10\x10"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := checkVersions(b); err != nil && err.Error() == "" {
			t.Error("an error without a text")
		}
	})
}

func TestEndedContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if e, err := New(ctx, Config{}); !errors.Is(err, context.Canceled) {
		if err == nil {
			_ = e.Close(t.Context()) // it is an error that it opened
		}
		t.Errorf("%v, want %v", err, context.Canceled)
	}
}

func TestMemory(t *testing.T) {
	for name, m := range map[string]interface {
		Reallocate(size uint64) []byte
		Free()
	}{"given": newMemory.Allocate(0, 1<<32), "slice": &sliceMemory{}} {
		b := m.Reallocate(pageSize)
		copy(b, "kept")
		b = m.Reallocate(100 * pageSize)
		if len(b) != 100*pageSize || string(b[:4]) != "kept" || b[len(b)-1] != 0 {
			t.Errorf("%s: growing gives %d bytes that start with %q", name, len(b), b[:4])
		}
		b[len(b)-1] = 1
		m.Free()
		m.Free()
	}
}

func BenchmarkStart(b *testing.B) {
	dir, err := os.UserCacheDir()
	if err != nil {
		b.Skip(err)
	}
	for b.Loop() {
		e, err := New(b.Context(), Config{CacheDir: filepath.Join(dir, "nero", "wasm")})
		if err != nil {
			b.Fatal(err)
		}
		_ = e.Close(b.Context()) // only started
	}
}

func BenchmarkRunOverhead(b *testing.B) {
	dir, err := os.UserCacheDir()
	if err != nil {
		b.Skip(err)
	}
	e, err := New(b.Context(), Config{CacheDir: filepath.Join(dir, "nero", "wasm")})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = e.Close(b.Context()) }()
	s, err := e.Open(b.Context(), vectorModel("Relu").Bytes(), engine.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	in := input(1)
	for b.Loop() {
		if _, err := s.Run(b.Context(), in); err != nil {
			b.Fatal(err)
		}
	}
}
