package app_test

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"nero/app"
	auditing "nero/audit"
	"nero/audit/mutation"
	"nero/internal/slow"
	"nero/model/engine/choose/choosetest"
	"nero/run/job"
)

var update = flag.Bool("update", false, "measure all seeds and write docs/AUDIT-OF-THE-AUDITOR.md (with -tags slow)")

// auditorPage holds the table of coverages, beside others.
var auditorPage = filepath.Join("..", "docs", "AUDIT-OF-THE-AUDITOR.md")

// What is asked of the intervals and verdicts, and of how many seeds.
const (
	quickSeeds = 2
	allSeeds   = 200

	leastCoverage = 0.93
	mostFalse     = 0.05

	// How many limits the true error is.
	above = 1.05
	below = 0.95
)

// judgment is what an audit says at one limit.
type judgment struct {
	Limit float64 `json:"limit"`
	// whether the mean over all inputs is above the limit, and more of them than the policy allows
	Mean  bool `json:"mean_above"`
	Share bool `json:"share_above"`
	// the verdict, and why
	Verdict auditing.Verdict `json:"verdict"`
	Reason  string           `json:"reason"`
	// limits of the share of inputs above the limit, and the share itself among all inputs
	ShareLo float64 `json:"share_lo"`
	ShareHi float64 `json:"share_hi"`
	True    float64 `json:"share"`
}

// trial is one draw of a population, audited whole at two limits.
type trial struct {
	Population string `json:"population"`
	// Alone says that the data held no other inputs.
	Alone bool   `json:"alone"`
	N     int    `json:"n"`
	Seed  uint64 `json:"seed"`
	// the mean over inputs of the largest error with its interval, and the truth
	Value float64 `json:"value"`
	Lo    float64 `json:"lo"`
	Hi    float64 `json:"hi"`
	Truth float64 `json:"truth"`
	// where the error is 1.05 and 0.95 limits
	Judged [2]judgment `json:"judged"`
}

func (x trial) key() string { return fmt.Sprintf("%s %v %d %d", x.Population, x.Alone, x.N, x.Seed) }

// audit audits n inputs of the data in a folder by a seed, with the checks that judge. A limit of 0 is the preset's.
func (p *population) audit(t *testing.T, a *app.App, dir string, n int, seed uint64, limit float64) *auditing.Report {
	t.Helper()
	s := &job.Study{
		Models: []job.Model{{Name: "m", ONNX: filepath.Join(dir, "m.onnx")}},
		Output: job.Output{Space: p.space, Action: "invariant"},
		Group:  job.Group{Name: "C4"}, Seed: seed,
	}
	p.study(s)
	s.Data.Images, s.Data.Seed, s.Data.Limit = filepath.Join(dir, s.Data.Images), seed, n
	s.Audit.Checks, s.Audit.Threshold, s.Audit.Samples = []string{"lattice"}, limit, n
	r, err := a.Audit(t.Context(), s, app.AuditOptions{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	if r.Outcome() == app.NotRun {
		t.Fatalf("%s, seed %d: not audited: %q", p.name, seed, r.Unaudited())
	}
	if set := r.Reports[0].Sets()[0]; set.Inputs != n {
		t.Fatalf("%s, seed %d: %d inputs audited, want %d", p.name, seed, set.Inputs, n)
	}
	return r.Reports[0]
}

// try audits a draw of n inputs. The limits are such that the claim as a whole just fails and just holds: the mean is
// above the limit or 5 % of the inputs are.
func (p *population) try(t *testing.T, a *app.App, dir string, known truth, x trial) trial {
	t.Helper()
	if x.Alone {
		p.write(t, dir, rand.New(rand.NewPCG(x.Seed, 20)).Perm(p.size)[:x.N])
	}
	x.Truth = known.Mean
	critical := max(known.Mean, known.Common)
	for k, limit := range []float64{critical / above, critical / below} {
		r := p.audit(t, a, dir, x.N, x.Seed, limit)
		set := r.Sets()[0]
		x.Value, x.Lo, x.Hi = set.Worst.Value, set.Worst.Lo, set.Worst.Hi
		share := known.exceed(limit)
		x.Judged[k] = judgment{
			Limit: limit, Mean: known.Mean > limit, Share: share > r.Policy.FailureRate, Verdict: r.Verdict,
			Reason: set.Reason, ShareLo: set.Exceed.Lo, ShareHi: set.Exceed.Hi, True: share,
		}
	}
	return x
}

// populations are those of the table.
func populations(t *testing.T) []*population {
	t.Helper()
	var out []*population
	for _, r := range sketches() {
		out = append(out, r.population(popSize, 1))
	}
	return append(out, digitsPopulation(t))
}

// trials is a file of JSON lines of what was measured.
type trials struct {
	file *os.File
	done map[string]trial
}

func openTrials(t *testing.T, path string) *trials {
	t.Helper()
	l := &trials{done: map[string]trial{}}
	if path == "" {
		return l
	}
	var err error
	if l.file, err = os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.file.Close() }) // lines for a look
	for in := bufio.NewScanner(l.file); in.Scan(); {
		var x trial
		if json.Unmarshal(in.Bytes(), &x) == nil { // the last line may be half of one
			l.done[x.key()] = x
		}
	}
	return l
}

