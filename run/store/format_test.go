package store_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nero/internal/seal"
	"nero/run/job"
	"nero/run/store"
	"nero/run/store/storetest"
)

var update = flag.Bool("update", false,
	"write the run of the current format anew; never needed for a format that was released")

// golden is the job of the runs in testdata. It must not change.
func golden() *job.Job { return storetest.Job(14, 4, 2, 2, 6) }

// large is golden as a large job is kept: files in a table, and no cells. It must not change.
func large() *job.Job {
	j := golden()
	j.Format = job.FormatLarge
	j.Files = nil
	for i := range 14 {
		sum := sha256.Sum256([]byte{byte(i)})
		j.Files = append(j.Files, job.Ref{
			Path: fmt.Sprintf("/photos/%d/ä%d.png", i%2, i), SHA256: hex.EncodeToString(sum[:]),
		})
		n := int32(i)
		j.Heads = append(j.Heads, job.Head{Channels: 3, Height: 224, Width: 200 + n, Depth: 8, Turn: n % 9})
	}
	j.Heads[3], j.Heads[4] = job.Head{}, job.Head{Channels: 1, Height: 1, Width: 1, Depth: 16, Either: true}
	j.Table = &job.Table{Count: len(j.Files), SHA256: job.FilesDigest(j.Files)}
	return j
}

// TestFormat1 opens a run that was written when format 1 was made: it must stay readable, and today's program must
// write the same bytes.
func TestFormat1(t *testing.T) { formatted(t, "testdata/format1", golden()) }

// TestFormat2 does so with a run that was written when format 2 was made.
func TestFormat2(t *testing.T) {
	const dir = "testdata/format2"
	formatted(t, dir, large())
	j, err := store.Planned(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := large()
	if !slices.Equal(j.Files, want.Files) || !slices.Equal(j.Heads, want.Heads) {
		t.Errorf("files %v, heads %v", j.Files, j.Heads)
	}
	text, err := os.ReadFile(filepath.Join(dir, "job.json"))
	if err != nil || strings.Contains(string(text), "photos") {
		t.Errorf("the job names its files, %v", err)
	}
	marker, err := pick(dir, "marker")
	if err != nil {
		t.Fatal(err)
	}
	if text, err = os.ReadFile(marker); err != nil || strings.Contains(string(text), "cells") {
		t.Errorf("a marker has cells, %v", err)
	}
}

// formatted holds a run of a format against what is written today.
func formatted(t *testing.T, dir string, j *job.Job) {
	t.Helper()
	if *update {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		if err := storetest.Write(t.Context(), dir, j, store.Options{}); err != nil {
			t.Fatal(err)
		}
		if j.Format == job.FormatSmall {
			unseal(t, filepath.Join(dir, "manifest.json"))
		}
	}
	r, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if !r.Complete() {
		t.Error("it is not complete")
	}
	if err := r.Verify(t.Context()); err != nil {
		t.Error(err)
	}
	if d := r.Job().Diff(j); len(d) > 0 {
		t.Errorf("its job is read as another one: %v", d)
	}
	n := 0
	for row, err := range r.Rows(store.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		s := j.Shards()[row.Index/j.Shard]
		if want := storetest.Rows(j, s)[row.Model*(s.Hi-s.Lo)+row.Index-s.Lo]; !sameRow(row, want) {
			t.Errorf("model %d, sample %d: %+v, want %+v", row.Model, row.Index, row, want)
		}
		n++
	}
	if n != j.Count*len(j.Models) {
		t.Errorf("%d rows", n)
	}
	moments, err := r.Moments()
	if err != nil || len(moments) != 2*2*4 || moments[0].N+moments[0].NaN != j.Count {
		t.Errorf("moments %v, %v", moments, err)
	}
	again := filepath.Join(t.TempDir(), "run")
	if err := storetest.Write(t.Context(), again, j, store.Options{}); err != nil {
		t.Fatal(err)
	}
	got := storetest.Snapshot(t, again)
	plain, sealed, err := seal.Open([]byte(got["manifest.json"])) // which came later, and is asked for only where it is
	if err != nil || !sealed {
		t.Errorf("the seal of the manifest: %v, %v", sealed, err)
	}
	if j.Format == job.FormatSmall {
		got["manifest.json"] = string(plain)
	}
	storetest.Equal(t, got, storetest.Snapshot(t, dir))
}

// unseal takes the seal off a manifest, which came later.
func unseal(t *testing.T, name string) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if b, _, err = seal.Open(b); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

func pick(dir, name string) (string, error) {
	pattern := filepath.Join(dir, name)
	switch name {
	case "marker":
		pattern = filepath.Join(dir, "shards-*", "00001.json")
	case "rows":
		pattern = filepath.Join(dir, "shards-*", "00001.parquet")
	}
	m, err := filepath.Glob(pattern)
	if err != nil || len(m) == 0 {
		return "", errors.New("no " + pattern)
	}
	return m[0], nil
}

// TestMarker reads a marker as another program would, by the description in FORMAT.md.
func TestMarker(t *testing.T) {
	path, err := pick("testdata/format1", "marker")
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var m struct {
		Format int
		Job    string
		Shard  struct{ Index, Lo, Hi int }
		Rows   int
		Failed int
		Cells  struct {
			N, NaN, ArgMin, ArgMax []int
			Mean, M2, Min, Max     []any
		}
	}
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	j := golden()
	hash, err := j.Hash()
	if err != nil {
		t.Fatal(err)
	}
	if m.Format != 1 || m.Job != hash || m.Shard.Index != 1 || m.Shard.Lo != 6 || m.Shard.Hi != 12 || m.Rows != 12 {
		t.Errorf("%+v", m)
	}
	for model := range 2 {
		for metric := range 2 {
			for g := range 4 {
				n, least := 0, math.Inf(1)
				for _, r := range storetest.Rows(j, j.Shards()[1]) {
					if x := float64(r.Curves[metric][g]); r.Model == model && x == x {
						n++
						least = min(least, x)
					}
				}
				i := (model*2+metric)*4 + g
				if m.Cells.N[i] != n || m.Cells.NaN[i] != 6-n || m.Cells.Min[i] != least {
					t.Errorf("cell %d: %d numbers with least %v, want %d and %v", i, m.Cells.N[i], m.Cells.Min[i], n,
						least)
				}
			}
		}
	}
}
