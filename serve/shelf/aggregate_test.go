package shelf

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"nero/measure/aggregate"
	"nero/measure/metric"
	"nero/present/view"
	"nero/run/fold"
	"nero/run/job"
	"nero/serve/api"
)

// summarise says what package aggregate says.
func TestSummarise(t *testing.T) {
	counts := new(counter)
	check := func(t *rapid.T, values []float64, c column) {
		var m aggregate.Moments
		var s aggregate.Sketch
		for i, v := range values {
			m.Add(v, i)
			s.Add(v)
		}
		same := func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }
		near := func(a, b, size float64) bool { return math.Abs(a-b) <= 1e-12*size*float64(len(values)+1) }
		size := max(math.Abs(m.Min), math.Abs(m.Max), 1e-300)
		if c.N != m.N || c.Min != m.Min || c.Max != m.Max || !same(c.p10, s.Quantile(0.1)) ||
			!same(c.p90, s.Quantile(0.9)) {
			t.Fatalf("%v: %+v, want %+v, %v, %v", values, c, m, s.Quantile(0.1), s.Quantile(0.9))
		}
		if !near(c.Mean, m.Mean, size) || !near(c.M2, m.M2, size*size) {
			t.Fatalf("%v: mean %v, m2 %v, want %v, %v", values, c.Mean, c.M2, m.Mean, m.M2)
		}
	}
	number := rapid.OneOf(
		rapid.Map(rapid.Float32Range(-1, 1), func(v float32) float32 { return v }),
		rapid.Map(rapid.IntRange(0, 1), func(v int) float32 { return float32(v) }),
		rapid.Map(rapid.Float32(), func(v float32) float32 {
			if !finite(v) {
				return 0
			}
			return v
		}),
		rapid.SampledFrom([]float32{
			0, float32(math.Copysign(0, -1)), math.SmallestNonzeroFloat32,
			-math.SmallestNonzeroFloat32, 1e-40, math.MaxFloat32, -math.MaxFloat32,
		}),
	)
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SliceOfN(number, 0, 60).Draw(t, "values")
		w := rapid.SliceOfN(number, len(v), len(v)).Draw(t, "others")
		wide := make([]float64, len(v))
		apart := make([]float64, len(v))
		for i := range v {
			wide[i], apart[i] = float64(v[i]), float64(w[i])-float64(v[i])
		}
		check(t, wide, summarise(counts, slices.Clone(v)))
		check(t, apart, summarise(counts, slices.Clone(apart))) // differences, as pairs have
	})
}

// Intervals that are kept are those of package fold.
func TestIntervals(t *testing.T) {
	in := newIntervals()
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.SampledFrom([]*metric.Metric{
			metric.Confidence, metric.Accuracy, metric.Relative,
			freed(metric.Margin),
		}).Draw(t, "metric")
		var s aggregate.Moments
		for i := range rapid.IntRange(0, 8).Draw(t, "n") {
			v := rapid.SampledFrom([]float64{0, 1, 0.25, 0.5, 1e-9}).Draw(t, "value")
			if m.Binary {
				v = math.Round(v)
			}
			s.Add(v, i)
		}
		got, want := in.of(&s, m, m.Binary, 0.95), fold.EstimateOf(s, m, m.Binary, 0.95)
		if got.N != want.N || !close64(got.Mean, want.Mean) || !close64(got.SD, want.SD) || !close64(got.Lo, want.Lo) ||
			!close64(got.Hi, want.Hi) {
			t.Fatalf("%s: %+v, want %+v", m.Name, got, want)
		}
	})
}

func close64(a, b fold.Number) bool {
	x, y := float64(a), float64(b)
	return x == y || math.IsNaN(x) && math.IsNaN(y) || math.Abs(x-y) <= 1e-10*max(1, math.Abs(x), math.Abs(y))
}

func same64(a, b fold.Number) bool {
	return a == b || math.IsNaN(float64(a)) && math.IsNaN(float64(b))
}

