package shelf

import (
	"bytes"
	"encoding/json"
	"flag"
	"math"
	"os"
	"slices"
	"testing"

	"nero/measure/aggregate"
	"nero/measure/metric"
	"nero/run/fold"
)

var update = flag.Bool("update", false, "rewrite the cases that the page is held to")

const estimates = "../web/testdata/estimates.json"

// estimateCases are what the page, which works out sums of its own, is held to. Missing numbers and infinite ends are
// null.
type estimateCases struct {
	Metrics   []metricCase   `json:"metrics"`
	Estimates []estimateCase `json:"estimates"`
	Pairs     []pairCase     `json:"pairs"`
}

type metricCase struct {
	Name   string         `json:"name"`
	Range  [2]fold.Number `json:"range"`
	Better string         `json:"better"`
	Binary bool           `json:"binary"`
}

type estimateCase struct {
	What       string        `json:"what"`
	Metric     string        `json:"metric"`
	Confidence float64       `json:"confidence"`
	Values     []fold.Number `json:"values"`
	// how often the values are repeated, one list after the other
	Times   int           `json:"times"`
	Missing int           `json:"missing"`
	Want    fold.Estimate `json:"want"`
}

type pairCase struct {
	What       string        `json:"what"`
	Metric     string        `json:"metric"`
	Confidence float64       `json:"confidence"`
	A          []fold.Number `json:"a"`
	B          []fold.Number `json:"b"`
	Times      int           `json:"times"`
	Missing    int           `json:"missing"`
	Want       fold.Estimate `json:"want"`
	Verdict    string        `json:"verdict"`
}

