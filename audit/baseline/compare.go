package baseline

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"nero/audit"
	"nero/measure/aggregate"
)

// Status is what became of something.
type Status string

// The statuses. Of errors, unchanged means that there is no clear difference; the interval says how large one may
// still be.
const (
	Fixed     Status = "fixed"
	Improved  Status = "improved"
	Unchanged Status = "unchanged"
	Worse     Status = "worse"
	New       Status = "new"
	NotAsked  Status = "not asked" // its check was not tested this time
)

// Options of a comparison.
type Options struct {
	// Allow is the relative increase of an error that is no regression yet: 0.1 is ten percent. At least 0.
	Allow float64
}

// DefaultAllow is the relative increase that is allowed unless told otherwise.
const DefaultAllow = 0.1

// Change compares one number per input before and after, in pairs.
type Change struct {
	aggregate.Comparison
	// Beyond says that the increase is larger than allowed, with the confidence of the comparison.
	Beyond bool
}

// SetChange is what became of a set of elements.
type SetChange struct {
	Name, Unit string
	// Mean compares the mean error of each input over the set, Largest the largest one.
	Mean, Largest Change
	// Rounding says that no error after the change is more than rounding, so that an increase is no regression.
	Rounding bool
	Status   Status
	// Failing are inputs whose largest error is above the threshold now and was not, Mended those the other way round;
	// NonFinite are those that have no finite error now and had one. Sample names, in the order of the audit.
	Failing, Mended, NonFinite []string
	Before, After              audit.Verdict
	// Worst is the input whose largest error grew most; Nowhere if none did.
	Worst audit.Where
}

// FindingChange is what became of a finding.
type FindingChange struct {
	Check         string
	Category      *audit.Category
	Set, Location string
	Status        Status
	Severity      audit.Severity
	// the messages; "" where there is none
	Before, After string
	// Pair compares the largest errors of its set in pairs by input; nil for a finding that is not about the errors of
	// a set that was judged both times.
	Pair *Change
}

// Number is a number that is told but not judged, such as an accuracy.
type Number struct {
	Before, After audit.Evidence
}

// Regression is why a model is worse than it was.
type Regression struct {
	Set      string
	Message  string
	Evidence []audit.Evidence
	Worst    audit.Where
}

// Comparison is what became of a model.
type Comparison struct {
	// name now and before
	Model, Former string
	VerdictBefore audit.Verdict
	VerdictAfter  audit.Verdict
	// of the model files; may be ""
	DigestBefore string
	DigestAfter  string
	EngineBefore string
	EngineAfter  string
	Allow        float64
	// of all intervals of the errors together
	Confidence float64
	Inputs     int
	Sets       []SetChange
	Findings   []FindingChange
	Accuracy   []Number
	// sets that only one of the audits judged
	Unmatched   []string
	Regressions []Regression
}

// Regressed reports whether the model is worse than it was by more than is allowed.
func (c *Comparison) Regressed() bool { return len(c.Regressions) > 0 }

// roundings is how many times the rounding floor an error may be and still be called rounding, as in the policies of
// audits.
const roundings = 10

// Compare compares two audits of the same study. Errors are compared in pairs by input (docs/METRICS.md S7); the
// confidence of the audit holds for all sets and both statistics together, by Bonferroni. The error wraps
// [ErrNotComparable].
func Compare(before, after *Model, o Options) (*Comparison, error) {
	if !(o.Allow >= 0) || math.IsInf(o.Allow, 1) {
		return nil, fmt.Errorf("allowed regression is %g; want a relative increase of at least 0, such as 0.1", o.Allow)
	}
	if !(0 < after.Confidence && after.Confidence < 1) {
		return nil, fmt.Errorf("model %s: confidence is %g; want a number in (0, 1)", after.Name, after.Confidence)
	}
	if err := agree(before, after); err != nil {
		return nil, err
	}
	c := &Comparison{
		Model: after.Name, Former: before.Name, VerdictBefore: before.Verdict, VerdictAfter: after.Verdict,
		DigestBefore: digest(before), DigestAfter: digest(after), EngineBefore: fact(before.About, audit.AboutEngine),
		EngineAfter: fact(after.About, audit.AboutEngine),
		Allow:       o.Allow, Confidence: after.Confidence, Inputs: after.Inputs,
	}
	var pairs [][2]*Set
	for _, b := range before.Sets {
		if a := after.Set(b.Name); a != nil {
			pairs = append(pairs, [2]*Set{b, a})
		} else {
			c.Unmatched = append(c.Unmatched, b.Name+" (before)")
		}
	}
	for _, a := range after.Sets {
		if before.Set(a.Name) == nil {
			c.Unmatched = append(c.Unmatched, a.Name+" (after)")
		}
	}
	each := 1 - (1-after.Confidence)/float64(2*len(pairs))
	for _, p := range pairs {
		c.Sets = append(c.Sets, c.set(p[0], p[1], after, each))
	}
	c.findings(before, after)
	for _, m := range before.Measures {
		if !strings.HasPrefix(m.Name, "accuracy ") {
			continue
		}
		if i := slices.IndexFunc(after.Measures, func(e audit.Evidence) bool { return e.Name == m.Name }); i >= 0 {
			c.Accuracy = append(c.Accuracy, Number{m, after.Measures[i]})
		}
	}
	more := false // asked now than before, which may make a verdict worse
	for name, tested := range after.Tested {
		_, before := before.Tested[name]
		more = more || tested && !before
	}
	c.judge(!more)
	return c, nil
}

