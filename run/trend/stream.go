package trend

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"nero/internal/elementary"
	"nero/measure/aggregate"
)

// window is for how many releases a restart bets: later ones keep what they have.
const window = 64

// Stream is the evidence of new objects, release after release, against "each fails with at most the probability
// Limit, whatever came before". It begins anew at every release j with the weight 6/(π²j²), so that a change is not
// held against a good past: E = Σ_j w_j E⁽ʲ⁾, where E⁽ʲ⁾ is that of [aggregate.LogEvidence] of the objects from release
// j on, 1 before it. All together is a supermartingale that begins at 1: the probability that it ever reaches 1/α is at
// most α. A restart bets for 64 releases and then keeps what it has, the first one for good; that costs nothing of the
// promise.
type Stream struct {
	limit    float64
	releases int
	all      aggregate.Tally
	// restarts that still bet, the first of all releases before them
	live []restart
	// Σ w_j E⁽ʲ⁾ of those that do not any more, as a logarithm; -Inf for none
	kept float64
	// after each release
	evidence []float64
}

// restart is the objects since a release.
type restart struct {
	From int `json:"from"`
	N    int `json:"n"`
	Over int `json:"over"`
}

// NewStream is the evidence before the first release. It panics if the limit is not in (0,1).
func NewStream(limit float64) *Stream {
	if !(limit > 0 && limit < 1) {
		panic("trend: a limit that is not between 0 and 1")
	}
	return &Stream{limit: limit, kept: math.Inf(-1)}
}

// Release takes in the objects of the next release, of which some failed, and gives the logarithm of the evidence after
// it. What did not answer with a number has failed.
func (s *Stream) Release(t aggregate.Tally) float64 {
	s.releases++
	s.all.Merge(t)
	s.live = append(s.live, restart{From: s.releases})
	for i := range s.live {
		s.live[i].N += t.N
		s.live[i].Over += t.Over
	}
	if len(s.live) > window+1 { // the first one stays
		r := s.live[1]
		s.kept = sumLogs(s.kept, s.weighted(r))
		s.live = append(s.live[:1], s.live[2:]...)
	}
	total := s.kept
	// What has not begun is 1.
	begun := 0.0
	for j := range s.releases {
		begun += weight(j + 1)
	}
	if rest := 1 - begun; rest > 0 {
		total = sumLogs(total, elementary.Log(rest))
	}
	for _, r := range s.live {
		total = sumLogs(total, s.weighted(r))
	}
	s.evidence = append(s.evidence, total)
	return total
}

// weighted is ln w_j E⁽ʲ⁾.
func (s *Stream) weighted(r restart) float64 {
	return elementary.Log(weight(r.From)) + aggregate.LogEvidence(s.limit, aggregate.Tally{N: r.N, Over: r.Over})
}

// sumLogs is ln(eᵃ+eᵇ).
func sumLogs(a, b float64) float64 {
	if a < b {
		a, b = b, a
	}
	if math.IsInf(b, -1) {
		return a
	}
	return a + elementary.Log1p(elementary.Exp(b-a))
}

// Clone is a stream that goes on by itself from here.
func (s *Stream) Clone() *Stream {
	out := *s
	out.live, out.evidence = slices.Clone(s.live), slices.Clone(s.evidence)
	return &out
}

// Evidence are the logarithms after each release.
func (s *Stream) Evidence() []float64 { return s.evidence }

// Tally is the objects so far.
func (s *Stream) Tally() aggregate.Tally { return s.all }

// stored is a stream as it is written.
type stored struct {
	Limit    float64   `json:"limit"`
	N        int       `json:"n"`
	Over     int       `json:"over"`
	Missing  int       `json:"missing"`
	Live     []restart `json:"live"`
	Kept     *float64  `json:"kept,omitempty"`
	Evidence []float64 `json:"log_e"`
}

// MarshalJSON writes all that is needed to go on.
func (s *Stream) MarshalJSON() ([]byte, error) {
	o := stored{
		Limit: s.limit, N: s.all.N, Over: s.all.Over, Missing: s.all.Missing, Live: s.live, Evidence: s.evidence,
	}
	if !math.IsInf(s.kept, -1) {
		o.Kept = &s.kept
	}
	return json.Marshal(o)
}

// UnmarshalJSON reads what [Stream.MarshalJSON] wrote.
func (s *Stream) UnmarshalJSON(b []byte) error {
	var o stored
	if err := json.Unmarshal(b, &o); err != nil {
		return err
	}
	if !(o.Limit > 0 && o.Limit < 1) {
		return fmt.Errorf("trend: the limit of a stored stream is %g, and it is between 0 and 1", o.Limit)
	}
	if o.Over < 0 || o.Over > o.N || o.Missing < 0 || o.Missing > o.N ||
		len(o.Live) != min(len(o.Evidence), window+1) || len(o.Live) > 0 && o.Live[0].From != 1 {
		return errors.New("trend: a stored stream that cannot be")
	}
	for i, r := range o.Live {
		if r.Over < 0 || r.Over > r.N || r.N > o.N || r.Over > o.Over || r.From > len(o.Evidence) ||
			i > 0 && r.From <= o.Live[i-1].From {
			return fmt.Errorf("trend: restart %d of a stored stream cannot be", i+1)
		}
	}
	*s = Stream{
		limit: o.Limit, releases: len(o.Evidence), live: o.Live, kept: math.Inf(-1), evidence: o.Evidence,
		all: aggregate.Tally{N: o.N, Over: o.Over, Missing: o.Missing},
	}
	if o.Kept != nil {
		s.kept = *o.Kept
	}
	return nil
}
