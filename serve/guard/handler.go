package guard

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// methods are what a request may want.
var methods = []string{
	http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch,
	http.MethodDelete,
}

// guarded is a handler behind the guard.
type guarded struct {
	s    *Server
	next http.Handler
}

// Handler puts the guard before a handler. The handler sees paths without the base path, and so do its redirects: a
// Location that begins with a slash has the base path put before it. A handler that is behind this server's guard
// already is returned as it is.
func (s *Server) Handler(next http.Handler) http.Handler {
	if g, ok := next.(*guarded); ok && g.s == s {
		return g
	}
	return &guarded{s, next}
}

// call is one request at work.
type call struct {
	s *Server
	w *response
	// nil without one
	body *body
	api  bool
	// it holds a place of s.requests
	placed bool
	// it has a place of s.answers
	sending bool
	stream  context.Context
	// of the stream
	end func()
}

type callKey struct{}

// callOf is the request at work, or nil outside the guard.
func callOf(ctx context.Context) *call {
	c, ok := ctx.Value(callKey{}).(*call)
	if !ok {
		return nil
	}
	return c
}

// take gets a place among the requests at work.
func (c *call) take() bool {
	select {
	case c.s.requests <- struct{}{}:
		c.placed = true
	default:
	}
	return c.placed
}

func (c *call) leave() {
	if c.placed {
		<-c.s.requests
		c.placed = false
	}
}

// send gives the place among the requests back, for the work is done and the client may take its answer slowly.
func (c *call) send() {
	for range 20 { // until the oldest of those who wait has had its moment
		if !c.placed || c.sending {
			return
		}
		if c.s.answers.enter(c, c.s.now()) {
			c.sending = true
			c.leave()
			return
		}
		time.Sleep(moment / 10)
	}
}

// give ends a call whose client takes its answer too slowly.
func (c *call) give() {
	c.w.give()
	if c.end != nil {
		c.end()
	}
}

func (g *guarded) ServeHTTP(raw http.ResponseWriter, r *http.Request) {
	s := g.s
	start := s.now()
	c := &call{s: s}
	c.w = &response{ResponseWriter: raw, c: c, control: http.NewResponseController(raw)}
	r = r.WithContext(context.WithValue(r.Context(), callKey{}, c))
	u := *r.URL
	r.URL = &u
	if r.Body != nil && r.Body != http.NoBody {
		c.body = &body{ReadCloser: r.Body, c: c}
		r.Body = http.MaxBytesReader(raw, c.body, 0) // until we know who asks
	}
	path := u.Path
	defer func() {
		if v := recover(); v != nil {
			c.recovered(r, path, v)
		}
		if c.sending {
			s.answers.leave(c)
		}
		if c.end != nil {
			s.streams.leave(c)
			c.end()
		}
		c.w.hurry() // for what net/http does after the handler
		c.leave()
		s.log.Debug("request", "method", r.Method, "path", path, "status", c.w.status, "bytes", c.w.bytes, "took",
			s.now().Sub(start), "from", r.RemoteAddr)
		if c.w.broken {
			panic(http.ErrAbortHandler)
		}
	}()
	if h := s.judge(c, r); h != nil {
		h.ServeHTTP(c.w, r)
		return
	}
	if c.body != nil {
		limit := s.bodyLimit(r)
		if r.ContentLength > limit {
			c.w.Header().Set("Connection", "close")
			tooLong(limit).ServeHTTP(c.w, r)
			return
		}
		r.Body = http.MaxBytesReader(raw, c.body, limit)
		if !s.bodies.enter(c.body, start) {
			busy("requests that are being sent", time.Second).ServeHTTP(c.w, r)
			return
		}
		r.Body = whole(r.Body)
		s.bodies.leave(c.body)
	}
	if !c.take() {
		busy("requests at work", time.Second).ServeHTTP(c.w, r)
		return
	}
	c.w.inside = true
	g.next.ServeHTTP(c.w, r)
}

