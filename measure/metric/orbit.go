package metric

import (
	"math"
	"strings"
)

// worst is what the names of metrics of whole orbits begin with.
const worst = "worst" + part

// WorstOf is the metric m at its worst along the orbit of a sample, the same number at every element: worst:accuracy is
// 1 for a sample that is right all round. Its mean over samples is the accuracy under the worst element for each
// (Engstrom et al. 2019). Pooled metrics have no value of one sample that could be the worst: nil.
func WorstOf(m *Metric) *Metric {
	if m.Pooled != nil || m.Round {
		return nil
	}
	n := *m
	n.Name, n.Round, n.Usual = worst+m.Name, true, false
	n.Title = m.Heading() + ", worst of the orbit"
	n.Doc = "the worst along the orbit of the sample (Engstrom et al. 2019) of: " + m.Doc
	if m.Says != "" {
		n.Says = strings.ReplaceAll(m.Says, " on %s", " at every element on %s")
	}
	return &n
}

// Worst is the worst of the values of one sample along its orbit; NaN if one of them is.
func (m *Metric) Worst(curve []float32) float64 {
	at := math.NaN()
	for i, v32 := range curve {
		v := float64(v32)
		if math.IsNaN(v) {
			return v
		}
		if i == 0 || m.Better == Higher && v < at || m.Better == Lower && v > at {
			at = v
		}
	}
	return at
}
