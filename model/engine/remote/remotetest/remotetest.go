// Package remotetest is a server of the Open Inference Protocol, version 2, for tests: gRPC and HTTP, binary and JSON,
// with or without encryption. It runs models on any engine, or passes calls on to another endpoint, and breaks what it
// is told to break ([Faults]).
package remotetest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"

	"nero/data/tensor"
	"nero/model/engine"
	"nero/model/engine/remote"
	"nero/model/onnx"
)

// Backend is what a server serves.
type Backend interface {
	// Describe returns the inputs and outputs of a model and the name of what runs it. The error is shown to the
	// client.
	Describe(ctx context.Context, model string) (sig onnx.Signature, platform string, err error)
	// Infer runs a model.
	Infer(ctx context.Context, model string, in []tensor.Named) ([]tensor.Named, error)
}

// ErrNoModel is returned by a [Backend] that does not have the model.
var ErrNoModel = errors.New("there is no such model")

// Server serves a backend over gRPC and HTTP, each at a port of its own on 127.0.0.1.
type Server struct {
	backend Backend
	o       Options
	faults  atomic.Pointer[Faults]
	// calls that Faults.Busy still turns away
	left  atomic.Int64
	calls atomic.Int64

	mu         sync.Mutex
	grpcAddr   string
	httpAddr   string
	grpcServer *grpc.Server
	httpServer *http.Server
	lines      []*listener
}

// Options of a server.
type Options struct {
	// TLS encrypts both ports if it is set.
	Certificate *Certificate
	// Typed answers gRPC with typed contents instead of raw ones, where the type has them.
	Typed bool
	// NoBinary refuses binary tensors over HTTP, as servers do that know JSON alone.
	NoBinary bool
	// Token that every call must bring as "Authorization: Bearer TOKEN"; "" for none.
	Token string
	// Version that is told in metadata and answers; default "1".
	Version string
}

// Start starts a server. Close it after use.
func Start(b Backend, o Options) (*Server, error) {
	if o.Version == "" {
		o.Version = "1"
	}
	s := &Server{backend: b, o: o, grpcAddr: "127.0.0.1:0", httpAddr: "127.0.0.1:0"}
	s.faults.Store(&Faults{})
	if err := s.Restart(); err != nil {
		return nil, err
	}
	return s, nil
}

// Restart listens again, at the ports where the server was before [Server.Kill].
func (s *Server) Restart() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var lines []*listener
	for _, addr := range []*string{&s.grpcAddr, &s.httpAddr} {
		l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", *addr)
		if err != nil {
			return errors.Join(err, closeAll(lines))
		}
		*addr = l.Addr().String()
		lines = append(lines, &listener{Listener: l, open: map[*line]bool{}})
	}
	s.lines = lines
	s.startGRPC(lines[0])
	s.startHTTP(lines[1])
	return nil
}

// Kill breaks all connections at once and stops listening, as the end of the process would.
func (s *Server) Kill() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := closeAll(s.lines)
	s.lines = nil
	if s.grpcServer != nil {
		s.grpcServer.Stop()
		_ = s.httpServer.Close() // its listener is closed already
		s.grpcServer, s.httpServer = nil, nil
	}
	return err
}

// Close ends the server.
func (s *Server) Close() error { return s.Kill() }

// URL is the endpoint of a model: scheme is "grpc" or "http", to which an s is added if the server encrypts.
func (s *Server) URL(scheme, model string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	addr := s.httpAddr
	if scheme == "grpc" {
		addr = s.grpcAddr
	}
	if s.o.Certificate != nil {
		scheme += "s"
	}
	return scheme + "://" + addr + "/" + model
}

// Calls is the number of inferences that were asked for so far, those that were turned away included.
func (s *Server) Calls() int { return int(s.calls.Load()) }

// Models is a backend that runs models on an engine.
type Models struct {
	e  engine.Engine
	mu sync.RWMutex
	by map[string]*held
}

type held struct {
	sig     onnx.Signature
	session engine.Session
	// taken where the engine runs one call at a time
	turn   sync.Mutex
	shared bool
}

