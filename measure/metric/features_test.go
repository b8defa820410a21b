package metric

import (
	"math"
	"math/rand/v2"
	"testing"

	"nero/data/space"
	"nero/internal/elementary"
)

// Of features that have nothing to do with the sample, the mean square of the ratio is 1: they are as far away as those
// of another one.
func TestFeatureRatio(t *testing.T) {
	const n, d = 400, 5
	r := rand.New(rand.NewPCG(2, 3))
	draw := func() *space.Scores {
		y := &space.Scores{}
		for range d {
			y.Val = append(y.Val, 7+2*elementary.Normal(r))
		}
		return y
	}
	s := 2 * math.Sqrt(d) // of normal numbers with the deviation 2, about their mean
	square, own := 0.0, 0.0
	for range n {
		x := draw()
		v := FeatureRatio.Measure(Case{Got: draw(), Want: x, Scale: s})
		square += v * v / n
		own = max(own, FeatureRatio.Measure(Case{Got: x, Want: x, Scale: s}))
	}
	// The deviation of the mean square is √(2/(n d)).
	if math.Abs(square-1) > 4*math.Sqrt(2.0/(n*d)) || own != 0 {
		t.Errorf("mean square %g, of features that stay %g", square, own)
	}
	if v := FeatureRatio.Measure(Case{Got: draw(), Want: draw(), Scale: 0}); !math.IsNaN(v) {
		t.Errorf("features that never vary: %g", v)
	}
}

// The cosine of features that are turned about their mean is that of the angle, however far from zero they lie.
func TestFeatureCosine(t *testing.T) {
	centre := []float64{300, -4}
	at := func(angle, long float64) *space.Scores {
		s, c := elementary.Sincos(angle)
		return &space.Scores{Val: []float64{centre[0] + float64(long*c), centre[1] + float64(long*s)}}
	}
	for _, angle := range []float64{0, 0.3, math.Pi / 2, 2, math.Pi} {
		_, want := elementary.Sincos(angle)
		for _, long := range []float64{1e-3, 1, 1e5} {
			v := FeatureCosine.Measure(Case{Got: at(0.7+angle, long), Want: at(0.7, 2), Centre: centre})
			if !(math.Abs(v-want) < 1e-9) || v > 1 || v < -1 {
				t.Errorf("turned by %g, of length %g: %g, want %g", angle, long, v, want)
			}
		}
	}
	// Rows have the mean of a row taken off: (1, 0) and (0, 1) against (1, 0) and (1, 0), over 2.
	rows := func(x ...float64) *space.Rows { return &space.Rows{N: 2, W: 2, Val: x} }
	c := Case{Got: rows(6, 5, 5, 6), Want: rows(6, 5, 6, 5), Centre: []float64{5, 5}}
	if v := FeatureCosine.Measure(c); math.Abs(v-0.5) > 1e-15 {
		t.Errorf("of rows: %g", v)
	}
	for name, c := range map[string]Case{
		"at the mean":        {Got: at(0, 0), Want: at(1, 1), Centre: centre},
		"no mean":            {Got: at(0, 1), Want: at(1, 1)},
		"mean of three":      {Got: at(0, 1), Want: at(1, 1), Centre: []float64{1, 2, 3}},
		"not finite":         {Got: &space.Scores{Val: []float64{math.NaN(), 1}}, Want: at(1, 1), Centre: centre},
		"infinite":           {Got: &space.Scores{Val: []float64{math.Inf(1), 1}}, Want: at(1, 1), Centre: centre},
		"of another length":  {Got: &space.Scores{Val: []float64{1}}, Want: at(1, 1), Centre: centre},
		"nothing to compare": {Want: at(1, 1), Centre: centre},
	} {
		if v := FeatureCosine.Measure(c); !math.IsNaN(v) {
			t.Errorf("%s: %g", name, v)
		}
	}
	within := OfField("pooled", FeatureCosine)
	record := func(v space.Value) space.Value {
		return &space.Record{Names: []string{"pooled"}, Values: []space.Value{v}}
	}
	if v := within.Measure(Case{
		Got: record(at(1, 3)), Want: record(at(1, 1)), Centres: map[string][]float64{"pooled": centre},
	}); !(math.Abs(v-1) < 1e-12) {
		t.Errorf("of a field: %g", v)
	}
}

// Features are held against no label; one other metric is enough for that.
func TestOnlyOfFeatures(t *testing.T) {
	for _, c := range []struct {
		names []string
		want  bool
	}{
		{[]string{"feature_ratio"}, true},
		{[]string{"feature_cosine", "feature_ratio"}, true},
		{[]string{"feature_ratio", "relative"}, false},
		{[]string{"no_such_metric"}, false},
		{nil, false},
	} {
		if got := OnlyOfFeatures(c.names); got != c.want {
			t.Errorf("%q: %v, want %v", c.names, got, c.want)
		}
	}
}
