package aggregate

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"nero/internal/elementary"
)

// grid is how many steps the candidates of a [MeanSequence] take from 0 to 1.
const grid = 1000

// mostBet is the share of its capital that a bet may lose at once.
const mostBet = 0.5

// candidate is the i-th possible mean, of 0 to grid. They lie as the squares of sines do, closer at both ends, where
// the deviations of numbers between 0 and 1 are smaller.
func candidate(i int) float64 {
	s := elementary.Sin(float64(i) * (math.Pi / (2 * grid)))
	return float64(s * s)
}

// MeanSequence is a confidence sequence for the mean of numbers between 0 and 1 that come one after another: an
// interval after each of them, of which with the stated confidence all hold the mean together, so that one may look
// whenever one likes. It is what is left of [0,1] by two gamblers who start with half each and bet against every
// candidate that numbers come above and below it, by predictable plug-in bets that lose no more than half at once;
// candidates against which one of them has 1/α are out for good (Waudby-Smith and Ramdas, Journal of the Royal
// Statistical Society B 86, 2024, theorem 3 and section 4.4). The mean may be that given the past: the numbers need not
// be independent. Candidates are a grid; ends move outwards to it.
type MeanSequence struct {
	confidence float64
	n, missing int
	// of the numbers, with one of 1/2 before them, and the squares of their distances from the mean up to each, with
	// 1/4 before them
	sum, squares float64
	// the last candidate below that is out, and the first above
	low, high int
	// capital of who bets on more than the candidate, of those above low, and on less, of those below high
	more, less []capital
	at         []float64 // the candidates
}

// capital is Mantissa·2^Exponent.
type capital struct {
	Mantissa float64
	Exponent int
}

// times multiplies a capital; no power of two rounds.
func (c *capital) times(x float64) {
	m, e := math.Frexp(c.Mantissa * x)
	c.Mantissa, c.Exponent = m, c.Exponent+e
}

func (c capital) atLeast(x float64) bool {
	m, e := math.Frexp(x)
	return c.Mantissa > 0 && (c.Exponent > e || c.Exponent == e && c.Mantissa >= m)
}

// NewMeanSequence is the sequence before the first number.
func NewMeanSequence(confidence float64) *MeanSequence {
	need(confidence)
	s := &MeanSequence{confidence: confidence, sum: 0.5, squares: 0.25, low: 0, high: grid}
	for i := range grid + 1 {
		s.at = append(s.at, candidate(i))
		s.more, s.less = append(s.more, capital{0.5, 1}), append(s.less, capital{0.5, 1})
	}
	return s
}

// Add takes in the next number. A NaN is counted, and the interval does not speak for it: who must not be flattered
// adds the worse end of the range in its place. It panics on a number that is not between 0 and 1.
func (s *MeanSequence) Add(x float64) {
	switch {
	case math.IsNaN(x):
		s.missing++
		return
	case !(x >= 0 && x <= 1):
		panic("aggregate: a number of a sequence is not between 0 and 1")
	}
	// The bet is placed before the number is seen.
	n := float64(s.n + 1)
	variance := s.squares / n
	alpha := 1 - s.confidence
	bet := math.Sqrt(2 * elementary.Log(2/alpha) / float64(variance*float64(n*elementary.Log1p(n))))
	out := 2 / alpha // of each half of the capital
	for i := s.low + 1; i < s.high; i++ {
		m := s.at[i]
		s.more[i].times(1 + float64(min(bet, mostBet/m)*(x-m)))
		s.less[i].times(1 - float64(min(bet, mostBet/(1-m))*(x-m)))
	}
	for i := s.high - 1; i > s.low; i-- { // who bets on more has the less the larger the candidate
		if s.more[i].atLeast(out) {
			s.low = i
			break
		}
	}
	for i := s.low + 1; i < s.high; i++ {
		if s.less[i].atLeast(out) {
			s.high = i
			break
		}
	}
	s.n++
	s.sum += x
	d := x - s.sum/float64(s.n+1)
	s.squares += float64(d * d)
}

// Interval is what is left.
func (s *MeanSequence) Interval() Interval {
	return Interval{s.at[s.low], s.at[s.high], s.confidence, s.n, s.missing}
}

// stored is a sequence as it is written: what is out is left out.
type stored struct {
	Confidence float64   `json:"confidence"`
	N          int       `json:"n"`
	Missing    int       `json:"missing"`
	Sum        float64   `json:"sum"`
	Squares    float64   `json:"squares"`
	Low        int       `json:"low"`
	High       int       `json:"high"`
	More       []float64 `json:"more"`
	MoreBits   []int     `json:"more_exponents"`
	Less       []float64 `json:"less"`
	LessBits   []int     `json:"less_exponents"`
}

// Clone is a sequence that goes on by itself from here.
func (s *MeanSequence) Clone() *MeanSequence {
	out := *s
	out.more, out.less = slices.Clone(s.more), slices.Clone(s.less)
	return &out
}

// MarshalJSON writes all that is needed to go on.
func (s *MeanSequence) MarshalJSON() ([]byte, error) {
	o := stored{
		Confidence: s.confidence, N: s.n, Missing: s.missing, Sum: s.sum, Squares: s.squares, Low: s.low, High: s.high,
	}
	for i := s.low + 1; i < s.high; i++ {
		o.More, o.MoreBits = append(o.More, s.more[i].Mantissa), append(o.MoreBits, s.more[i].Exponent)
		o.Less, o.LessBits = append(o.Less, s.less[i].Mantissa), append(o.LessBits, s.less[i].Exponent)
	}
	return json.Marshal(o)
}

// UnmarshalJSON reads what [MeanSequence.MarshalJSON] wrote.
func (s *MeanSequence) UnmarshalJSON(b []byte) error {
	var o stored
	if err := json.Unmarshal(b, &o); err != nil {
		return err
	}
	if !(o.Confidence > 0 && o.Confidence < 1) || o.N < 0 || o.Missing < 0 || !(o.Sum >= 0.5) || !(o.Squares > 0) {
		return errors.New("aggregate: the state of a sequence that cannot be")
	}
	left := o.High - o.Low - 1
	if o.Low < 0 || o.High > grid || left < 0 || len(o.More) != left || len(o.MoreBits) != left ||
		len(o.Less) != left || len(o.LessBits) != left {
		return fmt.Errorf("aggregate: the state of a sequence has %d and %d candidates between the numbers %d and %d",
			len(o.More), len(o.Less), o.Low, o.High)
	}
	if slices.ContainsFunc(slices.Concat(o.More, o.Less), func(m float64) bool { return !(m >= 0.5 && m < 1) }) {
		return errors.New("aggregate: the state of a sequence has a capital that cannot be")
	}
	*s = *NewMeanSequence(o.Confidence)
	s.n, s.missing, s.sum, s.squares, s.low, s.high = o.N, o.Missing, o.Sum, o.Squares, o.Low, o.High
	for i := range left {
		s.more[o.Low+1+i] = capital{o.More[i], o.MoreBits[i]}
		s.less[o.Low+1+i] = capital{o.Less[i], o.LessBits[i]}
	}
	return nil
}
