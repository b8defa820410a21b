package shelf

import (
	"errors"
	"math"
	"path/filepath"
	"testing"

	"nero/serve/api"
)

// Shares are those that counting by hand gives, sum to one, and lead to a sample and an element at which it happens.
func TestTurns(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	small().write(t, dir)
	r := run(t, opened(t, Options{}, dir), "run")
	info, err := r.info()
	if err != nil {
		t.Fatal(err)
	}
	for _, against := range []string{"truth", "self"} {
		for m := range r.Models() {
			got, err := r.Turns(t.Context(), api.TurnsRequest{Model: m, Against: against})
			if err != nil {
				t.Fatal(err)
			}
			top, err := r.Top(m)
			if err != nil {
				t.Fatal(err)
			}
			of := func(i int) int {
				if against == "truth" {
					return int(info.labels[i])
				}
				return int(top[i*r.e+r.identity])
			}
			total := map[int]float64{}
			for _, e := range got.Entries {
				sum, n := 0.0, 0
				for i := range r.n {
					if of(i) != e.From || info.failed.Has(i) {
						continue
					}
					n++
					all := 0.0
					part := 0.0
					for g := range r.e {
						if c := int(top[i*r.e+g]); g != r.identity && c >= 0 {
							w := 1.0
							if r.job.Weights != nil {
								w = r.job.Weights[g]
							}
							if all += w; c == e.To {
								part += w
							}
						}
					}
					sum += part / all
				}
				if math.Abs(sum/float64(n)-float64(e.Share)) > 1e-12 || !(e.Lo <= e.Share && e.Share <= e.Hi) {
					t.Errorf("%s: %+v, counted %g", against, e, sum/float64(n))
				}
				if of(e.Sample) != e.From || int(top[e.Sample*r.e+e.Element]) != e.To {
					t.Errorf("%s: sample %d is no %d that becomes %d at element %d", against, e.Sample, e.From, e.To,
						e.Element)
				}
				total[e.From] += float64(e.Share)
			}
			if len(got.From) == 0 || len(got.From) != len(total) {
				t.Errorf("%d classes, %d with entries", len(got.From), len(total))
			}
			for c, s := range total {
				if math.Abs(s-1) > 1e-9 {
					t.Errorf("shares of class %d sum to %g", c, s)
				}
			}
		}
	}
	if _, err := r.Turns(t.Context(), api.TurnsRequest{Model: 99}); !errors.Is(err, ErrBad) {
		t.Errorf("%v", err)
	}
}

// The table of models says what aggregates say.
func TestModelTable(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	m := small()
	m.write(t, dir)
	r := run(t, opened(t, Options{}, dir), "run")
	got, err := r.ModelTable(t.Context(), api.ModelsRequest{Base: 1})
	if err != nil || len(got.Rows) != len(m.models)*len(m.metrics) {
		t.Fatalf("%d rows, %v", len(got.Rows), err)
	}
	for _, row := range got.Rows {
		a, err := r.Aggregate(t.Context(), api.AggregateRequest{Metric: row.Metric})
		if err != nil {
			t.Fatal(err)
		}
		c := a.Curves[row.Model]
		if row.Orbit != c.Orbit || row.Rest.Mean != c.Mean[r.identity] || (row.Difference == nil) != (row.Model == 1) {
			t.Errorf("%+v", row)
		}
		if row.Difference != nil && row.Verdict == "" {
			t.Errorf("no verdict: %+v", row)
		}
	}
}

// What is found opens as the slice that it was found as.
func TestSearchOfRun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	m := small()
	m.samples = 200
	m.write(t, dir)
	r := run(t, opened(t, Options{}, dir), "run")
	for _, of := range []string{"mean", "change"} {
		got, err := r.Search(t.Context(), api.SearchRequest{Of: of})
		if err != nil || got.Tried == 0 || len(got.Notes) == 0 { // inputs cannot be asked, which is said
			t.Fatalf("%+v, %v", got, err)
		}
		stats, err := r.Stats(0, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range got.Slices {
			bits, err := r.Select(s.Set)
			if err != nil {
				t.Fatalf("%v: %v", s, err)
			}
			sum, n := 0.0, 0
			for i := range bits.All() {
				if v := stats.orbit[i]; !math.IsNaN(v) {
					sum += v
					n++
				}
			}
			if of == "mean" && (math.Abs(sum/float64(n)-float64(s.Mean)) > 1e-9 || n != s.N) ||
				!(s.Lo <= s.Gap && s.Gap <= s.Hi) || !(s.P > 0 && s.P <= 1) {
				t.Errorf("%s: %+v, the slice has %d of mean %g", of, s, n, sum/float64(n))
			}
		}
	}
}
