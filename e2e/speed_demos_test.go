//go:build slow

package e2e

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"nero/app"
)

// TestSpeedDemos runs every demo to its end, on each engine, as somebody does who sits before it, and prints when what
// is there: see bench/demo. NERO_SPEED_DEMOS names the demos, with commas between, or all of them by "all";
// NERO_SPEED_ENGINES the engines, native and wasm without it. Caches are empty, as on the first day. Nothing is
// compared with the targets; what must be true on every machine is: a first look, a PASS, no complaint.
func TestSpeedDemos(t *testing.T) {
	which := os.Getenv("NERO_SPEED_DEMOS")
	if which == "" {
		t.Skip("NERO_SPEED_DEMOS is not set: takes minutes")
	}
	chromium(t)
	names := app.DemoNames()
	if which != "all" {
		names = strings.Split(which, ",")
		for _, n := range names {
			if !slices.Contains(app.DemoNames(), n) {
				t.Fatalf("NERO_SPEED_DEMOS: %q; expected all, or some of %s", n, strings.Join(app.DemoNames(), ","))
			}
		}
	}
	engines := []string{"native", "wasm"}
	if e := os.Getenv("NERO_SPEED_ENGINES"); e != "" {
		engines = strings.Split(e, ",")
	}
	bin, _ := program(t)
	open(t, "about:blank", desktop) // the browser is there
	var rows strings.Builder
	for _, engine := range engines {
		for _, name := range names {
			t.Run(engine+" "+name, func(t *testing.T) {
				d := demoShown(t, bin, name, engine)
				used := fmt.Sprintf("%.0f s", d.used.Seconds())
				if engine != "native" {
					used = "-" // a process of its own
				}
				fmt.Fprintf(&rows, "| %s | %s | %.1f s | %.1f s | %.0f s | %s |\n", name, engine, d.curve.Seconds(),
					d.table.Seconds(), d.end.Seconds(), used)
			})
		}
	}
	fmt.Fprintf(os.Stdout, "\n%d cores, load %s\n\n| demo | engine | first curve on the page | first table in the "+
		"terminal | end | processors |\n| --- | --- | --- | --- | --- | --- |\n%s", runtime.NumCPU(), load(),
		rows.String())
}

// demoTimes are those from the start of a demo.
type demoTimes struct {
	// curve is on the page, table in the terminal; end is that of the audits and the report
	curve, table, end time.Duration
	// used is the time on processors, without that of engines in processes of their own, which nobody waits for
	used time.Duration
}

// firstCurve tells whether the page shows the aggregate in any of its layouts: curves, maps and discs, tiles, marks for
// kinds of elements.
const firstCurve = `document.querySelector('#aggregate :is(path.line, canvas, .tile, path.kind)') !== null`

// demoShown runs a demo with its page and looks at it.
func demoShown(t *testing.T, bin, name, engine string) demoTimes {
	t.Helper()
	dir := t.TempDir()
	c := exec.CommandContext(t.Context(), bin, "demo", name, "--open", "--port", "0", "--engine", engine, "-o",
		filepath.Join(dir, "demo"))
	c.Env = append(os.Environ(), "PATH=", "XDG_CACHE_HOME="+filepath.Join(dir, "cache")) // there is no browser to open
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.WaitDelay = 20 * time.Second
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	c.Stderr = &said
	began := time.Now()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	var d demoTimes
	address, done := make(chan string, 1), make(chan string, 1)
	go func() {
		var all strings.Builder
		told := false
		for s := bufio.NewScanner(out); s.Scan(); {
			line := s.Text()
			all.WriteString(line + "\n")
			if d.table == 0 && strings.Contains(line, "identity  mean over orbit") {
				d.table = time.Since(began)
			}
			if u := printed.FindString(line); u != "" && !told {
				told = true
				address <- u
			}
			if strings.HasPrefix(line, "page: ") {
				d.end = time.Since(began)
				if err := c.Process.Signal(os.Interrupt); err != nil {
					break
				}
			}
		}
		close(address)
		done <- all.String()
	}()
	if u, ok := <-address; ok {
		p := open(t, u, desktop)
		p.until(firstCurve)
		d.curve = time.Since(began)
	}
	all := strings.Join(strings.Fields(<-done), " ") // sentences are wrapped anywhere
	if err := c.Wait(); err != nil && c.ProcessState.ExitCode() > 2 {
		t.Errorf("%v\n%s", err, said.String())
	}
	d.used = c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	if d.curve == 0 || d.table == 0 || d.end == 0 {
		t.Errorf("the demo ended before all was shown: %+v\n%s\n%s", d, all, said.String())
	}
	if !strings.Contains(all, "What to see:") || !strings.Contains(all, ": PASS") {
		t.Errorf("no sentence of what to see, or no PASS:\n%s", all)
	}
	return d
}
