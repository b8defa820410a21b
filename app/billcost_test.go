package app

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"nero/data/space"
	"nero/data/tensor"
	"nero/model/decode"
	"nero/model/engine"
	"nero/model/engine/provider"
	"nero/model/onnx"
	"nero/repair"
	"nero/run/eval"
)

// paces are the clocks of a test: of this process, of a process apart, and of the wall, which other work moves too.
type paces struct{ here, there, wall time.Duration }

// paced is an engine whose models take so long for one answer, in this process or apart from it.
type paced struct {
	info engine.Info
	to   *paces
}

func (e *paced) Info() engine.Info { return e.info }
func (*paced) Concurrent() bool    { return true }
func (e *paced) Open(_ context.Context, model []byte, _ engine.Options) (engine.Session, error) {
	return &pacedSession{e, time.Duration(model[0]) * time.Millisecond}, nil
}

// yonder is one with a process of its own; err is why nobody knows what that took.
type yonder struct {
	paced
	err error
}

func (e *yonder) Spent(context.Context) (time.Duration, error) { return e.to.there, e.err }
func (e *yonder) Open(_ context.Context, model []byte, _ engine.Options) (engine.Session, error) {
	return &yonderSession{pacedSession{&e.paced, time.Duration(model[0]) * time.Millisecond}}, nil
}

type pacedSession struct {
	e    *paced
	each time.Duration
}

func (*pacedSession) Inputs() []string  { return []string{"x"} }
func (*pacedSession) Outputs() []string { return []string{"y"} }
func (*pacedSession) Close() error      { return nil }
func (s *pacedSession) Run(context.Context, []tensor.Named) ([]tensor.Named, error) {
	s.e.to.here += s.each
	s.e.to.wall += 10 * s.each
	return []tensor.Named{{Name: "y", Tensor: tensor.New(tensor.Float32, 1, 2)}}, nil
}

type yonderSession struct{ pacedSession }

func (s *yonderSession) Run(ctx context.Context, in []tensor.Named) ([]tensor.Named, error) {
	s.e.to.here -= s.each * 99 / 100 // a frame is written and read here
	s.e.to.there += s.each
	return s.pacedSession.Run(ctx, in)
}

// What a repair costs is the time of its models by one clock, however busy the machine is: processor time, with that of
// an engine's own process, or, on a device, time by the clock. Where there is no such clock the bill has no measure,
// and says why.
func TestCostByOneClock(t *testing.T) {
	b := onnx.NewBuilder(13)
	b.Op("Flatten", []string{b.Input("x", tensor.Float32, "n", 1, 1, 2)})
	b.Graph().Node[0].Output[0] = "y"
	b.Output("y", tensor.Float32, "n", 2)
	m, err := b.Model()
	if err != nil {
		t.Fatal(err)
	}
	codec, err := decode.New(m.Signature(), decode.InputSpec{Sample: []int{1, 1, 2}, Layout: "NCHW", Scale: 1},
		decode.OutputSpec{Decode: "logits"})
	if err != nil {
		t.Fatal(err)
	}
	list, err := provider.Parse("cuda")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		cost  float64
		clock string
		// in Unmeasured, or in the error
		why  string
		make func(to *paces) (one, other engine.Engine)
	}{
		{"in here", 7, "processor", "", func(to *paces) (engine.Engine, engine.Engine) {
			return &paced{engine.Info{Name: "a"}, to}, &paced{engine.Info{Name: "a", Reason: "other"}, to}
		}},
		{"apart", 7, "processor", "", func(to *paces) (engine.Engine, engine.Engine) {
			return &yonder{paced: paced{engine.Info{Name: "a"}, to}}, &yonder{paced: paced{engine.Info{Name: "a"}, to}}
		}},
		{"on a device", 7, "wall", "", func(to *paces) (engine.Engine, engine.Engine) {
			return engine.On(&yonder{paced: paced{to: to}}, list), engine.On(&yonder{paced: paced{to: to}}, list)
		}},
		{"in here and apart", 0, "", "different engines", func(to *paces) (engine.Engine, engine.Engine) {
			return &paced{engine.Info{Name: "a"}, to}, &yonder{paced: paced{engine.Info{Name: "a"}, to}}
		}},
		{"two releases", 0, "", "different engines, a, ONNX Runtime 1", func(to *paces) (engine.Engine, engine.Engine) {
			return &paced{engine.Info{Name: "a", Version: "1"}, to}, &paced{engine.Info{Name: "a", Version: "2"}, to}
		}},
		{"silent", 0, "", "does not say how much processor time", func(*paces) (engine.Engine, engine.Engine) {
			still := &paces{}
			return &paced{to: still}, &paced{to: still}
		}},
		{"gone", 0, "", "it was killed", func(to *paces) (engine.Engine, engine.Engine) {
			gone := errors.New("it was killed")
			return &yonder{paced{to: to}, gone}, &yonder{paced{to: to}, gone}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			to := &paces{}
			x, y := c.make(to)
			timed := func(e engine.Engine, each byte) timed {
				return timed{on: e, m: &eval.Model{
					Name: "m", Codec: codec, Batch: 1, Pool: eval.NewPool(e, []byte{each}, engine.Options{}),
				}}
			}
			b := billing{
				app:     &App{Now: func() time.Time { return time.Time{}.Add(to.wall) }},
				o:       RepairOptions{CPU: func() time.Duration { return to.here }},
				confirm: asked{moved: [][]space.Value{{space.NewImage(1, 1, 2)}}},
			}
			var got repair.Cost
			err := b.cost(t.Context(), timed(x, 3), timed(y, 21), &got)
			if err != nil {
				got.Unmeasured = err.Error()
			}
			if got.Clock != c.clock || float64(got.Measured) != c.cost || (got.Unmeasured == "") != (c.why == "") ||
				!strings.Contains(got.Unmeasured, c.why) {
				t.Errorf("%+v, want %g by %q, or %q", got, c.cost, c.clock, c.why)
			}
		})
	}
}
