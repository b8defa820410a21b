// Package server answers the calls of docs/API.md: what the interface asks of runs and audits. It adds no rule of its
// own to what package shelf gives; it reads requests strictly, writes answers with tags, and keeps the work that takes
// long.
//
// It does not decide who may ask: package guard stands before it.
package server

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"nero/serve/api"
	"nero/serve/guard"
	"nero/serve/shelf"
)

// Launcher goes on with unfinished runs.
type Launcher interface {
	// Launch computes what a run lacks and returns when it is complete. When ctx ends it keeps what is under way and
	// returns the error of ctx. It reports how many of the run's samples are kept as they come. The error wraps
	// store.ErrBusy if another process writes the run.
	Launch(ctx context.Context, run *shelf.Run, kept func(samples int)) error
}

// RefusedError is why a Launcher cannot go on with a run, in words that a visitor may read.
type RefusedError struct{ Reason string }

// Error is the reason.
func (e *RefusedError) Error() string { return e.Reason }

// Options are what a server is made of.
type Options struct {
	// what it shows
	Shelf *shelf.Shelf
	// Files are those of the interface: index.html and what it names.
	Files fs.FS
	// Volatile says that the files may change while the server runs.
	Volatile bool
	// Launcher goes on with unfinished runs; nil refuses to.
	Launcher Launcher
	// Report writes the interface with a run inside as one HTML file; nil refuses to. The query is that of the call.
	Report func(ctx context.Context, w io.Writer, run *shelf.Run, query url.Values) error
	// Workers is how many goroutines lay out samples; 0 stands for one.
	Workers int
	// Now is the clock, from which the time left is told.
	Now func() time.Time
	// Log takes what went wrong inside; nil is silence.
	Log *slog.Logger
}

// Server answers requests. It is safe for concurrent use.
type Server struct {
	o     Options
	mux   *http.ServeMux
	pages pages
	hub   *hub
	tasks *tasks
	// slow tells whether a layout is computed in the background.
	slow func(api.Method) bool
	// writing holds one for the report that is being written: each takes models, cores and memory for seconds, so the
	// others wait.
	writing chan struct{}

	stop context.CancelFunc
	work sync.WaitGroup
}

// New makes a server, which watches its runs and works in the background until ctx ends or it is closed.
func New(ctx context.Context, o Options) (*Server, error) {
	switch {
	case o.Shelf == nil:
		return nil, errors.New("server: Options.Shelf is missing: what is to be shown")
	case o.Files == nil:
		return nil, errors.New("server: Options.Files are missing: the interface")
	case o.Now == nil:
		return nil, errors.New("server: Options.Now is missing: pass the clock")
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	o.Workers = max(o.Workers, 1)
	s := &Server{
		o: o, pages: pages{files: o.Files, fixed: !o.Volatile}, hub: newHub(),
		slow: func(m api.Method) bool { return m.Slow }, writing: make(chan struct{}, 1),
	}
	ctx, s.stop = context.WithCancel(ctx)
	s.tasks = newTasks(ctx, &s.work, s.hub, o.Now, o.Log)
	s.work.Go(func() {
		for e := range o.Shelf.Watch(ctx) {
			if e.Run != nil {
				card := *e.Run
				s.state(&card)
				e.Run = &card
			}
			s.hub.publish(e)
		}
	})
	s.work.Go(func() {
		<-ctx.Done()
		s.hub.close()
	})
	s.mux = s.routes()
	return s, nil
}

// Close ends the work in the background, and with it the streams of events, and waits for it.
func (s *Server) Close() error {
	s.stop()
	s.work.Wait()
	return nil
}

// ServeHTTP answers a request. Paths are relative to the base path: a page, or a call below api/v1/.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// request is a request whose path and query have been read.
type request struct {
	*http.Request

	query query
}

// routes registers every call of the table.
func (s *Server) routes() *http.ServeMux {
	mux := http.NewServeMux()
	methods := map[string][]string{}
	var order []string
	for _, rt := range routesTable() {
		if methods[rt.path] == nil {
			order = append(order, rt.path)
		}
		methods[rt.path] = append(methods[rt.path], rt.method)
		keys := rt.keys()
		mux.HandleFunc(rt.method+" /"+prefix+rt.path, func(w http.ResponseWriter, r *http.Request) {
			q, err := parseQuery(r.URL.RawQuery, keys)
			if err == nil {
				err = rt.do(s, w, &request{r, q})
			}
			s.fail(w, r, err)
		})
	}
	for _, path := range order {
		allowed := methods[path]
		mux.HandleFunc("/"+prefix+path,
			func(w http.ResponseWriter, r *http.Request) { s.fail(w, r, otherMethod(w, r, allowed)) })
	}
	mux.HandleFunc("/api/", func(w http.ResponseWriter, r *http.Request) {
		s.fail(w, r, missing("%.200q is no call of this server", r.URL.Path))
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			s.fail(w, r, otherMethod(w, r, []string{http.MethodGet}))
			return
		}
		s.fail(w, r, s.pages.serve(w, r))
	})
	return mux
}

// otherMethod is the problem of a call that exists, with other methods.
func otherMethod(w http.ResponseWriter, r *http.Request, allowed []string) error {
	var all []string
	for _, m := range allowed {
		all = append(all, m)
		if m == http.MethodGet {
			all = append(all, http.MethodHead)
		}
	}
	w.Header().Set("Allow", strings.Join(all, ", "))
	return &guard.Problem{
		Status: http.StatusMethodNotAllowed, Code: "method", Title: "This call has other methods",
		Detail: r.Method + " is not one of " + strings.Join(all, ", ") + ".", Remedy: "docs/API.md lists the calls.",
	}
}

// fail answers with a problem, if there is one. What no visitor may read goes to the log.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	if err == nil {
		return
	}
	if guard.Fail(w, r, problem(err)) {
		s.o.Log.Error("a request failed", "method", r.Method, "path", r.URL.Path, "error", err)
	}
}
