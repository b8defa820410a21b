//go:build unix

package parent

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// Inherited opens what the text of [Variable] says was handed down: fd:N, a socket. No program that this one starts
// gets it.
func Inherited(text string) (io.ReadWriteCloser, error) {
	number, ok := strings.CutPrefix(text, "fd:")
	fd, err := strconv.Atoi(number)
	if !ok || err != nil || fd < 3 {
		return nil, fmt.Errorf("the variable %s is %q; expected fd: and the number of a socket, as the Python package "+
			"sets it", Variable, text)
	}
	syscall.CloseOnExec(fd)
	if err := syscall.SetNonblock(fd, true); err != nil { // so that closing it ends a read that waits
		return nil, fmt.Errorf("the variable %s names %s, which is not open: %w", Variable, text, err)
	}
	return os.NewFile(uintptr(fd), text), nil
}
