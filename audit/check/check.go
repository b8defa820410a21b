// Package check lists the checks that an audit is made of. Each lives in a package of its own below this one.
package check

import (
	"nero/audit"
	"nero/audit/check/border"
	"nero/audit/check/company"
	"nero/audit/check/contract"
	"nero/audit/check/controls"
	"nero/audit/check/convention"
	"nero/audit/check/decision"
	"nero/audit/check/ends"
	"nero/audit/check/endtoend"
	"nero/audit/check/engines"
	"nero/audit/check/extremes"
	"nero/audit/check/features"
	"nero/audit/check/forces"
	"nero/audit/check/forms"
	"nero/audit/check/gradient"
	"nero/audit/check/irreps"
	"nero/audit/check/lattice"
	"nero/audit/check/laws"
	"nero/audit/check/layers"
	"nero/audit/check/lie"
	"nero/audit/check/lint"
	"nero/audit/check/mend"
	"nero/audit/check/moving"
	"nero/audit/check/neighbors"
	"nero/audit/check/order"
	"nero/audit/check/ports"
	"nero/audit/check/precision"
	"nero/audit/check/preflight"
	"nero/audit/check/search"
	"nero/audit/check/shifts"
	"nero/audit/check/sizes"
	"nero/audit/check/smooth"
	"nero/audit/check/subgroup"
	"nero/audit/check/sweep"
	"nero/audit/check/uses"
	"nero/audit/check/variance"
	"nero/audit/check/warmup"
)

// All are the checks of an audit, in the order in which they are read.
func All() []*audit.Check {
	return []*audit.Check{
		preflight.Check, sweep.Check, controls.Check, precision.Check, lattice.Check, endtoend.Check,
		convention.Check, irreps.Check, ports.Check, uses.Check, subgroup.Check, variance.Check, search.Check,
		decision.Check,
		contract.Check, features.Check,
		lint.Check, order.Check, neighbors.Check, moving.Check, warmup.Check, laws.Check, ends.Check,
		company.Check, engines.Check, shifts.Check, smooth.Check, border.Check, extremes.Check, sizes.Check,
		layers.Check, mend.Check, lie.Check,
		gradient.Check, forces.Check, forms.Check,
	}
}

// Outside are the questions about equivariance that none of the checks asks. A report says so: what was not asked was
// not passed.
func Outside() []string {
	return nil
}
