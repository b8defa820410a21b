package store

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"nero/internal/disk"
)

// folderLock is a locked file in a run folder. It holds at most how far its writer is, and goes away when the last
// writer closes; one that a killed process leaves behind locks nothing.
type folderLock struct {
	f      *os.File
	name   string
	shared bool
	once   sync.Once
}

// [Writer] holds a lock for an instant to see whether it is free: whoever comes in that instant tries again.
const (
	lockTries = 10
	lockPause = 5 * time.Millisecond
)

// tryLock locks a file, or fails with [disk.ErrLocked] if somebody else has it for longer than an instant.
func tryLock(f *os.File, shared bool) (err error) {
	for range lockTries {
		if err = disk.TryLock(f, shared); !errors.Is(err, disk.ErrLocked) {
			return err
		}
		time.Sleep(lockPause)
	}
	return err
}

// lockFolder takes the lock of a folder. The error wraps [ErrBusy] if somebody has it.
func lockFolder(dir string, shared bool) (io.Closer, error) {
	name := filepath.Join(dir, lockName)
	for range 100 {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666)
		if err != nil {
			return nil, writing(name, err)
		}
		// On a file system without locks, atomic renames still keep every file whole.
		if err := tryLock(f, shared); err != nil && !errors.Is(err, errors.ErrUnsupported) {
			_ = f.Close() // the first error is the one to report
			if errors.Is(err, disk.ErrLocked) {
				return nil, fmt.Errorf("%s is %w; wait for it to end, or choose another folder", dir, ErrBusy)
			}
			return nil, fmt.Errorf("cannot lock %s: %w", name, err)
		}
		// Between opening and locking, the former owner may have removed the file: then another one can be made and
		// locked.
		mine, err := f.Stat()
		there, err2 := os.Stat(name)
		if err == nil && err2 == nil && os.SameFile(mine, there) {
			if !shared && mine.Size() > 0 { // what a killed process said
				if err := f.Truncate(0); err != nil {
					_ = f.Close() // the first error is the one to report
					return nil, writing(name, err)
				}
			}
			return &folderLock{f: f, name: name, shared: shared}, nil
		}
		_ = f.Close() // the lock of a file that nobody finds any more
	}
	return nil, fmt.Errorf("cannot lock %s: it keeps disappearing", name)
}

// Close gives the lock back. Closing again does nothing.
func (l *folderLock) Close() (err error) {
	l.once.Do(func() {
		if err := disk.TryLock(l.f, false); !l.shared || err == nil || errors.Is(err, errors.ErrUnsupported) {
			_ = os.Remove(l.name) // where an open file can be removed; below where only a closed one can
		}
		err = l.f.Close()
		if runtime.GOOS == "windows" {
			_ = os.Remove(l.name) // this fails, and does no harm, while somebody else has it open
		}
	})
	return err
}
