package remote

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"nero/data/tensor"
	"nero/model/engine/remote/oippb"
)

// viaGRPC speaks gRPC.
type viaGRPC struct {
	at   Endpoint
	c    Config
	conn *grpc.ClientConn
	// nil without encryption
	creds *watched
}

func newGRPC(at Endpoint, c Config) (*viaGRPC, error) {
	g := &viaGRPC{at: at, c: c}
	creds := insecure.NewCredentials()
	if at.encrypted() {
		t, err := c.tls()
		if err != nil {
			return nil, err
		}
		g.creds = &watched{TransportCredentials: credentials.NewTLS(t), last: new(atomic.Pointer[handshake])}
		creds = g.creds
	}
	var err error
	g.conn, err = grpc.NewClient(at.address(),
		grpc.WithTransportCredentials(creds),
		grpc.WithDisableRetry(), // repeating is up to Model.retry
		grpc.WithDefaultCallOptions(grpc.MaxCallSendMsgSize(c.MaxMessage),
			grpc.ForceCodecV2(codec{encoding.GetCodecV2(proto.Name)})),
		// A connection that breaks is tried again as soon as the next call comes; the pauses are those of Model.retry.
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff: backoff.Config{
				BaseDelay: 50 * time.Millisecond, Multiplier: 1.5, Jitter: 0.2,
				MaxDelay: time.Second,
			},
			MinConnectTimeout: 10 * time.Second,
		}))
	if err != nil {
		return nil, failed("%s", c.clip(err.Error()))
	}
	return g, nil
}

func (g *viaGRPC) close() error { return g.conn.Close() }

// call makes a call whose answer can need so much.
func (g *viaGRPC) call(ctx context.Context, method string, in, out any, n need) error {
	var pairs []string
	for name, values := range g.c.Header {
		for _, v := range values {
			pairs = append(pairs, name, v)
		}
	}
	most := n.longest(mostInTyped, g.c.MaxMessage)
	err := g.conn.Invoke(metadata.NewOutgoingContext(ctx, metadata.Pairs(pairs...)), method, in, out,
		grpc.MaxCallRecvMsgSize(most))
	if err == nil {
		return nil
	}
	// gRPC tells by words alone that it was this side that refused; a server that is written in Go says the same of
	// what it was sent, with a limit of its own.
	if s := status.Convert(err); s.Code() == codes.ResourceExhausted && ctx.Err() == nil &&
		strings.HasPrefix(s.Message(), "grpc: received message ") &&
		strings.HasSuffix(strings.TrimSuffix(s.Message(), ")"), fmt.Sprintf(" %d", most)) {
		return n.tooLong(most, g.c.MaxMessage)
	}
	return g.explain(ctx, err)
}

// explain says what a failed call means.
func (g *viaGRPC) explain(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	// On a busy machine the server, whose time is up too, may cut the stream before the context hears of it here.
	if end, ok := ctx.Deadline(); ok {
		again, cancel := context.WithDeadline(context.WithoutCancel(ctx), end) // knows at once
		defer cancel()
		if again.Err() != nil {
			return again.Err()
		}
	}
	s := status.Convert(err)
	text := g.c.line(s.Message())
	// What this side finds wrong with an answer comes as the status of a server too.
	begins := func(with string) bool { return strings.HasPrefix(s.Message(), with) }
	here := s.Code() == codes.Internal || s.Code() == codes.Unknown
	switch {
	case here && (begins("grpc: ") || begins("unexpected EOF") || begins("cardinality violation: ") ||
		begins("transport: malformed grpc-status")), s.Code() == codes.Unknown && s.Message() == "":
		what := strings.TrimPrefix(s.Message(), "grpc: failed to unmarshal the received message: ")
		return failed("the answer is not what the protocol says (%s)", cmp.Or(g.c.line(what), "no status"))
	case begins("stream terminated by RST_STREAM"):
		return busy("the connection was cut in the middle of an answer (%s); look at the server's log", text)
	case begins("unexpected HTTP status code") && s.Code() != codes.Unavailable:
		return failed("no answer that gRPC knows (%s); is this its gRPC port?", text)
	}
	switch s.Code() { //nolint:exhaustive // the others say what they say
	case codes.DeadlineExceeded: // the call carries its deadline, and the server's clock may strike first
		return context.DeadlineExceeded
	case codes.Unavailable:
		if g.creds != nil {
			if h := g.creds.last.Load(); h != nil {
				if bad := certificate(h.err, g.at); bad != nil {
					return bad
				}
			}
		}
		return busy("not available: %s; is the server running, and is this its gRPC port?", text)
	case codes.Unauthenticated, codes.PermissionDenied:
		return failed("refused (%s): %s; set token_env or headers_env to a variable with what the server asks for",
			s.Code(), text)
	case codes.NotFound:
		return failed("the server has no model %s: %s; look at the names that it serves", g.c.quote(g.at.Model), text)
	case codes.Unimplemented:
		return failed("%s: the server does not speak the Open Inference Protocol v2 over gRPC at this port", text)
	case codes.ResourceExhausted:
		return &coded{
			failed("%s; lower batch or concurrency, or raise the limit on the server", text),
			http.StatusTooManyRequests,
		}
	default:
		return failed("the server answers %s: %s", s.Code(), text)
	}
}

