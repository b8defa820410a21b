package stress_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"nero/audit"
	"nero/audit/audittest"
	"nero/audit/check/stress"
	"nero/data/dataset"
	"nero/data/space"
	"nero/data/tensor"
	"nero/model/decode"
	"nero/model/onnx"
	"nero/symmetry/action"
	"nero/symmetry/group"

	"pgregory.net/rapid"
)

const inputs = 12

// side of the pictures of the fixtures.
const side = 32

func parse(tb testing.TB, name string) group.Group {
	tb.Helper()
	g, err := group.Parse(name)
	if err != nil {
		tb.Fatal(err)
	}
	return g
}

// moves is the action of a group on pictures.
func moves(tb testing.TB, g group.Group, o action.Options, n int) action.Action {
	tb.Helper()
	a, err := action.NewImage(g, space.Spec{Kind: space.KindImage, Shape: []int{1, n, n}}, o)
	if err != nil {
		tb.Fatal(err)
	}
	return a
}

// subject of a model of square pictures; a nil output action is invariant.
func subject(tb testing.TB, name string, g group.Group, n int, m audit.Predictor, out action.Action, elements ...group.Element) *audit.Subject {
	tb.Helper()
	if out == nil {
		out = action.Trivial{G: g}
	}
	return &audit.Subject{
		Name: name, Predictor: m, Plan: audittest.Plan(tb, moves(tb, g, action.Options{}, n), out, elements...),
		N: inputs, Sample: audittest.Pictures(inputs, n, n, 3), Seed: 1,
	}
}

// look runs the check on a subject.
func look(tb testing.TB, s *audit.Subject) (*stress.Result, *audit.Result) {
	tb.Helper()
	var got *stress.Result
	outer := &audit.Check{
		Name: "outer", Doc: "Outer looks at the result.", Requires: []*audit.Check{stress.Check},
		Run: func(_ context.Context, p *audit.Pass) (any, error) {
			got = audit.ResultOf[*stress.Result](p, stress.Check)
			return nil, nil
		},
	}
	r := audittest.Audit(tb, audittest.Fixture{Subject: s}, outer)
	for _, x := range r.Results {
		if x.Check == stress.Check {
			if x.Status != audit.Tested {
				tb.Fatalf("%s: %s: %s", s.Name, x.Status, x.Reason)
			}
			return got, x
		}
	}
	tb.Fatal("no result")
	return nil, nil
}

// answered fails unless a question came to the answer.
func answered(tb testing.TB, r *stress.Result, name, want string) stress.Question {
	tb.Helper()
	q, ok := r.Of(name)
	if !ok || q.Answer != want {
		tb.Errorf("%s: %+v, want %s", name, q, want)
	}
	return q
}

// clue is the one of a name.
func clue(r *audit.Result, name audit.ClueName) (audit.Clue, bool) {
	for _, c := range r.Clues {
		if c.Name == name {
			return c, true
		}
	}
	return audit.Clue{}, false
}

// holds fails unless a clue was looked for and is as expected.
func holds(tb testing.TB, r *audit.Result, name audit.ClueName, want bool) audit.Clue {
	tb.Helper()
	c, ok := clue(r, name)
	if !ok || c.Holds != want {
		tb.Errorf("clue %s: %+v, looked for: %v, want %v", name, c, ok, want)
	}
	return c
}

func TestClean(t *testing.T) {
	d4 := parse(t, "D4")
	s := subject(t, "rings", d4, side, audittest.Rings(4), nil)
	r, of := look(t, s)
	for _, q := range r.Questions {
		t.Logf("%-10s %-11s %8.2g %8.2g %s", q.Name, q.Answer, q.Error, q.Limit, q.Text)
	}
	for _, f := range of.Findings {
		t.Errorf("%s: %s", f.Category, f.Message)
	}
	_ = slices.Contains[[]string]
	_ = strings.Contains
	_ = math.NaN
	var _ dataset.Sample
	var _ tensor.Named
	var _ decode.OutputSpec
	var _ *onnx.Model
	_ = rapid.Check
}