// NewModels makes an empty backend.
func NewModels(e engine.Engine) *Models { return &Models{e: e, by: map[string]*held{}} }

// Load opens a model under a name.
func (b *Models) Load(ctx context.Context, name string, model []byte, o engine.Options) error {
	m, err := onnx.Load(model)
	if err != nil {
		return err
	}
	s, err := b.e.Open(ctx, model, o)
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.by[name] = &held{sig: m.Signature(), session: s, shared: b.e.Concurrent()}
	return nil
}

// Unload closes a model.
func (b *Models) Unload(name string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	h := b.by[name]
	delete(b.by, name)
	if h == nil {
		return ErrNoModel
	}
	return h.session.Close()
}

// Close closes all models.
func (b *Models) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	var errs []error
	for _, h := range b.by {
		errs = append(errs, h.session.Close())
	}
	clear(b.by)
	return errors.Join(errs...)
}

func (b *Models) get(name string) (*held, error) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	if h := b.by[name]; h != nil {
		return h, nil
	}
	return nil, fmt.Errorf("%w: %s", ErrNoModel, name)
}

// Describe reads the signature of the model's file.
func (b *Models) Describe(_ context.Context, model string) (onnx.Signature, string, error) {
	h, err := b.get(model)
	if err != nil {
		return onnx.Signature{}, "", err
	}
	return h.sig, "nero_test_" + b.e.Info().Name, nil
}

// Infer runs the model.
func (b *Models) Infer(ctx context.Context, model string, in []tensor.Named) ([]tensor.Named, error) {
	h, err := b.get(model)
	if err != nil {
		return nil, err
	}
	if !h.shared {
		h.turn.Lock()
		defer h.turn.Unlock()
	}
	return h.session.Run(ctx, in)
}

// Behind is a backend that passes calls on to another endpoint, whose model has one name there and any here: with it a
// [Server] is a proxy that can break things before a real server.
type Behind struct{ Model *remote.Model }

// Describe is the metadata of the endpoint.
func (b Behind) Describe(context.Context, string) (onnx.Signature, string, error) {
	return b.Model.Signature(), b.Model.Platform(), nil
}

// Infer calls the endpoint.
func (b Behind) Infer(ctx context.Context, _ string, in []tensor.Named) ([]tensor.Named, error) {
	return b.Model.Run(ctx, in)
}

// Engine opens every model on a server and then speaks to it as a client: a whole engine to hold against
// [nero/model/engine/enginetest], or to compare with the engine that the server runs.
type Engine struct {
	Models *Models
	Server *Server
	// "grpc" or "http"
	Scheme string
	// without URL
	Config remote.Config

	names atomic.Int64
}

// Info names the protocol.
func (e *Engine) Info() engine.Info {
	return engine.Info{Name: "remote", Version: "OIP v2, " + e.Scheme, Reason: "test"}
}

// Concurrent is true: calls share the connection.
func (e *Engine) Concurrent() bool { return true }

// Open loads the model on the server and connects to it.
func (e *Engine) Open(ctx context.Context, model []byte, o engine.Options) (engine.Session, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	name := fmt.Sprintf("model/%d é?", e.names.Add(1)) // names are escaped in URLs
	if err := e.Models.Load(ctx, name, model, o); err != nil {
		return nil, err
	}
	c := e.Config
	c.URL = e.Server.URL(e.Scheme, escape(name))
	m, err := remote.Connect(ctx, c)
	if err != nil {
		return nil, errors.Join(err, e.Models.Unload(name))
	}
	return &session{m, e, name, new(sync.Once)}, nil
}

type session struct {
	*remote.Model
	e    *Engine
	name string
	once *sync.Once
}

// Close ends the connection and takes the model off the server.
func (s *session) Close() (err error) {
	s.once.Do(func() { err = errors.Join(s.Model.Close(), s.e.Models.Unload(s.name)) })
	return err
}

