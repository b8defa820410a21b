package disk

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// tries is how often a rename is tried, about two seconds long: readers, other writers and programs that look for
// viruses let go soon.
const tries = 100

// rename moves a file over another one. The system refuses that while somebody has either of them open, also while
// somebody else renames over the same one.
func rename(from, to string) error {
	for i := 1; ; i++ {
		err := os.Rename(from, to)
		if !errors.Is(err, windows.ERROR_ACCESS_DENIED) && !errors.Is(err, windows.ERROR_SHARING_VIOLATION) ||
			i == tries {
			return err
		}
		time.Sleep(time.Duration(min(i, 20)) * time.Millisecond)
	}
}
