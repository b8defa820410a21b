package remotetest

import (
	"encoding/binary"
	"encoding/json"
	"hash/fnv"
	"io"
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
	inputs, parameters, err := asked(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var all []string
	for _, input := range inputs {
		text, code := t.Answer(input, t.count(input), parameters)
		if code != 0 && code != http.StatusOK {
			w.WriteHeader(code)
			_ = json.NewEncoder(w).Encode(map[string]string{"error": text}) // likewise
			return
		}
		all = append(all, text)
	}
	out := map[string]any{"name": "answer", "datatype": "BYTES", "shape": []int{len(all), 1}, "data": all}
	if t.Numbers {
		var data []json.RawMessage
		for _, text := range all {
			for s := range strings.FieldsSeq(text) {
				data = append(data, json.RawMessage(s))
			}
		}
		out["datatype"], out["shape"], out["data"] = "FP64", []int{len(all), len(data) / len(all)}, data
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"outputs": []any{out}}) // likewise
}

// count is how often an input was asked before.
func (t *Texts) count(input string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.asked == nil {
		t.asked = map[string]int{}
	}
	t.asked[input]++
	return t.asked[input] - 1
}

// asked takes a request apart: the batch of the one input, as texts of the JSON or as bytes behind it.
func asked(r *http.Request) (inputs []string, parameters map[string]any, err error) {
	b, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, nil, err
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
		return nil, nil, err
	}
	if len(q.Inputs) != 1 {
		return nil, nil, io.ErrUnexpectedEOF
	}
	inputs = q.Inputs[0].Data
	for len(rest) >= 4 {
		n := uint64(binary.LittleEndian.Uint32(rest))
		if n > uint64(len(rest)-4) {
			return nil, nil, io.ErrUnexpectedEOF
		}
		inputs, rest = append(inputs, string(rest[4:4+n])), rest[4+n:]
	}
	if len(inputs) == 0 || len(rest) > 0 {
		return nil, nil, io.ErrUnexpectedEOF
	}
	return inputs, q.Parameters, nil
}
