package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"nero/internal/disk"
	"nero/internal/seal"
	"nero/run/job"
)

// planName holds what helps to make a run, and is no part of it: it goes when the run is complete.
const planName = ".plan.json"

// Planned is the job of a folder, whatever else is in it: who goes on with a run repairs the rest. The error wraps
// [fs.ErrNotExist] if the folder holds no run, [ErrIncompatible] and [ErrCorrupt] as those of [Open].
func Planned(dir string) (*job.Job, error) {
	j, _, err := readJob(filepath.Join(dir, jobName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s holds no run: %w; a run folder has a file %s", dir, err, jobName)
	}
	return j, remedied(err)
}

// Format is the number of the format of the job in a folder, 0 where there is none that can be read.
func Format(dir string) int {
	var f struct {
		Format int `json:"format"`
	}
	b, err := readSmall(filepath.Join(dir, jobName))
	if err != nil || json.Unmarshal(b, &f) != nil {
		return 0
	}
	return f.Format
}

// PutPlan keeps, beside a run that is not complete, what helps to make it: v as JSON, sealed and bound to the job.
// [Run.Finish] takes it away.
func (r *Run) PutPlan(v any) error {
	if r.lock == nil {
		return errors.New("store: the run is open for reading")
	}
	b, err := encodeJSON(struct {
		Job  string `json:"job"`
		Plan any    `json:"plan"`
	}{r.hash, v}, " ")
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	if err := replace(r.fs, filepath.Join(r.dir, planName), seal.Add(b, " ")); err != nil {
		return err
	}
	if err := r.fs.SyncDir(r.dir); err != nil {
		return writing(r.dir, err)
	}
	return nil
}

// ReadPlan reads what [Run.PutPlan] kept in a folder for the job with that hash, into v, and reports whether there was
// something. One that is damaged, or of another job, is none: what it says can be found out again.
func ReadPlan(dir, hash string, v any) bool {
	b, err := readSmall(filepath.Join(dir, planName))
	if err != nil {
		return false
	}
	b, sealed, err := seal.Open(b)
	if err != nil || !sealed {
		return false
	}
	var f struct {
		Job  string          `json:"job"`
		Plan json.RawMessage `json:"plan"`
	}
	return json.Unmarshal(b, &f) == nil && f.Job == hash && json.Unmarshal(f.Plan, v) == nil
}

// dropPlan takes away what helped to make the run.
func (r *Run) dropPlan() error {
	name := filepath.Join(r.dir, planName)
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return writing(name, err)
	}
	return nil
}

// Coarse is the name of a run folder of its own in that of a run that is not complete: the same samples at some of the
// elements. It is no part of the run: [Run.Finish] takes it away.
const Coarse = ".coarse"

// CoarseDir is where the coarse level of the run lies, where it has one.
func (r *Run) CoarseDir() string { return filepath.Join(r.dir, Coarse) }

// dropCoarse takes the coarse level away.
func (r *Run) dropCoarse() error {
	if err := os.RemoveAll(r.CoarseDir()); err != nil {
		return writing(r.CoarseDir(), err)
	}
	return nil
}

// SweepBefore removes what processes have left unfinished that wrote it last before an instant: a process that shares
// the folder may still be writing what is younger.
func (r *Run) SweepBefore(t time.Time) error {
	for _, d := range []string{r.dir, r.shardDir()} {
		entries, err := os.ReadDir(d)
		if err != nil {
			return fmt.Errorf("store: %w", err)
		}
		for _, e := range entries {
			if !disk.Leftover(e.Name()) {
				continue
			}
			if info, err := e.Info(); err != nil || !info.ModTime().Before(t) {
				continue // gone, or young
			}
			if err := os.Remove(filepath.Join(d, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("store: cannot remove what a former run left: %w", err)
			}
		}
	}
	return nil
}

// Kept is a finished shard as its marker says it: its rows are not looked at.
type Kept struct {
	job.Shard
	// rows with an error
	Failed int
	// At is when the marker was written, by the clock of the disk.
	At time.Time
}

// Kept lists the shards that have a marker, but for those in known, which a former call gave: for those who look on,
// while others write. Markers that cannot be read are left out.
func (r *Run) Kept(known map[int]bool) []Kept {
	entries, err := os.ReadDir(r.shardDir())
	if err != nil {
		return nil
	}
	there := make(map[string]os.DirEntry, len(entries))
	for _, e := range entries {
		there[e.Name()] = e
	}
	var out []Kept
	for _, s := range r.shards {
		e := there[markerName(s.Index)]
		if e == nil || known[s.Index] {
			continue
		}
		info, err := e.Info()
		if err != nil {
			continue
		}
		if m, err := r.head(s.Index); err == nil {
			out = append(out, Kept{Shard: s, Failed: m, At: info.ModTime()})
		}
	}
	return out
}

// head is how many rows of a finished shard have an error. The moments behind it in the marker are not read.
func (r *Run) head(shard int) (failed int, err error) {
	f, err := os.Open(filepath.Join(r.shardDir(), markerName(shard)))
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }() // nothing was written

	const most = 4 << 10 // of what stands before the moments
	d := json.NewDecoder(io.LimitReader(f, most))
	for {
		t, err := d.Token()
		if err != nil {
			return 0, err
		}
		if t == "failed" {
			err := d.Decode(&failed)
			return failed, err
		}
	}
}
