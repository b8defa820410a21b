package report

import (
	"testing"

	"nero/measure/metric"
	"nero/present/view"
)

// One rule for colour: what is good is bright, for every metric of the program, whichever way it runs.
func TestGoodIsBright(t *testing.T) {
	light := func(f *view.Figure, v float64) int {
		c := heatOf(f, v)
		return 2126*int(c.R) + 7152*int(c.G) + 722*int(c.B)
	}
	seen := map[metric.Direction]int{}
	for _, m := range metric.Builtin() {
		f := &view.Figure{Better: string(m.Better), Scale: view.Scale{Lo: 0, Hi: 1}}
		good, bad := 1.0, 0.0
		if m.Better == metric.Lower {
			good, bad = bad, good
		}
		if light(f, good) <= light(f, bad) {
			t.Errorf("%s, of which %s is better: %g has the brightness %d, and %g %d", m.Name, m.Better, good,
				light(f, good), bad, light(f, bad))
		}
		seen[m.Better]++
	}
	if len(seen) != 2 || seen[metric.Lower] < 5 || seen[metric.Higher] < 5 {
		t.Errorf("metrics of each direction: %v, want several of both", seen)
	}
}
