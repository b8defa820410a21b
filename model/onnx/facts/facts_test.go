package facts_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nero/model/onnx"
	"nero/model/onnx/facts"
)

const models = "../testdata"

func read(tb testing.TB, name string) *onnx.Model {
	tb.Helper()
	m, err := onnx.Read(filepath.Join(models, name+".onnx"))
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

func infer(tb testing.TB, m *onnx.Model, n int, shape []int) *facts.Facts {
	tb.Helper()
	in, err := facts.SampleShapes(m.Signature(), n, shape)
	if err != nil {
		tb.Fatal(err)
	}
	f, err := facts.Infer(m, in, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return f
}

// Shapes agree with those of onnx.shape_inference (testdata/NAME.json, made by testdata/gen.py), and no value is left
// out.
func TestInferAgainstONNX(t *testing.T) {
	for _, name := range []string{"cnn", "cnn_raw", "turns", "residual", "unet", "attention", "points"} {
		t.Run(name, func(t *testing.T) {
			m := read(t, name)
			f := infer(t, m, 1, nil)
			if len(f.Gaps) > 0 {
				t.Errorf("gaps: %v", f.Gaps)
			}
			b, err := os.ReadFile(filepath.Join(models, name+".json"))
			if err != nil {
				t.Fatal(err)
			}
			var want map[string][]int
			if err := json.Unmarshal(b, &want); err != nil {
				t.Fatal(err)
			}
			if len(want) < 5 {
				t.Fatalf("only %d values to compare with", len(want))
			}
			for v, s := range want {
				if got, ok := f.Shapes[v]; !ok || !slices.Equal(got, s) {
					t.Errorf("%s: %v, want %v", v, got, s)
				}
			}
			for _, v := range append(m.Values(), onnx.Names(m.Signature().Outputs)...) {
				if _, ok := f.Shapes[v]; !ok {
					t.Errorf("%s: no shape", v)
				}
			}
		})
	}
}

var _ = strings.Contains
