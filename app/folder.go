package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"nero/internal/disk"
)

// writable says whether files can be written into the folder, or into the nearest one above it that exists.
func writable(dir string) error {
	if err := noFile(dir); err != nil {
		return err
	}
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
	if err := disk.Writable(at); err != nil {
		return fmt.Errorf("-o %s: files cannot be written there: %w", dir, err)
	}
	return nil
}

// unfinished is the file in a folder of results that says that somebody is writing them, or was killed over it. It is
// locked by who writes.
const unfinished = ".nero-unfinished"

// marks says whether the names in a folder are those of an earlier result.
type marks func(names []string) bool

// anyOf is a result that has one of the files.
func anyOf(files ...string) marks {
	return func(names []string) bool {
		return slices.ContainsFunc(names, func(n string) bool { return slices.Contains(files, n) })
	}
}

// allOf is a result that has all of the files.
func allOf(files ...string) marks {
	return func(names []string) bool {
		return !slices.ContainsFunc(files, func(f string) bool { return !slices.Contains(names, f) })
	}
}

// ownFolder refuses a folder that holds things other than an earlier result, finished or not: results in a folder of
// pictures would be taken for data the next time.
func ownFolder(dir string, result marks) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	names, other := make([]string, len(entries)), ""
	for i, e := range entries {
		names[i] = e.Name()
		if other == "" && !disk.Leftover(e.Name()) {
			other = e.Name()
		}
	}
	if other == "" || slices.Contains(names, unfinished) || result(names) {
		return nil
	}
	return fmt.Errorf("%s: the folder holds other things (%s); give an empty or a new one with -o", dir, other)
}

// noFile refuses a new folder whose name is that of a file: other commands write a file there, and who types it again
// wants one. The dash stands for the standard output elsewhere.
func noFile(dir string) error {
	if dir == "-" {
		return errors.New("-o -: want a folder, since there are several files; give its name, or leave -o out and " +
			"the report alone is printed")
	}
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	switch ext := filepath.Ext(dir); ext {
	case ".json", ".jsonl", ".txt", ".md", ".html", ".xml", ".sarif", ".svg", ".png", ".csv":
		return fmt.Errorf("-o %s: want a folder, since there are several files; give one, such as -o %s", dir,
			strings.TrimSuffix(dir, ext))
	}
	return nil
}

// fillFolder writes results into a folder, which it makes, with fill. Where that fails or is killed, the folder is
// marked as unfinished, so that the same command can be repeated; what a former one has left is removed, here and in
// the folders below that are named. One process at a time writes a folder.
func fillFolder(dir string, result marks, below []string, fill func() error) (err error) {
	if err := ownFolder(dir, result); err != nil {
		return err
	}
	_, missing := os.Stat(dir)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	name := filepath.Join(dir, unfinished)
	mark, err := disk.Lock(name)
	if errors.Is(err, disk.ErrLocked) {
		return fmt.Errorf("%s is written by another process; wait for it to end, or give another folder with -o", dir)
	}
	if err != nil {
		return err
	}
	defer func() { _ = mark.Close() }() // it is empty
	for _, d := range append([]string{"."}, below...) {
		if err := removeDrafts(filepath.Join(dir, d)); err != nil {
			return err
		}
	}
	if err := fill(); err != nil {
		// Where nothing was written nothing is left.
		if entries, unread := os.ReadDir(dir); unread == nil && len(entries) == 1 {
			_ = os.Remove(name) // the first error is the one to report
			if missing != nil {
				_ = os.Remove(dir)
			}
		}
		return err
	}
	_ = mark.Close() // some systems do not remove what is open
	if err := os.Remove(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// removeDrafts removes the files of a folder that processes have not finished.
func removeDrafts(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if disk.Leftover(e.Name()) {
			if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeFile writes a file, which is complete or not there.
func writeFile(name string, b []byte) error { return disk.Write(disk.OS{}, name, disk.Bytes(b)) }