// madeEstimates are the cases with what the functions of the server say of them.
func madeEstimates(t *testing.T) *estimateCases {
	t.Helper()
	find := func(name string) *metric.Metric {
		m, err := metric.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	out := &estimateCases{}
	for _, m := range append(slices.Clone(metric.Builtin()), metric.TopK(3), metric.TopK(10)) {
		if !slices.ContainsFunc(out.Metrics, func(c metricCase) bool { return c.Name == m.Name }) {
			out.Metrics = append(out.Metrics,
				metricCase{
					m.Name,
					[2]fold.Number{fold.Number(m.Range[0]), fold.Number(m.Range[1])},
					string(m.Better),
					m.Binary,
				})
		}
	}
	moments := func(values []fold.Number, times int) (o aggregate.Moments) {
		for range times {
			for i, v := range values {
				o.Add(float64(v), i)
			}
		}
		return o
	}
	one := func(what, name string, confidence float64, times int, values ...fold.Number) {
		m := find(name)
		if values == nil {
			values = []fold.Number{}
		}
		o := moments(values, times)
		out.Estimates = append(out.Estimates,
			estimateCase{what, name, confidence, values, times, o.NaN, fold.EstimateOf(o, m, m.Binary, confidence)})
	}
	nan := fold.Number(math.NaN())
	for _, name := range []string{"confidence", "margin", "relative", "accuracy"} {
		one("nothing", name, 0.95, 1)
		one("nothing but missing values", name, 0.95, 1, nan, nan)
		one("one value", name, 0.95, 1, 1)
		one("two equal values", name, 0.95, 1, 1, 1)
		one("three equal values", name, 0.9, 1, 0, 0, 0)
		one("a thousand equal values", name, 0.95, 1000, 1)
		one("some missing", name, 0.95, 1, 1, nan, 0, 1, nan)
	}
	for _, name := range []string{"accuracy", "flip", "agreement", "top3"} {
		one("all of them", name, 0.95, 12, 1)
		one("none of them", name, 0.95, 12, 0)
		one("some of them", name, 0.99, 1, 1, 0, 0, 1, 1, 0, 1)
		one("nearly all of forty", name, 0.95, 1, append(slices.Repeat([]fold.Number{1}, 39), 0)...)
		one("half of a thousand", name, 0.95, 500, 0, 1)
		one("one of a hundred", name, 0.95, 1, append(slices.Repeat([]fold.Number{0}, 99), 1)...)
	}
	one("three samples", "confidence", 0.95, 1, 0.25, 0.5, 0.625)
	one("three samples near the end of the range", "confidence", 0.95, 1, 0.9, 1, 0.98)
	one("two samples at both ends", "confidence", 0.95, 1, 0, 1)
	one("equal values inside the range", "confidence", 0.95, 1, 0.1, 0.1, 0.1)
	one("equal values at the upper end", "confidence", 0.95, 7, 1)
	one("a thousand", "confidence", 0.95, 250, 0.125, 0.5, 0.75, 0.8)
	one("a thousand of a metric with one end", "relative", 0.95, 250, 1e-6, 2, 0.75, 30)
	one("three of a metric with one end", "relative", 0.95, 1, 1e-6, 2, 0.75)
	one("equal values of a metric with one end", "relative", 0.95, 1, 0.3, 0.3, 0.3)
	one("differences of size", "margin", 0.5, 1, -0.9, 0.75, 0.2, 0.1, -0.3)

	two := func(what, name string, confidence float64, times int, a, b []fold.Number) {
		m := find(name)
		var o aggregate.Moments
		for range times {
			for i, v := range a {
				o.Add(float64(b[i]-v), i)
			}
		}
		e := fold.EstimateOf(o, differing(m), false, confidence)
		out.Pairs = append(out.Pairs, pairCase{what, name, confidence, a, b, times, o.NaN, e, verdict(m, e)})
	}
	// none is an empty list in JSON
	list := func(v ...fold.Number) []fold.Number { return append([]fold.Number{}, v...) }
	for _, name := range []string{"confidence", "margin", "relative", "accuracy", "flip"} {
		two("nothing", name, 0.95, 1, list(), list())
		two("one sample", name, 0.95, 1, list(0), list(1))
		two("no difference at all, of three", name, 0.95, 1, list(0, 1, 1), list(0, 1, 1))
		two("no difference at all, of many", name, 0.95, 200, list(0, 1, 1), list(0, 1, 1))
		two("the same difference each time, of three", name, 0.95, 1, list(0, 0, 0), list(1, 1, 1))
		two("the same difference each time, of fifty", name, 0.95, 50, list(0), list(1))
		two("the same difference each time, the other way", name, 0.95, 50, list(1), list(0))
		two("clear", name, 0.95, 10, list(0, 0, 1, 0), list(1, 1, 1, 1))
		two("not clear", name, 0.95, 1, list(0, 0, 1, 0), list(1, 0, 0, 1))
		two("missing on either side", name, 0.95, 1, list(0, nan, 0.5, 0), list(1, 1, nan, 0.75))
		two("two at both ends", name, 0.95, 1, list(0, 1), list(1, 0))
	}
	two("a little, a thousand times", "confidence", 0.95, 250, list(0.125, 0.5, 0.75, 0.8),
		list(0.126, 0.5, 0.755, 0.81))
	return out
}

// The cases that the page is held to as well are what the server says: run with -update after a change of the rules,
// and then the tests of the page.
func TestSharedEstimates(t *testing.T) {
	want := madeEstimates(t)
	if *update {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		lines := map[string][]any{
			"metrics": anys(want.Metrics), "estimates": anys(want.Estimates),
			"pairs": anys(want.Pairs),
		}
		b.WriteString("{")
		for i, k := range []string{"metrics", "estimates", "pairs"} {
			if i > 0 {
				b.WriteString(",")
			}
			b.WriteString("\n \"" + k + "\": [\n  ")
			for j, c := range lines[k] {
				if j > 0 {
					b.WriteString("  ,")
				}
				if err := e.Encode(c); err != nil {
					t.Fatal(err)
				}
			}
			b.WriteString(" ]")
		}
		b.WriteString("\n}\n")
		if err := os.WriteFile(estimates, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	raw, err := os.ReadFile(estimates)
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	var got estimateCases
	if err := d.Decode(&got); err != nil {
		t.Fatal(err)
	}
	if len(got.Metrics) != len(want.Metrics) || len(got.Estimates) != len(want.Estimates) ||
		len(got.Pairs) != len(want.Pairs) {
		t.Fatalf("%s has %d metrics, %d estimates and %d pairs, want %d, %d and %d; write it again with -update",
			estimates, len(got.Metrics), len(got.Estimates), len(got.Pairs), len(want.Metrics), len(want.Estimates),
			len(want.Pairs))
	}
	// As the file can say it: an infinity is null there.
	number := func(a, b fold.Number) bool {
		x, y := float64(a), float64(b)
		return math.IsNaN(x) && (math.IsNaN(y) || math.IsInf(y, 0)) || math.Abs(x-y) <= 1e-9*max(1, math.Abs(y))
	}
	estimate := func(a, b fold.Estimate) bool {
		return a.N == b.N && number(a.Mean, b.Mean) && number(a.SD, b.SD) && number(a.Lo, b.Lo) && number(a.Hi, b.Hi)
	}
	all := func(a, b []fold.Number) bool { return slices.EqualFunc(a, b, number) }
	for i, w := range want.Metrics {
		if g := got.Metrics[i]; g.Name != w.Name || g.Better != w.Better || g.Binary != w.Binary ||
			!number(g.Range[0], w.Range[0]) || !number(g.Range[1], w.Range[1]) {
			t.Errorf("metric %+v, want %+v", g, w)
		}
	}
	for i, w := range want.Estimates {
		if g := got.Estimates[i]; g.What != w.What || g.Metric != w.Metric || g.Confidence != w.Confidence ||
			g.Times != w.Times || g.Missing != w.Missing || !all(g.Values, w.Values) || !estimate(g.Want, w.Want) {
			t.Errorf("%s, %s: %+v, want %+v", w.Metric, w.What, g, w)
		}
	}
	for i, w := range want.Pairs {
		if g := got.Pairs[i]; g.What != w.What || g.Metric != w.Metric || g.Confidence != w.Confidence ||
			g.Times != w.Times || g.Missing != w.Missing || g.Verdict != w.Verdict || !all(g.A, w.A) ||
			!all(g.B, w.B) || !estimate(g.Want, w.Want) {
			t.Errorf("%s, %s: %+v, want %+v", w.Metric, w.What, g, w)
		}
	}
}

func anys[T any](list []T) []any {
	out := make([]any, len(list))
	for i, v := range list {
		out[i] = v
	}
	return out
}