func (l *trials) keep(t *testing.T, x trial) {
	t.Helper()
	if l.file != nil {
		if err := json.NewEncoder(l.file).Encode(x); err != nil {
			t.Fatal(err)
		}
	}
}

// The interval that a whole audit prints holds what all inputs would have shown, and verdicts close to the limit are
// not wrong. Of the seeds the gate takes a few; with -update all are taken and the table is written. The variable
// NERO_COVERAGE_LINES names a file of JSON lines: what stands there is not measured again, what is measured is added.
// NERO_COVERAGE_ONLY is a regular expression of the rows to look at, such as "F . alone"; then nothing is written.
func TestCoverageOfWholeAudits(t *testing.T) {
	slow.Test(t)
	places := choosetest.Host()
	a := &app.App{Host: &places}
	seeds := quickSeeds
	if *update {
		seeds = allSeeds
	}
	lines := openTrials(t, os.Getenv("NERO_COVERAGE_LINES"))
	pattern := os.Getenv("NERO_COVERAGE_ONLY")
	only := regexp.MustCompile(pattern)
	var rows []row
	for _, p := range populations(t) {
		known := p.known(t)
		for _, alone := range []bool{false, true} {
			dir := t.TempDir()
			p.write(t, dir, nil)
			for _, n := range []int{50, 150} {
				r := row{population: p, alone: alone, n: n}
				if !only.MatchString(r.key()) {
					continue
				}
				for seed := range uint64(seeds) {
					x := trial{Population: p.name, Alone: alone, N: n, Seed: seed}
					if y, ok := lines.done[x.key()]; ok {
						x = y
					} else {
						x = p.try(t, a, dir, known, x)
						lines.keep(t, x)
					}
					r.add(x)
				}
				rows = append(rows, r)
				t.Log(r.String())
			}
		}
	}
	if *update {
		for i := range rows {
			rows[i].hold(t)
		}
	} else {
		sums := []row{{alone: false}, {alone: true}} // of one row a few seeds say little
		for i := range sums {
			all := &sums[i]
			all.population = &population{name: "all but E"}
			for _, r := range rows {
				if r.rare() {
					r.hold(t)
				} else if r.alone == all.alone {
					all.runs, all.covers, all.shares = all.runs+r.runs, all.covers+r.covers, all.shares+r.shares
					all.falsePass, all.falseFail = all.falsePass+r.falsePass, all.falseFail+r.falseFail
				}
			}
			all.hold(t)
		}
	}
	if pattern != "" {
		return
	}
	b, err := os.ReadFile(auditorPage)
	if err != nil {
		t.Fatal(err)
	}
	page := string(b)
	if *update {
		page = mutation.CoverageSection().Put(page, coverageTable(rows))
		if err := os.WriteFile(auditorPage, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	_, text := mutation.CoverageSection().Take(page)
	for _, r := range rows {
		if !strings.Contains(text, r.key()) {
			t.Errorf("%s has no row %q: write it with -update", auditorPage, r.key())
		}
	}
}

// row is what became of the draws of one population and size.
type row struct {
	population *population
	alone      bool
	n, runs    int
	// draws whose interval holds the truth, and audits whose interval of the share does
	covers, shares int
	widths         []float64
	// PASS, NEEDS_ATTENTION and FAIL where the error is 1.05 and 0.95 limits
	verdicts [2][3]int
	// FalsePass counts PASS of a claim that does not hold, falseFail FAIL where both claims hold, and beside PASS where
	// the mean is above the limit and the claim holds nevertheless.
	falsePass, falseFail, beside int
	// reasons of PASS
	passed []string
}

func (r *row) add(x trial) {
	r.runs++
	if x.Lo <= x.Truth && x.Truth <= x.Hi {
		r.covers++
	}
	r.widths = append(r.widths, (x.Hi-x.Lo)/x.Truth)
	for k, j := range x.Judged {
		if j.ShareLo <= j.True && j.True <= j.ShareHi {
			r.shares++
		}
		said := slices.Index([]auditing.Verdict{auditing.Passed, auditing.NeedsAttention, auditing.Failed}, j.Verdict)
		r.verdicts[k][said]++
		switch holds := !j.Mean && !j.Share; {
		case j.Verdict == auditing.Failed && holds:
			r.falseFail++
		case j.Verdict != auditing.Passed:
		case j.Share || j.Mean && !r.rare():
			r.falsePass++
		case j.Mean:
			r.beside++
		}
		if j.Verdict == auditing.Passed {
			r.passed = append(r.passed, j.Reason)
		}
	}
}

// rare says that nearly all of the error is that of one input in a hundred, so that no interval of a mean can hold it.
func (r *row) rare() bool { return r.population.name == "E" }

// binomial is how many of n may happen that have a probability of at most p: three standard deviations above the mean,
// where only some of the seeds were taken, and the mean where all were.
func binomial(n int, p float64) int {
	if n >= allSeeds && *update {
		return int(math.Round(p * float64(n)))
	}
	return int(math.Ceil(float64(n)*p + 3*math.Sqrt(float64(n)*p*(1-p))))
}

// hold holds a row to what is asked.
func (r *row) hold(t *testing.T) {
	t.Helper()
	if miss := r.runs - r.covers; !r.rare() && miss > binomial(r.runs, 1-leastCoverage) {
		t.Errorf("%s: %d of %d intervals miss the truth", r.key(), miss, r.runs)
	}
	if miss := 2*r.runs - r.shares; miss > binomial(2*r.runs, 1-leastCoverage) {
		t.Errorf("%s: %d of %d intervals of the share miss the truth", r.key(), miss, 2*r.runs)
	}
	if most := binomial(r.runs, mostFalse); r.falsePass > most || r.falseFail > most {
		t.Errorf("%s: of %d verdicts at each limit %d are a false PASS and %d a false FAIL", r.key(), r.runs,
			r.falsePass, r.falseFail)
	}
	for _, reason := range r.passed { // what PASS claims
		if !strings.Contains(reason, "so at most") || !strings.Contains(reason, "in the mean of those tested") {
			t.Errorf("%s: PASS claims something else: %s", r.key(), reason)
		}
	}
}

// key begins the row of the table.
func (r *row) key() string {
	source := "the file"
	if r.alone {
		source = "alone"
	}
	return fmt.Sprintf("| %s | %s | %d |", r.population.name, source, r.n)
}

// percent writes k of n.
func percent(k, n int) string { return fmt.Sprintf("%.1f %%", 100*float64(k)/float64(n)) }

func (r *row) String() string {
	middle := slices.Sorted(slices.Values(r.widths))[len(r.widths)/2]
	counts := func(v [3]int) string { return fmt.Sprintf("%d / %d / %d", v[0], v[1], v[2]) }
	return fmt.Sprintf("%s %s | %.2f | %s | %s | %s | %s | %s |", r.key(), percent(r.covers, r.runs), middle,
		percent(r.shares, 2*r.runs), counts(r.verdicts[0]), percent(r.falsePass, r.runs), counts(r.verdicts[1]),
		percent(r.falseFail, r.runs))
}

// coverageTable is the section of the page.
func coverageTable(rows []row) string {
	var b strings.Builder
	fmt.Fprintf(&b, `## Intervals, and verdicts close to the limit

Populations of %d pictures, or of the demo's 1,000 digits, of which every error is known. An audit under C4 looks at n of them, drawn by the seed, %d seeds each; preset production but for
the limit, confidence 95 %%. *The file*: the data are the whole population, of which the audit is told to take n, so that the scale is measured on all. *Alone*: the
data are these n inputs and there are no others. The first percentage is how often the interval of the largest error per input (relative, mean over inputs) held that of the
population, which is computed from all inputs in float64 by other code; then the middle width of these intervals over the truth; then how often the interval of the share of inputs
above the limit held the share of the population, in the audits at both limits.

Verdicts are PASS / NEEDS_ATTENTION / FAIL where the claim is just false and just true: the limit is such that the mean error of the population is 1.05 and 0.95 times as large, or, where that is larger,
the error that 5 %% of the inputs exceed. A false PASS is one where the mean is above the limit or more than 5 %% of the inputs are, a false FAIL one where neither is so.

`, popSize, allSeeds)
	b.WriteString("| population | |\n| --- | --- |\n")
	var names []string
	for _, r := range rows {
		if !slices.Contains(names, r.population.name) {
			names = append(names, r.population.name)
			fmt.Fprintf(&b, "| %s | %s |\n", r.population.name, r.population.doc)
		}
	}
	b.WriteString("\n| population | other data | n | covers | width | share covers | verdicts at 1.05 | false PASS | " +
		"verdicts at 0.95 | false FAIL |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n")
	beside, passes := 0, 0
	for _, r := range rows {
		b.WriteString(r.String() + "\n")
		if r.rare() {
			beside, passes = beside+r.beside, passes+r.runs
		}
	}
	fmt.Fprintf(&b, `
Population E is what no interval of a mean can hold: where none of the n inputs is among the hundredth that errs, and of 50 that is so for 60 %% of all draws, nothing in them says how much the others err. What
PASS claims is the share alone, at most so many of the inputs like these, and that is true in each of them; %d of %d audits at 1.05 passed beside a mean above the limit. That
the mean is only that of the inputs tested is said in the reason of each PASS. In the other populations a PASS beside a mean above the limit counts as false.
`, beside, passes)
	return b.String()
}

// Where few inputs err, and by much, a draw without them passes, and must claim no more than is true: that at most so
// many err, and nothing of how much these do.
func TestPassOfRareErrors(t *testing.T) {
	slow.Test(t)
	places := choosetest.Host()
	a := &app.App{Host: &places}
	i := slices.IndexFunc(sketches(), func(s sketch) bool { return s.name == "E" })
	p := sketches()[i].population(popSize/10, 2)
	known, dir := p.known(t), t.TempDir()
	p.write(t, dir, nil)
	limit := known.Mean / above
	for seed := range uint64(30) {
		r := p.audit(t, a, dir, 150, seed, limit)
		if r.Verdict != auditing.Passed {
			continue
		}
		s := r.Sets()[0]
		if share := known.exceed(limit); !(share > 0 && share <= s.Exceed.Hi) {
			t.Errorf("at most %g of the inputs err, the share is %g", s.Exceed.Hi, share)
		}
		if s.Exceeding > 0 || !strings.HasPrefix(s.Reason, "no input of 150 errs by more than") ||
			!strings.HasSuffix(s.Reason, "in the mean of those tested") {
			t.Errorf("seed %d: %s", seed, s.Reason)
		}
		return
	}
	t.Error("no draw passed, so nothing was tested")
}

// The truth of the populations is what closed forms say.
func TestPopulations(t *testing.T) {
	e := math.E
	for name, want := range map[string]float64{
		"B": 0.02 * math.Sqrt(2/math.Pi), "C": 0.02 * math.Sqrt(2/math.Pi) / math.Sqrt(e*(e-1)),
		"D": 0.02, "F": 0.02 / math.Sqrt(e*(e-1)),
		// E exp(-|z|) = 2 exp(1/2) Φ(-1), and the amount at the identity takes from the variance of nothing but itself
		"G": 0.02 * math.Exp(0.5) * math.Erfc(math.Sqrt(0.5)),
		"E": 0.02,
	} {
		i := slices.IndexFunc(sketches(), func(s sketch) bool { return s.name == name })
		if got := sketches()[i].population(popSize, 1).known(t).Mean; math.Abs(got/want-1) > 0.1 {
			t.Errorf("%s: true error %g, want about %g", name, got, want)
		}
	}
}
