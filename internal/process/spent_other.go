//go:build !unix && !windows

package process

import "time"

// Spent is 0: the system does not say what a process has taken.
func Spent() time.Duration { return 0 }
