//go:build unix

package siege

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"nero/data/tensor"
	"nero/internal/disk"
	"nero/model/engine/choose"
	"nero/model/onnx"
)

// subject is a command that is killed, and what it leaves when nobody kills it.
type subject struct {
	name string
	// what is there before it, in the folder of the draw, as copies of folders beside it
	before []string
	args   []string
	// what it leaves, beside what was there
	want map[string]string
	// how long it takes
	whole time.Duration
	// serves says that it serves, and is asked to go on with the run in the folder
	serves bool
}

// stage is a folder with data, a model, a run that is done and one that is half done, and what is done with them.
type stage struct {
	dir      string
	subjects []*subject
}

// at is a path in the folder of the stage.
func (g *stage) at(name ...string) string { return filepath.Join(append([]string{g.dir}, name...)...) }

// prepare makes a stage, and runs each command once with nobody who disturbs it.
func prepare(t *testing.T) *stage {
	t.Helper()
	g := &stage{dir: t.TempDir()}
	url, at := serve(t, toy{}), g.at
	t.Setenv("NERO_ORT_LIB", choose.None)
	pictures(t, at("photos"), 16)
	b := onnx.NewBuilder(17)
	w := make([]float32, side*side*3)
	for i := range w {
		w[i] = float32(i%7) / 8
	}
	x := b.Input("x", tensor.Float32, "N", 1, side, side)
	b.Output(b.Op("MatMul", []string{
		b.Op("Flatten", []string{x}), b.Const(tensor.FromFloat32(w, side*side, 3)),
	}), tensor.Float32, "N", 3)
	file, err := b.Bytes()
	if err == nil {
		err = os.WriteFile(at("m.onnx"), file, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	of := func(model string) []string { return []string{"--model", "toy=" + model, "--data", at("photos")} }
	study := append(of(url), "--group", "SO(2)", "--orbit", "90")
	run := append([]string{"run", "-q", "-w", "2", "-o", "run"}, study...)
	audit := append([]string{
		"audit", "-q", "--invariant", "--checks", "lattice", "-f", "json,text,html", "-o", "audit",
		"--fail-on", "nothing", "--group", "C4",
	}, of(url)...)
	isolated := append([]string{
		"run", "-q", "-w", "1", "-o", "run", "--engine", "wasm", "--isolate", "--group", "C4", "--limit", "8",
	}, of(at("m.onnx"))...)
	g.subjects = []*subject{
		{name: "run", args: run},
		{
			name: "serve", args: []string{"serve", "--no-open", "--port", "0", "."}, serves: true,
			before: []string{"half"},
		},
		{name: "report file", args: []string{"report", at("done", "run"), "-o", "page.html"}},
		{name: "report folder", args: []string{"report", at("done", "run"), "-o", "report"}},
		{name: "audit", args: audit},
		{
			name: "export",
			args: []string{"export", at("done", "run"), "--table", "orbit", "--index", "3", "-o", "t.csv"},
		},
		{name: "isolated run", args: isolated},
	}
	// The embedded engine is compiled once on a machine, which is no part of how long a command takes.
	must(t, append([]string{
		"run", "-q", "-o", at("warm"), "--engine", "wasm", "--group", "C4", "--limit", "1",
	}, of(at("m.onnx"))...)...)
	for _, s := range g.subjects {
		dir, temp := g.fresh(t, s)
		begin := time.Now()
		if s.serves {
			s.want = map[string]string{}
			for name, text := range tree(t, at("done", "run")) {
				s.want["run/"+name] = text
			}
			p := start(t, dir, temp, s.args...)
			goOn(t, p, dir)
			s.whole = time.Since(begin)
			stopped(t, p)
			continue
		}
		p := start(t, dir, temp, s.args...)
		if a, _ := p.end(t); a.code != 0 {
			t.Fatalf("%s: %d\n%s", s.name, a.code, a.err)
		}
		s.whole, s.want = time.Since(begin), tree(t, dir)
		if s.name == "run" {
			plant(t, at("done", "run"), tree(t, filepath.Join(dir, "run")))
			half := tree(t, filepath.Join(dir, "run"))
			for n, name := range slices.Sorted(maps.Keys(half)) {
				if base := filepath.Base(name); base == "manifest.json" || base == "summary.json" ||
					strings.HasPrefix(name, "shards") && n%2 == 0 {
					delete(half, name)
				}
			}
			plant(t, at("half"), half)
		}
	}

	for _, s := range g.subjects {
		t.Logf("%s takes %v", s.name, s.whole.Round(time.Millisecond))
	}
	return g
}

// fresh empties the folder of a draw, and that for temporary files, and puts there what a command finds.
func (g *stage) fresh(t *testing.T, s *subject) (dir, temp string) {
	t.Helper()
	dir, temp = g.at("draw"), g.at("temp")
	for _, d := range []string{dir, temp} {
		if err := errors.Join(os.RemoveAll(d), os.Mkdir(d, 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	g.before(t, s, dir)
	return dir, temp
}

// before puts into a folder what a command finds there.
func (g *stage) before(t *testing.T, s *subject, dir string) {
	t.Helper()
	for _, name := range s.before {
		plant(t, filepath.Join(dir, "run"), tree(t, g.at(name)))
	}
}

// again runs a command that was disturbed once more: it ends with the bytes of one that nobody disturbed, and leaves
// nothing else.
func (g *stage) again(t *testing.T, s *subject, what, dir, temp string) {
	t.Helper()
	p := start(t, dir, temp, s.args...)
	if s.serves {
		goOn(t, p, dir)
		stopped(t, p)
	} else if a, _ := p.end(t); a.code != 0 {
		t.Errorf("%s: the same command again ends with %d\n%s", what, a.code, a.err)
	}
	p.alone(t)
	if d := alike(s.want, tree(t, dir)); d != nil {
		t.Errorf("%s: other bytes in %q", what, d)
	}
	if left := empty(t, dir); left != nil {
		t.Errorf("%s: empty folders %q are left", what, left)
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("%s: %v, %v are left in the folder for temporary files", what, err, left)
	}
}

// TestKills kills the program at random moments, or at a random change of what it has written: with SIGKILL, or with
// SIGINT or SIGTERM, once or several times. What then stands under a final name is whole; no process is left; and the
// same command ends with the bytes of one that nobody disturbed, and leaves nothing else.
func TestKills(t *testing.T) {
	g := prepare(t)
	kills, halfway := map[string]int{}, map[string]int{}
	plan(t, len(g.subjects), func(t *testing.T, n int, r *rand.Rand) {
		t.Helper()
		s := g.subjects[n%len(g.subjects)]
		dir, temp := g.fresh(t, s)
		what := s.name
		for struck, strikes := 0, 1+r.IntN(3); struck < strikes; {
			p := start(t, dir, temp, s.args...)
			if s.serves && r.IntN(4) > 0 { // else it is struck while it starts
				ask(t, p, dir)
			}
			sig := []syscall.Signal{
				syscall.SIGKILL, syscall.SIGKILL, syscall.SIGKILL, syscall.SIGINT, syscall.SIGTERM,
			}[r.IntN(5)]
			when := moment(r, dir, s.whole)
			_ = p.Process.Signal(sig) // it may have ended by itself
			a, by := p.end(t)
			p.alone(t)
			what += fmt.Sprintf(", %v %s", sig, when)
			switch {
			case by == sig, a.code == 2 && sig != syscall.SIGKILL:
				struck++
				kills[s.name]++
			case s.serves && a.code == 0 && sig != syscall.SIGKILL: // told to end, it ends well
				struck++
				kills[s.name]++
			case a.code == 0: // it was faster
				dir, temp = g.fresh(t, s)
				continue
			default:
				t.Fatalf("%s: ended with %d, by %v\n%s", what, a.code, by, a.err)
			}
			if a.code == 2 && !regexp.MustCompile(`(^|\n)nero: .*stopped.*\n$`).MatchString(a.err) {
				t.Errorf("%s: says %q", what, a.err)
			}
			left := tree(t, dir)
			for name, text := range left {
				if want, ok := s.want[name]; ok && text != want {
					t.Errorf("%s: %s is not whole: %d bytes of %d", what, name, len(text), len(want))
				}
			}
			if len(left) > 0 && alike(s.want, left) != nil {
				halfway[s.name]++
			}
		}
		g.again(t, s, what, dir, temp)
	})
	t.Logf("kills %v, of them with something written and not all %v", kills, halfway)
}

// address waits until a server says where it is.
func address(t *testing.T, p *program) string {
	t.Helper()
	for begin := time.Now(); ; time.Sleep(time.Millisecond) {
		if line, _, whole := strings.Cut(p.out.String(), "\n"); whole {
			return line
		}
		if time.Since(begin) > patience {
			t.Fatalf("the server does not say where it is: %s%s", p.out.String(), p.err.String())
		}
	}
}

// ask asks a server to go on with the run in its folder, unless it is complete.
func ask(t *testing.T, p *program, dir string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(dir, "run", "manifest.json")); err == nil {
		return
	}
	q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address(t, p)+"api/v1/runs/run/job", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Content-Type", "application/json")
	a, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close() //nolint:errcheck // only read from
	if b, err := io.ReadAll(a.Body); err != nil || a.StatusCode != http.StatusAccepted {
		t.Fatalf("%v, %s: %s", err, a.Status, b)
	}
}

// goOn asks a server to go on with the run, and waits until it is complete.
func goOn(t *testing.T, p *program, dir string) {
	t.Helper()
	ask(t, p, dir)
	for begin := time.Now(); ; time.Sleep(time.Millisecond) {
		if _, err := os.Stat(filepath.Join(dir, "run", "manifest.json")); err == nil {
			return
		}
		if time.Since(begin) > patience {
			t.Fatalf("the run of the server does not end\n%s", p.err.String())
		}
	}
}

// stopped ends a server by Ctrl-C.
func stopped(t *testing.T, p *program) {
	t.Helper()
	address(t, p) // before that it would be ended as any program
	if err := p.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if a, by := p.end(t); a.code != 0 {
		t.Errorf("after Ctrl-C the server ends with %d, by %v\n%s", a.code, by, a.err)
	}
}

// moment waits for a random moment of a command that takes so long: a time, or the first, second or tenth change of
// what is in the folder.
func moment(r *rand.Rand, dir string, whole time.Duration) string {
	d := time.Duration(r.Float64() * 1.1 * float64(whole))
	if r.IntN(2) == 0 {
		time.Sleep(d)
		return "after " + d.Round(time.Millisecond).String()
	}
	changes := []int{1, 1, 2, 3, 5, 10}[r.IntN(6)]
	seen, last := 0, look(dir)
	for begin := time.Now(); seen < changes && time.Since(begin) < 2*whole; time.Sleep(100 * time.Microsecond) {
		if now := look(dir); now != last {
			seen, last = seen+1, now
		}
	}
	return fmt.Sprintf("at change %d", seen)
}

// look is what is in a folder and below it, as far as it can be listed while it changes.
func look(dir string) string {
	var all strings.Builder
	_ = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // it has gone since
		}
		fmt.Fprintln(&all, name)
		if disk.Leftover(d.Name()) {
			if info, err := d.Info(); err == nil {
				fmt.Fprintln(&all, info.Size())
			}
		}
		return nil
	})
	return all.String()
}

// empty are the folders below a folder that hold nothing.
func empty(t *testing.T, dir string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() || name == dir {
			return err
		}
		in, err := os.ReadDir(name)
		if len(in) == 0 {
			all = append(all, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
