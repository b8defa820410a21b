//go:build !unix && !windows

package disk

import (
	"errors"
	"os"
)

// TryLock fails where the system has no locks: its error is [errors.ErrUnsupported].
func TryLock(*os.File, bool) error { return errors.ErrUnsupported }

// hold locks nothing.
func hold(string) (*os.File, error) { return nil, errors.ErrUnsupported }

// deserted is true of no draft: nothing tells one that is being written.
func deserted(string, string) (*os.File, bool) { return nil, false }
