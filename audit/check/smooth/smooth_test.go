package smooth_test

import (
	"testing"

	"pgregory.net/rapid"

	"nero/audit"
	"nero/audit/audittest"
	"nero/audit/check/smooth"
	"nero/data/dataset"
	"nero/data/space"
	"nero/symmetry/action"
	"nero/symmetry/group/catalog"
)

const (
	inputs = 24
	side   = 16
)

func subject(t audittest.TB, name string, m audit.Predictor, data func(i int) (dataset.Sample, error)) *audit.Subject {
	t.Helper()
	g, err := catalog.Parse("C4")
	if err != nil {
		t.Fatalf("%v", err)
	}
	in, err := action.NewImage(g, space.Spec{Kind: space.KindImage, Shape: []int{1, side, side}}, action.Options{})
	if err != nil {
		t.Fatalf("%v", err)
	}
	return &audit.Subject{
		Name: name, Predictor: m, Plan: audittest.Plan(t, in, action.Trivial{G: g}), N: inputs, Sample: data, Seed: 1,
	}
}

// sum adds a number of every pixel, weighed by where it is.
func sum(weight func(r, c int) float64, of func(x float64) float64) audit.Predictor {
	return audittest.Pointwise(func(v space.Value) space.Value {
		m := space.Picture(v)
		var s float64
		for i, x := range m.Pix {
			s += weight(i/m.W, i%m.W) * of(x/255)
		}
		return &space.Tensor{Shape: []int{1}, Val: []float64{s}}
	})
}

func square(x float64) float64 { return x * x }

// every second pixel of an even side: a turn exchanges them for the others.
func second(r, c int) float64 { return float64((1 - r%2) * (1 - c%2)) }

func TestSmooth(t *testing.T) {
	noise := audittest.Noise(inputs, side, side, 3)
	half := func(r, _ int) float64 {
		if r < side/2 {
			return 1
		}
		return 0.5
	}
	audittest.Run(t, smooth.Check, audittest.Fixture{
		Subject: subject(t, "every second pixel", sum(second, square), noise),
		Want:    []audittest.Want{{Category: audit.Explanation, Message: "fine detail"}},
	}, audittest.Fixture{Subject: subject(t, "halves weighed unlike", sum(half, square), noise)})
	audittest.Run(t, smooth.Check, audittest.Fixture{
		Subject: subject(t, "every second pixel", sum(second, square), noise),
		Want:    []audittest.Want{{Category: audit.Explanation, Message: "fine detail"}},
	}, audittest.Fixture{Subject: subject(t, "rings", audittest.Rings(4), noise)})
}

// The blur of a turned picture is the turned blur, so a model without error has none behind a blur.
func TestBlurIsSymmetric(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		seed := rapid.Uint64().Draw(rt, "seed")
		s := subject(rt, "rings", audittest.Rings(3), audittest.Noise(inputs, side, side, seed))
		r := audittest.Audit(rt, audittest.Fixture{Subject: s}, smooth.Check)
		for _, x := range r.Results {
			if x.Check != smooth.Check {
				continue
			}
			if x.Status != audit.Tested {
				rt.Fatalf("%s: %s", x.Status, x.Reason)
			}
			for _, e := range x.Measures {
				if e.Value > 1e-5 {
					rt.Errorf("%s: %g for an invariant model", e.Name, e.Value)
				}
			}
		}
	})
}

// A model of points has no fine detail to blur.
func TestNoPictures(t *testing.T) {
	g, err := catalog.Parse("C4")
	if err != nil {
		t.Fatal(err)
	}
	s := &audit.Subject{
		Name: "points", N: inputs, Sample: audittest.Vectors(inputs, 1), Seed: 1,
		Plan:      audittest.Plan(t, audittest.Plane(t, g), action.Trivial{G: g}),
		Predictor: audittest.Radius(0.1, 1, 2),
	}
	r := audittest.Audit(t, audittest.Fixture{Subject: s}, smooth.Check)
	for _, x := range r.Results {
		if x.Check == smooth.Check && x.Status != audit.NotApplicable {
			t.Errorf("%s: %s", x.Status, x.Reason)
		}
	}
}
