package remotetest

import (
	"encoding/binary"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path"
	"strconv"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"nero/model/engine/remote/oippb"
)

// Bare is a server of one model for HTTP and gRPC at one port, whose answers are written byte by byte: those that a
// library for servers would not let out of its hands.
type Bare struct {
	// Metadata answers what the model is; nil where Inputs and Outputs are told as they stand.
	Metadata func(w http.ResponseWriter, grpc bool)
	// what is told of the model without Metadata: shapes have -1 where any length will do
	Inputs, Outputs []Port
	// Infer answers a request.
	Infer func(w http.ResponseWriter, r *http.Request, grpc bool)
}

// Port is what a server says of an input or an output.
type Port struct {
	Name     string  `json:"name"`
	Datatype string  `json:"datatype"`
	Shape    []int64 `json:"shape"`
}

// Start starts the server, which its user closes.
func (b *Bare) Start() *httptest.Server {
	s := httptest.NewUnstartedServer(b)
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetHTTP1(true)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	s.Start()
	return s
}

// ServeHTTP answers a request of either protocol.
func (b *Bare) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	grpc := r.ProtoMajor == 2
	if grpc {
		w.Header().Set("Content-Type", "application/grpc")
	}
	asked := r.Method != http.MethodGet
	if grpc {
		asked = path.Base(r.URL.Path) == "ModelInfer"
	}
	switch {
	case asked:
		b.Infer(w, r, grpc)
	case b.Metadata != nil:
		b.Metadata(w, grpc)
	case grpc:
		Frame(w, &oippb.ModelMetadataResponse{Name: "m", Inputs: told(b.Inputs), Outputs: told(b.Outputs)})
		Status(w, codes.OK, "")
	default:
		// the client has gone if it fails
		_ = json.NewEncoder(w).Encode(map[string]any{"name": "m", "inputs": b.Inputs, "outputs": b.Outputs})
	}
}

func told(ports []Port) []*oippb.ModelMetadataResponse_TensorMetadata {
	all := make([]*oippb.ModelMetadataResponse_TensorMetadata, len(ports))
	for i, p := range ports {
		all[i] = &oippb.ModelMetadataResponse_TensorMetadata{Name: p.Name, Datatype: p.Datatype, Shape: p.Shape}
	}
	return all
}

// Frame sends a message of gRPC.
func Frame(w http.ResponseWriter, m proto.Message) {
	b, err := proto.Marshal(m)
	if err != nil {
		panic(err) // a message of this program's own
	}
	Head(w, len(b))
	_, _ = w.Write(b) // the client has gone if it fails
}

// Head sends what stands before a message of gRPC of n bytes.
func Head(w http.ResponseWriter, n int) {
	_, _ = w.Write(binary.BigEndian.AppendUint32([]byte{0}, uint32(n))) // the client has gone if it fails
}

// Status ends an answer of gRPC.
func Status(w http.ResponseWriter, code codes.Code, message string) {
	w.Header().Set(http.TrailerPrefix+"Grpc-Status", strconv.Itoa(int(code)))
	w.Header().Set(http.TrailerPrefix+"Grpc-Message", message)
}

// Endless sends the same bytes until the client has gone.
func Endless(w http.ResponseWriter, pause time.Duration, piece []byte) {
	for {
		if _, err := w.Write(piece); err != nil {
			return
		}
		if pause > 0 {
			_ = http.NewResponseController(w).Flush() // the next Write says whether the client has gone
			time.Sleep(pause)
		}
	}
}
