package remotetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"nero/data/tensor"
	"nero/model/engine/remote"
	"nero/model/onnx"
)

// headerLength says where the JSON of a message ends and its binary tensors begin.
const headerLength = "Inference-Header-Content-Length"

func escape(name string) string { return url.PathEscape(name) }

func (s *Server) startHTTP(l *listener) {
	mux := http.NewServeMux()
	reply := func(w http.ResponseWriter, status int, v any) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(v) // the client has gone if it fails
	}
	refuse := func(w http.ResponseWriter, err error) {
		status := http.StatusBadRequest
		if errors.Is(err, ErrNoModel) {
			status = http.StatusNotFound
		}
		reply(w, status, map[string]string{"error": err.Error()})
	}
	mux.HandleFunc("GET /v2/health/ready",
		func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	mux.HandleFunc("GET /v2/models/{model}", func(w http.ResponseWriter, r *http.Request) {
		sig, platform, err := s.backend.Describe(r.Context(), r.PathValue("model"))
		if err != nil {
			refuse(w, err)
			return
		}
		ports := func(ps []onnx.Port) []map[string]any {
			ts := []map[string]any{}
			for _, p := range ps {
				ts = append(ts, map[string]any{
					"name": p.Name, "datatype": remote.Datatype(p.DType),
					"shape": dims(p.Sizes()),
				})
			}
			return ts
		}
		reply(w, http.StatusOK, map[string]any{
			"name": r.PathValue("model"), "versions": []string{s.o.Version}, "platform": platform,
			"inputs": ports(sig.Inputs), "outputs": ports(sig.Outputs),
		})
	})
	mux.HandleFunc("POST /v2/models/{model}/infer", func(w http.ResponseWriter, r *http.Request) {
		if f := s.faults.Load(); s.turnAway() {
			if f.RetryAfter != "" {
				w.Header().Set("Retry-After", f.RetryAfter)
			}
			status := http.StatusServiceUnavailable
			if f.TooMany {
				status = http.StatusTooManyRequests
			}
			reply(w, status, map[string]string{"error": "out of breath"})
			return
		}
		in, binary, err := s.readRequest(r)
		if err != nil {
			refuse(w, err)
			return
		}
		out, err := s.infer(r.Context(), r.PathValue("model"), in)
		if err != nil {
			refuse(w, err)
			return
		}
		if s.faults.Load().Garbage {
			_, _ = io.WriteString(w, "<html>It works!</html>") // the client has gone if it fails
			return
		}
		head, body, err := s.answer(r.PathValue("model"), out, binary)
		if err != nil {
			reply(w, http.StatusInternalServerError, map[string]string{"error": err.Error()})
			return
		}
		w.Header().Set("Content-Length", strconv.Itoa(len(head)+len(body)))
		if binary {
			w.Header().Set("Content-Type", "application/octet-stream")
			w.Header().Set(headerLength, strconv.Itoa(len(head)))
		}
		l.cut((len(head) + len(body)) / 2)
		_, _ = w.Write(append(head, body...)) // the client has gone if it fails
	})
	s.httpServer = &http.Server{
		ReadHeaderTimeout: time.Minute,
		ErrorLog:          slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if t := s.o.Token; t != "" && r.Header.Get("Authorization") != "Bearer "+t {
				reply(w, http.StatusUnauthorized,
					map[string]string{"error": fmt.Sprintf("the token %q is not right", r.Header.Get("Authorization"))})
				return
			}
			mux.ServeHTTP(w, r)
		}),
	}
	go func(h *http.Server) { _ = h.Serve(s.wrap(l)) }(s.httpServer) // it ends when the server is closed
}

type requestTensor struct {
	Name       string  `json:"name"`
	Datatype   string  `json:"datatype"`
	Shape      []int64 `json:"shape"`
	Parameters struct {
		BinaryDataSize *int `json:"binary_data_size"`
	} `json:"parameters"`
	Data []json.Number `json:"data"`
}

