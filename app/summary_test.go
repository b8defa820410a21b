package app

import (
	"strings"
	"testing"
	"unicode/utf8"

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
		"worst element: 0.2000 at 90°": 1, "worst element: 0 at 90° and 1 other alike": 1, "worst element: ": 2,
	} {
		if got := strings.Count(text.String(), want); got != n {
			t.Errorf("%d times %q, want %d:\n%s", got, want, n, text.String())
		}
	}
}

// No line is wider than the narrowest terminal, and nothing of a place or a name is cut.
func TestTableKeepsItsWidth(t *testing.T) {
	long := "a model of a long name, such as people give to files that they fetch from far away, number "
	s := &fold.Summary{
		Group: "C4", Elements: []group.Element{{0}, {90}, {180}, {270}}, Confidence: 0.95, Samples: 12,
		Models: []string{long + "1", "short"}, Slices: []fold.Slice{{Name: "all", Label: -1, N: 9}},
		Metrics: []fold.Metric{{Name: "confidence", Better: "higher", Ref: "target"}},
	}
	for k := range s.Models {
		s.Curves = append(s.Curves, fold.Curve{
			Model: k, Mean: []fold.Number{1, 0.2, 0.4, 0.3}, WorstElement: 1, WorstAt: -1, BadAt: -1,
			Orbit: fold.Estimate{N: 9, Mean: 0.5, Lo: 0.4567, Hi: 0.5678}, Worst: fold.Estimate{N: 9, Mean: 0.1234},
		})
	}
	var text strings.Builder
	at := "108° about (0.507, −0.788, 0.349), inverted, shifted by (0.123, 0.456, −0.789) length"
	(&RunResult{Summary: s}).table(&text, func(int) string { return at })
	for line := range strings.Lines(text.String()) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > terminal || strings.Contains(line, "…") {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	squeezed := strings.Join(strings.Fields(text.String()), " ")
	for _, want := range []string{long + "1", "worst element: 0.2000 at " + at, "0.5000 [0.4567, 0.5678] 0.1234"} {
		if !strings.Contains(squeezed, want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
}
