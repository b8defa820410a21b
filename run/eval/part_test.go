package eval

import (
	"slices"
	"testing"

	"nero/measure/metric"
	"nero/run/job"
	"nero/symmetry/orbit"
)

// An evaluation on some of the elements gives there what that on all of them gives.
func TestOnSomeElements(t *testing.T) {
	ev := evaluation(t, &linear{shared: true}, dark{pictures{n: 3, bad: -1}}, 4, 1)
	ev.Plan, ev.Metrics = plan(t, 64, 16), []*metric.Metric{metric.Flip, metric.Absolute, metric.Agreement}
	if err := ev.Prepare(); err != nil {
		t.Fatal(err)
	}
	if err := ev.Calibrate(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	all, err := ev.Shard(t.Context(), job.Shard{Hi: 3}, nil)
	if err != nil {
		t.Fatal(err)
	}
	const every = 8
	some := &orbit.Plan{Group: ev.Plan.Group, Measure: "some", In: ev.Plan.In, Out: ev.Plan.Out}
	for k := 0; k < len(ev.Plan.Elements); k += every {
		some.Elements = append(some.Elements, ev.Plan.Elements[k])
	}
	of, err := ev.On(some, ev.Metrics[1:])
	if err != nil {
		t.Fatal(err)
	}
	rows, err := of.Shard(t.Context(), job.Shard{Hi: 3}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range rows {
		for m, curve := range r.Curves {
			var want []float32
			for k := 0; k < len(ev.Plan.Elements); k += every {
				want = append(want, all[i].Curves[m+1][k])
			}
			if !slices.Equal(curve, want) {
				t.Errorf("sample %d, %s: %v, want %v", i, ev.Metrics[m+1].Name, curve, want)
			}
		}
	}
	again, err := ev.Shard(t.Context(), job.Shard{Hi: 3}, nil)
	if err != nil || !slices.Equal(again[2].Curves[1], all[2].Curves[1]) {
		t.Errorf("the first evaluation is another one now: %v", err)
	}
}