// equalCurves holds a computed curve against that of package fold: bit for bit what is said to be, the rest but for
// rounding.
func equalCurves(t *testing.T, what string, got, want *fold.Curve) {
	t.Helper()
	// Of means that are equal but for rounding either may be the worst.
	tied := got.WorstElement == want.WorstElement || got.WorstElement >= 0 && want.WorstElement >= 0 &&
		close64(want.Mean[got.WorstElement], want.Mean[want.WorstElement])
	if !slices.Equal(got.N, want.N) || !slices.Equal(got.Bad, want.Bad) || !tied ||
		got.WorstSample != want.WorstSample ||
		got.WorstAt != want.WorstAt || !same64(got.WorstValue, want.WorstValue) || got.FirstBad != want.FirstBad ||
		got.BadAt != want.BadAt || got.Model != want.Model || got.Metric != want.Metric {
		t.Errorf("%s: %+v, want %+v", what, got, want)
	}
	for name, c := range map[string]struct {
		got, want []fold.Number
		equal     func(a, b fold.Number) bool
	}{
		"mean": {got.Mean, want.Mean, close64}, "sd": {got.SD, want.SD, close64}, "lo": {got.Lo, want.Lo, close64},
		"hi":  {got.Hi, want.Hi, close64},
		"p10": {got.P10, want.P10, same64}, "p90": {got.P90, want.P90, same64}, "min": {got.Min, want.Min, same64},
		"max": {got.Max, want.Max, same64},
	} {
		if !slices.EqualFunc(c.got, c.want, c.equal) {
			t.Errorf("%s: %s is %v, want %v", what, name, c.got, c.want)
		}
	}
	for name, c := range map[string][2]fold.Estimate{
		"orbit": {got.Orbit, want.Orbit}, "worst": {got.Worst, want.Worst},
		"change": {got.Change, want.Change}, "moved": {got.Moved, want.Moved},
	} {
		a, b := c[0], c[1]
		if a.N != b.N || !same64(a.Mean, b.Mean) || !same64(a.SD, b.SD) || !same64(a.Lo, b.Lo) || !same64(a.Hi, b.Hi) {
			t.Errorf("%s: %s is %+v, want %+v", what, name, a, b)
		}
	}
}

// A computed aggregate is that of package fold, over everything and over every class, and a stored one is the stored
// one.
func TestAggregateIsFold(t *testing.T) {
	weighted := small()
	weighted.weights, weighted.seed = true, 2
	shifts := small()
	shifts.group, shifts.grid, shifts.seed = "T(2)", []int{5, 5}, 3
	for name, m := range map[string]made{"circle": small(), "weights": weighted, "shifts": shifts} {
		r := one(t, m)
		sum := r.parts[0].fold(r.parts[0].at)
		if sum == nil || len(sum.Slices) != 4 {
			t.Fatalf("%s: no summary", name)
		}
		for k := range m.metrics {
			for s, sl := range sum.Slices {
				sets := []api.Set{{}, {Not: &api.Set{Indexes: []int{}}}}
				if sl.Label >= 0 {
					sets = []api.Set{{Label: &sl.Label}, {And: []api.Set{{Label: &sl.Label}}}}
				}
				for i, set := range sets {
					a, err := r.Aggregate(t.Context(), api.AggregateRequest{Set: set, Metric: k})
					if err != nil {
						t.Fatal(err)
					}
					if a.N != sl.N || a.Confidence != 0.9 || len(a.Curves) != 2 || len(a.Says) != 2 || a.Pair != nil {
						t.Fatalf("%s: %d samples with %v, %d curves, want %d", name, a.N, a.Confidence, len(a.Curves),
							sl.N)
					}
					if _, stored := r.stored(api.AggregateRequest{Set: set, Metric: k}); stored != (i == 0) {
						t.Errorf("%s: set %d is answered by the summary: %v", name, i, stored)
					}
					for c, says := range a.Says {
						want := view.SayerOf(sum, r.label).Says(sum.Models[c], sl.Label >= 0,
							func(i int) *fold.Curve { return sum.Curve(c, i, s) })
						// Of elements that are equally bad rounding chooses one.
						want, _, _ = strings.Cut(want, "; worst")
						if i == 1 && sl.Label < 0 {
							want = strings.Replace(want, " of ", " of the ", 1)
							want = strings.Replace(want, " inputs", " chosen inputs", 1)
						}
						if !strings.HasPrefix(says, want) || !strings.Contains(says, sum.Models[c]+" ") {
							t.Errorf("%s: set %d says %q, the summary %q", name, i, says, want)
						}
					}
					for c := range a.Curves {
						equalCurves(t, name+" "+m.metrics[k]+" "+sl.Name, &a.Curves[c], zeroSlice(sum.Curve(c, k, s)))
					}
				}
			}
		}
	}
}

