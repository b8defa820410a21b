//go:build unix

package siege

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"

	"nero/serve/guard"
)

// gunner sends shots over one connection after the other, and holds what comes back against the document.
type gunner struct {
	*storm

	conn net.Conn
	in   *bufio.Reader
}

// storm is what all gunners share.
type storm struct {
	s      *shop
	dir    string
	router routers.Router
	// by status, what docs/API.md says
	codes map[string]bool

	task, tag atomic.Value
	mu        sync.Mutex
	// by operation and status
	count map[string]map[int]int
}

// TestAPI asks a server everything that its own document knows, and much that it does not: values that are right,
// nearly so and hostile, in every place; other methods, types and lengths; and clients that leave in the middle. No
// answer says that the server failed; each has the shape that the document says; and when all is over nothing is held
// that was not before.
func TestAPI(t *testing.T) {
	dir := t.TempDir()
	stock(t, dir) // which starts a server of models
	before := held()
	s := open(t, filepath.Join(dir, "runs"), guard.Limits{})
	st := &storm{s: s, dir: dir, codes: documented(t), count: map[string]map[int]int{}}
	doc := st.document(t)
	ops, k := operations(doc), st.known(t)
	var often []operation
	for _, op := range ops {
		weight := 10
		switch op.OperationID {
		case "report": // each asks data and models for seconds
			weight = 1
		case "probe", "aggregate", "select", "putSlices", "embedding":
			weight = 20
		}
		for range weight {
			often = append(often, op)
		}
	}
	const gunners = 8 // as many requests are at work at once
	// Connections to models behind an endpoint are kept for a while: one for each request at work, with both ends here.
	const kept = 2 * gunners
	shots := make(chan func(*gunner))
	var all sync.WaitGroup
	for range gunners {
		all.Go(func() {
			g := &gunner{storm: st}
			defer g.hang()
			for f := range shots {
				f(g)
			}
		})
	}
	// Everything once as it should be: models are open then, and connections to them made.
	r := rand.New(rand.NewPCG(1, 2))
	for range 3 {
		for _, op := range ops {
			if op.OperationID != "report" {
				shot := draw(r, op, k)
				shots <- func(g *gunner) { g.fire(t, "before", shot) }
			}
		}
	}
	time.Sleep(100 * time.Millisecond)
	quiet := held()
	done := sync.OnceFunc(func() {
		close(shots)
		all.Wait()
	})
	defer done()
	plan(t, 200, func(_ *testing.T, n int, r *rand.Rand) {
		shot := draw(r, often[r.IntN(len(often))], k)
		shots <- func(g *gunner) { g.fire(t, "draw "+strconv.Itoa(n), shot) }
	})
	done()
	back(t, "after the storm", quiet, kept)
	s.stop()
	back(t, "after the server", before, kept)
	if text := s.said.String(); strings.Contains(text, "panic") || strings.Contains(text, "a request failed") {
		t.Errorf("the log of the server: %.5000s", text)
	}
	var table strings.Builder
	for _, name := range slices.Sorted(maps.Keys(st.count)) {
		fmt.Fprintf(&table, "\n%-12s", name)
		for _, status := range slices.Sorted(maps.Keys(st.count[name])) {
			fmt.Fprintf(&table, " %d: %d", status, st.count[name][status])
		}
	}
	t.Logf("answers by call and status, 0 for none:%s", table.String())
	if shots := st.total(); shots < 5000 { // too few for every call
		return
	}
	for _, op := range ops {
		n := st.count[op.OperationID]
		if op.OperationID != "boxes" && n[200]+n[202] == 0 { // there is no run with boxes
			t.Errorf("no %s was answered: %v", op.OperationID, n)
		}
	}
}

// total is how many shots there were.
func (st *storm) total() (n int) {
	for _, by := range st.count {
		for _, k := range by {
			n += k
		}
	}
	return n
}

// documented are the codes of problems in docs/API.md, as "STATUS CODE".
func documented(t *testing.T) map[string]bool {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "docs", "API.md"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	rows := regexp.MustCompile("(?m)^\\| ([0-9]{3}) \\| (`[^|]+`) \\|")
	for _, row := range rows.FindAllStringSubmatch(string(b), -1) {
		for _, code := range regexp.MustCompile("`([a-z-]+)`").FindAllStringSubmatch(row[2], -1) {
			all[row[1]+" "+code[1]] = true
		}
	}
	if len(all) < 20 {
		t.Fatalf("docs/API.md lists %d codes", len(all))
	}
	return all
}

// get asks for a document.
func (st *storm) get(t *testing.T, path string, into any) {
	t.Helper()
	q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+st.s.at+"/api/v1/"+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	a, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close() //nolint:errcheck // only read from
	defer http.DefaultClient.CloseIdleConnections()
	if b, err := io.ReadAll(a.Body); err != nil || a.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %v, %s: %s", path, err, a.Status, b)
	} else if raw, ok := into.(*[]byte); ok {
		*raw = b
	} else if err := json.Unmarshal(b, into); err != nil {
		t.Fatal(path, err)
	}
}

