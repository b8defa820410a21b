//go:build unix

package process

import (
	"os/exec"
	"syscall"
)

// kin is the group of processes of a program.
type kin int

func adopt(c *exec.Cmd) (kin, error) { return kin(c.Process.Pid), nil }

// end kills all that have not left the group.
func (k kin) end() error { return syscall.Kill(-int(k), syscall.SIGKILL) }

func (kin) release() error { return nil }

// Signal is the name of the signal that ended the program, once it is gone; empty if none did.
func (p *Process) Signal() string {
	if s := p.State(); s != nil {
		if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
			return w.Signal().String()
		}
	}
	return ""
}
