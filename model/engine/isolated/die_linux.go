package isolated

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// tie ends the process with this one. The signal comes when the thread ends that starts the process: see
// [child.start], which keeps it.
func tie(c *exec.Cmd) {
	if c.SysProcAttr == nil {
		c.SysProcAttr = &syscall.SysProcAttr{}
	}
	c.SysProcAttr.Pdeathsig = syscall.SIGKILL
	c.SysProcAttr.Setpgid = true // Ctrl-C in a terminal is for the program, which tells the process
}

// widen gives a pipe a buffer that holds a batch of pictures; a smaller one costs turns, nothing else.
func widen(fd uintptr) { _, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, 1<<20) }
