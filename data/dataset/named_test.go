package dataset

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"nero/data/tensor"
)

// Arrays reads what numpy wrote, whole.
func TestArrays(t *testing.T) {
	for _, name := range []string{"stored", "deflated"} {
		all, err := Arrays("testdata/"+name+".npz", 1<<20)
		if err != nil || len(all) == 0 {
			t.Fatal(all, err)
		}
		size := 0
		for k, a := range all {
			if err := a.Check(); err != nil {
				t.Errorf("%s: %s: %v", name, k, err)
			}
			size += len(a.Raw)
		}
		b, err := os.ReadFile("testdata/" + name + ".npz")
		if err != nil {
			t.Fatal(err)
		}
		if read, err := ArraysOf(name, b, 1<<20); err != nil || !reflect.DeepEqual(read, all) {
			t.Errorf("%s: its bytes hold other arrays than the file: %v", name, err)
		}
		if _, err := Arrays("testdata/"+name+".npz", int64(size)-1); err == nil {
			t.Errorf("%s: %d bytes were read where one less may be", name, size)
		}
	}
	if _, err := Arrays("testdata/none.npz", 1<<20); err == nil {
		t.Error("a file that is not there was read")
	}
}

func FuzzArrays(f *testing.F) {
	for _, name := range []string{"stored", "deflated", "named"} {
		b, err := os.ReadFile("testdata/" + name + ".npz")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		file := filepath.Join(t.TempDir(), "z.npz")
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
		all, err := Arrays(file, 1<<20)
		if err != nil {
			return
		}
		for k, a := range all {
			if err := a.Check(); err != nil && tensor.Count(a.Shape) > 0 {
				t.Fatalf("%q: %v", k, err)
			}
		}
	})
}
