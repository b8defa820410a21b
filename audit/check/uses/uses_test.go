package uses_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"nero/audit"
	"nero/audit/audittest"
	"nero/audit/check/uses"
	"nero/data/dataset"
	"nero/data/space"
	"nero/symmetry/action"
	"nero/symmetry/group/catalog"
	"nero/symmetry/orbit"
)

// subject is a function of a set, a mask of a subset of it, and a number of the sample, under permutations.
func subject(t *testing.T, f func(set, chosen, extra *space.Rows) float64) *audit.Subject {
	t.Helper()
	spec := space.Spec{Name: "input", Kind: space.KindRecord, Fields: []space.Spec{
		{Name: "set", Kind: space.KindRows, Shape: []int{6, 2}, Type: space.TypeUnchanged},
		{Name: "chosen", Kind: space.KindRows, Shape: []int{6, 1}, Type: space.TypeUnchanged},
		{Name: "extra", Kind: space.KindRows, Shape: []int{1, 1}, Type: space.TypeUnchanged, Per: space.PerSample},
	}}
	g, err := catalog.Parse("S(6)")
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
	s := &audit.Subject{Name: "subset", Plan: plan, N: 24, Seed: 5, InSpec: spec}
	s.Sample = func(i int) (dataset.Sample, error) {
		r := rand.New(rand.NewPCG(7, uint64(i)))
		set, chosen, extra := space.NewRows(6, 2), space.NewRows(6, 1), space.NewRows(1, 1)
		for k := range set.Val {
			set.Val[k] = r.NormFloat64()
		}
		for k := range chosen.Val {
			chosen.Val[k] = float64(r.IntN(2))
		}
		extra.Val[0] = r.NormFloat64()
		return dataset.Sample{ID: strconv.Itoa(i), Value: &space.Record{
			Names: []string{"set", "chosen", "extra"}, Values: []space.Value{set, chosen, extra},
		}}, nil
	}
	s.Predictor = audit.PredictFunc(func(_ context.Context, values []space.Value) ([]space.Value, error) {
		out := make([]space.Value, len(values))
		for i, v := range values {
			get := func(name string) *space.Rows { return space.RowsOf(space.FieldOf(v, name)) }
			out[i] = &space.Tensor{Shape: []int{1}, Val: []float64{f(get("set"), get("chosen"), get("extra"))}}
		}
		return out, nil
	})
	return s
}

// sum adds up a function of the rows, in an order that does not depend on theirs.
func sum(set *space.Rows, f func(i int, row []float64) float64) float64 {
	x := make([]float64, set.N)
	for i := range x {
		x[i] = f(i, set.Row(i))
	}
	slices.Sort(x)
	s := 0.0
	for _, v := range x {
		s += v
	}
	return s
}

// What no answer depends on is said, and nothing is said of a model that looks at everything.
func TestUses(t *testing.T) {
	inner := func(set, chosen *space.Rows) float64 {
		return sum(set, func(i int, row []float64) float64 { return chosen.Val[i] * math.Tanh(row[0]-row[1]) })
	}
	whole := func(set *space.Rows) float64 {
		return sum(set, func(_ int, row []float64) float64 { return math.Sin(row[0] + 2*row[1]) })
	}
	for name, c := range map[string]struct {
		f    func(set, chosen, extra *space.Rows) float64
		want []string
	}{
		"all": {
			func(set, chosen, extra *space.Rows) float64 { return inner(set, chosen) + whole(set)*extra.Val[0] }, nil,
		},
		"without the superset": {
			func(set, chosen, extra *space.Rows) float64 { return inner(set, chosen) + extra.Val[0] },
			[]string{"rows of set outside of chosen"},
		},
		"without the mask": {
			func(set, _, extra *space.Rows) float64 { return whole(set) + extra.Val[0] }, []string{"input chosen"},
		},
		"without the number": {
			func(set, chosen, _ *space.Rows) float64 { return inner(set, chosen) + whole(set) },
			[]string{"input extra"},
		},
	} {
		r := audittest.Audit(t, audittest.Fixture{Subject: subject(t, c.f)}, uses.Check)
		var got []string
		for _, x := range r.Results {
			if x.Status != audit.Tested {
				t.Errorf("%s: %s: %s: %s", name, x.Check.Name, x.Status, x.Reason)
			}
			for _, f := range x.Findings {
				if x.Check == uses.Check {
					got = append(got, f.Location)
				}
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: said of %v, expected %v", name, got, c.want)
		}
	}
}
