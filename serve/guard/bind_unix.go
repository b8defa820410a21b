//go:build !windows

package guard

import (
	"errors"
	"syscall"
)

// inUse tells that another program has the port.
func inUse(err error) bool { return errors.Is(err, syscall.EADDRINUSE) }

// noSuchAddress tells that the machine does not have the address, or not its protocol.
func noSuchAddress(err error) bool {
	return errors.Is(err, syscall.EADDRNOTAVAIL) || errors.Is(err, syscall.EAFNOSUPPORT)
}
