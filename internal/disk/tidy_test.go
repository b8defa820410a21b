package disk_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"nero/internal/disk"
)

// What a killed process has left of a file goes when the file is next written; what a living one is writing stays, and
// so does everything else.
func TestWriteTidies(t *testing.T) {
	dir := t.TempDir()
	others := []string{
		".tmp-page.html", ".tmp-page.html-notes", ".tmp-other.html-12-0", ".tmp-page.html-1-x", "page.html-12-0",
	}
	for _, n := range append(slices.Clone(others), ".tmp-page.html-12-0", ".tmp-page.html-999999-3") {
		if err := os.WriteFile(filepath.Join(dir, n), []byte(n), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	name := filepath.Join(dir, "page.html")
	err := disk.Write(disk.OS{}, name, func(w io.Writer) error {
		// Another process writes the same file meanwhile.
		return errors.Join(disk.Write(disk.OS{}, name, disk.Bytes([]byte("second"))), disk.Bytes([]byte("first"))(w))
	})
	if err != nil {
		t.Fatal(err)
	}
	want := append(slices.Clone(others), "page.html")
	slices.Sort(want)
	if got := names(t, dir); !slices.Equal(got, want) {
		t.Errorf("left are %v, want %v", got, want)
	}
	if got := content(t, name); got != "first" { // which was renamed last
		t.Errorf("%q", got)
	}
}

// A lock is had by one at a time, also if its file comes and goes.
func TestLock(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	a, err := disk.Lock(name)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := disk.Lock(name); !errors.Is(err, disk.ErrLocked) {
		t.Errorf("a second lock: %v, %v", b, err)
	}
	if err := errors.Join(a.Close(), os.Remove(name)); err != nil {
		t.Fatal(err)
	}
	b, err := disk.Lock(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
}
