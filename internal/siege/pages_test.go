package siege

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"nero/cli"
	"nero/serve/api"
)

// printed is what a command of this process prints, to be read while it runs.
type printed struct{ lines chan string }

// Write hands on what is printed.
func (p printed) Write(b []byte) (int, error) {
	p.lines <- string(b)
	return len(b), nil
}

// dates are when files of a run were written, which putting them back changes.
var dates = regexp.MustCompile(`"(begun|changed)":[0-9]+,`)

// shown serves a folder and asks for what the page shows of its runs and audits. A refusal is an answer with the code
// 2; what is said of a run that is not complete is marked as such, but for what is said of one sample.
func shown(t *testing.T, dir string) (all []answer) {
	t.Helper()
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	out, ended := printed{make(chan string, 16)}, make(chan int, 1)
	var log said
	a := &cli.App{Out: out, Err: &log, Version: "siege", Stop: make(chan struct{})}
	go func() { ended <- a.Run(ctx, []string{"serve", "--no-open", "--port", "0", dir}) }()
	defer func() {
		stop()
		if code := <-ended; code != 0 || strings.Contains(log.String(), "panic") {
			t.Errorf("the server ends with %d\n%s", code, log.String())
		}
	}()
	var at string
	select {
	case at = <-out.lines:
		at = strings.TrimSpace(at) + "api/v1/"
	case code := <-ended:
		ended <- code
		t.Fatalf("the server does not start: %d\n%s", code, log.String())
	case <-time.After(patience):
		t.Fatalf("the server does not say where it is\n%s", log.String())
	}
	ask := func(method, path, body string) answer {
		q, err := http.NewRequestWithContext(ctx, method, at+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		q.Header.Set("Content-Type", "application/json")
		r, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r.Body)
		if closed := r.Body.Close(); err != nil || closed != nil {
			t.Fatal(err, closed)
		}
		switch {
		case r.StatusCode == http.StatusOK:
			return answer{out: string(dates.ReplaceAll(bytes.ReplaceAll(b, []byte(at), nil), nil))}
		case r.StatusCode >= 400 && r.StatusCode < 500, r.StatusCode == http.StatusServiceUnavailable:
			return answer{2, "", fmt.Sprintf("nero: %s %s", r.Status, b)}
		}
		return answer{1, "", fmt.Sprintf("%s %s", r.Status, b)}
	}
	list := ask(http.MethodGet, "runs", "")
	var runs api.Runs
	if err := json.Unmarshal([]byte(list.out), &runs); err != nil {
		t.Fatalf("%v\n%s%s", err, list.err, list.out)
	}
	if len(runs.Problems) > 0 {
		list.code, list.err = 2, "nero: "+runs.Problems[0].Detail
	}
	partial := slices.ContainsFunc(runs.Runs, func(c api.RunCard) bool { return !c.State.Complete })
	if partial {
		list.err += " not complete"
	}
	all = append(all, list, ask(http.MethodGet, "runs/run", ""))
	var run api.Run
	if one := &all[1]; one.code == 0 {
		if err := json.Unmarshal([]byte(one.out), &run); err != nil {
			t.Fatalf("%v\n%s", err, one.out)
		}
		if len(run.Notes) > 0 { // it says what it leaves out
			one.code, one.err = 2, "nero: "+run.Notes[0]
		}
	}
	for _, path := range []string{"/arrays/curves.0.0", "/slices", "/export/aggregate.csv", "/export/samples.csv"} {
		all = append(all, ask(http.MethodGet, "runs/run"+path, ""))
	}
	all = append(all, ask(http.MethodPost, "runs/run/aggregate", `{"set": {}, "metric": 0}`))
	for i := 1; i < len(all) && partial; i++ {
		all[i].err += " not complete"
	}
	for _, i := range []string{"0", "4", "8"} {
		all = append(all, ask(http.MethodGet, "runs/run/samples/"+i, ""))
	}
	return append(all, ask(http.MethodGet, "audits/audit", ""))
}
