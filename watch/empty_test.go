package watch

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"nero/audit"
	"nero/audit/document"
	"nero/present/sheet"
	"nero/present/words"
	"nero/run/trend"
)

// still is an audit of outputs that do not vary: each error is 0, as that of a constant is.
func still(m made) *document.Audit {
	m.errors = make([]float64, len(m.errors))
	a := m.document()
	c := &a.Models[0].Checks[0]
	c.Sets[0].Cause = string(audit.CauseVacuous)
	a.Models[0].Checks = append(a.Models[0].Checks, vacuous("controls", "output"))
	return a
}

// collapsed is an audit of features that have collapsed; its errors are those of rounding.
func collapsed(m made) *document.Audit {
	a := m.document()
	a.Models[0].Checks[0].Sets[0].Cause = string(audit.CauseRoundoff)
	a.Models[0].Checks = append(a.Models[0].Checks, vacuous("features", "output"))
	return a
}

// vacuous is a check that says of a place that no error can show there.
func vacuous(check, at string) document.Check {
	return document.Check{Check: check, Status: document.Tested, Findings: []document.Finding{{
		Category: audit.Vacuous.Name, Message: "no error can show", Location: at, Severity: "medium",
	}}}
}

// healthy is the k-th of releases that stay what they are, about the same inputs or about new ones.
func healthy(k int, fresh bool) made {
	m := made{
		model: fmt.Sprintf("net-v%d", k), data: "d", threshold: 0.1,
		errors: near(uint64(k), spread(1, 40, 0.01), 1),
	}
	if fresh {
		m.data, m.from = fmt.Sprint("d", k), 40*k
		m.errors[0] = 0.2 // one of forty fails
	}
	return m
}

// An invariance with a constant output is no evidence: such a release passes nothing, is no alarm, and is told.
func TestEmpty(t *testing.T) {
	for _, c := range []struct {
		name  string
		of    func(made) *document.Audit
		last  bool
		says  string
		state trend.State
	}{
		{"a constant at the end", still, true, "Release 5: its outputs do not vary, so that its error says nothing. " +
			"No alarm, but 2 of 2 lines end with a release that says nothing.", Empty},
		{"features that collapsed at the end", collapsed, true, "Release 5: its features have collapsed, so that its " +
			"error says nothing. No alarm, but ", Empty},
		{"a constant in between", still, false, "No alarm: 2 lines, and no last release is worse than allowed. " +
			"Release 3: its outputs do not vary, so that its error says nothing.", trend.OK},
		{"one field of several that does not vary", func(m made) *document.Audit {
			a := m.document()
			a.Models[0].Checks = append(a.Models[0].Checks, vacuous("controls", "output forces"))
			return a
		}, true, "No alarm: 2 lines, and no last release is worse than allowed.", trend.OK},
		{
			"a clean twin", made.document, true, "No alarm: 2 lines, and no last release is worse than allowed.",
			trend.OK,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			at := 3
			if c.last {
				at = 5
			}
			dir := t.TempDir()
			for k := 1; k <= 5; k++ {
				of := made.document
				if k == at {
					of = c.of
				}
				put(t, dir, fmt.Sprintf("%d.json", k), k, of(healthy(k, false)))
			}
			r := look(t, dir, options(t, "version"))
			if r.State != c.state || r.Good() != (c.state == trend.OK) || !strings.HasPrefix(r.Sentence, c.says) {
				t.Errorf("%s, good %v: %s", r.State, r.Good(), r.Sentence)
			}
			for _, s := range r.Series {
				p := s.Points[at-1]
				empty := strings.Contains(c.says, "says nothing")
				if s.FirstAlarm != nil || (p.State == Empty) != empty || empty && (!math.IsNaN(float64(p.Value)) ||
					p.Change != nil) {
					t.Errorf("%s: %+v", s.Metric, p)
				}
			}
			for _, f := range Forms() {
				var b bytes.Buffer
				if err := f.Write(&b, r); err != nil {
					t.Fatal(err)
				}
				if s := b.String(); c.state == Empty && f.Name == "badge" && !strings.Contains(s, "says nothing") {
					t.Error(s)
				}
			}
		})
	}
}

