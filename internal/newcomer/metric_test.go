package newcomer

import (
	"math"
	"testing"

	"nero/app"
	"nero/data/space"
	"nero/measure/metric"
)

// drift is a metric: how far the sum of the scores moves.
var drift = &metric.Metric{
	Name: "drift", Doc: "how far the sum of the scores moves", Ref: metric.Self, Better: metric.Lower,
	Range: [2]float64{0, math.Inf(1)}, Spaces: []space.Kind{space.KindScores},
	Measure: func(c metric.Case) float64 { return math.Abs(sum(c.Got) - sum(c.Want)) },
}

func sum(v space.Value) float64 {
	s := 0.0
	for _, x := range v.Numbers() {
		s += x
	}
	return s
}

func TestMetric(t *testing.T) {
	a := &app.App{Parts: app.Parts{Metrics: append(metric.Builtin(), drift)}}
	s := study(t, firstTwo(), "C2")
	s.Metrics = []string{"drift", "absolute"}
	sum := run(t, a, s).Summary
	m := sum.Metrics[0]
	if m.Name != "drift" || m.Better != "lower" || m.Doc != drift.Doc {
		t.Errorf("the summary says %+v", m)
	}
	want := 0.0 // a half turn puts the last two pixels in the place of the first
	for k := range 3 {
		first, last := float64(gray(k, 0))+float64(gray(k, 1)), float64(gray(k, 15))+float64(gray(k, 14))
		want += math.Abs(last-first) / 255 / 3
	}
	got := sum.Curves[0].Mean
	if len(got) != 2 || got[0] != 0 || !near(float64(got[1]), want) {
		t.Errorf("the curve is %v, want 0 and %g", got, want)
	}
	if _, err := new(app.App).Run(t.Context(), s, app.RunOptions{Dir: t.TempDir(), Workers: 1}); err == nil {
		t.Error("a program without the metric knows it")
	}
}
