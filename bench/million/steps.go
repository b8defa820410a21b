//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// step is a line of the table.
type step struct {
	name string
	// wall and processor, in seconds
	wall, cpu float64
	// peak of the memory, in MB
	memory float64
	// mostCPU and mostMemory are the figures to keep to, 0 for none; mostWall that of somebody who waits.
	mostWall, mostCPU, mostMemory float64
	bytes                         int64
}

func (s step) missed() bool {
	return s.mostWall > 0 && s.wall > s.mostWall || s.mostCPU > 0 && s.cpu > s.mostCPU ||
		s.mostMemory > 0 && s.memory > s.mostMemory
}

// bench runs the steps.
type bench struct {
	nero, dir string
	did       []step
}

// steps makes the run and prints what each step took, against the figures of docs/SCALE.md.
func steps(ctx context.Context, nero, dir string, samples, but int) error {
	if dir == "" {
		return errors.New("say where with -dir: a folder with 2 GB of room, which is emptied")
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // what was measured is printed
	if err := study(dir, samples); err != nil {
		return err
	}
	nero, err := filepath.Abs(nero)
	if err != nil {
		return err
	}
	b := &bench{nero: nero, dir: dir}
	whole := samples >= 1_000_000 // the figures are those of a million
	limit := func(v float64) float64 {
		if whole {
			return v
		}
		return 0
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := b.step(step{name: "plan"}, "plan", at("study.yaml"), "-o", at("run")); err != nil {
		return err
	}
	began := time.Now()
	if err := rows(ctx, at("run"), but); err != nil {
		return err
	}
	b.tell(step{name: "rows by formula", wall: time.Since(began).Seconds(), bytes: size(at("run"))})
	if err := b.step(step{name: fmt.Sprintf("shard, the last %d", but)}, "shard", at("run"), "--index",
		lastOf(at("run"), but)); err != nil {
		return err
	}
	for _, s := range []struct {
		step
		args []string
	}{
		{step{name: "merge", mostCPU: limit(20), mostMemory: limit(90)}, []string{"merge", at("run")}},
		{
			step{name: "report into a folder", mostMemory: limit(1000)},
			[]string{"report", at("run"), "-o", at("report")},
		},
		{
			step{name: "report on one page", mostMemory: limit(500)},
			[]string{"report", at("run"), "-o", at("report.html")},
		},
	} {
		if err := b.step(s.step, s.args...); err != nil {
			return err
		}
	}
	if err := b.serve(ctx, limit, at("run")); err != nil {
		return err
	}
	for _, s := range b.did {
		if s.missed() {
			return fmt.Errorf("%s: the figures are missed", s.name)
		}
	}
	return nil
}

// lastOf are the last shards of a plan, as --index has them.
func lastOf(run string, n int) string {
	all, _ := filepath.Glob(filepath.Join(run, "shards-*", "*.json"))
	return fmt.Sprintf("%d-%d", len(all), len(all)+n-1)
}

func size(dir string) (n int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error { // what cannot be read has no size
		if err == nil && d.Type().IsRegular() {
			if i, err := d.Info(); err == nil {
				n += i.Size()
			}
		}
		return nil
	})
	return n
}

// used is what an ended process took.
func used(s *step, p *os.ProcessState) {
	s.cpu = (p.UserTime() + p.SystemTime()).Seconds()
	if u, ok := p.SysUsage().(*syscall.Rusage); ok {
		s.memory = float64(u.Maxrss) / 1e3 // kilobytes of 1024 on Linux, shown as they are
		if runtime.GOOS == "darwin" {
			s.memory /= 1e3
		}
	}
}

// tell prints a line of the table.
func (b *bench) tell(s step) {
	if len(b.did) == 0 {
		fmt.Printf("%-28s %9s %9s %9s  %s\n", "step", "seconds", "cpu s", "MB", "at most")
	}
	b.did = append(b.did, s)
	var most strings.Builder
	for _, f := range []struct {
		v    float64
		unit string
	}{{s.mostWall, "s"}, {s.mostCPU, "s of processor"}, {s.mostMemory, "MB"}} {
		if f.v > 0 {
			fmt.Fprintf(&most, " %g %s", f.v, f.unit)
		}
	}
	if s.missed() {
		most.WriteString(" MISSED")
	}
	if s.bytes > 0 {
		fmt.Fprintf(&most, " (%.1f MB written or answered)", float64(s.bytes)/1e6)
	}
	fmt.Printf("%-28s %9.2f %9.2f %9.0f %s\n", s.name, s.wall, s.cpu, s.memory, most.String())
}

// step runs the program.
func (b *bench) step(s step, args ...string) error {
	c := exec.Command(b.nero, args...)
	var said bytes.Buffer
	c.Stdout, c.Stderr = &said, &said
	began := time.Now()
	err := c.Run()
	s.wall = time.Since(began).Seconds()
	if err != nil {
		return fmt.Errorf("nero %s: %w\n%s", strings.Join(args, " "), err, said.Bytes())
	}
	used(&s, c.ProcessState)
	b.tell(s)
	return nil
}

// serve asks a server what a visitor's page asks: a curve, the list of samples, one sample, the map of samples.
func (b *bench) serve(ctx context.Context, limit func(float64) float64, run string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c := exec.CommandContext(ctx, b.nero, "serve", run, "--no-open", "--port", "0")
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	out, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	c.Stderr = os.Stderr
	began := time.Now()
	if err := c.Start(); err != nil {
		return err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return err
	}
	url := strings.TrimRight(strings.TrimSpace(line), "/") + "/api/v1/"
	var ask func(method, path, body string) ([]byte, error)
	ask = func(method, path, body string) ([]byte, error) {
		r, err := http.NewRequestWithContext(ctx, method, url+path, strings.NewReader(body))
		if err != nil {
			return nil, err
		}
		if body != "" {
			r.Header.Set("Content-Type", "application/json")
		}
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			return nil, err
		}
		defer a.Body.Close() //nolint:errcheck // nothing was written
		text, err := io.ReadAll(a.Body)
		if err == nil && a.StatusCode == http.StatusAccepted { // it is being computed
			time.Sleep(50 * time.Millisecond)
			return ask(method, path, body)
		}
		if err == nil && a.StatusCode != http.StatusOK {
			err = fmt.Errorf("%s %s: %s: %.300s", method, path, a.Status, text)
		}
		return text, err
	}
	list, err := ask("GET", "runs", "")
	if err != nil {
		return err
	}
	id := regexp.MustCompile(`"id":\s*"([^"]+)"`).FindSubmatch(list)
	if id == nil {
		return fmt.Errorf("no run in %.300s", list)
	}
	at := "runs/" + string(id[1])
	cpu, wall := 0.0, began
	asked := func(name string, s step, method, path, body string) error {
		text, err := ask(method, at+path, body)
		if err != nil {
			return err
		}
		now, peak := process(c.Process.Pid)
		s.name, s.wall, s.cpu, s.memory, s.bytes = name, time.Since(wall).Seconds(), now-cpu, peak, int64(len(text))
		cpu, wall = now, time.Now()
		b.tell(s)
		return nil
	}
	half := limit(500)
	for _, q := range []struct {
		name               string
		most               step
		method, path, body string
	}{
		{"serve, first curve", step{mostWall: limit(3), mostMemory: half}, "POST", "/aggregate", `{"metric":0,"set":{}}`},
		{"serve, samples", step{mostMemory: half}, "GET", "/samples", ""},
		{"serve, one sample", step{mostMemory: half}, "GET", "/samples/0", ""},
		{"serve, map of samples", step{mostMemory: half}, "GET", "/embedding?method=pca&metric=0", ""},
		// which holds the curves of both models and metrics
		{
			"serve, curve of a set",
			step{},
			"POST", "/aggregate",
			`{"metric":0,"set":{"rule":"label = 3 and mean A < 0.5"}}`,
		},
	} {
		if err := asked(q.name, q.most, q.method, q.path, q.body); err != nil {
			return err
		}
	}
	cancel()
	_ = c.Wait() // it was told to end
	return nil
}

// process is what a process has taken until now: seconds of processor, and the peak of its memory in MB. Both are 0
// where there is no /proc.
func process(pid int) (cpu, peak float64) {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if _, after, ok := bytes.Cut(stat, []byte(") ")); ok {
		f := bytes.Fields(after)
		const user, system, ticks = 11, 12, 100
		u, _ := strconv.ParseFloat(string(f[user]), 64)
		s, _ := strconv.ParseFloat(string(f[system]), 64)
		cpu = (u + s) / ticks
	}
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if m := regexp.MustCompile(`VmHWM:\s*(\d+) kB`).FindSubmatch(status); m != nil {
		kb, _ := strconv.ParseFloat(string(m[1]), 64)
		peak = kb / 1e3
	}
	return cpu, peak
}
