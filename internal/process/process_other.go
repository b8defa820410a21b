//go:build !unix && !windows

package process

import (
	"os"
	"os/exec"
)

func tie(*exec.Cmd) {}

func widen(*os.File) {}

// kin is nothing where the system knows no families of programs: what a program has started goes on.
type kin struct{}

func adopt(*exec.Cmd) (kin, error) { return kin{}, nil }

func (kin) end() error { return nil }

func (kin) release() error { return nil }

// Signal is empty: the exit code says it.
func (p *Process) Signal() string { return "" }