// digest is the digest of the model file; audits name it in one of two ways.
func digest(m *Model) string {
	if d := fact(m.About, audit.AboutDigest); d != "" {
		return d
	}
	return fact(m.About, "sha256")
}

// resamples are enough for the quantiles that a confidence asks for.
func resamples(confidence float64) int {
	return int(min(max(2000, 50/(1-confidence)), 200_000))
}

// draws is a generator that depends on what is compared alone.
func draws(seed uint64, what string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(what))
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}

// Rounded reports whether no error of a set is more than rounding. What the audit called a violation is none, however
// large the floor: that of a model that jumps is as large as its jumps.
func (s *Set) Rounded() bool {
	return s.Cause == string(audit.CauseRoundoff) || s.Cause != string(audit.CauseViolation) &&
		s.Max <= roundings*s.Rounding
}

func (c *Comparison) set(before, after *Set, m *Model, confidence float64) SetChange {
	change := func(what string, a, b []float64) Change {
		r := func() *rand.Rand { return draws(m.Seed, after.Name+" "+what) }
		x := Change{Comparison: aggregate.Compare(a, b, resamples(confidence), confidence, r())}
		// The increase is beyond what is allowed if the error now is larger than (1 + allow) times the one before.
		// Unlike the interval of the factor this can be said of errors that were none at all.
		most := make([]float64, len(a))
		for i := range a {
			most[i] = (1 + c.Allow) * a[i]
		}
		x.Beyond = x.Verdict == aggregate.Worse && aggregate.Compare(most, b, resamples(confidence), confidence,
			r()).Verdict == aggregate.Worse
		return x
	}
	s := SetChange{
		Name: after.Name, Unit: after.Unit, Mean: change("mean", before.Means, after.Means),
		Largest:  change("largest", before.Largest, after.Largest),
		Rounding: after.Rounded(),
		Before:   before.Verdict, After: after.Verdict, Worst: audit.Nowhere, Status: Unchanged,
	}
	most := 0.0
	for i, id := range after.IDs {
		x, y := before.Largest[i], after.Largest[i]
		if !math.IsNaN(x) && math.IsNaN(y) {
			s.NonFinite = append(s.NonFinite, id)
		}
		if x <= m.Threshold && y > m.Threshold {
			s.Failing = append(s.Failing, id)
		}
		if x > m.Threshold && y <= m.Threshold {
			s.Mended = append(s.Mended, id)
		}
		if d := y - x; d > most {
			most, s.Worst = d, audit.Where{Sample: id, Index: i}
		}
	}
	a, b := s.Mean.Verdict, s.Largest.Verdict
	switch {
	case len(s.NonFinite) > 0, a == aggregate.Worse, b == aggregate.Worse:
		s.Status = Worse
	case (a == aggregate.Improved || b == aggregate.Improved) && before.Verdict != audit.Passed &&
		after.Verdict == audit.Passed:
		s.Status = Fixed
	case a == aggregate.Improved, b == aggregate.Improved:
		s.Status = Improved
	}
	return s
}

// findings matches the findings of two audits by check, category and set, in their order. Their numbers and places may
// change with the model.
func (c *Comparison) findings(before, after *Model) {
	type key struct {
		check, set, category string
	}
	left := map[key][]Finding{}
	of := func(f Finding) key { return key{f.question(), f.Set, f.Category.Name} }
	for _, f := range after.Findings {
		left[of(f)] = append(left[of(f)], f)
	}
	for _, f := range before.Findings {
		x := FindingChange{
			Check: f.Check, Category: f.Category, Set: f.Set, Location: f.Location, Severity: f.Severity,
			Before: f.Message,
		}
		if now := left[of(f)]; len(now) > 0 {
			left[of(f)] = now[1:]
			x.After, x.Location, x.Severity = now[0].Message, now[0].Location, now[0].Severity
			x.Status = c.became(f, now[0])
		} else {
			x.Status = Fixed
			if !after.Tested[f.question()] {
				x.Status = NotAsked
			}
		}
		c.Findings = append(c.Findings, x)
	}
	for _, f := range after.Findings {
		if now := left[of(f)]; len(now) > 0 && now[0].ID == f.ID {
			left[of(f)] = now[1:]
			c.Findings = append(c.Findings, FindingChange{
				Check: f.Check, Category: f.Category, Set: f.Set, Location: f.Location, Status: New,
				Severity: f.Severity, After: f.Message,
			})
		}
	}
	for i := range c.Findings {
		f := &c.Findings[i]
		if k := slices.IndexFunc(c.Sets, func(s SetChange) bool { return s.Name == f.Set }); k >= 0 &&
			f.Category.OfSet {
			f.Pair = &c.Sets[k].Largest
		}
	}
}

