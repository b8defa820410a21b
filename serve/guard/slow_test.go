package guard

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// short are limits that a test can wait for.
var short = Limits{
	Header: 200 * time.Millisecond, Body: 300 * time.Millisecond, Write: 300 * time.Millisecond,
	Idle: 300 * time.Millisecond, Shutdown: 300 * time.Millisecond,
}

// dial opens a connection that fails the test rather than hang.
func dial(t *testing.T, s *Server) net.Conn {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", "127.0.0.1:"+strconv.Itoa(s.Port()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return conn
}

// dribble sends text a byte at a time until the other end hangs up, or for 5 s.
func dribble(conn net.Conn, text string) error {
	for i := range 250 {
		if _, err := io.WriteString(conn, text[i%len(text):i%len(text)+1]); err != nil {
			return err
		}
		time.Sleep(20 * time.Millisecond)
	}
	return nil
}

func head(s *Server, line string, headers ...string) string {
	return line + " HTTP/1.1\r\nHost: 127.0.0.1:" + strconv.Itoa(s.Port()) + "\r\n" +
		strings.Join(append(headers, "", ""), "\r\n")
}

func TestSlowHeader(t *testing.T) {
	s := listen(t, Options{Limits: short})
	serve(t, s, http.HandlerFunc(echo))
	conn := dial(t, s)
	if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nX: "); err != nil {
		t.Fatal(err)
	}
	if err := dribble(conn, "x"); err == nil {
		t.Error("headers may dribble for 5 s")
	}
}

func TestIdle(t *testing.T) {
	s := listen(t, Options{Limits: short})
	serve(t, s, http.HandlerFunc(echo))
	conn := dial(t, s)
	if _, err := io.WriteString(conn, head(s, "GET /")); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	b, err := io.ReadAll(conn)
	if err != nil || !strings.HasPrefix(string(b), "HTTP/1.1 200") || time.Since(start) > 5*time.Second {
		t.Errorf("%v after %v: %s", err, time.Since(start), b)
	}
}

func TestSlowBody(t *testing.T) {
	s := listen(t, Options{Limits: short, Token: secret})
	var mu sync.Mutex
	seen := map[string]error{}
	serve(t, s, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/read" {
			_, err := io.ReadAll(r.Body)
			mu.Lock()
			seen["read"] = err
			mu.Unlock()
			Fail(w, r, err)
			return
		}
		if r.URL.Path == "/long" { // more than net/http keeps before it writes
			_, _ = w.Write(make([]byte, 10<<10))
		}
	}))
	for _, c := range []struct {
		name, head string
		// how the answer begins
		want string
	}{
		{"read", head(s, "POST /read", auth, "Content-Length: 1000"), "HTTP/1.1 408"},
		{"read in pieces", head(s, "POST /read", auth, "Transfer-Encoding: chunked") + "3e8\r\n", "HTTP/1.1 408"},
		{"not read", head(s, "POST /", auth, "Content-Length: 1000"), ""},
		{"not read before a long answer", head(s, "POST /long", auth, "Content-Length: 1000"), ""},
		{"not let in", head(s, "POST /read", "Content-Length: 1000"), ""},
		{"not let in, in pieces", head(s, "POST /read", "Transfer-Encoding: chunked") + "3e8\r\n", ""},
		{"too long", head(s, "POST /read", auth, "Content-Length: 2000000"), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			conn := dial(t, s)
			if _, err := io.WriteString(conn, c.head); err != nil {
				t.Fatal(err)
			}
			got := make(chan string, 1)
			go func() {
				b := make([]byte, 12)
				n, _ := io.ReadFull(conn, b)
				got <- string(b[:n])
			}()
			if err := dribble(conn, "x"); err == nil {
				t.Error("a body may dribble for 5 s")
			}
			if line := <-got; !strings.HasPrefix(line, c.want) {
				t.Errorf("answer %q, want %q", line, c.want)
			}
		})
	}
	t.Cleanup(func() {
		mu.Lock()
		defer mu.Unlock()
		if !errors.Is(seen["read"], os.ErrDeadlineExceeded) {
			t.Errorf("the handler read %v", seen["read"])
		}
	})
}

