package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"html"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"nero/app"
	"nero/internal/slow"
	"nero/model/engine/choose"
	"nero/model/engine/choose/choosetest"
	"nero/run/job"
	"nero/run/store"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"
)

// TestMain lets the scripts run the program: the test binary is it, too, and the process that an engine has of its own.
func TestMain(m *testing.M) {
	if app.EngineAsked() {
		os.Exit(app.RunEngine())
	}
	testscript.Main(m, map[string]func(){
		"nero": func() { os.Exit(Main()) }, "steep": steep, "judge": judge,
		"speller": speller,
	})
}

// TestScripts runs testdata/script. Scripts share the user's cache folder with the program, because compiling the
// embedded engine takes seconds, and minutes under the race detector. A native library that NERO_ORT_LIB names runs
// what does not name an engine; another is not looked for.
func TestScripts(t *testing.T) { testscript.Run(t, scripts(t, filepath.Join("testdata", "script"))) }

// scripts are the scripts of a folder, and what they find around them.
func scripts(t *testing.T, dir string) testscript.Params {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = t.TempDir()
	}
	lib := nativeLibrary()
	if lib == "" {
		t.Log("no native library here: the scripts compare no engines")
	}
	return testscript.Params{
		Dir: dir,
		Setup: func(e *testscript.Env) error {
			if runtime.GOOS != "linux" { // where the cache folder does not have a variable of its own
				e.Setenv("HOME", os.Getenv("HOME"))
			}
			e.Setenv("XDG_CACHE_HOME", cache)
			e.Setenv("LocalAppData", cache)
			e.Setenv("NERO_ORT_LIB", cmp.Or(lib, choose.None))
			e.Setenv("ORT_LIB", lib)
			photos, err := filepath.Abs("../data/dataset/testdata/photos") // as cameras, editors and the web leave them
			if err != nil {
				return err
			}
			e.Setenv("PHOTOS", photos)
			e.Setenv("LD_LIBRARY_PATH", "")
			e.Setenv("GORACE", "atexit_sleep_ms=0") // a second for each of some hundred commands
			served := new(atomic.Pointer[endpoint])
			e.Values[endpointKey{}] = served
			e.Defer(func() {
				if s := served.Load(); s != nil {
					_ = errors.Join(s.server.Close(), s.models.Close()) // the script is over
				}
			})
			return nil
		},
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "native":
				return lib != "", nil
			case "root":
				return os.Geteuid() == 0, nil
			case "race":
				return raceDetector, nil
			case "mount":
				return mounts(), nil
			case "slow":
				return slow.Asked, nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		ContinueOnError:     os.Getenv("NERO_SCRIPTS_GO_ON") != "",
		Cmds:                commands(),
	}
}

// nativeLibrary is a library of ONNX Runtime on this machine, "" if there is none.
func nativeLibrary() string {
	cs, err := choose.Candidates(choose.Request{}, choosetest.Host())
	if err != nil || len(cs) == 0 {
		return ""
	}
	return cs[0].Path
}

// commands are what the scripts can say beside testscript's own words.
func commands() map[string]func(*testscript.TestScript, bool, []string) {
	all := map[string]func(*testscript.TestScript, bool, []string){
		"exit":     exit,
		"message":  message,
		"nothing":  nothing,
		"alike":    alike,
		"json":     isJSON,
		"close":    closeTo,
		"cut":      cut,
		"disk":     disk,
		"parts":    parts,
		"small":    small,
		"await":    await,
		"drop":     drop,
		"help":     help,
		"replays":  replays,
		"narrow":   narrow,
		"endpoint": serveModel,
		"texts":    serveTexts,
		"views":    listViews,
		"xml":      isXML,

		"for-all-reports": told, "for-reading": says,
	}
	maps.Copy(all, fixtures)
	maps.Copy(all, moving)
	maps.Copy(all, masked)
	maps.Copy(all, serving)
	maps.Copy(all, spatial)
	maps.Copy(all, solid)
	return all
}