// became compares a finding with its former self: by the errors of its set where it is about them, else by its first
// number with a limit.
func (c *Comparison) became(before, after Finding) Status {
	if after.Category.OfSet {
		if i := slices.IndexFunc(c.Sets, func(s SetChange) bool { return s.Name == after.Set }); i >= 0 {
			if s := c.Sets[i].Status; s != Fixed {
				return s
			}
			return Improved // the finding is still there
		}
	}
	i, j := limited(before.Evidence), limited(after.Evidence)
	if i < 0 || j < 0 || before.Evidence[i].Name != after.Evidence[j].Name {
		return Unchanged
	}
	x, y := before.Evidence[i], after.Evidence[j]
	a, b := math.Abs(x.Value-x.Limit), math.Abs(y.Value-y.Limit)
	side := func(e audit.Evidence) bool { return e.Value > e.Limit }
	switch {
	case math.IsNaN(a) || math.IsNaN(b) || side(x) != side(y):
		return Unchanged
	case x.Lo <= y.Hi && y.Lo <= x.Hi:
		return Unchanged // the intervals overlap
	case b > (1+c.Allow)*a:
		return Worse
	case a > (1+c.Allow)*b:
		return Improved
	}
	return Unchanged
}

// limited is the first number with a limit; -1 if there is none.
func limited(es []audit.Evidence) int {
	return slices.IndexFunc(es, func(e audit.Evidence) bool { return !math.IsNaN(e.Limit) })
}

// judge says what is worse by more than is allowed, verdicts included where they answer the same questions.
func (c *Comparison) judge(verdicts bool) {
	for _, s := range c.Sets {
		if len(s.NonFinite) > 0 {
			c.Regressions = append(c.Regressions, Regression{
				Set: s.Name, Message: fmt.Sprintf("%s: %d inputs have no finite error any more, first sample %s",
					s.Name, len(s.NonFinite), s.NonFinite[0]),
				Evidence: []audit.Evidence{audit.Number("inputs that lost their finite error",
					float64(len(s.NonFinite)), "").Against(0)},
				Worst: audit.Where{Sample: s.NonFinite[0], Index: -1},
			})
		}
		if s.Rounding {
			continue
		}
		for _, x := range []struct {
			what string
			c    Change
		}{{"largest error", s.Largest}, {"mean error", s.Mean}} {
			if !x.c.Beyond {
				continue
			}
			c.Regressions = append(c.Regressions, Regression{
				Set: s.Name, Worst: s.Worst,
				Message: fmt.Sprintf(
					"%s: the %s is worse than the baseline: %s before, %s now, %s; at most %s is allowed",
					s.Name, x.what, audit.Figures(x.c.Before), audit.Figures(x.c.After), growth(x.c), times(1+c.Allow)),
				Evidence: []audit.Evidence{
					{
						Name: x.what + " now by before", Value: x.c.After / x.c.Before, Lo: inverse(x.c.Factor.High),
						Hi: inverse(x.c.Factor.Low), Limit: 1 + c.Allow,
					},
					audit.Number(x.what+" before", x.c.Before, s.Unit), audit.Number(x.what+" now", x.c.After, s.Unit),
				},
			})
			break // one finding per set
		}
	}
	for _, f := range c.Findings {
		if f.Status == New && f.Severity == audit.High && f.Category != audit.Violation &&
			f.Category != audit.NonFinite {
			c.Regressions = append(c.Regressions, Regression{
				Set: f.Set, Message: "new finding of high severity, " + f.Check + ": " + f.After, Worst: audit.Nowhere,
				Evidence: []audit.Evidence{audit.Number("new findings of high severity", 1, "").Against(0)},
			})
		}
	}
	rank := []audit.Verdict{audit.Passed, audit.NeedsAttention, audit.Failed}
	if b, a := slices.Index(rank, c.VerdictBefore), slices.Index(rank, c.VerdictAfter); verdicts && b >= 0 && a > b &&
		len(c.Regressions) == 0 {
		c.Regressions = append(c.Regressions, Regression{
			Message: fmt.Sprintf("the verdict was %s and is %s", c.VerdictBefore, c.VerdictAfter), Worst: audit.Nowhere,
			Evidence: []audit.Evidence{audit.Number("steps by which the verdict is worse", float64(a-b),
				"").Against(0)},
		})
	}
}

// inverse is 1/x, infinite for 0.
func inverse(x float64) float64 {
	if x == 0 {
		return math.Inf(1)
	}
	return 1 / x
}

// growth writes by how much an error grew, with its interval.
func growth(c Change) string {
	if c.Before == 0 {
		return "from none at all"
	}
	return fmt.Sprintf("%s [%s, %s]", times(c.After/c.Before), audit.Figures(inverse(c.Factor.High)),
		audit.Figures(inverse(c.Factor.Low)))
}

func times(x float64) string { return audit.Figures(x) + " times" }
