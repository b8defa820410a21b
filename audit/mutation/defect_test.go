package mutation

import (
	"context"
	"errors"
	"math"
	"testing"

	"nero/audit"
	"nero/data/space"
	"nero/model/engine"
)

// none is an engine that runs nothing.
type none struct{}

func (none) Info() engine.Info { return engine.Info{Name: "none"} }

func (none) Open(context.Context, []byte, engine.Options) (engine.Session, error) {
	return nil, errors.New("nothing runs here")
}

func (none) Concurrent() bool { return true }

// defect is the largest relative error of the subject in float64 over a few inputs and all elements.
func defect(t *testing.T, s *audit.Subject) float64 {
	t.Helper()
	var spread audit.Spread
	var worst float64
	for i := range 6 {
		x, err := s.Sample(i)
		if err != nil {
			t.Fatal(err)
		}
		values := []space.Value{x.Value}
		for _, e := range s.Plan.Elements {
			gx, err := s.Plan.In.Apply(e, x.Value)
			if err != nil {
				t.Fatal(err)
			}
			values = append(values, gx)
		}
		ys, err := s.Reference.Predict(t.Context(), values)
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
			d, err := audit.Compare(z, ys[0])
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
