package oracle_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"nero/data/tensor"
	"nero/internal/outside"
	"nero/model/onnx"
	"nero/model/onnx/onnxpb"
	"nero/model/oracle"
)

var update = flag.Bool("update", false, "write the list of expected misses")

// errUnjudged is returned for tests whose data is not numbers: sequences, optional values, strings.
var errUnjudged = errors.New("not a tensor of numbers")

// Results agree with those recorded in ONNX's backend tests, apart from the misses listed in testdata/misses.txt with
// their reason: a new miss fails, a healed one too, so that the list stays true. It was made with the data of ONNX
// 1.12.
func TestBackendData(t *testing.T) {
	root := outside.Named(t, outside.ONNXData)
	dirs, err := filepath.Glob(filepath.Join(root, "*", "test_*"))
	if err != nil {
		t.Fatal(err)
	}
	if len(dirs) == 0 {
		t.Fatalf("no tests below %s", root)
	}
	var misses []string
	passed, skipped, judged := map[string]int{}, 0, map[string]int{}
	for _, dir := range dirs {
		set, name := filepath.Base(filepath.Dir(dir)), filepath.Base(dir)
		err := backendTest(t.Context(), dir)
		if errors.Is(err, errUnjudged) {
			skipped++
			continue
		}
		judged[set]++
		if err == nil {
			passed[set]++
			continue
		}
		misses = append(misses, fmt.Sprintf("%s/%s: %.150s", set, name, strings.ReplaceAll(err.Error(), "\n", " ")))
	}
	sum, all := 0, 0
	for set, n := range judged {
		t.Logf("%s: %d of %d", set, passed[set], n)
		sum, all = sum+passed[set], all+n
	}
	t.Logf("%d of %d passed, %d are about other things than tensors of numbers", sum, all, skipped)
	list := filepath.Join("testdata", "misses.txt")
	if *update {
		if err := os.WriteFile(list, []byte(strings.Join(misses, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for line := range strings.Lines(string(b)) {
		name, _, _ := strings.Cut(line, ":")
		want = append(want, strings.TrimSpace(name))
	}
	for k, line := range misses {
		misses[k], _, _ = strings.Cut(line, ":")
		if !slices.Contains(want, misses[k]) {
			t.Errorf("new miss: %s", line)
		}
	}
	for _, name := range want {
		if !slices.Contains(misses, name) {
			t.Errorf("healed: %s; take it off the list", name)
		}
	}
}

// backendTest runs one test.
func backendTest(ctx context.Context, dir string) error {
	m, err := onnx.Read(filepath.Join(dir, "model.onnx"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errUnjudged
	case err != nil:
		return err
	}
	sig := m.Signature()
	for _, p := range slices.Concat(sig.Inputs, sig.Outputs) {
		if p.Kind != "tensor" || p.DType.Size() == 0 {
			return errUnjudged
		}
	}
	g, err := oracle.Load(m)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	sets, err := filepath.Glob(filepath.Join(dir, "test_data_set_*"))
	if err != nil {
		return err
	}
	for _, set := range sets {
		var in []tensor.Named
		for k, name := range g.Inputs() {
			x, err := stored(filepath.Join(set, fmt.Sprintf("input_%d.pb", k)))
			if err != nil {
				return err
			}
			in = append(in, tensor.Named{Name: name, Tensor: x})
		}
		out, err := g.Run(ctx, in, oracle.Options{})
		if err != nil {
			return err
		}
		for k, y := range out {
			file := filepath.Join(set, fmt.Sprintf("output_%d.pb", k))
			if _, err := os.Stat(file); err != nil {
				continue // an optional output that the test does not judge
			}
			want, err := stored(file)
			if err != nil {
				return err
			}
			if err := near(y.Tensor, want); err != nil {
				return fmt.Errorf("output %d: %w", k, err)
			}
		}
	}
	return nil
}

// near compares as ONNX's own runner does: |got - want| <= 1e-7 + 1e-3 |want|.
func near(got, want tensor.Tensor) error {
	kind := want.DType
	if kind == tensor.Float16 || kind == tensor.BFloat16 || kind == tensor.Float32 {
		kind = tensor.Float64
	}
	if got.DType != kind || !slices.Equal(got.Shape, want.Shape) {
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

// stored reads a TensorProto.
func stored(file string) (tensor.Tensor, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return tensor.Tensor{}, errUnjudged
	}
	p := &onnxpb.TensorProto{}
	if err := proto.Unmarshal(b, p); err != nil {
		return tensor.Tensor{}, err
	}
	return onnx.Value(p)
}
