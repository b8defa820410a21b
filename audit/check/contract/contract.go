// Package contract is the check of what a study promises about inputs like its own: P(error > e) ≤ rate, with a
// confidence.
package contract

import (
	"context"
	"fmt"
	"math"

	"nero/audit"
	"nero/audit/check/sweep"
	"nero/measure/aggregate"
	"nero/run/job"
)

// Check is the check of the contract. Its result is a [*Result].
var Check = &audit.Check{
	Name:  "contract",
	Title: "The contract",
	Doc: `Contract judges the statement that the study makes: the share of inputs whose error is above a limit is at most a rate. The error of an
input is its largest over a set of elements, relative as everywhere, and NaN counts as above. Inputs are taken to be drawn independently; the
limits are those of Clopper and Pearson, one-sided at the confidence of the contract, so nothing is assumed of the errors' distribution. The
contract is met if the upper limit is at most the rate, broken if the lower is above, and undecided in between, with about how many inputs would
decide. Each set of elements is a statement of its own. If the audit may stop early, a sequence that is valid at any time
takes the place of the limits. Where the error cannot be told from that of resampling the input, a broken contract stays
an open question.`,
	Requires: []*audit.Check{sweep.Check},
	Views:    true,
	Run:      run,
}

// Result holds the judgment of each set that there is.
type Result struct {
	Contract job.Contract
	// nil if there are no such elements
	Exact, Resample *aggregate.Judgement
}

func run(_ context.Context, p *audit.Pass) (any, error) {
	k := p.Subject.Contract
	if k == (job.Contract{}) {
		return nil, fmt.Errorf("%w: the study has no contract", audit.ErrNotApplicable)
	}
	c := aggregate.Contract{Tau: k.Error, P: k.Rate, Confidence: k.Confidence}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	sw := audit.ResultOf[*sweep.Result](p, sweep.Check)
	if !(sw.Scale > 0) {
		return nil, fmt.Errorf("%w: the outputs do not vary, so no relative error is defined", audit.ErrUntested)
	}
	r := &Result{Contract: k}
	for _, exact := range []bool{true, false} {
		n := 0
		for _, e := range p.Elements {
			if e.Exact == exact {
				n++
			}
		}
		if n == 0 {
			continue
		}
		errs := make([]float64, len(sw.IDs))
		worst := audit.Nowhere
		for i := range errs {
			errs[i] = largest(p, sw, i, exact)
			if worst.Index < 0 && aggregate.Exceeds(errs[i], k.Error) || worst.Index >= 0 &&
				aggregate.Exceeds(errs[i], errs[worst.Index]) {
				worst = audit.Where{Sample: sw.IDs[i], Index: i}
			}
		}
		j := c.Evaluate(errs)
		if sw.Stop != nil {
			// what was looked at after every input is judged by what may be looked at so
			j.Outcome = sw.Stop.Outcomes[exact]
		}
		if exact {
			r.Exact = &j
		} else {
			r.Resample = &j
		}
		excuse := ""
		if ratio := sw.Set(p, exact).Ratio; !exact && ratio.Lo <= 1 {
			excuse = ", as resampling alone would give: the error is " + ratio.String() + " times its floor"
		}
		report(p, c, j, set{name(exact), n}, worst, excuse)
	}
	return r, nil
}

// name is that of a set of elements.
func name(exact bool) string {
	if exact {
		return sweep.Exact
	}
	return sweep.Continuous
}

// largest is the largest relative error of an input over a set; NaN if any of them is.
func largest(p *audit.Pass, sw *sweep.Result, i int, exact bool) float64 {
	m, most := len(p.Elements), 0.0
	for j, e := range p.Elements {
		if e.Exact != exact {
			continue
		}
		x := sw.Err[i*m+j] / sw.Scale
		if math.IsNaN(x) {
			return x
		}
		most = max(most, x)
	}
	return most
}

// set is a set of elements.
type set struct {
	name     string
	elements int
}

// report says how a set fares. An excuse is why its error may be that of the test; with one a broken contract is an
// open question.
func report(p *audit.Pass, c aggregate.Contract, j aggregate.Judgement, of set, worst audit.Where, excuse string) {
	set := of.name
	rate := audit.Evidence{
		Name: "share of inputs above " + audit.Figures(c.Tau) + " on the " + set, Value: j.Rate, Lo: j.Lower,
		Hi: j.Upper, Limit: c.P, Unit: "share",
	}
	p.Measure(rate)
	claim := fmt.Sprintf("P(error > %s at one or more of %d %s) ≤ %s", audit.Figures(c.Tau), of.elements, set,
		audit.Percent(c.P))
	outcome := j.Outcome.String()
	if j.Outcome == aggregate.Broken {
		outcome += excuse
	}
	p.Certify(fmt.Sprintf(
		"Contract, %s: %s with confidence %s: %s; %d of %d inputs are above, at most %s of those drawn like them.",
		set, claim, audit.Percent(c.Confidence), outcome, j.Over, j.N, audit.Percent(j.Upper)))
	f := audit.Finding{Set: set, Location: "output", Evidence: []audit.Evidence{rate}, Worst: worst}
	switch j.Outcome {
	case aggregate.Met:
		return
	case aggregate.Broken:
		f.Category = audit.Contract
		f.Message = fmt.Sprintf(
			"the contract is broken on the %s: %s of the inputs are above %s (at least %s of those like them), %s "+
				"may be",
			set, audit.Percent(j.Rate), audit.Figures(c.Tau), audit.Percent(j.Lower), audit.Percent(c.P))
		if excuse != "" {
			f.Category = audit.ContractOpen
			f.Message += excuse
			f.Remedies = []string{
				"make the contract about exact elements (orbit: lattice), or use a finer kernel or smoother inputs",
			}
			break
		}
		f.Remedies = []string{
			"find the cause of the error by the findings above",
			"loosen the contract only if users can live with more",
		}
	case aggregate.Open:
		f.Category = audit.ContractOpen
		f.Message = fmt.Sprintf(
			"the contract is undecided on the %s: %d of %d inputs are above %s, so up to %s of those like them may "+
				"be, and %s may",
			set, j.Over, j.N, audit.Figures(c.Tau), audit.Percent(j.Upper), audit.Percent(c.P))
		if j.Need > 0 {
			need := audit.Number("inputs that would decide", float64(j.Need), "")
			f.Message += "; " + p.Supply().Would(j.Need)
			f.Evidence = append(f.Evidence, need)
			f.Remedies = []string{p.Supply().Audit(j.Need)}
		} else {
			f.Remedies = []string{
				"the share is at the limit itself: no number of inputs decides; make the model better or the " +
					"contract looser",
			}
		}
	}
	p.Report(f)
}