// What is said of the others is what is said without the releases that say nothing, to the last bit: no level is spent
// on them, and no reference, slope, evidence or course knows them.
func TestEmptyChangesNothing(t *testing.T) {
	for _, c := range []struct {
		reference, by string
		fresh         bool
	}{{first, "version", false}, {best, "version", false}, {"net-v4", "version", false}, {first, "epoch", false}, {
		first, "version", true,
	}} {
		text := func(empties ...int) string {
			dir := t.TempDir()
			for k := 1; k <= 6; k++ {
				m := healthy(k, c.fresh)
				if c.by == "epoch" { // none is within the limit: what is kept is kept at each checkpoint
					m.model, m.threshold = fmt.Sprint("epoch-", k), 0.005
				}
				put(t, dir, fmt.Sprintf("%d.json", k), 2*k, m.document())
				if slices.Contains(empties, k) { // just after it; before the first one for 0
					m.model += ".5"
					if c.fresh {
						m.data, m.from = m.data+".5", m.from+4000
					}
					put(t, dir, fmt.Sprintf("%d.5.json", k), 2*k+1, still(m))
				}
			}
			if slices.Contains(empties, 0) {
				m := healthy(0, c.fresh)
				if c.by == "epoch" {
					m.model, m.threshold = "epoch-0", 0.005
				}
				put(t, dir, "0.json", 0, still(m))
			}
			o := options(t, c.by)
			o.Reference = c.reference
			r := look(t, dir, o)
			for _, s := range r.Series {
				var kept []Point
				var evidence []Number
				for i, p := range s.Points {
					if p.State == Empty {
						continue
					}
					kept = append(kept, p)
					if c.fresh {
						evidence = append(evidence, s.LogE[i])
					}
				}
				if want := 6 + len(empties); len(s.Points) != want || len(kept) != 6 {
					t.Fatalf("%+v: %d releases and %d that say something", c, len(s.Points), len(kept))
				}
				s.Points, s.LogE = kept, evidence
				if s.Memory != nil {
					s.Memory.Releases = nil
				}
			}
			b, err := json.Marshal(r.Series)
			if err != nil {
				t.Fatal(err)
			}
			return string(b)
		}
		want := text()
		for _, empties := range [][]int{{3}, {0}, {0, 2, 5}} {
			if c.by == "epoch" && !slices.Equal(empties, []int{0}) {
				continue // epochs have no halves
			}
			if got := text(empties...); got != want {
				t.Errorf("%+v with %v:\n%s\nwant\n%s", c, empties, got, want)
			}
		}
	}
}

// No comparison is made with a release that says nothing, whoever asks for it.
func TestEmptyReference(t *testing.T) {
	dir := t.TempDir()
	for k := 1; k <= 3; k++ {
		of := made.document
		if k == 2 {
			of = still
		}
		put(t, dir, fmt.Sprintf("%d.json", k), k, of(healthy(k, false)))
	}
	o := options(t, "version")
	o.Reference = "net-v2"
	_, err := Judge(found(t, dir).Releases, o)
	if err == nil || !strings.Contains(err.Error(), `release "net-v2" is no reference: its outputs do not vary`) {
		t.Errorf("a reference that says nothing: %v", err)
	}
	o.Reference = best
	if s := look(t, dir, o).series(t, largest, SameInputs); s.Reference != "1" || s.State != trend.OK {
		t.Errorf("the best is %s, and the last one %s", s.Reference, s.State)
	}
	put(t, dir, "1.json", 1, still(healthy(1, false)))
	put(t, dir, "3.json", 3, collapsed(healthy(3, false)))
	o.Reference = first
	r := look(t, dir, o)
	if want := "Release 3: its features have collapsed, so that its error says nothing. Release 1, like 1 more: its " +
		"outputs do not vary"; r.State != Empty || !strings.HasPrefix(r.Sentence, want) {
		t.Errorf("all of them: %s: %s", r.State, r.Sentence)
	}
	one := healthy(1, false)
	one.errors = one.errors[:1]
	dir = t.TempDir()
	put(t, dir, "1.json", 1, still(one))
	if r := look(t, dir, o); !strings.Contains(r.Sentence, "its only input has no spread") {
		t.Errorf("one input: %s", r.Sentence)
	}
}

