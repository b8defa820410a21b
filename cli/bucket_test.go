//go:build unix

package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"nero/model/engine/choose"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// TestBucket lets processes that share no folder work on one run in a bucket, on shards that overlap, kills them with
// SIGKILL in the middle and starts others with nothing on their disk: what is merged has the bytes of a run on one
// machine. Before that it holds what goes wrong against the exit codes.
func TestBucket(t *testing.T) {
	backend := s3mem.New()
	if err := backend.CreateBucket("runs"); err != nil {
		t.Fatal(err)
	}
	var says atomic.Pointer[string] // what the storage answers to all, nil to work
	work := gofakes3.New(backend, gofakes3.WithLogger(gofakes3.DiscardLog())).Server()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if code := says.Load(); code != nil {
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprintf(w, "<Error><Code>%s</Code></Error>", *code)
			return
		}
		work.ServeHTTP(w, q)
	}))
	defer s.Close()
	answer := func(code string) { says.Store(&code) }

	dir := t.TempDir()
	o := &options{given: map[string]string{"h": "16", "w": "16"}}
	p := &options{given: map[string]string{"n": "44", "h": "16", "w": "16"}}
	if err := errors.Join(writeONNX(filepath.Join(dir, "m.onnx"), o), o.err,
		writePictures(filepath.Join(dir, "photos"), p), p.err); err != nil {
		t.Fatal(err)
	}
	var scratches atomic.Int64
	nero := func(args ...string) *exec.Cmd {
		c := exec.CommandContext(t.Context(), "nero", append([]string{"-q"}, args...)...)
		c.Dir = dir
		scratch := filepath.Join(dir, fmt.Sprintf("scratch%d", scratches.Add(1))) // every process has an empty one
		if err := os.Mkdir(scratch, 0o777); err != nil {
			t.Error(err)
		}
		c.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "AWS_") }),
			"NERO_ORT_LIB="+cmp.Or(nativeLibrary(), choose.None), "TMPDIR="+scratch, "HOME="+scratch,
			"AWS_ENDPOINT_URL="+s.URL, "AWS_ACCESS_KEY_ID=tester", "AWS_SECRET_ACCESS_KEY=secret")
		return c
	}
	run := func(want int, args ...string) string {
		t.Helper()
		out, err := nero(args...).CombinedOutput()
		code := 0
		if e, failed := errors.AsType[*exec.ExitError](err); failed {
			code = e.ExitCode()
		} else if err != nil {
			t.Fatal(err)
		}
		if code != want {
			t.Fatalf("%v: exit code %d, want %d\n%s", args, code, want, out)
		}
		return string(out)
	}
	holds := func(text string, parts ...string) {
		t.Helper()
		for _, part := range parts {
			if !strings.Contains(text, part) {
				t.Errorf("%q, want %q in it", text, part)
			}
		}
	}
	const at = "s3://runs/team/one"
	study := []string{"m.onnx", "--data", "photos", "--group", "SO(2)", "--orbit", "180", "--resample", "bicubic", "-o"}
	run(0, append(append([]string{"run"}, study...), "reference")...)
	want, err := files(filepath.Join(dir, "reference"))
	if err != nil {
		t.Fatal(err)
	}
	holds(run(2, "shard", at, "--index", "0"), at+" holds no run", "nero plan STUDY.yaml -o "+at)
	holds(run(2, append(append([]string{"plan"}, study...), "s3://nobody/x")...), "there is no bucket nobody")
	holds(run(0, append(append([]string{"plan"}, study...), at)...), "to do: 0-43", "nero merge "+at+" -o one")
	planned := run(0, append(append([]string{"plan", "--json"}, study...), at)...)
	holds(planned, `"todo":"0-43"`) // and planning again changes nothing
	holds(run(2, "plan", "m.onnx", "--data", "photos", "--group", "C4", "-o", at), at+" is the folder of another run")
	holds(run(2, append(append([]string{"plan", "--audit"}, study...), "s3://runs/audit")...), "s3://runs/audit is in "+
		"a bucket", "an audit is planned in a folder")
	if _, err := os.Stat(filepath.Join(dir, "s3:")); err == nil {
		t.Error("a folder s3: was made of an address")
	}
	holds(run(3, "merge", at, "-o", "one"), "0-43", "nero shard "+at)
	holds(run(2, "merge", at), "--out")
	holds(run(2, "merge", "reference", "-o", "one"), "runs in buckets")
	run(0, "shard", at, "--index", "3")
	holds(run(0, "shard", at, "--index", "3"), `"shard":3,"computed":false`)
	answer("ExpiredToken")
	holds(run(75, "shard", at, "--index", "4"), "have expired")
	answer("RequestTimeTooSkewed")
	holds(run(75, "status", at), "clock of this machine")
	answer("InvalidAccessKeyId")
	holds(run(2, "shard", at, "--index", "4"), "does not know the credentials")
	says.Store(nil)
	var state struct {
		Kept, Shards int
		Todo         string
	}
	if err := json.Unmarshal([]byte(run(0, "status", at, "--json")), &state); err != nil || state.Kept != 1 ||
		state.Shards != 44 || state.Todo != "0-2,4-43" {
		t.Errorf("%+v, %v", state, err)
	}

	holds(run(0, "submit", "slurm", at, "--tasks", "6", "--dry-run"), "#SBATCH --array=0-5",
		" shard "+at+" --block 8", " -q merge "+at+" -o "+filepath.Join(dir, "one")+" --push")
	holds(run(0, "submit", "kubernetes", at, "--image", "nero", "--secret", "keys"), `"`+at+`"`, `name: "keys"`)
	holds(run(2, "submit", "kubernetes", at, "--image", "nero", "--claim", "data"), "--mount")

	r := rand.New(rand.NewPCG(17, 3))
	left, killed := 8, 0
	var mu sync.Mutex
	var all sync.WaitGroup
	for k := range 4 {
		var order []string
		for i := range 24 { // shards of its neighbours, too
			order = append(order, strconv.Itoa((k*11+i)%44))
		}
		all.Go(func() {
			for {
				c := nero("shard", at, "--stdin", "-w", "1")
				c.Stdin = strings.NewReader(strings.Join(order, "\n"))
				out := &firstLine{came: make(chan struct{})}
				c.Stdout, c.Stderr = out, os.Stderr
				if err := c.Start(); err != nil {
					t.Error(err)
					return
				}
				ended := make(chan error, 1)
				go func() { ended <- c.Wait() }()
				mu.Lock()
				kill, wait := left > 0, time.Duration(r.IntN(30))*time.Millisecond
				left--
				mu.Unlock()
				if kill {
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
	for i, to := range []string{"one", "two"} { // at once
		all.Go(func() {
			args := []string{"merge", at, "-o", to}
			if i == 0 {
				args = append(args, "--push")
			}
			if out, err := nero(args...).CombinedOutput(); err != nil {
				t.Errorf("merge: %v\n%s", err, out)
			}
		})
	}
	all.Wait()
	if kept := run(0, "shard", at, "--index", "0-43"); strings.Count(kept, `"computed":false`) != 44 {
		t.Errorf("computed again: %s", kept)
	}
	for _, to := range []string{"one", "two"} {
		got, err := files(filepath.Join(dir, to))
		if err != nil {
			t.Fatal(err)
		}
		if d := difference(want, got); d != "" {
			t.Errorf("%s, after %d kills: %s", to, killed, d)
		}
	}
	holds(run(0, "status", at), "44 of 44 shards are kept", "complete")
	holds(run(0, "merge", at, "-o", "one"), "kept in")
	for _, name := range []string{"summary.json", "manifest.json"} {
		o, err := backend.GetObject("runs", "team/one/"+name, nil)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(o.Contents)
		if err != nil || string(b) != want[name] {
			t.Errorf("%s was put back otherwise (%v)", name, err)
		}
	}
	list, err := backend.ListBucket("runs", nil, gofakes3.ListBucketPage{})
	if err != nil || len(list.Contents) < 2*44 {
		t.Fatalf("%d objects, %v", len(list.Contents), err)
	}
	for _, k := range list.Contents {
		o, err := backend.GetObject("runs", k.Key, nil)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(o.Contents)
		if err != nil || bytes.Contains(b, []byte("tester")) || bytes.Contains(b, []byte("secret")) {
			t.Errorf("%s holds credentials (%v)", k.Key, err)
		}
	}
	t.Logf("%d processes were killed", killed)
}
