package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Read reads a regular file of at most limit bytes. A pipe or a device is refused before it is opened, for it may never
// end, and so is a folder. A file that grows meanwhile is not read beyond its limit. Errors name the file.
func Read(name string, limit int64) ([]byte, error) {
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s: there is no such file: %w", name, fs.ErrNotExist)
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, fmt.Errorf("%s is a folder, want a file", name)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is a pipe or a device, want a file", name)
	case info.Size() > limit:
		return nil, tooLarge(name, limit)
	}
	return Bounded(name, limit)
}

// Bounded reads whatever name leads to, a pipe too, and refuses it once it has given more than limit bytes: for what a
// person names at the command line, where a shell may have put a pipe in the place of a file.
func Bounded(name string, limit int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	if int64(len(b)) > limit {
		return nil, tooLarge(name, limit)
	}
	return b, nil
}

func tooLarge(name string, limit int64) error {
	return fmt.Errorf("%s has more than %d bytes, want at most that", name, limit)
}
