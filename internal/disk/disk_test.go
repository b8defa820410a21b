package disk_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"nero/internal/disk"
	"nero/internal/disk/disktest"
)

// names are the files of a folder.
func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

func content(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) {
		return "none"
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a.txt")
	for _, want := range []string{"one", "", "a longer second text"} {
		d := &disktest.Disk{Under: disk.OS{}}
		if err := disk.Write(d, name, disk.Bytes([]byte(want))); err != nil {
			t.Fatal(err)
		}
		if got := content(t, name); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		// The bytes are durable before they get the name, and the name after.
		order := []string{"create tmp", "write tmp", "sync tmp", "close tmp", "rename a.txt", "syncdir tmp"}
		order[5] = "syncdir " + filepath.Base(dir)
		if got := d.Ops(); !slices.Equal(got, order) {
			t.Errorf("%q, want %q", got, order)
		}
	}
	if got := names(t, dir); !slices.Equal(got, []string{"a.txt"}) {
		t.Errorf("left %q", got)
	}
}

// TestFailures makes every operation fail in turn. Before the rename the old file stays, or none where there was none;
// after it the new one is there. Nothing else is left, and the error is told.
func TestFailures(t *testing.T) {
	for _, old := range []string{"none", "old"} {
		for n, op := range []string{"create", "write", "sync", "close", "rename", "syncdir"} {
			t.Run(old+" "+op, func(t *testing.T) {
				dir := t.TempDir()
				name := filepath.Join(dir, "a.txt")
				if old != "none" {
					if err := os.WriteFile(name, []byte(old), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				d := &disktest.Disk{Under: disk.OS{}, Fail: func(i int, what, _ string) error {
					if i == n && what == op {
						return syscall.ENOSPC
					}
					return nil
				}}
				if err := disk.Write(d, name, disk.Bytes([]byte("new text"))); !errors.Is(err, syscall.ENOSPC) {
					t.Fatalf("the failure is told as %v", err)
				}
				want := old
				if op == "syncdir" {
					want = "new text"
				}
				if got := content(t, name); got != want {
					t.Errorf("there is %q, want %q", got, want)
				}
				if got := names(t, dir); len(got) > 1 || len(got) == 1 && got[0] != "a.txt" {
					t.Errorf("left %q", got)
				}
			})
		}
	}
}

// A text that cannot be made leaves the old one, and its error comes as it is.
func TestFill(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.txt")
	if err := os.WriteFile(name, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	none := errors.New("no text")
	err := disk.Write(disk.OS{}, name, func(w io.Writer) error {
		if _, err := io.WriteString(w, "half"); err != nil {
			return err
		}
		return none
	})
	if err != none { //nolint:errorlint // as it is
		t.Errorf("%v", err)
	}
	if got := content(t, name); got != "old" {
		t.Errorf("there is %q", got)
	}
	if err := disk.Bytes([]byte("abc"))(short{}); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("a short write is %v", err)
	}
}

// short is a writer that breaks its promise.
type short struct{}

func (short) Write(b []byte) (int, error) { return len(b) - 1, nil }

// Readers see whole texts only, whoever writes.
func TestTogether(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a.txt")
	text := func(i int) []byte { return bytes.Repeat([]byte{byte('a' + i)}, 10_000) }
	if err := disk.Write(disk.OS{}, name, disk.Bytes(text(0))); err != nil {
		t.Fatal(err)
	}
	var writers sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		writers.Go(func() { errs[i] = disk.Write(disk.OS{}, name, disk.Bytes(text(i))) })
	}
	done := make(chan struct{})
	go func() { writers.Wait(); close(done) }()
	for over := false; !over; {
		select {
		case <-done:
			over = true // and once more
		default:
		}
		if runtime.GOOS == "windows" && !over {
			time.Sleep(5 * time.Millisecond) // what is open is not replaced there
		}
		b, err := os.ReadFile(name)
		if err != nil && runtime.GOOS == "windows" && !over {
			continue // while it is replaced
		}
		if err != nil || len(b) != 10_000 || len(bytes.Trim(b, string(b[:1]))) > 0 {
			t.Fatalf("a mixed text of %d bytes: %v", len(b), err)
		}
	}
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
	if got := names(t, dir); !slices.Equal(got, []string{"a.txt"}) {
		t.Errorf("left %q", got)
	}
}

// What killed processes left is told from other files, and is not in the way.
func TestLeftover(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a.txt")
	left := filepath.Join(dir, fmt.Sprintf(".tmp-a.txt-%d-0", os.Getpid()))
	if err := os.WriteFile(left, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := disk.Replace(disk.OS{}, name, disk.Bytes([]byte("new"))); err != nil {
		t.Fatal(err)
	}
	if content(t, name) != "new" || content(t, left) != "half" {
		t.Errorf("%q and %q", content(t, name), content(t, left))
	}
	if !disk.Leftover(filepath.Base(left)) || disk.Leftover("a.txt") || disk.Leftover(".lock") {
		t.Error("a file is taken for what it is not")
	}
	if err := disk.Through(disk.OS{}, left, name, disk.Bytes(nil)); !errors.Is(err, os.ErrExist) {
		t.Errorf("over another's draft: %v", err)
	}
	if content(t, left) != "half" {
		t.Error("another's draft is gone")
	}
}

// A file without a folder in its name is in the current one.
func TestHere(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := disk.Write(disk.OS{}, "a.txt", disk.Bytes([]byte("x"))); err != nil {
		t.Fatal(err)
	}
	if got := content(t, "a.txt"); got != "x" {
		t.Error(got)
	}
	if err := disk.Write(disk.OS{}, filepath.Join("none", "a.txt"), disk.Bytes(nil)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("in a folder that is not there: %v", err)
	}
}
