package store_test

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"nero/internal/disk"
	"nero/internal/disk/disktest"
	"nero/measure/aggregate"
	"nero/run/job"
	"nero/run/store"
	"nero/run/store/storetest"
)

func TestFaults(t *testing.T) {
	storetest.Test(t, disk.OS{}, syscall.ENOSPC)
}

// write makes a finished run and opens it.
func write(t *testing.T, j *job.Job) (string, *store.Run) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	if err := storetest.Write(t.Context(), dir, j, store.Options{}); err != nil {
		t.Fatal(err)
	}
	r, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return dir, r
}

// same compares numbers bit by bit, with all NaN equal.
func same(a, b float32) bool {
	return math.Float32bits(a) == math.Float32bits(b) || a != a && b != b
}

func sameRow(a, b job.Row) bool {
	return a.Model == b.Model && a.Index == b.Index && a.Sample == b.Sample && a.Label == b.Label && a.Err == b.Err &&
		slices.Equal(a.Tags, b.Tags) && slices.Equal(a.Top, b.Top) && (a.Top == nil) == (b.Top == nil) &&
		slices.EqualFunc(a.Curves, b.Curves, func(x, y []float32) bool { return slices.EqualFunc(x, y, same) }) &&
		same(a.Support, b.Support) && same(a.Agreement, b.Agreement) && (a.Boxes == nil) == (b.Boxes == nil) &&
		slices.EqualFunc(a.Boxes, b.Boxes,
			func(x, y []job.Detection) bool { return slices.EqualFunc(x, y, sameBox) }) &&
		slices.EqualFunc(a.Truths, b.Truths, slices.Equal) && (a.Pixels == nil) == (b.Pixels == nil) &&
		slices.EqualFunc(a.Pixels, b.Pixels, slices.Equal)
}

func sameBox(a, b job.Detection) bool {
	return same(a.X1, b.X1) && same(a.Y1, b.Y1) && same(a.X2, b.X2) && same(a.Y2, b.Y2) && same(a.Angle, b.Angle) &&
		same(a.Score, b.Score) &&
		a.Label == b.Label && a.Match == b.Match
}

func TestRoundTrip(t *testing.T) {
	for name, j := range map[string]*job.Job{
		"usual":       storetest.Job(60, 8, 2, 3, 13),
		"one of each": storetest.Job(1, 1, 1, 1, 1),
		"groups":      storetest.Job(4, 80_000, 1, 1, 4), // three rows to a row group
		"empty":       storetest.Job(0, 4, 1, 1, 5),
		"boxes":       storetest.Boxes(40, 9, 2, 1, 11),
		"box groups":  storetest.Boxes(4, 20_000, 1, 1, 4),
		"pixels":      storetest.Masks(40, 9, 2, 1, 11),
	} {
		t.Run(name, func(t *testing.T) {
			_, r := write(t, j)
			var want []job.Row
			for _, s := range j.Shards() {
				want = append(want, storetest.Rows(j, s)...)
			}
			i := 0
			for row, err := range r.Rows(store.Filter{Boxes: true, Pixels: true}) {
				if err != nil {
					t.Fatal(err)
				}
				if i >= len(want) || !sameRow(row, want[i]) {
					t.Fatalf("row %d (model %d, sample %d) is not what was written", i, row.Model, row.Index)
				}
				i++
			}
			if i != len(want) {
				t.Errorf("%d rows, expected %d", i, len(want))
			}
			if err := r.Verify(t.Context()); err != nil {
				t.Error(err)
			}
			if !r.Complete() || r.Manifest().Rows != len(want) {
				t.Errorf("manifest %+v", r.Manifest())
			}
			for m := range j.Models {
				for k, metric := range j.Metrics {
					c, err := r.Curves(m, metric)
					if err != nil {
						t.Fatal(err)
					}
					if len(c.Index) != j.Count {
						t.Fatalf("%d curves, expected %d", len(c.Index), j.Count)
					}
					for _, row := range want {
						if row.Model == m && !slices.EqualFunc(c.Curve(row.Index), row.Curves[k], same) {
							t.Fatalf("model %d, metric %s, sample %d: other curve", m, metric, row.Index)
						}
					}
				}
			}
		})
	}
}

