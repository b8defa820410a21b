package metric_test

import (
	"fmt"
	"math"

	"nero/data/space"
	"nero/measure/metric"
)

// Names find metrics, also those against another reference and those of a field of a record.
func ExampleFind() {
	for _, name := range []string{"iou", "iou@consensus", "forces.rmse", "relativ"} {
		m, err := metric.Find(name)
		if err != nil {
			fmt.Println("no such metric:", name)
			continue
		}
		fmt.Println(m.Name, "is better", m.Better, "against", m.Ref)
	}
	// Output:
	// iou is better higher against target
	// iou@consensus is better higher against consensus
	// forces.rmse is better lower against target
	// no such metric: relativ
}

// Measure compares one answer with its reference. What is no number is never a good one.
func ExampleMetric() {
	before := &space.Scores{Val: []float64{3, 4}}
	for _, after := range [][]float64{{3, 4}, {0, 0}, {math.NaN(), 4}} {
		c := metric.Case{Got: &space.Scores{Val: after}, Want: before, Scale: 2}
		fmt.Println(metric.Absolute.Measure(c), metric.Relative.Measure(c))
	}
	// Output:
	// 0 0
	// 5 2.5
	// NaN NaN
}
