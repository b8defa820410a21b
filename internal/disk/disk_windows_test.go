package disk_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nero/internal/disk"
)

// A file that somebody has open cannot be replaced here: a writer waits until it is closed, and gives up at last with
// the old file as it was and nothing beside it.
func TestRenameOverAnOpenFile(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a.txt")
	if err := disk.Write(disk.OS{}, name, disk.Bytes([]byte("old"))); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := disk.Write(disk.OS{}, name, disk.Bytes([]byte("new"))); err == nil {
		t.Error("a file that is open was replaced")
	}
	if b, err := io.ReadAll(f); err != nil || string(b) != "old" {
		t.Errorf("%q, %v, expected the old one", b, err)
	}
	ready, done := make(chan struct{}), make(chan error)
	go func() {
		done <- disk.Write(disk.OS{}, name, func(w io.Writer) error {
			close(ready) // what follows is close, and the rename
			_, err := io.WriteString(w, "new")
			return err
		})
	}()
	<-ready
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if b, err := os.ReadFile(name); err != nil || string(b) != "new" {
		t.Errorf("%q, %v, expected the new one", b, err)
	}
	if all, err := os.ReadDir(dir); err != nil || len(all) != 1 {
		t.Errorf("%v, %v, expected the file alone", all, err)
	}
}

// A lock is of one file that is open, or of several that share it, and ends with them.
func TestLockOfOpenFiles(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	open := func() *os.File {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	a, b := open(), open()
	defer func() { _ = b.Close() }() // the test is over
	if err := disk.TryLock(a, true); err != nil {
		t.Error(err)
	}
	if err := disk.TryLock(b, true); err != nil {
		t.Errorf("a shared lock beside another one: %v", err)
	}
	c := open()
	defer func() { _ = c.Close() }() // the test is over
	if err := disk.TryLock(c, false); !errors.Is(err, disk.ErrLocked) {
		t.Errorf("%v, expected that it is locked", err)
	}
	if err := errors.Join(a.Close(), b.Close()); err != nil {
		t.Error(err)
	}
	if err := disk.TryLock(c, false); err != nil {
		t.Errorf("after the others were closed: %v", err)
	}
}

// Names hold spaces, letters beyond ASCII, dots, both kinds of separators, and more than 260 characters.
func TestNames(t *testing.T) {
	dir := t.TempDir()
	long := strings.Repeat("long name ", 12) + "end"
	for _, name := range []string{
		"a b.txt", "zwölf Größen.txt", "数.txt", "a.b.c", "a/b/c.txt", `a\b\d.txt`,
		filepath.Join(long, long, long+".txt"),
	} {
		path := dir + `\` + name
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		if err := disk.Write(disk.OS{}, path, disk.Bytes([]byte(name))); err != nil {
			t.Errorf("%q: %v", name, err)
		}
		for _, p := range []string{filepath.ToSlash(path), filepath.FromSlash(path)} {
			if b, err := os.ReadFile(p); err != nil || string(b) != name {
				t.Errorf("%q is read as %q, %v", p, b, err)
			}
		}
	}
}
