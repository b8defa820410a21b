// Package guard opens the port of the interface and stands before its handlers. It knows nothing of runs: it decides
// who may ask, how much and for how long.
//
// [Listen] binds the loopback address unless told otherwise and, on any other address, asks every visitor for a token.
// [Server.Handler] is the gate, in this order:
//
//   - every answer carries the content policy and its kin, and no answer ever allows another origin to read it;
//   - the Host has to be one that this server goes by, else 421: a foreign name that was made to resolve to this
//     machine (DNS rebinding) gets nothing;
//   - the method has to be GET, HEAD, POST, PUT, PATCH or DELETE, else 405;
//   - the path has to be plain: no "." or ".." or empty part, no backslash and no escaped slash, however they are
//     written, else 400; the base path is taken off if a proxy has left it on;
//   - a request from another origin may not change anything, and may not call the API at all, else 403;
//   - the token, where there is one, else 401;
//   - the length of the body, else 413, and the number of requests at work, else 503 with Retry-After.
//
// Headers, bodies and readers that dribble are cut off. A handler that panics answers 500 and leaves a line in the log,
// without the token. Errors are of type [Problem]: application/problem+json, or a plain page for a person with a
// browser.
//
// Inside a frame of another site a browser keeps no cookie unless it says SameSite=None and came over TLS. With a token
// and [Options.AllowFrame] such a frame therefore works over https only; a frame of the same site (a notebook on
// another port of the same host name) and a notebook's own proxy work without.
package guard

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Options says where to listen and whom to let in. The zero value, with Now set, is a server for the person at this
// machine.
type Options struct {
	// Host is the name or address to bind, such as "127.0.0.1", "::1", "0.0.0.0" or "lab7.example.org". The default is
	// the loopback address. Every other address brings a token with it.
	Host string
	// Port is the port to bind, 0 to 65535, where 0 is any free one. It is read only if PortSet; else the port is
	// [PresetPort] or, if that is in use, the next free one.
	Port int
	// PortSet says that Port was chosen by a person, who gets an error rather than another port if it is in use.
	PortSet bool

	// Token is a secret that was chosen outside, at least 32 of the characters A-Z a-z 0-9 - _. The default is 192
	// random bits on every start. A given token is asked for on the loopback address too.
	Token string
	// NeedToken asks for a token on the loopback address too, where other users of the machine can reach the server.
	NeedToken bool

	// AllowedHosts are further names that requests may be addressed to, as a proxy or a tunnel passes them on: "name"
	// (on any port), "name:port", "*.example.org" (every name below it), or an origin "https://name" or
	// "https://name:port", which may send requests from its own pages and whose cookies are kept to TLS. Case does not
	// matter, names may be written in any script, and addresses with colons with or without brackets.
	AllowedHosts []string
	// AllowFrame are the origins whose pages may show this one in a frame: "https://name", "https://*.name:port",
	// "http://name:*", a scheme such as "vscode-webview:", or "*" for all. The server's own origin always may.
	AllowFrame []string
	// BasePath is where a proxy shows this server, such as "/proxy/8888/". The default is "/". Requests are understood
	// whether or not the proxy takes it off; a handler's own paths must not begin with it.
	BasePath string

	// Cert and Key are files with a certificate chain and its key in PEM; both or neither. With them the server speaks
	// TLS.
	Cert, Key string

	// API is the path below which programs talk: there, errors are JSON, the token is not taken from the address, and
	// requests from other origins are refused whatever their method. The default is "/api/".
	API string
	// BodyBytes says how long the body of one request may be, in bytes; 0 or less stands for Limits.BodyBytes. The path
	// of the request is without the base path. The default gives every request the same limit.
	BodyBytes func(r *http.Request) int64
	// Limits bounds what one visitor can take. Zero fields stand for their defaults.
	Limits Limits

	// Rand is where the token comes from. The default is the system's source, which is the only safe one.
	Rand io.Reader
	// Now is the clock. There is no default.
	Now func() time.Time
	// Log takes panics (error), visitors' failures (warn) and one line per request (debug). The default is silence.
	Log *slog.Logger
}

