//go:build unix

package siege

import (
	"fmt"
	"io"
	"maps"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"nero/internal/slow"
	"nero/model/engine/choose"
	"nero/model/engine/remote/oippb"
	"nero/model/engine/remote/remotetest"
)

// lie answers a call of gRPC that asks for n rows of three scores.
type lie func(w http.ResponseWriter, n int)

// output is how gRPC describes an output.
type output = oippb.ModelInferResponse_InferOutputTensor

// message ends a call with a message.
func message(change func(r *oippb.ModelInferResponse, n int)) lie {
	return func(w http.ResponseWriter, n int) {
		r := &oippb.ModelInferResponse{
			ModelName:         "m",
			Outputs:           []*output{{Name: "y", Datatype: "FP32", Shape: []int64{int64(n), 3}}},
			RawOutputContents: [][]byte{make([]byte, 12*n)},
		}
		change(r, n)
		remotetest.Frame(w, r)
		remotetest.Status(w, codes.OK, "")
	}
}

// calls are what a server of gRPC does in place of answering rightly.
func calls(elsewhere string) map[string]lie {
	done := func(w http.ResponseWriter) { remotetest.Status(w, codes.OK, "") }
	html := func(status int) lie {
		return func(w http.ResponseWriter, _ int) {
			w.Header().Set("Content-Type", "text/html")
			w.Header().Set("Location", elsewhere)
			w.WriteHeader(status)
			_, _ = io.WriteString(w, "<html>It works!</html>") // the client has gone if it fails
		}
	}
	y := func(change func(y *output, n int)) lie {
		return message(func(r *oippb.ModelInferResponse, n int) { change(r.GetOutputs()[0], n) })
	}
	written := func(w http.ResponseWriter, b []byte) { _, _ = w.Write(b) } // the client has gone if it fails
	all := map[string]lie{
		"another shape":    y(func(y *output, n int) { y.Shape = []int64{3, int64(n)} }),
		"a huge shape":     y(func(y *output, n int) { y.Shape = []int64{int64(n), 3, math.MaxInt64} }),
		"a negative shape": y(func(y *output, n int) { y.Shape = []int64{int64(n), -3} }),
		"a thousand axes":  y(func(y *output, _ int) { y.Shape = make([]int64, 1000) }),
		"a million axes":   y(func(y *output, _ int) { y.Shape = make([]int64, 1<<20) }),
		"another type":     y(func(y *output, _ int) { y.Datatype = "INT64" }),
		"no type":          y(func(y *output, _ int) { y.Datatype = "" }),
		"words":            y(func(y *output, _ int) { y.Datatype = "BYTES" }),
		"another name":     y(func(y *output, _ int) { y.Name = "\x1b[31mz\n" }),
		"fewer samples":    y(func(y *output, n int) { y.Shape = []int64{int64(n) + 1, 3} }),
		"half the contents": message(func(r *oippb.ModelInferResponse, n int) {
			r.RawOutputContents[0] = make([]byte, 6*n)
		}),
		"too many contents": message(func(r *oippb.ModelInferResponse, n int) {
			r.RawOutputContents[0] = make([]byte, 12*n+1)
		}),
		"contents of two": message(func(r *oippb.ModelInferResponse, _ int) {
			r.RawOutputContents = append(r.RawOutputContents, []byte{1})
		}),
		"contents of nothing": message(func(r *oippb.ModelInferResponse, _ int) { r.Outputs = nil }),
		"no contents":         message(func(r *oippb.ModelInferResponse, _ int) { r.RawOutputContents = nil }),
		"nothing":             message(func(r *oippb.ModelInferResponse, _ int) { r.Reset() }),
		"the output twice": message(func(r *oippb.ModelInferResponse, _ int) {
			r.Outputs = append(r.Outputs, r.Outputs[0])
			r.RawOutputContents = append(r.RawOutputContents, r.RawOutputContents[0])
		}),
		"contents of another type": message(func(r *oippb.ModelInferResponse, n int) {
			r.RawOutputContents = nil
			r.Outputs[0].Contents = &oippb.InferTensorContents{IntContents: make([]int32, 3*n)}
		}),
		"not numbers": message(func(r *oippb.ModelInferResponse, n int) {
			r.RawOutputContents[0] = slices.Repeat([]byte{0, 0, 0xc0, 0x7f}, 3*n)
		}),
		"another version": message(func(r *oippb.ModelInferResponse, _ int) {
			r.ModelVersion = strings.Repeat("v", 9999)
		}),
		"a version each time": message(func(r *oippb.ModelInferResponse, _ int) {
			r.ModelVersion = time.Now().String()
		}),
		"a message of noise": func(w http.ResponseWriter, _ int) {
			remotetest.Head(w, 4096)
			written(w, slices.Repeat([]byte{0xa5}, 4096))
			done(w)
		},
		"a list of nothings": func(w http.ResponseWriter, _ int) {
			remotetest.Head(w, 15<<20&^1)
			written(w, slices.Repeat([]byte{5<<3 | 2, 0}, 15<<19))
			done(w)
		},
		"two messages": func(w http.ResponseWriter, n int) {
			for range 2 {
				message(func(*oippb.ModelInferResponse, int) {})(w, n)
			}
		},
		"a message and noise": func(w http.ResponseWriter, n int) {
			message(func(*oippb.ModelInferResponse, int) {})(w, n)
			written(w, []byte("noise"))
		},
		"a message and an error": func(w http.ResponseWriter, n int) {
			message(func(*oippb.ModelInferResponse, int) {})(w, n)
			remotetest.Status(w, codes.DataLoss, "all of it was wrong")
		},
		"a message and no status": func(w http.ResponseWriter, n int) {
			message(func(*oippb.ModelInferResponse, int) {})(w, n)
			w.Header().Del(http.TrailerPrefix + "Grpc-Status")
		},
		"a status and no message": func(w http.ResponseWriter, _ int) { done(w) },
		"no status and no message": func(w http.ResponseWriter, _ int) {
			w.WriteHeader(http.StatusOK)
		},
		"a status of no number": func(w http.ResponseWriter, _ int) {
			w.Header().Set(http.TrailerPrefix+"Grpc-Status", "fine")
		},
		"a message cut short": func(w http.ResponseWriter, _ int) {
			remotetest.Head(w, 1000)
			written(w, make([]byte, 10))
			done(w)
		},
		"the head of a message cut short": func(w http.ResponseWriter, _ int) {
			written(w, []byte{0, 0})
			done(w)
		},
		"a stream that breaks": func(w http.ResponseWriter, _ int) {
			remotetest.Head(w, 1000)
			_ = http.NewResponseController(w).Flush() // the client has gone if it fails
			panic(http.ErrAbortHandler)
		},
		"no end": func(w http.ResponseWriter, _ int) {
			remotetest.Head(w, math.MaxUint32)
			remotetest.Endless(w, 0, make([]byte, 1<<20))
		},
		"no end of what was announced": func(w http.ResponseWriter, _ int) {
			remotetest.Head(w, 16<<20)
			remotetest.Endless(w, 0, make([]byte, 1<<20))
		},
		"a byte at a time": func(w http.ResponseWriter, _ int) {
			remotetest.Head(w, 10000)
			remotetest.Endless(w, 20*time.Millisecond, []byte{0})
		},
		"no answer": func(http.ResponseWriter, int) { time.Sleep(10 * time.Second) },
		"headers alone": func(w http.ResponseWriter, _ int) {
			_ = http.NewResponseController(w).Flush() // the client has gone if it fails
			time.Sleep(10 * time.Second)
		},
		"packed, and nobody says how": func(w http.ResponseWriter, _ int) {
			written(w, []byte{1, 0, 0, 0, 1, 0})
			done(w)
		},
		"packed in an unknown way": func(w http.ResponseWriter, _ int) {
			w.Header().Set("Grpc-Encoding", "zstd")
			written(w, []byte{1, 0, 0, 0, 1, 0})
			done(w)
		},
		"a million headers": func(w http.ResponseWriter, _ int) {
			for i := range 1 << 13 {
				w.Header().Set(fmt.Sprintf("X-%d", i), strings.Repeat("x", 4000))
			}
			done(w)
		},
		"a page":            html(http.StatusOK),
		"a page not found":  html(http.StatusNotFound),
		"a redirection":     html(http.StatusTemporaryRedirect),
		"a gateway's error": html(http.StatusBadGateway),
		"words that move a terminal": func(w http.ResponseWriter, _ int) {
			remotetest.Status(w, codes.Internal, "%1B[31mno%0Ano")
		},
		"many words": func(w http.ResponseWriter, _ int) {
			remotetest.Status(w, codes.InvalidArgument, strings.Repeat("no ", 20000))
		},
	}
	for code := codes.Canceled; code <= codes.Unauthenticated+1; code++ {
		all["code "+code.String()] = func(w http.ResponseWriter, _ int) { remotetest.Status(w, code, "no") }
	}
	return all
}

