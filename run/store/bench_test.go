package store_test

import (
	"path/filepath"
	"testing"

	"nero/run/job"
	"nero/run/store"
	"nero/run/store/storetest"
)

// BenchmarkCommit stores one shard of the digits study: 156 samples, 72 elements, 3 models, 6 metrics.
func BenchmarkCommit(b *testing.B) {
	j := storetest.Job(156, 72, 3, 6, 156)
	rows := storetest.Rows(j, j.Shards()[0])
	for b.Loop() {
		r, err := store.Create(filepath.Join(b.TempDir(), "run"), j, store.Options{})
		if err != nil {
			b.Fatal(err)
		}
		if err := r.Commit(b.Context(), j.Shards()[0], rows, nil); err != nil {
			b.Fatal(err)
		}
		if err := r.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCurves reads one metric of one model of the digits study: 10,000 samples, 72 elements, checksums done.
func BenchmarkCurves(b *testing.B) {
	r := digits(b)
	if err := r.Verify(b.Context()); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := r.Curves(1, "metric-3"); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRows reads every row of the digits study.
func BenchmarkRows(b *testing.B) {
	r := digits(b)
	for b.Loop() {
		for _, err := range r.Rows(store.Filter{}) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}

func digits(b *testing.B) *store.Run {
	b.Helper()
	j := storetest.Job(10_000, 72, 3, 6, job.ShardSize(10_000, 72, 3))
	dir := filepath.Join(b.TempDir(), "run")
	if err := storetest.Write(b.Context(), dir, j, store.Options{}); err != nil {
		b.Fatal(err)
	}
	r, err := store.Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	return r
}