// exit CODE PROGRAM ARG... runs a program and wants that exit code.
func exit(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exit CODE PROGRAM ARG...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	var e *exec.ExitError
	switch {
	case errors.As(err, &e):
		got = e.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// message PATTERN... wants that the last program said one thing on stderr beside notes, in one line that begins with
// "nero: ", and that every pattern matches it.
func message(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: message PATTERN...")
	}
	var lines []string
	for line := range strings.Lines(ts.ReadFile("stderr")) {
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.HasPrefix(line, "note: "), strings.HasPrefix(line, "engine: "),
			strings.HasPrefix(line, "        4 to 10 times faster"):
		default:
			lines = append(lines, line)
		}
	}
	if len(lines) != 1 || !strings.HasPrefix(lines[0], "nero: ") {
		ts.Fatalf("stderr has %d lines beside notes, want one that begins with nero:\n%s", len(lines),
			strings.Join(lines, "\n"))
	}
	if n := len(lines[0]); n > 700 {
		ts.Fatalf("a message of %d bytes: nobody reads that\n%s", n, lines[0])
	}
	for _, p := range args {
		re, err := regexp.Compile(p)
		ts.Check(err)
		if !re.MatchString(lines[0]) {
			ts.Fatalf("the message does not match %q:\n%s", p, lines[0])
		}
	}
}

// nothing DIR... wants that a run wrote nothing that could be taken for a result: no folder, or one without manifest,
// summary and rows, and no temporary files: at most what is planned.
func nothing(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: nothing DIR...")
	}
	for _, dir := range args {
		err := filepath.WalkDir(ts.MkAbs(dir), func(name string, d fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return nil
			case err != nil:
				return err
			case d.IsDir(), d.Name() == ".lock", d.Name() == "job.json", d.Name() == ".plan.json":
				return nil
			}
			return fmt.Errorf("%s was written", name)
		})
		ts.Check(err)
	}
}

// alike DIR DIR... wants folders that hold the same files with the same bytes, and at least one.
func alike(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: [!] alike DIR DIR...")
	}
	first, err := files(ts.MkAbs(args[0]))
	ts.Check(err)
	if len(first) == 0 {
		ts.Fatalf("%s holds no files", args[0])
	}
	for _, dir := range args[1:] {
		other, err := files(ts.MkAbs(dir))
		ts.Check(err)
		if d := difference(first, other); (d != "") != neg {
			ts.Fatalf("%s and %s: %s", args[0], dir, d)
		}
	}
}

// files reads a folder: its files by path.
func files(dir string) (map[string]string, error) {
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		all[filepath.ToSlash(rel)] = string(b)
		return err
	})
	return all, err
}

// difference names a file that differs, "" if none does.
func difference(a, b map[string]string) string {
	for name, text := range a {
		other, ok := b[name]
		switch {
		case !ok:
			return name + " is only in the first"
		case text != other:
			i := 0
			for i < len(text) && i < len(other) && text[i] == other[i] {
				i++
			}
			return fmt.Sprintf("%s differs from byte %d: %.60q and %.60q", name, i, text[i:], other[i:])
		}
	}
	for name := range b {
		if _, ok := a[name]; !ok {
			return name + " is only in the second"
		}
	}
	return ""
}

// isJSON FILE PATH... wants one JSON document, in which every path, such as curves.0.mean or 3.name, leads to
// something; path=value also compares.
func isJSON(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: json FILE PATH[=VALUE]...")
	}
	var doc any
	if err := json.Unmarshal([]byte(ts.ReadFile(args[0])), &doc); err != nil {
		ts.Fatalf("%s: %v", args[0], err)
	}
	for _, a := range args[1:] {
		path, want, compare := strings.Cut(a, "=")
		at := doc
		for k := range strings.SplitSeq(path, ".") {
			next, ok := step(at, k)
			if !ok {
				ts.Fatalf("%s: no %s (at %s)", args[0], path, k)
			}
			at = next
		}
		if got := fmt.Sprint(at); compare && got != want {
			ts.Fatalf("%s: %s is %s, want %s", args[0], path, got, want)
		}
	}
}

func step(at any, key string) (any, bool) {
	switch at := at.(type) {
	case map[string]any:
		v, ok := at[key]
		return v, ok
	case []any:
		i, err := strconv.Atoi(key)
		if err != nil || i < 0 || i >= len(at) {
			return nil, false
		}
		return at[i], true
	}
	return nil, false
}

