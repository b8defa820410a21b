package guard

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// listen opens a server on a free loopback port unless the options say otherwise.
func listen(t *testing.T, o Options) *Server {
	t.Helper()
	if !o.PortSet {
		o.PortSet = true
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	s, err := Listen(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// serve runs a server until the test ends and expects that it ends in peace.
func serve(t *testing.T, s *Server, h http.Handler) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, h) }()
	t.Cleanup(func() {
		cancel()
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(20 * time.Second):
			t.Error("the server does not end")
		}
	})
}

func TestServe(t *testing.T) {
	s := listen(t, Options{})
	serve(t, s, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "path "+r.URL.Path)
	}))
	res, err := http.Get(s.URL() + "runs")
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(res.Body)
	_ = res.Body.Close()
	if err != nil || string(b) != "path /runs" || res.StatusCode != http.StatusOK {
		t.Errorf("%s %q %v", res.Status, b, err)
	}
	if !strings.HasPrefix(s.URL(), "http://127.0.0.1:") || strings.Contains(s.URL(), "token") {
		t.Error(s.URL())
	}
}
