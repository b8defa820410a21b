package store_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"nero/run/store"
	"nero/run/store/storetest"
)

// anotherDigit changes a digit after a text, so that a JSON file stays one.
func anotherDigit(t *testing.T, name, after string) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	at := regexp.MustCompile(after + `[^0-9]*([0-9])`).FindSubmatchIndex(b)
	if at == nil {
		t.Fatalf("%s has no digit after %s", name, after)
	}
	b[at[2]] = '1' + (b[at[2]]-'0'+1)%9
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// A complete run with one changed digit is refused wherever it lies, as soon as what it says is read; the program that
// made the run makes the same bytes of it again.
func TestChangedDigits(t *testing.T) {
	j := storetest.Job(20, 4, 2, 2, 5)
	clean, _ := write(t, j)
	want := storetest.Snapshot(t, clean)
	for name, where := range map[string][2]string{
		"a cell":               {"shards-*/00001.json", `"mean":\[`},
		"the rows of a marker": {"shards-*/00001.json", `"rows":`},
		"a version":            {"manifest.json", `"versions"`},
		"failed rows":          {"manifest.json", `"failed"`},
		"a size":               {"manifest.json", `"size"`},
		"a checksum":           {"manifest.json", `"sha256"`},
		"the seal":             {"manifest.json", `\],\s*"sha256"`},
		"a path in the job":    {"job.json", `"path":"`},
		"the seed":             {"job.json", `"seed":`},
		"the count":            {"job.json", `"count":`},
		"an element":           {"job.json", `"elements":\[\[`},
		"the summary":          {"summary.json", `"format":`},
	} {
		t.Run(name, func(t *testing.T) {
			dir, _ := write(t, j)
			file, err := filepath.Glob(filepath.Join(dir, where[0]))
			if err != nil || len(file) != 1 {
				t.Fatal(file, err)
			}
			anotherDigit(t, file[0], where[1])
			r, err := store.Open(dir)
			if err == nil && where[0] == "summary.json" {
				if _, err = r.ReadFile("summary.json"); err == nil {
					t.Error("a changed summary is read")
				}
			}
			if err == nil {
				for _, last := range r.Rows(store.Filter{}) {
					err = errors.Join(err, last)
				}
			}
			if !errors.Is(err, store.ErrCorrupt) {
				t.Errorf("the damage is reported as %v", err)
			}
			if err := storetest.Write(t.Context(), dir, j, store.Options{}); err != nil {
				t.Fatal(err)
			}
			storetest.Equal(t, storetest.Snapshot(t, dir), want)
		})
	}
}

// A marker that says of its rows what they do not hold is written anew of them before a manifest lists it.
func TestMarkersAreHeldAgainstRows(t *testing.T) {
	j := storetest.Job(20, 4, 2, 2, 5)
	clean, _ := write(t, j)
	want := storetest.Snapshot(t, clean)
	for _, column := range []string{"n", "nan", "mean", "m2", "min", "max", "argmin", "argmax"} {
		dir, _ := write(t, j)
		if err := os.Remove(filepath.Join(dir, "manifest.json")); err != nil {
			t.Fatal(err)
		}
		marker := shardFiles(t, dir, ".json")[1]
		before, err := os.ReadFile(marker)
		if err != nil {
			t.Fatal(err)
		}
		anotherDigit(t, marker, `"`+column+`":\[`)
		after, err := os.ReadFile(marker)
		if err != nil || bytes.Equal(before, after) {
			t.Fatalf("the marker was not changed, %v", err)
		}
		if err := storetest.Write(t.Context(), dir, j, store.Options{}); err != nil {
			t.Fatal(err)
		}
		storetest.Equal(t, storetest.Snapshot(t, dir), want)
	}
}

// The job of an unfinished run is repaired by the command that goes on with it, because the shards say whose they are;
// without shards nobody knows, and the folder is left alone.
func TestDamagedJob(t *testing.T) {
	j := storetest.Job(20, 4, 2, 2, 5)
	clean, _ := write(t, j)
	want := storetest.Snapshot(t, clean)
	for _, after := range []string{`"path":"`, `"seed":`, `"count":`, `"format":`} {
		dir, _ := write(t, j)
		if err := os.Remove(filepath.Join(dir, "manifest.json")); err != nil {
			t.Fatal(err)
		}
		anotherDigit(t, filepath.Join(dir, "job.json"), after)
		if _, err := store.Open(dir); err == nil && after != `"path":"` {
			t.Errorf("a run of which the job has another %s is opened", after)
		}
		if err := storetest.Write(t.Context(), dir, j, store.Options{}); err != nil {
			t.Fatal(err)
		}
		storetest.Equal(t, storetest.Snapshot(t, dir), want)
	}
	dir, _ := write(t, j)
	truncate(t, filepath.Join(dir, "job.json"))
	other := storetest.Job(20, 5, 2, 2, 5)
	before := storetest.Snapshot(t, dir)
	if _, err := store.Create(dir, other, store.Options{}); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("a folder of another run whose job is damaged: %v", err)
	}
	storetest.Equal(t, storetest.Snapshot(t, dir), before)
	if err := storetest.Write(t.Context(), dir, j, store.Options{}); err != nil {
		t.Error(err)
	}
	storetest.Equal(t, storetest.Snapshot(t, dir), want)
}

// What a run of a former program lacks is not asked for: its manifest has no seal.
func TestReadFile(t *testing.T) {
	dir, r := write(t, storetest.Job(10, 4, 1, 1, 5))
	if b, err := r.ReadFile("summary.json"); err != nil || len(b) == 0 {
		t.Errorf("%q, %v", b, err)
	}
	for _, name := range []string{"other.json", "../run/summary.json", ".lock", "shards"} {
		if _, err := r.ReadFile(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := os.Remove(filepath.Join(dir, "manifest.json")); err != nil {
		t.Fatal(err)
	}
	r, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.ReadFile("summary.json"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an unfinished run: %v", err)
	}
	if r, err = store.Open("testdata/format1"); err != nil {
		t.Fatal(err)
	}
	if _, err := r.ReadFile("summary.json"); err != nil {
		t.Error(err)
	}
}
