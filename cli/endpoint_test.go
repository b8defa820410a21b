package cli

import (
	"context"
	"errors"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"nero/data/tensor"
	"nero/model/engine"
	"nero/model/engine/choose"
	"nero/model/engine/choose/choosetest"
	"nero/model/engine/remote/remotetest"

	"github.com/rogpeppe/go-internal/testscript"
)

// endpoint is a server of one script, and the model that it serves.
type endpoint struct {
	models *remotetest.Models
	server *remotetest.Server
	// calls until it dies; negative for never
	left atomic.Int64
	died chan struct{}
}

// infer counts calls and runs the model.
func (e *endpoint) infer(ctx context.Context, model string, in []tensor.Named) ([]tensor.Named, error) {
	if e.left.Add(-1) == 0 {
		go func() { _ = e.server.Kill(); close(e.died) }() // not from within a call, which would wait for itself
	}
	return e.models.Infer(ctx, model, in)
}

// serveModel is the command of the scripts about endpoints:
//
//	endpoint start FILE.onnx [token=T] [certificate=expired|elsewhere|good] [json]
//	endpoint break slow|busy|cut|half|garbage|shapes|names|types|nan|version
//	endpoint mend
//	endpoint load FILE.onnx
//	endpoint die CALLS
//	endpoint restart
//	endpoint study FILE LINE...
//
// start serves the file as "model" and sets GRPC and HTTP to its endpoints and CA to the certificate of its authority;
// die ends it, as kill -9 would, after so many more calls; restart waits for that and starts it at the same ports;
// study writes a file, in which the script's variables can stand.
func serveModel(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: endpoint WHAT [ARG...]")
	}
	now, _ := ts.Value(endpointKey{}).(*atomic.Pointer[endpoint])
	if now == nil {
		ts.Fatalf("the script has no place for an endpoint")
	}
	switch args[0] {
	case "start":
		startEndpoint(ts, now, args[1:])
		return
	case "study":
		ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(strings.Join(args[2:], "\n")+"\n"), 0o600))
		return
	}
	e := now.Load()
	if e == nil {
		ts.Fatalf("no endpoint was started")
	}
	switch what := args[0]; what {
	case "break":
		f, ok := brokenEndpoints[args[1]]
		if !ok {
			ts.Fatalf("it cannot be broken by %s", args[1])
		}
		e.server.Break(f)
	case "mend":
		e.server.Break(remotetest.Faults{})
	case "load":
		b, err := os.ReadFile(ts.MkAbs(args[1]))
		ts.Check(err)
		ts.Check(e.models.Unload("model"))
		ts.Check(e.models.Load(context.Background(), "model", b, engine.Options{Threads: 1}))
	case "die":
		n, err := strconv.ParseInt(args[1], 10, 64)
		ts.Check(err)
		e.died = make(chan struct{})
		e.left.Store(n)
	case "restart":
		select {
		case <-e.died:
		case <-time.After(time.Minute):
			ts.Fatalf("the endpoint is still alive")
		}
		ts.Check(e.server.Restart())
	default:
		ts.Fatalf("endpoint %s: what is that?", what)
	}
}

type endpointKey struct{}

var brokenEndpoints = map[string]remotetest.Faults{
	"slow":    {Delay: time.Minute},
	"busy":    {Busy: 1 << 30},
	"cut":     {Cut: 1 << 30},
	"half":    {Half: true},
	"garbage": {Garbage: true},
	"version": {Version: "2"},
	"names": {Answer: changed(func(t *tensor.Named) {
		t.Name = "else"
	})},
	"types": {Answer: changed(func(t *tensor.Named) { t.Tensor = tensor.New(tensor.Float64, t.Shape...) })},
	"shapes": {Answer: changed(func(t *tensor.Named) {
		s := slices.Clone(t.Shape)
		s[len(s)-1]++
		t.Tensor = tensor.New(tensor.Float32, s...)
	})},
	"nan": {Answer: changed(func(t *tensor.Named) {
		t.Tensor = t.Clone()
		nan := math.Float32bits(float32(math.NaN()))
		t.Raw[0], t.Raw[1], t.Raw[2], t.Raw[3] = byte(nan), byte(nan>>8), byte(nan>>16), byte(nan>>24)
	})},
}

// changed changes the first output.
func changed(f func(*tensor.Named)) func([]tensor.Named) []tensor.Named {
	return func(ts []tensor.Named) []tensor.Named {
		ts = slices.Clone(ts)
		f(&ts[0])
		return ts
	}
}

func startEndpoint(ts *testscript.TestScript, now *atomic.Pointer[endpoint], args []string) {
	var o remotetest.Options
	for _, a := range args[1:] {
		name, value, _ := strings.Cut(a, "=")
		var err error
		switch name {
		case "token":
			o.Token = value
		case "json":
			o.NoBinary = true
		case "certificate":
			year, host := 2099, "127.0.0.1"
			switch value {
			case "expired":
				year = 2001
			case "elsewhere":
				host = "elsewhere.example"
			}
			o.Certificate, err = remotetest.NewCertificate(year, host)
			ts.Check(err)
			ca := ts.MkAbs("ca.pem")
			ts.Check(os.WriteFile(ca, o.Certificate.CA, 0o600))
		default:
			ts.Fatalf("endpoint start: unknown option %s", a)
		}
	}
	if old := now.Load(); old != nil {
		ts.Check(errors.Join(old.server.Close(), old.models.Close()))
	}
	c, err := choose.Open(context.Background(), choose.Request{Kind: choose.Auto}, choosetest.Host())
	ts.Check(err)
	e := &endpoint{models: remotetest.NewModels(c.Engine)}
	e.left.Store(-1)
	b, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Check(e.models.Load(context.Background(), "model", b, engine.Options{Threads: 1}))
	e.server, err = remotetest.Start(mortal{e.models, e}, o)
	ts.Check(err)
	now.Store(e)
	ts.Setenv("GRPC", e.server.URL("grpc", "model"))
	ts.Setenv("HTTP", e.server.URL("http", "model"))
}

// mortal are models that die with their server.
type mortal struct {
	*remotetest.Models
	e *endpoint
}

// Infer counts calls.
func (m mortal) Infer(ctx context.Context, model string, in []tensor.Named) ([]tensor.Named, error) {
	return m.e.infer(ctx, model, in)
}