// descriptions are what a server says of its model, in place of what it is.
func descriptions() map[string]*remotetest.Bare {
	x, y := truth().Inputs[0], truth().Outputs[0]
	port := func(p remotetest.Port, change func(p *remotetest.Port)) []remotetest.Port {
		change(&p)
		return []remotetest.Port{p}
	}
	in, out := []remotetest.Port{x}, []remotetest.Port{y}
	return map[string]*remotetest.Bare{
		"no inputs":      {Outputs: out},
		"no outputs":     {Inputs: in},
		"inputs twice":   {Inputs: append(slices.Clone(in), x), Outputs: out},
		"a nameless one": {Inputs: port(x, func(p *remotetest.Port) { p.Name = "" }), Outputs: out},
		"words": {
			Inputs: port(x, func(p *remotetest.Port) { p.Datatype = "BYTES" }), Outputs: out,
		},
		"negative axes": {
			Inputs: port(x, func(p *remotetest.Port) { p.Shape = []int64{-1, -7, 8, 8} }), Outputs: out,
		},
		"huge pictures": {
			Inputs: port(x, func(p *remotetest.Port) { p.Shape = []int64{-1, 1, 1 << 30, 1 << 30} }), Outputs: out,
		},
		"a long batch": {
			Inputs: port(x, func(p *remotetest.Port) { p.Shape = []int64{1 << 17, 1, side, side} }), Outputs: out,
		},
		"a huge batch": {
			Inputs: port(x, func(p *remotetest.Port) { p.Shape = []int64{1 << 39, 1, side, side} }), Outputs: out,
		},
		"huge answers": {
			Inputs: in, Outputs: port(y, func(p *remotetest.Port) { p.Shape = []int64{-1, 1 << 39} }),
		},
		"too many axes": {
			Inputs: port(x, func(p *remotetest.Port) { p.Shape = make([]int64, 1<<16) }), Outputs: out,
		},
		"too many outputs": {Inputs: in, Outputs: slices.Repeat(out, 1<<15)},
		"no end": {Metadata: func(w http.ResponseWriter, grpc bool) {
			if grpc {
				remotetest.Head(w, math.MaxUint32)
			}
			remotetest.Endless(w, 0, make([]byte, 1<<20))
		}},
		"no answer": {Metadata: func(http.ResponseWriter, bool) { time.Sleep(10 * time.Second) }},
	}
}

