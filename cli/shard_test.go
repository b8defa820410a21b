//go:build unix

package cli

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"nero/internal/slow"
	"nero/model/engine/choose"
)

// TestShardProcesses lets eight processes work on one folder at once, each on shards in an order of its own, kills them
// with SIGKILL at random moments, and merges: the folder has the bytes of a run on one machine.
func TestShardProcesses(t *testing.T) {
	const processes = 8
	rounds, kills := 1, 10
	if slow.Asked {
		rounds, kills = 4, 40
	}
	dir := t.TempDir()
	o := &options{given: map[string]string{"h": "16", "w": "16"}}
	p := &options{given: map[string]string{"n": "40", "h": "16", "w": "16"}}
	if err := errors.Join(writeONNX(filepath.Join(dir, "m.onnx"), o), o.err,
		writePictures(filepath.Join(dir, "photos"), p), p.err); err != nil {
		t.Fatal(err)
	}
	nero := func(args ...string) *exec.Cmd {
		c := exec.CommandContext(t.Context(), "nero", append([]string{"-q"}, args...)...)
		c.Dir = dir
		c.Env = append(os.Environ(), "NERO_ORT_LIB="+cmp.Or(nativeLibrary(), choose.None))
		return c
	}
	must := func(args ...string) string {
		t.Helper()
		out, err := nero(args...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	study := []string{"m.onnx", "--data", "photos", "--group", "SO(2)", "--orbit", "180", "--resample", "bicubic", "-o"}
	must(append(append([]string{"run"}, study...), "reference")...)
	want, err := files(filepath.Join(dir, "reference"))
	if err != nil {
		t.Fatal(err)
	}
	for round := range rounds {
		name := fmt.Sprintf("run%d", round)
		must(append(append([]string{"plan"}, study...), name)...)
		r := rand.New(rand.NewPCG(17, uint64(round)))
		left, killed := kills, 0
		var mu sync.Mutex
		draw := func() (wait time.Duration, kill bool) { // how long a process lives, from its first shard on
			mu.Lock()
			defer mu.Unlock()
			if left == 0 {
				return 0, false
			}
			left--
			return time.Duration(r.IntN(60)) * time.Millisecond, true
		}
		var all sync.WaitGroup
		for range processes {
			var order []string
			mu.Lock() // those that work already draw as well
			shards := r.Perm(40)
			mu.Unlock()
			for _, i := range shards { // every process offers to make every shard
				order = append(order, strconv.Itoa(i))
			}
			all.Go(func() {
				for {
					c := nero("shard", name, "--stdin", "-w", "1")
					c.Stdin = strings.NewReader(strings.Join(order, "\n"))
					out := &firstLine{came: make(chan struct{})}
					c.Stdout, c.Stderr = out, os.Stderr
					if err := c.Start(); err != nil {
						t.Error(err)
						return
					}
					ended := make(chan error, 1)
					go func() { ended <- c.Wait() }()
					if wait, kill := draw(); kill {
						select {
						case <-out.came:
							time.Sleep(wait)
						case err := <-ended:
							ended <- err
						}
						_ = c.Process.Kill() // it may have ended by itself
					}
					err := <-ended
					e, failed := errors.AsType[*exec.ExitError](err)
					if !failed {
						return
					}
					if e.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL { //nolint:errcheck // of unix
						t.Errorf("%v", err)
						return
					}
					mu.Lock()
					killed++
					mu.Unlock()
				}
			})
		}
		all.Wait()
		if t.Failed() {
			return
		}
		if killed == 0 {
			t.Error("nothing was killed: the test shows nothing")
		}
		for range 3 { // at once
			all.Go(func() {
				if out, err := nero("merge", name).CombinedOutput(); err != nil {
					t.Errorf("merge: %v\n%s", err, out)
				}
			})
		}
		all.Wait()
		got, err := files(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		for file := range got { // what killed processes left is younger than a day
			if strings.HasPrefix(filepath.Base(file), ".tmp-") || file == ".lock" {
				delete(got, file)
			}
		}
		if d := difference(want, got); d != "" {
			t.Fatalf("after %d kills: %s", killed, d)
		}
		t.Logf("%d processes, %d of them killed", processes+killed, killed)
	}
}

// firstLine closes a channel when something is written first.
type firstLine struct {
	once sync.Once
	came chan struct{}
}

func (f *firstLine) Write(b []byte) (int, error) {
	f.once.Do(func() { close(f.came) })
	return len(b), nil
}
