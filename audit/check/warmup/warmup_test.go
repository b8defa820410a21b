package warmup_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"nero/audit"
	"nero/audit/audittest"
	"nero/audit/check/warmup"
	"nero/data/dataset"
	"nero/data/space"
	"nero/symmetry/action"
	"nero/symmetry/group"
)

const samples, hop = 60, 4

// smooth is a model of signals: a frame for every 4 numbers, the mean square of each, through a memory that keeps the share keep of what it held.
func smooth(keep float64) audit.Predictor {
	return audit.PredictFunc(func(_ context.Context, values []space.Value) ([]space.Value, error) {
		out := make([]space.Value, len(values))
		for i, v := range values {
			x, ok := v.(*space.Signal)
			if !ok {
				return nil, fmt.Errorf("want a signal, got %s", v.Kind())
			}
			y := space.NewSignal(1, x.T/hop, 0)
			state := 0.0
			for k := range y.Val {
				var s float64
				for _, a := range x.Val[k*hop : (k+1)*hop] {
					s += a * a / hop
				}
				state = keep*state + s
				y.Val[k] = float64(float32(state))
			}
			out[i] = y
		}
		return out, nil
	})
}

func subject(t *testing.T, p audit.Predictor) *audit.Subject {
	t.Helper()
	g, err := group.Parse("Roll(" + strconv.Itoa(4*samples) + ")")
	if err != nil {
		t.Fatal(err)
	}
	spec := space.Spec{Name: "signal", Kind: space.KindSignal, Shape: []int{1, 4 * samples}}
	in, err := action.Rules().For(g, spec, action.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &audit.Subject{
		Name: "smooth", Predictor: p, Plan: audittest.Plan(t, in, action.Trivial{G: g}, g.Identity(), group.Element{4}), N: 12, Seed: 1, InSpec: spec,
		OutSpec: space.Spec{Name: "y", Kind: space.KindSignal, Shape: []int{1, samples}},
		Sample: func(i int) (dataset.Sample, error) {
			r := rand.New(rand.NewPCG(5, uint64(i)))
			v := space.NewSignal(1, 4*samples, 0)
			for k := range v.Val {
				v.Val[k] = r.NormFloat64()
			}
			return dataset.Sample{ID: fmt.Sprintf("s%02d", i), Label: -1, Value: v}, nil
		},
	}
}

func result(t *testing.T, s *audit.Subject) (*audit.Clue, float64) {
	t.Helper()
	r := audittest.Audit(t, audittest.Fixture{Subject: s}, warmup.Check)
	frames := math.NaN()
	var clue *audit.Clue
	for _, x := range r.Results {
		if x.Check != warmup.Check {
			continue
		}
		if x.Status != audit.Tested {
			t.Fatalf("%s: %s", x.Status, x.Reason)
		}
		for _, m := range x.Measures {
			if m.Name == "frames until a later start is forgotten" {
				frames = m.Value
			}
		}
		for _, c := range x.Clues {
			clue = &c
		}
	}
	return clue, frames
}

// A memory that keeps the share k per frame forgets a start like k^n: with an error of about 1 at the first frame the limit of 1e-4 is met after
// ln(1e-4)/ln(k) frames, 13.3 for a half. Without a memory nothing is to be forgotten.
func TestWarmup(t *testing.T) {
	clue, frames := result(t, subject(t, smooth(0.5)))
	if !clue.Holds || frames < 11 || frames > 17 {
		t.Errorf("memory of a half: %g frames, %+v", frames, clue)
	}
	clue, frames = result(t, subject(t, smooth(0)))
	if clue.Holds || frames != 0 {
		t.Errorf("no memory: %g frames, %+v", frames, clue)
	}
	clue, frames = result(t, subject(t, smooth(0.999)))
	if !clue.Holds || frames != -1 {
		t.Errorf("a memory that hardly forgets: %g frames, %+v", frames, clue)
	}
}
