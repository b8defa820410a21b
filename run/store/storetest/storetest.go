// Package storetest makes small runs and breaks the disks that they are kept on, to test what keeps runs.
package storetest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nero/internal/disk"
	"nero/internal/disk/disktest"
	"nero/run/job"
	"nero/run/store"
	"nero/symmetry/group"
)

// Job makes a valid job with this many samples, elements (angles), models and metrics, in shards of the given size.
func Job(samples, elements, models, metrics, shard int) *job.Job {
	j := &job.Job{
		Format: job.FormatSmall, Numbers: 1, Count: samples, Classes: 10, Measure: "uniform grid",
		Files:  []job.Ref{{Path: "images.gz", SHA256: digest("images")}, {Path: "labels.gz", SHA256: digest("labels")}},
		Engine: job.Engine{Name: "test", Version: "1.0"}, Shard: shard, Seed: 7,
		Study: job.Study{
			Version: 1, Data: job.Data{Images: "images.gz", Labels: "labels.gz"},
			Group: job.Group{Name: "SO(2)"},
		},
	}
	job.Defaults(&j.Study)
	for i := range elements {
		angle := 360 * float64(i) / float64(elements)
		j.Elements = append(j.Elements, group.Element{angle})
		j.Exact = append(j.Exact, math.Mod(angle, 90) == 0)
	}
	for i := range models {
		name := fmt.Sprintf("model-%d", i)
		j.Study.Models = append(j.Study.Models, job.Model{Name: name, ONNX: name + ".onnx"})
		j.Models = append(j.Models, job.ModelRef{
			Name: name, Ref: job.Ref{Path: name + ".onnx", SHA256: digest(name)},
			Batch: 8,
		})
	}
	for i := range metrics {
		j.Metrics = append(j.Metrics, fmt.Sprintf("metric-%d", i))
	}
	return j
}

func digest(s string) string {
	h := sha256.Sum256([]byte(s))
	return hex.EncodeToString(h[:])
}

// Rows makes the rows of a shard, the same on every call. Among them are values that do not exist, infinities, negative
// zeros, samples that failed, samples without tags or label, names that need care, and models without classes.
func Rows(j *job.Job, s job.Shard) []job.Row {
	var out []job.Row
	for m := range j.Models {
		for i := s.Lo; i < s.Hi; i++ {
			r := job.Row{Model: m, Index: i, Sample: fmt.Sprintf("digit/%d é\n\"", i), Label: i%11 - 1}
			for t := range i % 3 {
				r.Tags = append(r.Tags, fmt.Sprintf("tag %d", t))
			}
			if i%13 == 12 {
				r.Err = fmt.Sprintf("sample %d: not finite", i)
			}
			for k := range j.Metrics {
				c := make([]float32, len(j.Elements))
				for g := range c {
					c[g] = value(m, i, k, g)
					if r.Err != "" {
						c[g] = float32(math.NaN())
					}
				}
				r.Curves = append(r.Curves, c)
			}
			if m%2 == 0 && r.Err == "" {
				r.Top = make([]int32, len(j.Elements))
				for g := range r.Top {
					r.Top[g] = int32((i + g/3) % 10)
				}
			}
			if j.Study.Output.Space == "boxes" {
				detect(j, &r)
			}
			if j.Pixels && r.Err == "" {
				count(j, &r)
			}
			out = append(out, r)
		}
	}
	return out
}

// Boxes is [Job] for a detector of three classes that is also held against its consensus.
func Boxes(samples, elements, models, metrics, shard int) *job.Job {
	j := Job(samples, elements, models, metrics, shard)
	j.Study.Output.Space, j.Classes = "boxes", 3
	j.Metrics = append(j.Metrics, "metric@consensus")
	return j
}

// detect gives a row its boxes: from none to four at an element, among them NaN, and counts of objects for some rows.
func detect(j *job.Job, r *job.Row) {
	r.Support, r.Agreement = value(r.Model, r.Index, 0, 0), value(r.Model, r.Index, 0, 1)
	if r.Err != "" {
		return
	}
	for g := range j.Elements {
		var set []job.Detection
		for b := range (r.Index + g) % 5 {
			at := func(k int) float32 { return value(b, r.Index, k, g) }
			set = append(set, job.Detection{
				X1: at(0), Y1: at(1), X2: at(2), Y2: at(3), Angle: at(4), Score: at(5), Label: int32(b%4 - 1),
				Match: uint16(b * g % 1024),
			})
		}
		r.Boxes = append(r.Boxes, set)
		if r.Index%4 != 3 {
			r.Truths = append(r.Truths, []int32{int32(g), 0, int32(r.Index)})
		}
	}
}

// Masks is [Job] for a model of masks whose pixels are counted.
func Masks(samples, elements, models, metrics, shard int) *job.Job {
	j := Job(samples, elements, models, metrics, shard)
	j.Study.Output.Space, j.Classes, j.Pixels = "mask", 3, true
	return j
}