// Faults are what a server does wrong. They may be changed while it runs, with [Server.Break].
type Faults struct {
	// before every answer
	Delay time.Duration
	// Busy inferences are turned away first, as unavailable (503), with Retry-After as RetryAfter says.
	Busy int
	// seconds; "" for no such header
	RetryAfter string
	// turn away with 429 and not 503
	TooMany bool
	// Cut breaks the connection in the middle of the answer, so many times.
	Cut int
	// Answer changes what the model answered.
	Answer func([]tensor.Named) []tensor.Named
	// Half drops the last bytes of the last tensor and leaves its shape.
	Half bool
	// Garbage answers with bytes that are no message.
	Garbage bool
	// Version is told in answers instead of the server's.
	Version string
}

// Break sets what the server does wrong from now on; the zero Faults mend it.
func (s *Server) Break(f Faults) {
	s.faults.Store(&f)
	s.left.Store(int64(f.Busy))
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.lines {
		l.cuts.Store(int64(f.Cut))
	}
}

// turnAway takes one of the calls that Faults.Busy turns away.
func (s *Server) turnAway() bool {
	s.calls.Add(1)
	for {
		n := s.left.Load()
		if n <= 0 {
			return false
		}
		if s.left.CompareAndSwap(n, n-1) {
			return true
		}
	}
}

// infer runs the backend and breaks the answer.
func (s *Server) infer(ctx context.Context, model string, in []tensor.Named) ([]tensor.Named, error) {
	f := s.faults.Load()
	if f.Delay > 0 {
		select {
		case <-time.After(f.Delay):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	out, err := s.backend.Infer(ctx, model, in)
	if err != nil {
		return nil, err
	}
	if f.Answer != nil {
		out = f.Answer(out)
	}
	if n := len(out); f.Half && n > 0 && len(out[n-1].Raw) > 0 {
		out[n-1].Raw = out[n-1].Raw[:len(out[n-1].Raw)/2]
	}
	return out, nil
}

func (s *Server) version() string {
	if v := s.faults.Load().Version; v != "" {
		return v
	}
	return s.o.Version
}

// listener keeps its connections, so that they can be broken.
type listener struct {
	net.Listener
	// connections that are still to be cut
	cuts atomic.Int64
	mu   sync.Mutex
	open map[*line]bool
}

// Accept waits for a connection.
func (l *listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	k := &line{Conn: c, l: l}
	k.budget.Store(-1)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open[k] = true
	return k, nil
}

// cut lets n more bytes through to each client and then breaks its connection, if any cut is due.
func (l *listener) cut(n int) {
	for {
		left := l.cuts.Load()
		if left <= 0 {
			return
		}
		if l.cuts.CompareAndSwap(left, left-1) {
			break
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for k := range l.open {
		k.budget.Store(int64(n))
	}
}

func closeAll(ls []*listener) error {
	var errs []error
	for _, l := range ls {
		errs = append(errs, l.Close())
		l.mu.Lock()
		for k := range l.open {
			_ = k.Conn.Close() // on the way out
		}
		clear(l.open)
		l.mu.Unlock()
	}
	return errors.Join(errs...)
}

// line is a connection that breaks when its budget of bytes to write is used up; -1 never.
type line struct {
	net.Conn
	l      *listener
	budget atomic.Int64
}

// Write passes on what the budget admits.
func (k *line) Write(b []byte) (int, error) {
	left := k.budget.Load()
	if left < 0 {
		return k.Conn.Write(b)
	}
	if int64(len(b)) < left {
		k.budget.Add(-int64(len(b)))
		return k.Conn.Write(b)
	}
	n, _ := k.Conn.Write(b[:left]) // it is broken in any case
	if t, ok := k.Conn.(*net.TCPConn); ok {
		_ = t.SetLinger(0)
	}
	_ = k.Close()
	return n, net.ErrClosed
}

// Close forgets the connection.
func (k *line) Close() error {
	k.l.mu.Lock()
	delete(k.l.open, k)
	k.l.mu.Unlock()
	return k.Conn.Close()
}
