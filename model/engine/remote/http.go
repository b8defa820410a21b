package remote

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"nero/data/tensor"
)

// headerLength says where the JSON of a message ends and its binary tensors begin.
const headerLength = "Inference-Header-Content-Length"

// viaHTTP speaks HTTP.
type viaHTTP struct {
	at     Endpoint
	c      Config
	client *http.Client
	// URL of the model
	base string
	// asJSON is set once the server is known to take no binary tensors; known, once it is known to take them.
	asJSON, known atomic.Bool
}

func newHTTP(at Endpoint, c Config) (*viaHTTP, error) {
	t := &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
		MaxIdleConnsPerHost: c.Concurrency,
		IdleConnTimeout:     90 * time.Second,
		DisableCompression:  true, // numbers hardly shrink, and the time shows
		ForceAttemptHTTP2:   true,
		TLSHandshakeTimeout: 10 * time.Second,
	}
	if at.encrypted() {
		var err error
		if t.TLSClientConfig, err = c.tls(); err != nil {
			return nil, err
		}
	}
	h := &viaHTTP{at: at, c: c, client: &http.Client{
		Transport: t,
		// A redirection would take tokens to somebody else, and turn a POST into a GET.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, base: at.Scheme + "://" + at.address() + at.Prefix + "/v2/models/" + url.PathEscape(at.Model)}
	if c.Version != "" {
		h.base += "/versions/" + url.PathEscape(c.Version)
	}
	h.asJSON.Store(c.JSON)
	return h, nil
}

func (h *viaHTTP) close() error {
	h.client.CloseIdleConnections()
	return nil
}

func (h *viaHTTP) notes() []string {
	if h.asJSON.Load() && !h.c.JSON {
		return []string{"the server takes no binary tensors over HTTP, so numbers travel as JSON, which is slow and " +
			"has no NaN; gRPC is faster if the server speaks it"}
	}
	return nil
}

// reply is a whole answer.
type reply struct {
	code int
	// the code in words
	status string
	header http.Header
	body   []byte
}

// exchange sends a request and reads the whole answer, which can need so much.
func (h *viaHTTP) exchange(ctx context.Context, method, to string, header http.Header, need need,
	body ...[]byte,
) (*reply, error) {
	length := 0
	for _, b := range body {
		length += len(b)
	}
	if length > h.c.MaxMessage {
		return nil, tooLong(length, h.c.MaxMessage)
	}
	req, err := http.NewRequestWithContext(ctx, method, to, http.NoBody)
	if err != nil {
		return nil, failed("%s", h.c.clip(err.Error()))
	}
	if length > 0 {
		// net/http itself sends again what a server has refused to look at, if it can have the body once more.
		req.GetBody = func() (io.ReadCloser, error) {
			readers := make([]io.Reader, len(body))
			for i, b := range body {
				readers[i] = bytes.NewReader(b)
			}
			return io.NopCloser(io.MultiReader(readers...)), nil
		}
		req.ContentLength = int64(length)
		if req.Body, err = req.GetBody(); err != nil {
			return nil, err
		}
	}
	for _, hs := range []http.Header{header, h.c.Header} {
		for name, values := range hs {
			req.Header[http.CanonicalHeaderKey(name)] = values
		}
	}
	resp, err := h.client.Do(req)
	if err != nil {
		return nil, h.explain(ctx, err)
	}
	defer func() { _ = resp.Body.Close() }() // only read
	element := mostInJSON
	if resp.Header.Get(headerLength) != "" {
		element = 0 // the numbers come as they lie in memory
	}
	most := need.longest(element, h.c.MaxMessage)
	if resp.StatusCode != http.StatusOK {
		return h.refused(ctx, resp, most)
	}
	if resp.ContentLength > int64(most) {
		return nil, need.tooLong(most, h.c.MaxMessage)
	}
	b, whole, err := readAll(resp.Body, resp.ContentLength, most)
	if err != nil {
		return nil, h.explain(ctx, err)
	}
	if !whole {
		return nil, need.tooLong(most, h.c.MaxMessage)
	}
	return &reply{resp.StatusCode, resp.Status, resp.Header, b}, nil
}

// refused is the answer of a server that does not do what it was asked, of which only the beginning is of use.
func (h *viaHTTP) refused(ctx context.Context, resp *http.Response, most int) (*reply, error) {
	b, err := io.ReadAll(io.LimitReader(resp.Body, int64(min(most, mostRefusal))))
	if err != nil {
		return nil, h.explain(ctx, err)
	}
	return &reply{resp.StatusCode, resp.Status, resp.Header, b}, nil
}

// mostRefusal is how much is read of what a server says when it refuses.
const mostRefusal = 1 << 20

func tooLong(n, limit int) error {
	return failed("a message of %d bytes is longer than the %d that are allowed; lower batch", n, limit)
}

// explain says what a failed exchange means.
func (h *viaHTTP) explain(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if bad := certificate(err, h.at); bad != nil {
		return bad
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err // without the URL, which the endpoint's name says
	}
	text := h.c.clip(err.Error())
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		return failed("there is no host %s; look at its spelling and at the network", h.c.quote(h.at.Host))
	case strings.Contains(text, "server gave HTTP response to HTTPS client"):
		return failed("it does not encrypt; if that is meant, use http://")
	case errors.Is(err, io.ErrUnexpectedEOF), strings.Contains(text, "malformed MIME header"): // half a header
		return busy("the connection was cut in the middle of an answer; look at the server's log")
	case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return busy("the connection was cut (%s); is this the server's HTTP port?", text)
	case ended(err.Error()):
		return busy("the server ended the connection (%s); look at the server's log", text)
	case errors.Is(err, syscall.ECONNREFUSED):
		return busy("not available: %s; is the server running, and is this its HTTP port?", text)
	}
	var op *net.OpError
	var record tls.RecordHeaderError
	if errors.As(err, &op) || errors.As(err, &record) {
		return busy("not available: %s", text)
	}
	return failed("no answer that HTTP knows (%s); is this its HTTP port?", text)
}

