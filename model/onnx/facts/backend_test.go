//go:build slow

package facts_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"nero/internal/outside"
	"nero/model/onnx"
	"nero/model/onnx/facts"
	"nero/model/onnx/onnxpb"
)

// Shapes agree with the outputs recorded in ONNX's own backend tests (Debian's package libonnx-testdata 1.12.0; the
// folder can be named by NERO_ONNX_TESTDATA). Integer inputs other than the first become constants, as networks have
// them.
func TestInferAgainstBackendTests(t *testing.T) {
	root := outside.Named(t, outside.ONNXData)
	dirs, err := filepath.Glob(filepath.Join(root, "*", "test_*"))
	if err != nil {
		t.Fatal(err)
	}
	if len(dirs) == 0 {
		t.Fatalf("no tests below %s", root)
	}
	agree := 0
	for _, d := range dirs {
		m, in, want, ok := backendCase(d)
		if !ok {
			continue
		}
		f, err := facts.Infer(m, in, nil)
		if err != nil {
			continue // sequences and other inputs that are no tensors
		}
		for i, o := range m.Signature().Outputs {
			got, known := f.Shapes[o.Name]
			if !known || o.Kind != "tensor" {
				continue
			}
			if !slices.Equal(got, want[i]) {
				t.Errorf("%s: %s has the shape %v, want %v", filepath.Base(d), o.Name, got, want[i])
			}
			agree++
		}
	}
	t.Logf("%d outputs compared", agree)
	if agree < 900 {
		t.Errorf("only %d outputs compared: inference gives up too often", agree)
	}
}

// backendCase reads one test.
func backendCase(dir string) (m *onnx.Model, in map[string][]int, want [][]int, ok bool) {
	m, err := onnx.Read(filepath.Join(dir, "model.onnx"))
	if err != nil {
		return nil, nil, nil, false
	}
	p := proto.CloneOf(m.Proto())
	in = map[string][]int{}
	for i, name := range onnx.Names(m.Signature().Inputs) {
		x, shape, ok := backendTensor(dir, fmt.Sprintf("input_%d.pb", i))
		if !ok {
			return nil, nil, nil, false
		}
		x.Name, in[name] = &name, shape
		if _, err := onnx.Integers(x); err == nil && i > 0 || strings.Contains(name, "scale") {
			p.Graph.Initializer = append(p.Graph.Initializer, x)
			delete(in, name)
		}
	}
	for i := range m.Signature().Outputs {
		_, shape, ok := backendTensor(dir, fmt.Sprintf("output_%d.pb", i))
		if !ok {
			return nil, nil, nil, false
		}
		want = append(want, shape)
	}
	b, err := proto.Marshal(p)
	if err != nil {
		return nil, nil, nil, false
	}
	m, err = onnx.Load(b)
	return m, in, want, err == nil
}

func backendTensor(dir, name string) (*onnxpb.TensorProto, []int, bool) {
	b, err := os.ReadFile(filepath.Join(dir, "test_data_set_0", name))
	if err != nil {
		return nil, nil, false
	}
	x := &onnxpb.TensorProto{}
	if proto.Unmarshal(b, x) != nil {
		return nil, nil, false
	}
	shape, err := onnx.StoredShape(x)
	return x, shape, err == nil
}
