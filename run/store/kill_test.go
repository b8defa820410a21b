//go:build unix

package store_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"nero/internal/disk"
	"nero/internal/disk/disktest"
	"nero/run/store"
	"nero/run/store/storetest"
)

const childDir = "NERO_STORE_TEST_DIR"

// TestMain lets the test program be the process that TestKill kills.
func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		fmt.Println("writing")
		// Slow enough, on any machine, to be killed in the middle.
		slow := &disktest.Disk{
			Under: disk.OS{},
			Fail:  func(int, string, string) error { time.Sleep(time.Millisecond); return nil },
		}
		if err := storetest.Write(context.Background(), dir, storetest.Job(240, 8, 2, 2, 4),
			store.Options{FS: slow}); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// TestKill kills a writer with SIGKILL at random moments, again and again until the run is complete, and compares the
// bytes with those of a run that was left alone.
func TestKill(t *testing.T) {
	j := storetest.Job(240, 8, 2, 2, 4)
	clean, _ := write(t, j)
	want := storetest.Snapshot(t, clean)
	rounds := 2
	if testing.Short() {
		rounds = 1
	}
	r := rand.New(rand.NewPCG(3, 4))
	killed, partial := 0, 0
	for range rounds {
		dir := filepath.Join(t.TempDir(), "run")
		for try := 0; ; try++ {
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Env = append(os.Environ(), childDir+"="+dir)
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
				t.Fatal(err)
			}
			timer := time.AfterFunc(time.Duration(r.IntN(300*(try+1)))*time.Millisecond,
				func() { _ = cmd.Process.Kill() })
			err = cmd.Wait()
			timer.Stop()
			if err == nil {
				break
			}
			if _, ok := errors.AsType[*exec.ExitError](err); !ok {
				t.Fatal(err)
			}
			killed++
			run, err := store.Open(dir)
			if err != nil {
				if _, there := os.Stat(filepath.Join(dir, "job.json")); there == nil {
					t.Fatalf("after a kill: %v", err)
				}
				continue // killed before the job was written
			}
			if err := run.Verify(t.Context()); err != nil {
				t.Fatalf("after a kill: %v", err)
			}
			if n := len(run.Missing()); n > 0 && n < len(j.Shards()) {
				partial++
			}
		}
		storetest.Equal(t, storetest.Snapshot(t, dir), want)
	}
	t.Logf("killed %d times, %d of them with some shards finished", killed, partial)
	if partial == 0 {
		t.Error("no kill happened in the middle of a run")
	}
}
