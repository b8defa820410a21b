package newcomer

import (
	"math"
	"os"
	"path/filepath"
	"strings"
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
	// Two runs are compared by it, a report draws it, and the list has it.
	again := run(t, a, s)
	both, err := a.Compare(run(t, a, s).Dir, again.Dir, app.CompareOptions{})
	if err != nil || both.Worse() {
		t.Errorf("a run against itself: %v", err)
	}
	out := filepath.Join(t.TempDir(), "report")
	if _, err := a.Report(t.Context(), again.Dir, out, ""); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(filepath.Join(out, "report.md")); err != nil || !strings.Contains(string(b), drift.Doc) {
		t.Errorf("the report does not say what drift is: %v", err)
	}
	if known, err := again.Summary.Known(0); err != nil || known != drift {
		t.Errorf("the summary knows %v, %v", known, err)
	}
	if list := a.Metrics(); list[len(list)-1].Name != "drift" {
		t.Errorf("the list ends with %+v", list[len(list)-1])
	}
	// A metric may call itself usual: a study that names none shows it behind those of nero.
	common := *drift
	common.Usual = true
	a = &app.App{Parts: app.Parts{Metrics: append(metric.Builtin(), &common)}}
	silent := study(t, firstTwo(), "C2")
	silent.Metrics = nil
	if all := run(t, a, silent).Summary.Metrics; len(all) < 2 || all[len(all)-1].Name != "drift" {
		t.Errorf("a study that names no metrics shows %+v", all)
	}
	if _, err := new(app.App).Run(t.Context(), s, app.RunOptions{Dir: t.TempDir(), Workers: 1}); err == nil {
		t.Error("a program without the metric knows it")
	}
}