// TestCalls asks endpoints that lie over gRPC: of a model, in what they answer, and in how. The whole has audits ask
// them too:
//
//	NERO_SIEGE=1 go test ./internal/siege -run TestCalls -v -timeout 0
func TestCalls(t *testing.T) {
	whole := os.Getenv("NERO_SIEGE") != ""
	if !whole {
		slow.Test(t)
	}
	t.Setenv("NERO_ORT_LIB", choose.None)
	var strayed atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { strayed.Add(1) }))
	defer other.Close()
	dir := t.TempDir()
	pictures(t, filepath.Join(dir, "photos"), 6)
	commands := []string{"run"}
	if whole {
		commands = []string{"run", "audit"}
	}
	tried := 0
	ask := func(name string, b *remotetest.Bare, taken bool) {
		tried++
		s := b.Start()
		asked(t, name, dir, "grpc"+strings.TrimPrefix(s.URL, "http")+"/m", taken, commands...)
		s.CloseClientConnections()
		s.Close()
	}
	all := calls(other.URL)
	for i, name := range slices.Sorted(maps.Keys(all)) {
		if !whole && i%8 != 0 {
			continue
		}
		b := truth()
		b.Infer = func(w http.ResponseWriter, r *http.Request, _ bool) {
			m, err := io.ReadAll(r.Body)
			var q oippb.ModelInferRequest
			if err == nil && len(m) > 5 {
				err = proto.Unmarshal(m[5:], &q)
			}
			if err != nil || len(q.GetInputs()) != 1 {
				t.Errorf("%s: a request that this server does not read: %v", name, err)
				return
			}
			all[name](w, int(q.GetInputs()[0].GetShape()[0]))
		}
		ask(name, b, name == "not numbers" || name == "another version")
	}
	said := descriptions()
	for i, name := range slices.Sorted(maps.Keys(said)) {
		said[name].Infer = func(w http.ResponseWriter, _ *http.Request, _ bool) { remotetest.Status(w, codes.OK, "") }
		if whole || i%8 == 0 {
			ask("metadata: "+name, said[name], false)
		}
	}
	doors := map[string]func(net.Conn){
		"says nothing": func(net.Conn) {},
		"hangs up":     func(c net.Conn) { _ = c.Close() },
		"speaks HTTP/1": func(c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n") // to whom it concerns
		},
		"sends noise without end": func(c net.Conn) {
			for b := make([]byte, 1<<16); ; {
				if _, err := c.Write(b); err != nil {
					return
				}
			}
		},
	}
	for i, name := range slices.Sorted(maps.Keys(doors)) {
		if !whole && i > 0 {
			continue
		}
		tried++
		l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				defer c.Close() //nolint:errcheck // it was used for one answer
				go doors[name](c)
			}
		}()
		asked(t, name, dir, "grpc://"+l.Addr().String()+"/m", false, commands...)
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%d ways of lying", tried)
	if n := strayed.Load(); n > 0 {
		t.Errorf("the host that a redirection names was asked %d times", n)
	}
}
