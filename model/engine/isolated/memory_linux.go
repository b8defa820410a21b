package isolated

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Machine is the memory of this machine, or what the system's groups leave of it to this program, in bytes; 0 where it
// is not known.
func Machine() int64 {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return 0
	}
	all := int64(info.Totalram) * int64(info.Unit)
	for _, file := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		if b, err := os.ReadFile(file); err == nil {
			if n, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64); err == nil && n > 0 {
				all = min(all, n)
			}
		}
	}
	return all
}

// spare is what the addresses of a process may grow by without any memory behind them: its threads reserve some for
// themselves.
const spare = 1 << 30

// bound lets this process take so many bytes more than it has, and makes it the first that the system ends when memory
// runs out, before anything that a person works with. 0 is no bound, and there is none where nobody knows what it has.
func bound(bytes int64) error {
	if f, err := os.OpenFile("/proc/self/oom_score_adj", os.O_WRONLY, 0); err == nil { // else nothing is lost
		_, _ = f.WriteString("1000")
		_ = f.Close()
	}
	if bytes <= 0 {
		return nil
	}
	b, err := os.ReadFile("/proc/self/statm")
	if errors.Is(err, fs.ErrNotExist) {
		return nil // a root without /proc, as containers of a single program may be, does not say how much it has
	}
	if err != nil {
		return err
	}
	size, _, _ := strings.Cut(string(b), " ")
	pages, err := strconv.ParseInt(size, 10, 64)
	if err != nil {
		return fmt.Errorf("/proc/self/statm: %w", err)
	}
	most := uint64(pages*int64(os.Getpagesize()) + bytes + spare)
	return unix.Setrlimit(unix.RLIMIT_AS, &unix.Rlimit{Cur: most, Max: most})
}

// Bounded reports whether the memory of a process is bounded on this system.
const Bounded = true
