package dataset

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nero/data/space"
	"nero/data/tensor"
)

// scan is a NIfTI file that nibabel wrote, of numpy.arange(24) of shape (2, 3, 4); see data/nifti.
func scan(tb testing.TB, name string) []byte {
	tb.Helper()
	b, err := os.ReadFile(filepath.Join("..", "nifti", "testdata", name))
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func volumeOf(tb testing.TB, ds Dataset, i int) *space.Volume {
	tb.Helper()
	s, err := ds.Sample(i)
	if err != nil {
		tb.Fatal(err)
	}
	v, ok := s.Value.(*space.Volume)
	if !ok {
		tb.Fatalf("sample %d is a %T", i, s.Value)
	}
	return v
}

// count is 0, 1, ... as numbers.
func countTo(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = float64(i)
	}
	return x
}

func TestArraysOfVolumes(t *testing.T) {
	x := countTo(2 * 3 * 2 * 2 * 2)
	for _, c := range []struct {
		shape  []int
		layout string
		form   string
		n      int
		// of sample 1, voxel (1, 0, 1) of channel 1 where there is one
		want float64
	}{
		{[]int{6, 2, 2, 2}, "", "volume 1x2x2x2", 6, 8 + 4 + 1},
		{[]int{2, 3, 2, 2, 2}, "", "volume 3x2x2x2", 2, 24 + 8 + 4 + 1},
		{[]int{2, 2, 2, 2, 3}, "NDHWC", "volume 3x2x2x2", 2, 24 + (4+1)*3 + 1},
		{[]int{2, 3, 2, 2, 2}, "NCDHW", "volume 3x2x2x2", 2, 24 + 8 + 4 + 1},
	} {
		name := put(t, "x.npy", npyOf(arrayOf(tensor.Int32, c.shape, x...)))
		ds, err := Open(Spec{Format: "volumes", Images: name, Layout: c.layout})
		if err != nil {
			t.Fatal(err)
		}
		v := volumeOf(t, ds, 1)
		k := min(1, v.C-1)
		if got := v.Val[((k*v.D+1)*v.H+0)*v.W+1]; v.Form() != c.form || ds.Len() != c.n || got != c.want {
			t.Errorf("%v: %s, %d samples, %g, want %g", c.shape, v.Form(), ds.Len(), got, c.want)
		}
		if s := ds.Info().Space; !slices.Equal(s.Shape, v.Dims()) {
			t.Errorf("%v: info says %v", c.shape, s.Shape)
		}
	}
}

