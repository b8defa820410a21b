package probe

import (
	"nero/data/space"
	"nero/measure/metric"
)

// Errors is where the field that a result holds is wrong: [space.Errors] against a reference, or against the first that
// there is of target, consensus and self if none is named. It is nil where there is nothing to compare.
func (p *Point) Errors(r *Result, ref metric.Reference, most int) (*space.ErrorMap, metric.Reference) {
	for _, o := range []struct {
		name  metric.Reference
		value space.Value
	}{{metric.Target, p.Target}, {metric.Consensus, r.Consensus}, {metric.Self, r.Moved}} {
		if ref != "" && ref != o.name {
			continue
		}
		if m := space.Errors(r.Output, o.value, most); m != nil {
			return m, o.name
		}
	}
	return nil, ""
}
