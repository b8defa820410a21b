package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// FS is what the store asks of a disk when it writes: few operations, so that a test can make each of them fail. Names
// are paths as package os takes them. Folders are made, files removed and everything read with package os.
type FS interface {
	// Create makes a file that does not exist yet; the error wraps [fs.ErrExist] if it does.
	Create(name string) (File, error)
	// Rename moves a file over another one in the same folder, in one step.
	Rename(from, to string) error
	// SyncDir makes the names in a folder durable.
	SyncDir(name string) error
}

// File is a file being written.
type File interface {
	io.WriteCloser
	Sync() error
}

// OS is the disk of the operating system.
type OS struct{}

// Create makes a file that does not exist yet.
func (OS) Create(name string) (File, error) {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, err // not a File that holds a nil pointer
	}
	return f, nil
}

// Rename moves a file over another one.
func (OS) Rename(from, to string) error { return os.Rename(from, to) }

// SyncDir makes the names in a folder durable, where the system offers that.
func (OS) SyncDir(name string) error {
	if runtime.GOOS == "windows" {
		return nil // folders cannot be opened for it; NTFS orders renames in its journal
	}
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		err = nil // some network file systems do not offer it
	}
	return errors.Join(err, d.Close())
}

// temporary begins the names of files that are not complete yet. Such a file left behind by a process that died is
// removed when the folder is opened for writing again.
const temporary = ".tmp-"

// replace writes a file so that at any instant there is the old one or the new one, complete. The new name is durable
// once the folder is synced.
func replace(d FS, name string, b []byte) (err error) {
	dir, base := filepath.Split(name)
	f, tmp, err := createTemporary(d, dir, base)
	if err != nil {
		return writing(name, err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(tmp) // the write's error is the one to report; the next start removes what is left
			err = writing(name, err)
		}
	}()
	n, err := f.Write(b)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return d.Rename(tmp, name)
}

func createTemporary(d FS, dir, base string) (File, string, error) {
	for i := range 1000 {
		tmp := filepath.Join(dir, fmt.Sprintf("%s%s-%d-%d", temporary, base, os.Getpid(), i))
		f, err := d.Create(tmp)
		if err == nil {
			return f, tmp, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, "", err
		}
	}
	return nil, "", fmt.Errorf("%d temporary files are in the way: %w", 1000, fs.ErrExist)
}

// writing names the file that could not be written and what helps.
func writing(name string, err error) error {
	remedy := "finished shards are kept; run the same command again to resume"
	switch {
	case full(err):
		remedy = "free some space, then run the same command again: finished shards are kept"
	case errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS):
		remedy = "choose a folder that you may write to"
	}
	return fmt.Errorf("cannot write %s: %w; %s", name, err, remedy)
}

// full tells errors of a disk, or of a user's share of it, that has no space left.
func full(err error) bool {
	const windowsDiskFull = syscall.Errno(112) // ERROR_DISK_FULL, which package syscall does not name
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || runtime.GOOS == "windows" &&
		errors.Is(err, windowsDiskFull)
}
