package enginetest_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"nero/data/tensor"
	"nero/model/engine"
	"nero/model/engine/choose"
	"nero/model/engine/enginetest"
)

// faulty wraps a good engine and spoils one thing. The kit must find every one of them.
type faulty struct {
	engine.Engine
	// nil: as it is
	open func(ctx context.Context, model []byte, o engine.Options) (engine.Session, error)
	// nil: as it is
	run func(s *faultySession, ctx context.Context, in []tensor.Named) ([]tensor.Named, error)
	// nil: as it is
	shut func(s *faultySession) error
	info *engine.Info
	// concurrent is what it says of itself; nil: as it is.
	concurrent *bool
}

func (f *faulty) Concurrent() bool {
	if f.concurrent != nil {
		return *f.concurrent
	}
	return f.Engine.Concurrent()
}

func (f *faulty) Info() engine.Info {
	if f.info != nil {
		return *f.info
	}
	return f.Engine.Info()
}

func (f *faulty) Open(ctx context.Context, model []byte, o engine.Options) (engine.Session, error) {
	open := f.open
	if open == nil {
		open = f.Engine.Open
	}
	s, err := open(ctx, model, o)
	if err != nil {
		return nil, err
	}
	return &faultySession{Session: s, f: f}, nil
}

type faultySession struct {
	engine.Session
	f    *faulty
	runs atomic.Int64
	last []tensor.Named
}

func (s *faultySession) Run(ctx context.Context, in []tensor.Named) ([]tensor.Named, error) {
	s.runs.Add(1)
	if s.f.run != nil {
		return s.f.run(s, ctx, in)
	}
	return s.Session.Run(ctx, in)
}

func (s *faultySession) Close() error {
	if s.f.shut != nil {
		return s.f.shut(s)
	}
	return s.Session.Close()
}

type openAnything struct{}

func (openAnything) Inputs() []string  { return nil }
func (openAnything) Outputs() []string { return nil }
func (openAnything) Close() error      { return nil }
func (openAnything) Run(context.Context, []tensor.Named) ([]tensor.Named, error) {
	return nil, errors.New("nothing was opened")
}

// add changes the first float32 output by the size of its last value and more.
func add(out []tensor.Named, by float32) []tensor.Named {
	for _, y := range out {
		if v, err := y.Float32s(); err == nil && len(v) > 0 {
			v[len(v)-1] += by
			break
		}
	}
	return out
}

// mixer lets calls that are under way at the same time swap their results, whether they use one session or several. It
// waits for a second call, so that what is found does not hang on how goroutines are scheduled.
func mixer() func(s *faultySession, ctx context.Context, in []tensor.Named) ([]tensor.Named, error) {
	var mu sync.Mutex // of the engine beneath, which need not be concurrent
	var calls atomic.Int64
	there, back := make(chan []tensor.Named), make(chan []tensor.Named)
	return func(s *faultySession, ctx context.Context, in []tensor.Named) ([]tensor.Named, error) {
		mu.Lock()
		out, err := s.Session.Run(ctx, in)
		mu.Unlock()
		const alone = 4 // the check's first calls, one after the other, give what it compares with
		if err != nil || calls.Add(1) <= alone {
			return out, err
		}
		select {
		case other := <-there:
			back <- out
			return other, nil
		case there <- out:
			return <-back, nil
		case <-time.After(20 * time.Second): // nobody came: the check does not run calls at the same time
			return out, nil
		}
	}
}