// A body that has come is not cut off, however long the handler thinks, and its context lasts.
func TestSlowHandler(t *testing.T) {
	s := listen(t, Options{Limits: short})
	serve(t, s, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/part" { // a decoder of JSON stops at the last brace
			_, _ = r.Body.Read(make([]byte, 1))
		} else if _, err := io.ReadAll(r.Body); err != nil {
			t.Error(err)
		}
		for range 2 {
			time.Sleep(400 * time.Millisecond)
			_, err := io.WriteString(w, strings.Repeat("answer", 1000))
			if err = errors.Join(err, r.Context().Err()); err != nil {
				t.Errorf("%s: %v", r.URL.Path, err)
			}
		}
	}))
	for _, path := range []string{"/all", "/part"} {
		res, err := http.Post(s.URL()+path[1:], "text/plain", strings.NewReader("four"))
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err != nil || len(b) != 12000 {
			t.Errorf("%s: %d bytes, %v", path, len(b), err)
		}
	}
}

func TestSlowReader(t *testing.T) {
	s := listen(t, Options{Limits: short})
	cut := make(chan error, 1)
	serve(t, s, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/events" {
			if _, err := Stream(w, r); err != nil {
				t.Error(err)
			}
		}
		if r.URL.Path == "/once" {
			_, err := w.Write(make([]byte, 64<<20))
			cut <- err
			return
		}
		piece := make([]byte, 1<<20)
		for range 256 { // more than the system keeps for a connection
			if _, err := w.Write(piece); err != nil {
				cut <- err
				return
			}
		}
		cut <- nil
	}))
	for _, path := range []string{"/", "/events"} {
		conn := dial(t, s)
		if _, err := io.WriteString(conn, head(s, "GET "+path)); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-cut:
			if !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("%s: %v, want a deadline", path, err)
			}
		case <-time.After(10 * time.Second):
			t.Errorf("%s: who does not read holds the server for 10 s", path)
		}
	}

	// Who reads slowly and steadily gets everything, though it takes longer than one limit.
	conn := dial(t, s)
	if _, err := io.WriteString(conn, head(s, "GET /once", "Connection: close")); err != nil {
		t.Fatal(err)
	}
	total, buf := 0, make([]byte, 1<<20)
	for start := time.Now(); ; {
		n, err := conn.Read(buf)
		total += n
		if err != nil {
			break
		}
		if time.Since(start) < time.Second {
			time.Sleep(20 * time.Millisecond)
		}
	}
	if err := <-cut; err != nil || total < 64<<20 {
		t.Errorf("a steady reader got %d bytes: %v", total, err)
	}
}

func TestBusy(t *testing.T) {
	l := short
	l.Requests, l.Streams = 2, 1
	s := listen(t, Options{Limits: l, Token: secret})
	entered, leave := make(chan string), make(chan struct{})
	serve(t, s, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api/wait":
			entered <- "wait"
			<-leave
		case "/api/panic":
			panic("planned")
		case "/api/events":
			ctx, err := Stream(w, r)
			if err != nil {
				Fail(w, r, err)
				return
			}
			if again, err := Stream(w, r); err != nil || again != ctx {
				t.Errorf("a stream twice: %v", err)
			}
			_, _ = io.WriteString(w, "data: 1\n\n")
			_ = http.NewResponseController(w).Flush()
			entered <- "events"
			<-ctx.Done()
		}
	}))
	patience, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	get := func(path string) (*http.Response, error) {
		req, err := http.NewRequestWithContext(patience, http.MethodGet, s.bare()+path, nil)
		if err != nil {
			return nil, err
		}
		req.Header.Set("Authorization", "Bearer "+secret)
		return http.DefaultClient.Do(req)
	}
	var wait sync.WaitGroup
	hold := func(path string) {
		wait.Go(func() {
			res, err := get(path)
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := io.Copy(io.Discard, res.Body); err != nil {
				t.Errorf("%s: %v", path, err)
			}
			_ = res.Body.Close()
		})
		<-entered
	}
	status := func(path string) int {
		res, err := get(path)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		if res.StatusCode == http.StatusServiceUnavailable {
			if n, err := strconv.Atoi(res.Header.Get("Retry-After")); err != nil || n < 1 ||
				!strings.Contains(string(b), `"code":"busy"`) || strings.Contains(res.Header.Get("Content-Type"),
				"event") {
				t.Errorf("%s: 503 with %v: %s", path, res.Header, b)
			}
		}
		return res.StatusCode
	}
	for range 5 { // a place that a panic takes has to come back
		if got := status("api/panic"); got != http.StatusInternalServerError {
			t.Fatalf("panic: %d", got)
		}
	}
	hold("api/events") // holds none of the two places
	hold("api/wait")
	if got := status("api/x"); got != http.StatusOK {
		t.Errorf("one of two places taken: %d", got)
	}
	if got := status("api/events"); got != http.StatusServiceUnavailable {
		t.Errorf("second stream: %d", got)
	}
	hold("api/wait")
	if got := status("api/x"); got != http.StatusServiceUnavailable {
		t.Errorf("both places taken: %d", got)
	}
	if got := ask(t, s, "GET", "/api/x", here); got.StatusCode != http.StatusUnauthorized {
		t.Errorf("a stranger while busy: %d", got.StatusCode)
	}
	leave <- struct{}{}
	leave <- struct{}{}
	for start := time.Now(); status("api/x") != http.StatusOK; time.Sleep(10 * time.Millisecond) {
		if time.Since(start) > 5*time.Second {
			t.Fatal("places do not come back")
		}
	}
	s.stop() // ends the stream, as Serve does
	wait.Wait()
}

