package job

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

func TestParseEndpoint(t *testing.T) {
	for text, want := range map[string]Model{
		"grpc://127.0.0.1:9000/farneback": {
			Name:     "farneback",
			Endpoint: "grpc://127.0.0.1:9000/farneback",
		},
		"{endpoint: 'https://example.org/prefix/flow'}": {
			Name:     "flow",
			Endpoint: "https://example.org/prefix/flow",
		},
		"{onnx: 'HTTP://[::1]:8080/a.b/'}":                 {Name: "a.b", Endpoint: "HTTP://[::1]:8080/a.b/"},
		"{name: f, endpoint: 'grpcs://h/m', version: '3'}": {Name: "f", Endpoint: "grpcs://h/m", Version: "3"},
		"{endpoint: 'grpc://h/m', timeout: 2.5, ca: ca.pem}": {
			Name: "m", Endpoint: "grpc://h/m", Timeout: 2.5,
			CA: "ca.pem",
		},
		"{endpoint: 'grpc://h/m', batch: 4, concurrency: 16}": {
			Name: "m", Endpoint: "grpc://h/m", Batch: 4,
			Concurrency: 16,
		},
		"{endpoint: 'grpc://h/m', token_env: T, headers_env: H, insecure: true}": {
			Name: "m", Endpoint: "grpc://h/m", TokenEnv: "T", HeadersEnv: "H", Insecure: true,
		},
		"ftp:/m.onnx":                    {Name: "m", ONNX: "ftp:/m.onnx"},
		"{onnx: a.onnx, timeout: 0.5}":   {Name: "a", ONNX: "a.onnx", Timeout: 0.5},
		"exec:./model":                   {Name: "model", Program: []string{"./model"}},
		`'exec:python3 "a b/net.py" -x'`: {Name: "net", Program: []string{"python3", "a b/net.py", "-x"}},
		"builtin:piv?window=16":          {Name: "piv", Builtin: "piv?window=16"},
		"{program: ./model}":             {Name: "model", Program: []string{"./model"}},
		"{program: [bin/m.exe, --flag], dir: d, workers: 2, timeout: 3, batch: 4}": {
			Name: "m", Program: []string{"bin/m.exe", "--flag"}, Dir: "d", Workers: 2, Timeout: 3, Batch: 4,
		},
	} {
		s, err := ParseStudy("s.yaml", []byte("models: "+text+"\ndata: x\n"))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if !reflect.DeepEqual(s.Models[0], want) {
			t.Errorf("%s\ngives %+v\nwant  %+v", text, s.Models[0], want)
		}
		if err := s.Validate(); err != nil { // writes it as JSON and reads that
			t.Errorf("%s: written and read again: %v", text, err)
		}
	}
}

func TestParseEndpointRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"{name: a}": "s.yaml:1:9: models[0].onnx: missing; add onnx: " +
			"FILE.onnx, endpoint: grpc://HOST:PORT/MODEL, or program: [PROGRAM, ARGUMENT]",
		"{onnx: a.onnx, endpoint: 'grpc://h/m'}": "models[0].endpoint: a model has a file (onnx), an " +
			"endpoint, a program or a method (builtin); keep one of them",
		"{onnx: a.onnx, batch: 3}":            "s.yaml:1:9: models[0].batch: is for a model behind an endpoint",
		"{onnx: a.onnx, timeout: 0}":          "models.timeout: 0 is out of range",
		"{onnx: a.onnx, insecure: true}":      "models[0].insecure: is for a model behind an endpoint",
		"{endpoint: 'ftp://h/m'}":             `the scheme is "ftp"; expected SCHEME://HOST:PORT/MODEL`,
		"{endpoint: 'localhost:9000/m'}":      `the scheme is "localhost"`,
		"{endpoint: 'grpc://h:9000'}":         "names no host or no model",
		"{endpoint: 'grpc:///m'}":             "names no host or no model",
		"{endpoint: 'grpc://h:x/m'}":          "not a URL",
		"{endpoint: 'http://h/m?version=1'}":  "neither ? nor #",
		"{endpoint: 'http://me:hunter2@h/m'}": "no place for passwords",
		"{endpoint: 'http://h/m', token_env: 'eyJh.bGc'}": "models[0].token_env: not the name of an environment " +
			"variable",
		"{endpoint: 'http://h/m', headers_env: 'X-Key: 1'}": "models[0].headers_env: not the name of an environment " +
			"variable",
		"{endpoint: 'http://h/m', timeout: 0}": "out of range",
		"{endpoint: 'http://h/m', batch: 0}":   "out of range",
	} {
		_, err := ParseStudy("s.yaml", []byte("models: "+text+"\ndata: x\n"))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\ngot  %v\nwant %s", text, err, want)
		}
		for _, secret := range []string{"hunter2", "eyJh", "X-Key"} {
			if err != nil && strings.Contains(err.Error(), secret) {
				t.Errorf("%s: the message repeats what may be a secret: %v", text, err)
			}
		}
	}
}

// A job of files has the bytes that it had before there were endpoints, so that its hash still names its run.
func TestModelJSON(t *testing.T) {
	for want, m := range map[string]Model{
		`{"name":"a","onnx":"x<&>.onnx"}`:                {Name: "a", ONNX: "x<&>.onnx"},
		`{"name":"a","onnx":""}`:                         {Name: "a"},
		`{"name":"a","endpoint":"grpc://h/m","batch":8}`: {Name: "a", Endpoint: "grpc://h/m", Batch: 8},
	} {
		j := &Job{Study: Study{Models: []Model{m}}}
		b, err := j.Canonical()
		if err != nil || !strings.Contains(string(b), want) {
			t.Errorf("got  %s (%v)\nwant %s", b, err, want)
		}
		var back Model
		if err := json.Unmarshal([]byte(want), &back); err != nil || !reflect.DeepEqual(back, m) {
			t.Errorf("%s reads as %+v (%v)", want, back, err)
		}
	}
}

// How a model is reached does not decide a hash; what answers there is in its digest.
func TestHashOfEndpoints(t *testing.T) {
	one, other := minimal(), minimal()
	one.Study.Models = []Model{{Name: "m", Endpoint: "grpc://a/m", TokenEnv: "T", Timeout: 3, Batch: 4}}
	other.Study.Models = []Model{{Name: "m", Endpoint: "https://b/n"}}
	if mustHash(t, one) != mustHash(t, other) {
		t.Error("moving a model to another server orphans its run")
	}
	other.Models[0].SHA256 = strings.Repeat("b", 64)
	if mustHash(t, one) == mustHash(t, other) {
		t.Error("another model has the same hash")
	}
}
