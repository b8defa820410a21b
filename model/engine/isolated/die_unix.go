//go:build unix && !linux

package isolated

import (
	"os/exec"
	"syscall"
)

// tie keeps Ctrl-C in a terminal from the process: the program tells it.
func tie(c *exec.Cmd) {
	if c.SysProcAttr == nil {
		c.SysProcAttr = &syscall.SysProcAttr{}
	}
	c.SysProcAttr.Setpgid = true
}

func widen(uintptr) {}
