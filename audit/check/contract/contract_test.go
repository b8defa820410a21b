package contract_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"nero/audit"
	"nero/audit/audittest"
	"nero/audit/check/contract"
	"nero/audit/check/sweep"
	"nero/data/dataset"
	"nero/data/space"
	"nero/measure/aggregate"
	"nero/run/job"
	"nero/symmetry/action"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

const inputs = 80

// subject is a model of points of the plane under quarter turns and angles between, with a contract.
func subject(t audittest.TB, name string, p audit.Predictor, n int, k job.Contract,
	elements ...group.Element,
) *audit.Subject {
	g := catalog.SO2()
	return &audit.Subject{
		Name: name, Predictor: p, Plan: audittest.Plan(t, audittest.Plane(t, g), action.Trivial{G: g}, elements...),
		N: n, Sample: audittest.Vectors(n, 3), Seed: 1, Contract: k,
	}
}

var tight = job.Contract{Error: 1e-3, Rate: 0.05, Confidence: 0.95}

func TestContract(t *testing.T) {
	all := audittest.Angles(8)
	audittest.Run(t, contract.Check,
		audittest.Fixture{
			Subject: subject(t, "broken", audittest.Radius(0.1, 1, 2), inputs, tight, all...),
			Want: []audittest.Want{
				{
					Category: audit.Contract,
					Message:  `on the exact elements: 100\.0% of the inputs are above 0\.001 .*5\.0% may be`,
				},
				{Category: audit.Contract},
			},
		},
		audittest.Fixture{Subject: subject(t, "met", audittest.Radius(0), inputs, tight, all...)})
	// 59 inputs without a failure show 95/95, 58 do not (Nutt and Wallis 2004).
	for n, want := range map[int][]audittest.Want{
		59: nil,
		58: {{Category: audit.ContractOpen, Message: `0 of 58 .* about 59 inputs would decide`}},
	} {
		r := audittest.Audit(t,
			audittest.Fixture{Subject: subject(t, "few", audittest.Radius(0), n, tight, audittest.Angles(4)...)},
			contract.Check)
		var got []audit.Finding
		for _, x := range r.Results {
			if x.Check == contract.Check {
				got = x.Findings
			}
		}
		if len(got) != len(want) || len(want) == 1 && got[0].Category != audit.ContractOpen {
			t.Errorf("%d inputs: %v", n, got)
		}
	}
}

func TestVerdicts(t *testing.T) {
	for _, c := range []struct {
		name string
		p    audit.Predictor
		n    int
		k    job.Contract
		want audit.Verdict
		text string
	}{
		{
			"broken", audittest.Radius(0.1, 1, 2), inputs, tight, audit.Failed,
			"FAIL: the contract is broken on the exact elements",
		},
		{
			"undecided", audittest.Radius(0), 20, tight, audit.NeedsAttention,
			"NEEDS_ATTENTION: the contract is undecided on the exact elements",
		},
		{
			"loose", audittest.Radius(0.1, 1, 2), inputs,
			job.Contract{Error: 10, Rate: 0.05, Confidence: 0.95},
			audit.Passed, "met",
		},
	} {
		s := subject(t, c.name, c.p, c.n, c.k, audittest.Angles(4)...)
		r := audittest.Audit(t, audittest.Fixture{Subject: s}, contract.Check)
		var of *audit.Result
		for _, x := range r.Results {
			if x.Check == contract.Check {
				of = x
			}
		}
		if of.Verdict != c.want {
			t.Errorf("%s: %s", c.name, of.Verdict)
		}
		all := strings.Join(append(r.Certificate(), r.Reasons...), "\n")
		if !strings.Contains(all, c.text) || !strings.Contains(all, "Contract, exact elements: P(error > ") {
			t.Errorf("%s:\n%s", c.name, all)
		}
	}
}

// A pair without a finite error counts as above the limit, wherever it is on the orbit.
func TestNotFinite(t *testing.T) {
	s := subject(t, "nan", audittest.Radius(0), inputs, tight, audittest.Angles(4)...)
	x, err := s.Sample(7)
	if err != nil {
		t.Fatal(err)
	}
	turned, err := s.Plan.In.Apply(group.Element{90}, x.Value)
	if err != nil {
		t.Fatal(err)
	}
	s.Predictor = audittest.NaNAt(turned)
	j := judged(t, s)
	if j.Exact == nil || j.Exact.Over != 1 || j.Exact.N != inputs || j.Resample != nil {
		t.Errorf("%+v", j)
	}
}

