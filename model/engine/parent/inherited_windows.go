package parent

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// both are two pipes, one for each direction.
type both struct {
	io.Reader
	io.Writer

	closers []io.Closer
}

// Close closes both.
func (b both) Close() error {
	var first error
	for _, c := range b.closers {
		if err := c.Close(); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// Inherited opens what the text of [Variable] says was handed down: handles:IN:OUT, two pipes. No program that this one
// starts gets them.
func Inherited(text string) (io.ReadWriteCloser, error) {
	numbers, ok := strings.CutPrefix(text, "handles:")
	first, second, two := strings.Cut(numbers, ":")
	in, err := strconv.ParseUint(first, 10, 64)
	out, err2 := strconv.ParseUint(second, 10, 64)
	if !ok || !two || err != nil || err2 != nil {
		return nil, fmt.Errorf("the variable %s is %q; expected handles: and the numbers of two pipes, as the Python "+
			"package sets it", Variable, text)
	}
	for _, h := range []uint64{in, out} {
		if err := syscall.SetHandleInformation(syscall.Handle(h), syscall.HANDLE_FLAG_INHERIT, 0); err != nil {
			return nil, fmt.Errorf("the variable %s names %s, which is not open: %w", Variable, text, err)
		}
	}
	r, w := os.NewFile(uintptr(in), "in"), os.NewFile(uintptr(out), "out")
	return both{r, w, []io.Closer{w, r}}, nil
}
