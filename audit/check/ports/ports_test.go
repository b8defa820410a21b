package ports_test

import (
	"context"
	"math/rand/v2"
	"strconv"
	"testing"

	"nero/audit"
	"nero/audit/audittest"
	"nero/audit/check/ports"
	"nero/data/dataset"
	"nero/data/space"
	"nero/symmetry/action"
	"nero/symmetry/group/catalog"
	"nero/symmetry/orbit"
)

// dot is the inner product of the rows of two fields, weighed so that every row counts differently.
func dot(a, b *space.Rows) float64 {
	var s float64
	for i := range a.N {
		for k := range a.W {
			s += float64(i+1) * a.Row(i)[k] * b.Row(i)[k]
		}
	}
	return s
}

// subject is a function of two sets of vectors, x and v, under the rotations of space.
func subject(t *testing.T, name string, f func(x, v *space.Rows) float64) *audit.Subject {
	t.Helper()
	spec := space.Spec{Name: "input", Kind: space.KindRecord}
	for _, n := range []string{"x", "v"} {
		spec.Fields = append(spec.Fields, space.Spec{
			Name: n, Kind: space.KindRows, Shape: []int{4, 3}, Type: space.TypeVectors,
		})
	}
	g, err := catalog.Parse("SO(3)")
	if err != nil {
		t.Fatal(err)
	}
	in, err := action.Rules().For(g, spec, action.Options{})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := orbit.NewPlan(g, orbit.Spec{Haar: 8}, in, action.Trivial{G: g}, 1)
	if err != nil {
		t.Fatal(err)
	}
	s := &audit.Subject{Name: name, Plan: plan, N: 24, Seed: 5, InSpec: spec}
	s.Sample = func(i int) (dataset.Sample, error) {
		r := rand.New(rand.NewPCG(7, uint64(i)))
		rec := &space.Record{Names: []string{"x", "v"}}
		for range 2 {
			rows := space.NewRows(4, 3)
			for k := range rows.Val {
				rows.Val[k] = r.NormFloat64()
			}
			rec.Values = append(rec.Values, rows)
		}
		return dataset.Sample{ID: strconv.Itoa(i), Value: rec}, nil
	}
	s.Predictor = audit.PredictFunc(func(_ context.Context, values []space.Value) ([]space.Value, error) {
		out := make([]space.Value, len(values))
		for i, v := range values {
			y := f(space.RowsOf(space.FieldOf(v, "x")), space.RowsOf(space.FieldOf(v, "v")))
			out[i] = &space.Tensor{Shape: []int{1}, Val: []float64{y}}
		}
		return out, nil
	})
	return s
}

// labels takes three numbers of every row for what they are, whatever moves them.
func labels(v *space.Rows) float64 {
	var s float64
	for i := range v.N {
		s += v.Row(i)[0] + 2*v.Row(i)[1] - v.Row(i)[2]*v.Row(i)[0]
	}
	return s
}

func TestPorts(t *testing.T) {
	clean := audittest.Fixture{
		Subject: subject(t, "inner product", func(x, v *space.Rows) float64 { return dot(x, v) + dot(x, x) }),
	}
	t.Run("one input is taken as labels", func(t *testing.T) {
		audittest.Run(t, ports.Check, audittest.Fixture{
			Subject: subject(t, "labels", func(x, v *space.Rows) float64 { return dot(x, x) + labels(v) }),
			Want: []audittest.Want{
				{Category: audit.Convention, Message: "holds if the input v does not move"},
				{Category: audit.Explanation, Message: "the input x lies"},
			},
		}, clean)
	})
	t.Run("lengths alone", func(t *testing.T) {
		audittest.Run(t, ports.Check, audittest.Fixture{
			Subject: subject(t, "lengths", func(x, v *space.Rows) float64 { return dot(x, x) + 3*dot(v, v) }),
			Want: []audittest.Want{
				{Category: audit.Explanation, Message: "the input x lies"},
				{Category: audit.Explanation, Message: "the input v lies"},
			},
		}, clean)
	})
	t.Run("both are taken as labels", func(t *testing.T) {
		r := audittest.Audit(t, audittest.Fixture{
			Subject: subject(t, "both", func(x, v *space.Rows) float64 { return labels(x) + labels(v) }),
		}, ports.Check)
		for _, f := range r.Findings() {
			if f.Category == audit.Convention {
				t.Errorf("a convention of one input is proposed where two are wrong: %s", f.Message)
			}
		}
	})
}

// A model of one input has nothing to move one by one.
func TestOneInput(t *testing.T) {
	s := subject(t, "one", func(x, v *space.Rows) float64 { return dot(x, v) })
	whole := s.Sample
	s.Sample = func(i int) (dataset.Sample, error) {
		x, err := whole(i)
		x.Value = space.FieldOf(x.Value, "x")
		return x, err
	}
	in, err := action.Rules().For(s.Plan.Group, s.InSpec.Fields[0], action.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s.Plan.In, s.InSpec = in, s.InSpec.Fields[0]
	s.Predictor = audit.PredictFunc(func(_ context.Context, values []space.Value) ([]space.Value, error) {
		out := make([]space.Value, len(values))
		for i, v := range values {
			out[i] = &space.Tensor{Shape: []int{1}, Val: []float64{dot(space.RowsOf(v), space.RowsOf(v))}}
		}
		return out, nil
	})
	r := audittest.Audit(t, audittest.Fixture{Subject: s}, ports.Check)
	for _, x := range r.Results {
		if x.Check == ports.Check && x.Status != audit.NotApplicable {
			t.Errorf("%s: %s", x.Status, x.Reason)
		}
	}
}
