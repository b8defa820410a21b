//go:build unix && !linux

package process

import (
	"os"
	"os/exec"
	"syscall"
)

// tie puts a program into a group of its own.
func tie(c *exec.Cmd) {
	if c.SysProcAttr == nil {
		c.SysProcAttr = &syscall.SysProcAttr{}
	}
	c.SysProcAttr.Setpgid = true
}

func widen(*os.File) {}
