package shelf

import (
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"testing"

	"nero/run/job"
	"nero/run/store"
	"nero/serve/api"
)

// large writes a run of plain numbers fast: no holes, values as a model's confidence and correctness.
func large(b *testing.B, samples, elements, models int) string {
	b.Helper()
	m := made{
		samples: samples, models: []string{"a", "b"}[:models], metrics: []string{"confidence", "accuracy"},
		group: "SO(2)", grid: []int{elements},
		shard: job.ShardSize(samples, elements, models), seed: 1,
	}
	if elements == 4225 {
		m.group, m.grid = "T(2)", []int{65, 65}
	}
	j := m.job(b)
	dir := filepath.Join(b.TempDir(), "run")
	w, err := store.Create(dir, j, store.Options{FS: unsynced{}})
	if err != nil {
		b.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for _, s := range j.Shards() {
		var rows []job.Row
		for at := range j.Models {
			for i := s.Lo; i < s.Hi; i++ {
				row := job.Row{
					Model: at, Index: i, Sample: "images/" + string(rune('a'+i%26)) + "/00001234.png",
					Label: i % 10,
				}
				c, a, top := make([]float32, elements), make([]float32, elements), make([]int32, elements)
				hard := r.Float32()
				for g := range c {
					if c[g] = 1 - hard*r.Float32(); c[g] > 0.5 {
						a[g] = 1
					}
					top[g] = int32(r.IntN(10))
				}
				row.Curves, row.Top = [][]float32{c, a}, top
				rows = append(rows, row)
			}
		}
		if err := w.Commit(b.Context(), s, rows, nil); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Finish(b.Context(), nil); err != nil {
		b.Fatal(err)
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	return dir
}

func shelved(b *testing.B, dir string) *Run {
	b.Helper()
	return run(b, opened(b, Options{}, dir), "run")
}

// What it takes until everything of 100,000 samples x 72 elements x 2 models x 2 metrics is in memory, and how much
// that is.
func BenchmarkOpen(b *testing.B) {
	if testing.Short() {
		b.Skip("writes a large run")
	}
	dir := large(b, 100_000, 72, 2)
	var m runtime.MemStats
	peak := uint64(0)
	for b.Loop() {
		s, err := Open(b.Context(), []string{dir}, Options{})
		if err != nil {
			b.Fatal(err)
		}
		r := run(b, s, "run")
		if _, err := r.Samples(); err != nil {
			b.Fatal(err)
		}
		for at := range r.models {
			for k := range r.metrics {
				if _, err := r.Stats(at, k); err != nil {
					b.Fatal(err)
				}
			}
			if _, err := r.Top(at); err != nil {
				b.Fatal(err)
			}
		}
		_ = r.Document()
		runtime.ReadMemStats(&m)
		peak = max(peak, m.HeapAlloc)
		b.StopTimer()
		runtime.GC()
		runtime.ReadMemStats(&m)
		b.ReportMetric(float64(m.HeapAlloc)/1e6, "live-MB")
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
		runtime.KeepAlive(r)
		b.StartTimer()
	}
	b.ReportMetric(float64(peak)/1e6, "peak-MB")
}

func BenchmarkAggregate(b *testing.B) {
	for _, c := range []struct {
		name              string
		samples, elements int
	}{{"10000x72", 10_000, 72}, {"100000x72", 100_000, 72}, {"10000x4225", 10_000, 4225}} {
		if testing.Short() && c.samples*c.elements > 1e6 {
			continue
		}
		models := 2
		if c.elements == 4225 {
			models = 1
		}
		dir := large(b, c.samples, c.elements, models)
		for _, q := range []struct {
			name string
			ask  api.AggregateRequest
		}{
			{"confidence", api.AggregateRequest{Models: []int{0}}},
			{"accuracy", api.AggregateRequest{Models: []int{0}, Metric: 1}},
			{"half", api.AggregateRequest{Models: []int{0}, Set: api.Set{Rule: "mean A < 0.75"}}},
			{"pair", api.AggregateRequest{Models: []int{}, Pair: []int{0, 1}}},
		} {
			b.Run(c.name+"/"+q.name, func(b *testing.B) {
				if q.ask.Pair != nil && models == 1 {
					b.Skip("of one model")
				}
				r := shelved(b, dir)
				if _, err := r.Aggregate(b.Context(), q.ask); err != nil {
					b.Fatal(err)
				}
				for b.Loop() {
					if _, err := r.Aggregate(b.Context(), q.ask); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkSelect(b *testing.B) {
	if testing.Short() {
		b.Skip("writes a large run")
	}
	r := shelved(b, large(b, 100_000, 8, 2))
	bits, err := r.Select(api.Set{Rule: "mean A < 0.6"})
	if err != nil {
		b.Fatal(err)
	}
	lasso := bits.String()
	six := 6
	for name, set := range map[string]api.Set{
		"rule": {Rule: "mean A < 0.6 and not (predicted B = label or spread A > 0.1) or label in (1, 2, 3) and max A " +
			"- min B > 0.5"},
		"text": {Rule: `id ~ "/c/" or id = "x"`}, "lasso": {Bits: lasso}, "class": {Label: &six},
		"and": {And: []api.Set{{Bits: lasso}, {Label: &six}, {Not: &api.Set{Rule: "index < 50000"}}}},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := r.Select(set); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
