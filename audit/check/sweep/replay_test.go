package sweep_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"nero/audit"
	"nero/audit/audittest"
	"nero/audit/check/sweep"
	"nero/data/dataset"
	"nero/data/space"
	"nero/symmetry/action"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

// company is a model of which each answer depends on all values that it is given at once and on the place among them:
// two answers are the same only if the whole batch was.
func company(_ context.Context, values []space.Value) ([]space.Value, error) {
	sum := 0.0
	for i, v := range values {
		x := v.Numbers()
		for k, a := range x {
			sum += a * math.Sin(float64(i+3*k+1))
		}
	}
	out := make([]space.Value, len(values))
	for i, v := range values {
		x := v.Numbers()
		own := 0.0
		for k, a := range x {
			own += a * float64(k%3)
		}
		out[i] = &space.Tensor{Shape: []int{2}, Val: []float64{own + sum*float64(i+1), own * sum}}
	}
	return out, nil
}

// whole is the result of a sweep, with what it visited.
func whole(t audittest.TB, s *audit.Subject) (got *sweep.Result, elements []audit.Element) {
	t.Helper()
	spy := &audit.Check{
		Name: "spy", Doc: "Keeps the result.", Requires: []*audit.Check{sweep.Check},
		Run: func(_ context.Context, p *audit.Pass) (any, error) {
			got, elements = audit.ResultOf[*sweep.Result](p, sweep.Check), p.Elements
			return nil, nil
		},
	}
	audittest.Audit(t, audittest.Fixture{Subject: s}, spy)
	return got, elements
}

// TestReplay replays pairs of audits of pictures of several sizes, cut into chunks of any length. The errors are those
// of the sweep to the last bit, which the model gives only to whole chunks.
func TestReplay(t *testing.T) {
	g := catalog.SO2()
	p, err := audit.NewPolicy("", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		in, err := action.NewImage(g, space.Spec{Kind: space.KindImage, Shape: []int{1, -1, -1}}, action.Options{})
		if err != nil {
			t.Fatal(err)
		}
		n := rapid.IntRange(2, 6).Draw(t, "n")
		sides := rapid.SliceOfN(rapid.SampledFrom([]int{4, 5, 7}), n, n).Draw(t, "sides")
		s := &audit.Subject{
			Name: "company", Predictor: audit.PredictFunc(company), Seed: 1, N: n,
			Chunk: rapid.IntRange(1, 40).Draw(t, "chunk"),
			Plan: audittest.Plan(t, in, action.Trivial{G: g},
				audittest.Angles(rapid.SampledFrom([]int{3, 8}).Draw(t, "angles"))...),
			Sample: func(i int) (dataset.Sample, error) {
				x, err := audittest.Noise(n, sides[i], sides[i], 5)(i)
				return x, err
			},
		}
		want, elements := whole(t, s)
		i, j := rapid.IntRange(0, n-1).Draw(t, "sample"), rapid.IntRange(0, len(elements)-1).Draw(t, "element")
		got, err := sweep.Replay(context.Background(), s, p, i, dataset.Sample{}, elements[j].G)
		if err != nil {
			t.Fatal(err)
		}
		if e := want.Err[i*len(elements)+j]; got.Error.Norm != e || !got.Visited || got.Sample.ID != want.IDs[i] {
			t.Fatalf("error %v, in the audit %v (visited %v)", got.Error.Norm, e, got.Visited)
		}
		if math.IsNaN(got.Resampling) != elements[j].Exact {
			t.Fatalf("resampling %v of an element that is exact: %v", got.Resampling, elements[j].Exact)
		}
	})
}

// TestReplayAlone measures what the audit does not visit, against errors known in closed form.
func TestReplayAlone(t *testing.T) {
	g := catalog.SO2()
	p, err := audit.NewPolicy("", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	s := &audit.Subject{
		Name: "linear", Predictor: audittest.Linear(1, 0), Seed: 1, N: 10, Sample: audittest.Vectors(10, 3),
		Plan: audittest.Plan(t, audittest.Plane(t, g), action.Trivial{G: g}, audittest.Angles(8)...),
	}
	x := dataset.Sample{ID: "other", Label: -1, Value: &space.Tensor{Shape: []int{2}, Val: []float64{3, 4}}}
	full, _ := whole(t, s)
	for _, c := range []struct {
		deg  float64
		want float64
	}{{180, 6}, {60, math.Abs(3*math.Cos(math.Pi/3) + 4*math.Sin(math.Pi/3) - 3)}, {0, 0}} {
		r, err := sweep.Replay(t.Context(), s, p, -1, x, group.Element{c.deg})
		if err != nil {
			t.Fatal(err)
		}
		// the other sense of rotation
		other := math.Abs(3*math.Cos(c.deg*math.Pi/180) - 4*math.Sin(c.deg*math.Pi/180) - 3)
		if r.Visited || r.Index != -1 || math.Abs(r.Error.Norm-c.want) > 1e-5 && math.Abs(r.Error.Norm-other) > 1e-5 {
			t.Errorf("%g deg: %+v, want an error of %g", c.deg, r, c.want)
		}
		if r.Scale != full.Scale || r.Relative() != r.Error.Norm/full.Scale {
			t.Errorf("scale %v, in the audit %v", r.Scale, full.Scale)
		}
		if repeat, rounding, _ := r.Floors(); repeat != 0 || !(rounding > 0) || rounding > 1e-5 {
			t.Errorf("floors %v and %v", repeat, rounding)
		}
	}
	if _, err := sweep.Replay(t.Context(), s, p, 99, dataset.Sample{}, group.Element{90}); err == nil ||
		!strings.Contains(err.Error(), "sample 99") {
		t.Error(err)
	}
}

// An output that is not finite has no error.
func TestReplayNotFinite(t *testing.T) {
	g := catalog.SO2()
	p, err := audit.NewPolicy("", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	s := &audit.Subject{
		Name: "nan", Seed: 1, N: 10, Sample: audittest.Vectors(10, 3),
		Plan: audittest.Plan(t, audittest.Plane(t, g), action.Trivial{G: g}, audittest.Angles(4)...),
	}
	x, err := s.Sample(2)
	if err != nil {
		t.Fatal(err)
	}
	turned, err := s.Plan.In.Apply(group.Element{90}, x.Value)
	if err != nil {
		t.Fatal(err)
	}
	s.Predictor = audittest.NaNAt(turned)
	r, err := sweep.Replay(t.Context(), s, p, 2, dataset.Sample{}, group.Element{90})
	if err != nil {
		t.Fatal(err)
	}
	if !math.IsNaN(r.Error.Norm) || !math.IsNaN(r.Relative()) {
		t.Errorf("%+v", r)
	}
}
