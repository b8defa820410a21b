// Package disk writes files whole: whoever reads a name finds the old file or the new one, complete, at any instant and
// also after a crash.
//
// A file is written under a temporary name in the same folder, synced (its bytes are on the disk), renamed over the old
// one in one step, and then the folder is synced (its new name is on the disk). What this means where something fails:
//
//   - An error before the rename leaves the old file as it was, or no file where there was none. The temporary file is
//     removed.
//   - A process that is killed leaves the old file or the new one, and may leave a temporary file, which [Leftover]
//     tells from others.
//   - After a loss of power there is the old file or the new one; once [Write] has returned nil, the new one.
//   - An error of the sync of the folder comes after the rename: the new file is there for every reader, and only a loss
//     of power may still bring the old one back.
//
// Of two writers of one name the later rename wins; neither file is mixed with the other. The new file has the rights
// that the system gives to new files (0666 without the umask), whatever those of the old one were. A link is replaced,
// not followed.
package disk

import (
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
// those of the disk name the file.
func Write(d FS, name string, fill func(io.Writer) error) error {
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

// temporary begins the names of files that are not complete yet.
const temporary = ".tmp-"

// Leftover reports whether a file with this name, without its folder, is one that [Write] or [Replace] had not
// finished. It may be removed if no other process can be writing.
func Leftover(base string) bool { return strings.HasPrefix(base, temporary) }
