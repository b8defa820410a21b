package remotetest

import (
	"encoding/binary"
	"encoding/json"
	"hash/fnv"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
)

// Texts is a server of one model that reads texts or bytes, over HTTP and JSON.
type Texts struct {
	// Answer is told an input, how often it was asked before, and the parameters of the request. It returns the answer,
	// and in place of one a code such as 429.
	Answer func(input string, before int, parameters map[string]any) (text string, code int)
	// Numbers says that answers are texts of numbers between spaces, and sent as such.
	Numbers bool
	// In and Out are the outputs that the metadata lists; nil for one input and one output.
	In, Out []map[string]any

	mu    sync.Mutex
	asked map[string]int
}

// Start serves at a port of this machine. The endpoint is the server's URL with a name of a model behind it.
func (t *Texts) Start() *httptest.Server { return httptest.NewServer(t) }

// Flip is true with probability q, by the input and how often it was asked before alone.
func Flip(input string, before int, q float64) bool {
	h := fnv.New64a()
	_, _ = io.WriteString(h, input+"\x00"+strconv.Itoa(before)) // a hash takes everything
	x := h.Sum64()
	x ^= x >> 31
	x *= 0x9e3779b97f4a7c15
	x ^= x >> 29
	return float64(x>>11)/float64(1<<53) < q
}

// ServeHTTP answers what the protocol knows of one model.
func (t *Texts) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if r.Method == http.MethodGet {
		kind := "BYTES"
		if t.Numbers {
			kind = "FP64"
		}
		m := map[string]any{
			"name": "texts", "platform": "test", "inputs": t.In, "outputs": t.Out,
		}
		if t.In == nil {
			m["inputs"] = []map[string]any{{"name": "prompt", "datatype": "BYTES", "shape": []int{-1, 1}}}
		}
		if t.Out == nil {
			m["outputs"] = []map[string]any{{"name": "answer", "datatype": kind, "shape": []int{-1, -1}}}
		}
		_ = json.NewEncoder(w).Encode(m) // whoever asked has gone
		return
	}
	input, parameters, err := asked(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	t.mu.Lock()
	if t.asked == nil {
		t.asked = map[string]int{}
	}
	before := t.asked[input]
	t.asked[input]++
	t.mu.Unlock()
	text, code := t.Answer(input, before, parameters)
	if code != 0 && code != http.StatusOK {
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(map[string]string{"error": text}) // likewise
		return
	}
	out := map[string]any{"name": "answer", "datatype": "BYTES", "shape": []int{1, 1}, "data": []string{text}}
	if t.Numbers {
		words := strings.Fields(text)
		out["datatype"], out["shape"] = "FP64", []int{1, len(words)}
		data := make([]json.RawMessage, len(words))
		for i, s := range words {
			data[i] = json.RawMessage(s)
		}
		out["data"] = data
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"outputs": []any{out}}) // likewise
}

// asked takes a request apart: the one input, as text of the JSON or as bytes behind it.
func asked(r *http.Request) (input string, parameters map[string]any, err error) {
	b, err := io.ReadAll(r.Body)
	if err != nil {
		return "", nil, err
	}
	head, rest := b, []byte(nil)
	if n, err := strconv.Atoi(r.Header.Get("Inference-Header-Content-Length")); err == nil && n <= len(b) {
		head, rest = b[:n], b[n:]
	}
	var q struct {
		Inputs []struct {
			Data []string `json:"data"`
		} `json:"inputs"`
		Parameters map[string]any `json:"parameters"`
	}
	if err := json.Unmarshal(head, &q); err != nil {
		return "", nil, err
	}
	if len(rest) >= 4 && uint64(binary.LittleEndian.Uint32(rest)) == uint64(len(rest)-4) && len(rest) < math.MaxInt32 {
		return string(rest[4:]), q.Parameters, nil
	}
	if len(q.Inputs) != 1 || len(q.Inputs[0].Data) != 1 {
		return "", nil, io.ErrUnexpectedEOF
	}
	return q.Inputs[0].Data[0], q.Parameters, nil
}
