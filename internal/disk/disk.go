// Package disk writes files whole: whoever reads a name finds the old file or the new one, complete, at any instant and
// also after a crash. On Windows a reader may be told in the instant between that the file is in use.
//
// A file is written under a temporary name in the same folder, synced (its bytes are on the disk), renamed over the old
// one in one step, and then the folder is synced (its new name is on the disk). What this means where something fails:
//
//   - An error before the rename leaves the old file as it was, or no file where there was none. The temporary file is
//     removed.
//   - A process that is killed leaves the old file or the new one, and may leave a temporary file, which [Leftover]
//     tells from others, and which the next [Write] of the same name removes.
//   - After a loss of power there is the old file or the new one; once [Write] has returned nil, the new one.
//   - An error of the sync of the folder comes after the rename: the new file is there for every reader, and only a loss
//     of power may still bring the old one back.
//
// Of two writers of one name the later rename wins; neither file is mixed with the other. The new file has the rights
// that the system gives to new files (0666 without the umask), whatever those of the old one were. A link is replaced,
// not followed.
package disk

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// FS is what writing asks of a disk: few operations, so that a test can make each of them fail. Names are paths as
// package os takes them. Folders are made, files removed and everything read with package os.
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
	Stat() (fs.FileInfo, error)
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

// Rename moves a file over another one. Where a file that somebody has open cannot be replaced, it tries for two
// seconds.
func (OS) Rename(from, to string) error { return rename(from, to) }

// SyncDir makes the names in a folder durable, where the system offers that.
func (OS) SyncDir(name string) error {
	if runtime.GOOS == "windows" {
		return nil // folders cannot be opened for it; NTFS orders renames in its journal
	}
	d, err := os.Open(name)
	if errors.Is(err, fs.ErrPermission) {
		return nil // a folder that may be written and not read: what was renamed is there all the same
	}
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		err = nil // some network file systems do not offer it
	}
	return errors.Join(err, d.Close())
}

// Bytes fills a file with b.
func Bytes(b []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		n, err := w.Write(b)
		if err == nil && n < len(b) {
			err = io.ErrShortWrite
		}
		return err
	}
}

// Write writes a file whole, with what fill writes, and syncs it and its folder. An error of fill is returned as it is;
// those of the disk name the file. What processes that were killed have left of this file beside it is removed.
func Write(d FS, name string, fill func(io.Writer) error) error {
	tidy(name)
	if err := Replace(d, name, fill); err != nil {
		return err
	}
	return d.SyncDir(filepath.Dir(name))
}

// Replace is [Write] without the sync of the folder, for several files of one folder that are synced together: the new
// name is durable only after [FS.SyncDir].
func Replace(d FS, name string, fill func(io.Writer) error) error {
	dir, base := filepath.Split(name)
	for i := range attempts {
		draft := filepath.Join(dir, fmt.Sprintf("%s%s-%d-%d", temporary, base, os.Getpid(), i))
		err := Through(d, draft, name, fill)
		if !errors.Is(err, errTaken) {
			return err
		}
	}
	return fmt.Errorf("%s: %d temporary files are in the way: %w", name, attempts, fs.ErrExist)
}

// attempts is how many temporary names are tried. Of files left behind by processes of the same number there are few.
const attempts = 1000

// errTaken marks a draft that is there already.
var errTaken = errors.New("there is a file of this name")

// Through is [Replace] by way of a file whose name the caller chooses, in the same folder, and which must not be there:
// for one who holds a lock on the name and so may remove what is left of a writer that was killed.
func Through(d FS, draft, name string, fill func(io.Writer) error) (err error) {
	f, err := d.Create(draft)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%w: %w", errTaken, err)
	}
	if err != nil {
		return err
	}
	held, err := hold(draft)
	switch {
	case err == nil:
		defer func() { _ = held.Close() }() // after the rename; it was only locked
	case errors.Is(err, ErrLocked), errors.Is(err, fs.ErrNotExist): // somebody took it for a remain, and removes it
		_ = f.Close() // nothing was written
		return errTaken
	default: // a file system without locks
		held = nil
	}
	// What was locked must be what was made: a third writer may have made a file of this name since.
	if held != nil && !same(f, draft) {
		_ = f.Close() // nothing was written
		if same(held, draft) {
			_ = os.Remove(draft) // its maker found it locked and left it, or will not find it
		}
		return errTaken
	}
	defer func() {
		if err != nil {
			_ = os.Remove(draft) // the first error is the one to report
		}
	}()
	err = fill(f)
	if err == nil {
		err = f.Sync()
	}
	// Closed whatever happened, and before the rename: some systems do not rename what is open.
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	return d.Rename(draft, name)
}

// ErrLocked marks a file that somebody else has locked.
var ErrLocked = errors.New("locked by another process")

// Lock makes an empty file where there is none, and takes its lock; closing the file gives it back. The error wraps
// [ErrLocked] if somebody else has it. On a file system without locks everybody gets it.
func Lock(name string) (*os.File, error) {
	for range attempts {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666)
		if err != nil {
			return nil, err
		}
		if err := TryLock(f, false); err != nil && !errors.Is(err, errors.ErrUnsupported) {
			_ = f.Close() // the first error is the one to report
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if same(f, name) {
			return f, nil
		}
		_ = f.Close() // its owner removed it before it was locked here
	}
	return nil, fmt.Errorf("%s: %w", name, ErrLocked)
}

// tidy removes drafts of a file that no process holds any more. What cannot be removed stays.
func tidy(name string) {
	dir, base := filepath.Split(name)
	d, err := os.Open(cmp.Or(dir, "."))
	if err != nil {
		return
	}
	names, _ := d.Readdirnames(-1) // as far as they can be read
	_ = d.Close()                  // it was only read
	for _, n := range names {
		rest, ok := strings.CutPrefix(n, temporary+base+"-")
		process, ok2 := numbered(rest)
		if !ok || !ok2 {
			continue
		}
		draft := filepath.Join(dir, n)
		held, ok := deserted(draft, process)
		if !ok {
			continue
		}
		_ = os.Remove(draft) // another one may have been faster
		if held != nil {
			_ = held.Close() // it was only locked
		}
	}
}

// numbered takes apart what [Replace] puts behind the name of a file: the number of the process and another number.
func numbered(text string) (process string, ok bool) {
	a, b, ok := strings.Cut(text, "-")
	digits := func(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
	return a, ok && digits(a) && digits(b)
}

// same reports whether an open file is the one of that name.
func same(f interface{ Stat() (fs.FileInfo, error) }, name string) bool {
	a, err := f.Stat()
	b, err2 := os.Stat(name)
	return err == nil && err2 == nil && os.SameFile(a, b)
}

// temporary begins the names of files that are not complete yet.
const temporary = ".tmp-"

// Leftover reports whether a file with this name, without its folder, is one that [Write] or [Replace] had not
// finished. It may be removed if no other process can be writing.
func Leftover(base string) bool { return strings.HasPrefix(base, temporary) }
