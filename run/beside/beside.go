// Package beside keeps what people say of a run in files of its folder that are no part of the run: each is replaced in
// one step, under a lock, so that of two changes to the same file the later one fails instead of undoing the other.
package beside

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"nero/internal/disk"
	"nero/run/store"
)

// patience is how long a change waits for another one.
const patience = 10 * time.Second

var (
	// ErrChanged marks a change to what somebody else has changed since it was read.
	ErrChanged = errors.New("were changed since they were read")
	// ErrReadOnly marks a folder in which nothing can be kept.
	ErrReadOnly = errors.New("cannot be kept in this folder")
	// ErrDamaged marks a file that does not hold what was written. It is left as it is.
	ErrDamaged = errors.New("damaged")
	// ErrInvalid marks what breaks a rule of its file.
	ErrInvalid = errors.New("cannot be kept")
)

// File is one kind of file beside runs.
type File struct {
	// in the folder of a run, such as slices.json
	Name string
	// what is kept in it, in the plural
	What string
	// in bytes
	Limit int
}

// Load is the bytes of the file in a folder, nil if there is none. Messages name the file and not the folder.
func (f File) Load(dir string) ([]byte, error) {
	in, err := os.OpenInRoot(dir, f.Name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, f.unreadable(err)
	}
	defer func() { _ = in.Close() }() // nothing was written
	b, err := io.ReadAll(io.LimitReader(in, int64(f.Limit)+1))
	if err != nil {
		return nil, f.unreadable(err)
	}
	if len(b) > f.Limit {
		return nil, fmt.Errorf("%s: %w: more than %d bytes; move the file away to begin anew", f.Name, ErrDamaged,
			f.Limit)
	}
	return append([]byte{}, b...), nil
}

// unreadable is the error of something in the place of the file that cannot be read, such as a folder or a link that
// leads out of the run.
func (f File) unreadable(err error) error {
	return fmt.Errorf("%s: %w: it cannot be read: %w; mend it, or move it away to begin anew", f.Name, ErrDamaged,
		bare(err))
}

// bare is an error without the path, which the reader of the message need not know.
func bare(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		return e.Err
	}
	return err
}

// Tag is a strong entity tag of the bytes of a file, with its quotes.
func Tag(b []byte) string {
	if b == nil {
		return `"none"`
	}
	sum := sha256.Sum256(b)
	return `"` + hex.EncodeToString(sum[:16]) + `"`
}

// matches reports whether a header If-Match admits a tag.
func matches(header, tag string) bool {
	for t := range strings.SplitSeq(header, ",") {
		if t = strings.TrimSpace(t); t == tag || t == "*" {
			return true
		}
	}
	return false
}

// Save replaces the file in a folder, if ifMatch (as in the header of HTTP: one or more tags, or *) admits the tag of
// what is there, and returns the new tag. Sound refuses what is there now and must not be written over. Save waits for
// others while the context lasts, at most ten seconds; then the error wraps [store.ErrBusy] and that of the context.
func (f File) Save(ctx context.Context, dir string, text []byte, ifMatch string, sound func(old []byte) error) (
	tag string, err error,
) {
	if len(text) > f.Limit {
		return "", fmt.Errorf("these %s %w: %d bytes; at most %d are kept", f.What, ErrInvalid, len(text), f.Limit)
	}
	unlock, err := f.lock(ctx, dir)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	old, err := f.Load(dir)
	if err != nil {
		return "", err
	}
	if err := sound(old); err != nil {
		return "", err
	}
	if !matches(ifMatch, Tag(old)) {
		return "", fmt.Errorf("the %s %w", f.What, ErrChanged)
	}
	if err := f.replace(dir, text); err != nil {
		return "", f.kept(err)
	}
	return Tag(text), nil
}

// kept says of an error of the disk what it means.
func (f File) kept(err error) error {
	return fmt.Errorf("%s %w: %s: %w", f.What, ErrReadOnly, f.Name, bare(err))
}

// hidden is a name for a file that belongs to this one.
func (f File) hidden(suffix string) string {
	return "." + strings.TrimSuffix(f.Name, filepath.Ext(f.Name)) + suffix
}

// replace writes the file under another name, syncs it and renames it. The lock is held.
func (f File) replace(dir string, b []byte) error {
	draft := filepath.Join(dir, f.hidden(".draft"))
	if err := os.Remove(draft); err != nil && !errors.Is(err, fs.ErrNotExist) { // of a process that was killed
		return err
	}
	var system disk.OS
	if err := disk.Through(system, draft, filepath.Join(dir, f.Name), disk.Bytes(b)); err != nil {
		return err
	}
	return system.SyncDir(dir)
}

// lock takes the lock of the file of a folder.
func (f File) lock(ctx context.Context, dir string) (unlock func() error, err error) {
	l, err := os.OpenFile(filepath.Join(dir, f.hidden(".lock")), os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, f.kept(err)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	wait := time.NewTicker(5 * time.Millisecond)
	defer wait.Stop()
	for {
		err := disk.TryLock(l, false)
		if err == nil || errors.Is(err, errors.ErrUnsupported) { // without locks, the rename still keeps the file whole
			return l.Close, nil // which gives the lock back
		}
		if !errors.Is(err, disk.ErrLocked) {
			_ = l.Close() // the first error is the one to report
			return nil, f.kept(err)
		}
		select {
		case <-wait.C:
		case <-ctx.Done():
			_ = l.Close() // nothing was written
			return nil, fmt.Errorf("%s is %w: %w", f.Name, store.ErrBusy, ctx.Err())
		}
	}
}