func zeroSlice(c *fold.Curve) *fold.Curve {
	o := *c
	o.Slice = 0
	return &o
}

// The paired difference against one that is worked out value by value.
func TestPair(t *testing.T) {
	m := small()
	r := one(t, m)
	rule := api.Set{Rule: "index < 40"}
	for k, name := range m.metrics {
		a, err := r.Aggregate(t.Context(), api.AggregateRequest{
			Set: rule, Metric: k, Models: []int{1},
			Pair: []int{0, 1},
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(a.Curves) != 1 || a.Curves[0].Model != 1 || a.Pair == nil || a.Pair.A != 0 || a.Pair.B != 1 {
			t.Fatalf("%+v", a)
		}
		kind, err := metric.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		free := differing(kind)
		j := m.job(t)
		rows := m.rows(j, j.Shards()[0])
		for _, s := range j.Shards()[1:4] {
			rows = append(rows, m.rows(j, s)...)
		}
		var orbit aggregate.Moments
		at := make([]aggregate.Moments, len(j.Elements))
		sketches := make([]aggregate.Sketch, len(j.Elements))
		for i := range 40 {
			x := rows[slices.IndexFunc(rows, func(r job.Row) bool { return r.Model == 0 && r.Index == i })]
			y := rows[slices.IndexFunc(rows, func(r job.Row) bool { return r.Model == 1 && r.Index == i })]
			if x.Err != "" {
				continue
			}
			d, whole := 0.0, true
			for g := range x.Curves[k] {
				v, w := float64(x.Curves[k][g]), float64(y.Curves[k][g])
				if diff := w - v; !math.IsNaN(diff) && !math.IsInf(diff, 0) {
					at[g].Add(diff, i)
					sketches[g].Add(diff)
					d += diff
				} else {
					at[g].Add(math.NaN(), i)
					whole = false
				}
			}
			if !whole {
				d = math.NaN()
			}
			orbit.Add(d/float64(len(j.Elements)), i)
		}
		p := a.Pair
		want := fold.EstimateOf(orbit, free, false, 0.9)
		if p.Orbit.N != want.N || !close64(p.Orbit.Mean, want.Mean) || !close64(p.Orbit.Lo, want.Lo) ||
			!close64(p.Orbit.Hi, want.Hi) {
			t.Errorf("%s: %+v, want %+v", name, p.Orbit, want)
		}
		for g := range at {
			e := fold.EstimateOf(at[g], free, false, 0.9)
			if p.N[g] != e.N || !close64(p.Mean[g], e.Mean) || !close64(p.Lo[g], e.Lo) || !close64(p.Hi[g], e.Hi) ||
				!same64(p.P10[g], fold.Number(sketches[g].Quantile(0.1))) ||
				!same64(p.P90[g], fold.Number(sketches[g].Quantile(0.9))) {
				t.Errorf("%s, element %d: %v %v %v %v %v %v, want %+v", name, g, p.N[g], p.Mean[g], p.Lo[g], p.Hi[g],
					p.P10[g], p.P90[g], e)
			}
		}
		back, err := r.Aggregate(t.Context(), api.AggregateRequest{Set: rule, Metric: k, Pair: []int{1, 0}})
		if err != nil || !close64(back.Pair.Orbit.Mean, -p.Orbit.Mean) || !close64(back.Pair.Orbit.Lo, -p.Orbit.Hi) {
			t.Errorf("%s: %+v is not %+v turned around: %v", name, back.Pair.Orbit, p.Orbit, err)
		}
	}
}

func TestVerdictOfPair(t *testing.T) {
	for _, c := range []struct {
		better metric.Direction
		lo, hi fold.Number
		want   string
	}{
		{metric.Higher, 0.1, 0.2, "better"},
		{metric.Higher, -0.2, -0.1, "worse"},
		{metric.Lower, 0.1, 0.2, "worse"},
		{metric.Lower, -0.2, -0.1, "better"},
		{metric.Higher, -0.1, 0.1, "no clear difference"},
		{metric.Lower, 0, 0.1, "no clear difference"},
		{metric.Lower, fold.Number(math.NaN()), fold.Number(math.NaN()), "no clear difference"},
	} {
		if got := verdict(&metric.Metric{Better: c.better}, fold.Estimate{Lo: c.lo, Hi: c.hi}); got != c.want {
			t.Errorf("%s is better, [%v, %v]: %s, want %s", c.better, c.lo, c.hi, got, c.want)
		}
	}
}

// A handful of samples that all differ by the same does not make one sure: with three of them, a model that was wrong
// each time may still be the better one. The limit of three of three successes is the cube root of 0.025 (Clopper and
// Pearson 1934).
func TestFewPairsTellLittle(t *testing.T) {
	m, err := metric.Find("accuracy")
	if err != nil {
		t.Fatal(err)
	}
	few := func(n int) fold.Estimate {
		var o aggregate.Moments
		for i := range n {
			o.Add(1, i)
		}
		return fold.EstimateOf(o, differing(m), false, 0.95)
	}
	q := math.Cbrt(0.025)
	if e := few(3); math.Abs(float64(e.Lo)-(q-(1-q))) > 1e-9 || e.Hi != 1 || verdict(m, e) != "no clear difference" {
		t.Errorf("%+v is %s, want from %g on", e, verdict(m, e), 2*q-1)
	}
	if e := few(1); e.Lo != -1 || e.Hi != 1 {
		t.Errorf("of one sample: %+v, want all that is possible", e)
	}
	made := small()
	r := one(t, made)
	k := slices.Index(made.metrics, "accuracy")
	a, err := r.Aggregate(t.Context(), api.AggregateRequest{
		Set: api.Set{Rule: "index = 1"}, Metric: k,
		Pair: []int{0, 1},
	})
	if err != nil || a.Pair.Orbit.N != 1 || a.Pair.Orbit.Lo != -1 || a.Pair.Orbit.Hi != 1 || a.Pair.Lo[0] != -1 ||
		a.Pair.Hi[0] != 1 {
		t.Errorf("of one sample of a run: %+v, %v", a.Pair, err)
	}
	if e := few(50); verdict(m, e) != "better" {
		t.Errorf("%+v is %s", e, verdict(m, e))
	}
	for _, c := range [][4]float64{
		{0, 1, -1, 1},
		{0, math.Inf(1), math.Inf(-1), math.Inf(1)},
		{math.Inf(-1), math.Inf(1), math.Inf(-1), math.Inf(1)},
		{-2, 3, -5, 5},
	} {
		if d := differing(&metric.Metric{Range: [2]float64{c[0], c[1]}}); d.Range != [2]float64{c[2], c[3]} {
			t.Errorf("%v: %v", c, d.Range)
		}
	}
}

func TestAggregateRefuses(t *testing.T) {
	r := one(t, small())
	for _, q := range []api.AggregateRequest{
		{Metric: 4},
		{Metric: -1},
		{Models: []int{2}},
		{Pair: []int{0}},
		{Pair: []int{1, 1}},
		{Pair: []int{0, 2}},
		{Set: api.Set{Rule: "nothing"}},
		{Set: api.Set{Indexes: []int{57}}},
		{Set: api.Set{Bits: "AA=="}},
		{Set: api.Set{Slice: "none"}},
	} {
		if _, err := r.Aggregate(t.Context(), q); !errors.Is(err, ErrBad) && !errors.Is(err, ErrUnknown) {
			t.Errorf("%+v: %v", q, err)
		}
	}
	empty, err := r.Aggregate(t.Context(), api.AggregateRequest{Set: api.Set{Indexes: []int{}}, Pair: []int{0, 1}})
	if err != nil || empty.N != 0 || empty.Curves[0].WorstElement != -1 || empty.Curves[0].WorstAt != -1 ||
		empty.Pair.Verdict != "no clear difference" {
		t.Errorf("of nothing: %+v, %v", empty, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Aggregate(ctx, api.AggregateRequest{Set: api.Set{Indexes: []int{1}}}); !errors.Is(err,
		context.Canceled) {
		t.Errorf("a request that ended: %v", err)
	}
}