// Limits bounds the time and the room that one visitor can take. Each zero field stands for its default.
type Limits struct {
	// Header is the time from the first byte of a request to the end of its headers. The default is 10 s.
	Header time.Duration
	// Body is the time to send the body, counted from the first time that the handler reads it. The default is 30 s.
	Body time.Duration
	// Write is the time that a reader may take for each 64 KiB of an answer. The default is 30 s. A stream of events is
	// bound by it only while an event is being sent.
	Write time.Duration
	// Idle is the time for which a connection is kept without a request. The default is 2 min.
	Idle time.Duration
	// Shutdown is the time that [Server.Serve] waits for requests at work when it is told to end. The default is 5 s.
	Shutdown time.Duration

	// HeaderBytes is how long the headers of a request may be, to which net/http adds 4 KiB. The default is 64 KiB: a
	// browser sends to each port of a host the cookies of all its ports.
	HeaderBytes int
	// BodyBytes is how long the body of a request may be. The default is 1 MiB.
	BodyBytes int64
	// Requests is how many requests may be at work at once, and how many more may have their bodies, or their answers,
	// on the way. The default is 128.
	Requests int
	// Streams is how many streams of events may be open at once; see [Stream]. A further one ends the oldest, if that
	// has been open for 10 s. The default is 64.
	Streams int
}

func (l Limits) withDefaults() Limits {
	for _, f := range []struct {
		at   *time.Duration
		make time.Duration
	}{
		{&l.Header, 10 * time.Second},
		{&l.Body, 30 * time.Second},
		{&l.Write, 30 * time.Second},
		{&l.Idle, 2 * time.Minute},
		{&l.Shutdown, 5 * time.Second},
	} {
		if *f.at <= 0 {
			*f.at = f.make
		}
	}
	if l.HeaderBytes <= 0 {
		l.HeaderBytes = 64 << 10
	}
	if l.BodyBytes <= 0 {
		l.BodyBytes = 1 << 20
	}
	if l.Requests <= 0 {
		l.Requests = 128
	}
	if l.Streams <= 0 {
		l.Streams = 64
	}
	return l
}

// Server is an open port and the rules of who may use it. It is made by [Listen], and its methods may be called from
// several goroutines.
type Server struct {
	now    func() time.Time
	log    *slog.Logger
	limits Limits

	listener net.Listener
	// nil without TLS
	tls *tls.Config
	// what the printed address says, without port
	host string
	port int

	// not escaped, begins and ends with a slash
	base string
	// base as it stands in an address
	escaped   string
	api       string
	bodyBytes func(r *http.Request) int64
	hosts     hostList
	origins   *http.CrossOriginProtection
	// the content policy of pages
	policy string
	// other origins may frame us
	framed bool
	gate   gate

	requests chan struct{}
	// those who wait for slow clients; none of them holds a place of requests
	bodies, answers, streams *crowd
	// the server's life, which ends the streams
	stopping context.Context
	stop     context.CancelFunc
}

