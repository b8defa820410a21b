//go:build unix

package siege

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
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
)

// lies are what an endpoint answers in place of n rows of three scores.
func lies(elsewhere string) map[string]func(w http.ResponseWriter, n int) {
	say := func(text string) func(http.ResponseWriter, int) {
		return func(w http.ResponseWriter, n int) { _, _ = io.WriteString(w, scored(text, n, "0.5")) }
	}
	endless := func(w http.ResponseWriter, pause time.Duration, piece string) {
		for {
			if _, err := io.WriteString(w, piece); err != nil {
				return
			}
			_ = http.NewResponseController(w).Flush() // the client has gone if it fails
			time.Sleep(pause)
		}
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
		"a byte at a time": func(w http.ResponseWriter, _ int) { endless(w, 20*time.Millisecond, " ") },
		"no answer":        func(http.ResponseWriter, int) { time.Sleep(10 * time.Second) },
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
		"refusal":         func(w http.ResponseWriter, _ int) { http.Error(w, "\x1b[31mno\nno", http.StatusTeapot) },
		"another version": say(strings.Replace(right, "{", `{"model_version":"`+strings.Repeat("v", 9999)+`",`, 1)),
	}
}

// scored fills in an answer.
func scored(text string, n int, number string) string {
	data := strings.TrimSuffix(strings.Repeat(number+",", 3*n), ",")
	return strings.NewReplacer("N,", strconv.Itoa(n)+",", "DATA", data).Replace(text)
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
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				_, _ = fmt.Fprintf(w, `{"name":"m","inputs":[{"name":"x","datatype":"FP32","shape":[-1,1,%d,%[1]d]}],`+
					`"outputs":[{"name":"y","datatype":"FP32","shape":[-1,3]}]}`, side)
				return
			}
			b, err := io.ReadAll(r.Body)
			n, bad := strconv.Atoi(r.Header.Get("Inference-Header-Content-Length"))
			if bad == nil {
				b = b[:n]
			}
			var q struct{ Inputs []struct{ Shape []int } }
			if err != nil || json.Unmarshal(b, &q) != nil || len(q.Inputs) != 1 || len(q.Inputs[0].Shape) != 4 {
				w.WriteHeader(http.StatusBadRequest)
				return
			}
			all[name](w, q.Inputs[0].Shape[0])
		}))
		for _, command := range []string{"run", "audit"} {
			args := []string{
				command, "-q", "--model", "toy=" + web.URL + "/m", "--data", "photos", "--group", "C4", "--invariant",
				"--time-limit", "2s", "-o", "out-" + command,
			}
			if command == "audit" {
				args = append(args, "--checks", "lattice", "--fail-on", "nothing")
			}
			begin := time.Now()
			a := judged(t, name, dir, []string{web.URL}, args...)
			if a.code == 0 && name != "not numbers" && name != "another version" {
				t.Errorf("%s: %s takes it", name, command)
			}
			if took := time.Since(begin); took > 40*time.Second { // that of endpoints is 60 s
				t.Errorf("%s: %s takes %v with a limit of 2 s for one answer", name, command, took)
			}
			t.Logf("%s: %s ends with %d after %v: %.160q", name, command, a.code,
				time.Since(begin).Round(100*time.Millisecond), a.err)
			if err := os.RemoveAll(filepath.Join(dir, "out-"+command)); err != nil {
				t.Fatal(err)
			}
		}
		web.CloseClientConnections()
		web.Close()
	}
	if n := strayed.Load(); n > 0 {
		t.Errorf("the host that a redirection names was asked %d times", n)
	}
}