// The end of the server ends streams, lets requests at work finish, and does not wait for one that does not.
func TestShutdown(t *testing.T) {
	for _, c := range []struct {
		name string
		// of the request at work; 0 waits for its context
		think time.Duration
	}{{"finishes", 150 * time.Millisecond}, {"does not", 0}} {
		t.Run(c.name, func(t *testing.T) {
			l := short
			if c.think > 0 {
				l.Shutdown = 10 * time.Second
			}
			s := listen(t, Options{Limits: l})
			entered := make(chan struct{}, 2)
			gone := make(chan string, 2)
			h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/events" {
					ctx, err := Stream(w, r)
					if err != nil {
						t.Error(err)
						return
					}
					_ = http.NewResponseController(w).Flush()
					entered <- struct{}{}
					<-ctx.Done()
					_, _ = io.WriteString(w, "data: bye\n\n")
					gone <- "events"
					return
				}
				entered <- struct{}{}
				if c.think > 0 {
					time.Sleep(c.think)
				} else {
					<-r.Context().Done()
				}
				_, _ = io.WriteString(w, "done")
				gone <- "work"
			})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			ended := make(chan error, 1)
			go func() { ended <- s.Serve(ctx, h) }()
			events, work := dial(t, s), dial(t, s)
			for conn, text := range map[net.Conn]string{events: head(s, "GET /events"), work: head(s, "GET /work")} {
				if _, err := io.WriteString(conn, text); err != nil {
					t.Fatal(err)
				}
				<-entered
			}
			start := time.Now()
			cancel()
			select {
			case err := <-ended:
				if err != nil {
					t.Error(err)
				}
			case <-time.After(5 * time.Second):
				t.Fatal("the server does not end")
			}
			if took := time.Since(start); c.think == 0 && took < l.Shutdown {
				t.Errorf("waited %v only", took)
			}
			for _, want := range []string{"events", "work"} {
				select {
				case got := <-gone:
					if got != want {
						t.Errorf("%s ended, want %s", got, want)
					}
				case <-time.After(5 * time.Second):
					t.Fatalf("%s does not end", want)
				}
			}
			if b, err := io.ReadAll(events); err != nil || !strings.Contains(string(b), "text/event-stream") ||
				!strings.Contains(string(b), "data: bye") || !strings.Contains(string(b), "X-Accel-Buffering: no") {
				t.Errorf("stream: %v %s", err, b)
			}
			b, err := io.ReadAll(work)
			if c.think > 0 && (err != nil || !strings.HasSuffix(string(b), "\r\n\r\ndone")) {
				t.Errorf("request at work: %v %s", err, b)
			}
			if _, err := net.DialTimeout("tcp", s.Addr().String(), time.Second); err == nil {
				t.Error("the port is still open")
			}
		})
	}
}

