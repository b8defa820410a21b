package aggregate

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mathext"
)

// Decision is on which side of a limit a quantity has been shown to be.
type Decision int

// The decisions.
const (
	Undecided Decision = iota
	Below
	Above
)

// String is the decision in lower case.
func (d Decision) String() string {
	switch d {
	case Undecided:
		return "undecided"
	case Below:
		return "below"
	case Above:
		return "above"
	}
	return fmt.Sprintf("Decision(%d)", int(d))
}

// Decide compares an interval with a limit: Below if its upper end is below, Above if its lower end is above. An
// interval with a NaN end decides nothing.
func (i Interval) Decide(limit float64) Decision {
	switch {
	case math.IsNaN(i.Low) || math.IsNaN(i.High):
		return Undecided
	case i.High < limit:
		return Below
	case i.Low > limit:
		return Above
	}
	return Undecided
}

// bets is a gambler's record against claims "the mean is m" about numbers in [0,1] that come one after another: one
// gambler bets that the mean is higher, the other that it is lower, each at most truncation of the capital. If the
// claim is true neither capital is expected to grow, and by Ville's inequality it ever reaches 1/a with probability at
// most a. The hedged capital of Waudby-Smith and Ramdas, Journal of the Royal Statistical Society B 86 (2024), theorem
// 3, with its predictable plug-in bets.
//
// Capital against m, of the first gambler, falls as m grows, and of the second rises: the claims that survive are an
// interval.
type bets struct {
	// in [0,1], or NaN
	x []float64
	// bet on each number, fixed before it was seen; in units that the claim truncates
	size []float64
	// logarithm of the capital that refutes a claim
	goal float64
	// how many numbers will come; 0 if nobody knows
	plan int

	// numbers behind the running estimates, NaN not among them
	n float64
	// of the numbers, and of their differences from the running mean
	sum, squares float64
}

// truncation keeps some capital after the worst loss.
const truncation = 0.75

func (b *bets) add(x float64) {
	// A priori mean 1/2 and variance 1/4, with the weight of one number.
	variance := (0.25 + b.squares) / (b.n + 1)
	t := float64(len(b.x) + 1)
	spend := t * math.Log1p(t)
	if b.plan > 0 {
		spend = float64(b.plan)
	}
	b.size = append(b.size, math.Sqrt(2*b.goal/(variance*spend)))
	b.x = append(b.x, x)
	if !math.IsNaN(x) {
		b.n++
		b.sum += x
		d := x - (0.5+b.sum)/(b.n+1)
		b.squares += float64(d * d)
	}
}

// gain is the logarithm of what the i-th number multiplies each capital with if the claim is m. A NaN, which may hide
// any number of [0,1], is taken for the one that costs most, so neither capital is ever larger than had it been seen.
func (b *bets) gain(i int, m float64) (higher, lower float64) {
	up, down := b.x[i], b.x[i]
	if math.IsNaN(up) {
		up, down = 0, 1
	}
	// At m = 0 and m = 1 the quotient is infinite, and the bet is not truncated.
	return math.Log1p(min(b.size[i], truncation/m) * (up - m)),
		math.Log1p(-min(b.size[i], truncation/(1-m)) * (down - m))
}

// capital is a running account of one claim.
type capital struct {
	m float64
	// numbers accounted for
	next int
	// logarithms
	higher, lower float64
	// the most that they have ever been
	mostHigher, mostLower float64
}

func (b *bets) update(c *capital) {
	for ; c.next < len(b.x); c.next++ {
		h, l := b.gain(c.next, c.m)
		c.higher += h
		c.lower += l
		c.mostHigher = max(c.mostHigher, c.higher)
		c.mostLower = max(c.mostLower, c.lower)
	}
}

func (b *bets) against(m float64) capital {
	c := capital{m: m}
	b.update(&c)
	return c
}

// limits are the ends of the claims that no capital has ever refuted, rounded outwards.
func (b *bets) limits() (lo, hi float64) {
	hi = 1
	if b.against(0).mostHigher >= b.goal {
		refuted, stands := 0.0, 1.0
		for range 60 {
			if m := (refuted + stands) / 2; b.against(m).mostHigher >= b.goal {
				refuted = m
			} else {
				stands = m
			}
		}
		lo = refuted
	}
	if b.against(1).mostLower >= b.goal {
		refuted, stands := 1.0, 0.0
		for range 60 {
			if m := (refuted + stands) / 2; b.against(m).mostLower >= b.goal {
				refuted = m
			} else {
				stands = m
			}
		}
		hi = refuted
	}
	return lo, hi
}

