package isolated

import (
	"os"

	"golang.org/x/sys/windows"
)

// claim takes standard output for frames: a library that is loaded later finds standard error in its place.
func claim() (*os.File, error) {
	out := os.Stdout
	if err := windows.SetStdHandle(windows.STD_OUTPUT_HANDLE, windows.Handle(os.Stderr.Fd())); err != nil {
		return nil, err
	}
	return out, nil
}
