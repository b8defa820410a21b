package view

import (
	"nero/data/space"
	"nero/measure/metric"
)

// NoValue says why a metric may have no value at a place although nothing is wrong, such as that no object is in the
// window; "" for a metric that has one everywhere, so that a value that is missing is a number that is not finite.
func NoValue(name string) string {
	m, err := metric.Find(name)
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
