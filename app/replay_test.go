package app

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"nero/data/dataset"
	"nero/data/space"
)

// TestNPY reads what npy writes by the reader of data sets.
func TestNPY(t *testing.T) {
	m := &space.Image{C: 2, H: 3, W: 4, Pix: make([]float64, 24)}
	for i := range m.Pix {
		m.Pix[i] = math.Sqrt(float64(i))
	}
	b, err := npy(m)
	if err != nil {
		t.Fatal(err)
	}
	if len(b)%8 != 0 || (len(b)-8*24)%64 != 0 {
		t.Errorf("%d bytes: the numbers do not start at a multiple of 64", len(b))
	}
	name := filepath.Join(t.TempDir(), "one.npy")
	one := &space.Tensor{Shape: []int{1, 3, 4}, Val: m.Pix[:12]}
	if b, err = npy(one); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := dataset.Open(dataset.Spec{Images: name, Format: "npy", Layout: "NHW"})
	if err != nil {
		t.Fatal(err)
	}
	s, err := d.Sample(0)
	if err != nil {
		t.Fatal(err)
	}
	got, ok := s.Value.(*space.Image)
	if !ok || !slices.Equal(got.Pix, one.Val) {
		t.Errorf("read %v, wrote %v", s.Value, one.Val)
	}
}
