package enginetest_test

import (
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"nero/data/tensor"
	"nero/internal/outside"
	"nero/model/engine"
	"nero/model/engine/choose"
)

var update = flag.Bool("update", false, "write the lists of expected misses")

// errUnjudged is returned for tests whose data an engine does not exchange: sequences, optional values, strings.
var errUnjudged = errors.New("not a tensor of numbers")

func TestBackendDataOnWasm(t *testing.T) { backend(t, choose.Wasm) }

func TestBackendDataOnNative(t *testing.T) { backend(t, choose.Native) }

// backend runs all tests three times each and compares the misses with testdata/misses-BODY.txt: a new miss fails, a
// healed one too, so that the list stays true. The lists were made with ONNX 1.12's data, wasm 1.18.0 and native
// 1.27.0.
func backend(t *testing.T, kind string) {
	t.Helper()
	root := outside.Named(t, outside.ONNXData)
	dirs, err := filepath.Glob(filepath.Join(root, "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	e := open(t, kind)
	var misses []string
	passed, skipped := 0, 0
	for _, dir := range dirs {
		name, err := filepath.Rel(root, dir)
		if err != nil {
			t.Fatal(err)
		}
		switch err := backendTest(t, e, dir); {
		case errors.Is(err, errUnjudged):
			skipped++
		case err != nil:
			misses = append(misses, filepath.ToSlash(name))
			t.Logf("%s: %.200s", name, strings.ReplaceAll(err.Error(), "\n", " "))
		default:
			passed++
		}
	}
	t.Logf("%+v: %d passed, %d missed, %d not judged", e.Info(), passed, len(misses), skipped)
	if passed < 700 {
		t.Errorf("only %d tests passed: is %s the folder data?", passed, root)
	}
	list := filepath.Join("testdata", "misses-"+kind+".txt")
	got := strings.Join(misses, "\n") + "\n"
	if *update {
		if err := os.WriteFile(list, []byte(got), 0o644); err != nil { //nolint:gosec // a file of the source tree
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Fields(string(b))
	for _, name := range misses {
		if !slices.Contains(want, name) {
			t.Errorf("new miss: %s", name)
		}
	}
	for _, name := range want {
		if !slices.Contains(misses, name) {
			t.Errorf("healed: %s; take it off the list", name)
		}
	}
}

func backendTest(t *testing.T, e engine.Engine, dir string) error {
	t.Helper()
	model, err := os.ReadFile(filepath.Join(dir, "model.onnx"))
	if err != nil {
		return errUnjudged
	}
	if !onlyNumbers(model) {
		return errUnjudged
	}
	s, err := e.Open(t.Context(), model, engine.Options{Threads: 1})
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }() // only run
	sets, err := filepath.Glob(filepath.Join(dir, "test_data_set_*"))
	if err != nil {
		return err
	}
	for _, set := range sets {
		var in []tensor.Named
		for i, name := range s.Inputs() {
			x, err := readTensor(fmt.Sprintf("%s/input_%d.pb", set, i))
			if err != nil {
				return err
			}
			in = append(in, tensor.Named{Name: name, Tensor: x})
		}
		var out []tensor.Named
		for range 3 { // the first runs find zeroed buffers and would hide a result that depends on stale memory
			if out, err = s.Run(t.Context(), in); err != nil {
				return err
			}
		}
		for i, y := range out {
			file := fmt.Sprintf("%s/output_%d.pb", set, i)
			if _, err := os.Stat(file); err != nil {
				continue // an optional output that the test does not judge
			}
			want, err := readTensor(file)
			if err != nil {
				return err
			}
			if err := near(y.Tensor, want); err != nil {
				return fmt.Errorf("output %d: %w", i, err)
			}
		}
	}
	return nil
}

// near compares as ONNX's own runner does: |got - want| <= 1e-7 + 1e-3 |want|.
func near(got, want tensor.Tensor) error {
	if got.DType != want.DType || !slices.Equal(got.Shape, want.Shape) {
		return fmt.Errorf("%s%v, want %s%v", got.DType, got.Shape, want.DType, want.Shape)
	}
	g, err := got.Float64s(nil)
	if err != nil {
		return err
	}
	w, err := want.Float64s(nil)
	if err != nil {
		return err
	}
	for i := range w {
		if g[i] != w[i] && !(math.IsNaN(g[i]) && math.IsNaN(w[i])) &&
			!(math.Abs(g[i]-w[i]) <= 1e-7+1e-3*math.Abs(w[i])) {
			return fmt.Errorf("element %d is %g, want %g", i, g[i], w[i])
		}
	}
	return nil
}

// messages are the values of a field that holds messages, texts or packed numbers.
func messages(msg []byte, field protowire.Number) (all [][]byte) {
	each(msg, func(num protowire.Number, _ uint64, b []byte) {
		if num == field && b != nil {
			all = append(all, b)
		}
	})
	return all
}

// each calls f with every field; fixed-width ones come as numbers.
func each(msg []byte, f func(num protowire.Number, v uint64, b []byte)) {
	for len(msg) > 0 {
		num, typ, n := protowire.ConsumeTag(msg)
		if n < 0 {
			return
		}
		msg = msg[n:]
		var v uint64
		var b []byte
		switch typ {
		case protowire.VarintType:
			v, n = protowire.ConsumeVarint(msg)
		case protowire.Fixed32Type:
			var w uint32
			w, n = protowire.ConsumeFixed32(msg)
			v = uint64(w)
		case protowire.Fixed64Type:
			v, n = protowire.ConsumeFixed64(msg)
		case protowire.BytesType:
			if b, n = protowire.ConsumeBytes(msg); b == nil {
				b = []byte{}
			}
		case protowire.StartGroupType, protowire.EndGroupType:
			return
		}
		if n < 0 {
			return
		}
		f(num, v, b)
		msg = msg[n:]
	}
}

// onlyNumbers reports whether all inputs and outputs of a ModelProto are tensors without strings.
func onlyNumbers(model []byte) bool {
	numbers := true
	for _, graph := range messages(model, 7) {
		for _, port := range append(messages(graph, 11), messages(graph, 12)...) {
			ok := false
			for _, typ := range messages(port, 2) {
				for _, tensorType := range messages(typ, 1) {
					each(tensorType, func(num protowire.Number, v uint64, _ []byte) {
						ok = ok || num == 1 && tensor.DType(v).Size() > 0
					})
				}
			}
			numbers = numbers && ok
		}
	}
	return numbers
}

// readTensor reads a TensorProto: raw_data, or the typed fields, packed or not.
func readTensor(file string) (tensor.Tensor, error) {
	msg, err := os.ReadFile(file)
	if err != nil {
		return tensor.Tensor{}, errUnjudged
	}
	var shape []int
	var dtype tensor.DType
	var raw []byte
	var values []uint64 // float_data, int32_data, int64_data, double_data, uint64_data
	each(msg, func(num protowire.Number, v uint64, b []byte) {
		switch int(num) {
		case 1:
			if b == nil {
				shape = append(shape, int(v))
			}
			for len(b) > 0 {
				d, n := protowire.ConsumeVarint(b)
				if n < 0 {
					return
				}
				shape, b = append(shape, int(d)), b[n:]
			}
		case 2:
			dtype = tensor.DType(v)
		case 9:
			raw = b
		case 4, 10: // float_data, double_data
			if b == nil {
				values = append(values, v)
			}
			for w := map[protowire.Number]int{4: 4, 10: 8}[num]; len(b) >= w; b = b[w:] {
				if w == 4 {
					values = append(values, uint64(binary.LittleEndian.Uint32(b)))
				} else {
					values = append(values, binary.LittleEndian.Uint64(b))
				}
			}
		case 5, 7, 11: // int32_data, int64_data, uint64_data
			if b == nil {
				values = append(values, v)
			}
			for len(b) > 0 {
				d, n := protowire.ConsumeVarint(b)
				if n < 0 {
					return
				}
				values, b = append(values, d), b[n:]
			}
		default:
		}
	})
	if dtype.Size() == 0 {
		return tensor.Tensor{}, errUnjudged
	}
	if _, err := tensor.CheckedCount(shape, 1<<28); err != nil {
		return tensor.Tensor{}, err
	}
	t := tensor.New(dtype, shape...)
	switch {
	case len(raw) == len(t.Raw):
		copy(t.Raw, raw)
	case len(values) == t.Len():
		for i, v := range values {
			for k := range dtype.Size() {
				t.Raw[i*dtype.Size()+k] = byte(v >> (8 * k))
			}
		}
	default:
		return tensor.Tensor{}, fmt.Errorf("%d bytes and %d values for %s%v", len(raw), len(values), dtype, shape)
	}
	return t, nil
}
