package remotetest

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"nero/data/tensor"
	"nero/model/engine/remote"
	"nero/model/engine/remote/oippb"
	"nero/model/onnx"
)

// limit is the longest message that the server takes, in bytes.
const limit = 512 << 20

func (s *Server) startGRPC(l *listener) {
	o := []grpc.ServerOption{grpc.MaxRecvMsgSize(limit), grpc.MaxSendMsgSize(limit)}
	if c := s.o.Certificate; c != nil {
		o = append(o, grpc.Creds(credentials.NewServerTLSFromCert(&c.TLS)))
	}
	s.grpcServer = grpc.NewServer(o...)
	s.grpcServer.RegisterService(&grpc.ServiceDesc{
		ServiceName: oippb.Service, HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{
			method(s, "ServerReady", func(context.Context, *oippb.ServerReadyRequest) (*oippb.ServerReadyResponse,
				error,
			) {
				return &oippb.ServerReadyResponse{Ready: true}, nil
			}),
			method(s, "ModelReady", s.modelReady),
			method(s, "ModelMetadata", s.modelMetadata),
			method(s, "ModelInfer", func(ctx context.Context, r *oippb.ModelInferRequest) (*oippb.ModelInferResponse,
				error,
			) {
				return s.modelInfer(ctx, l, r)
			}),
		},
	}, s)
	go func(g *grpc.Server) { _ = g.Serve(l) }(s.grpcServer) // it ends when the server is stopped
}

// method makes a call of the service out of a function.
func method[Q, A any, R interface{ *Q }](s *Server, name string,
	f func(context.Context, R) (A, error),
) grpc.MethodDesc {
	return grpc.MethodDesc{MethodName: name, Handler: func(_ any, ctx context.Context, decode func(any) error,
		_ grpc.UnaryServerInterceptor,
	) (any, error) {
		q := R(new(Q))
		if err := decode(q); err != nil {
			return nil, err
		}
		if t := s.o.Token; t != "" {
			md, _ := metadata.FromIncomingContext(ctx)
			if v := md.Get("authorization"); len(v) != 1 || v[0] != "Bearer "+t {
				return nil, status.Errorf(codes.Unauthenticated, "the token %q is not right", v)
			}
		}
		return f(ctx, q)
	}}
}

// code is the status that goes with an error of the backend.
func code(err error) error {
	switch {
	case errors.Is(err, ErrNoModel):
		return status.Error(codes.NotFound, err.Error())
	case errors.Is(err, context.Canceled):
		return status.Error(codes.Canceled, err.Error())
	case errors.Is(err, context.DeadlineExceeded):
		return status.Error(codes.DeadlineExceeded, err.Error())
	default:
		return status.Error(codes.InvalidArgument, err.Error())
	}
}

func (s *Server) modelReady(ctx context.Context, r *oippb.ModelReadyRequest) (*oippb.ModelReadyResponse, error) {
	if _, _, err := s.backend.Describe(ctx, r.GetName()); err != nil {
		return nil, code(err)
	}
	return &oippb.ModelReadyResponse{Ready: true}, nil
}

func (s *Server) modelMetadata(ctx context.Context, r *oippb.ModelMetadataRequest) (*oippb.ModelMetadataResponse,
	error,
) {
	sig, platform, err := s.backend.Describe(ctx, r.GetName())
	if err != nil {
		return nil, code(err)
	}
	ports := func(ps []onnx.Port) []*oippb.ModelMetadataResponse_TensorMetadata {
		var ts []*oippb.ModelMetadataResponse_TensorMetadata
		for _, p := range ps {
			ts = append(ts, &oippb.ModelMetadataResponse_TensorMetadata{
				Name:     p.Name,
				Datatype: remote.Datatype(p.DType), Shape: dims(p.Sizes()),
			})
		}
		return ts
	}
	return &oippb.ModelMetadataResponse{
		Name: r.GetName(), Versions: []string{s.o.Version}, Platform: platform, Inputs: ports(sig.Inputs),
		Outputs: ports(sig.Outputs),
	}, nil
}

func dims(shape []int) []int64 {
	d := make([]int64, len(shape))
	for i, n := range shape {
		d[i] = int64(n)
	}
	return d
}

func shape(dims []int64) []int {
	s := make([]int, len(dims))
	for i, n := range dims {
		s[i] = int(n)
	}
	return s
}

