package aggregate

import (
	"math"
	"testing"
)

func TestContractSequence(t *testing.T) {
	c := Contract{Tau: 1, P: 0.01, Confidence: 0.95}
	s := c.Sequence()
	n := 0
	for s.Outcome() == Open && n < 1000 {
		n++
		if got := s.Add(0.5); got != s.Outcome() {
			t.Fatal("two outcomes")
		}
	}
	// 299 are the fewest for a number fixed beforehand; the looks in between cost some.
	if s.Outcome() != Met || n < 299 || n > 400 {
		t.Errorf("without a failure %v after %d", s.Outcome(), n)
	}
	for range 50 {
		s.Add(math.NaN())
	}
	if s.Outcome() != Met || s.Tally() != (Tally{N: n + 50, Over: 50, Missing: 50}) {
		t.Errorf("the decision did not stay: %v, %+v", s.Outcome(), s.Tally())
	}
	s = c.Sequence()
	n = 0
	for s.Outcome() == Open && n < 1000 {
		n++
		s.Add(math.NaN())
	}
	if s.Outcome() != Broken || n > 4 {
		t.Errorf("with nothing but NaN %v after %d", s.Outcome(), n)
	}
	// By hand for the first input, P = 1/2: the weight of Jeffreys on the upper half has the mean 1/2+1/π, so a failure
	// weighs (1/2+1/π)/(1/2) = 1.6366 against P, enough at a confidence of 0.38 (1/0.62 = 1.613), and not at 0.4
	// (1.667).
	for confidence, want := range map[float64]Outcome{0.38: Broken, 0.4: Open} {
		if got := (Contract{1, 0.5, confidence}).Sequence().Add(2); got != want {
			t.Errorf("one failure at %v: %v", confidence, got)
		}
	}
	for confidence, want := range map[float64]Outcome{0.38: Met, 0.4: Open} {
		if got := (Contract{1, 0.5, confidence}).Sequence().Add(0); got != want {
			t.Errorf("one success at %v: %v", confidence, got)
		}
	}
	if d := (Interval{Low: math.NaN(), High: 1}).Decide(5); d != Undecided {
		t.Errorf("an end of NaN decides %v", d)
	}
}
