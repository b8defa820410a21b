//go:build unix

package frame

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Map opens memory that another process has handed down as a file, cut into slots. No program that this one starts
// gets the file. It is mapped for as long as this process lives. Slots are nil without an error where the system does
// not map it: the two sides do without.
func Map(fd, size, count int) (*Slots, error) {
	n, err := Length(size, count)
	if err != nil {
		return nil, err
	}
	if fd < 3 {
		return nil, fmt.Errorf("the file %d, which is a standard stream", fd)
	}
	var info unix.Stat_t
	if err := unix.Fstat(fd, &info); err != nil {
		return nil, fmt.Errorf("the file %d, which is not open: %w", fd, err)
	}
	if info.Mode&unix.S_IFMT != unix.S_IFREG || info.Size < int64(n) {
		return nil, fmt.Errorf("the file %d for %d slots of %d bytes, and it is no file or has %d bytes", fd, count,
			size, info.Size)
	}
	unix.CloseOnExec(fd)
	defer unix.Close(fd) //nolint:errcheck // what is mapped stays
	all, err := unix.Mmap(fd, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, nil // a limit on addresses, or a system without
	}
	return Cut(all, size), nil
}
