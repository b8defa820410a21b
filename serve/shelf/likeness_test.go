package shelf

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"nero/run/fold"
	"nero/run/slice"
)

// The cases are worked out by hand; the page is held to the same.
func TestAlike(t *testing.T) {
	b, err := os.ReadFile("../web/testdata/likeness.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		What                    string
		X, Y                    []fold.Number
		Weights                 []float64
		Correlation, Similarity fold.Number
	}
	if err := json.Unmarshal(b, &cases); err != nil || len(cases) < 8 {
		t.Fatalf("%d cases: %v", len(cases), err)
	}
	near := func(a float64, b fold.Number) bool {
		return math.IsNaN(a) && math.IsNaN(float64(b)) || math.Abs(a-float64(b)) <= 1e-12
	}
	for _, c := range cases {
		var x []float32
		var y []float64
		for k := range c.X {
			x, y = append(x, float32(c.X[k])), append(y, float64(c.Y[k]))
		}
		if len(c.Weights) == 0 {
			c.Weights = nil
		}
		if r, s := alike(x, y, c.Weights); !near(r, c.Correlation) || !near(s, c.Similarity) {
			t.Errorf("%s: %v and %v, want %v and %v", c.What, r, s, c.Correlation, c.Similarity)
		}
	}
}

// The mean curve is that of the set and not of the run, and every sample of the run is compared with it.
func TestLikeness(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	small().write(t, dir)
	r := run(t, opened(t, Options{}, dir), "run")
	set := slice.NewBits(r.Len())
	set.Add(3)
	l, err := r.Likeness(0, 0, set)
	if err != nil {
		t.Fatal(err)
	}
	if got := l.Correlation[3]; math.Abs(got-1) > 1e-12 || math.Abs(l.Similarity[3]-1) > 1e-12 {
		t.Errorf("sample 3 beside itself: %v and %v", got, l.Similarity[3])
	}
	if len(l.Correlation) != r.Len() || !slices.ContainsFunc(l.Correlation, func(v float64) bool { return v < 0.99 }) {
		t.Errorf("%v", l.Correlation)
	}
}
