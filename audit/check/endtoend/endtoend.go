// Package endtoend is the check of the elements that resample their input: the claim as a user meets it, with what the
// test itself contributes drawn beside it.
package endtoend

import (
	"context"
	"fmt"

	"nero/audit"
	"nero/audit/check/controls"
	"nero/audit/check/precision"
	"nero/audit/check/sweep"
)

// Check is the end-to-end check of continuous elements.
var Check = &audit.Check{
	Name:  "endtoend",
	Title: "All motions, interpolation set apart",
	Doc: `Endtoend judges the elements that resample the input, after the exact ones. Beside the error stands its floor at the model's output,
E_floor(x,g) = ‖f(ρ(g)⁻¹ρ(g)x) - f(x)‖/s, and the ratio of the two, clustered by input: an error whose ratio may be 1 cannot be told from
resampling. Where the output is resampled as well, what that does to f(x) there and back enters the floor as a sum of squares. Along an orbit of one
coordinate the profile of the error is drawn with its floor and with the exact elements as a comb; else the worst elements are listed.`,
	Requires: []*audit.Check{sweep.Check, controls.Check},
	Uses:     []*audit.Check{precision.Check},
	Run:      run,
}

func run(_ context.Context, p *audit.Pass) (any, error) {
	sw := audit.ResultOf[*sweep.Result](p, sweep.Check)
	s := sw.Set(p, false)
	if s == nil {
		return nil, fmt.Errorf("%w: every element acts without resampling", audit.ErrNotApplicable)
	}
	c := audit.ResultOf[*controls.Result](p, controls.Check)
	lattice := sw.Set(p, true)
	if r, ok := audit.ResultIf[*precision.Result](p, precision.Check); ok {
		s.Slope = r.Slopes[false]
		if lattice != nil {
			lattice.Slope = r.Slopes[true]
		}
	}
	if lattice != nil {
		lattice.Floors = c.Floors
		p.Policy.Explain(lattice, c.Facts)
		lattice.Verdict, lattice.Reason = p.Policy.Judge(lattice)
	}
	c.Complete(p, s, lattice, "")
	sw.ShowFields(p, s)
	clues(p, sw, s, lattice)
	return s, nil
}
