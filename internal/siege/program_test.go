//go:build unix

package siege

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// program is the program as a process of its own, in a folder.
type program struct {
	*exec.Cmd
	out, err said
	marked   string
}

// marker is a variable of the environment that every process of a draw inherits, to find those that are left.
const marker = "NERO_SIEGE_DRAW"

// start starts the program in a folder, with files that it drops elsewhere in the folder temp.
func start(t *testing.T, dir, temp string, args ...string) *program {
	t.Helper()
	p := &program{Cmd: exec.CommandContext(t.Context(), "nero", args...), marked: marker + "=" + dir}
	p.Dir, p.Stdout, p.Stderr = dir, &p.out, &p.err
	p.Env = append(os.Environ(), p.marked, "TMPDIR="+temp)
	p.WaitDelay = 10 * time.Second
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

// end waits for the program; the signal that ended it is 0 where it ended by itself.
func (p *program) end(t *testing.T) (answer, syscall.Signal) {
	t.Helper()
	err := p.Wait()
	if e := (*exec.ExitError)(nil); err != nil && !errors.As(err, &e) {
		t.Fatalf("nero %q: %v\n%s", p.Args[1:], err, p.err.String())
	}
	a := answer{p.ProcessState.ExitCode(), p.out.String(), p.err.String()}
	if w, ok := p.ProcessState.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return a, w.Signal()
	}
	return a, 0
}

// alone waits until no process of this draw is left. Where the system has no list of processes it does nothing.
func (p *program) alone(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		return
	}
	for begin := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		left := ""
		files, err := filepath.Glob("/proc/[0-9]*/environ")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			b, err := os.ReadFile(name) // empty, or not to be read, once the process has ended
			if err == nil && bytes.Contains(append(b, 0), []byte(p.marked+"\x00")) {
				left = filepath.Base(filepath.Dir(name))
			}
		}
		if left == "" {
			return
		}
		if time.Since(begin) > patience {
			t.Fatalf("nero %q has ended, and its process %s has not", p.Args[1:], left)
		}
	}
}

// spent is the processor time that this process and those that it has waited for have taken so far.
func spent() (d time.Duration) {
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if err := syscall.Getrusage(who, &u); err == nil {
			d += time.Duration(u.Utime.Nano() + u.Stime.Nano())
		}
	}
	return d
}

// Bounds of what one hostile file may take, in processor time and memory.
const (
	mostTime   = 10 * time.Second
	mostMemory = 2 << 30
	// Mistakes that are told at once.
	mostMistakes = 25
)

// judged runs the program on something hostile: it ends with 0, or with 2 and a line for each mistake that names
// one of the places, in time, in memory, and without a trace.
func judged(t *testing.T, what, dir string, places []string, args ...string) answer {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	p := &program{Cmd: exec.CommandContext(ctx, "nero", args...)}
	p.Dir, p.Stdout, p.Stderr = dir, &p.out, &p.err
	p.Env = append(os.Environ(), "TMPDIR="+dir)
	p.WaitDelay = 10 * time.Second
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	a, killed := p.end(t)
	bad := func(format string, more ...any) {
		t.Helper()
		text := a.err
		if len(text) > 600 {
			text = text[:600] + " ..."
		}
		t.Errorf("%s: nero %q "+format+"\n%q", append(append([]any{what, args}, more...), text)...)
	}
	if ctx.Err() != nil {
		bad("took more than %v", patience)
		return a
	}
	if strings.Contains(a.err, "goroutine ") {
		bad("ends in a trace")
		return a
	}
	if killed != 0 {
		bad("was ended by %v", killed)
	}
	for _, word := range []string{"panic", "runtime error", "fatal error", "SIG", ".go:"} {
		if strings.Contains(a.err, word) {
			bad("says %q", word)
		}
	}
	if strings.ContainsFunc(a.err, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x7f }) {
		bad("prints codes that move a terminal")
	}
	switch lines := strings.Split(strings.TrimSuffix(a.err, "\n"), "\n"); {
	case a.code == 0:
	case a.code != 2:
		bad("ended with %d", a.code)
	case !strings.HasPrefix(lines[0], "nero: ") || len(lines) > mostMistakes:
		bad("does not say what is wrong")
	default:
		// a study with several mistakes has a line for each
		for _, line := range lines {
			if len(line) > 5000 || len(places) > 0 && !slices.ContainsFunc(places, func(place string) bool {
				return strings.Contains(line, place)
			}) {
				bad("has a line that is too long, or names none of %q", places)
			}
		}
	}
	if d := p.ProcessState.UserTime() + p.ProcessState.SystemTime(); d > mostTime {
		bad("took %v of processor time", d)
	}
	if u, ok := p.ProcessState.SysUsage().(*syscall.Rusage); ok {
		unit := int64(1 << 10)
		if runtime.GOOS == "darwin" {
			unit = 1
		}
		if n := u.Maxrss * unit; n > mostMemory {
			bad("took %d MB", n>>20)
		}
	}
	return a
}
