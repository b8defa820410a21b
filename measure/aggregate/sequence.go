package aggregate

import "nero/internal/elementary"

// logLikelihood is k·ln p + (n-k)·ln(1-p), with 0·ln 0 = 0.
func logLikelihood(p, k, n float64) float64 {
	l := 0.0
	if k > 0 {
		l += float64(k * elementary.Log(p))
	}
	if n > k {
		l += float64((n - k) * elementary.Log1p(-p))
	}
	return l
}

// ContractSequence judges a [Contract] while inputs come one after another: one may stop as soon as it is decided, and
// the probability of ever deciding wrongly is at most 1 - Confidence. It is [LogEvidence], once for each side: with no
// failure it needs some more inputs than [Contract.Judge] does with a number fixed beforehand, and for models that are
// clearly better or worse many fewer.
type ContractSequence struct {
	c       Contract
	t       Tally
	outcome Outcome
}

// Sequence starts judging. It panics if the contract is not valid.
func (c Contract) Sequence() *ContractSequence {
	if err := c.Validate(); err != nil {
		panic(err.Error())
	}
	return &ContractSequence{c: c}
}

// Resume goes on from what an earlier sequence of the same contract had come to: its inputs are in the evidence, and
// what
// it had decided stays decided.
func (s *ContractSequence) Resume(t Tally, o Outcome) {
	trials(t.Over, t.N)
	s.t, s.outcome = t, o
}

// Add takes in the error of the next input and gives the outcome up to it. A decision stays, whatever comes later.
func (s *ContractSequence) Add(x float64) Outcome {
	s.t.Merge(s.c.Count([]float64{x}))
	if s.outcome != Open {
		return s.outcome
	}
	switch goal := -elementary.Log1p(-s.c.Confidence); {
	case LogEvidence(1-s.c.P, s.t.other()) >= goal:
		s.outcome = Met
	case LogEvidence(s.c.P, s.t) >= goal:
		s.outcome = Broken
	}
	return s.outcome
}

// Outcome is the outcome so far.
func (s *ContractSequence) Outcome() Outcome { return s.outcome }

// Tally is the inputs so far, those after the decision among them.
func (s *ContractSequence) Tally() Tally { return s.t }