// An error that resampling alone would give breaks no contract: the test may be at fault. It is not met either.
func TestResampling(t *testing.T) {
	const side = 16
	g := catalog.SO2()
	in, err := action.NewImage(g, space.Spec{Kind: space.KindImage, Shape: []int{1, side, side}}, action.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := &audit.Subject{
		Name: "rings", Predictor: audittest.Rings(4),
		Plan: audittest.Plan(t, in, action.Trivial{G: g}, audittest.Angles(24)...),
		N:    inputs, Sample: audittest.Noise(inputs, side, side, 3), Seed: 1, Contract: tight,
	}
	r := audittest.Audit(t, audittest.Fixture{Subject: s}, contract.Check)
	for _, x := range r.Results {
		if x.Check != contract.Check {
			continue
		}
		if len(x.Findings) != 1 || x.Findings[0].Category != audit.ContractOpen ||
			!strings.Contains(x.Findings[0].Message, "resampling alone would give") {
			t.Errorf("%+v", x.Findings)
		}
	}
	if j := judged(t, s); j.Exact.Outcome != aggregate.Met || j.Resample.Outcome != aggregate.Broken {
		t.Errorf("exact %+v, others %+v", j.Exact, j.Resample)
	}
}

func TestNotAsked(t *testing.T) {
	s := subject(t, "free", audittest.Radius(0), inputs, job.Contract{}, audittest.Angles(4)...)
	status := func(s *audit.Subject) (audit.Status, string) {
		for _, x := range audittest.Audit(t, audittest.Fixture{Subject: s}, contract.Check).Results {
			if x.Check == contract.Check {
				return x.Status, x.Reason
			}
		}
		return "", ""
	}
	if st, why := status(s); st != audit.NotApplicable || why != "the study has no contract" {
		t.Errorf("%s: %s", st, why)
	}
	s.Contract, s.Predictor = tight, audittest.Constant(1, 2)
	if st, why := status(s); st != audit.NotTested || !strings.Contains(why, "do not vary") {
		t.Errorf("%s: %s", st, why)
	}
	s.Contract.Rate = 0
	if _, err := audit.Run(t.Context(), s, policy(t), []*audit.Check{contract.Check}, audit.Options{}); err == nil ||
		!strings.Contains(err.Error(), "tolerated probability is 0") {
		t.Error(err)
	}
}

func policy(t audittest.TB) audit.Policy {
	t.Helper()
	p, err := audit.NewPolicy("", 0, 0)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return p
}

// judged is the result of the check.
func judged(t audittest.TB, s *audit.Subject) *contract.Result {
	t.Helper()
	var got *contract.Result
	spy := &audit.Check{
		Name: "spy", Doc: "Keeps the result.", Requires: []*audit.Check{contract.Check, sweep.Check},
		Run: func(_ context.Context, p *audit.Pass) (any, error) {
			got = audit.ResultOf[*contract.Result](p, contract.Check)
			return nil, nil
		},
	}
	audittest.Audit(t, audittest.Fixture{Subject: s}, spy)
	return got
}

// TestOneAbove holds the count against errors known in closed form: f(x, y) = x has the error
// 2|x| under the half turn and |x ± y| under the quarter turns, which the audit adds.
func TestOneAbove(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := job.Contract{
			Error: rapid.Float64Range(0.1, 4).Draw(t, "error"), Rate: rapid.Float64Range(0.05, 0.9).Draw(t, "rate"),
			Confidence: rapid.Float64Range(0.5, 0.99).Draw(t, "confidence"),
		}
		n := rapid.IntRange(2, 60).Draw(t, "n")
		s := subject(t, "linear", audittest.Linear(1, 0), n, k, group.Element{0}, group.Element{180})
		var x []float64
		var sum, squares float64
		for i := range n {
			v := point(t, s.Sample, i)
			x = append(x, max(2*math.Abs(v[0]), math.Abs(v[0])+math.Abs(v[1])))
			sum, squares = sum+v[0], squares+v[0]*v[0]
		}
		scale := math.Sqrt(squares/float64(n) - sum/float64(n)*sum/float64(n))
		over := 0
		for _, v := range x {
			e := v / scale
			if math.Abs(e-k.Error) < 1e-4 {
				t.Skip("too close to the limit for float32")
			}
			if e > k.Error {
				over++
			}
		}
		want := aggregate.Contract{
			Tau: k.Error, P: k.Rate,
			Confidence: k.Confidence,
		}.Judge(aggregate.Tally{N: n, Over: over})
		if got := judged(t, s).Exact; got.Over != over || got.Outcome != want.Outcome || got.Need != want.Need {
			t.Fatalf("%+v, want %+v", *got, want)
		}
	})
}

func point(t audittest.TB, sample func(int) (dataset.Sample, error), i int) []float64 {
	t.Helper()
	s, err := sample(i)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return s.Value.(*space.Tensor).Val //nolint:errcheck // vectors only
}
