package view

import (
	"nero/data/space"
	"nero/measure/metric"
	"nero/run/fold"
)

// NoValue says why metric i of a run may have no value at a place although nothing is wrong, such as that no object is
// in the window; "" for a metric that has one everywhere, so that a value that is missing is a number that is not
// finite.
func NoValue(s *fold.Summary, i int) string {
	m, err := s.Known(i)
	if err != nil || !m.Understands(space.KindBoxes) || m.Understands(space.KindScores) {
		return ""
	}
	switch m.Ref {
	case metric.Target:
		return "no object to compare with is in the window, or none was found to measure"
	case metric.Consensus:
		return "there is no consensus, or it has left the window"
	case metric.Self:
		return "no object of the model's own answer is whole in both windows"
	}
	return ""
}