// readRequest reads the inputs of a request and whether they are binary.
func (s *Server) readRequest(r *http.Request) (in []tensor.Named, binary bool, err error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, limit))
	if err != nil {
		return nil, false, err
	}
	var rest []byte
	if h := r.Header.Get(headerLength); h != "" {
		n, err := strconv.Atoi(h)
		if err != nil || n < 0 || n > len(body) || s.o.NoBinary {
			return nil, true, fmt.Errorf("cannot read binary tensors (%s %q)", headerLength, h)
		}
		body, rest, binary = body[:n], body[n:], true
	}
	var q struct {
		Inputs []requestTensor `json:"inputs"`
	}
	if err := json.Unmarshal(body, &q); err != nil {
		return nil, binary, err
	}
	for _, x := range q.Inputs {
		t := tensor.Tensor{DType: dtype(x.Datatype), Shape: shape(x.Shape)}
		if n := x.Parameters.BinaryDataSize; n != nil {
			if *n < 0 || *n > len(rest) {
				return nil, binary, fmt.Errorf("input %s: half a request", x.Name)
			}
			t.Raw, rest = rest[:*n], rest[*n:]
		} else if t, err = numbers(t, x.Data); err != nil {
			return nil, binary, fmt.Errorf("input %s: %w", x.Name, err)
		}
		in = append(in, tensor.Named{Name: x.Name, Tensor: t})
	}
	return in, binary, nil
}

// numbers fills a tensor of one of the types that the tests send as JSON.
func numbers(t tensor.Tensor, data []json.Number) (tensor.Tensor, error) {
	n, err := tensor.CheckedCount(t.Shape, limit/8)
	if err != nil || n != len(data) {
		return t, fmt.Errorf("%d numbers for shape %v", len(data), t.Shape)
	}
	switch t.DType { //nolint:exhaustive // the tests send no others
	case tensor.Float32:
		v := make([]float32, n)
		for i, d := range data {
			f, err := d.Float64()
			if err != nil {
				return t, err
			}
			v[i] = float32(f)
		}
		return tensor.FromFloat32(v, t.Shape...), nil
	case tensor.Int64:
		v := make([]int64, n)
		for i, d := range data {
			if v[i], err = d.Int64(); err != nil {
				return t, err
			}
		}
		return tensor.FromInt64(v, t.Shape...), nil
	default:
		return t, fmt.Errorf("%s as JSON is beyond this server", t.DType)
	}
}

// answer writes the outputs: JSON, and the binary tensors that follow it.
func (s *Server) answer(model string, out []tensor.Named, binary bool) (head, body []byte, err error) {
	type object map[string]any
	outputs := []object{}
	for _, t := range out {
		o := object{"name": t.Name, "datatype": remote.Datatype(t.DType), "shape": dims(t.Shape)}
		if binary {
			o["parameters"] = object{"binary_data_size": len(t.Raw)}
			body = append(body, t.Raw...)
		} else {
			v, err := t.Float64s(nil)
			if err != nil {
				// A tensor that was broken on purpose: as many numbers as there are bytes for.
				short := t.Tensor
				short.Shape = []int{len(t.Raw) / t.DType.Size()}
				if v, err = short.Float64s(nil); err != nil {
					return nil, nil, err
				}
			}
			o["data"] = json.RawMessage(words(v))
		}
		outputs = append(outputs, o)
	}
	head, err = json.Marshal(object{"model_name": model, "model_version": s.version(), "outputs": outputs})
	return head, body, err
}

// words lists numbers as JSON, with null for what JSON has no word for.
func words(v []float64) string {
	var b strings.Builder
	b.WriteByte('[')
	for i, x := range v {
		if i > 0 {
			b.WriteByte(',')
		}
		if math.IsNaN(x) || math.IsInf(x, 0) {
			b.WriteString("null")
		} else {
			b.WriteString(strconv.FormatFloat(x, 'g', -1, 64))
		}
	}
	b.WriteByte(']')
	return b.String()
}
