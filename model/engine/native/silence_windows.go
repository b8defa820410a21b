//go:build (amd64 || arm64) && !nonative

package native

import (
	"fmt"
	"os"

	"golang.org/x/sys/windows"
)

// setenv sets a variable in the environment of the process and in the copy that the C runtime keeps.
func setenv(name, value string) error {
	if err := os.Setenv(name, value); err != nil { // which is the process's own on Windows
		return err
	}
	put := windows.NewLazySystemDLL("ucrtbase.dll").NewProc("_putenv_s")
	if put.Find() != nil {
		return nil // no such runtime, so no copy
	}
	var f frame
	defer f.done()
	if status, _, _ := put.Call(f.str(name), f.str(value)); status != 0 {
		return fmt.Errorf("_putenv_s: error %d", status)
	}
	return nil
}
