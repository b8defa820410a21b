package disk

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// TryLock takes the lock of an open file without waiting: the only one, or one of several that share it. The system
// gives it back when the file is closed, however that comes about. The error wraps [ErrLocked] if somebody else has it.
func TryLock(f *os.File, shared bool) error {
	var how uint32 = windows.LOCKFILE_FAIL_IMMEDIATELY
	if !shared {
		how |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	err := windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, new(windows.Overlapped))
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return ErrLocked
	}
	return err
}

// hold locks nothing: a file that is open cannot be removed here, and one that is locked cannot be renamed.
func hold(string) *os.File { return nil }
