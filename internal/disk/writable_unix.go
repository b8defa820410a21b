//go:build unix

package disk

import "golang.org/x/sys/unix"

// Writable says whether files can be made in a folder. Nothing is written.
func Writable(dir string) error { return unix.Access(dir, unix.W_OK|unix.X_OK) }
