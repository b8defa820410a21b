package sweep

import (
	"errors"
	"fmt"
	"math"

	"nero/audit"
	"nero/measure/aggregate"
	"nero/run/job"
)

// errDecided ends the sweep before its last sample.
var errDecided = errors.New("decided")

// leastInputs are looked at even if fewer decide: what other checks say of two inputs is worth little. It changes
// nothing about what was shown.
const leastInputs = 20

// Stop judges inputs one after another, so that a sweep may end as soon as it is certain: P(error > Tau) at most P on
// every set of elements, or not. The probability of ever deciding wrongly is at most 1 - Confidence for each set,
// however often one looks.
type Stop struct {
	Contract aggregate.Contract
	// Outcomes are what was shown, by whether the elements are exact; sets that do not exist have none.
	Outcomes map[bool]aggregate.Outcome
	// At is the number of inputs after which a set was decided, 0 if it was not.
	At map[bool]int
	// Inputs were looked at, Of there were.
	Inputs, Of int

	sequences map[bool]*aggregate.ContractSequence
}

// newStop has seen no error yet. Without a contract the share of the policy is judged.
func newStop(p *audit.Pass) (*Stop, error) {
	s := &Stop{
		Contract: aggregate.Contract{Tau: p.Policy.Threshold, P: p.Policy.FailureRate, Confidence: p.Policy.Confidence},
		Outcomes: map[bool]aggregate.Outcome{}, At: map[bool]int{}, Of: p.Subject.N,
		sequences: map[bool]*aggregate.ContractSequence{},
	}
	if k := p.Subject.Contract; k != (job.Contract{}) {
		s.Contract = aggregate.Contract{Tau: k.Error, P: k.Rate, Confidence: k.Confidence}
	}
	if err := s.Contract.Validate(); err != nil {
		return nil, err
	}
	for _, e := range p.Elements {
		if s.sequences[e.Exact] == nil {
			s.sequences[e.Exact] = s.Contract.Sequence()
			s.Outcomes[e.Exact] = aggregate.Open
		}
	}
	return s, nil
}

// add takes in the errors of a sample and reports whether every set is decided and enough was seen.
func (s *Stop) add(r *Result, sample int, scale float64) bool {
	s.Inputs++
	all := true
	for exact, q := range s.sequences {
		if s.Outcomes[exact] == aggregate.Open {
			if s.Outcomes[exact] = q.Add(s.largest(r, sample, exact, scale)); s.Outcomes[exact] != aggregate.Open {
				s.At[exact] = s.Inputs
			}
		}
		all = all && s.Outcomes[exact] != aggregate.Open
	}
	return all && s.Inputs >= leastInputs
}

// largest is the largest relative error of a sample over a set; NaN if one of them is not finite or outputs do not
// vary.
func (s *Stop) largest(r *Result, sample int, exact bool, scale float64) float64 {
	m, most := len(r.elements), 0.0
	for j, e := range r.elements {
		if e.Exact != exact {
			continue
		}
		x := r.Err[sample*m+j] / scale
		if math.IsNaN(x) {
			return x
		}
		most = max(most, x)
	}
	return most
}

// report says in the report how many inputs were enough.
func (s *Stop) report(p *audit.Pass, n int) {
	s.Inputs = n
	p.Measure(audit.Number("inputs until it was certain", float64(n), fmt.Sprintf("of %d", s.Of)))
	for _, exact := range []bool{true, false} {
		if o, ok := s.Outcomes[exact]; ok {
			enough := fmt.Sprintf("%d of %d inputs were enough", s.At[exact], s.Of)
			if o == aggregate.Open {
				enough = fmt.Sprintf("%d inputs were not enough", s.Of)
			}
			p.Certify(fmt.Sprintf(
				"Early stop, %s: P(error > %s) ≤ %s is %s with confidence %s, judged after every input; %s. "+
					"Limits of means are those of a number of inputs fixed beforehand.",
				SetName(exact), audit.Figures(s.Contract.Tau), audit.Percent(s.Contract.P), o,
				audit.Percent(s.Contract.Confidence), enough))
		}
	}
}

// cut forgets what was allocated for samples that were not looked at.
func (r *Result) cut(n int) {
	m := len(r.elements)
	r.IDs, r.Labels, r.Err, r.Identity, r.FloorMean, r.changed = r.IDs[:n], r.Labels[:n], r.Err[:n*m], r.Identity[:n],
		r.FloorMean[:n], r.changed[:n]
	if r.CutMean != nil {
		r.CutMean, r.Lost = r.CutMean[:n], r.Lost[:n]
	}
	for _, x := range r.Parts {
		for _, of := range []map[bool][]float64{x.Most, x.Sum, x.Weight} {
			for k := range of {
				of[k] = of[k][:n]
			}
		}
	}
	for k := range r.FieldErr {
		r.FieldErr[k] = r.FieldErr[k][:n*m]
	}
	if r.Pixels != nil {
		r.Pixels = r.Pixels[:n*(1+m)]
	}
	if c := r.Classes; c != nil {
		c.Base, c.Agree, c.Always, c.Right, c.Robust, c.Adjacent = c.Base[:n], c.Agree[:n], c.Always[:n], c.Right[:n],
			c.Robust[:n], c.Adjacent[:n]
		c.At = c.At[:n*m]
	}
	if t := r.Table; t != nil {
		k := 0
		for k < len(t.Samples) && t.Samples[k] < n {
			k++
		}
		t.Samples, t.row, t.Base, t.Moved = t.Samples[:k], t.row[:n], t.Base[:k*t.K], t.Moved[:k*m*t.K]
	}
}
