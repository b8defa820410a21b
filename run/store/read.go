package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"

	"nero/measure/aggregate"
	"nero/run/job"
)

// Filter chooses rows and the curves in them. The zero value chooses everything.
type Filter struct {
	// indexes into Job.Models; nil for all
	Models []int
	// Metrics are the curves to read, in this order: only these are in the rows. Nil means all of Job.Metrics; a list
	// that is empty but not nil reads no curves, which is fast.
	Metrics []string
	// half-open range of samples; Hi = 0 for all from Lo on
	Lo, Hi int
	// NoTop leaves the predicted classes out of the rows: of a large plan they are most of what there is to read beside
	// the curves.
	NoTop bool
	// Boxes reads the predicted boxes and the counts of objects too, where the run has them. They may be many times the
	// curves.
	Boxes bool
	// Pixels reads the counts of pixels too, where the run has them.
	Pixels bool
}

// Rows reads the finished shards in order; in each the models in the order of the filter and the samples in the order
// of the job. One row group at a time is in memory: about a megabyte, or one row if that is more. After an error, which
// is the last thing yielded, the iteration ends. A shard that is not finished is skipped.
func (r *Run) Rows(f Filter) iter.Seq2[job.Row, error] {
	return func(yield func(job.Row, error) bool) {
		models, metrics, err := r.filter(f)
		if err != nil {
			yield(job.Row{}, err)
			return
		}
		for _, s := range r.shards {
			if s.Hi <= f.Lo || f.Hi > 0 && s.Lo >= f.Hi {
				continue
			}
			more, err := r.shardRows(s, models, metrics, f, yield)
			if err != nil {
				yield(job.Row{}, remedied(err))
				return
			}
			if !more {
				return
			}
		}
	}
}

func (r *Run) filter(f Filter) (models []int, metrics []string, err error) {
	models, metrics = f.Models, f.Metrics
	if models == nil {
		for i := range r.job.Models {
			models = append(models, i)
		}
	}
	for _, m := range models {
		if m < 0 || m >= len(r.job.Models) {
			return nil, nil, fmt.Errorf("store: model %d of %d", m, len(r.job.Models))
		}
	}
	if metrics == nil {
		metrics = r.job.Metrics
	}
	for _, m := range metrics {
		if !slices.Contains(r.job.Metrics, m) {
			return nil, nil, fmt.Errorf("store: the run has no metric %q; it has %v", m, r.job.Metrics)
		}
	}
	return models, metrics, nil
}

func (r *Run) shardRows(s job.Shard, models []int, metrics []string, f Filter,
	yield func(job.Row, error) bool,
) (more bool, err error) {
	file, closer, err := r.open(s)
	if err != nil || file == nil {
		return true, err
	}
	defer func() { _ = closer.Close() }() // nothing was written
	for _, m := range models {
		first, count, size := file.parts(m)
		for i := range count {
			lo := s.Lo + i*size
			rows, err := file.rows(first+i, m, lo, metrics, f)
			if err != nil {
				return false, r.unreadable(s, err)
			}
			for _, row := range rows {
				if row.Index < f.Lo || f.Hi > 0 && row.Index >= f.Hi {
					continue
				}
				if !yield(row, nil) {
					return false, nil
				}
			}
		}
	}
	return true, nil
}

