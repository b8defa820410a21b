package disk

import (
	"errors"
	"os"
	"strconv"

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
func hold(string) (*os.File, error) { return nil, errors.ErrUnsupported }

// deserted reports whether the process that made a draft is gone, by its number: a draft is closed before it is
// renamed, so that nothing else tells one that is about to be.
func deserted(_, process string) (*os.File, bool) {
	id, err := strconv.Atoi(process)
	if err != nil || id == os.Getpid() {
		return nil, false
	}
	p, err := os.FindProcess(id)
	if err == nil {
		_ = p.Release() // it was only looked for
	}
	return nil, err != nil
}
