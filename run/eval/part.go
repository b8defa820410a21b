package eval

import (
	"nero/measure/metric"
	"nero/symmetry/orbit"
)

// On is the same evaluation on other elements and with other metrics: of the same samples by the same models, which
// stay those of e.
func (e *Evaluation) On(plan *orbit.Plan, metrics []*metric.Metric) (*Evaluation, error) {
	o := &Evaluation{
		Data: e.Data, Samples: e.Samples, Plan: plan, Models: e.Models, Metrics: metrics, Scales: e.Scales,
		FieldScales: e.FieldScales, Sizes: e.Sizes, Centres: e.Centres, FieldCentres: e.FieldCentres,
		Classes: e.Classes, Target: e.Target, Averaging: e.Averaging,
		LeaveOut: e.LeaveOut, KeepGoing: e.KeepGoing, Places: e.Places,
	}
	return o, o.Prepare()
}