// Sequential is a confidence sequence for the mean of a population in [0,R] from which numbers are drawn independently,
// one per input (docs/METRICS.md S5, S6): with the given confidence, all of its intervals, one after each number, hold
// the mean together. So one may look after every input and stop whenever one likes, for instance when
// [Sequential.Decide] has decided. It is a betting sequence with hedged capital (Waudby-Smith and Ramdas, Journal of
// the Royal Statistical Society B 86, 2024, theorem 3); the intervals only shrink.
//
// A NaN may hide any number in the range, and is counted as the one that widens each end most. Memory is 16 bytes per
// number.
type Sequential struct {
	b          bets
	r          float64
	confidence float64
	missing    int
	invalid    error
	// limits that were asked about, most recent last
	accounts []capital
}

// NewSequential starts a sequence for numbers in [0,r]. The range r, above 0 and finite, and the confidence, in (0,1),
// are fixed before the data are seen.
func NewSequential(r, confidence float64) *Sequential {
	need(confidence)
	if !(r > 0) || math.IsInf(r, 0) {
		panic("aggregate: a range that is not above 0 and finite")
	}
	return &Sequential{r: r, confidence: confidence, b: bets{goal: math.Log(2 / (1 - confidence))}}
}

// Add takes in the number of an input. The error wraps [ErrNotBounded] if it is outside the range: the assumption is
// wrong then, and from there on the interval is everything and nothing is decided.
func (s *Sequential) Add(x float64) error {
	if x < 0 || x > s.r {
		s.invalid = fmt.Errorf("%w: %g, the range is [0, %g]", ErrNotBounded, x, s.r)
	}
	if s.invalid != nil {
		return s.invalid
	}
	if math.IsNaN(x) {
		s.missing++
	}
	s.b.add(x / s.r)
	return nil
}

// N is how many inputs have been added, NaN among them.
func (s *Sequential) N() int { return len(s.b.x) }

// Interval is the interval at this time. Limits that have crossed contradict the assumption that all numbers have one
// mean; the interval is everything then. The time it takes grows with the numbers that were added; [Sequential.Decide]
// is fast.
func (s *Sequential) Interval() Interval {
	n := len(s.b.x) - s.missing
	if s.invalid != nil {
		return everything(s.confidence, n, s.missing)
	}
	lo, hi := s.b.limits()
	if lo > hi {
		return everything(s.confidence, n, s.missing)
	}
	return Interval{lo * s.r, hi * s.r, s.confidence, n, s.missing}
}

// decisionAccounts is how many limits have an account that is kept up to date; others are reckoned anew.
const decisionAccounts = 16

// Decide says on which side of tau the mean is, or Undecided: the same as comparing tau with the interval, unless its
// limits have crossed, and faster. The probability that it ever says something wrong, however often it is asked and
// whenever one stops, is at most 1-confidence.
func (s *Sequential) Decide(tau float64) Decision {
	m := tau/s.r + 0 // zero has one sign: a quotient by it must not be -Inf
	switch {
	case s.invalid != nil || math.IsNaN(m):
		return Undecided
	case m < 0:
		return Above
	case m > 1:
		return Below
	}
	c := s.account(m)
	s.b.update(c)
	switch higher, lower := c.mostHigher >= s.b.goal, c.mostLower >= s.b.goal; {
	case higher && !lower:
		return Above
	case lower && !higher:
		return Below
	}
	return Undecided // or both, which contradicts the assumptions
}

func (s *Sequential) account(m float64) *capital {
	for i := range s.accounts {
		if s.accounts[i].m == m {
			return &s.accounts[i]
		}
	}
	if len(s.accounts) == decisionAccounts {
		copy(s.accounts, s.accounts[1:])
		s.accounts = s.accounts[:decisionAccounts-1]
	}
	s.accounts = append(s.accounts, capital{m: m})
	return &s.accounts[len(s.accounts)-1]
}

// BettingInterval is the interval for the mean of a population in [0,r] from which the values, one per input, were
// drawn independently: the betting interval for a number of values that is known beforehand (Waudby-Smith and Ramdas
// 2024, section 4). Its coverage is at least nominal for every such population and every number of values, like that of
// [HoeffdingUpper] and [BernsteinUpper], and it is mostly much shorter than either. The range r is fixed before the
// data are seen. The values are read in the order given, which must not depend on them. A NaN widens both ends as in
// [Sequential]. The error wraps [ErrNotBounded] if a value is outside the range, or there is none.
func BettingInterval(values []float64, r, confidence float64) (Interval, error) {
	s := NewSequential(r, confidence)
	if len(values) == 0 {
		return everything(confidence, 0, 0), fmt.Errorf("%w: there are none", ErrNotBounded)
	}
	s.b.plan = len(values)
	for _, x := range values {
		if err := s.Add(x); err != nil {
			return s.Interval(), err
		}
	}
	return s.Interval(), nil
}

