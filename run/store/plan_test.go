package store_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"nero/run/job"
	"nero/run/store"
	"nero/run/store/storetest"
)

// A plan is read back for its job alone, and goes when the run is complete.
func TestPlan(t *testing.T) {
	j := storetest.Job(6, 3, 1, 1, 2)
	dir := filepath.Join(t.TempDir(), "run")
	if _, err := store.Planned(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of no folder: %v", err)
	}
	r, err := store.Create(dir, j, store.Options{Shared: true})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close() //nolint:errcheck // nothing is lost
	var got map[string]float64
	if store.ReadPlan(dir, r.Hash(), &got) {
		t.Error("a plan that nobody wrote")
	}
	if err := r.PutPlan(map[string]float64{"scale": 1.0 / 3}); err != nil {
		t.Fatal(err)
	}
	if !store.ReadPlan(dir, r.Hash(), &got) || got["scale"] != 1.0/3 {
		t.Errorf("read %v", got)
	}
	if store.ReadPlan(dir, "another", &got) {
		t.Error("the plan of another job was read")
	}
	name := filepath.Join(dir, ".plan.json")
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for i := range b { // one changed byte anywhere is damage
		bad := append([]byte{}, b...)
		if bad[i] ^= 1; os.WriteFile(name, bad, 0o666) != nil || store.ReadPlan(dir, r.Hash(), &got) {
			t.Fatalf("read with byte %d changed", i)
		}
	}
	for _, s := range j.Shards() {
		if err := r.Commit(t.Context(), s, storetest.Rows(j, s), nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Finish(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after the run: %v", err)
	}
	if p, err := store.Planned(dir); err != nil || p.Count != 6 {
		t.Errorf("planned: %v, %v", p, err)
	}
	// One that a process left that died right after the manifest goes with the next that writes.
	if err := errors.Join(os.WriteFile(name, b, 0o666), r.Close()); err != nil {
		t.Fatal(err)
	}
	again, err := store.Create(dir, j, store.Options{Shared: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) || !again.Complete() {
		t.Errorf("opened again: complete %v, %v", again.Complete(), err)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
}

// Kept tells of shards as they come, and of each once to those who know the others.
func TestKept(t *testing.T) {
	j := storetest.Job(6, 3, 1, 1, 2)
	dir := filepath.Join(t.TempDir(), "run")
	r, err := store.Create(dir, j, store.Options{Shared: true})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close() //nolint:errcheck // nothing is lost
	all := j.Shards()
	known := map[int]bool{}
	for _, i := range []int{2, 0} {
		rows := storetest.Rows(j, all[i])
		for k := range rows {
			rows[k].Err = ""
		}
		rows[0].Err = "broken"
		if err := r.Commit(t.Context(), all[i], rows, nil); err != nil {
			t.Fatal(err)
		}
		got := r.Kept(known)
		if len(got) != 1 || got[0].Shard != all[i] || got[0].Failed != 1 || got[0].At.IsZero() {
			t.Errorf("kept %+v", got)
		}
		known[i] = true
	}
	if got := r.Kept(nil); len(got) != 2 {
		t.Errorf("kept %+v", got)
	}
}

// What is left unfinished goes when it is old: somebody may still be writing the rest.
func TestSweepBefore(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	r, err := store.Create(dir, storetest.Job(6, 3, 1, 1, 2), store.Options{Shared: true})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close() //nolint:errcheck // nothing is lost
	now := time.Now()
	for name, age := range map[string]time.Duration{".tmp-old": 25 * time.Hour, ".tmp-young": time.Hour} {
		at := filepath.Join(dir, name)
		if err := errors.Join(os.WriteFile(at, nil, 0o666), os.Chtimes(at, now, now.Add(-age))); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.SweepBefore(now.Add(-24 * time.Hour)); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, ".tmp-old")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("old: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, ".tmp-young")); err != nil {
		t.Errorf("young: %v", err)
	}
}

// Of those who share a folder none writes its own paths over those of the others; who has it alone does.
func TestSharedPaths(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	at := func(path string) *job.Job {
		j := storetest.Job(6, 3, 1, 1, 2)
		j.Models[0].Path = path
		return j
	}
	for _, c := range []struct {
		path   string
		shared bool
		want   string
	}{{"here.onnx", true, "here.onnx"}, {"there.onnx", true, "here.onnx"}, {"there.onnx", false, "there.onnx"}} {
		r, err := store.Create(dir, at(c.path), store.Options{Shared: c.shared})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		if j, err := store.Planned(dir); err != nil || j.Models[0].Path != c.want {
			t.Errorf("%+v: %v, %v", c, j.Models[0].Path, err)
		}
	}
}