func TestVolumesInArchives(t *testing.T) {
	name := put(t, "x.npz", npzOf(t, map[string][]byte{
		"x": npyOf(arrayOf(tensor.Float32, []int{3, 2, 2, 2}, countTo(24)...)),
		"y": npyOf(arrayOf(tensor.Int64, []int{3}, 2, 0, 1)),
	}))
	ds, err := Open(Spec{Format: "volumes", Images: name})
	if err != nil {
		t.Fatal(err)
	}
	if s, err := ds.Sample(0); err != nil || s.Label != 2 || !slices.Equal(s.Value.Numbers(), countTo(8)) {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestScans reads NIfTI files: the number at i, j, k is 12i + 4j + k.
func TestScans(t *testing.T) {
	dir := t.TempDir()
	putAt(t, filepath.Join(dir, "a", "1.nii"), scan(t, "int16.nii"))
	putAt(t, filepath.Join(dir, "a", "2.nii.gz"), scan(t, "packed.nii.gz"))
	putAt(t, filepath.Join(dir, "b", "3.nii"), scan(t, "left.nii"))
	putAt(t, filepath.Join(dir, "b", "4.nii"), scan(t, "flat.nii"))
	putAt(t, filepath.Join(dir, "readme.txt"), []byte("words"))
	for _, layout := range []string{"", "NWHD"} {
		ds, err := Open(Spec{Images: dir, Layout: layout})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(ds.Labels(), []int{0, 0, 1, 1}) {
			t.Errorf("labels %v", ds.Labels())
		}
		for n := range 4 {
			v := volumeOf(t, ds, n)
			want := []int{1, 4, 3, 2}
			if layout == "NWHD" {
				want = []int{1, 2, 3, 4}
			}
			if !slices.Equal(v.Dims(), want) {
				t.Fatalf("dims %v, want %v", v.Dims(), want)
			}
			for i := range 2 {
				for j := range 3 {
					for k := range 4 {
						col := i
						if n == 2 { // reversed
							col = 1 - i
						}
						at := (k*3+j)*2 + col
						if layout == "NWHD" {
							at = (col*3+j)*4 + k
						}
						if v.Val[at] != float64(12*i+4*j+k) {
							t.Fatalf("layout %q, sample %d: voxel %d %d %d is %g", layout, n, i, j, k, v.Val[at])
						}
					}
				}
			}
		}
		notes := strings.Join(ds.Info().Notes, "\n")
		for _, part := range []string{
			"1 of 4 NIfTI files have left-handed axes, first " + filepath.Join(dir, "b", "3.nii"),
			"1 of 4 NIfTI files have voxels that are no cubes", "with 1 x 1 x 3",
			"measure 1 x 1 x 3, those of the first file 2 x 2 x 2",
			map[string]string{"": "as SimpleITK's arrays", "NWHD": "as nibabel's arrays"}[layout], "1 files .txt",
		} {
			if !strings.Contains(notes, part) {
				t.Errorf("notes %q lack %q", notes, part)
			}
		}
	}
	one, err := Open(Spec{Images: filepath.Join(dir, "a", "2.nii.gz")})
	if err != nil || one.Len() != 1 {
		t.Fatalf("one file: %v, %v", one, err)
	}
}

func TestFoldersOfNpyVolumes(t *testing.T) {
	dir := t.TempDir()
	putAt(t, filepath.Join(dir, "1.npy"), npyOf(arrayOf(tensor.Float32, []int{2, 2, 2}, countTo(8)...)))
	putAt(t, filepath.Join(dir, "2.npy"), npyOf(arrayOf(tensor.Float32, []int{2, 3, 2}, countTo(12)...)))
	ds, err := Open(Spec{Format: "volumes", Images: dir})
	if err != nil {
		t.Fatal(err)
	}
	if got := ds.Info().Space.Shape; !slices.Equal(got, []int{1, 2, -1, 2}) {
		t.Errorf("shape %v", got)
	}
	if v := volumeOf(t, ds, 1); v.Form() != "volume 1x2x3x2" || v.Val[11] != 11 {
		t.Errorf("%+v", v)
	}
}

func TestBadVolumes(t *testing.T) {
	array := func(shape []int, v ...float64) string {
		return put(t, "x.npy", npyOf(arrayOf(tensor.Float32, shape, v...)))
	}
	cut := scan(t, "int16.nii")
	packed := scan(t, "packed.nii.gz")
	huge := slices.Clone(scan(t, "uint8.nii"))
	for i := range 3 {
		huge[42+2*i], huge[43+2*i] = 144, 1 // 400 voxels along each axis
	}
	mixed := t.TempDir()
	putAt(t, filepath.Join(mixed, "1.nii"), scan(t, "int16.nii"))
	putAt(t, filepath.Join(mixed, "2.nii"), scan(t, "channels.nii"))
	for _, c := range []struct {
		spec Spec
		want []string
	}{
		{
			Spec{Images: array([]int{2, 3}, countTo(6)...)},
			[]string{"x.npy", "shape [2 3] is no set of volumes", "reshape"},
		},
		{Spec{Images: array([]int{1, 1, 1, 1, 1}, 0)}, []string{"may be NCDHW or NDHWC: set layout"}},
		{Spec{Images: array([]int{1, 0, 2, 2})}, []string{"no voxels"}},
		{Spec{Images: array([]int{1, 2, 2, 2}, countTo(8)...), Layout: "NHW"}, []string{"want NDHW, NCDHW, NDHWC"}},
		{Spec{Images: array([]int{1, 2, 2, 2}, countTo(8)...), Layout: "NWHD"}, []string{"is for NIfTI files"}},
		{Spec{Images: array([]int{1, 2, 2, 2}, countTo(8)...), Layout: "NCDHW"}, []string{"wants 5 axes"}},
		{Spec{Images: array([]int{1, 2, 2, 2}, countTo(8)...), Key: "x"}, []string{"key is for npz"}},
		{Spec{Images: put(t, "s.nii", scan(t, "sheared.nii"))}, []string{"s.nii", "is sheared", "resample_to_output"}},
		{Spec{Images: put(t, "c.nii", cut[:380])}, []string{"c.nii", "the file has 380", "fetch it again"}},
		{Spec{Images: put(t, "e.nii", nil)}, []string{"is empty"}},
		{Spec{Images: put(t, "h.nii.gz", zipped(t, huge))}, []string{"h.nii.gz", "compressed bytes can hold"}},
		{Spec{Images: put(t, "g.nii.gz", packed[:8])}, []string{"damaged gzip"}},
		{Spec{Images: mixed}, []string{"2.nii", "has 2 channels", "1.nii has 1"}},
	} {
		c.spec.Format = "volumes"
		_, err := Open(c.spec)
		wantError(t, err, c.want...)
	}
	for name, b := range map[string][]byte{"late.nii.gz": zipped(t, cut[:380])} {
		ds, err := Open(Spec{Images: put(t, name, b)})
		if err != nil {
			t.Fatal(err)
		}
		_, err = ds.Sample(0)
		wantError(t, err, name, "ends after 28 of 48 bytes")
	}
	bad := slices.Clone(scan(t, "float32.nii"))
	bad[len(bad)-1], bad[len(bad)-2] = 0x7f, 0xc0
	ds, err := Open(Spec{Images: put(t, "nan.nii", bad)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = ds.Sample(0); !errors.Is(err, ErrNotFinite) {
		t.Errorf("NaN is read: %v", err)
	}
	wantError(t, err, "nan.nii", "channel 0, slice 3, row 2, column 1 is NaN")
}
