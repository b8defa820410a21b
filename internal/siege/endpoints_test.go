//go:build unix

package siege

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"nero/internal/slow"
	"nero/model/engine/choose"
	"nero/model/engine/remote/remotetest"
)

// lies are what an endpoint answers in place of n rows of three scores.
func lies(elsewhere string) map[string]func(w http.ResponseWriter, n int) {
	say := func(text string) func(http.ResponseWriter, int) {
		return func(w http.ResponseWriter, n int) { _, _ = io.WriteString(w, scored(text, n, "0.5")) }
	}
	const right = `{"outputs":[{"name":"y","datatype":"FP32","shape":[N,3],"data":[DATA]}]}`
	return map[string]func(w http.ResponseWriter, n int){
		"another shape":    say(strings.Replace(right, "N,3", "N,4", 1)),
		"another type":     say(strings.Replace(right, "FP32", "INT64", 1)),
		"another name":     say(strings.Replace(right, `"y"`, `"z"`, 1)),
		"a huge shape":     say(strings.Replace(right, "N,3", "N,3,4611686018427387904", 1)),
		"a negative shape": say(strings.Replace(right, "N,3", "N,-3", 1)),
		"a word":           say(strings.Replace(right, "DATA", `"one"`, 1)),
		"another protocol": say("<html>It works!</html>"),
		"nothing":          say(""),
		"many brackets":    say(strings.Repeat("[", 1<<20)),
		"not numbers":      func(w http.ResponseWriter, n int) { _, _ = io.WriteString(w, scored(right, n, "NaN")) },
		"of fewer samples": func(w http.ResponseWriter, n int) { _, _ = io.WriteString(w, scored(right, n+1, "1")) },
		"half of it":       func(w http.ResponseWriter, n int) { _, _ = io.WriteString(w, scored(right, n, "1")[:60]) },
		"a redirection": func(w http.ResponseWriter, _ int) {
			w.Header().Set("Location", elsewhere)
			w.WriteHeader(http.StatusTemporaryRedirect)
		},
		"a byte at a time": func(w http.ResponseWriter, _ int) {
			remotetest.Endless(w, 20*time.Millisecond, []byte(" "))
		},
		"no answer": func(http.ResponseWriter, int) { time.Sleep(10 * time.Second) },
		"a length too long": func(w http.ResponseWriter, _ int) {
			w.Header().Set("Content-Length", "999")
			_, _ = io.WriteString(w, "{")
		},
		"a length beyond everything": func(w http.ResponseWriter, _ int) {
			w.Header().Set("Content-Length", "9223372036854775807")
			_, _ = io.WriteString(w, "{") // the client has gone if it fails
		},
		"a packed bomb": func(w http.ResponseWriter, _ int) {
			w.Header().Set("Content-Encoding", "gzip")
			var b bytes.Buffer
			z := gzip.NewWriter(&b)
			_, _ = z.Write(make([]byte, 256<<20)) // into memory
			_ = z.Close()
			_, _ = w.Write(b.Bytes()) // the client has gone if it fails
		},
		"refusal":            func(w http.ResponseWriter, _ int) { http.Error(w, "\x1b[31mno\nno", http.StatusTeapot) },
		"no end":             func(w http.ResponseWriter, _ int) { remotetest.Endless(w, 0, make([]byte, 1<<20)) },
		"a list of nothings": say(`{"outputs":[{}` + strings.Repeat(",{}", 5<<20) + `]}`),
		"a refusal without end": func(w http.ResponseWriter, _ int) {
			w.WriteHeader(http.StatusInternalServerError)
			remotetest.Endless(w, 0, make([]byte, 1<<20))
		},
		"another version": say(strings.Replace(right, "{", `{"model_version":"`+strings.Repeat("v", 9999)+`",`, 1)),
	}
}

// scored fills in an answer.
func scored(text string, n int, number string) string {
	data := strings.TrimSuffix(strings.Repeat(number+",", 3*n), ",")
	return strings.NewReplacer("N,", strconv.Itoa(n)+",", "DATA", data).Replace(text)
}

// samples is of how many samples a request over HTTP is.
func samples(r *http.Request) (int, error) {
	b, err := io.ReadAll(r.Body)
	if n, bad := strconv.Atoi(r.Header.Get("Inference-Header-Content-Length")); bad == nil {
		b = b[:n]
	}
	var q struct{ Inputs []struct{ Shape []int } }
	if err = errors.Join(err, json.Unmarshal(b, &q)); err != nil || len(q.Inputs) != 1 || len(q.Inputs[0].Shape) != 4 {
		return 0, fmt.Errorf("%q: %w", b, err)
	}
	return q.Inputs[0].Shape[0], nil
}

// truth is what every endpoint here says of its model, which reads pictures and answers three scores.
func truth() *remotetest.Bare {
	return &remotetest.Bare{
		Inputs:  []remotetest.Port{{Name: "x", Datatype: "FP32", Shape: []int64{-1, 1, side, side}}},
		Outputs: []remotetest.Port{{Name: "y", Datatype: "FP32", Shape: []int64{-1, 3}}},
	}
}

// asked has commands ask an endpoint, which they do within their limits: they end with a line that names it, unless
// what it says may be taken.
func asked(t *testing.T, name, dir, url string, taken bool, commands ...string) {
	t.Helper()
	for _, command := range commands {
		args := []string{
			command, "-q", "--model", "toy=" + url, "--data", "photos", "--group", "C4", "--invariant",
			"--time-limit", "2s", "-o", "out-" + command,
		}
		if command == "audit" {
			args = append(args, "--checks", "lattice", "--fail-on", "nothing")
		}
		begin := time.Now()
		a := judged(t, name, dir, []string{url}, args...)
		took := time.Since(begin)
		if (a.code == 0) != taken {
			t.Errorf("%s: %s ends with %d: %.300q", name, command, a.code, a.err)
		}
		if a.code != 0 && strings.Count(a.err, "\n") != 1 {
			t.Errorf("%s: %s says more than a line: %q", name, command, a.err)
		}
		if took > 40*time.Second { // that of endpoints is 60 s
			t.Errorf("%s: %s takes %v with a limit of 2 s for one answer", name, command, took)
		}
		t.Logf("%s: %s ends with %d after %v: %.260q", name, command, a.code, took.Round(100*time.Millisecond), a.err)
		if err := os.RemoveAll(filepath.Join(dir, "out-"+command)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestEndpoints asks endpoints that lie: with answers of other shapes, types and lengths, in drips, or elsewhere.
// The run and the audit end in time, with a line that names the endpoint, or say what is missing; memory is bounded,
// and nobody else is asked.
func TestEndpoints(t *testing.T) {
	slow.Test(t)
	t.Setenv("NERO_ORT_LIB", choose.None)
	var strayed atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { strayed.Add(1) }))
	defer other.Close()
	all := lies(other.URL)
	dir := t.TempDir()
	pictures(t, filepath.Join(dir, "photos"), 6)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		b := truth()
		b.Infer = func(w http.ResponseWriter, r *http.Request, _ bool) {
			n, err := samples(r)
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			all[name](w, n)
		}
		web := b.Start()
		asked(t, name, dir, web.URL+"/m", name == "not numbers" || name == "another version", "run", "audit")
		web.CloseClientConnections()
		web.Close()
	}
	if n := strayed.Load(); n > 0 {
		t.Errorf("the host that a redirection names was asked %d times", n)
	}
}