// ended tells whether the text of an error means that a connection, or one request on it, was given up: by a server
// that restarts, sheds load or has waited long enough, or by a handler that died. net/http exports none of these
// errors.
func ended(text string) bool {
	text = strings.TrimPrefix(text, "net/http: HTTP/1.x transport connection broken: ")
	for _, begin := range []string{
		"http: server closed idle connection", "http: CloseIdleConnections called",
		"http: persistConn.readLoop exiting",
		"http2: server sent GOAWAY", "http2: Transport received", "http2: client conn",
	} {
		if strings.HasPrefix(text, begin) {
			return true
		}
	}
	if about, ok := strings.CutPrefix(text, "stream error: "); ok {
		for _, code := range []string{"NO_ERROR", "INTERNAL_ERROR", "REFUSED_STREAM", "CANCEL", "ENHANCE_YOUR_CALM"} {
			if strings.Contains(about, "; "+code) {
				return true
			}
		}
	}
	return false
}

// status turns an answer that is not 200 into an error.
func (h *viaHTTP) status(r *reply) error {
	said := h.c.line(start(r.body))
	var e struct {
		Error  string          `json:"error"`
		Detail json.RawMessage `json:"detail"`
	}
	if json.Unmarshal(r.body, &e) == nil {
		if e.Error != "" {
			said = h.c.clip(e.Error)
		} else if e.Detail != nil {
			said = h.c.clip(string(e.Detail))
		}
	}
	if said == "" {
		said = "without a word"
	} else {
		said = h.c.quote(said)
	}
	code := r.code
	switch after, told := retryAfter(r.header.Get("Retry-After")); {
	case code == http.StatusServiceUnavailable, code == http.StatusBadGateway, code == http.StatusGatewayTimeout,
		code == http.StatusTooManyRequests && told:
		return &fault{heals: true, after: after, text: fmt.Sprintf("not available: it answers %s: %s", r.status, said)}
	case code == http.StatusTooManyRequests:
		return failed("it answers %s: %s; lower concurrency", r.status, said)
	case code == http.StatusUnauthorized, code == http.StatusForbidden:
		return failed("refused: it answers %s: %s; set token_env or headers_env to a variable with what the server "+
			"asks for", r.status, said)
	case code == http.StatusNotFound:
		return failed("there is no model %s: it answers %s: %s; look at the names that it serves, and whether this "+
			"is its HTTP port", h.c.quote(h.at.Model), r.status, said)
	case code >= 300 && code < 400:
		return failed("it answers %s and points to %s; if that is right, name it as the endpoint", r.status,
			h.c.quote(r.header.Get("Location")))
	case code == http.StatusRequestEntityTooLarge:
		return failed("it answers %s: %s; lower batch, or raise the limit on the server", r.status, said)
	default:
		return failed("it answers %s: %s", r.status, said)
	}
}

// retryAfter reads the header of that name: seconds, or nothing. Dates, which need a clock that both sides share, count
// as 1 s.
func retryAfter(text string) (time.Duration, bool) {
	if text = strings.TrimSpace(text); text == "" {
		return 0, false
	}
	if n, err := strconv.ParseUint(text, 10, 31); err == nil {
		return max(time.Duration(n)*time.Second, time.Millisecond), true
	}
	if _, err := http.ParseTime(text); err == nil {
		return time.Second, true
	}
	return 0, false
}

