package remote_test

import (
	"context"
	"sync"
	"testing"

	"nero/internal/slow"
	"nero/model/engine"
	"nero/model/engine/choose"
	"nero/model/engine/choose/choosetest"
	"nero/model/engine/enginetest"
	"nero/model/engine/remote"
	"nero/model/engine/remote/remotetest"
)

var opened struct {
	once sync.Once
	e    engine.Engine
	err  error
}

// body is the engine that test servers run: what choose finds, opened once, because starting wasm is slow under the
// race detector.
func body(tb testing.TB) engine.Engine {
	tb.Helper()
	opened.once.Do(func() {
		opened.e, opened.err = choose.Open(context.Background(), choose.Request{Kind: choose.Auto}, choosetest.Host())
	})
	if opened.err != nil {
		tb.Fatal(opened.err)
	}
	return opened.e
}

// serve starts a server of models on the body. It ends with the test.
func serve(tb testing.TB, o remotetest.Options) (*remotetest.Models, *remotetest.Server) {
	tb.Helper()
	models := remotetest.NewModels(body(tb))
	s, err := remotetest.Start(models, o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
		if err := models.Close(); err != nil {
			tb.Error(err)
		}
	})
	return models, s
}

// The kit holds for models behind a server as it does for the engine that the server runs.
func TestConformance(t *testing.T) {
	for _, scheme := range []string{"grpc", "http"} {
		t.Run(scheme, func(t *testing.T) {
			models, s := serve(t, remotetest.Options{})
			enginetest.Run(t, &remotetest.Engine{Models: models, Server: s, Scheme: scheme})
		})
	}
}

func TestConformanceEncrypted(t *testing.T) {
	slow.Test(t)
	c, err := remotetest.NewCertificate(2099, "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	for _, scheme := range []string{"grpc", "http"} {
		t.Run(scheme, func(t *testing.T) {
			models, s := serve(t, remotetest.Options{Certificate: c})
			enginetest.Run(t, &remotetest.Engine{
				Models: models, Server: s, Scheme: scheme,
				Config: remote.Config{CA: c.CA},
			})
		})
	}
}
