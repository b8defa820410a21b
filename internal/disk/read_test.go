package disk_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nero/internal/disk"
)

func TestReadKeepsItsLimit(t *testing.T) {
	dir := t.TempDir()
	full := filepath.Join(dir, "full")
	want := bytes.Repeat([]byte("x"), 10)
	if err := os.WriteFile(full, want, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, read := range map[string]func(string, int64) ([]byte, error){"Read": disk.Read, "Bounded": disk.Bounded} {
		if got, err := read(full, 10); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s of a file as large as the limit: %q, %v", name, got, err)
		}
		if got, err := read(full, 9); err == nil || got != nil || !strings.Contains(err.Error(), full) {
			t.Errorf("%s of a file that is larger: %q, %v", name, got, err)
		}
		if _, err := read(filepath.Join(dir, "none"), 9); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s of no file: %v", name, err)
		}
	}
	if _, err := disk.Read(dir, 9); err == nil || !strings.Contains(err.Error(), "folder") {
		t.Errorf("a folder: %v", err)
	}
	if _, err := os.Stat("/dev/zero"); err != nil {
		t.Skip("no endless device on this platform")
	}
	if _, err := disk.Read("/dev/zero", 9); err == nil || !strings.Contains(err.Error(), "device") {
		t.Errorf("a device: %v", err)
	}
	if _, err := disk.Bounded("/dev/zero", 9); err == nil || !strings.Contains(err.Error(), "more than 9 bytes") {
		t.Errorf("what never ends: %v", err)
	}
}
