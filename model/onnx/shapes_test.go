package onnx_test

import (
	"slices"
	"strings"
	"testing"

	"nero/data/tensor"
	"nero/model/onnx"
)

func TestWithShapes(t *testing.T) {
	b := onnx.NewBuilder(16)
	x := b.Input("x", tensor.Float32, "N", 3)
	b.Output(b.Op("Relu", []string{x}), tensor.Float32, "N", 3)
	m, err := b.Model()
	if err != nil {
		t.Fatal(err)
	}
	fixed, err := m.WithShapes(map[string][]int{"x": {5, 3}, "other": {1}})
	if err != nil {
		t.Fatal(err)
	}
	if got := fixed.Signature().Inputs[0].Sizes(); !slices.Equal(got, []int{5, 3}) {
		t.Errorf("shape %v", got)
	}
	if got := m.Signature().Inputs[0].Sizes(); !slices.Equal(got, []int{-1, 3}) {
		t.Errorf("the model itself was changed to %v", got)
	}
	for _, s := range [][]int{{5, 4}, {5}, {5, 3, 1}} {
		if _, err := m.WithShapes(map[string][]int{"x": s}); err == nil ||
			!strings.Contains(err.Error(), "x float32[N 3]") {
			t.Errorf("%v: error %v", s, err)
		}
	}
}
