package workload

import (
	"fmt"
	"slices"

	"nero/measure/metric"
	"nero/run/job"
	"nero/symmetry/orbit"
)

// leastCoarse is the smallest orbit of which a coarse level says more than a look at all of it: below it one in eight
// are fewer than four elements.
const leastCoarse = 32

// Coarse is the same work on one in n of the elements, as a study with group.orbit.every opens it: a first look at all
// samples that takes an n-th of the time. It shares the models of w, and is not to be closed. Metrics whose values need
// the whole orbit are left out, and named: what they say of a part of it would be something else.
//
// It is nil, with the reason, where there is nothing to look at first.
func (w *Workload) Coarse(n int) (c *Workload, left []string, why string, err error) {
	elements := len(w.Eval.Plan.Elements)
	if elements < leastCoarse {
		why = fmt.Sprintf("the orbit has %d elements, and one of less than %d is short", elements, leastCoarse)
		return nil, nil, why, nil
	}
	study := *w.Study
	o := &study.Group.Orbit
	o.Every, o.Refine = n*max(1, o.Every), job.Refine{}
	part := *w
	c = &part
	c.Study = &study
	var metrics []*metric.Metric
	study.Metrics = nil
	for _, m := range w.Eval.Metrics {
		if m.WholeOrbit() {
			left = append(left, m.Name)
			continue
		}
		metrics, study.Metrics = append(metrics, m), append(study.Metrics, m.Name)
	}
	if len(metrics) == 0 {
		return nil, left, "all its metrics need the whole orbit", nil
	}
	whole := w.Eval.Plan
	plan, err := orbit.NewPlan(w.group, c.orbit(), whole.In, whole.Out, study.Seed)
	if err != nil {
		return nil, nil, "", study.Errorf("group.orbit", "%v", err)
	}
	if 2*len(plan.Elements) > elements {
		return nil, nil, "its orbit has no evenly spread part that is much smaller", nil
	}
	if c.Eval, err = w.Eval.On(plan, metrics); err != nil {
		return nil, nil, "", err
	}
	j := *w.Job
	c.Job = &j
	j.Study = placed(study)
	j.Elements, j.Exact, j.Weights, j.Measure = plan.Elements, plan.Exact(), plan.Weights, plan.Measure
	j.Metrics, j.Pixels = slices.Clone(study.Metrics), c.Eval.Pixels
	j.Shard = job.ShardSize(j.Count, len(j.Elements), len(j.Models))
	if err := j.Validate(); err != nil {
		return nil, nil, "", err
	}
	c.Hash, err = j.Hash()
	return c, left, "", err
}