func TestFilter(t *testing.T) {
	j := storetest.Job(30, 5, 3, 3, 7)
	_, r := write(t, j)
	all := map[[2]int]job.Row{}
	for _, s := range j.Shards() {
		for _, row := range storetest.Rows(j, s) {
			all[[2]int{row.Model, row.Index}] = row
		}
	}
	n := 0
	for row, err := range r.Rows(store.Filter{
		Models: []int{2, 0}, Metrics: []string{"metric-2", "metric-0"}, Lo: 5,
		Hi: 22,
	}) {
		if err != nil {
			t.Fatal(err)
		}
		want := all[[2]int{row.Model, row.Index}]
		want.Curves = [][]float32{want.Curves[2], want.Curves[0]}
		if row.Model == 1 || row.Index < 5 || row.Index >= 22 || !sameRow(row, want) {
			t.Fatalf("model %d, sample %d should not be there, or is different", row.Model, row.Index)
		}
		n++
	}
	if n != 2*17 {
		t.Errorf("%d rows, expected 34", n)
	}
	bare := 0
	for row, err := range r.Rows(store.Filter{Models: []int{0}, NoTop: true}) {
		if err != nil {
			t.Fatal(err)
		}
		want := storetest.Rows(j, job.Shard{Lo: row.Index, Hi: row.Index + 1})[0]
		if row.Top != nil || row.Sample != want.Sample || row.Err != want.Err || len(row.Curves) != len(want.Curves) {
			t.Fatalf("sample %d without classes: top %v, sample %q, error %q, %d curves", row.Index, row.Top,
				row.Sample, row.Err, len(row.Curves))
		}
		bare++
	}
	if bare != j.Count {
		t.Errorf("%d rows without classes, want %d", bare, j.Count)
	}
	for row, err := range r.Rows(store.Filter{Metrics: []string{}}) {
		if err != nil || len(row.Curves) != 0 {
			t.Fatalf("%v, %d curves", err, len(row.Curves))
		}
		break // stopping early must be possible
	}
	for _, f := range []store.Filter{{Models: []int{3}}, {Models: []int{-1}}, {Metrics: []string{"other"}}} {
		for _, err := range r.Rows(f) {
			if err == nil {
				t.Errorf("%+v is accepted", f)
			}
		}
	}
	if _, err := r.Curves(0, "other"); err == nil {
		t.Error("an unknown metric is accepted")
	}
}

func TestMoments(t *testing.T) {
	j := storetest.Job(40, 6, 2, 2, 9)
	_, r := write(t, j)
	got, err := r.Moments()
	if err != nil {
		t.Fatal(err)
	}
	for m := range j.Models {
		for k := range j.Metrics {
			for g := range j.Elements {
				var want aggregate.Moments
				for _, s := range j.Shards() {
					for _, row := range storetest.Rows(j, s) {
						if row.Model == m {
							want.Add(float64(row.Curves[k][g]), row.Index)
						}
					}
				}
				c := got[(m*len(j.Metrics)+k)*len(j.Elements)+g]
				if c.N != want.N || c.NaN != want.NaN || c.Min != want.Min || c.Max != want.Max ||
					c.ArgMin != want.ArgMin || c.ArgMax != want.ArgMax || !near(c.Mean, want.Mean) ||
					!near(c.M2, want.M2) {
					t.Errorf("model %d, metric %d, element %d: %+v, want %+v", m, k, g, c, want)
				}
			}
		}
	}
}

func near(a, b float64) bool {
	return a == b || math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= 1e-12*(1+math.Abs(b))
}