// count gives a row its counts of pixels: of none to three classes at an element, and of answers without a class.
func count(j *job.Job, r *job.Row) {
	for g := range j.Elements {
		set := []job.Pixels{}
		for c := range (r.Index + g) % 4 {
			set = append(set, job.Pixels{
				Class: int32(c - (r.Index+g)%2), Both: int32(c), Got: int32(c + g), Want: int32(c + r.Index),
			})
		}
		r.Pixels = append(r.Pixels, set)
	}
}

// value is some number that depends on where it stands.
func value(m, i, k, g int) float32 {
	switch h := (i*31 + k*17 + g*7 + m*3) % 101; h {
	case 50:
		return float32(math.NaN())
	case 51:
		return float32(math.Copysign(0, -1))
	case 52:
		if i%10 == 3 {
			return float32(math.Inf(1))
		}
		return 1
	default:
		return float32(h*16+g%16-800) / float32(1024*(k+1)) // the same on every processor
	}
}

// Write computes what is missing of a run and finishes it, as an executor does.
func Write(ctx context.Context, dir string, j *job.Job, o store.Options) (err error) {
	r, err := store.Create(dir, j, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for _, s := range r.Missing() {
		if err := r.Commit(ctx, s, Rows(j, s), nil); err != nil {
			return err
		}
	}
	if err := r.Put("summary.json", []byte("{\"format\":1}\n")); err != nil {
		return err
	}
	return r.Finish(ctx, map[string]string{"nero": "test"})
}

// Snapshot reads every file below dir: its relative path and its bytes.
func Snapshot(tb testing.TB, dir string) map[string]string {
	tb.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		b, err := os.ReadFile(path)
		out[filepath.ToSlash(rel)] = string(b)
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

// Equal reports with tb what distinguishes two snapshots.
func Equal(tb testing.TB, got, want map[string]string) {
	tb.Helper()
	for name, b := range want {
		g, ok := got[name]
		switch {
		case !ok:
			tb.Errorf("%s is not there", name)
		case g != b:
			tb.Errorf("%s has %d other bytes than the %d expected", name, len(g), len(b))
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			tb.Errorf("%s should not be there", name)
		}
	}
}

// Test runs the conformance suite on a disk: every operation on it fails once, in turn, with each of the given errors;
// the run must then be readable as it was before or after that operation, and resume to the same bytes as one that
// nothing happened to.
func Test(t *testing.T, d disk.FS, faults ...error) {
	t.Helper()
	j := Job(11, 4, 2, 2, 4)
	clean := filepath.Join(t.TempDir(), "clean")
	whole := &disktest.Disk{Under: d}
	if err := Write(t.Context(), clean, j, store.Options{FS: whole}); err != nil {
		t.Fatal(err)
	}
	want := Snapshot(t, clean)
	if len(want) != 1+2*3+2 {
		t.Fatalf("the run has files %d, expected job, 3 × 2 of shards, summary and manifest", len(want))
	}
	for _, fault := range faults {
		for n, op := range whole.Ops() {
			t.Run(fmt.Sprintf("%v/%d %s", fault, n, op), func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "run")
				failing := &disktest.Disk{Under: d, Fail: func(i int, _, _ string) error {
					if i == n {
						return fault
					}
					return nil
				}}
				err := Write(t.Context(), dir, j, store.Options{FS: failing})
				if !errors.Is(err, fault) {
					t.Fatalf("the failure is reported as %v", err)
				}
				if !strings.Contains(err.Error(), dir) {
					t.Errorf("%v does not name the file", err)
				}
				between(t, dir, j, want)
				if err := Write(t.Context(), dir, j, store.Options{FS: d}); err != nil {
					t.Fatalf("resuming: %v", err)
				}
				Equal(t, Snapshot(t, dir), want)
			})
		}
	}
}

// between holds the state after a failure against what is allowed: whole files that the finished run also has, readable
// shards, and a manifest only with everything in place.
func between(t *testing.T, dir string, j *job.Job, want map[string]string) {
	t.Helper()
	got := Snapshot(t, dir)
	for name, b := range got {
		if w, ok := want[name]; !ok || w != b {
			t.Errorf("after the failure, %s is not a file of the finished run", name)
		}
	}
	r, err := store.Open(dir)
	if errors.Is(err, fs.ErrNotExist) && len(got) == 0 {
		return
	}
	if err != nil {
		t.Errorf("after the failure: %v", err)
		return
	}
	if r.Complete() && len(got) != len(want) {
		t.Error("after the failure, the run calls itself complete and is not")
	}
	if err := r.Verify(t.Context()); err != nil {
		t.Errorf("after the failure: %v", err)
	}
	n := 0
	for _, err := range r.Rows(store.Filter{}) {
		if err != nil {
			t.Errorf("after the failure: %v", err)
		}
		n++
	}
	done := 0
	for _, s := range j.Shards() {
		if r.Done(s.Index) {
			done += (s.Hi - s.Lo) * len(j.Models)
		}
	}
	if n != done {
		t.Errorf("after the failure, %d rows can be read, and finished shards have %d", n, done)
	}
}