// closeTo TOLERANCE DIR DIR... wants runs whose rows have the same samples and curves that differ by at most TOLERANCE
// in every value. One that is NaN is near nothing but another NaN.
func closeTo(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: close TOLERANCE DIR DIR...")
	}
	tol, err := strconv.ParseFloat(args[0], 64)
	ts.Check(err)
	first := rowsOf(ts, args[1])
	for _, dir := range args[2:] {
		other := rowsOf(ts, dir)
		if len(first) != len(other) {
			ts.Fatalf("%s has %d rows, %s %d", args[1], len(first), dir, len(other))
		}
		most := 0.0
		for i, a := range first {
			b := other[i]
			if a.Sample != b.Sample || a.Model != b.Model || a.Label != b.Label || len(a.Curves) != len(b.Curves) {
				ts.Fatalf("row %d is of %s in %s and of %s in %s", i, a.Sample, args[1], b.Sample, dir)
			}
			for m := range a.Curves {
				for k, x := range a.Curves[m] {
					x, y := float64(x), float64(b.Curves[m][k])
					if math.IsNaN(x) && math.IsNaN(y) {
						continue
					}
					if d := math.Abs(x - y); !(d <= tol) {
						ts.Fatalf("sample %s, metric %d, element %d: %g in %s, %g in %s: more than %g apart", a.Sample,
							m, k, x, args[1], y, dir, tol)
					} else {
						most = max(most, d)
					}
				}
			}
		}
		ts.Logf("%s and %s: at most %.3g apart", args[1], dir, most)
	}
}

func rowsOf(ts *testscript.TestScript, dir string) []job.Row {
	r, err := store.Open(ts.MkAbs(dir))
	ts.Check(err)
	var all []job.Row
	for row, err := range r.Rows(store.Filter{}) {
		ts.Check(err)
		all = append(all, row)
	}
	if len(all) == 0 {
		ts.Fatalf("%s has no rows", dir)
	}
	return all
}

// cut FILE N keeps the first N bytes of a file.
func cut(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: cut FILE N")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	name := ts.MkAbs(args[0])
	st, err := os.Stat(name)
	ts.Check(err)
	if st.Size() <= int64(n) {
		ts.Fatalf("%s has %d bytes, no more than %d", name, st.Size(), n)
	}
	ts.Check(os.Truncate(name, int64(n)))
}

// mounts tells whether this process may mount a small disk.
var mounts = sync.OnceValue(func() bool {
	if runtime.GOOS != "linux" || os.Geteuid() != 0 {
		return false
	}
	dir, err := os.MkdirTemp("", "nero-mount-")
	if err != nil {
		return false
	}
	defer func() { _ = os.Remove(dir) }()
	if err := exec.Command("mount", "-t", "tmpfs", "-o", "size=64k", "nero", dir).Run(); err != nil {
		return false
	}
	return exec.Command("umount", dir).Run() == nil
})

// disk DIR OPTIONS mounts a disk in memory, such as one of size=64k, at a folder until the script ends; for one that is
// there, it changes the options.
func disk(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: disk DIR OPTIONS")
	}
	dir := ts.MkAbs(args[0])
	if _, err := os.Stat(dir); err == nil {
		ts.Check(ts.Exec("mount", "-o", "remount,"+args[1], dir))
		return
	}
	ts.Check(os.Mkdir(dir, 0o755))
	ts.Check(ts.Exec("mount", "-t", "tmpfs", "-o", args[1], "nero", dir))
	ts.Defer(func() {
		if err := exec.Command("umount", dir).Run(); err != nil {
			ts.Logf("umount %s: %v", dir, err)
		}
	})
}

// parts DIR REFERENCE wants that every file of DIR is one of REFERENCE with the same bytes: what an interrupted run
// left is whole. The plan goes when a run is complete.
func parts(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: parts DIR REFERENCE")
	}
	got, err := files(ts.MkAbs(args[0]))
	ts.Check(err)
	want, err := files(ts.MkAbs(args[1]))
	ts.Check(err)
	delete(got, ".plan.json")
	for name, text := range got {
		if other, ok := want[name]; !ok || text != other {
			ts.Fatalf("%s of %s is not that of %s", name, args[0], args[1])
		}
	}
}

// small FILE PATH LIMIT wants the number at that path of a JSON document to be at least 0 and at most LIMIT.
func small(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: small FILE PATH LIMIT")
	}
	var at any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &at))
	for k := range strings.SplitSeq(args[1], ".") {
		next, ok := step(at, k)
		if !ok {
			ts.Fatalf("%s: no %s (at %s)", args[0], args[1], k)
		}
		at = next
	}
	limit, err := strconv.ParseFloat(args[2], 64)
	ts.Check(err)
	if v, ok := at.(float64); !ok || !(v >= 0 && v <= limit) {
		ts.Fatalf("%s: %s is %v, want from 0 to %g", args[0], args[1], at, limit)
	}
}

