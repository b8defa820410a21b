package store

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"syscall"

	"nero/internal/disk"
)

// replace writes a file so that at any instant there is the old one or the new one, complete. The new name is durable
// once the folder is synced.
func replace(d disk.FS, name string, b []byte) error {
	if err := disk.Replace(d, name, disk.Bytes(b)); err != nil {
		return writing(name, err)
	}
	return nil
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
