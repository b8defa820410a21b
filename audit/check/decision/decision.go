// Package decision is the check of answers instead of numbers: does the class change when the input moves?
package decision

import (
	"context"
	"fmt"
	"math"

	"nero/audit"
	"nero/audit/check/sweep"
	"nero/measure/metric"
)

// Check is the decision check. An answer may change by less than the limit and still change sides where two classes are
// close; an answer whose errors the limit lets through may change for everybody.
var Check = &audit.Check{
	Name:  "decision",
	Title: "How often the class changes",
	Doc: `Decision counts how often the class with the largest score changes. Agreement is the share of elements at which it is that of the unmoved
input, one number per input; the worst case asks that it hold on the whole orbit; neighbors are consecutive elements of the plan. With labels,
agreement is given for inputs right and wrong at the identity apart, because it rises with accuracy, and accuracy is given unmoved, over the
orbit and at its worst. The first of equal scores wins. The check passes if the share of inputs whose class changes somewhere on the orbit is at
most the failure rate of the policy, at the upper end of its interval; it asks for attention if the lower end is above it, and says nothing
in between. Of masks with truth it gives the mean IoU over the classes, the share of pixels that are right, and the IoU of each class, unmoved,
over the orbit and at its worst element; that describes the model and is no part of the verdict.`,
	Requires: []*audit.Check{sweep.Check},
	Views:    true,
	Run:      run,
}

func run(_ context.Context, p *audit.Pass) (any, error) {
	sw := audit.ResultOf[*sweep.Result](p, sweep.Check)
	c := sw.Classes
	if c == nil && sw.Pixels != nil {
		return overlap(p, sw)
	}
	if c == nil {
		return nil, fmt.Errorf("%w: the output has no classes", audit.ErrNotApplicable)
	}
	conf := p.Policy.Confidence
	var known, right, always, robust int
	var rightAgree, wrongAgree []float64
	seen := 0
	for i, k := range c.Base {
		if k < 0 {
			continue
		}
		seen++
		if c.Always[i] {
			always++
		}
		if sw.Labels[i] < 0 {
			continue
		}
		known++
		if c.Robust[i] {
			robust++
		}
		if k == sw.Labels[i] {
			right++
			rightAgree = append(rightAgree, c.Agree[i])
		} else {
			wrongAgree = append(wrongAgree, c.Agree[i])
		}
	}
	p.Measure(
		audit.Measured("agreement with the unmoved input", share(audit.MeanInterval(c.Agree, conf)), "share"),
		audit.Measured("inputs that agree on the whole orbit", audit.ShareInterval(always, seen, conf), "share"))
	judge(p, sw, seen, always)
	if o, told := metric.Misordered(sw.Labels, c.Base); told {
		p.Say(o.Text(nil))
	}
	p.Say(gist(known, right, share(audit.MeanInterval(c.Right, conf)).Value,
		share(audit.MeanInterval(c.Agree, conf)).Value, float64(always)/float64(seen)))
	if iv := audit.MeanInterval(c.Adjacent, conf); iv.N > 0 {
		p.Measure(audit.Measured("flips between neighbors of the plan", share(iv), "share"))
	}
	if most, at := worst(c.Flips); most > 0 {
		e := p.Elements[at]
		p.Measure(audit.Measured("flips at the worst element, "+e.Label, audit.ShareInterval(most, seen, conf),
			"share"))
	}
	if known > 0 {
		p.Measure(audit.Measured("accuracy unmoved", audit.ShareInterval(right, known, conf), "share"),
			audit.Measured("accuracy over the orbit", share(audit.MeanInterval(c.Right, conf)), "share"),
			audit.Measured("accuracy at the worst of the orbit", audit.ShareInterval(robust, known, conf), "share"))
		if len(rightAgree) > 0 {
			p.Measure(audit.Measured("agreement where right unmoved", share(audit.MeanInterval(rightAgree, conf)),
				"share"))
		}
		if len(wrongAgree) > 0 {
			p.Measure(audit.Measured("agreement where wrong unmoved", share(audit.MeanInterval(wrongAgree, conf)),
				"share"))
		}
	}
	return c, nil
}

// gist is what becomes of the answers when inputs move, in a sentence.
func gist(known, right int, over, agree, always float64) string {
	kept := audit.Percent(always) + " keep their class at every element"
	if known == 0 {
		return fmt.Sprintf("The class stays the same for %s of the moved inputs; %s.", audit.Percent(agree), kept)
	}
	return fmt.Sprintf("Right on %s of the inputs as they are, on %s of them moved; %s.",
		audit.Percent(float64(right)/float64(known)), audit.Percent(over), kept)
}

// judge holds the share of inputs whose class changes against the failure rate.
func judge(p *audit.Pass, sw *sweep.Result, seen, always int) {
	c := sw.Classes
	iv := audit.ShareInterval(seen-always, seen, p.Policy.Confidence)
	rate := p.Policy.FailureRate
	if !(iv.Hi <= rate) {
		p.Abstain()
	}
	if !(iv.Lo > rate) {
		return
	}
	most, at := worst(c.Flips)
	e := p.Elements[at]
	w := audit.Where{Index: -1, Element: e.G, Label: e.Label}
	for i, k := range c.Base {
		if k >= 0 && !c.Always[i] {
			w.Sample, w.Index = sw.IDs[i], i
			w.Element, w.Label = nil, ""
			break
		}
	}
	p.Report(audit.Finding{
		Category: audit.Decisions, Location: "output", Worst: w,
		Message: fmt.Sprintf(
			"the class changes with the element for %s of the inputs (at least %s of those like them), "+
				"most often at %s: for %d of %d", audit.Percent(iv.Value), audit.Percent(iv.Lo), e.Label, most, seen),
		Evidence: []audit.Evidence{
			audit.Measured("share of inputs whose class changes on the orbit", iv, "share").Against(rate),
		},
		Remedies: []string{
			"train with augmentation, use an equivariant architecture, or average the answer over the group",
			"if the numbers are no scores of classes, declare what they are: --output tensor",
		},
	})
}

// share cuts the limits of a mean of shares to [0, 1].
func share(i audit.Interval) audit.Interval {
	if !math.IsNaN(i.Lo) {
		i.Lo, i.Hi = max(i.Lo, 0), min(i.Hi, 1)
	}
	return i
}

func worst(flips []int) (most, at int) {
	for j, n := range flips {
		if n > most {
			most, at = n, j
		}
	}
	return most, at
}
