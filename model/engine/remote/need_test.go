package remote_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"

	"nero/data/tensor"
	"nero/model/engine/remote"
	"nero/model/engine/remote/oippb"
	"nero/model/engine/remote/remotetest"
)

// An answer that is too long is refused before it is read, or when as much was read as it can need by the metadata, and
// the refusal takes memory of that order.
func TestEndlessAnswers(t *testing.T) {
	zeros := make([]byte, 1<<20)
	const open = 48 << 20 // the longest message
	endless := func(w http.ResponseWriter, announced int, grpc bool, piece []byte) {
		switch {
		case grpc && announced > 0:
			remotetest.Head(w, announced)
		case grpc:
			remotetest.Head(w, 1<<32-1)
		case announced > 0:
			w.Header().Set("Content-Length", strconv.Itoa(announced))
		}
		remotetest.Endless(w, 0, piece)
	}
	for _, c := range []struct {
		name     string
		axis     int64
		metadata func(w http.ResponseWriter, grpc bool)
		infer    func(w http.ResponseWriter, grpc bool)
		want     string
		// of memory, in all, in MiB
		most uint64
	}{
		{
			name: "endless", axis: 3, most: 48, want: "longer than the",
			infer: func(w http.ResponseWriter, grpc bool) { endless(w, 0, grpc, zeros) },
		},
		{
			name: "endless, of any length", axis: -1, most: 72, want: fmt.Sprintf("longer than the %d bytes that are "+
				"allowed; lower batch", open),
			infer: func(w http.ResponseWriter, grpc bool) { endless(w, 0, grpc, zeros) },
		},
		{
			name: "announced", axis: 3, most: 4, want: "longer than the",
			infer: func(w http.ResponseWriter, grpc bool) { endless(w, 1<<31, grpc, zeros) },
		},
		{
			name: "no protocol", axis: 3, most: 48, want: "not what the protocol says",
			infer: func(w http.ResponseWriter, grpc bool) { endless(w, 15<<20, grpc, zeros) },
		},
		{
			name: "in many parts", axis: 3, most: 64, want: " make sense",
			infer: func(w http.ResponseWriter, grpc bool) {
				if !grpc {
					_, _ = io.WriteString(w, `{"outputs":[{}`+strings.Repeat(",{}", 1<<20)+`]}`)
					return
				}
				remotetest.Head(w, 2<<20)
				_, _ = w.Write(bytes.Repeat([]byte{5<<3 | 2, 0}, 1<<20))
				remotetest.Status(w, codes.OK, "")
			},
		},
		{
			name: "endless metadata", most: 48, want: "longer than the",
			metadata: func(w http.ResponseWriter, grpc bool) { endless(w, 0, grpc, zeros) },
		},
		{
			name: "endless refusal", axis: 3, most: 8, want: "it answers 418",
			infer: func(w http.ResponseWriter, grpc bool) {
				if grpc {
					remotetest.Status(w, codes.DataLoss, "it answers 418")
					return
				}
				w.WriteHeader(http.StatusTeapot)
				remotetest.Endless(w, 0, zeros)
			},
		},
	} {
		for _, scheme := range schemes {
			t.Run(c.name+" over "+scheme, func(t *testing.T) {
				b := &remotetest.Bare{
					Metadata: c.metadata,
					Inputs:   []remotetest.Port{{Name: "x", Datatype: "FP32", Shape: []int64{-1, 2}}},
					Outputs:  []remotetest.Port{{Name: "y", Datatype: "FP32", Shape: []int64{-1, c.axis}}},
					Infer:    func(w http.ResponseWriter, _ *http.Request, grpc bool) { c.infer(w, grpc) },
				}
				s := b.Start()
				defer s.Close()
				defer s.CloseClientConnections()
				url := scheme + strings.TrimPrefix(s.URL, "http") + "/m"
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				m, err := remote.Connect(t.Context(), remote.Config{URL: url, MaxMessage: open})
				if err == nil {
					_, err = m.Run(t.Context(), []tensor.Named{{Name: "x", Tensor: tensor.New(tensor.Float32, 1, 2)}})
					if err := m.Close(); err != nil {
						t.Error(err)
					}
				}
				runtime.ReadMemStats(&after)
				if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), url) ||
					strings.Contains(err.Error(), "\n") || len(err.Error()) > 800 {
					t.Errorf("got %.700v, want %q", err, c.want)
				}
				took := (after.TotalAlloc - before.TotalAlloc) >> 20
				t.Logf("%d MiB: %.300v", took, err)
				if took > c.most {
					t.Errorf("it took %d MiB, want at most %d", took, c.most)
				}
			})
		}
	}
}

// What an answer may need, it may have: a server that writes JSON as loosely as it can is understood.
func TestLooseAnswers(t *testing.T) {
	const n = 1 << 15
	b := &remotetest.Bare{
		Inputs:  []remotetest.Port{{Name: "x", Datatype: "FP32", Shape: []int64{-1, 2}}},
		Outputs: []remotetest.Port{{Name: "y", Datatype: "INT32", Shape: []int64{-1, n}}},
		Infer: func(w http.ResponseWriter, _ *http.Request, grpc bool) {
			if grpc {
				numbers := slices.Repeat([]int32{-1}, 2*n) // ten bytes each
				remotetest.Frame(w, &oippb.ModelInferResponse{Outputs: []*oippb.ModelInferResponse_InferOutputTensor{
					{
						Name: "y", Datatype: "INT32", Shape: []int64{2, n},
						Contents: &oippb.InferTensorContents{IntContents: numbers},
					},
				}})
				remotetest.Status(w, codes.OK, "")
				return
			}
			one := strings.Repeat(" ", 48) + "-1"
			_, _ = io.WriteString(w, `{"outputs":[{"name":"y","datatype":"INT32","shape":[2,`+strconv.Itoa(n)+
				`],"data":[`+one+strings.Repeat(",\n"+one, 2*n-1)+`]}]}`)
		},
	}
	s := b.Start()
	defer s.Close()
	for _, scheme := range schemes {
		m, err := remote.Connect(t.Context(), remote.Config{URL: scheme + strings.TrimPrefix(s.URL, "http") + "/m"})
		if err != nil {
			t.Fatal(err)
		}
		out, err := m.Run(t.Context(), []tensor.Named{{Name: "x", Tensor: tensor.New(tensor.Float32, 2, 2)}})
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(out[0].Raw, bytes.Repeat([]byte{0xff}, 8*n)) {
			t.Errorf("%s: other numbers", scheme)
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
}
