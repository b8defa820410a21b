package app

import (
	"strings"
	"testing"

	"nero/run/fold"
	"nero/symmetry/group"
)

// The table after a run says where a metric is worst, that several elements are as bad, and nothing of a place where
// all are alike.
func TestWorstElementOfTheTable(t *testing.T) {
	s := &fold.Summary{
		Group: "C4", Elements: []group.Element{{0}, {90}, {180}, {270}}, Confidence: 0.95, Samples: 9,
		Models: []string{"one", "tied", "level"}, Slices: []fold.Slice{{Name: "all", Label: -1, N: 9}},
		Metrics: []fold.Metric{{Name: "confidence", Better: "higher", Ref: "target"}},
	}
	for k, means := range [][]fold.Number{{1, 0.2, 0.4, 0.3}, {1, 0, 0, 0.5}, {0.287, 0.28701, 0.287, 0.287}} {
		c := fold.Curve{
			Model: k, Mean: means, WorstElement: 1, WorstAt: -1, BadAt: -1, Orbit: fold.Estimate{N: 9, Mean: 0.5},
		}
		s.Curves = append(s.Curves, c)
	}
	var text strings.Builder
	if err := (&RunResult{Summary: s}).WriteText(&text); err != nil {
		t.Fatal(err)
	}
	for want, n := range map[string]int{
		"worst element: 0.2000 at 90°": 1, "worst element: 0 at 2 of 4 elements alike": 1, "worst element: ": 2,
	} {
		if got := strings.Count(text.String(), want); got != n {
			t.Errorf("%d times %q, want %d:\n%s", got, want, n, text.String())
		}
	}
}
