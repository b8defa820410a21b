package mutation

import (
	"context"
	"errors"
	"math"
	"testing"

	"nero/audit"
	"nero/data/space"
	"nero/data/tensor"
	"nero/measure/scale"
	"nero/model/engine"
)

// none is an engine that runs nothing.
type none struct{}

func (none) Info() engine.Info { return engine.Info{Name: "none"} }

func (none) Open(context.Context, []byte, engine.Options) (engine.Session, error) {
	return nil, errors.New("nothing runs here")
}

func (none) Concurrent() bool { return true }

// single hands on in float32 what an engine computes, as a state has the type in which the file declares it.
type single struct{ engine.Engine }

func (e single) Open(ctx context.Context, b []byte, o engine.Options) (engine.Session, error) {
	s, err := e.Engine.Open(ctx, b, o)
	return singles{s}, err
}

type singles struct{ engine.Session }

func (s singles) Run(ctx context.Context, in []tensor.Named) ([]tensor.Named, error) {
	out, err := s.Session.Run(ctx, in)
	for i, x := range out {
		v, err := x.Float64s(nil)
		if err != nil {
			return nil, err
		}
		w := make([]float32, len(v))
		for k, y := range v {
			w[k] = float32(y)
		}
		out[i].Tensor = tensor.FromFloat32(w, x.Shape...)
	}
	return out, err
}

// defect is the largest relative error of the subject in float64 over a few inputs and all elements.
func defect(t *testing.T, s *audit.Subject) float64 {
	t.Helper()
	var spread scale.Spread
	var worst float64
	for i := range 6 {
		x, err := s.Sample(i)
		if err != nil {
			t.Fatal(err)
		}
		// The identity cuts the window out of what is longer than the model reads.
		still, err := s.Plan.In.Apply(s.Plan.Group.Identity(), x.Value)
		if err != nil {
			t.Fatal(err)
		}
		values := []space.Value{still}
		for _, e := range s.Plan.Elements {
			gx, err := s.Plan.In.Apply(e, x.Value)
			if err != nil {
				t.Fatal(err)
			}
			values = append(values, gx)
		}
		predict := s.Predictor.Predict
		if s.Reference != nil {
			predict = s.Reference.Predict
		}
		ys, err := predict(t.Context(), values)
		if err != nil {
			t.Fatal(err)
		}
		if err := spread.Add(ys[0]); err != nil {
			t.Fatal(err)
		}
		for j, e := range s.Plan.Elements {
			z, err := s.Plan.Out.Apply(s.Plan.Group.Inv(e), ys[j+1])
			if err != nil {
				t.Fatal(err)
			}
			d, err := scale.Compare(z, ys[0])
			if err != nil {
				t.Fatal(err)
			}
			if !(d.Norm <= worst) {
				worst = d.Norm
			}
		}
	}
	if s := spread.Scale(); s > 0 {
		return worst / s
	}
	return math.NaN()
}
