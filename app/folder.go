package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"nero/internal/disk"
)

// writable says whether files can be written into the folder, or into the nearest one above it that exists.
func writable(dir string) error {
	at := filepath.Clean(dir)
	for {
		info, err := os.Stat(at)
		if err == nil && !info.IsDir() {
			return fmt.Errorf("-o %s: %s is a file, want a folder", dir, at)
		}
		if err == nil {
			break
		}
		up := filepath.Dir(at)
		if up == at {
			return fmt.Errorf("-o %s: %w", dir, err)
		}
		at = up
	}
	f, err := os.CreateTemp(at, ".nero-*")
	if err != nil {
		return fmt.Errorf("-o %s: files cannot be written there: %w", dir, errors.Unwrap(err))
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// ownFolder refuses a folder that holds things other than an earlier result, which one of the marks is a sign of:
// results in a folder of pictures would be taken for data the next time.
func ownFolder(dir string, marks ...string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if slices.Contains(marks, e.Name()) {
			return nil
		}
	}
	if len(entries) > 0 {
		return fmt.Errorf("%s: the folder holds other things (%s); give an empty or a new one with -o", dir,
			entries[0].Name())
	}
	return nil
}

// writeFile writes a file, which is complete or not there.
func writeFile(name string, b []byte) error { return disk.Write(disk.OS{}, name, disk.Bytes(b)) }