// document is what the server says of its calls.
func (st *storm) document(t *testing.T) *openapi3.T {
	t.Helper()
	var b []byte
	st.get(t, "openapi.json", &b)
	doc, err := openapi3.NewLoader().LoadFromData(b)
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context()); err != nil {
		t.Fatal(err)
	}
	doc.Servers = openapi3.Servers{{URL: "/api/v1"}}
	for _, kind := range []string{ // what is no JSON is not looked into
		"application/vnd.safetensors", "image/png", "text/event-stream", "text/html", "text/markdown", "text/csv",
		"application/jsonl", "application/x-latex",
	} {
		openapi3filter.RegisterBodyDecoder(kind, openapi3filter.FileBodyDecoder)
	}
	if st.router, err = gorillamux.NewRouter(doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

// known asks for what there is.
func (st *storm) known(t *testing.T) known {
	t.Helper()
	var runs struct {
		Runs   []struct{ ID string }
		Audits []struct{ ID string }
	}
	st.get(t, "runs", &runs)
	k := known{"task": {lastTask}, "If-Match": {lastTag, lastTag, `"nobody"`}, "set": {"{}"}, "slice": {"0", "1", "mine"}}
	for _, a := range runs.Audits {
		k["audit"] = append(k["audit"], a.ID)
	}
	add := func(name string, values ...string) {
		for _, v := range values {
			if !slices.Contains(k[name], v) {
				k[name] = append(k[name], v)
			}
		}
	}
	for _, run := range runs.Runs {
		var doc struct {
			Metrics []string
			Models  []string
			Samples int
			Orbit   struct{ Elements [][]float64 }
			Methods []struct{ Name string }
			Arrays  []struct{ Name string }
			Slices  []struct{ Name string }
			Live    struct{ Models bool }
		}
		for begin := time.Now(); !doc.Live.Models; time.Sleep(10 * time.Millisecond) {
			st.get(t, "runs/"+run.ID, &doc)
			if time.Since(begin) > time.Minute {
				t.Fatalf("the models of %s cannot be asked", run.ID)
			}
		}
		add("id", run.ID)
		add("metric", doc.Metrics...)
		add("i", "0", "0", strconv.Itoa(doc.Samples-1))
		for i := range doc.Models {
			add("models", strconv.Itoa(i))
		}
		for _, g := range doc.Orbit.Elements[:min(len(doc.Orbit.Elements), 6)] {
			var text []string
			for _, v := range g {
				text = append(text, strconv.FormatFloat(v, 'g', -1, 64))
			}
			add("g", strings.Join(text, ","))
		}
		for _, m := range doc.Methods {
			add("method", m.Name)
		}
		for _, a := range doc.Arrays {
			add("name", a.Name)
		}
		for _, s := range doc.Slices {
			add("slice", s.Name)
		}
	}
	add("id", "turns", "turns", "turns+half")
	add("g", "12.5")
	add("rows", "0-2", "0-0", "1-2")
	add("models", "1,0")
	add("budget", "5MB")
	add("a", "0", "1")
	add("b", "0", "1")
	add("seed", "0", "7")
	for _, rule := range rules {
		add("set", fmt.Sprintf(`{"rule":%q}`, rule))
	}
	return k
}

// hang ends the connection.
func (g *gunner) hang() {
	if g.conn != nil {
		_ = g.conn.Close() // nothing is lost
		g.conn = nil
	}
}

// fire sends a shot and judges what comes back. A connection that the server has ended meanwhile is made anew.
func (g *gunner) fire(t *testing.T, which string, s *shot) {
	t.Helper()
	told := func(v *atomic.Value) string {
		text, _ := v.Load().(string)
		return text
	}
	names := strings.NewReplacer(hostOf, g.s.at, lastTask, told(&g.task), lastTag, told(&g.tag))
	head := names.Replace(s.text())
	s.target = names.Replace(s.target)
	var a *http.Response
	var body []byte
	var err error
	for try := range 2 {
		fresh := g.conn == nil
		a, body, err = g.send(t, s, head) //nolint:bodyclose // it is closed there
		if err == nil {
			break
		}
		g.hang()
		if fresh || try == 1 {
			break
		}
	}
	bad := func(format string, args ...any) {
		t.Errorf("%s, %s: %s\n%.600q\n%.300q", which, s.what, fmt.Sprintf(format, args...), head, s.body)
	}
	status := 0
	if a != nil {
		status = a.StatusCode
	}
	g.mu.Lock()
	if g.count[s.operation] == nil {
		g.count[s.operation] = map[int]int{}
	}
	g.count[s.operation][status]++
	g.mu.Unlock()
	switch {
	case err != nil && !s.sound && (s.cut >= 0 || s.odd || len(s.body) > 0):
		// who leaves first, or sends a body that nobody reads, may not hear the answer; a panic would be in the log
	case err != nil:
		bad("%v", err)
	case a != nil:
		g.judge(t, s, a, body, bad)
	}
}

// send sends a shot, and reads the answer; none where the client leaves before.
func (g *gunner) send(t *testing.T, s *shot, head string) (*http.Response, []byte, error) {
	t.Helper()
	if g.conn == nil {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", g.s.at)
		if err != nil {
			return nil, nil, err
		}
		g.conn, g.in = conn, bufio.NewReader(conn)
	}
	if err := g.conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return nil, nil, err
	}
	request := append([]byte(head), s.body...)
	if s.cut >= 0 {
		_, _ = g.conn.Write(request[:min(s.cut, len(request))]) // it leaves anyway
		g.hang()
		return nil, nil, nil
	}
	// A server that refuses a body answers before it has come, and need not read it.
	wrote := make(chan error, 1)
	go func(c net.Conn) {
		_, err := c.Write(request)
		if end, ok := c.(*net.TCPConn); s.odd && ok { // else a length that is not kept is waited for
			err = errors.Join(err, end.CloseWrite())
		}
		wrote <- err
	}(g.conn)
	a, err := http.ReadResponse(g.in, &http.Request{Method: s.method})
	for err == nil && a.StatusCode < 200 { // go on
		_ = a.Body.Close() // it has none
		a, err = http.ReadResponse(g.in, &http.Request{Method: s.method})
	}
	if err != nil {
		g.hang()
		return nil, nil, errors.Join(err, <-wrote)
	}
	defer a.Body.Close() //nolint:errcheck // it is the connection's
	if s.leave >= 0 {
		body := make([]byte, s.leave)
		n, _ := io.ReadFull(a.Body, body) // as far as there is any
		g.hang()
		a.ContentLength = -2
		return a, body[:n], nil
	}
	body, err := io.ReadAll(a.Body)
	if err != nil || a.Close || s.odd {
		g.hang()
	}
	if late := <-wrote; late != nil {
		g.hang()
	}
	return a, body, err
}

