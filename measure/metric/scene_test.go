package metric_test

import (
	"math"
	"testing"

	"nero/data/space"
	"nero/measure/metric"
)

// Four points: off by 0.04, which every threshold admits; by 0.07 of 0.1, which the relaxed one admits and which is
// more than a tenth; by 0.4 of 10, which is less than 5 % and more than 0.3; and by 0.2 of 0.1.
func TestSceneFlow(t *testing.T) {
	truth := &space.Rows{N: 4, W: 3, Val: []float64{1, 0, 0, 0, 0.1, 0, 0, 0, 10, 0.1, 0, 0}}
	at := &space.Rows{N: 4, W: 3, Val: []float64{1, 0.04, 0, 0, 0.17, 0, 0, 0, 10.4, 0.1, 0, 0.2}}
	for name, want := range map[string]float64{
		"epe3d": (0.04 + 0.07 + 0.4 + 0.2) / 4, "acc3d_strict": 0.5, "acc3d_relax": 0.75, "outliers3d": 0.75,
	} {
		m, err := metric.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Measure(metric.Case{At: at, Truth: truth}); !(math.Abs(got-want) <= 1e-12) {
			t.Errorf("%s is %v, expected %v", name, got, want)
		}
		flat := &space.Rows{N: 2, W: 2, Val: []float64{1, 2, 3, 4}}
		if got := m.Measure(metric.Case{At: flat, Truth: flat}); !math.IsNaN(got) {
			t.Errorf("%s of vectors of the plane is %v", name, got)
		}
		bad := &space.Rows{N: 4, W: 3, Val: append([]float64{math.NaN()}, at.Val[1:]...)}
		if got := m.Measure(metric.Case{At: bad, Truth: truth}); !math.IsNaN(got) {
			t.Errorf("%s of NaN is %v", name, got)
		}
	}
}