func (s *Server) bodyLimit(r *http.Request) int64 {
	if s.bodyBytes != nil {
		if n := s.bodyBytes(r); n > 0 {
			return n
		}
	}
	return s.limits.BodyBytes
}

func busy(what string, retry time.Duration) *Problem {
	return &Problem{
		Status: http.StatusServiceUnavailable, Code: "busy", Title: "The server is busy",
		Detail: "There are as many " + what + " as it allows.", Remedy: "Try again in a moment.", RetryAfter: retry,
	}
}

// judge says what answers a request that may not pass, or nil. It takes the base path off.
func (s *Server) judge(c *call, r *http.Request) http.Handler {
	// What stands below the path of the API is refused in its form, too.
	c.api = strings.HasPrefix("/"+strings.TrimPrefix(r.URL.Path, s.base)+"/", s.api)
	host, ok := parseHost(r.Host)
	s.setHeaders(c.w.Header(), host)
	if !ok || !s.hosts.has(host) {
		return s.misdirected(r.Host, ok)
	}
	if !slices.Contains(methods, r.Method) {
		c.w.Header().Set("Allow", strings.Join(methods, ", "))
		return &Problem{
			Status: http.StatusMethodNotAllowed, Code: "method", Title: "The method is not allowed",
			Detail: "No address of this server has it.",
		}
	}
	if why := oddURL(r.URL); why != "" {
		return &Problem{
			Status: http.StatusBadRequest, Code: "path", Title: "The path is not plain",
			Detail: "It is not served because " + why + ".",
			Remedy: "Follow a link of the interface, or see the list of addresses of the API.",
		}
	}
	if rest, ok := strings.CutPrefix(r.URL.Path, s.base); ok {
		r.URL.Path = "/" + rest
	} else if r.URL.Path+"/" == s.base && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
		r.URL.Path = "/"
		// else what the page refers to would be looked for one level too high
		return redirect(s.here(r, r.URL.RawQuery))
	}
	r.URL.RawPath = ""
	c.api = strings.HasPrefix(r.URL.Path+"/", s.api)

	asked := r
	if c.api { // judged as if it changed something: even a question costs time
		asked = &http.Request{Method: http.MethodPost, URL: r.URL, Host: r.Host, Header: r.Header}
	}
	if s.origins.Check(asked) != nil {
		return &Problem{
			Status: http.StatusForbidden, Code: "cross-origin", Title: "The request comes from another site",
			Detail: "Pages of other origins may link to this server, and not use it.",
			Remedy: "Open the interface itself. If this is its own page behind a proxy, start nero with " +
				"--allowed-host and the origin that the browser shows, such as https://name.",
		}
	}
	return s.enter(r, host, c.api)
}

// misdirected is the answer to a request that is addressed to another host. Its remedy repeats the name only if that is
// one.
func (s *Server) misdirected(host string, ok bool) *Problem {
	p := &Problem{
		Status: http.StatusMisdirectedRequest, Code: "host", Title: "This server does not go by that name",
		Detail: "The request is addressed to a host that is not on the list. This keeps other sites from reaching " +
			"the server under a name of theirs.",
		Remedy: "Open " + s.bare() + " instead.",
	}
	if ok {
		p.Remedy += " If you came through a proxy or a tunnel, start nero with --allowed-host " + host + "."
	}
	return p
}

// recovered is what becomes of a panic.
func (c *call) recovered(r *http.Request, path string, v any) {
	if err, ok := v.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		c.w.broken = true
		return
	}
	c.s.log.Error("a handler panicked", "method", r.Method, "path", path, "panic", c.s.gate.redact(fmt.Sprint(v)),
		"stack", c.s.gate.redact(string(debug.Stack())))
	if c.w.status != 0 {
		c.w.broken = true // half an answer must not look like a whole one
		return
	}
	internal().ServeHTTP(c.w, r)
}