// TestOrder shows that the bytes of a run depend neither on the order of commits nor on how many happen at once.
func TestOrder(t *testing.T) {
	j := storetest.Job(40, 6, 2, 2, 3)
	dir, _ := write(t, j)
	want := storetest.Snapshot(t, dir)
	other := filepath.Join(t.TempDir(), "other")
	r, err := store.Create(other, j, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	shards := j.Shards()
	slices.Reverse(shards)
	for _, s := range shards {
		wg.Go(func() {
			rows := storetest.Rows(j, s)
			slices.Reverse(rows)
			if err := r.Commit(context.Background(), s, rows, nil); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if err := r.Put("summary.json", []byte("{\"format\":1}\n")); err != nil {
		t.Fatal(err)
	}
	if err := r.Finish(t.Context(), map[string]string{"nero": "test"}); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	storetest.Equal(t, storetest.Snapshot(t, other), want)
}

// TestNaN shows that NaN of any origin are stored alike: their bits depend on how they came about.
func TestNaN(t *testing.T) {
	j := storetest.Job(3, 4, 1, 1, 3)
	var first map[string]string
	for _, bits := range []uint32{0x7fc00000, 0xffc00000, 0x7f800001, 0x7fc12345} {
		dir := filepath.Join(t.TempDir(), "run")
		r, err := store.Create(dir, j, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		rows := storetest.Rows(j, j.Shards()[0])
		rows[1].Curves[0][2] = math.Float32frombits(bits)
		if err := errors.Join(r.Commit(t.Context(), j.Shards()[0], rows, nil), r.Close()); err != nil {
			t.Fatal(err)
		}
		got := storetest.Snapshot(t, dir)
		if first == nil {
			first = got
		}
		storetest.Equal(t, got, first)
	}
}

func TestCommitRefuses(t *testing.T) {
	j := storetest.Job(10, 4, 2, 2, 5)
	r, err := store.Create(filepath.Join(t.TempDir(), "run"), j, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	s := j.Shards()[1]
	for name, c := range map[string]struct {
		change func([]job.Row) []job.Row
		want   string
	}{
		"a row missing":    {func(r []job.Row) []job.Row { return r[1:] }, "the row of model 0, sample 5 is missing"},
		"a row twice":      {func(r []job.Row) []job.Row { return append(r, r[0]) }, "two rows of model 0, sample 5"},
		"a strange sample": {func(r []job.Row) []job.Row { r[0].Index = 4; return r }, "not of this shard"},
		"a strange model":  {func(r []job.Row) []job.Row { r[0].Model = 2; return r }, "not of this shard"},
		"a short curve": {
			func(r []job.Row) []job.Row { r[0].Curves[1] = r[0].Curves[1][1:]; return r },
			"metric metric-1: 3 values, expected one for each of 4 elements",
		},
		"a curve missing": {
			func(r []job.Row) []job.Row { r[0].Curves = r[0].Curves[1:]; return r },
			"1 curves, expected one for each of 2 metrics",
		},
		"no curves": {func(r []job.Row) []job.Row { r[0].Curves = nil; return r }, "0 curves"},
		"boxes of nobody": {
			func(r []job.Row) []job.Row { r[0].Boxes = make([][]job.Detection, 9); return r },
			"but the output of the job is",
		},
		"few top classes": {
			func(r []job.Row) []job.Row { r[0].Top = r[0].Top[:1]; return r },
			"1 top classes, expected",
		},
		"a bad label": {func(r []job.Row) []job.Row { r[0].Label = -2; return r }, "label -2 is out of range"},
	} {
		err := r.Commit(t.Context(), s, c.change(storetest.Rows(j, s)), nil)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
	if err := r.Commit(t.Context(), job.Shard{Index: 0, Lo: 0, Hi: 4}, nil, nil); err == nil {
		t.Error("a shard of another cut is accepted")
	}
	if err := r.Commit(t.Context(), s, storetest.Rows(j, s), make([]aggregate.Moments, 3)); err == nil {
		t.Error("three moments are accepted")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.Commit(ctx, s, storetest.Rows(j, s), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	if r.Done(1) {
		t.Error("a shard that was refused counts as done")
	}
	if err := r.Finish(t.Context(), nil); err == nil ||
		!strings.Contains(err.Error(), "2 of 2 shards are missing: 0-1") {
		t.Errorf("finishing early: %v", err)
	}
	failed := storetest.Rows(j, s)
	failed[0].Err, failed[0].Curves = "broken", nil
	if err := r.Commit(t.Context(), s, failed, nil); err != nil {
		t.Errorf("a failed sample without curves: %v", err)
	}
	if err := r.Commit(t.Context(), s, failed, nil); err != nil {
		t.Errorf("the same again: %v", err)
	}
	if err := r.Commit(t.Context(), s, storetest.Rows(j, s), nil); err == nil ||
		!strings.Contains(err.Error(), "not deterministic") {
		t.Errorf("other rows for the same shard: %v", err)
	}
	for row, err := range r.Rows(store.Filter{Models: []int{0}, Lo: 5, Hi: 6}) {
		if err != nil || row.Err != "broken" || row.Curves[1][3] == row.Curves[1][3] {
			t.Errorf("the failed sample is read as %+v, %v", row, err)
		}
	}
}

func TestOtherFolder(t *testing.T) {
	j := storetest.Job(10, 4, 2, 2, 5)
	dir, _ := write(t, j)
	before := storetest.Snapshot(t, dir)
	for name, c := range map[string]struct {
		change func(*job.Job)
		want   string
	}{
		"engine": {
			func(j *job.Job) { j.Engine = job.Engine{Name: "wasm", Version: "1.18.0"} },
			"engine: test 1.0, not wasm 1.18.0",
		},
		"elements": {func(j *job.Job) { j.Elements, j.Exact = j.Elements[:3], j.Exact[:3] }, "elements: 4, not 3"},
		"model":    {func(j *job.Job) { j.Models[1].SHA256 = strings.Repeat("0", 64) }, "models[1].sha256: "},
		"study": {
			func(j *job.Job) { j.Study.Group.Resample = "bicubic" },
			"study.group.resample: bilinear, not bicubic",
		},
		"metrics": {func(j *job.Job) { j.Metrics[0] = "margin" }, "metrics[0]: metric-0, not margin"},
	} {
		other := storetest.Job(10, 4, 2, 2, 5)
		c.change(other)
		_, err := store.Create(dir, other, store.Options{})
		if !errors.Is(err, store.ErrIncompatible) || !strings.Contains(err.Error(), c.want) ||
			!strings.Contains(err.Error(), "choose another folder") || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: %v", name, err)
		}
	}
	moved := storetest.Job(10, 4, 2, 2, 5)
	moved.Models[0].Path, moved.Files[0].Path, moved.Study.Data.Images = "/else/where.onnx", "/else/where",
		"/else/where"
	r, err := store.Create(dir, moved, store.Options{})
	if err != nil {
		t.Fatalf("a run whose files moved is refused: %v", err)
	}
	if len(r.Missing()) != 0 || !r.Complete() {
		t.Error("a finished run is not recognised")
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	storetest.Equal(t, storetest.Snapshot(t, dir), before)

	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "thesis.tex"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Create(full, j, store.Options{}); err == nil ||
		!strings.Contains(err.Error(), "not a run folder, and not empty (it holds thesis.tex)") {
		t.Errorf("a folder of something else: %v", err)
	}
	if _, err := store.Open(full); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("opening it: %v", err)
	}
	if got := storetest.Snapshot(t, full); len(got) != 1 {
		t.Errorf("it now holds %d files", len(got))
	}
	if _, err := store.Create(filepath.Join(full, "thesis.tex"), j, store.Options{}); err == nil {
		t.Error("a file is taken for a folder")
	}
}

// A folder of a newer program is refused and left as it is. One file alone that says so is damaged: a folder is written
// by one program, and the shards are named by the job.
func TestNewer(t *testing.T) {
	j := storetest.Job(10, 4, 1, 1, 5)
	newer := func(dir string, names ...string) {
		for _, name := range names {
			rewrite(t, filepath.Join(dir, name), `"format":1`, `"format":3`)
			rewrite(t, filepath.Join(dir, name), `"format": 1`, `"format": 3`)
		}
	}
	dir, _ := write(t, j)
	want := storetest.Snapshot(t, dir)
	newer(dir, "job.json", "manifest.json")
	shards, err := filepath.Glob(filepath.Join(dir, "shards-*"))
	if err != nil || len(shards) != 1 {
		t.Fatal(shards, err)
	}
	if err := os.Rename(shards[0], filepath.Join(dir, "shards-0123456789ab")); err != nil {
		t.Fatal(err)
	}
	before := storetest.Snapshot(t, dir)
	if _, err := store.Open(dir); !errors.Is(err, store.ErrIncompatible) ||
		!strings.Contains(err.Error(), "format 3, and this program reads up to 2") {
		t.Errorf("opening a newer run: %v", err)
	}
	if _, err := store.Create(dir, j, store.Options{}); !errors.Is(err, store.ErrIncompatible) {
		t.Errorf("continuing a newer run: %v", err)
	}
	storetest.Equal(t, storetest.Snapshot(t, dir), before)

	for _, name := range []string{"job.json", "manifest.json"} {
		dir, _ := write(t, j)
		newer(dir, name)
		if _, err := store.Open(dir); !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("opening a run with a damaged %s: %v", name, err)
		}
		if err := storetest.Write(t.Context(), dir, j, store.Options{}); err != nil {
			t.Errorf("continuing a run with a damaged %s: %v", name, err)
		}
		storetest.Equal(t, storetest.Snapshot(t, dir), want)
	}
}

func rewrite(t *testing.T, name, old, text string) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(strings.Replace(string(b), old, text, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
}

func shardFiles(t *testing.T, dir, ext string) []string {
	t.Helper()
	m, err := filepath.Glob(filepath.Join(dir, "shards-*", "*"+ext))
	if err != nil || len(m) == 0 {
		t.Fatalf("no shards: %v", err)
	}
	return m
}

func flip(t *testing.T, name string, at int) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	b[at%len(b)] ^= 4
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestTampered(t *testing.T) {
	j := storetest.Job(20, 4, 2, 2, 5)
	clean, _ := write(t, j)
	want := storetest.Snapshot(t, clean)
	for name, tamper := range map[string]func(t *testing.T, dir string){
		"a bit of the rows": func(t *testing.T, dir string) {
			t.Helper()
			flip(t, shardFiles(t, dir, ".parquet")[1],
				700)
		},
		"the end of the rows": func(t *testing.T,
			dir string,
		) {
			t.Helper()
			truncate(t, shardFiles(t, dir, ".parquet")[2])
		},
		"a bit of the marker": func(t *testing.T, dir string) {
			t.Helper()
			flip(t, shardFiles(t, dir, ".json")[1],
				30)
		},
		"an empty marker": func(t *testing.T, dir string) {
			t.Helper()
			if err := os.WriteFile(shardFiles(t, dir, ".json")[0], nil, 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"no rows": func(t *testing.T, dir string) {
			t.Helper()
			if err := os.Remove(shardFiles(t, dir, ".parquet")[0]); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, _ := write(t, j)
			tamper(t, dir)
			r, err := store.Open(dir)
			if err == nil {
				err = r.Verify(t.Context())
			}
			if !errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(), "shards-") {
				t.Errorf("the damage is reported as %v", err)
			}
			if r != nil {
				var last error
				for _, err := range r.Rows(store.Filter{}) {
					last = err
				}
				if last == nil {
					t.Error("all rows are read as if nothing had happened")
				}
			}
			w, err := store.Create(dir, j, store.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := len(w.Missing()); got != 1 {
				t.Errorf("%d shards are to be computed anew, expected 1", got)
			}
			if complete := w.Complete(); !complete {
				t.Error("a manifest that is sound was dropped")
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if err := storetest.Write(t.Context(), dir, j, store.Options{}); err != nil {
				t.Fatal(err)
			}
			storetest.Equal(t, storetest.Snapshot(t, dir), want)
		})
	}
}

func truncate(t *testing.T, name string) {
	t.Helper()
	if err := os.Truncate(name, 100); err != nil {
		t.Fatal(err)
	}
}

func TestBusy(t *testing.T) {
	j := storetest.Job(10, 4, 1, 1, 5)
	dir := filepath.Join(t.TempDir(), "run")
	r, err := store.Create(dir, j, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []store.Options{{}, {Shared: true}} {
		if _, err := store.Create(dir, j, o); !errors.Is(err, store.ErrBusy) || !strings.Contains(err.Error(), dir) {
			t.Errorf("a second writer (%+v): %v", o, err)
		}
	}
	if _, err := store.Open(dir); err != nil {
		t.Errorf("a reader beside a writer: %v", err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Errorf("closing twice: %v", err)
	}
	a, err := store.Create(dir, j, store.Options{Shared: true})
	if err != nil {
		t.Fatal(err)
	}
	b, err := store.Create(dir, j, store.Options{Shared: true})
	if err != nil {
		t.Fatalf("two tasks of an array: %v", err)
	}
	if _, err := store.Create(dir, j, store.Options{}); !errors.Is(err, store.ErrBusy) {
		t.Errorf("a writer beside tasks of an array: %v", err)
	}
	for i, w := range []*store.Run{a, b} {
		s := j.Shards()[i]
		if err := w.Commit(t.Context(), s, storetest.Rows(j, s), nil); err != nil {
			t.Error(err)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
	clean, _ := write(t, j)
	if err := storetest.Write(t.Context(), dir, j, store.Options{}); err != nil {
		t.Fatal(err)
	}
	storetest.Equal(t, storetest.Snapshot(t, dir), storetest.Snapshot(t, clean))
}

func TestLeftovers(t *testing.T) {
	j := storetest.Job(10, 4, 1, 1, 5)
	dir, _ := write(t, j)
	want := storetest.Snapshot(t, dir)
	for _, name := range []string{
		filepath.Join(dir, ".tmp-job.json-1-0"),
		filepath.Join(filepath.Dir(shardFiles(t, dir, ".json")[0]), ".tmp-00001.parquet-77-0"),
		filepath.Join(dir, ".lock"),
	} {
		if err := os.WriteFile(name, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := storetest.Write(t.Context(), dir, j, store.Options{}); err != nil {
		t.Fatal(err)
	}
	storetest.Equal(t, storetest.Snapshot(t, dir), want)

	// A process that dies before the job is written leaves nothing that another study would have to respect.
	early := t.TempDir()
	for _, name := range []string{".lock", ".tmp-job.json-5-0"} {
		if err := os.WriteFile(filepath.Join(early, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := storetest.Write(t.Context(), early, j, store.Options{}); err != nil {
		t.Fatal(err)
	}
	storetest.Equal(t, storetest.Snapshot(t, early), want)
}

func TestMessages(t *testing.T) {
	j := storetest.Job(10, 4, 1, 1, 5)
	for fault, want := range map[error]string{
		syscall.ENOSPC: "no space left on device; free some space, then run the same command again: finished shards " +
			"are kept",
		syscall.EROFS:  "read-only file system; choose a folder that you may write to",
		syscall.EACCES: "permission denied; choose a folder that you may write to",
	} {
		dir := filepath.Join(t.TempDir(), "run")
		disk := &disktest.Disk{Under: disk.OS{}, Fail: func(_ int, op, name string) error {
			if op == "write" && strings.Contains(name, "00001.parquet") {
				return fault
			}
			return nil
		}}
		err := storetest.Write(t.Context(), dir, j, store.Options{FS: disk})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "00001.parquet: ") ||
			strings.Count(err.Error(), "\n") != 0 {
			t.Errorf("%v: %v", fault, err)
		}
		if got := storetest.Snapshot(t, dir); len(got) != 3 {
			t.Errorf("%v: %d files, expected the job and the first shard", fault, len(got))
		}
	}
}

func TestPut(t *testing.T) {
	j := storetest.Job(5, 4, 1, 1, 5)
	dir, reader := write(t, j)
	w, err := store.Create(dir, j, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	for _, name := range []string{
		"", ".", "..", "../x", "a/b", "job.json", "manifest.json", ".lock", ".tmp-x",
		"/etc/x",
	} {
		if err := w.Put(name, nil); err == nil {
			t.Errorf("%q is accepted", name)
		}
	}
	if !w.Complete() {
		t.Error("a refused name made the run incomplete")
	}
	if err := w.Put("audit.json", []byte("{}")); err != nil {
		t.Fatal(err)
	}
	if again, err := store.Open(dir); err != nil || again.Complete() {
		t.Errorf("the run is complete though the manifest does not list its files: %v", err)
	}
	if err := w.Finish(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	again, err := store.Open(dir)
	if err != nil || !again.Complete() || len(again.Manifest().Files) != 1+2+2 {
		t.Fatalf("finished again: %+v, %v", again.Manifest(), err)
	}
	if err := reader.Commit(t.Context(), j.Shards()[0], nil, nil); err == nil {
		t.Error("a reader commits")
	}
	if err := reader.Put("x.json", nil); err == nil {
		t.Error("a reader puts")
	}
	if err := reader.Finish(t.Context(), nil); err == nil {
		t.Error("a reader finishes")
	}
}

func TestIndexes(t *testing.T) {
	for want, in := range map[string][]int{"": nil, "3": {3}, "0-1": {0, 1}, "0-2,5,7-8": {0, 1, 2, 5, 7, 8}} {
		var s []job.Shard
		for _, i := range in {
			s = append(s, job.Shard{Index: i})
		}
		if got := store.Indexes(s); got != want {
			t.Errorf("%v: %q, want %q", in, got, want)
		}
	}
}

// What people say of a run may change when it is complete: the manifest does not list it, before or after.
func TestSlicesAreNotListed(t *testing.T) {
	dir := t.TempDir()
	j := storetest.Job(6, 3, 1, 1, 2)
	say := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "slices.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r, err := store.Create(dir, j, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	say("before")
	if err := r.Put("slices.json", []byte("x")); err == nil {
		t.Error("the store writes slices.json itself")
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if err := storetest.Write(t.Context(), dir, j, store.Options{}); err != nil {
		t.Fatal(err)
	}
	say("afterwards")
	done, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := done.Verify(t.Context()); err != nil || !done.Complete() {
		t.Errorf("complete %v: %v", done.Complete(), err)
	}
	for _, f := range done.Manifest().Files {
		if f.Path == "slices.json" {
			t.Error("the manifest lists slices.json")
		}
	}
	if b, err := os.ReadFile(filepath.Join(dir, "slices.json")); err != nil || string(b) != "afterwards" {
		t.Errorf("%s, %v", b, err)
	}
}
