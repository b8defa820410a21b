package guard

import (
	"errors"

	"golang.org/x/sys/windows"
)

// inUse tells that another program has the port, or that the system keeps it for one: it answers "access denied" for
// ports that are reserved or bound exclusively, and has no ports that need a privilege.
func inUse(err error) bool {
	return errors.Is(err, windows.WSAEADDRINUSE) || errors.Is(err, windows.WSAEACCES)
}

// noSuchAddress tells that the machine does not have the address, or not its protocol.
func noSuchAddress(err error) bool {
	return errors.Is(err, windows.WSAEADDRNOTAVAIL) || errors.Is(err, windows.WSAEAFNOSUPPORT)
}
