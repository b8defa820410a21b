//go:build unix && !linux

package isolated

import (
	"os"

	"golang.org/x/sys/unix"
)

// claim takes standard output for frames: what a library prints goes to standard error from now on.
func claim() (*os.File, error) {
	out, err := unix.Dup(1)
	if err != nil {
		return nil, err
	}
	unix.CloseOnExec(out)
	if err := unix.Dup2(2, 1); err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(out), "frames"), nil
}
