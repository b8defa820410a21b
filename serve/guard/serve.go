package guard

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// Stream says that the answer to a request is a stream of events, which stays open. The request gives back its place
// among the requests and takes one among the streams; if there is none, and none of a stream that has been open for
// 10 s, the error is a [Problem] with status 503. The
// context ends when the client goes away and when the server ends, whereupon the handler has to return. The headers of
// an event stream are set. Outside the guard it is the context of the request.
func Stream(w http.ResponseWriter, r *http.Request) (context.Context, error) {
	ctx := r.Context()
	c := callOf(ctx)
	switch {
	case c == nil:
	case c.stream != nil:
		return c.stream, nil
	default:
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		unhook := context.AfterFunc(c.s.stopping, cancel)
		c.end = func() { unhook(); cancel() }
		if !c.s.streams.enter(c, c.s.now()) {
			c.end()
			c.end = nil
			return nil, busy("open streams of events", 5*time.Second)
		}
		c.stream = ctx
		c.leave()
	}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // else some proxies keep events until there are many
	return ctx, nil
}

// Serve answers requests with the handler, behind the guard, until the context ends. Then it takes no more, ends the
// streams of events, waits for the requests at work, at most for Limits.Shutdown, and ends their contexts. It returns
// nil after such an end, and an error if it could not go on. It can be called once.
func (s *Server) Serve(ctx context.Context, h http.Handler) error {
	// Requests outlive ctx for a while, so that they can be answered.
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer s.stop()
	srv := &http.Server{
		Handler:                      s.Handler(h),
		TLSConfig:                    s.tls,
		ReadHeaderTimeout:            s.limits.Header,
		IdleTimeout:                  s.limits.Idle,
		MaxHeaderBytes:               s.limits.HeaderBytes,
		DisableGeneralOptionsHandler: true,
		ErrorLog:                     slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
		BaseContext:                  func(net.Listener) context.Context { return work },
	}
	ended := make(chan error, 1)
	go func() {
		if s.tls != nil {
			ended <- srv.ServeTLS(s.listener, "", "")
		} else {
			ended <- srv.Serve(s.listener)
		}
	}()
	select {
	case err := <-ended:
		return fmt.Errorf("guard: serving on %s: %w", s.listener.Addr(), errors.Join(err, srv.Close()))
	case <-ctx.Done():
	}
	s.stop()
	wait, done := context.WithTimeout(work, s.limits.Shutdown)
	defer done()
	err := srv.Shutdown(wait)
	if err != nil {
		s.log.Warn("ended with requests still at work", "waited", s.limits.Shutdown, "reason", err)
		err = srv.Close()
	}
	if e := <-ended; !errors.Is(e, http.ErrServerClosed) {
		err = errors.Join(err, e)
	}
	if err != nil {
		return fmt.Errorf("guard: ending: %w", err)
	}
	return nil
}
