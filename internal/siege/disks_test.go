//go:build linux

package siege

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nero/internal/disk"
	"nero/serve/api"
)

// mount makes a disk in memory with these options at a folder, until the test ends.
func mount(t *testing.T, dir, options string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "mount", "-t", "tmpfs", "-o", options, "nero", dir).CombinedOutput()
	if err != nil {
		t.Skipf("no small disk can be mounted, which takes root on Linux: %v\n%s", err, out)
	}
	t.Cleanup(func() {
		// Lazily: a process that has ended may hold its folder an instant longer.
		out, err := exec.CommandContext(context.Background(), "umount", "-l", dir).CombinedOutput()
		if err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	})
}

// room is what files take of a disk in memory: bytes in whole pages, and entries with those of their folders.
func room(files map[string]string) (size, entries int) {
	page, folders := os.Getpagesize(), map[string]bool{}
	for name, text := range files {
		size += (len(text) + page - 1) / page * page
		for up := path.Dir(name); up != "."; up = path.Dir(up) {
			folders[up] = true
		}
	}
	return size, len(files) + len(folders)
}

// TestFullDisks gives a command a disk that is full after a part of what it writes, in bytes or in the number of files.
// It ends with 2 and a line that names a file of its own and says that there is no room; what stands under a final name
// is whole, and no draft is left. With room again the same command ends with the bytes of one that always had it.
func TestFullDisks(t *testing.T) {
	mount(t, filepath.Join(t.TempDir(), "small"), "size=64k") // or it is skipped before anything is prepared
	g := prepare(t)
	full, had := map[string]int{}, 0
	plan(t, 3, func(t *testing.T, n int, r *rand.Rand) {
		t.Helper()
		s := g.subjects[n%len(g.subjects)]
		small, temp := g.at("small"), t.TempDir()
		there := map[string]string{}
		for _, name := range s.before {
			for file, text := range tree(t, g.at(name)) {
				there["run/"+file] = text
			}
		}
		size0, entries0 := room(there)
		size, entries := room(s.want)
		bytes := size0 + os.Getpagesize() + r.IntN(max(1, size-size0))
		limit := fmt.Sprintf("size=%d", bytes)
		if r.IntN(3) == 0 { // the root of the disk is an entry, too
			limit = fmt.Sprintf("size=64m,nr_inodes=%d", entries0+1+r.IntN(max(1, entries-entries0)))
		}
		mount(t, small, limit)
		g.before(t, s, small)
		what := s.name + ", " + limit
		p := start(t, small, temp, s.args...)
		said, code := "", 2
		if s.serves {
			said = task(t, p)
			stopped(t, p)
			if said == "" {
				code = 0
			}
			said += p.err.String() // where a file lies is said in the log alone
		} else {
			var a answer
			a, _ = p.end(t)
			said, code = a.err, a.code
		}
		p.alone(t)
		left := tree(t, small)
		switch {
		case code == 0:
			had++
		case code != 2 || !strings.Contains(said, "no space left on device") || !s.named(said):
			t.Errorf("%s: ended with %d, want 2 and a file without room: %s", what, code, said)
		default:
			full[s.name]++
		}
		for name, text := range left {
			if want, ok := s.want[name]; ok && text != want {
				t.Errorf("%s: %s is not whole: %d bytes of %d", what, name, len(text), len(want))
			}
			if disk.Leftover(path.Base(name)) {
				t.Errorf("%s: %s is left", what, name)
			}
		}
		out, err := exec.CommandContext(t.Context(), "mount", "-o", "remount,size=64m,nr_inodes=9999", small).
			CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		g.again(t, s, what, small, temp)
	})
	t.Logf("full for %v; %d had room enough", full, had)
}

// named says whether a message names something of what the command leaves.
func (s *subject) named(text string) bool {
	for name := range s.want {
		top, _, _ := strings.Cut(name, "/")
		if strings.Contains(text, top) {
			return true
		}
	}
	return false
}

// task asks a server to go on with the run in its folder, and returns what it says once that has failed, or nothing
// once it is complete.
func task(t *testing.T, p *program) string {
	t.Helper()
	q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address(t, p)+"api/v1/events", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	a, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close() //nolint:errcheck // only read from
	ask(t, p, p.Dir)
	lines := bufio.NewScanner(a.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		text, ok := strings.CutPrefix(lines.Text(), "data:")
		var e api.Event
		if !ok || json.Unmarshal([]byte(text), &e) != nil || e.Task == nil {
			continue
		}
		switch e.Task.State {
		case "done":
			return ""
		case "failed":
			return e.Task.Error
		}
	}
	t.Fatalf("the stream of events ends: %v\n%s", lines.Err(), p.err.String())
	return ""
}

// Where what a command prints has no room, it says so; a program that reads it must not take a part for the whole.
func TestFullOutput(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("there is no /dev/full")
	}
	dir, url := t.TempDir(), serve(t, toy{})
	at := func(name string) string { return filepath.Join(dir, name) }
	pictures(t, at("photos"), 6)
	study := []string{"--model", "toy=" + url, "--data", at("photos"), "--group", "C4"}
	must(t, append([]string{"run", "-q", "-o", at("run")}, study...)...)
	audit := append([]string{"audit", "-q", "--invariant", "--checks", "lattice", "--fail-on", "nothing"}, study...)
	must(t, append(slices.Clone(audit), "-f", "json", "-o", at("audit"))...)
	for _, args := range [][]string{
		{"export", at("run")},
		{"export", at("run"), "--table", "samples"},
		{"report", at("audit"), "--format", "markdown"},
		{"report", at("run"), "-o", at("page.html")},
		{"compare", at("run"), at("run")},
		{"groups"},
		{"metrics"},
		{"schema"},
		{"--help"},
		{"--version"},
		audit,
		append(slices.Clone(audit), "-f", "json"),
		append([]string{"run", "-q", "-o", at("run")}, study...),
	} {
		f, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		c := exec.CommandContext(t.Context(), "nero", args...)
		var said said
		c.Stdout, c.Stderr = f, &said
		err = c.Run()
		if closed := f.Close(); closed != nil {
			t.Fatal(closed)
		}
		if c.ProcessState == nil || c.ProcessState.ExitCode() != 2 ||
			!strings.Contains(said.String(), "no space left on device") {
			t.Errorf("nero %q: %v, want 2 and what has no room: %s", args, err, said.String())
		}
	}
}