func (h *viaHTTP) describe(ctx context.Context) (*description, error) {
	r, err := h.exchange(ctx, http.MethodGet, h.base, nil, need{})
	if err != nil {
		return nil, err
	}
	if r.code != http.StatusOK {
		return nil, h.status(r)
	}
	var m struct {
		Name     string        `json:"name"`
		Versions few[string]   `json:"versions"`
		Platform string        `json:"platform"`
		Inputs   few[portMeta] `json:"inputs"`
		Outputs  few[portMeta] `json:"outputs"`
	}
	if err := json.Unmarshal(r.body, &m); err != nil {
		return nil, failed("its metadata is not what the protocol says (%s): %s; is this a server of the Open "+
			"Inference Protocol v2?", h.c.clip(err.Error()), h.c.quote(start(r.body)))
	}
	return &description{Name: m.Name, Versions: m.Versions, Platform: m.Platform, Inputs: m.Inputs, Outputs: m.Outputs},
		nil
}

// infer sends binary tensors unless the server has refused them and then taken the same as JSON. Texts go as JSON,
// which
// whoever reads them understands.
func (h *viaHTTP) infer(ctx context.Context, in []tensor.Named, outputs []string, with parameters, n need) (*answer,
	error,
) {
	words := slices.ContainsFunc(in, func(t tensor.Named) bool { return t.DType == tensor.String })
	if words || h.asJSON.Load() {
		return h.post(ctx, in, outputs, with, n, false)
	}
	a, err := h.post(ctx, in, outputs, with, n, true)
	var refused *refusal
	if err == nil {
		h.known.Store(true)
		return a, nil
	}
	if h.known.Load() || !errors.As(err, &refused) {
		return nil, err
	}
	h.client.CloseIdleConnections() // a server that stumbled may be about to cut its connection
	a, second := h.post(ctx, in, outputs, with, n, false)
	f, _ := errors.AsType[*fault](second)
	switch {
	case second == nil:
	case errors.As(second, &refused), f != nil && f.heals:
		// it is not the form that is refused, and what it says of JSON is easier to read; or it is to be tried again
		return nil, second
	default:
		return nil, fmt.Errorf("%w; so numbers were sent as JSON: %w", err, second)
	}
	h.asJSON.Store(true)
	return a, nil
}

// refusal is an answer that may mean that the server does not understand binary tensors.
type refusal struct{ error }

func (r *refusal) Unwrap() error { return r.error }

func (h *viaHTTP) post(ctx context.Context, in []tensor.Named, outputs []string, with parameters, n need,
	binary bool,
) (*answer, error) {
	head, raws, err := h.c.request(asking{}, in, outputs, with, binary)
	if err != nil {
		return nil, err
	}
	body := append([][]byte{head}, raws...)
	header := http.Header{"Content-Type": {"application/json"}}
	if binary || len(raws) > 0 {
		header = http.Header{"Content-Type": {"application/octet-stream"}, headerLength: {strconv.Itoa(len(head))}}
	}
	got, err := h.exchange(ctx, http.MethodPost, h.base+"/infer", header, n, body...)
	if err != nil {
		return nil, err
	}
	if got.code != http.StatusOK {
		var err error = &coded{h.status(got), got.code}
		switch got.code {
		case http.StatusBadRequest, http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity,
			http.StatusInternalServerError, http.StatusNotImplemented:
			err = &refusal{err}
		}
		return nil, err
	}
	return h.read(got.header.Get(headerLength), got.body, outputs)
}

// answeredInJSON is an output, as an answer describes it.
type answeredInJSON struct {
	Name       string     `json:"name"`
	Datatype   string     `json:"datatype"`
	Shape      few[int64] `json:"shape"`
	Parameters struct {
		BinaryDataSize *int64 `json:"binary_data_size"`
	} `json:"parameters"`
	Data json.RawMessage `json:"data"`
}

// read takes an answer apart: JSON, then the binary tensors in the order of the outputs that have one.
func (h *viaHTTP) read(headLength string, body []byte, outputs []string) (*answer, error) {
	rest := []byte(nil)
	if headLength != "" {
		n, err := strconv.ParseUint(headLength, 10, 62)
		if err != nil || n > uint64(len(body)) {
			return nil, failed("the answer has %d bytes, and its header %s says that the first %s are JSON: half an "+
				"answer", len(body), headerLength, h.c.quote(headLength))
		}
		body, rest = body[:n], body[n:]
	}
	return h.c.answer(body, rest, outputs)
}

func asked(outputs []string, name string) bool { return slices.Contains(outputs, name) }
