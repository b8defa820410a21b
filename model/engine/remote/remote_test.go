package remote_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"nero/data/tensor"
	"nero/model/engine"
	"nero/model/engine/enginetest"
	"nero/model/engine/remote"
	"nero/model/engine/remote/remotetest"
	"nero/model/engine/tiny"
)

var schemes = []string{"grpc", "http"}

// network serves enginetest's network as "net" and connects to it.
func network(t *testing.T, scheme string, o remotetest.Options, c remote.Config) (*remote.Model, *remotetest.Server) {
	t.Helper()
	models, s := serve(t, o)
	if err := models.Load(t.Context(), "net", enginetest.Network().Bytes(), engine.Options{Threads: 1}); err != nil {
		t.Fatal(err)
	}
	c.URL = s.URL(scheme, "net")
	m, err := remote.Connect(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m, s
}

// waits records what a client waits for, and does not wait.
type waits struct {
	mu sync.Mutex
	d  []time.Duration
}

func (w *waits) wait(ctx context.Context, d time.Duration) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.d = append(w.d, d)
	return ctx.Err()
}

// near returns the network's answer computed here.
func near(t *testing.T, in []tensor.Named) []tensor.Named {
	t.Helper()
	s, err := body(t).Open(t.Context(), enginetest.Network().Bytes(), engine.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }() // only run
	out, err := s.Run(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// The same numbers come back in every form that a server may choose.
func TestForms(t *testing.T) {
	in := enginetest.Images(5)
	want := near(t, in)
	for name, c := range map[string]struct {
		scheme string
		o      remotetest.Options
		c      remote.Config
	}{
		"raw":                      {"grpc", remotetest.Options{}, remote.Config{}},
		"typed":                    {"grpc", remotetest.Options{Typed: true}, remote.Config{}},
		"binary":                   {"http", remotetest.Options{}, remote.Config{}},
		"JSON by choice":           {"http", remotetest.Options{}, remote.Config{JSON: true}},
		"JSON, as nothing else is": {"http", remotetest.Options{NoBinary: true}, remote.Config{}},
	} {
		t.Run(name, func(t *testing.T) {
			m, _ := network(t, c.scheme, c.o, c.c)
			for range 2 {
				got, err := m.Run(t.Context(), in)
				if err != nil {
					t.Fatal(err)
				}
				if err := enginetest.Compare(got, want, 0); err != nil {
					t.Error(err)
				}
			}
			if told := len(m.Notes()) > 0; told != c.o.NoBinary {
				t.Errorf("notes %q", m.Notes())
			}
		})
	}
}

func TestSignature(t *testing.T) {
	for _, scheme := range schemes {
		m, _ := network(t, scheme, remotetest.Options{}, remote.Config{})
		sig := m.Signature()
		if len(sig.Inputs) != 1 || sig.Inputs[0].String() != "x float32[? 1 12 12]" || len(sig.Outputs) != 2 ||
			sig.Outputs[1].String() != "p float32[? 10]" {
			t.Errorf("%s: %v -> %v", scheme, sig.Inputs, sig.Outputs)
		}
		if sig.Batch() != 0 || m.Engine().Info().Path != m.Place() ||
			!strings.Contains(m.Platform(), "nero_test") {
			t.Errorf("%s: batch %d, %+v, platform %q", scheme, sig.Batch(), m.Engine().Info(), m.Platform())
		}
	}
}

// Every fault is an error that names the endpoint and says what is wrong; once it is mended, the same model goes on.
func TestFaults(t *testing.T) {
	in := enginetest.Images(3)
	rename := func(ts []tensor.Named) []tensor.Named {
		ts = slices.Clone(ts)
		ts[1].Name = "probabilities"
		return ts
	}
	cast := func(ts []tensor.Named) []tensor.Named {
		ts = slices.Clone(ts)
		ts[0].Tensor = tensor.New(tensor.Float64, ts[0].Shape...)
		return ts
	}
	reshape := func(shape ...int) func(ts []tensor.Named) []tensor.Named {
		return func(ts []tensor.Named) []tensor.Named {
			ts = slices.Clone(ts)
			ts[0].Tensor = tensor.New(tensor.Float32, shape...)
			return ts
		}
	}
	for name, c := range map[string]struct {
		f remotetest.Faults
		// by scheme, "" for both
		want map[string]string
		// calls that the server may get; 1 if it is not worth another try
		max int
	}{
		"slow": {
			remotetest.Faults{Delay: time.Minute},
			map[string]string{"": "no answer within 300ms; raise timeout"},
			1,
		},
		"busy for good": {
			remotetest.Faults{Busy: 1000},
			map[string]string{
				"grpc": "not available: out of breath",
				"http": "not available: it answers 503 Service Unavailable: \"out of breath\" (tried 4 times)",
			},
			4,
		},
		"cut for good": {
			remotetest.Faults{Cut: 1000},
			map[string]string{"grpc": "not available", "http": "the connection was cut"},
			4,
		},
		"another name": {
			remotetest.Faults{Answer: rename},
			map[string]string{"": `the answer lacks the output "p" that the metadata promises; it holds "scores", "probabilities"`},
			1,
		},
		"another type": {
			remotetest.Faults{Answer: cast},
			map[string]string{"": `the output "scores" came as float64, the metadata says float32`},
			1,
		},
		"another shape": {
			remotetest.Faults{Answer: reshape(3, 11)},
			map[string]string{"": `the output "scores" came in shape [3 11], the metadata says [? 10]`},
			1,
		},
		"another rank": {
			remotetest.Faults{Answer: reshape(30)},
			map[string]string{"": `the output "scores" came in shape [30], the metadata says [? 10]`},
			1,
		},
		"fewer samples": {
			remotetest.Faults{Answer: reshape(2, 10)},
			map[string]string{"": `the output "scores" came in shape [2 10] for a request of 3 samples; expected 3 along its first axis`},
			1,
		},
		"one output": {
			remotetest.Faults{Answer: func(ts []tensor.Named) []tensor.Named { return ts[:1] }},
			map[string]string{"": `the answer lacks the output "p"`},
			1,
		},
		"one output twice": {
			remotetest.Faults{Answer: func(ts []tensor.Named) []tensor.Named {
				return append(slices.Clone(ts),
					ts[0])
			}},
			map[string]string{"": `the answer holds the output "scores" twice`},
			1,
		},
		"nothing": {
			remotetest.Faults{Answer: func([]tensor.Named) []tensor.Named { return nil }},
			map[string]string{"": `it holds nothing`},
			1,
		},
		"half a tensor": {
			remotetest.Faults{Half: true},
			map[string]string{"": "60 bytes came for float32 in shape [3 10], which needs 120: half an answer"},
			1,
		},
		"garbage": {
			remotetest.Faults{Garbage: true},
			map[string]string{"grpc": "half an answer", "http": "the answer is not what the protocol says"},
			1,
		},
		"another version": {
			remotetest.Faults{Version: "2"},
			map[string]string{"": `version "2" answers now, version "1" did before`},
			1,
		},
	} {
		for _, scheme := range schemes {
			t.Run(name+"/"+scheme, func(t *testing.T) {
				var w waits
				timeout := 20 * time.Second
				if name == "slow" {
					timeout = 300 * time.Millisecond
				}
				m, s := network(t, scheme, remotetest.Options{},
					remote.Config{Timeout: timeout, Retry: remote.Retry{Attempts: 4, Wait: w.wait}})
				want, err := m.Run(t.Context(), in)
				if err != nil {
					t.Fatal(err)
				}
				before := s.Calls()
				s.Break(c.f)
				_, err = m.Run(t.Context(), in)
				text := c.want[scheme] + c.want[""]
				if err == nil || !strings.Contains(err.Error(), text) ||
					!strings.Contains(err.Error(), "endpoint "+s.URL(scheme, "net")+": ") ||
					strings.Contains(err.Error(), "\n") {
					t.Errorf("got  %v\nwant %s", err, text)
				}
				var e *remote.Error
				if !errors.As(err, &e) {
					t.Fatalf("%v is no error of the endpoint", err)
				}
				if e.Unavailable() != (c.max > 1) {
					t.Errorf("%v is worth another try: %v", err, e.Unavailable())
				}
				if n := s.Calls() - before; n < 1 || n > c.max {
					t.Errorf("the server was called %d times, want at most %d", n, c.max)
				}
				s.Break(remotetest.Faults{})
				got, err := m.Run(t.Context(), in)
				if err != nil {
					t.Fatalf("after it was mended: %v", err)
				}
				if err := enginetest.Compare(got, want, 0); err != nil {
					t.Errorf("after it was mended: %v", err)
				}
			})
		}
	}
}

// What heals by itself is waited for, ever longer, and nobody notices.
func TestRetry(t *testing.T) {
	in := enginetest.Images(2)
	for _, scheme := range schemes {
		for name, c := range map[string]struct {
			f remotetest.Faults
			// of the waits
			want []time.Duration
		}{
			"busy twice": {remotetest.Faults{Busy: 2}, []time.Duration{75 * time.Millisecond, 150 * time.Millisecond}},
			"busy longer": {remotetest.Faults{Busy: 4}, []time.Duration{
				75 * time.Millisecond, 150 * time.Millisecond,
				225 * time.Millisecond, 225 * time.Millisecond,
			}},
			"cut once": {remotetest.Faults{Cut: 1}, []time.Duration{75 * time.Millisecond}},
			"told to wait": {
				remotetest.Faults{Busy: 1, RetryAfter: "7"},
				map[string][]time.Duration{"grpc": {75 * time.Millisecond}, "http": {7 * time.Second}}[scheme],
			},
			"too many": {
				remotetest.Faults{Busy: 1, RetryAfter: "7", TooMany: true},
				map[string][]time.Duration{"grpc": {75 * time.Millisecond}, "http": {7 * time.Second}}[scheme],
			},
		} {
			t.Run(name+"/"+scheme, func(t *testing.T) {
				var w waits
				m, s := network(t, scheme, remotetest.Options{}, remote.Config{Retry: remote.Retry{
					Base: 100 * time.Millisecond, Max: 300 * time.Millisecond, Jitter: func() float64 { return 0.5 },
					Wait: w.wait,
				}})
				if _, err := m.Run(t.Context(), in); err != nil { // the form is settled, and the connection made
					t.Fatal(err)
				}
				s.Break(c.f)
				got, err := m.Run(t.Context(), in)
				if err != nil {
					t.Fatal(err)
				}
				if err := enginetest.Compare(got, near(t, in), 0); err != nil {
					t.Error(err)
				}
				if !slices.Equal(w.d, c.want) {
					t.Errorf("waited %v, want %v", w.d, c.want)
				}
			})
		}
	}
}

func TestNoPatience(t *testing.T) {
	for name, f := range map[string]remotetest.Faults{
		"which is longer than the 1m0s that are waited for":               {Busy: 1, RetryAfter: "3600"},
		"it answers 429 Too Many Requests: \"out of breath\"; lower conc": {Busy: 1, TooMany: true},
	} {
		m, s := network(t, "http", remotetest.Options{},
			remote.Config{Retry: remote.Retry{Wait: func(context.Context, time.Duration) error {
				t.Error("waits all the same")
				return nil
			}}})
		s.Break(f)
		if _, err := m.Run(t.Context(), enginetest.Images(1)); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("got %v, want %s", err, name)
		}
	}
}

// NaN and infinity are numbers like others: it is not for the wire to judge them.
func TestNaNPasses(t *testing.T) {
	special := []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), -0.5}
	for _, c := range []struct {
		scheme string
		o      remotetest.Options
		json   bool
	}{
		{"grpc", remotetest.Options{}, false},
		{"grpc", remotetest.Options{Typed: true}, false},
		{"http", remotetest.Options{}, false},
		{"http", remotetest.Options{}, true},
	} {
		m, s := network(t, c.scheme, c.o, remote.Config{JSON: c.json})
		s.Break(remotetest.Faults{Answer: func(ts []tensor.Named) []tensor.Named {
			ts = slices.Clone(ts)
			v := make([]float32, 10)
			copy(v, special)
			ts[0].Tensor = tensor.FromFloat32(v, 1, 10)
			return ts
		}})
		got, err := m.Run(t.Context(), enginetest.Images(1))
		if err != nil {
			t.Fatal(err)
		}
		v, err := got[0].Float32s()
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range special {
			if c.json && i < 3 { // all of them are null
				want = float32(math.NaN())
			}
			if math.IsNaN(float64(want)) != math.IsNaN(float64(v[i])) || !math.IsNaN(float64(want)) && v[i] != want {
				t.Errorf("%v: element %d is %v, want %v", c, i, v[i], want)
			}
		}
	}
	m, _ := network(t, "http", remotetest.Options{}, remote.Config{JSON: true})
	in := enginetest.Images(1)
	binary.LittleEndian.PutUint32(in[0].Raw[8:], math.Float32bits(special[0]))
	if _, err := m.Run(t.Context(), in); err == nil ||
		!strings.Contains(err.Error(), "element 2 is NaN, for which JSON has no word") {
		t.Errorf("NaN as JSON: %v", err)
	}
}