// open opens the rows of a shard, nil if it is not finished.
func (r *Run) open(s job.Shard) (*shardFile, *os.File, error) {
	m, err := r.verify(s.Index)
	if errors.Is(err, fs.ErrNotExist) && !r.Complete() {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	f, err := os.Open(filepath.Join(r.shardDir(), m.File))
	if err != nil {
		return nil, nil, fmt.Errorf("store: %w", err)
	}
	file, err := decode(r.job, s, f, m.Size)
	if err != nil {
		_ = f.Close() // the first error is the one to report
		return nil, nil, r.unreadable(s, err)
	}
	return file, f, nil
}

// ReadFile reads a file of a complete run that [Run.Put] has stored, and holds it against the manifest. The error wraps
// [fs.ErrNotExist] if the run has none of this name or is not complete, and [ErrCorrupt] if it is not what was written.
// A link that leads out of the folder is not followed.
func (r *Run) ReadFile(name string) ([]byte, error) {
	at := filepath.Join(r.dir, name)
	want, ok := r.listed[name]
	if !ok || name != filepath.Base(name) {
		return nil, fmt.Errorf("%s: %w in a complete run", at, fs.ErrNotExist)
	}
	if want.Size > maxJSON {
		return nil, fmt.Errorf("%s: %d bytes, and at most %d are read", at, want.Size, maxJSON)
	}
	f, err := os.OpenInRoot(r.dir, name)
	if err != nil {
		return nil, remedied(fmt.Errorf(
			"%s: %w: it cannot be read, or is a link that leads out of its folder: %s", at, ErrCorrupt, err.Error()))
	}
	defer func() { _ = f.Close() }() // nothing was written
	b, err := io.ReadAll(io.LimitReader(f, want.Size+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", at, err)
	}
	if int64(len(b)) != want.Size || digest(b) != want.SHA256 {
		return nil, remedied(fmt.Errorf("%s: %w: its SHA-256 is %.12s, and %s says %.12s", at, ErrCorrupt,
			digest(b), manifestName, want.SHA256))
	}
	return b, nil
}

func (r *Run) unreadable(s job.Shard, err error) error {
	return fmt.Errorf("%s: %w: %w", filepath.Join(r.shardDir(), rowsName(s.Index)), ErrCorrupt, err)
}

// Curves is one metric of one model over every sample that is there.
type Curves struct {
	// values per curve
	Elements int
	// position in the job's samples of each curve, ascending
	Index []int
	// len(Index) × Elements, row by row; NaN where a value does not exist
	Values []float32
}

// Curve is the i-th curve. It shares memory with Values.
func (c *Curves) Curve(i int) []float32 {
	return c.Values[i*c.Elements : (i+1)*c.Elements : (i+1)*c.Elements]
}

// Curves reads one metric of one model, and nothing else, of the finished shards.
func (r *Run) Curves(model int, metric string) (*Curves, error) {
	if _, _, err := r.filter(Filter{Models: []int{model}, Metrics: []string{metric}}); err != nil {
		return nil, err
	}
	c := &Curves{Elements: len(r.job.Elements)}
	if r.Complete() {
		c.Index, c.Values = make([]int, 0, r.job.Count), make([]float32, 0, r.job.Count*c.Elements)
	}
	for _, s := range r.shards {
		values, there, err := r.AppendCurves(c.Values, s, model, metric)
		if err != nil {
			return nil, err
		}
		if c.Values = values; !there {
			continue
		}
		for i := s.Lo; i < s.Hi; i++ {
			c.Index = append(c.Index, i)
		}
	}
	return c, nil
}

// AppendCurves appends one metric of one model in one shard to dst, its samples in order, and reports whether the shard
// is finished. Nothing is kept, so that a run may be gone through that does not fit into memory.
func (r *Run) AppendCurves(dst []float32, s job.Shard, model int, metric string) (_ []float32, there bool, err error) {
	file, closer, err := r.open(s)
	if err != nil {
		return dst, false, remedied(err)
	}
	if file == nil {
		return dst, false, nil
	}
	defer func() { _ = closer.Close() }() // nothing was written
	first, count, _ := file.parts(model)
	for i := range count {
		if dst, err = file.curve(first+i, metric, dst); err != nil {
			return dst, false, remedied(r.unreadable(s, err))
		}
	}
	return dst, true, nil
}

// Moments folds the markers of the finished shards, in shard order: the moments over samples of every (model m, metric
// k, element g), at index (m*metrics + k)*elements + g. Of a large job, whose markers say nothing of them, the rows are
// read.
func (r *Run) Moments() ([]aggregate.Moments, error) {
	out := make([]aggregate.Moments, len(r.job.Models)*len(r.job.Metrics)*len(r.job.Elements))
	for _, s := range r.shards {
		_, c, err := r.marker(s.Index)
		if err == nil && !hasCells(r.job) {
			var rows []job.Row
			if rows, err = r.all(s); err == nil {
				c = summarise(r.job, rows)
			}
		}
		if errors.Is(err, fs.ErrNotExist) && !r.Complete() {
			continue
		}
		if err != nil {
			return nil, remedied(err)
		}
		for i := range out {
			out[i].Merge(c[i])
		}
	}
	return out, nil
}
