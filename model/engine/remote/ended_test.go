package remote

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"nero/data/tensor"
)

// What ends a connection may heal; what another protocol says does not. The texts are those of net/http, which exports
// no values.
func TestEndedConnections(t *testing.T) {
	h := &viaHTTP{at: Endpoint{Scheme: "http", Host: "h", Port: 1, Model: "m"}}
	for text, heals := range map[string]bool{
		"http: server closed idle connection":                                                               true,
		"net/http: HTTP/1.x transport connection broken: http: server closed idle connection":               true,
		"http: CloseIdleConnections called":                                                                 true,
		"http2: server sent GOAWAY and closed the connection; LastStreamID=1, ErrCode=NO_ERROR, debug=\"\"": true,
		"http2: Transport received Server's graceful shutdown GOAWAY":                                       true,
		"http2: client connection lost":                                                                     true,
		"http2: client conn not usable":                                                                     true,
		"stream error: stream ID 3; INTERNAL_ERROR; received from peer":                                     true,
		"stream error: stream ID 3; REFUSED_STREAM":                                                         true,
		"stream error: stream ID 3; PROTOCOL_ERROR; malformed":                                              false,
		"net/http: HTTP/1.x transport connection broken: malformed HTTP response \"GOAWAY\"":                false,
		"net/http: HTTP/1.x transport connection broken: malformed HTTP " +
			"status code \"http2: client connection\"": false,
		"http: unsupported something": false,
	} {
		var f *fault
		err := h.explain(t.Context(), &url.Error{Op: "Post", URL: "http://h:1", Err: errors.New(text)})
		if !errors.As(err, &f) || f.heals != heals {
			t.Errorf("%s: %v may heal: %v, want %v", text, err, f.heals, heals)
		}
	}
	for _, inner := range []error{io.EOF, io.ErrUnexpectedEOF} {
		var f *fault
		err := h.explain(t.Context(),
			&url.Error{Err: fmt.Errorf("net/http: HTTP/1.x transport connection broken: %w", inner)})
		if !errors.As(err, &f) || !f.heals {
			t.Errorf("%v does not heal", err)
		}
	}
}

// Frames of HTTP/2 (RFC 9113, section 6).
const (
	frameData     = 0
	frameHeaders  = 1
	frameReset    = 3
	frameSettings = 4
	frameGoAway   = 7
)

// oldServer speaks just enough of HTTP/2 to describe a model and to answer 1.5, except that it does something else to
// the first request with a body.
type oldServer struct {
	first func(w io.Writer, stream uint32) (over bool)
	// requests with a body
	calls int
}

func frameOf(w io.Writer, kind, flags byte, stream uint32, payload []byte) error {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(payload)))[1:]
	b = binary.BigEndian.AppendUint32(append(b, kind, flags), stream)
	_, err := w.Write(append(b, payload...))
	return err
}

func (s *oldServer) serve(c net.Conn) {
	defer func() { _ = c.Close() }() // it has said all
	if _, err := io.ReadFull(c, make([]byte, len("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))); err != nil ||
		frameOf(c, frameSettings, 0, 0, nil) != nil {
		return
	}
	for {
		var head [9]byte
		if _, err := io.ReadFull(c, head[:]); err != nil {
			return
		}
		length := binary.BigEndian.Uint32(append([]byte{0}, head[:3]...))
		kind, ends, stream := head[3], head[4]&1 != 0, binary.BigEndian.Uint32(head[5:])
		if _, err := io.CopyN(io.Discard, c, int64(length)); err != nil {
			return
		}
		body := ""
		switch {
		case kind == frameSettings && !ends:
			if frameOf(c, frameSettings, 1, 0, nil) != nil {
				return
			}
			continue
		case kind == frameHeaders && ends:
			body = `{"name":"m","inputs":[{"name":"x","datatype":"FP32","shape":[1]}],"outputs":[{"name":"y","datatype":"FP32","shape":[1]}]}`
		case kind == frameData && ends:
			if s.calls++; s.calls == 1 {
				if s.first(c, stream) {
					return
				}
				continue
			}
			body = `{"outputs":[{"name":"y","datatype":"FP32","shape":[1],"data":[1.5]}]}`
		default:
			continue
		}
		// 0x88 is ":status: 200" in the static table of HPACK (RFC 7541, appendix A).
		if frameOf(c, frameHeaders, 4, stream, []byte{0x88}) != nil ||
			frameOf(c, frameData, 1, stream, []byte(body)) != nil {
			return
		}
	}
}

// encrypted serves one connection after the other and returns the endpoint and the certificate to trust.
func encrypted(t *testing.T, s *oldServer) (at string, ca []byte) {
	t.Helper()
	lent := httptest.NewUnstartedServer(nil) // for its certificate and its port
	lent.EnableHTTP2 = true
	lent.StartTLS()
	certificate, config := lent.Certificate(), lent.TLS.Clone()
	lent.Close()
	config.NextProtos = []string{"h2"}
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() }) // nothing is lost
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s.serve(tls.Server(c, config))
		}
	}()
	return "https://" + l.Addr().String() + "/m",
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate.Raw})
}

// A server that turns a request away, or goes while it looks at it, is asked again, whole.
func TestAskedAgain(t *testing.T) {
	code := func(n uint32) []byte { return binary.BigEndian.AppendUint32(nil, n) }
	for name, c := range map[string]struct {
		first func(w io.Writer, stream uint32) bool
		waits int
	}{
		// REFUSED_STREAM: net/http itself sends the same again, if it can have the body once more.
		"refused": {
			func(w io.Writer, stream uint32) bool { return frameOf(w, frameReset, 0, stream, code(7)) != nil },
			0,
		},
		// INTERNAL_ERROR: what servers do to a request whose handler died.
		"died": {func(w io.Writer, stream uint32) bool { return frameOf(w, frameReset, 0, stream, code(2)) != nil }, 1},
		"goes": {func(w io.Writer, stream uint32) bool {
			_ = frameOf(w, frameGoAway, 0, 0, append(code(stream), code(2)...)) // the client tells
			return true
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			at, ca := encrypted(t, &oldServer{first: c.first})
			waits := 0
			m, err := Connect(t.Context(), Config{
				URL: at, CA: ca, JSON: true, Timeout: 20 * time.Second,
				Retry: Retry{Wait: func(context.Context, time.Duration) error {
					waits++
					return nil
				}},
			})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = m.Close() }() // all is checked by then
			out, err := m.Run(t.Context(), []tensor.Named{{Name: "x", Tensor: tensor.FromFloat32([]float32{1}, 1)}})
			if err != nil {
				t.Fatal(err)
			}
			if v, err := out[0].Float32s(); err != nil || v[0] != 1.5 || waits != c.waits {
				t.Errorf("%v (%v) after %d waits, want 1.5 after %d", v, err, waits, c.waits)
			}
		})
	}
}
