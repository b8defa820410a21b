package library

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Packages of npm give every file one time, and two builds of a release may have one size.
func TestMarksTellBuildsApart(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "libonnxruntime.so.1")
	old := time.Date(1985, 10, 26, 8, 15, 0, 0, time.UTC)
	write := func(name string, b []byte) {
		t.Helper()
		at := filepath.Join(dir, name)
		if err := os.WriteFile(at, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(at, old, old); err != nil {
			t.Fatal(err)
		}
	}
	for _, size := range []int{1, 100, markSize, markSize + 1, 2*markSize - 1, 3 * markSize} {
		seen := map[string]int{}
		for _, at := range []int{-1, 0, size - 1} {
			b := bytes.Repeat([]byte{7}, size)
			if at >= 0 {
				b[at]++
			}
			write(filepath.Base(path), b)
			m, err := Mark(path)
			if err != nil {
				t.Fatal(err)
			}
			seen[m]++
		}
		if want := min(size+1, 3); len(seen) != want { // of one byte the first is the last
			t.Errorf("%d bytes: %d marks, want %d: %v", size, len(seen), want, seen)
		}
	}
	if _, err := Mark(path + ".none"); err == nil {
		t.Error("a file that is not there has a mark")
	}

	words := []string{"openvino", "providers_shared"}
	if got := Beside(path, words); got != "" {
		t.Errorf("nothing lies beside it: %q", got)
	}
	for _, name := range []string{
		"libopenvino.so.2541", "libonnxruntime_providers_openvino.so", "onnxruntime_providers_shared.dll",
		"openvino.txt", "libtbb.so.12",
	} {
		write(name, []byte(name))
	}
	first := Beside(path, words)
	if !strings.HasPrefix(first, "3 files, ") {
		t.Errorf("%q", first)
	}
	write("libopenvino.so.2541", []byte("libopenvino.so.2542"))
	if second := Beside(path, words); second == first {
		t.Error("another part is not seen")
	}
}
