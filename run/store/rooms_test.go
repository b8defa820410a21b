//go:build !race

// The race detector throws pooled buffers away at random.

package store_test

import (
	"path/filepath"
	"runtime"
	"testing"

	"nero/run/store"
	"nero/run/store/storetest"
)

// Completing and verifying a run of many shards takes no room of its own for each file: a merge of thousands would
// throw most of its memory away.
func TestChecksumsShareRoom(t *testing.T) {
	const shards, most = 64, 140 << 10
	j := storetest.Job(2*shards, 3, 1, 1, 2)
	dir := filepath.Join(t.TempDir(), "run")
	open := func() *store.Run {
		t.Helper()
		r, err := store.Create(dir, j, store.Options{Shared: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = r.Close() })
		return r
	}
	r := open()
	for _, s := range j.Shards() {
		if err := r.Commit(t.Context(), s, storetest.Rows(j, s), nil); err != nil {
			t.Fatal(err)
		}
	}
	took := func(f func() error) uint64 {
		t.Helper()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if err := f(); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		return (after.TotalAlloc - before.TotalAlloc) / shards
	}
	again := open() // as a merge does, which has made none of them
	if n := took(func() error { return again.Finish(t.Context(), nil) }); n > most {
		t.Errorf("to complete a run takes %d bytes a shard, want at most %d", n, most)
	}
	if n := took(func() error { return again.Verify(t.Context()) }); n > most/4 {
		t.Errorf("to verify a run takes %d bytes a shard, want at most %d", n, most/4)
	}
}
