package workload

import (
	"archive/zip"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nero/data/tensor"
)

// doubles is a session that answers twice its input, and something else where it is broken.
type doubles struct {
	broken float32
	most   int
}

func (doubles) Inputs() []string  { return []string{"x"} }
func (doubles) Outputs() []string { return []string{"y"} }
func (doubles) Close() error      { return nil }
func (d doubles) Run(_ context.Context, in []tensor.Named) ([]tensor.Named, error) {
	x, err := in[0].Float32s()
	if err != nil {
		return nil, err
	}
	if d.most > 0 && in[0].Shape[0] != d.most {
		return nil, fmt.Errorf("a batch of %d", in[0].Shape[0])
	}
	y := make([]float32, len(x))
	for i, v := range x {
		y[i] = 2 * v
	}
	y[len(y)-1] += d.broken
	return []tensor.Named{{Name: "y", Tensor: tensor.FromFloat32(y, in[0].Shape...)}}, nil
}

// witnessFile writes float32 arrays of two columns as numpy does.
func witnessFile(t *testing.T, arrays map[string][]float32) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "witness.npz")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	for name, x := range arrays {
		w, err := z.Create(name + ".npy")
		if err != nil {
			t.Fatal(err)
		}
		head := fmt.Sprintf("{'descr': '<f4', 'fortran_order': False, 'shape': (%d, 2), }", len(x)/2)
		head += strings.Repeat(" ", 118-len(head)-1) + "\n"
		raw := append([]byte("\x93NUMPY\x01\x00\x76\x00"), head...)
		if _, err := w.Write(append(raw, tensor.FromFloat32(x, len(x)).Raw...)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return file
}

// A file that answers as its witness is taken, and any other is refused with both numbers.
func TestWitness(t *testing.T) {
	x, y := []float32{1, 2, 3, 4, 5, 6}, []float32{2, 4, 6, 8, 10, 12}
	good := witnessFile(t, map[string][]float32{"input.x": x, "output.y": y})
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	holds := func(last float32) string {
		return witnessFile(t, map[string][]float32{"input.x": x, "output.y": append(slices.Clone(y[:5]), last)})
	}
	for _, c := range []struct {
		file  string
		s     doubles
		batch int
		fixed bool
		want  string
	}{
		{good, doubles{}, 0, false, ""},
		{good, doubles{broken: 1e-3}, 0, false, ""}, // rounding
		{good, doubles{broken: 1}, 0, false, "y is off by 1 from the witness"},
		{good, doubles{broken: nan}, 0, false, "y is off by +Inf from the witness"},
		{good, doubles{broken: inf}, 0, false, "y is off by +Inf from the witness"},
		{holds(inf), doubles{}, 0, false, "y is off by +Inf from the witness"},
		{holds(inf), doubles{broken: inf}, 0, false, ""},
		{holds(nan), doubles{}, 0, false, "y is off by +Inf from the witness"},
		{holds(nan), doubles{broken: nan}, 0, false, ""},
		{good, doubles{most: 1}, 1, true, ""},
		{good, doubles{most: 2}, 2, true, ""},
		{good, doubles{most: 4}, 4, true, "fewer samples than the batch"},
		{witnessFile(t, map[string][]float32{"input.x": x, "output.y": y[:4]}), doubles{}, 0, false, "in shape"},
		{witnessFile(t, map[string][]float32{"x": x, "output.y": y}), doubles{}, 0, false, "no array input.x"},
		{witnessFile(t, map[string][]float32{"input.x": x}), doubles{}, 0, false, "none of the outputs"},
		{"nowhere.npz", doubles{}, 0, false, "nowhere.npz"},
	} {
		err := testify(t.Context(), c.s, c.file, c.batch, c.fixed)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c, err, c.want)
		}
	}
}
