package wasm

import (
	"os"
	"os/signal"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

const full = "NERO_TEST_FULL_DISK"

// restrict makes every write beyond 16 bytes of a file fail in a child that asks for it, as on a full disk.
func restrict(t *testing.T) {
	t.Helper()
	if os.Getenv(full) == "" {
		return
	}
	signal.Ignore(unix.SIGXFSZ)
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: 16, Max: 16}); err != nil {
		t.Fatal(err)
	}
}

func TestCacheOnFullDisk(t *testing.T) {
	dir := t.TempDir()
	out, err := childProcess(t, dir, full+"=1").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "NOTE compiled code is not kept") {
		t.Errorf("%v\n%s", err, out)
	}
	if files := kept(t, dir); len(files) != 0 {
		t.Errorf("half-written files are left: %q", files)
	}
	if e := compileTiny(t, dir); e.Note() != "" {
		t.Error(e.Note())
	}
}
