//go:build unix

package define

import (
	"os/exec"
	"syscall"
)

// own puts a program into a process group of its own, so that what it starts can be ended with it.
func own(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// end kills a program and all that it has started and that has not left its group.
func end(c *exec.Cmd) error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