func (g *viaGRPC) describe(ctx context.Context) (*description, error) {
	var r oippb.ModelMetadataResponse
	if err := g.call(ctx, oippb.ModelMetadataCall, &oippb.ModelMetadataRequest{Name: g.at.Model, Version: g.c.Version},
		&r, need{}); err != nil {
		return nil, err
	}
	ports := func(ts []*oippb.ModelMetadataResponse_TensorMetadata) []portMeta {
		ps := make([]portMeta, len(ts))
		for i, t := range ts {
			ps[i] = portMeta{t.GetName(), t.GetDatatype(), t.GetShape()}
		}
		return ps
	}
	return &description{
		Name: r.GetName(), Versions: r.GetVersions(), Platform: r.GetPlatform(),
		Inputs: ports(r.GetInputs()), Outputs: ports(r.GetOutputs()),
	}, nil
}

func (g *viaGRPC) infer(ctx context.Context, in []tensor.Named, outputs []string, with parameters, n need) (*answer,
	error,
) {
	req := &oippb.ModelInferRequest{ModelName: g.at.Model, ModelVersion: g.c.Version}
	for name, v := range with {
		p, err := parameterOf(v)
		if err != nil {
			return nil, failed("the parameter %s: %v", quote(name), err)
		}
		if req.Parameters == nil {
			req.Parameters = map[string]*oippb.InferParameter{}
		}
		req.Parameters[name] = p
	}
	size := 0
	for _, t := range in {
		shape := make([]int64, len(t.Shape))
		for i, n := range t.Shape {
			shape[i] = int64(n)
		}
		req.Inputs = append(req.Inputs,
			&oippb.ModelInferRequest_InferInputTensor{Name: t.Name, Datatype: Datatype(t.DType), Shape: shape})
		req.RawInputContents = append(req.RawInputContents, t.Raw)
		size += len(t.Raw)
	}
	if size > g.c.MaxMessage {
		return nil, tooLong(size, g.c.MaxMessage)
	}
	for _, name := range outputs {
		req.Outputs = append(req.Outputs, &oippb.ModelInferRequest_InferRequestedOutputTensor{Name: name})
	}
	var r oippb.ModelInferResponse
	if err := g.call(ctx, oippb.ModelInferCall, req, &r, n); err != nil {
		return nil, err
	}
	return readGRPC(&r, outputs, g.c.MaxMessage)
}

// parameterOf is a parameter as the protocol has it.
func parameterOf(v any) (*oippb.InferParameter, error) {
	switch x := v.(type) {
	case string:
		return &oippb.InferParameter{ParameterChoice: &oippb.InferParameter_StringParam{StringParam: x}}, nil
	case bool:
		return &oippb.InferParameter{ParameterChoice: &oippb.InferParameter_BoolParam{BoolParam: x}}, nil
	case int:
		return parameterOf(int64(x))
	case int64:
		return &oippb.InferParameter{ParameterChoice: &oippb.InferParameter_Int64Param{Int64Param: x}}, nil
	case uint64:
		if x > math.MaxInt64 {
			return nil, fmt.Errorf("%d is larger than %d, the largest that gRPC carries", x, int64(math.MaxInt64))
		}
		return parameterOf(int64(x))
	}
	return nil, fmt.Errorf("%v is no text, no whole number, and neither true nor false", v)
}

// readGRPC takes an answer apart; limit bounds the bytes of a tensor.
func readGRPC(r *oippb.ModelInferResponse, outputs []string, limit int) (*answer, error) {
	raws := r.GetRawOutputContents()
	if len(raws) > 0 && len(raws) != len(r.GetOutputs()) {
		return nil, failed("the answer has %d outputs and the raw contents of %d: half an answer", len(r.GetOutputs()),
			len(raws))
	}
	a := &answer{version: r.GetModelVersion()}
	for i, o := range r.GetOutputs() {
		if wordless(o.GetDatatype()) && !asked(outputs, o.GetName()) {
			continue
		}
		d, shape, n, err := shaped(o.GetName(), o.GetDatatype(), o.GetShape(), limit)
		if err != nil {
			return nil, err
		}
		var t tensor.Tensor
		if len(raws) > 0 {
			t, err = raw(d, shape, n, raws[i])
		} else {
			t, err = typed(d, shape, n, o.GetContents())
		}
		if err != nil {
			return nil, failed("the output %s: %v", quote(o.GetName()), err)
		}
		a.out = append(a.out, tensor.Named{Name: o.GetName(), Tensor: t})
	}
	return a, nil
}

// watched remembers why encryption could not be set up, which gRPC tells in words only.
type watched struct {
	credentials.TransportCredentials
	last *atomic.Pointer[handshake]
}

type handshake struct{ err error }

// ClientHandshake is that of the credentials.
func (w *watched) ClientHandshake(ctx context.Context, authority string, c net.Conn) (net.Conn, credentials.AuthInfo,
	error,
) {
	conn, info, err := w.TransportCredentials.ClientHandshake(ctx, authority, c)
	if err != nil {
		w.last.Store(&handshake{err})
	} else {
		w.last.Store(nil)
	}
	return conn, info, err
}

// Clone shares what is remembered.
func (w *watched) Clone() credentials.TransportCredentials {
	return &watched{w.TransportCredentials.Clone(), w.last}
}
