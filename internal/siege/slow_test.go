//go:build unix

package siege

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"nero/internal/slow"
	"nero/serve/guard"
)

// prompt is how long an answer may take others on a machine that is busy with other things.
const prompt = 10 * time.Second

// crawl makes a client that is slow in one way: it sends what it has to send at once, then a byte a beat, and takes one
// byte a beat of what it is sent, or none.
type crawl struct {
	name   string
	head   string
	drips  string
	listen bool
}

// TestSlowClients lets many clients be slow at once, in each way that there is, with the limits that the program has,
// but for their number: others are answered promptly all the while, also with a stream of events; and when they are
// gone, or were made to go, nothing is held for them. The whole keeps them on for longer than any limit:
//
//	NERO_SIEGE=1 go test ./internal/siege -run TestSlowClients -v -timeout 0
func TestSlowClients(t *testing.T) {
	whole := os.Getenv("NERO_SIEGE") != ""
	if !whole {
		slow.Test(t)
	}
	dir := t.TempDir()
	stock(t, dir)
	const places, crowded = 8, 40
	s := open(t, filepath.Join(dir, "runs"), guard.Limits{Requests: places, Streams: places})
	last := 400 * time.Millisecond
	if whole {
		last = 90 * time.Second
	}
	post := "POST /api/v1/runs/turns/select HTTP/1.1\r\nHost: " + s.at + "\r\nContent-Type: application/json\r\n"
	get := func(path string) string { return "GET " + path + " HTTP/1.1\r\nHost: " + s.at + "\r\n\r\n" }
	many := strings.Repeat(get("/report.js"), 100) // more than the system keeps for a connection
	crawls := []crawl{
		{name: "says nothing"},
		{name: "a head without end", head: "GET / HTTP/1.1\r\nHost: " + s.at + "\r\nX: ", drips: "y"},
		{name: "a body without end", head: post + "Content-Length: 60000\r\n\r\n", drips: " "},
		{name: "a body in pieces without end", head: post + "Transfer-Encoding: chunked\r\n\r\n", drips: "1\r\n \r\n"},
		{name: "takes a byte a beat", head: many, listen: true},
		{name: "takes nothing", head: many},
		{name: "a stream that nobody reads", head: get("/api/v1/events")},
	}
	friend := &http.Client{Timeout: prompt, Transport: &http.Transport{DisableKeepAlives: true}}
	ask := func(path string) (int, error) {
		q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.at+path, http.NoBody)
		if err != nil {
			return 0, err
		}
		a, err := friend.Do(q)
		if err != nil {
			return 0, err
		}
		defer a.Body.Close() //nolint:errcheck // only read from
		if path == "/api/v1/events" {
			_, err = io.ReadFull(a.Body, make([]byte, 7))
		} else {
			_, err = io.Copy(io.Discard, a.Body)
		}
		return a.StatusCode, err
	}
	for range 3 { // what is opened once is open
		if code, err := ask("/api/v1/runs"); err != nil || code != http.StatusOK {
			t.Fatal(code, err)
		}
	}
	quiet := held()
	for _, c := range crawls {
		var all sync.WaitGroup
		gone := make(chan struct{})
		for range crowded {
			all.Go(func() { c.crawl(t, s.at, gone) })
		}
		time.Sleep(200 * time.Millisecond)
		worst, asked := time.Duration(0), 0
		wait := func(path string) {
			begin := time.Now()
			code, err := ask(path)
			for ; code == http.StatusServiceUnavailable && time.Since(begin) < prompt; asked++ {
				time.Sleep(100 * time.Millisecond)
				code, err = ask(path)
			}
			if worst = max(worst, time.Since(begin)); code != http.StatusOK || err != nil || worst > prompt {
				t.Errorf("beside %d clients, each %q, %s: %d, %v after %v", crowded, c.name, path, code, err, worst)
			}
			asked++
		}
		for begin := time.Now(); time.Since(begin) < last && !t.Failed(); time.Sleep(100 * time.Millisecond) {
			wait("/api/v1/runs/turns/samples/3")
			wait("/report.js")
		}
		if whole || !strings.HasPrefix(c.head, "GET /api/v1/events") { // a stream is certain of its place for 10 s
			wait("/api/v1/events")
		}
		t.Logf("%s: %d answers beside %d clients, the slowest after %v", c.name, asked, crowded, worst)
		close(gone)
		all.Wait()
		back(t, c.name, quiet, 8)
	}
	if text := s.said.String(); strings.Contains(text, "panic") || strings.Contains(text, "a request failed") {
		t.Errorf("the log of the server: %.5000s", text)
	}
}

// crawl is slow until it is told to go or made to.
func (c *crawl) crawl(t *testing.T, at string, gone <-chan struct{}) {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", at)
	if err != nil {
		t.Error(err)
		return
	}
	defer conn.Close() //nolint:errcheck // it may have been closed by the other side
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetReadBuffer(4 << 10) // less is kept for it
	}
	if _, err := fmt.Fprint(conn, c.head); err != nil {
		return
	}
	beat := time.NewTicker(time.Second)
	defer beat.Stop()
	for {
		select {
		case <-gone:
			return
		case <-beat.C:
		}
		if c.drips != "" {
			if _, err := io.WriteString(conn, c.drips); err != nil {
				return
			}
		}
		if c.listen {
			if err := conn.SetReadDeadline(time.Now().Add(time.Second)); err != nil {
				return
			}
			_, _ = conn.Read(make([]byte, 1)) // as far as there is one
		}
	}
}
