package store_test

import (
	"os"
	"path/filepath"
	"testing"

	"nero/run/store"
	"nero/run/store/storetest"
)

// Who writes a run says so while it lives, and leaves nothing behind.
func TestWriter(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	if _, writes := store.Writer(dir); writes {
		t.Error("a folder that is not there is written")
	}
	j := storetest.Job(10, 4, 1, 1, 5)
	r, err := store.Create(dir, j, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if p, writes := store.Writer(dir); !writes || p != (store.Progress{}) {
		t.Errorf("before anything was said: %+v, %v", p, writes)
	}
	for _, want := range []store.Progress{
		{By: "nero demo", Since: 1_000, At: 1_500, Done: 123, Total: 4_000},
		{By: "nero", Since: 1_000, At: 2_000, Done: 7, Total: 4_000}, // shorter than what was there
	} {
		if err := r.Tell(want); err != nil {
			t.Fatal(err)
		}
		if p, writes := store.Writer(dir); !writes || p != want {
			t.Errorf("%+v, %v; said was %+v", p, writes, want)
		}
	}
	// What a file says counts only while its writer lives, and only if it makes sense.
	lock := filepath.Join(dir, ".lock")
	left, err := os.ReadFile(lock)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Tell(store.Progress{By: "x", Done: 5, Total: 4}); err != nil {
		t.Fatal(err)
	}
	if p, writes := store.Writer(dir); !writes || p != (store.Progress{}) {
		t.Errorf("more done than there is: %+v, %v", p, writes)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(lock); err == nil {
		t.Error("the writer left its file")
	}
	if err := os.WriteFile(lock, left, 0o600); err != nil { // as a process leaves it that is killed
		t.Fatal(err)
	}
	if p, writes := store.Writer(dir); writes {
		t.Errorf("nobody writes, and still %+v", p)
	}
	next, err := store.Create(dir, j, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if p, writes := store.Writer(dir); !writes || p != (store.Progress{}) {
		t.Errorf("what the last one said: %+v, %v", p, writes)
	}
	if err := next.Close(); err != nil {
		t.Fatal(err)
	}

	// Tasks of an array write together: that somebody writes is known, and no more.
	one, err := store.Create(dir, j, store.Options{Shared: true})
	if err != nil {
		t.Fatal(err)
	}
	defer one.Close() //nolint:errcheck // nothing was written
	if err := one.Tell(store.Progress{By: "one of many", Total: 1}); err != nil {
		t.Fatal(err)
	}
	if p, writes := store.Writer(dir); !writes || p != (store.Progress{}) {
		t.Errorf("%+v, %v", p, writes)
	}
}