// Events may be farther apart than one limit.
func TestQuietStream(t *testing.T) {
	s := listen(t, Options{Limits: short})
	serve(t, s, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, err := Stream(w, r)
		if err != nil {
			t.Error(err)
			return
		}
		flusher, ok := w.(http.Flusher)
		if !ok {
			t.Error("no http.Flusher")
			return
		}
		for i := range 3 {
			_, err := fmt.Fprintf(w, "data: %d\n\n", i)
			flusher.Flush()
			if err != nil || ctx.Err() != nil {
				t.Errorf("event %d: %v %v", i, err, ctx.Err())
			}
			time.Sleep(400 * time.Millisecond)
		}
	}))
	res, err := http.Get(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	n := 0
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "data:") {
			n++
		}
	}
	if n != 3 {
		t.Errorf("%d events, want 3", n)
	}
}

func TestProblem(t *testing.T) {
	p := &Problem{
		Status: 404, Code: "no-run", Title: "There is no such run", Detail: `run "<b>"`,
		Remedy: "See the list.",
	}
	if got, want := p.Error(), `There is no such run: run "<b>": See the list.`; got != want {
		t.Errorf("%q", got)
	}
	answer := func(f func(http.ResponseWriter, *http.Request), method, accept string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), method, "/x", nil)
		r.Header.Set("Accept", accept)
		w.Header().Set("Content-Encoding", "gzip")
		f(w, r)
		return w
	}
	w := answer(p.ServeHTTP, "GET", "*/*")
	var got map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if w.Code != 404 || fmt.Sprint(
		got) != `map[code:no-run detail:run "<b>" remedy:See the list. status:404 title:There is no such run]` ||
		w.Header().Get("Content-Type") != "application/problem+json" || w.Header().Get("Content-Encoding") != "" ||
		w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("%d %v %v", w.Code, w.Header(), got)
	}
	if w := answer(p.ServeHTTP, "GET", page); !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") ||
		strings.Contains(w.Body.String(), "<b>") || !strings.Contains(w.Body.String(), "&lt;b&gt;") {
		t.Errorf("page: %v %s", w.Header(), w.Body)
	}
	if w := answer(p.ServeHTTP, "HEAD", ""); w.Code != 404 || w.Body.Len() != 0 ||
		w.Header().Get("Content-Length") == "0" {
		t.Errorf("HEAD: %d %v %s", w.Code, w.Header(), w.Body)
	}
	for _, c := range []struct {
		err    error
		status int
		code   string
		retry  string
		hidden bool
	}{
		{fmt.Errorf("api: %w", p), 404, "no-run", "", false},
		{&Problem{Status: 503, Code: "busy", RetryAfter: 1200 * time.Millisecond}, 503, "busy", "2", false},
		{errors.New("open /home/anna/secret: no such file"), 500, "internal", "", true},
		{fmt.Errorf("read: %w", &http.MaxBytesError{Limit: 7}), 413, "body-too-long", "", false},
		{fmt.Errorf("read: %w", os.ErrDeadlineExceeded), 408, "body-too-slow", "", false},
		{io.ErrUnexpectedEOF, 400, "body-incomplete", "", false},
		{context.Canceled, 503, "ending", "1", false},
	} {
		var hidden bool
		w := answer(func(w http.ResponseWriter, r *http.Request) { hidden = Fail(w, r, c.err) }, "GET", "")
		var p Problem
		if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil {
			t.Fatal(err)
		}
		if w.Code != c.status || p.Code != c.code || w.Header().Get("Retry-After") != c.retry || hidden != c.hidden ||
			strings.Contains(w.Body.String(), "anna") {
			t.Errorf("%v: %d %v %s hidden %v", c.err, w.Code, w.Header(), w.Body, hidden)
		}
	}
	if p := BodyProblem(errors.New("line 3: expected a number")); p.Status != 400 ||
		!strings.Contains(p.Detail, "line 3") {
		t.Error(p)
	}
}

