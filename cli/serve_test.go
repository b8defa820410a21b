package cli

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"nero/run/store"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/pflag"
)

// TestServePage holds the guide to serving against the program: every command in it can be typed, and every flag
// exists.
func TestServePage(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "docs", "SERVE.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := string(b)
	root := (&App{Out: io.Discard, Err: io.Discard}).root()
	typed := 0
	for _, block := range blocks(t, page, "sh") {
		for line := range strings.Lines(block) {
			_, line, ok := strings.Cut(line, "nero ")
			if !ok {
				continue
			}
			line, _, _ = strings.Cut(line, "#")
			c, rest, err := root.Find(strings.Fields(line))
			if err != nil || c == root {
				t.Errorf("nero %s: %v", line, err)
				continue
			}
			if err := c.ParseFlags(rest); err != nil {
				t.Errorf("nero %s: %v", line, err)
			}
			typed++
		}
	}
	if typed < 8 {
		t.Errorf("only %d commands", typed)
	}
	serve, _, err := root.Find([]string{"serve"})
	if err != nil {
		t.Fatal(err)
	}
	serve.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && f.Name != "help" && f.Name != "quiet" && !strings.Contains(page, "`--"+f.Name) {
			t.Errorf("docs/SERVE.md does not say what --%s does", f.Name)
		}
	})
}

// serving are the commands of the scripts about nero serve.
var serving = map[string]func(*testscript.TestScript, bool, []string){
	"serve":     startServer,
	"interrupt": stopServer,
	"http":      request,
	"hold":      hold,
}

// held are the runs that hold keeps.
var held sync.Map

// hold DIR opens a run for writing, as another process would; ! hold DIR ends that.
func hold(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: [!] hold DIR")
	}
	dir := ts.MkAbs(args[0])
	if neg {
		if r, ok := held.LoadAndDelete(dir); ok {
			ts.Check(r.(*store.Run).Close()) //nolint:errcheck,forcetypeassert // what is stored below
		}
		return
	}
	old, err := store.Open(dir)
	ts.Check(err)
	r, err := store.Create(dir, old.Job(), store.Options{})
	ts.Check(err)
	held.Store(dir, r)
	ts.Defer(func() { held.Delete(dir); _ = r.Close() }) // it may be closed already
}

// servers are the servers that run, by script and name.
var servers sync.Map

// served is a server that runs.
type served struct {
	cmd      *exec.Cmd
	out, err bytes.Buffer
	ended    chan error
}

// startServer NAME ARG... starts "nero serve ARG..." and waits for its address, which is then in the variable NAME, and
// its port in NAME_PORT. What it writes is in NAME.out and NAME.err when it has ended.
func startServer(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: serve NAME ARG...")
	}
	name := args[0]
	program := ""
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		for _, ext := range []string{"", ".exe"} {
			if p := filepath.Join(dir, "nero"+ext); program == "" {
				if _, err := os.Stat(p); err == nil {
					program = p
				}
			}
		}
	}
	s := &served{ended: make(chan error, 1)}
	s.cmd = exec.CommandContext(context.Background(), program, append([]string{"serve", "--no-open"}, args[1:]...)...)
	s.cmd.Dir = ts.MkAbs(".")
	for _, key := range []string{
		"PATH", "HOME", "TMPDIR", "TMP", "TEMP", "SystemRoot", "MY_TOKEN", "XDG_CACHE_HOME",
		"LocalAppData", "NERO_ORT_LIB", "NERO_TOKEN", "GORACE", "GOCOVERDIR",
	} {
		if v := ts.Getenv(key); v != "" {
			s.cmd.Env = append(s.cmd.Env, key+"="+v)
		}
	}
	s.cmd.Stderr = &s.err
	out, err := s.cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(s.cmd.Start())
	line := make(chan string, 1)
	go func() {
		in := bufio.NewReader(out)
		first, _ := in.ReadString('\n') // what there is of it is looked at
		s.out.WriteString(first)
		line <- strings.TrimSpace(first)
		_, _ = io.Copy(&s.out, in) // until the program ends
		s.ended <- s.cmd.Wait()
	}()
	ts.Defer(func() {
		if s.cmd.ProcessState == nil {
			_ = s.cmd.Process.Kill() // it may have ended by itself
		}
	})
	servers.Store(ts.Getenv("WORK")+name, s)
	select {
	case first := <-line:
		u, err := url.Parse(first)
		if err != nil || u.Port() == "" {
			ts.Fatalf("the first line is %q, want an address (%v): %s", first, <-s.ended, s.err.String())
		}
		ts.Setenv(name, strings.TrimSuffix(first, "/"))
		ts.Setenv(name+"_PORT", u.Port())
	case <-time.After(time.Minute):
		ts.Fatalf("nothing was said within a minute")
	}
}

// stopServer NAME sends Ctrl-C and wants the server to end well within ten seconds.
func stopServer(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: interrupt NAME")
	}
	v, ok := servers.LoadAndDelete(ts.Getenv("WORK") + args[0])
	if !ok {
		ts.Fatalf("there is no server %s", args[0])
	}
	s := v.(*served) //nolint:errcheck,forcetypeassert // what startServer stores
	ts.Check(s.cmd.Process.Signal(os.Interrupt))
	select {
	case err := <-s.ended:
		if err != nil {
			ts.Fatalf("the server ended with %v: %s", err, s.err.String())
		}
	case <-time.After(time.Minute):
		ts.Fatalf("the server goes on after Ctrl-C: %s", s.err.String())
	}
	for ext, b := range map[string]*bytes.Buffer{".out": &s.out, ".err": &s.err} {
		ts.Check(os.WriteFile(ts.MkAbs(args[0]+ext), b.Bytes(), 0o600))
	}
}

// request STATUS METHOD URL FILE [BODY] asks until the answer has that status, at most a minute, and keeps its body in
// FILE. A request that is refused with another status than 503 or 409 while one waits is not repeated.
func request(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 4 || len(args) > 5 {
		ts.Fatalf("usage: http STATUS METHOD URL FILE [BODY]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		status, b, err := ask(args[1], args[2], strings.Join(args[4:], ""))
		if err == nil && status == want {
			ts.Check(os.WriteFile(ts.MkAbs(args[3]), b, 0o600))
			return
		}
		again := errors.Is(err, io.EOF) || status == http.StatusServiceUnavailable || status == http.StatusConflict ||
			status == http.StatusAccepted && want == http.StatusOK
		if !again || time.Now().After(end) {
			ts.Fatalf("%s %s: %d, want %d (%v): %.500s", args[1], args[2], status, want, err, b)
		}
	}
}

func ask(method, address, body string) (int, []byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, nil, fmt.Errorf("asking: %w", err)
	}
	defer res.Body.Close() //nolint:errcheck // it was read
	b, err := io.ReadAll(res.Body)
	return res.StatusCode, b, err
}
