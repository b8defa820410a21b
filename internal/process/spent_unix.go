//go:build unix

package process

import (
	"syscall"
	"time"
)

// Spent is the processor time of this process so far, user and system, over all threads.
func Spent() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