// The length of a body is bounded also when nobody announces it, and per route.
func TestBodyInPieces(t *testing.T) {
	s := listen(t, Options{Limits: Limits{BodyBytes: 100}, BasePath: "/p/", BodyBytes: func(r *http.Request) int64 {
		if r.URL.Path == "/long" {
			return 200
		}
		return -1
	}})
	serve(t, s, http.HandlerFunc(echo))
	for _, c := range []struct {
		path string
		n    int
		want int
	}{{"/x", 100, 200}, {"/x", 101, 413}, {"/p/long", 200, 200}, {"/long", 201, 413}} {
		body := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", c.n, strings.Repeat("x", c.n))
		got, err := raw(t, s, "POST", head(s, "POST "+c.path, "Transfer-Encoding: chunked", "Connection: close")+body)
		if err != nil || got.StatusCode != c.want {
			t.Errorf("%s, %d bytes: %v %v", c.path, c.n, got.Response, err)
		}
	}
}

// Bodies that arrive slowly keep nobody out: not those who ask without one, and those with one for a moment only.
func TestSlowBodiesHoldNoPlaces(t *testing.T) {
	s := listen(t, Options{Limits: Limits{Requests: 2, Body: 20 * time.Second}})
	serve(t, s, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			Fail(w, r, err)
			return
		}
		_, _ = w.Write(b)
	}))
	for range 4 { // more than there are places, of which the first have to go
		conn := dial(t, s)
		if _, err := io.WriteString(conn, head(s, "POST /", "Content-Length: 1000")); err != nil {
			t.Fatal(err)
		}
	}
	ask := func(method, text string) (int, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, s.bare(), strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(res.Body)
		if err = errors.Join(err, res.Body.Close()); err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, string(b)
	}
	if status, _ := ask(http.MethodGet, ""); status != http.StatusOK {
		t.Errorf("without a body: status %d", status)
	}
	time.Sleep(moment)
	for range 3 {
		if status, got := ask(http.MethodPost, "quick"); status != http.StatusOK || got != "quick" {
			t.Errorf("with a body: status %d, %q", status, got)
		}
	}
}

// Answers that are taken slowly keep nobody out: not those who ask, and of those who take none the first have to go.
func TestSlowReadersHoldNoPlaces(t *testing.T) {
	s := listen(t, Options{Limits: Limits{Requests: 2, Write: 20 * time.Second}})
	began, cut := make(chan struct{}, 10), make(chan error, 10)
	serve(t, s, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/long" {
			return
		}
		_, err := w.Write([]byte{0}) // it is an answer that is being sent
		began <- struct{}{}
		if err == nil {
			_, err = w.Write(make([]byte, 64<<20)) // more than the system keeps for a connection
		}
		cut <- err
	}))
	slow := func() {
		conn := dial(t, s)
		if _, err := io.WriteString(conn, head(s, "GET /long")); err != nil {
			t.Fatal(err)
		}
		<-began
	}
	slow()
	slow()
	time.Sleep(moment)
	for range 4 {
		slow() // each time there is a place for it, and the oldest goes
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.bare(), http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(moment)
	for range 3 {
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := res.Body.Close(); err != nil || res.StatusCode != http.StatusOK {
			t.Errorf("status %d, %v", res.StatusCode, err)
		}
	}
	select {
	case err := <-cut:
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("a slow reader ends with %v, want a deadline", err)
		}
	case <-time.After(10 * time.Second):
		t.Error("no slow reader had to go")
	}
}

// told counts how often it was told to end.
type told struct{ times int }

func (w *told) give() { w.times++ }

// Of a crowd the oldest goes, once it has had its time; who has left is not told.
func TestCrowd(t *testing.T) {
	c := &crowd{most: 2, sure: time.Second}
	begin := time.Unix(0, 0)
	all := make([]told, 5)
	for i, step := range []struct {
		at   time.Duration
		want bool
	}{
		{0, true}, {0, true}, {time.Second - 1, false}, {time.Second, true}, {time.Second, true},
	} {
		if got := c.enter(&all[i], begin.Add(step.at)); got != step.want {
			t.Errorf("number %d enters: %v, want %v", i, got, step.want)
		}
	}
	c.leave(&all[3])
	c.leave(&all[3])
	if !c.enter(&all[2], begin.Add(time.Second)) {
		t.Error("a place that was left is not given")
	}
	for i, want := range []int{1, 1, 0, 0, 0} {
		if all[i].times != want {
			t.Errorf("number %d was told to end %d times, want %d", i, all[i].times, want)
		}
	}
}
