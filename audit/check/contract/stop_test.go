package contract_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"nero/audit"
	"nero/audit/audittest"
	"nero/audit/check/contract"
	"nero/audit/check/decision"
	"nero/audit/check/sweep"
	"nero/data/dataset"
	"nero/measure/aggregate"
)

// swept is the result of a sweep.
func swept(t *testing.T, s *audit.Subject) (*sweep.Result, *audit.Report) {
	t.Helper()
	var got *sweep.Result
	spy := &audit.Check{
		Name: "spy", Doc: "Keeps the result.", Requires: []*audit.Check{sweep.Check},
		Run: func(_ context.Context, p *audit.Pass) (any, error) {
			got = audit.ResultOf[*sweep.Result](p, sweep.Check)
			return nil, nil
		},
	}
	r := audittest.Audit(t, audittest.Fixture{Subject: s}, spy, contract.Check, decision.Check)
	return got, r
}

func TestEarlyStop(t *testing.T) {
	const many = 600
	all := audittest.Angles(8)
	for _, c := range []struct {
		name string
		p    audit.Predictor
		want aggregate.Outcome
		// inputs
		most int
	}{
		{"good", audittest.Radius(0), aggregate.Met, 200},
		{"bad", audittest.Radius(0.1, 1, 2), aggregate.Broken, 21},
		{"two logits", audittest.Sign(1, 2), aggregate.Broken, 21},
	} {
		s := subject(t, c.name, c.p, many, tight, all...)
		s.EarlyStop = true
		got, r := swept(t, s)
		n := len(got.IDs)
		if n >= c.most || r.Inputs != n || got.Stop.Inputs != n || got.Stop.Of != many || s.N != many {
			t.Errorf("%s: %d inputs of %d in the sweep, %d in the report", c.name, n, s.N, r.Inputs)
		}
		for exact, o := range got.Stop.Outcomes {
			if o != c.want || got.Stop.At[exact] < 1 || got.Stop.At[exact] > n {
				t.Errorf("%s: exact %v: %s after %d", c.name, exact, o, got.Stop.At[exact])
			}
		}
		if max(got.Stop.At[true], got.Stop.At[false], 20) != n {
			t.Errorf("%s: decided after %v, stopped after %d", c.name, got.Stop.At, n)
		}
		if text := strings.Join(r.Certificate(), "\n"); !strings.Contains(text, "judged after every input") ||
			!strings.Contains(text, "of 600 inputs were enough") {
			t.Errorf("%s: %s", c.name, text)
		}
		// What was measured is what an audit of as many inputs measures, with the others for the scale alone.
		few := subject(t, c.name, c.p, n, tight, all...)
		few.Sample = s.Sample
		few.Members, few.Member = many-n, func(i int) (dataset.Sample, error) { return s.Sample(n + i) }
		want, _ := swept(t, few)
		if !slices.Equal(got.Err, want.Err) || !slices.Equal(got.IDs, want.IDs) ||
			!slices.Equal(got.Identity, want.Identity) || got.Informative != want.Informative {
			t.Errorf("%s: errors differ from those of %d inputs", c.name, n)
		}
		if (got.Classes == nil) != (want.Classes == nil) || got.Classes != nil &&
			!slices.Equal(got.Classes.Base, want.Classes.Base) {
			t.Errorf("%s: classes differ", c.name)
		}
		if !slices.Equal(got.Table.Samples, want.Table.Samples) || !slices.EqualFunc(got.Table.Base, want.Table.Base,
			same) || !slices.EqualFunc(got.Table.Moved, want.Table.Moved, same) {
			t.Errorf("%s: outputs differ", c.name)
		}
		whole := subject(t, c.name, c.p, many, tight, all...)
		if full, _ := swept(t, whole); full.Stop != nil || got.Scale != full.Scale {
			t.Errorf("%s: scale %v, on all inputs %v", c.name, got.Scale, full.Scale)
		}
	}
}

func same(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }

// What a sequence has not shown after the last input is undecided, though the limits of a fixed number would decide: 70
// inputs without a failure are enough for those, and not for a look after each.
func TestNotStopped(t *testing.T) {
	s := subject(t, "few", audittest.Radius(0), 70, tight, audittest.Angles(4)...)
	if j := judged(t, s); j.Exact.Outcome != aggregate.Met {
		t.Errorf("fixed: %s", j.Exact.Outcome)
	}
	s.EarlyStop = true
	if j := judged(t, s); j.Exact.Outcome != aggregate.Open {
		t.Errorf("at any time: %s", j.Exact.Outcome)
	}
}

// TestFalseStops counts how often a model whose rate is exactly the one allowed is decided either way: at most as often
// as the confidence admits.
func TestFalseStops(t *testing.T) {
	const runs, n = 60, 300
	wrong := 0
	for seed := range runs {
		c := aggregate.Contract{Tau: 1, P: 0.05, Confidence: 0.9}
		q := c.Sequence()
		// The errors |x| of standard normal x exceed z with the probability 0.05 at z = 1.959964.
		pts := audittest.Vectors(n, uint64(seed)+100)
		for i := range n {
			if o := q.Add(math.Abs(point(t, pts, i)[0]) / 1.959964); o != aggregate.Open {
				wrong++
				break
			}
		}
	}
	// At the rate itself each decision has a probability of at most 0.1, so at most 12 of 60 are expected; 22 or more
	// have the probability 1e-3.
	if wrong >= 22 {
		t.Errorf("%d of %d are decided", wrong, runs)
	}
}