// told holds every report in a folder, the HTML page and its neighbors, to words that all of them must have.
func told(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: for-all-reports FOLDER WORDS...")
	}
	for _, name := range []string{
		"audit.txt", "audit.md", "audit.html", "audit.json", "audit.junit.xml", "audit.sarif",
	} {
		text := ts.ReadFile(filepath.Join(args[0], name))
		for _, w := range args[1:] {
			if name == "audit.json" && (w == "symmetry type" || w == "architecture") {
				continue // keys of their own there
			}
			if !strings.Contains(text, w) {
				ts.Fatalf("%s does not say %q", name, w)
			}
		}
	}
}

// says holds the reports that people read, text, Markdown and page, to patterns, in small letters and without tags,
// marks and breaks of lines: each form has words of its own around the same facts.
func says(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: for-reading FOLDER PATTERNS...")
	}
	tags, gaps := regexp.MustCompile(`(?s)<style.*?</style>|<[^>]*>`), regexp.MustCompile("[\\s|`*]+")
	for _, name := range []string{"audit.txt", "audit.md", "audit.html"} {
		text := ts.ReadFile(filepath.Join(args[0], name))
		if strings.HasSuffix(name, ".html") {
			text = html.UnescapeString(tags.ReplaceAllString(text, " "))
		}
		text = strings.ToLower(gaps.ReplaceAllString(strings.ReplaceAll(text, `\`, ""), " "))
		for _, p := range args[1:] {
			is, err := regexp.Compile(p)
			ts.Check(err)
			if !is.MatchString(text) {
				ts.Fatalf("%s does not say %q", name, p)
			}
		}
	}
}

// isXML FILE wants a well-formed XML document.
func isXML(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: xml FILE")
	}
	d := xml.NewDecoder(strings.NewReader(ts.ReadFile(args[0])))
	for n := 0; ; n++ {
		_, err := d.Token()
		if errors.Is(err, io.EOF) && n > 0 {
			return
		}
		ts.Check(err)
	}
}

// help wants that every command answers --help on stdout with what it does and an example that names it.
func help(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: help")
	}
	root := (&App{}).root()
	var look func(c *cobra.Command)
	n := 0
	look = func(c *cobra.Command) {
		n++
		var out, diag bytes.Buffer
		a := &App{Out: &out, Err: &diag}
		if code := a.Run(context.Background(), append(strings.Fields(c.CommandPath())[1:], "--help")); code != exitOK ||
			diag.Len() > 0 {
			ts.Fatalf("%s --help: exit code %d: %s", c.CommandPath(), code, diag.String())
		}
		_, example, ok := strings.Cut(out.String(), "Examples:\n")
		if !ok || !strings.Contains(example, c.CommandPath()) {
			ts.Fatalf("%s --help has no example:\n%s", c.CommandPath(), out.String())
		}
		if len(c.Short) == 0 || strings.HasSuffix(c.Short, ".") {
			ts.Fatalf("%s: short text %q", c.CommandPath(), c.Short)
		}
		for _, s := range c.Commands() {
			look(s)
		}
	}
	look(root)
	if n < 10 {
		ts.Fatalf("only %d commands", n)
	}
}

// drop PATTERN removes the files that match, one at least.
func drop(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: drop PATTERN")
	}
	found, err := filepath.Glob(ts.MkAbs(args[0]))
	ts.Check(err)
	if len(found) == 0 {
		ts.Fatalf("nothing matches %s", args[0])
	}
	for _, name := range found {
		ts.Check(os.Remove(name))
	}
}

// await PATTERN waits for a file, at most a minute.
func await(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: await PATTERN")
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(2 * time.Millisecond) {
		found, err := filepath.Glob(ts.MkAbs(args[0]))
		ts.Check(err)
		if len(found) > 0 {
			return
		}
		if time.Now().After(end) {
			ts.Fatalf("no %s", args[0])
		}
	}
}

// narrow N wants no line of the last output on a terminal to be wider than N columns; a command that is to be copied
// stands on a line of its own, whatever its width.
func narrow(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: narrow N")
	}
	most, err := strconv.Atoi(args[0])
	ts.Check(err)
	for line := range strings.Lines(ts.ReadFile("stdout")) {
		line = strings.TrimRight(line, "\n")
		if n := utf8.RuneCountInString(line); n > most && !strings.HasPrefix(strings.TrimLeft(line, " "), "nero ") {
			ts.Fatalf("a line of %d columns: %s", n, line)
		}
	}
}