// Listen opens the port and makes the token, so that [Server.URL] can be printed before [Server.Serve] is called. The
// context bounds the search for the address of a host name only. Errors name the option of the command line that mends
// them.
func Listen(ctx context.Context, o Options) (*Server, error) {
	if o.Now == nil {
		return nil, errors.New("guard: Options.Now is missing: pass the clock")
	}
	s := &Server{now: o.Now, log: o.Log, limits: o.Limits.withDefaults(), api: o.API, bodyBytes: o.BodyBytes}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.api == "" {
		s.api = "/api/"
	}
	var err error
	if s.base, err = cleanBase(o.BasePath); err != nil {
		return nil, err
	}
	s.escaped = (&url.URL{Path: s.base}).EscapedPath()
	if s.tls, err = certificate(o.Cert, o.Key); err != nil {
		return nil, err
	}
	if s.policy, err = contentPolicy(o.AllowFrame); err != nil {
		return nil, err
	}
	s.framed = len(o.AllowFrame) > 0
	s.origins = http.NewCrossOriginProtection()
	if err := s.hosts.allow(o.AllowedHosts, s.origins); err != nil {
		return nil, err
	}
	if o.Token != "" {
		if err := checkToken(o.Token); err != nil {
			return nil, err
		}
	}
	if s.listener, err = bind(ctx, o, s.log); err != nil {
		return nil, err
	}
	addr, ok := s.listener.Addr().(*net.TCPAddr)
	if !ok {
		return nil, errors.Join(fmt.Errorf("guard: listening on %s, which is no TCP address", s.listener.Addr()),
			s.listener.Close())
	}
	s.port = addr.Port
	s.host = s.hosts.own(o.Host, addr)
	if o.Token != "" || o.NeedToken || !addr.IP.IsLoopback() {
		if s.gate, err = newGate(o, s.port, s.escaped); err != nil {
			return nil, errors.Join(err, s.listener.Close())
		}
	}
	s.requests = make(chan struct{}, s.limits.Requests)
	s.bodies = &crowd{most: s.limits.Requests, sure: moment}
	s.answers = &crowd{most: s.limits.Requests, sure: moment}
	s.streams = &crowd{most: s.limits.Streams, sure: while}
	s.stopping, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	return s, nil
}

// Close gives the port back without having served. After [Server.Serve] it does nothing.
func (s *Server) Close() error {
	s.stop()
	if err := s.listener.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("guard: giving the port back: %w", err)
	}
	return nil
}

// Addr is the address that the server is bound to.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// Port is the port that the server is bound to.
func (s *Server) Port() int { return s.port }

// NeedsToken says whether visitors are asked for a token.
func (s *Server) NeedsToken() bool { return s.gate.token != "" }

// BasePath is the base path, which begins and ends with a slash.
func (s *Server) BasePath() string { return s.base }

// URL is the address to print and to open in a browser on this machine. It holds the token, if there is one: whoever
// has it may enter.
func (s *Server) URL() string { return s.at(s.host) + s.path() }

// URLs are all addresses that the server knows to lead to it: [Server.URL], then, if it listens on every address of the
// machine, one for each of them, then one for each origin among the allowed hosts. All hold the token, if there is one.
func (s *Server) URLs() []string {
	urls := []string{s.URL()}
	for _, host := range s.hosts.others {
		urls = append(urls, s.at(host)+s.path())
	}
	for _, origin := range s.hosts.origins {
		urls = append(urls, origin+s.path())
	}
	return urls
}

// at is the origin of the server under one of its names.
func (s *Server) at(host string) string {
	scheme := "http"
	if s.tls != nil {
		scheme = "https"
	}
	if s.tls == nil && s.port == 80 || s.tls != nil && s.port == 443 {
		if strings.Contains(host, ":") {
			host = "[" + host + "]"
		}
		return scheme + "://" + host
	}
	return scheme + "://" + net.JoinHostPort(host, strconv.Itoa(s.port))
}

// bare is the address of the server without the token.
func (s *Server) bare() string { return s.at(s.host) + s.escaped }

// path is the base path as it stands in an address, with the token.
func (s *Server) path() string {
	if s.gate.token == "" {
		return s.escaped
	}
	return s.escaped + "?" + tokenKey + "=" + s.gate.token
}

func certificate(cert, key string) (*tls.Config, error) {
	if cert == "" && key == "" {
		return nil, nil
	}
	if cert == "" || key == "" {
		return nil, errors.New("guard: TLS needs both a certificate and its key: give --cert and --key, or neither")
	}
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("guard: certificate %s with key %s: %w: expected two PEM files that belong together",
			cert, key, err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, nil
}
