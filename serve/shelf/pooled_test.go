package shelf

import (
	"math"
	"slices"
	"testing"

	"nero/run/fold"
	"nero/serve/api"
)

// A pooled metric of samples chosen by hand is that of package fold over the same rows, but for the intervals: with and
// without boxes that are not finite, and whether or not the metric reads boxes.
func TestPooledIsFold(t *testing.T) {
	for _, holes := range []bool{false, true} {
		m := small()
		m.metrics, m.boxes, m.holes = []string{"ap50", "coco_ap", "rmse_pooled"}, true, holes
		r := one(t, m)
		sum := r.parts[0].fold(r.parts[0].at)
		if sum == nil || len(sum.Slices) != 4 {
			t.Fatal("no summary")
		}
		missing := 0
		for k, name := range m.metrics {
			for s, sl := range sum.Slices {
				set := api.Set{Not: &api.Set{Indexes: []int{}}}
				if sl.Label >= 0 {
					set = api.Set{And: []api.Set{{Label: &sl.Label}}}
				}
				a, err := r.Aggregate(t.Context(), api.AggregateRequest{Set: set, Metric: k})
				if err != nil {
					t.Fatal(err)
				}
				for i := range a.Curves {
					got, want := &a.Curves[i], sum.Curve(i, k, s)
					if !slices.EqualFunc(got.Mean, want.Mean, close64) || !slices.Equal(got.N, want.N) ||
						!slices.Equal(got.Bad, want.Bad) || got.WorstElement != want.WorstElement ||
						got.FirstBad != want.FirstBad || got.BadAt != want.BadAt {
						t.Errorf("%s of %s, holes %v: %+v, want %+v", name, sl.Name, holes, got, want)
					}
					for what, e := range map[string][2]fold.Estimate{
						"orbit": {got.Orbit, want.Orbit}, "worst": {got.Worst, want.Worst},
						"change": {got.Change, want.Change},
					} {
						if e[0].N != e[1].N || !close64(e[0].Mean, e[1].Mean) {
							t.Errorf("%s of %s, holes %v: %s is %+v, want %+v", name, sl.Name, holes, what, e[0], e[1])
						}
						if !math.IsNaN(float64(e[0].Lo)) {
							t.Errorf("%s of %s: %s has an interval from %v", name, sl.Name, what, e[0].Lo)
						}
					}
					for _, v := range want.Mean {
						if math.IsNaN(float64(v)) {
							missing++
						}
					}
				}
			}
		}
		if holes == (missing == 0) {
			t.Errorf("holes %v, but %d values are missing: the test shows nothing", holes, missing)
		}
	}
}
