package e2e

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nero/internal/outside"
)

// TestDemo starts the demo as its documentation says and reads what it shows while it computes: the run, and then the
// audit, without being asked to look again. No browser takes part.
func TestDemo(t *testing.T) {
	t.Parallel()
	outside.Named(t, outside.Browser) // with the other tests of what people see
	bin, _ := program(t)
	c := exec.CommandContext(t.Context(), bin, "demo", "--limit", "20", "--open", "--port", "0", "-o",
		filepath.Join(t.TempDir(), "demo"))
	c.Env = append(os.Environ(), "PATH=") // there is no browser to open
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.WaitDelay = 20 * time.Second
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	c.Stderr = &said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	address := make(chan string, 1)
	done := make(chan string)
	go func() {
		s := bufio.NewScanner(out)
		var all strings.Builder
		for s.Scan() {
			all.WriteString(s.Text() + "\n")
			if u := printed.FindString(s.Text()); u != "" && len(address) == 0 {
				address <- u
			}
		}
		done <- all.String()
	}()
	var base string
	select {
	case base = <-address:
	case all := <-done:
		t.Fatalf("the demo ended without showing anything: %s\n%s", all, said.String())
	}
	type answer struct {
		Runs []struct {
			State struct{ Complete bool }
		}
		Audits []struct{ Runs []string }
	}
	for deadline := time.Now().Add(8 * time.Minute); ; time.Sleep(200 * time.Millisecond) {
		r, err := http.Get(base + "api/v1/runs")
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r.Body)
		if err := r.Body.Close(); err != nil {
			t.Fatal(err)
		}
		var a answer
		if err != nil || json.Unmarshal(b, &a) != nil || len(a.Runs) != 1 {
			t.Fatalf("%s, %v", b, err)
		}
		if a.Runs[0].State.Complete && len(a.Audits) == 1 && len(a.Audits[0].Runs) == 1 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("no complete run with its audit: %s", b)
		}
	}
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	all := <-done
	if err := c.Wait(); err != nil && c.ProcessState.ExitCode() > 2 {
		t.Errorf("%v\n%s", err, said.String())
	}
	if !strings.Contains(all, "confidence") {
		t.Errorf("no table: %s", all)
	}
}