// Evidence of new inputs goes on over a release that says nothing, from a report as from files, and an alarm stays.
func TestEmptyGoesOn(t *testing.T) {
	report := func(o Options, from, to int, broken bool) *Report {
		dir := t.TempDir()
		for k := from; k < to; k++ {
			m := healthy(k, true)
			if broken && k >= 2 {
				m.errors = spread(uint64(k), 40, 1)
			}
			of := made.document
			if k == 3 || k == 5 {
				of = still
			}
			put(t, dir, fmt.Sprintf("%d.json", k), k, of(m))
		}
		var b bytes.Buffer
		if err := sheet.JSON(&b, look(t, dir, o)); err != nil {
			t.Fatal(err)
		}
		read, err := ReadReport("watch.json", b.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		return read
	}
	o := options(t, "version")
	for _, broken := range []bool{false, true} {
		text := func(r *Report) string {
			s := r.series(t, largest, NewInputs)
			s.Changed = nil
			if s.FirstAlarm != nil {
				s.FirstAlarm.Command = ""
			}
			b, err := json.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			return string(b)
		}
		want := report(o, 0, 6, broken)
		s := want.series(t, largest, NewInputs)
		state := map[bool]trend.State{false: Empty, true: trend.Alarm}[broken]
		if s.State != state || s.Points[3].State != Empty || s.Points[5].State != Empty || s.LogE[5] != s.LogE[4] ||
			want.State != state || broken != (s.Points[4].State == trend.Alarm) {
			t.Errorf("broken %v: %s, %s", broken, s.State, want.Sentence)
		}
		for _, cut := range [][2]int{{4, 4}, {4, 3}, {3, 3}} {
			on := o
			on.Before = report(o, 0, cut[0], broken)
			if got := text(report(on, cut[1], 6, broken)); got != text(want) {
				t.Errorf("broken %v, stopped after %d:\n%s\nwant\n%s", broken, cut[0], got, text(want))
			}
		}
	}
}

// A scale that has nearly collapsed makes of any error rounding. That is no excuse; where rounding stays what it was it
// is one.
func TestRoundingThatGrew(t *testing.T) {
	for _, c := range []struct {
		name         string
		was, is      float64 // rounding floors
		before, size float64 // errors
		limit        float64
		state        trend.State
		within       int
	}{
		{"a scale that nearly collapsed", 1e-7, 0.09, 2e-7, 0.3, 1e-4, trend.Alarm, 1},
		{"below the limit", 1e-7, 1e-6, 2e-7, 4e-7, 1e-4, trend.OK, 2},
		{"no precision from the beginning", 1e-3, 1e-3, 1e-3, 2e-3, 1e-4, trend.OK, 0},
	} {
		dir := t.TempDir()
		for k, size := range []float64{c.before, c.size} {
			x := near(uint64(k), spread(1, 60, 1), size)
			a := made{model: fmt.Sprint("epoch-", k), threshold: c.limit, errors: x}.document()
			set := &a.Models[0].Checks[0].Sets[0]
			set.Cause, set.Relative.Max = string(audit.CauseRoundoff), document.Number(1.3*size)
			set.Rounding = document.Number([]float64{c.was, c.is}[k])
			put(t, dir, fmt.Sprintf("%d.json", k), k, a)
		}
		s := look(t, dir, options(t, "epoch")).series(t, largest, SameInputs)
		if s.State != c.state || s.Course.Within != c.within {
			t.Errorf("%s: %s %s, %d within", c.name, s.State, s.Why, s.Course.Within)
		}
	}
}

// What a release had is said of the inputs that both have a number for: an error is never negative.
func TestErrorBeforeIsOfTheSameInputs(t *testing.T) {
	for _, holes := range []int{7, 0} {
		base := spread(1, 60, 1e-6)
		base[0] = 4e-6 // so that the mean of all is another one
		hole := slices.Clone(base)
		worse := near(2, base, 1000)
		for i := range holes {
			hole[i] = math.NaN()
			worse[i] *= 50
		}
		dir := t.TempDir()
		put(t, dir, "1.json", 1, made{model: "net-v1", errors: hole}.document())
		put(t, dir, "2.json", 2, made{model: "net-v2", errors: worse}.document())
		f := look(t, dir, options(t, "version")).series(t, largest, SameInputs).FirstAlarm
		sum := 0.0
		for _, x := range base[holes:] {
			sum += x
		}
		says := fmt.Sprintf("and was %s at release 1", words.Figures(sum/float64(60-holes)))
		if f == nil || !strings.Contains(f.Message, says) || strings.Contains(f.Message,
			" over the 53 objects with one at both") != (holes > 0) {
			t.Errorf("%d holes: %+v", holes, f)
		}
	}
}

// A level that cannot be told from 0 beside 1 shows nothing, and ends nothing; an input that has no finite error any
// more needs no level.
func TestLevelTooSmall(t *testing.T) {
	for _, c := range []struct {
		alarm float64
		lost  bool
		state trend.State
	}{{1e-20, false, trend.Open}, {1e-320, false, trend.Open}, {1e-20, true, trend.Alarm}, {
		1e-9, false,
		trend.Alarm,
	}} {
		dir, x := t.TempDir(), spread(1, 60, 0.01)
		put(t, dir, "1.json", 1, made{model: "net-v1", errors: x}.document())
		y := near(2, x, 3)
		if c.lost {
			y[4] = math.NaN()
		}
		put(t, dir, "2.json", 2, made{model: "net-v2", errors: y}.document())
		o := options(t, "version")
		o.Alarm = c.alarm
		s := look(t, dir, o).series(t, largest, SameInputs)
		if s.State != c.state || c.state == trend.Open && !strings.Contains(s.Why, "smaller than can be computed") {
			t.Errorf("%+v: %s %s", c, s.State, s.Why)
		}
	}
}

// Inputs that another seed chose are new ones.
func TestSeeds(t *testing.T) {
	dir := t.TempDir()
	for k := range 3 {
		a := healthy(k+1, true).document()
		a.Models[0].Claim.Seed = uint64(7 * k)
		put(t, dir, fmt.Sprintf("%d.json", k), k, a)
	}
	if s := look(t, dir, options(t, "version")).series(t, largest, NewInputs); len(s.Points) != 3 {
		t.Errorf("%d releases, and a series of %v", len(s.Points), s.Apart)
	}
}

// What becomes of a training whose checkpoints say nothing at its end, and of one that is all constant.
func TestEmptyCourse(t *testing.T) {
	for name, c := range map[string]struct {
		empty []int
		word  Progress
		says  string
		of    int
	}{
		"a clean twin": {nil, Learned, "The symmetry is being learned: the error falls from 1", 8},
		"dead at the end": {[]int{7}, Unclear, "Whether the symmetry is learned or lost is not shown: the last " +
			"checkpoint, 7, says nothing of it. Before, the error went from 1", 7},
		"dead": {[]int{0, 1, 2, 3, 4, 5, 6, 7}, Unclear, "the last checkpoint, 7, says nothing of it. Release 7, " +
			"like 7 more: its outputs do not vary", 0},
		"dead in between": {[]int{3}, Learned, "The symmetry is being learned: the error falls from 1", 7},
	} {
		dir := t.TempDir()
		for k := range 8 {
			m := made{
				model: fmt.Sprint("epoch-", k), threshold: 0.01,
				errors: near(uint64(k), spread(1, 40, 1), math.Pow(0.5, float64(k))),
			}
			of := made.document
			if slices.Contains(c.empty, k) {
				of = still
			}
			put(t, dir, fmt.Sprintf("%d.json", k), k, of(m))
		}
		r := look(t, dir, options(t, "epoch"))
		s := r.series(t, largest, SameInputs)
		if s.Course.Word != c.word || s.Course.Of != c.of || !strings.Contains(r.Sentence, c.says) ||
			r.Good() == slices.Contains(c.empty, 7) {
			t.Errorf("%s: %s", name, r.Sentence)
		}
	}
	// What is within the limit and dead in between is not kept: that one is not shown.
	dir := t.TempDir()
	for k := range 5 {
		m := made{model: fmt.Sprint("epoch-", k), threshold: 0.1, errors: near(uint64(k), spread(1, 40, 0.01), 1)}
		of := made.document
		if k == 2 {
			of = still
		}
		put(t, dir, fmt.Sprintf("%d.json", k), k, of(m))
	}
	if c := look(t, dir, options(t, "epoch")).series(t, largest, SameInputs).Course; c.Word == Kept || c.Within != 4 {
		t.Errorf("%+v", c)
	}
}

// What is said of the last checkpoint is what is shown of it: near the limit neither that it is within nor that it is
// above, and an error is not small where answers are not finite.
func TestCourseEnds(t *testing.T) {
	base := spread(1, 64, 1)
	for _, c := range []struct {
		sizes []float64
		holes int
		says  string
	}{
		{[]float64{0.8, 0.4, 0.2, 0.1, 0.05, 0.0087}, 0, ", and is not shown to be within the limit of 0.01."},
		{[]float64{0.8, 0.4, 0.2, 0.1, 0.05, 0.02}, 0, ", and is still above the limit of 0.01."},
		{[]float64{0.8, 0.4, 0.2, 0.1, 0.05, 0.001}, 0, ", and is now within the limit of 0.01."},
		{[]float64{0.8, 0.4, 0.2, 0.1, 0.05, 0.001}, 2, ", but 2 of 64 answers of the last one are not finite."},
		{[]float64{1e-4, 2e-4, 4e-4, 1e-3, 4e-3, 0.0087}, 0, ", and is not shown to be within the limit of 0.01."},
		{[]float64{1e-4, 2e-4, 4e-4, 1e-3, 4e-3, 0.02}, 0, ", beyond the limit of 0.01."},
		{[]float64{1e-4, 2e-4, 4e-4, 1e-3, 4e-3, 0.005}, 1, ", and 1 of 64 answers of the last one are not finite."},
	} {
		dir := t.TempDir()
		for k, size := range c.sizes {
			x := near(uint64(k), base, size)
			for i := 0; i < c.holes && k == len(c.sizes)-1; i++ {
				x[i] = math.NaN()
			}
			put(t, dir, fmt.Sprintf("%d.json", k), k, made{
				model: fmt.Sprintf("epoch-%d", k), data: "d", threshold: 0.01, errors: x,
			}.document())
		}
		o := options(t, "epoch")
		o.Metrics = []string{largest}
		if s := look(t, dir, o).series(t, largest, SameInputs); !strings.HasSuffix(s.Course.Sentence, c.says) {
			t.Errorf("%v, %d holes: %s", c.sizes, c.holes, s.Course.Sentence)
		}
	}
}