// dtype is the element type of a name of the protocol.
func dtype(name string) tensor.DType {
	for d := tensor.Float32; d <= tensor.BFloat16; d++ {
		if n := remote.Datatype(d); n != "" && n == name {
			return d
		}
	}
	return tensor.Undefined
}

func (s *Server) modelInfer(ctx context.Context, l *listener, r *oippb.ModelInferRequest) (*oippb.ModelInferResponse,
	error,
) {
	if s.turnAway() {
		return nil, status.Error(codes.Unavailable, "out of breath")
	}
	if len(r.GetRawInputContents()) != len(r.GetInputs()) {
		return nil, status.Error(codes.InvalidArgument, "expected raw contents")
	}
	var in []tensor.Named
	for i, x := range r.GetInputs() {
		in = append(in, tensor.Named{
			Name: x.GetName(),
			Tensor: tensor.Tensor{
				DType: dtype(x.GetDatatype()), Shape: shape(x.GetShape()),
				Raw: r.GetRawInputContents()[i],
			},
		})
	}
	out, err := s.infer(ctx, r.GetModelName(), in)
	if err != nil {
		return nil, code(err)
	}
	a := &oippb.ModelInferResponse{ModelName: r.GetModelName(), ModelVersion: s.version(), Id: r.GetId()}
	size := 0
	for _, t := range out {
		o := &oippb.ModelInferResponse_InferOutputTensor{
			Name: t.Name, Datatype: remote.Datatype(t.DType),
			Shape: dims(t.Shape),
		}
		if s.o.Typed {
			if o.Contents, err = contents(t.Tensor); err != nil {
				return nil, status.Error(codes.Internal, err.Error())
			}
		} else {
			a.RawOutputContents = append(a.RawOutputContents, t.Raw)
		}
		a.Outputs = append(a.Outputs, o)
		size += len(t.Raw)
	}
	if s.faults.Load().Garbage {
		a.Outputs, a.RawOutputContents = nil, [][]byte{{1, 2, 3}}
	}
	l.cut(size / 2)
	return a, nil
}

// contents are the elements of a tensor in the list of its type.
func contents(t tensor.Tensor) (*oippb.InferTensorContents, error) {
	le, c := binary.LittleEndian, &oippb.InferTensorContents{}
	size := t.DType.Size()
	if t.DType == tensor.String {
		words, err := t.Strings()
		for _, w := range words {
			c.BytesContents = append(c.BytesContents, []byte(w))
		}
		return c, err
	}
	for b := t.Raw; len(b) >= size; b = b[size:] {
		switch t.DType { //nolint:exhaustive // the others have no list
		case tensor.Bool:
			c.BoolContents = append(c.BoolContents, b[0] != 0)
		case tensor.Int8:
			c.IntContents = append(c.IntContents, int32(int8(b[0])))
		case tensor.Int16:
			c.IntContents = append(c.IntContents, int32(int16(le.Uint16(b))))
		case tensor.Int32:
			c.IntContents = append(c.IntContents, int32(le.Uint32(b)))
		case tensor.Int64:
			c.Int64Contents = append(c.Int64Contents, int64(le.Uint64(b)))
		case tensor.Uint8:
			c.UintContents = append(c.UintContents, uint32(b[0]))
		case tensor.Uint16:
			c.UintContents = append(c.UintContents, uint32(le.Uint16(b)))
		case tensor.Uint32:
			c.UintContents = append(c.UintContents, le.Uint32(b))
		case tensor.Uint64:
			c.Uint64Contents = append(c.Uint64Contents, le.Uint64(b))
		case tensor.Float32:
			c.Fp32Contents = append(c.Fp32Contents, math.Float32frombits(le.Uint32(b)))
		case tensor.Float64:
			c.Fp64Contents = append(c.Fp64Contents, math.Float64frombits(le.Uint64(b)))
		default:
			return nil, fmt.Errorf("%s has no typed contents", t.DType)
		}
	}
	return c, nil
}

// wrap encrypts a listener if the server has a certificate.
func (s *Server) wrap(l net.Listener) net.Listener {
	if c := s.o.Certificate; c != nil {
		return tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{c.TLS}, MinVersion: tls.VersionTLS12})
	}
	return l
}
