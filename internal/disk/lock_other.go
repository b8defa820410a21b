//go:build !unix && !windows

package disk

import (
	"errors"
	"os"
)

// TryLock fails where the system has no locks: its error is [errors.ErrUnsupported].
func TryLock(*os.File, bool) error { return errors.ErrUnsupported }

// hold locks nothing.
func hold(string) *os.File { return nil }
