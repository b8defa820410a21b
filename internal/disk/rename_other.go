//go:build !windows

package disk

import "os"

// rename moves a file over another one, whoever reads that.
func rename(from, to string) error { return os.Rename(from, to) }
