//go:build unix

package disk

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// TryLock takes the lock of an open file without waiting: the only one, or one of several that share it. The system
// gives it back when the file is closed, however that comes about. The error wraps [ErrLocked] if somebody else has it,
// and [errors.ErrUnsupported] on a file system without locks.
func TryLock(f *os.File, shared bool) error {
	how := unix.LOCK_EX
	if shared {
		how = unix.LOCK_SH
	}
	err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK), errors.Is(err, syscall.EINTR):
		return ErrLocked
	case errors.Is(err, syscall.ENOLCK) || errors.Is(err, syscall.ENOTSUP) || errors.Is(err, syscall.ENOSYS):
		return errors.ErrUnsupported
	default:
		return err
	}
}

// hold locks a draft that was just made, so that nobody takes it for what a dead process has left. The error wraps
// [ErrLocked] or [fs.ErrNotExist] if somebody has taken it for that already.
func hold(draft string) (*os.File, error) {
	f, err := os.Open(draft)
	if err != nil {
		return nil, err
	}
	if err := TryLock(f, false); err != nil {
		_ = f.Close() // it was only to be locked
		return nil, err
	}
	return f, nil
}

// deserted reports whether a draft is one that no process holds any more: its lock is free. Whoever has the file that
// is returned has the lock, until it is closed.
func deserted(draft, _ string) (*os.File, bool) {
	f, err := hold(draft)
	if err != nil {
		return nil, false
	}
	if !same(f, draft) {
		_ = f.Close() // it was only locked
		return nil, false
	}
	return f, true
}
