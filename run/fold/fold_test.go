package fold

import (
	"encoding/json"
	"iter"
	"math"
	"reflect"
	"strings"
	"testing"

	"nero/run/job"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

var nan = float32(math.NaN())

func given(rows ...job.Row) iter.Seq2[job.Row, error] {
	return func(yield func(job.Row, error) bool) {
		for _, r := range rows {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// row has one curve of confidence and one of relative error over C4.
func row(model, index, label int, confidence, relative []float32) job.Row {
	return job.Row{
		Model: model, Index: index, Sample: string(rune('a' + index)), Label: label,
		Curves: [][]float32{confidence, relative},
	}
}

func fold(t *testing.T, weights []float64, rows ...job.Row) *Summary {
	t.Helper()
	g, err := catalog.Parse("C4")
	if err != nil {
		t.Fatal(err)
	}
	models := 1
	for _, r := range rows {
		models = max(models, r.Model+1)
	}
	j := &job.Job{
		Models: []job.ModelRef{{Name: "A"}, {Name: "B"}}[:models], Metrics: []string{"confidence", "relative"},
		Count:    3,
		Elements: []group.Element{{0}, {90}, {180}, {270}}, Weights: weights,
	}
	s, err := Fold(Input{
		Job: j, Group: g, Rows: Columns(func() iter.Seq2[job.Row, error] { return given(rows...) }),
		Scales: []float64{2, math.NaN()}[:models], Classes: []string{"cat", "dog"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func near(a Number, b float64) bool { return math.Abs(float64(a)-b) < 1e-6 }

func TestHandComputed(t *testing.T) {
	s := fold(t, nil,
		row(0, 0, 0, []float32{1, .5, .25, .25}, []float32{0, 1, 2, 3}),
		row(1, 0, 0, []float32{.1, .1, .1, .1}, []float32{0, 0, 0, 0}),
		row(0, 1, 1, []float32{.5, .5, .75, .25}, []float32{0, 3, 4, 1}),
		row(1, 1, 1, []float32{.1, .1, .1, .1}, []float32{0, 0, 0, 0}),
		row(0, 2, 0, []float32{.6, .8, .5, .1}, []float32{0, 2, 0, 2}),
		row(1, 2, 0, []float32{.1, .1, .1, .1}, []float32{0, 0, 0, 9}),
	)
	if want := []Slice{{"all", -1, 3}, {"cat", 0, 2}, {"dog", 1, 1}}; !reflect.DeepEqual(s.Slices, want) {
		t.Errorf("slices %v, want %v", s.Slices, want)
	}
	c := s.Curve(0, 0, 0)
	for k, want := range []float64{.7, .6, .5, .2} {
		if !near(c.Mean[k], want) {
			t.Errorf("mean at %d = %v, want %v", k, c.Mean[k], want)
		}
	}
	// Per sample: means .5, .5, .5 and minima .25, .25, .1.
	if !near(c.Orbit.Mean, .5) || !near(c.Orbit.SD, 0) || !near(c.Worst.Mean, .2) || c.Orbit.N != 3 {
		t.Errorf("orbit %+v, worst %+v", c.Orbit, c.Worst)
	}
	if c.WorstElement != 3 || c.WorstSample != "c" || c.WorstAt != 3 || !near(c.WorstValue, .1) {
		t.Errorf("worst: element %d, sample %s at %d: %v", c.WorstElement, c.WorstSample, c.WorstAt, c.WorstValue)
	}
	// Without the identity: 1/3, .5, 1.4/3.
	if !near(c.Moved.Mean, 1.3/3) || !near(c.Moved.SD, .0881917) || c.Moved.N != 3 {
		t.Errorf("moved %+v", c.Moved)
	}
	// Changes from the identity: -.5, 0, -.1: mean -.2, sd sqrt((.09+.04+.01)/2).
	if !near(c.Change.Mean, -.2) || !near(c.Change.SD, .2645751) || s.Verdict(c, 0) != "no change seen" {
		t.Errorf("change %+v: %s", c.Change, s.Verdict(c, 0))
	}
	// At the identity: values 1, .5, .6, sd sqrt((.09+.04+.01)/2) = .264575, t(2, .975) = 4.302653: half width .657245.
	if !near(c.SD[0], .2645751) || !(math.Abs(float64(c.Lo[0])-(.7-.657245)) < 1e-4) || c.Hi[0] != 1 {
		t.Errorf("at the identity: sd %v in [%v, %v]; the interval must end at the metric's range", c.SD[0], c.Lo[0],
			c.Hi[0])
	}
	// errors: larger is worse
	if c := s.Curve(0, 1, 1); c.WorstElement != 3 || !near(c.Mean[3], 2.5) || c.WorstSample != "a" {
		t.Errorf("relative of cats: worst element %d (%v), sample %s", c.WorstElement, c.Mean[3], c.WorstSample)
	}
	if c := s.Curve(1, 1, 0); c.WorstSample != "c" || c.WorstAt != 3 || c.WorstValue != 9 {
		t.Errorf("worst of B: %+v", c)
	}
}

func TestVerdicts(t *testing.T) {
	var rows []job.Row
	for i := range 6 {
		d := float32(i) / 100
		rows = append(rows, row(0, i, 0, []float32{.9 + d, .5, .5 - d, .5}, []float32{0, .1, .2, .3 + d}),
			row(1, i, 0, []float32{.5, .9, .9 + d, .9}, []float32{0, 1e-7, 2e-7, 1e-7}))
	}
	s := fold(t, nil, rows...)
	for _, c := range []struct {
		model, metric int
		want          string
	}{{0, 0, "worse when moved"}, {1, 0, "better when moved"}, {0, 1, "above 0.0001"}, {1, 1, "below 0.0001"}} {
		if got := s.Verdict(s.Curve(c.model, c.metric, 0), 1e-4); got != c.want {
			t.Errorf("model %d, metric %d: %q, want %q", c.model, c.metric, got, c.want)
		}
	}
}

func TestWeights(t *testing.T) {
	s := fold(t, []float64{0, .5, .25, .25}, row(0, 0, -1, []float32{1, .4, .8, 0}, []float32{0, 0, 0, 0}))
	if c := s.Curve(0, 0, 0); !near(c.Orbit.Mean, .4) {
		t.Errorf("weighted mean over the orbit = %v, want .4", c.Orbit.Mean)
	}
	if len(s.Slices) != 1 {
		t.Errorf("samples without labels made the slices %v", s.Slices)
	}
}

// One value that is not finite is counted and named, and the sample has no mean over its orbit.
func TestNotFinite(t *testing.T) {
	s := fold(t, nil,
		row(0, 0, 0, []float32{1, 1, 1, 1}, []float32{0, 0, 0, 0}),
		row(0, 1, 0, []float32{1, nan, 1, 1}, []float32{0, float32(math.Inf(1)), 0, 0}),
		row(1, 0, 0, []float32{1, 1, 1, 1}, []float32{0, 0, 0, 0}),
		row(1, 1, 0, []float32{1, 1, 1, 1}, []float32{0, 0, 0, 0}),
	)
	for i := range 2 {
		c := s.Curve(0, i, 0)
		if !reflect.DeepEqual(c.Bad, []int{0, 1, 0, 0}) || !reflect.DeepEqual(c.N, []int{2, 1, 2, 2}) ||
			c.FirstBad != "b" || c.BadAt != 1 || c.Orbit.N != 1 {
			t.Errorf("metric %d: bad %v of %v, first %s at %d, orbit over %d", i, c.Bad, c.N, c.FirstBad, c.BadAt,
				c.Orbit.N)
		}
	}
	b, err := json.Marshal(s)
	if err != nil || strings.Contains(string(b), "NaN") {
		t.Fatalf("as JSON: %v", err)
	}
	var back Summary
	if err := json.Unmarshal(b, &back); err != nil || len(back.Scales) != 2 || !math.IsNaN(float64(back.Scales[1])) ||
		back.Scales[0] != 2 {
		t.Errorf("scales came back as %v, %v", back.Scales, err)
	}
}

func TestFailedSamplesAreCounted(t *testing.T) {
	bad := row(0, 1, 0, []float32{nan, nan, nan, nan}, []float32{nan, nan, nan, nan})
	bad.Err = "torn"
	other := bad
	other.Model = 1
	s := fold(t, nil, row(0, 0, 0, []float32{1, 1, 1, 1}, []float32{0, 0, 0, 0}),
		row(1, 0, 0, []float32{1, 1, 1, 1}, []float32{0, 0, 0, 0}), bad, other)
	if s.Failed != 1 || s.Slices[0].N != 1 || s.Curve(0, 0, 0).Bad[0] != 0 {
		t.Errorf("failed %d, n %d, bad %v", s.Failed, s.Slices[0].N, s.Curve(0, 0, 0).Bad)
	}
}

func TestForeignRowsAreRefused(t *testing.T) {
	g, err := catalog.Parse("C4")
	if err != nil {
		t.Fatal(err)
	}
	j := &job.Job{Models: []job.ModelRef{{Name: "A"}}, Metrics: []string{"confidence"}, Elements: []group.Element{{0}}}
	for _, r := range []job.Row{
		{Model: 1, Curves: [][]float32{{1}}},
		{Model: -1, Curves: [][]float32{{1}}},
		{Curves: [][]float32{{1}, {1}}},
		{Curves: [][]float32{{1, 1}}},
	} {
		if _, err := Fold(Input{
			Job: j, Group: g,
			Rows: func(int, int) iter.Seq2[job.Row, error] { return given(r) },
		}); err == nil {
			t.Errorf("row %+v was taken", r)
		}
	}
}

// Ten samples that are all perfect along the orbit leave room for others that are not: 0.025^(1/10) = 0.69150.
func TestEqualValuesAreNotCertainty(t *testing.T) {
	var rows []job.Row
	for i := range 10 {
		rows = append(rows, row(0, i, -1, []float32{1, 1, 1, 1}, []float32{0, 0, 0, 0}),
			row(1, i, -1, []float32{.5, .5, .5, .5}, []float32{0, 0, 0, 0}))
	}
	s := fold(t, nil, rows...)
	for _, e := range []Estimate{
		s.Curve(0, 0, 0).Orbit, s.Curve(0, 0, 0).Worst,
		{Lo: s.Curve(0, 0, 0).Lo[1], Hi: s.Curve(0, 0, 0).Hi[1]},
	} {
		if !(math.Abs(float64(e.Lo)-.69150) < 1e-4) || e.Hi != 1 {
			t.Errorf("ten times 1 in [%v, %v], want [0.6915, 1]", e.Lo, e.Hi)
		}
	}
	if e := s.Curve(1, 0, 0).Orbit; !(math.Abs(float64(e.Lo)-.69150/2) < 1e-4) ||
		!(math.Abs(float64(e.Hi)-(1-.69150/2)) < 1e-4) {
		t.Errorf("ten times 1/2 in [%v, %v], want [0.3458, 0.6542]", e.Lo, e.Hi)
	}
	if e := s.Curve(0, 1, 0).Orbit; e.Lo != 0 || e.Hi != 0 {
		t.Errorf("a metric without bounds: [%v, %v]", e.Lo, e.Hi)
	}
}

func TestModelsHaveTheSameSamples(t *testing.T) {
	g, err := catalog.Parse("C4")
	if err != nil {
		t.Fatal(err)
	}
	j := &job.Job{Models: make([]job.ModelRef, 2), Metrics: []string{"confidence"}, Elements: []group.Element{{0}}}
	one := job.Row{Curves: [][]float32{{1}}}
	other := one
	other.Model, other.Label = 1, 3
	if _, err := Fold(Input{
		Job: j, Group: g,
		Rows: Columns(func() iter.Seq2[job.Row, error] { return given(one, other) }),
	}); err == nil {
		t.Error("models with different samples were folded")
	}
}