// A server that goes away and comes back at the same place is found again by the same model.
func TestRestart(t *testing.T) {
	in := enginetest.Images(2)
	for _, scheme := range schemes {
		t.Run(scheme, func(t *testing.T) {
			var s *remotetest.Server
			var tries atomic.Int32
			m, s := network(t, scheme, remotetest.Options{},
				remote.Config{Retry: remote.Retry{Attempts: 50, Wait: func(context.Context, time.Duration) error {
					if tries.Add(1) == 3 {
						return s.Restart()
					}
					time.Sleep(20 * time.Millisecond)
					return nil
				}}})
			want, err := m.Run(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Kill(); err != nil {
				t.Fatal(err)
			}
			got, err := m.Run(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			if err := enginetest.Compare(got, want, 0); err != nil {
				t.Error(err)
			}
			if tries.Load() < 3 {
				t.Errorf("%d tries", tries.Load())
			}
		})
	}
}

func TestConnectRefuses(t *testing.T) {
	models, s := serve(t, remotetest.Options{})
	if err := models.Load(t.Context(), "net", enginetest.Network().Bytes(), engine.Options{}); err != nil {
		t.Fatal(err)
	}
	// accepts by the kernel alone and never speaks
	idle, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = idle.Close() }() // nothing is lost
	gone, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	down := gone.Addr().String()
	if err := gone.Close(); err != nil {
		t.Fatal(err)
	}
	quick := remote.Retry{Attempts: 2, Wait: new(waits).wait}
	for name, c := range map[string]struct {
		c    remote.Config
		want string
	}{
		"another model over gRPC": {remote.Config{URL: s.URL("grpc", "gone")}, `the server has no model "gone"`},
		"another model over HTTP": {
			remote.Config{URL: s.URL("http", "gone")},
			`there is no model "gone": it answers 404 Not Found`,
		},
		"nobody there, gRPC": {
			remote.Config{URL: "grpc://" + down + "/m", Retry: quick},
			"not available: connection error",
		},
		"nobody there, HTTP": {
			remote.Config{URL: "http://" + down + "/m", Retry: quick},
			"is the server running, and is this its HTTP port? (tried 2 times)",
		},
		"silence, gRPC": {remote.Config{
			URL:     "grpc://" + idle.Addr().String() + "/m",
			Timeout: 200 * time.Millisecond,
		}, "no answer within 200ms"},
		"silence, HTTP": {remote.Config{
			URL:     "http://" + idle.Addr().String() + "/m",
			Timeout: 200 * time.Millisecond,
		}, "no answer within 200ms"},
		"HTTP at the gRPC port": {remote.Config{
			URL:   strings.Replace(s.URL("grpc", "net"), "grpc", "http", 1),
			Retry: quick,
		}, "HTTP port?"},
		"gRPC at the HTTP port": {remote.Config{
			URL:   strings.Replace(s.URL("http", "net"), "http", "grpc", 1),
			Retry: quick,
		}, "gRPC port?"},
		"no encryption, gRPC": {remote.Config{
			URL:   strings.Replace(s.URL("grpc", "net"), "grpc", "grpcs", 1),
			Retry: quick,
		}, "it does not encrypt; if that is meant, use grpc://"},
		"no encryption, HTTP": {remote.Config{
			URL:   strings.Replace(s.URL("http", "net"), "http", "https", 1),
			Retry: quick,
		}, "it does not encrypt; if that is meant, use http://"},
		"a token in the clear": {
			remote.Config{
				URL:    "http://192.0.2.1/m",
				Header: http.Header{"Authorization": {"Bearer x"}},
			},
			"would travel unencrypted; use https://, or say insecure: true",
		},
		"a header with a break": {
			remote.Config{URL: "https://192.0.2.1/m", Header: http.Header{"X": {"a\nb"}}},
			"cannot be sent",
		},
		"no certificate": {
			remote.Config{URL: "https://192.0.2.1/m", CA: []byte("hello")},
			"the file of ca holds no certificate",
		},
		"no URL": {remote.Config{URL: "somewhere"}, "expected SCHEME://HOST:PORT/MODEL"},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := remote.Connect(t.Context(), c.c)
			if err == nil {
				_ = m.Close() // it is an error that it opened
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

// Certificates are checked, and the message says which part of the check failed.
func TestCertificates(t *testing.T) {
	for name, c := range map[string]struct {
		year     int
		host     string
		ca       bool
		insecure bool
		want     string
	}{
		"right": {2099, "127.0.0.1", true, false, ""},
		"expired": {
			2001, "127.0.0.1", true, false,
			"its certificate is valid from 2000-01-01 00:00 to 2001-01-01 00:00 UTC only; renew it on the server",
		},
		"for another host": {2099, "elsewhere.example", true, false, `its certificate is not for "127.0.0.1"`},
		"signed by nobody": {
			2099, "127.0.0.1", false, false,
			"its certificate is signed by nobody whom this machine trusts; name the file of the signer's certificate " +
				"with ca: FILE.pem",
		},
		"expired, but told":  {2001, "127.0.0.1", false, true, ""},
		"other host, told":   {2099, "elsewhere.example", true, true, ""},
		"nobody's, but told": {2099, "127.0.0.1", false, true, ""},
	} {
		cert, err := remotetest.NewCertificate(c.year, c.host)
		if err != nil {
			t.Fatal(err)
		}
		models, s := serve(t, remotetest.Options{Certificate: cert})
		if err := models.Load(t.Context(), "net", enginetest.Network().Bytes(), engine.Options{}); err != nil {
			t.Fatal(err)
		}
		for _, scheme := range schemes {
			t.Run(name+"/"+scheme, func(t *testing.T) {
				config := remote.Config{
					URL: s.URL(scheme, "net"), Insecure: c.insecure,
					Retry: remote.Retry{Wait: func(context.Context, time.Duration) error {
						t.Error("a certificate does not heal by waiting")
						return nil
					}},
				}
				if c.ca {
					config.CA = cert.CA
				}
				m, err := remote.Connect(t.Context(), config)
				if err == nil {
					_ = m.Close() // only connected
				}
				if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
					t.Errorf("got  %v\nwant %s", err, c.want)
				}
			})
		}
	}
}

// A token opens the door, its lack is explained, and it is in no message even if the server repeats it.
func TestToken(t *testing.T) {
	const token = "s3cr3t-t0ken"
	for _, scheme := range schemes {
		header := http.Header{"Authorization": {"Bearer " + token}}
		m, s := network(t, scheme, remotetest.Options{Token: token}, remote.Config{Header: header})
		if _, err := m.Run(t.Context(), enginetest.Images(1)); err != nil {
			t.Error(err)
		}
		for _, h := range []http.Header{nil, {"Authorization": {"Bearer " + token + token}}} {
			_, err := remote.Connect(t.Context(), remote.Config{URL: s.URL(scheme, "net"), Header: h})
			if err == nil || !strings.Contains(err.Error(), "refused") || !strings.Contains(err.Error(), "token_env") ||
				strings.Contains(err.Error(), "t0ken") {
				t.Errorf("%s: %v", scheme, err)
			}
		}
	}
}

func TestHeaders(t *testing.T) {
	h, err := remote.Headers("X-One: a: b\n\n  x-two:c \r\n")
	if err != nil || h.Get("X-One") != "a: b" || h.Get("X-Two") != "c" || len(h) != 2 {
		t.Errorf("%v, %v", h, err)
	}
	for _, text := range []string{"hunter2", "a b: c", ": c", "é: c"} {
		if _, err := remote.Headers(text); err == nil ||
			!strings.Contains(err.Error(), "line 1: expected Name: value") || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// No more calls are under way than the configuration says.
func TestConcurrency(t *testing.T) {
	var now, most atomic.Int32
	models, _ := serve(t, remotetest.Options{})
	if err := models.Load(t.Context(), "net", enginetest.Network().Bytes(), engine.Options{}); err != nil {
		t.Fatal(err)
	}
	b := counting{models, &now, &most}
	s, err := remotetest.Start(b, remotetest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }() // all is checked by then
	for _, scheme := range schemes {
		most.Store(0)
		m, err := remote.Connect(t.Context(), remote.Config{URL: s.URL(scheme, "net"), Concurrency: 3})
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for range 12 {
			wg.Go(func() {
				if _, err := m.Run(t.Context(), enginetest.Images(1)); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if n := most.Load(); n != 3 {
			t.Errorf("%s: %d calls at once, want 3", scheme, n)
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
}

type counting struct {
	*remotetest.Models
	now, most *atomic.Int32
}

func (c counting) Infer(ctx context.Context, model string, in []tensor.Named) ([]tensor.Named, error) {
	n := c.now.Add(1)
	defer c.now.Add(-1)
	for old := c.most.Load(); n > old && !c.most.CompareAndSwap(old, n); old = c.most.Load() {
	}
	time.Sleep(20 * time.Millisecond)
	return c.Models.Infer(ctx, model, in)
}

// A fingerprint stays when a model moves and changes when another takes its place.
func TestFingerprint(t *testing.T) {
	in := enginetest.Images(1)
	fingerprint := func(scheme string, model tiny.Model, o remotetest.Options) string {
		t.Helper()
		models, s := serve(t, o)
		if err := models.Load(t.Context(), "net", model.Bytes(), engine.Options{}); err != nil {
			t.Fatal(err)
		}
		m, err := remote.Connect(t.Context(), remote.Config{URL: s.URL(scheme, "net")})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = m.Close() }() // only run
		d, repeats, err := m.Fingerprint(t.Context(), in)
		if err != nil || !repeats {
			t.Fatal(repeats, err)
		}
		return d
	}
	first := fingerprint("grpc", enginetest.Network(), remotetest.Options{})
	if again := fingerprint("http", enginetest.Network(), remotetest.Options{}); again != first {
		t.Error("the same model elsewhere has another fingerprint")
	}
	other := enginetest.Network()
	other.Constants = slices.Clone(other.Constants)
	last := &other.Constants[len(other.Constants)-1]
	last.Tensor = last.Clone()
	last.Raw[1] ^= 1
	if fingerprint("grpc", other, remotetest.Options{}) == first {
		t.Error("a model with one other bit in its weights has the same fingerprint")
	}
	if fingerprint("grpc", enginetest.Network(), remotetest.Options{Version: "2"}) == first {
		t.Error("another version has the same fingerprint")
	}
	// A model that answers otherwise each time.
	m, s := network(t, "grpc", remotetest.Options{}, remote.Config{})
	var calls atomic.Int32
	s.Break(remotetest.Faults{Answer: func(ts []tensor.Named) []tensor.Named {
		ts = slices.Clone(ts)
		ts[0].Tensor = ts[0].Clone()
		ts[0].Raw[0] ^= byte(calls.Add(1))
		return ts
	}})
	a, repeats, err := m.Fingerprint(t.Context(), in)
	if err != nil || repeats {
		t.Error(repeats, err)
	}
	if b, _, err := m.Fingerprint(t.Context(), in); a != b || err != nil {
		t.Error("the fingerprint of a model that does not repeat itself changes")
	}
}

// A server can be put before another one: a proxy that breaks things before a real server.
func TestProxy(t *testing.T) {
	for _, inner := range schemes {
		m, _ := network(t, inner, remotetest.Options{}, remote.Config{})
		p, err := remotetest.Start(remotetest.Behind{Model: m}, remotetest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		outer, err := remote.Connect(t.Context(), remote.Config{URL: p.URL("grpc", "any")})
		if err != nil {
			t.Fatal(err)
		}
		in := enginetest.Images(4)
		got, err := outer.Run(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		if err := enginetest.Compare(got, near(t, in), 0); err != nil {
			t.Error(err)
		}
		p.Break(remotetest.Faults{Half: true})
		if _, err := outer.Run(t.Context(), in); err == nil {
			t.Error("half an answer passes")
		}
		if err := errors.Join(outer.Close(), p.Close()); err != nil {
			t.Error(err)
		}
	}
}

// Big messages pass, beyond the 4 MB that gRPC allows by itself, and messages beyond the limit are refused in both
// directions.
func TestMessageLimit(t *testing.T) {
	models, s := serve(t, remotetest.Options{})
	wide := tiny.Model{
		Nodes: []tiny.Node{{
			Op: "Concat", Inputs: []string{"x", "x"}, Outputs: []string{"y"},
			Attrs: []tiny.Attr{{Name: "axis", Value: 1}},
		}},
		Inputs:  []tiny.Port{{Name: "x", DType: tensor.Float32, Shape: []int{tiny.Free, tiny.Free}}},
		Outputs: []tiny.Port{{Name: "y", DType: tensor.Float32, Shape: []int{tiny.Free, tiny.Free}}},
	}
	if err := models.Load(t.Context(), "wide", wide.Bytes(), engine.Options{}); err != nil {
		t.Fatal(err)
	}
	for _, scheme := range schemes {
		m, err := remote.Connect(t.Context(), remote.Config{URL: s.URL(scheme, "wide"), MaxMessage: 20 << 20})
		if err != nil {
			t.Fatal(err)
		}
		for n, want := range map[int]string{
			2 << 20: "", 3 << 20: "lower batch",
			6 << 20: "longer than the 20971520 that are allowed; lower batch",
		} {
			x := tensor.New(tensor.Float32, 1, n)
			out, err := m.Run(t.Context(), []tensor.Named{{Name: "x", Tensor: x}})
			switch {
			case want == "" && err != nil:
				t.Errorf("%s: %d numbers: %v", scheme, n, err)
			case want == "" && (len(out[0].Raw) != 8*n || !bytes.Equal(out[0].Raw[:4*n], x.Raw)):
				t.Errorf("%s: %d numbers come back as %v", scheme, n, out[0].Shape)
			case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
				t.Errorf("%s: %d numbers: got %v, want %s", scheme, n, err, want)
			}
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]remote.Endpoint{
		"grpc://127.0.0.1:9000/farneback": {Scheme: "grpc", Host: "127.0.0.1", Port: 9000, Model: "farneback"},
		"GRPCS://h:1/a%20b%2Fc":           {Scheme: "grpcs", Host: "h", Port: 1, Model: "a b/c"},
		"http://h/m":                      {Scheme: "http", Host: "h", Port: 80, Model: "m"},
		"https://[::1]/m/":                {Scheme: "https", Host: "::1", Port: 443, Model: "m"},
		"https://h:8443/a/b/m":            {Scheme: "https", Host: "h", Port: 8443, Prefix: "/a/b", Model: "m"},
		"http://h:8080/v2/models/m":       {Scheme: "http", Host: "h", Port: 8080, Model: "m"},
		"http://h:8080/serving/v2/models/m/infer": {
			Scheme: "http", Host: "h", Port: 8080, Prefix: "/serving",
			Model: "m",
		},
		"http://h:8080/%C3%A9t%C3%A9": {Scheme: "http", Host: "h", Port: 8080, Model: "été"},
	} {
		got, err := remote.Parse(text)
		if err != nil || got != want {
			t.Errorf("%s: %+v (%v), want %+v", text, got, err, want)
		}
		if back, err := remote.Parse(got.String()); err != nil || back != want {
			t.Errorf("%s is written as %s, which reads as %+v (%v)", text, got, back, err)
		}
	}
	for text, want := range map[string]string{
		"":                       "the scheme is",
		"m.onnx":                 "the scheme is",
		"ftp://h/m":              "the scheme is",
		"grpc://h/m":             "no port; gRPC servers have no usual one",
		"grpc://h:0/m":           "expected 1 to 65535",
		"grpc://h:65536/m":       "expected 1 to 65535",
		"grpc://h:1":             "no model",
		"grpc://h:1/a/b":         "gRPC knows no paths",
		"http:///m":              "no host",
		"http://me:hunter2@h/m":  "no place for passwords",
		"http://me:hunter2@h:x/": "not a URL",
		"http://h/m?x=1":         "neither ? nor #",
	} {
		if _, err := remote.Parse(text); err == nil || !strings.Contains(err.Error(), want) ||
			strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}
