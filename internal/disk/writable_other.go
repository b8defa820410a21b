//go:build !unix

package disk

import (
	"errors"
	"os"
)

// Writable says whether files can be made in a folder: one is made and removed.
func Writable(dir string) error {
	f, err := os.CreateTemp(dir, temporary+"try-*")
	if err != nil {
		return errors.Unwrap(err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}