func TestTheKitFindsFaults(t *testing.T) {
	good := open(t, choose.Auto)
	for name, c := range map[string]struct {
		engine *faulty
		// at least this one must fail
		check string
	}{
		"says nothing of itself": {&faulty{info: &engine.Info{}}, "info"},
		"adds what was there before": {&faulty{run: func(s *faultySession, ctx context.Context,
			in []tensor.Named,
		) ([]tensor.Named, error) {
			out, err := s.Session.Run(ctx, in)
			if s.runs.Load() > 1 {
				add(out, 1)
			}
			return out, err
		}}, "operators"},
		"is wrong from the second run of a shape on": {&faulty{run: func(s *faultySession, ctx context.Context,
			in []tensor.Named,
		) ([]tensor.Named, error) {
			out, err := s.Session.Run(ctx, in)
			if s.runs.Load() > 3 {
				add(out, 1e-3)
			}
			return out, err
		}}, "unused values"},
		"gives float32 for everything": {&faulty{run: func(s *faultySession, ctx context.Context,
			in []tensor.Named,
		) ([]tensor.Named, error) {
			out, err := s.Session.Run(ctx, in)
			for i := range out {
				if out[i].DType == tensor.Int32 {
					out[i].DType = tensor.Float32
				}
			}
			return out, err
		}}, "types"},
		"sorts its outputs": {&faulty{run: func(s *faultySession, ctx context.Context,
			in []tensor.Named,
		) ([]tensor.Named, error) {
			out, err := s.Session.Run(ctx, in)
			if len(out) == 2 && out[0].Name > out[1].Name {
				out[0], out[1] = out[1], out[0]
			}
			return out, err
		}}, "ports"},
		"ignores the names of inputs": {&faulty{run: func(s *faultySession, ctx context.Context,
			in []tensor.Named,
		) ([]tensor.Named, error) {
			if len(in) == 1 {
				in = []tensor.Named{{Name: s.Inputs()[0], Tensor: in[0].Tensor}}
			}
			return s.Session.Run(ctx, in)
		}}, "refusals"},
		"is broken after an error": {&faulty{run: func(s *faultySession, ctx context.Context,
			in []tensor.Named,
		) ([]tensor.Named, error) {
			if s.runs.Load() > 1000 {
				return nil, errors.New("broken")
			}
			out, err := s.Session.Run(ctx, in)
			if err != nil {
				s.runs.Store(1000)
			}
			return out, err
		}}, "failures"},
		"opens anything": {&faulty{open: func(ctx context.Context, model []byte, o engine.Options) (engine.Session,
			error,
		) {
			s, err := good.Open(ctx, model, o)
			if err != nil && ctx.Err() == nil {
				return openAnything{}, nil
			}
			return s, err
		}}, "foreign files"},
		"uses its results again": {&faulty{run: func(s *faultySession, ctx context.Context,
			in []tensor.Named,
		) ([]tensor.Named, error) {
			out, err := s.Session.Run(ctx, in)
			if s.last != nil && len(out) == len(s.last) {
				for i := range out {
					copy(s.last[i].Raw, out[i].Raw)
				}
			}
			s.last = out
			return out, err
		}}, "memory"},
		"writes to its inputs": {&faulty{run: func(s *faultySession, ctx context.Context,
			in []tensor.Named,
		) ([]tensor.Named, error) {
			out, err := s.Session.Run(ctx, in)
			add(in, 1)
			return out, err
		}}, "memory"},
		"drifts": {&faulty{run: func(s *faultySession, ctx context.Context, in []tensor.Named) ([]tensor.Named, error) {
			out, err := s.Session.Run(ctx, in)
			return add(out, 1e-6*float32(s.runs.Load())), err
		}}, "repeats"},
		"depends on the batch": {&faulty{run: func(s *faultySession, ctx context.Context,
			in []tensor.Named,
		) ([]tensor.Named, error) {
			out, err := s.Session.Run(ctx, in)
			if len(in) == 1 && len(in[0].Shape) > 0 && in[0].Shape[0] == 7 {
				add(out, 1e-3)
			}
			return out, err
		}}, "batches"},
		"ignores the context": {&faulty{run: func(s *faultySession, _ context.Context,
			in []tensor.Named,
		) ([]tensor.Named, error) {
			return s.Session.Run(context.Background(), in)
		}}, "context"},
		"runs after Close": {&faulty{shut: func(*faultySession) error { return nil }}, "close"},
		"closes only once": {&faulty{shut: func(s *faultySession) error {
			if s.runs.Add(1<<20) >= 1<<21 {
				return errors.New("closed twice")
			}
			return s.Session.Close()
		}}, "close"},
		"mixes up the goroutines of a session": {&faulty{concurrent: new(true), run: mixer()}, "goroutines"},
		"mixes up sessions":                    {&faulty{concurrent: new(false), run: mixer()}, "goroutines"},
		"computes otherwise without optimization": {&faulty{open: func(ctx context.Context, model []byte,
			o engine.Options,
		) (engine.Session, error) {
			s, err := good.Open(ctx, model, o)
			if err == nil && o.Plain {
				return &faultySession{
					Session: s,
					f: &faulty{run: func(s *faultySession, ctx context.Context, in []tensor.Named) ([]tensor.Named,
						error,
					) {
						out, err := s.Session.Run(ctx, in)
						return add(out, 1e-3), err
					}},
				}, nil
			}
			return s, err
		}}, "no optimization"},
	} {
		t.Run(name, func(t *testing.T) {
			c.engine.Engine = good
			for _, check := range enginetest.Checks() {
				if check.Name == c.check && check.Run(t.Context(), c.engine) == nil {
					t.Errorf("the check %q does not find it", check.Name)
				}
			}
		})
	}
}

func TestEveryCheckIsDescribed(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range enginetest.Checks() {
		if c.Name == "" || c.Doc == "" || c.Run == nil || seen[c.Name] {
			t.Errorf("%+v", c.Name)
		}
		seen[c.Name] = true
	}
}

// Both bodies are the same program: they agree on a network to rounding.
func TestWasmAndNativeAgree(t *testing.T) {
	native, wasm := open(t, choose.Native), open(t, choose.Wasm)
	in := enginetest.Images(16)
	run := func(e engine.Engine) []tensor.Named {
		t.Helper()
		s, err := e.Open(t.Context(), enginetest.Network().Bytes(), engine.Options{Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = s.Close() }() // only run
		var out []tensor.Named
		for range 3 {
			if out, err = s.Run(t.Context(), in); err != nil {
				t.Fatal(err)
			}
		}
		return out
	}
	if err := enginetest.Compare(run(wasm), run(native), enginetest.Floor); err != nil {
		t.Errorf("wasm against native: %v", err)
	}
}