// judge holds an answer against what is promised.
func (g *gunner) judge(t *testing.T, s *shot, a *http.Response, body []byte, bad func(string, ...any)) {
	t.Helper()
	if tag := a.Header.Get("Etag"); s.operation == "slices" && tag != "" {
		g.tag.Store(tag)
	}
	status := a.StatusCode
	if s.odd && string(body) == "Unsupported transfer encoding" {
		return // net/http's 501, before anybody sees the request
	}
	if status >= 500 && status != http.StatusServiceUnavailable {
		bad("status %d: %.600s", status, body)
	}
	if bytes.Contains(body, []byte(g.dir)) {
		bad("the answer says where the files lie: %.600s", body)
	}
	kind, _, _ := strings.Cut(a.Header.Get("Content-Type"), ";")
	if a.ContentLength == -2 || s.method == http.MethodHead {
		return // there is no whole body
	}
	if status < 400 {
		g.fits(t, s, a, body, bad)
		return
	}
	if kind != "application/problem+json" {
		// net/http refuses what has no form by itself.
		bare := !s.sound && kind == "text/plain" && strings.HasPrefix(string(body), strconv.Itoa(status)+" ")
		if !bare && (!s.odd || len(body) > 0) {
			bad("status %d with a body of type %q: %.200q", status, kind, body)
		}
		return
	}
	var p guard.Problem
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		bad("%v: %.300s", err, body)
		return
	}
	if p.Status != status || p.Title == "" || p.Detail == "" || !g.codes[fmt.Sprintf("%d %s", status, p.Code)] {
		bad("the problem is not one of docs/API.md: %.300s", body)
	}
	if seconds, err := strconv.Atoi(a.Header.Get("Retry-After")); status == http.StatusServiceUnavailable &&
		(err != nil || seconds < 1) {
		bad("503 without a time to try again: %v", a.Header)
	}
	if status == http.StatusMethodNotAllowed && a.Header.Get("Allow") == "" {
		bad("405 without the methods that there are")
	}
}

// fits holds an answer against its schema.
func (g *gunner) fits(t *testing.T, s *shot, a *http.Response, body []byte, bad func(string, ...any)) {
	t.Helper()
	if a.Header.Get("Content-Encoding") != "" || a.StatusCode == http.StatusNotModified || len(body) > 1<<20 {
		return
	}
	q, err := http.NewRequestWithContext(t.Context(), s.method, "http://"+g.s.at+s.target, bytes.NewReader(s.body))
	if err != nil {
		return // no address that has a form
	}
	q.Header.Set("Content-Type", "application/json")
	route, params, err := g.router.FindRoute(q)
	if err != nil {
		return // a page, or what is nearly a call
	}
	out := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{
			Request: q, PathParams: params, Route: route,
			Options: &openapi3filter.Options{IncludeResponseStatus: true},
		},
		Status: a.StatusCode, Header: a.Header, Options: &openapi3filter.Options{IncludeResponseStatus: true},
	}
	out.SetBodyBytes(body)
	if err := openapi3filter.ValidateResponse(t.Context(), out); err != nil {
		bad("the answer does not fit the document: %v\n%.600s", err, body)
	}
	var task struct{ ID string }
	if a.StatusCode == http.StatusAccepted && json.Unmarshal(body, &task) == nil {
		g.task.Store(task.ID)
	}
}
