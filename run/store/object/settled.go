package object

import (
	"bytes"
	"io"
	"net/http"
	"sync"
	"time"
)

// settled sends requests, and hands on no refusal before the body of its request is let go. A storage may refuse an
// object before it has read it. The transport then goes on to read the body and to close it while the client of S3
// already rewinds the same body for its next try: the bytes of the two tries would mix.
type settled struct{ next http.RoundTripper }

const (
	// of what a storage says when it refuses, which is read whole; minio-go reads as much.
	mostRefusal = 5 << 20
	// until a body counts as let go by a transport that closes none, which net/http does not allow.
	patience = 10 * time.Second
)

func (s settled) RoundTrip(q *http.Request) (*http.Response, error) {
	if q.Body == nil || q.Body == http.NoBody {
		return s.next.RoundTrip(q)
	}
	closed := make(chan struct{})
	sent := *q
	sent.Body = &lent{ReadCloser: q.Body, closed: closed}
	a, err := s.next.RoundTrip(&sent)
	switch {
	case err != nil:
	case a.StatusCode < http.StatusMultipleChoices:
		return a, nil
	default: // an answer that has been read to its end lets the transport end the request, too
		var text []byte
		text, err = io.ReadAll(io.LimitReader(a.Body, mostRefusal))
		_ = a.Body.Close() // nothing was written
		a.Body = io.NopCloser(bytes.NewReader(text))
	}
	select {
	case <-closed:
	case <-q.Context().Done():
	case <-time.After(patience):
	}
	if err != nil {
		return nil, err
	}
	return a, nil
}

// lent is the body of a request that says when the transport has closed it.
type lent struct {
	io.ReadCloser
	closed chan struct{}
	once   sync.Once
}

func (l *lent) Close() error {
	err := l.ReadCloser.Close()
	l.once.Do(func() { close(l.closed) })
	return err
}
