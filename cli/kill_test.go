//go:build slow && unix

package cli

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"nero/model/engine/choose"
)

// TestKill kills the program with SIGKILL at random moments, from its start to the writing of the manifest, twenty
// times at least, and every other time once it has kept some more of its shards; the same command then goes on until
// the run is complete, and every file has the bytes of an undisturbed run. Every other command evaluates the coarse
// level first.
func TestKill(t *testing.T) {
	const kills = 20
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for name, seed := range map[string]string{"a.onnx": "1", "b.onnx": "2"} {
		o := &options{given: map[string]string{"h": "16", "w": "16", "seed": seed}}
		if err := errors.Join(writeONNX(at(name), o), o.err); err != nil {
			t.Fatal(err)
		}
	}
	o := &options{given: map[string]string{"n": "80", "h": "16", "w": "16"}}
	if err := errors.Join(writePictures(at("photos"), o), o.err); err != nil {
		t.Fatal(err)
	}
	run := func(out, workers string, more ...string) *exec.Cmd {
		c := exec.CommandContext(t.Context(), "nero", "run", "-q", "--model", "a.onnx", "--model", "b.onnx", "--data",
			"photos",
			"--group", "SO(2)", "--orbit", "180", "--resample", "bicubic", "-w", workers, "-o", out)
		c.Args = append(c.Args, more...)
		c.Dir = dir
		c.Env = append(os.Environ(), "NERO_ORT_LIB="+cmp.Or(nativeLibrary(), choose.None))
		return c
	}
	begin := time.Now()
	if out, err := run("reference", "2").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	whole := time.Since(begin)
	want, err := files(at("reference"))
	if err != nil || len(want) < 80 {
		t.Fatalf("%d files, %v", len(want), err)
	}

	r := rand.New(rand.NewPCG(20, 9))
	killed, halfway := 0, 0
	for n := 0; killed < kills; n++ {
		name := fmt.Sprintf("run%d", n)
		for {
			c := run(name, []string{"1", "2", "3"}[r.IntN(3)], []string{"--coarse=false", "--coarse"}[r.IntN(2)])
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			if killed%2 == 0 {
				further(at(name), 1+r.IntN(20), whole)
			} else {
				time.Sleep(time.Duration(r.Float64() * float64(whole)))
			}
			_ = c.Process.Signal(syscall.SIGKILL) // it may have ended by itself
			err := c.Wait()
			if err == nil {
				break
			}
			var e *exec.ExitError
			if !errors.As(err, &e) ||
				e.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL { //nolint:errcheck // of unix
				t.Fatalf("%v", err)
			}
			killed++
			if left, err := files(at(name)); err == nil {
				if _, done := left["manifest.json"]; !done && len(left) > 2 {
					halfway++
				}
			}
		}
		got, err := files(at(name))
		if err != nil {
			t.Fatal(err)
		}
		if d := difference(want, got); d != "" {
			t.Fatalf("after %d kills: %s", killed, d)
		}
	}
	if halfway == 0 {
		t.Error("no kill left a run half done: the test shows nothing")
	}
	t.Logf("%d kills, %d of them with some files and no manifest, in runs of %v", killed, halfway,
		whole.Round(time.Millisecond))
}

// further waits until a run has that many shards more than now, or is complete, or that much time is over.
func further(dir string, more int, most time.Duration) {
	shards := func() int {
		all, _ := filepath.Glob(filepath.Join(dir, "shards-*", "*.json"))              // the pattern is sound
		first, _ := filepath.Glob(filepath.Join(dir, ".coarse", "shards-*", "*.json")) // this one too
		return len(all) + len(first)
	}
	begin := time.Now()
	for have := shards(); shards() < have+more && time.Since(begin) < most; time.Sleep(time.Millisecond) {
		if _, err := os.Stat(filepath.Join(dir, "manifest.json")); err == nil {
			return
		}
	}
}
