// Package ends is the check of the ends of the plan's range.
package ends

import (
	"context"
	"fmt"
	"math"

	"nero/audit"
	"nero/audit/kit/stress"
)

// Check is the ends check. Its result is a [*stress.Result].
var Check = &audit.Check{
	Name:  "ends",
	Title: "The ends of the range",
	Doc: `Ends asks whether the error at the ends of the plan's range is larger than within.

It reads the errors of the sweep and predicts nothing. Coordinates that go round, or hold one value, have no ends.`,
	Family:   stress.Family,
	Requires: stress.Requires(),
	Optional: true,
	Run:      run,
}

// factor is how many times larger than within an error at the ends of the range is worth saying.
const factor = 10

// run compares the error at the ends of the plan's range with that within. It predicts nothing.
func run(_ context.Context, p *audit.Pass) (any, error) {
	t, err := stress.New(p)
	if err != nil {
		return nil, err
	}
	chart := p.Subject.Plan.Group.Chart()
	end := make([]bool, len(p.Elements))
	bounded := false
	for a := range chart {
		lo, hi := math.Inf(1), math.Inf(-1)
		for _, e := range p.Elements {
			lo, hi = min(lo, e.G[a]), max(hi, e.G[a])
		}
		if chart[a].Periodic && hi-lo >= (chart[a].Max-chart[a].Min)/2 {
			continue // the plan goes round
		}
		if !(hi > lo) || chart[a].Switch() {
			continue // one value, or a switch
		}
		bounded = true
		for j, e := range p.Elements {
			end[j] = end[j] || e.G[a] == lo || e.G[a] == hi
		}
	}
	if !bounded {
		return nil, fmt.Errorf("%w: the plan has no ends: it goes round, or holds one value of each coordinate",
			audit.ErrNotApplicable)
	}
	var outer, inner []float64
	most, at := 0.0, -1
	for k, e := range t.Sweep.Err {
		j := k % len(p.Elements)
		if math.IsNaN(e) {
			continue
		}
		if e /= t.Scale; end[j] {
			outer = append(outer, e)
			if e > most {
				most, at = e, k
			}
		} else {
			inner = append(inner, e)
		}
	}
	o, i := audit.Describe(outer), audit.Describe(inner)
	if o.N == 0 || i.N == 0 {
		return nil, fmt.Errorf("%w: every element lies at an end of the range", audit.ErrNotApplicable)
	}
	p.Measure(audit.Number("mean error at the ends of the range", o.Mean, ""),
		audit.Number("mean error within the range", i.Mean, ""))
	q := stress.Result{
		Answer: stress.Holds, Error: o.Mean, Limit: math.NaN(),
		Text: fmt.Sprintf("mean error %.2g at the ends, %.2g within", o.Mean, i.Mean),
	}
	if o.Mean > factor*max(i.Mean, t.Floor) && o.Mean > p.Policy.Threshold && at >= 0 {
		q.Answer, q.Limit = stress.Broken, factor*max(i.Mean, t.Floor)
		j, s := at%len(p.Elements), at/len(p.Elements)
		p.Report(audit.Finding{
			Category: audit.Stress, Location: "range",
			Worst:   audit.Where{Sample: t.Sweep.IDs[s], Index: s, Element: p.Elements[j].G, Label: t.Label(j)},
			Message: fmt.Sprintf("the error is %.2g at the ends of the range and %.2g within", o.Mean, i.Mean),
			Evidence: []audit.Evidence{audit.Number("mean error at the ends of the range", o.Mean,
				"").Against(q.Limit)},
			Remedies: []string{
				"claim a smaller range, or look at what leaves the picture there",
				"visit more elements near the ends",
			},
		})
	}
	q.Show(p)
	return &q, nil
}
