package facts_test

import (
	"strings"
	"testing"

	"nero/data/tensor"
	"nero/model/onnx"
	"nero/model/onnx/facts"
)

// A value that a node makes out of nothing is measured before anything makes it.
func TestFitsNamesTheNode(t *testing.T) {
	for _, c := range []struct {
		op   string
		n    int64
		fits bool
	}{
		{"ConstantOfShape", 1 << 34, false},
		{"ConstantOfShape", 1 << 20, true},
		{"Expand", 1 << 34, false},
		{"Expand", 1 << 20, true},
		{"Tile", 1 << 34, false},
		{"Tile", 1 << 20, true},
	} {
		b := onnx.NewBuilder(17)
		x := b.Input("x", tensor.Float32, "N", 4)
		in := []string{b.Ints(c.n)}
		if c.op != "ConstantOfShape" {
			in = []string{b.Const(tensor.FromFloat32([]float32{1}, 1)), in[0]}
		}
		sum := b.Op("ReduceSum", []string{b.Op(c.op, in)})
		b.Output(b.Op("Mul", []string{x, sum}), tensor.Float32, "N", 4)
		m, err := b.Model()
		if err != nil {
			t.Fatal(err)
		}
		f, err := facts.Infer(m, map[string][]int{"x": {1, 4}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		switch err := f.Fits(); {
		case c.fits && err != nil:
			t.Errorf("%s to %d: %v", c.op, c.n, err)
		case !c.fits && (err == nil || !strings.Contains(err.Error(), c.op) ||
			!strings.Contains(err.Error(), "68.7 GB")):
			t.Errorf("%s to %d: %v, want the operator and 68.7 GB", c.op, c.n, err)
		}
	}
}