// SequentialShare is a confidence sequence for the probability of an event of which independent trials come one after
// another, such as that the error of an input exceeds a tolerance, see [Exceeds]. All of its intervals hold the
// probability together, as in [Sequential]. It is Robbins' mixture of likelihood ratios (Annals of Mathematical
// Statistics 41, 1970) with the weights of Jeffreys: p is refuted once B(k+½, n-k+½)/B(½, ½) >=
// pᵏ(1-p)ⁿ⁻ᵏ/(1-confidence). The intervals only shrink. Memory is constant.
type SequentialShare struct {
	k, n       int
	lo, hi     float64
	confidence float64
}

// NewSequentialShare starts a sequence with a confidence in (0,1).
func NewSequentialShare(confidence float64) *SequentialShare {
	need(confidence)
	return &SequentialShare{hi: 1, confidence: confidence}
}

// Add takes in whether the event occurred at the next input.
func (s *SequentialShare) Add(occurred bool) {
	s.n++
	if occurred {
		s.k++
	}
	rate := float64(s.k) / float64(s.n)
	if s.lo < rate && s.refuted(s.lo) {
		refuted, stands := s.lo, rate
		for range 60 {
			if p := (refuted + stands) / 2; s.refuted(p) {
				refuted = p
			} else {
				stands = p
			}
		}
		s.lo = refuted
	}
	if s.hi > rate && s.refuted(s.hi) {
		refuted, stands := s.hi, rate
		for range 60 {
			if p := (refuted + stands) / 2; s.refuted(p) {
				refuted = p
			} else {
				stands = p
			}
		}
		s.hi = refuted
	}
}

func (s *SequentialShare) refuted(p float64) bool {
	k, n := float64(s.k), float64(s.n)
	return mathext.Lbeta(k+0.5, n-k+0.5)-math.Log(math.Pi) >= logLikelihood(p, k, n)-math.Log1p(-s.confidence)
}

// logLikelihood is k·ln p + (n-k)·ln(1-p), with 0·ln 0 = 0.
func logLikelihood(p, k, n float64) float64 {
	l := 0.0
	if k > 0 {
		l += k * math.Log(p)
	}
	if n > k {
		l += (n - k) * math.Log1p(-p)
	}
	return l
}

// N is how many trials have been added.
func (s *SequentialShare) N() int { return s.n }

// Interval is the interval at this time; everything if its limits have crossed, which contradicts the assumption of one
// probability for all trials.
func (s *SequentialShare) Interval() Interval {
	if s.lo > s.hi {
		return everything(s.confidence, s.n, 0)
	}
	return Interval{s.lo, s.hi, s.confidence, s.n, 0}
}

// Decide compares the interval with p. The probability that it ever says something wrong is at most 1-confidence.
func (s *SequentialShare) Decide(p float64) Decision { return s.Interval().Decide(p) }

// ContractSequence judges a [Contract] while inputs come one after another: one may stop as soon as it is decided, and
// the probability of ever deciding wrongly is at most 1 - Confidence. It is the mixture of likelihood ratios of
// [SequentialShare] against P alone, with all weight on the side that is to be shown, once for each side: with no
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

// Add takes in the error of the next input and gives the outcome up to it. A decision stays, whatever comes later.
func (s *ContractSequence) Add(x float64) Outcome {
	s.t.Merge(s.c.Count([]float64{x}))
	if s.outcome != Open {
		return s.outcome
	}
	k, n := float64(s.t.Over), float64(s.t.N)
	// The integral of the likelihood over one side, by the weight of that side, against the likelihood of P.
	all := mathext.Lbeta(k+0.5, n-k+0.5)
	goal := logLikelihood(s.c.P, k, n) - math.Log1p(-s.c.Confidence)
	switch p := s.c.P; {
	case all+math.Log(mathext.RegIncBeta(k+0.5, n-k+0.5, p)) >= goal+math.Log(math.Pi*mathext.RegIncBeta(0.5, 0.5, p)):
		s.outcome = Met
	case all+math.Log(mathext.RegIncBeta(n-k+0.5, k+0.5, 1-p)) >= goal+math.Log(math.Pi*mathext.RegIncBeta(0.5, 0.5,
		1-p)):
		s.outcome = Broken
	}
	return s.outcome
}

// Outcome is the outcome so far.
func (s *ContractSequence) Outcome() Outcome { return s.outcome }

// Tally is the inputs so far, those after the decision among them.
func (s *ContractSequence) Tally() Tally { return s.t }
