package aggregate

import (
	"errors"
	"fmt"
	"math"

	"nero/internal/distribution"
	"nero/internal/elementary"
)

// Contract is the statement P(error > Tau) <= P, to be shown with a confidence. The error is one number per input, such
// as its largest over the plan, and the probability is over inputs (docs/METRICS.md S3).
type Contract struct {
	// tolerance, in the unit of the error; any number
	Tau float64
	// tolerated probability, in (0,1)
	P float64
	// in (0,1)
	Confidence float64
}

// Outcome is what the data say of a contract.
type Outcome int

// The outcomes. Only Met passes: that nothing contradicts a contract is no evidence for it.
const (
	Open   Outcome = iota // neither can be said with the confidence
	Met                   // the probability is at most P
	Broken                // the probability is above P
)

// String is the outcome in lower case; Open is "undecided".
func (o Outcome) String() string {
	switch o {
	case Met:
		return "met"
	case Broken:
		return "broken"
	case Open:
		return "undecided"
	}
	return fmt.Sprintf("Outcome(%d)", int(o))
}

// Tally counts inputs by whether their error exceeds a tolerance. Tallies merge in any order.
type Tally struct {
	// inputs
	N int
	// inputs whose error exceeds the tolerance, or is NaN
	Over int
	// inputs whose error is NaN
	Missing int
}

// Merge takes in the inputs of another tally.
func (t *Tally) Merge(o Tally) {
	t.N += o.N
	t.Over += o.Over
	t.Missing += o.Missing
}

// Exceeds says whether an error is above a tolerance; a NaN is.
func Exceeds(x, tau float64) bool { return !(x <= tau) }

// Validate names the field that is not in its range.
func (c Contract) Validate() error {
	switch {
	case math.IsNaN(c.Tau):
		return errors.New("contract: the tolerance is NaN: give a number in the unit of the error")
	case !(c.P > 0 && c.P < 1):
		return fmt.Errorf("contract: the tolerated probability is %g: give a number above 0 and below 1; a failure "+
			"that may never occur cannot be shown with any number of inputs", c.P)
	case !(c.Confidence > 0 && c.Confidence < 1):
		return fmt.Errorf("contract: the confidence is %g: give a number above 0 and below 1, such as 0.95",
			c.Confidence)
	}
	return nil
}

// Count tallies errors, one per input, against the tolerance.
func (c Contract) Count(values []float64) Tally {
	t := Tally{N: len(values)}
	for _, x := range values {
		if Exceeds(x, c.Tau) {
			t.Over++
		}
		if math.IsNaN(x) {
			t.Missing++
		}
	}
	return t
}

// Judgement is what a tally says of a contract.
type Judgement struct {
	Tally
	Outcome Outcome
	// share of inputs over the tolerance; NaN without inputs
	Rate float64
	// one-sided lower limit of the probability, at the contract's confidence; above P: broken
	Lower float64
	// one-sided upper limit of the probability, at the contract's confidence; at most P: met
	Upper float64
	// p-value against "the probability is above P": what [Holm] takes to claim several contracts together
	PMet float64
	// p-value against "the probability is at most P"
	PBroken float64
	// fewest inputs that can show the contract: ln(1-Confidence)/ln(1-P) of them, none over the tolerance
	Least int
	// about how many inputs decide at the observed rate: N if they have; 0 if more than a billion would not
	Need int
}

// Evaluate judges errors, one per input and drawn independently. It panics if the contract is not valid.
func (c Contract) Evaluate(values []float64) Judgement { return c.Judge(c.Count(values)) }

// Judge compares Clopper and Pearson's limits with P in both directions. Each direction has the whole of 1-Confidence,
// for only one of the two claims can be wrong. It panics if the contract is not valid or the counts contradict each
// other.
func (c Contract) Judge(t Tally) Judgement {
	if err := c.Validate(); err != nil {
		panic(err.Error())
	}
	trials(t.Over, t.N)
	j := Judgement{Tally: t, Rate: math.NaN(), Lower: 0, Upper: 1, Least: WilksN(1-c.P, c.Confidence)}
	if t.N > 0 {
		j.Rate = float64(t.Over) / float64(t.N)
		j.Lower = betaLow(t.Over, t.N, 1-c.Confidence)
		j.Upper = betaHigh(t.Over, t.N, 1-c.Confidence)
	}
	j.PMet, j.PBroken = c.pMet(t.Over, t.N), c.pBroken(t.Over, t.N)
	switch {
	case c.met(t.Over, t.N):
		j.Outcome, j.Need = Met, t.N
	case c.broken(t.Over, t.N):
		j.Outcome, j.Need = Broken, t.N
	default:
		j.Need = c.needs(t)
	}
	return j
}

// pMet is the probability of k or fewer failures in n if one has the probability P.
func (c Contract) pMet(k, n int) float64 {
	switch k {
	case n:
		return 1
	case 0:
		return elementary.Exp(float64(n) * elementary.Log1p(-c.P))
	}
	return distribution.RegIncBeta(float64(n-k), float64(k+1), 1-c.P)
}

// pBroken is the probability of k or more failures in n if one has the probability P.
func (c Contract) pBroken(k, n int) float64 {
	if k == 0 {
		return 1
	}
	return distribution.RegIncBeta(float64(k), float64(n-k+1), c.P)
}

// met and broken ask the binomial tail instead of comparing limits with P: it is the same question without a root to
// find.
func (c Contract) met(k, n int) bool    { return OrderConfidence(1-c.P, n, k+1) >= c.Confidence }
func (c Contract) broken(k, n int) bool { return c.pBroken(k, n) < 1-c.Confidence }

// mostInputs ends the search for a number of inputs that decides.
const mostInputs = 1_000_000_000

// needs is about how many inputs decide if the rate stays as it is. Failures are rounded away from the decision.
func (c Contract) needs(t Tally) int {
	if t.N == 0 || t.Over == 0 {
		return WilksN(1-c.P, c.Confidence)
	}
	rate := float64(t.Over) / float64(t.N)
	decides := func(n int) bool {
		switch k := rate * float64(n); {
		case rate < c.P:
			return c.met(min(int(math.Ceil(k)), n), n)
		case rate > c.P:
			return c.broken(int(math.Floor(k)), n)
		default:
			return false
		}
	}
	lo, hi := t.N, 2*t.N
	for ; !decides(hi); hi *= 2 {
		if hi > mostInputs {
			return 0
		}
		lo = hi
	}
	for hi-lo > 1 {
		if mid := lo + (hi-lo)/2; decides(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}
